import { CircleX, Clock, FileUp, Hourglass, ShieldCheck, Trash2 } from 'lucide';
import { useState } from 'preact/hooks';
import { api, type Problem, type Schemas } from '../../app/api.js';
import { useAction } from '../../app/live.js';
import { isAdmin } from '../../app/session.js';
import { announce, t } from '../../app/text.js';
import type { Version } from '../../app/version.js';
import { identityTexts as texts } from '../../texts/identity.js';
import { Confirm } from '../../ui/dialog.js';
import { Field, missing, ReferenceField, referenceHeader } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { Badge, FactsCard, Time } from '../../ui/value.js';

type Origin = Schemas['Origin'];
type State = keyof typeof texts.certificateStates;

const looks = {
  valid: ['good', ShieldCheck],
  soon: ['open', Clock],
  ended: ['bad', CircleX],
  planned: ['off', Hourglass],
} as const;
/** Before its end, an admin should have replaced it. */
const soonMs = 30 * 86_400_000;

function stateOf({ startsat, endsat }: NonNullable<Origin['clientcertificate']>): State {
  const now = Date.now();
  if (now >= Date.parse(endsat)) return 'ended';
  if (now < Date.parse(startsat)) return 'planned';
  return now >= Date.parse(endsat) - soonMs ? 'soon' : 'valid';
}

/** What the origin shows in TLS to webhooks that ask for a certificate. */
export function ClientCertificate({
  found: { value: origin },
  reload,
}: {
  found: Version<Origin>;
  reload: () => void;
}) {
  const [open, setOpen] = useState<'upload' | 'remove'>();
  const { name, clientcertificate: present } = origin;
  const state = present && stateOf(present);
  const [look, icon] = looks[state ?? 'valid'];
  const props = { name, onDone: reload, onClose: () => setOpen(undefined) };
  return (
    <FactsCard
      title={t(texts.certificate)}
      facts={
        present === undefined
          ? []
          : [
              [
                t(texts.state),
                state && (
                  <Badge look={look} icon={icon}>
                    {t(texts.certificateStates[state])}
                  </Badge>
                ),
              ],
              [t(texts.subject), <bdi>{present.subject}</bdi>],
              [t(texts.issuer), <bdi>{present.issuer}</bdi>],
              [
                t(texts.ends),
                <>
                  <Time at={present.endsat} look="exact" /> (<Time at={present.endsat} />)
                </>,
              ],
              [t(texts.fingerprint), <code>{present.fingerprint}</code>],
            ]
      }
    >
      {present === undefined && <p class="soft">{t(texts.noCertificate)}</p>}
      {isAdmin.value && (
        <div class="actions">
          <button type="button" onClick={() => setOpen('upload')}>
            <Icon of={FileUp} />
            {t(present === undefined ? texts.upload : texts.replace)}
          </button>
          {present !== undefined && (
            <button type="button" class="quiet danger" onClick={() => setOpen('remove')}>
              <Icon of={Trash2} />
              {t(texts.removeCertificate)}
            </button>
          )}
        </div>
      )}
      {open === 'upload' && <UploadDialog {...props} />}
      {open === 'remove' && <RemoveDialog {...props} />}
    </FactsCard>
  );
}

interface DialogProps {
  name: string;
  onDone: () => void;
  onClose: () => void;
}

function UploadDialog({ name, onDone, onClose }: DialogProps) {
  const [certificate, setCertificate] = useState('');
  const [privatekey, setPrivatekey] = useState('');
  const [reference, setReference] = useState('');
  const action = useAction();
  const upload = async () => {
    const params = { path: { name }, header: referenceHeader(reference) };
    await api.PUT('/origins/{name}/client-certificate', { params, body: { certificate, privatekey } });
    announce(t(texts.uploaded));
    onDone();
  };
  return (
    <Confirm
      title={t(texts.uploadTitle)}
      sentence={t(texts.uploadHint)}
      confirm={t(texts.upload)}
      action={action}
      isKept={certificate !== '' || privatekey !== ''}
      check={() =>
        missing({ '/certificate': [t(texts.pem), certificate], '/privatekey': [t(texts.privateKey), privatekey] })
      }
      shownAt={['/certificate', '/privatekey', 'header/audit-reference']}
      onConfirm={upload}
      onClose={onClose}
    >
      <PemField
        label={t(texts.pem)}
        pointer="/certificate"
        problem={action.problem}
        value={certificate}
        onInput={setCertificate}
      />
      <PemField
        label={t(texts.privateKey)}
        pointer="/privatekey"
        problem={action.problem}
        value={privatekey}
        onInput={setPrivatekey}
        isSecret
      />
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
    </Confirm>
  );
}

/** Pasted, or read from a file. */
function PemField({
  value,
  onInput,
  isSecret = false,
  ...field
}: {
  label: string;
  pointer: string;
  problem: Problem | undefined;
  value: string;
  onInput: (text: string) => void;
  isSecret?: boolean;
}) {
  return (
    <>
      <Field {...field}>
        {(attributes) => (
          <textarea
            {...attributes}
            class={isSecret ? 'secret' : undefined}
            rows={4}
            spellcheck={false}
            autocomplete="off"
            placeholder={isSecret ? '-----BEGIN PRIVATE KEY-----' : '-----BEGIN CERTIFICATE-----'}
            value={value}
            onInput={({ currentTarget }) => onInput(currentTarget.value)}
          />
        )}
      </Field>
      <input
        type="file"
        class="file"
        aria-label={t(texts.file(field.label))}
        accept=".pem,.crt,.cer,.key,.txt"
        onChange={({ currentTarget: { files } }) => void files?.[0]?.text().then(onInput)}
      />
    </>
  );
}

function RemoveDialog({ name, onDone, onClose }: DialogProps) {
  const [reference, setReference] = useState('');
  const action = useAction();
  const remove = async () => {
    const params = { path: { name }, header: referenceHeader(reference) };
    await api.DELETE('/origins/{name}/client-certificate', { params });
    announce(t(texts.removed));
    onDone();
  };
  return (
    <Confirm
      title={t(texts.removeTitle)}
      sentence={t(texts.removeLead)}
      confirm={t(texts.removeCertificate)}
      action={action}
      shownAt={['header/audit-reference']}
      onConfirm={remove}
      onClose={onClose}
      isDangerous
    >
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
    </Confirm>
  );
}
