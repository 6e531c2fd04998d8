import { useState } from 'preact/hooks';
import { api } from '../../app/api.js';
import { useAction } from '../../app/live.js';
import { announce, t, type Text } from '../../app/text.js';
import { signingSecretTexts as texts } from '../../texts/signing-secrets.js';
import { subscriptionPageTexts } from '../../texts/subscriptions.js';
import { ConfirmChange, Dialog } from '../../ui/dialog.js';
import { ChoiceField, missing } from '../../ui/form.js';
import { type Overlap, OverlapField } from '../../ui/overlap.js';
import { SecretField } from './credential-fields.js';
import { MadeSecret } from './made-secret.js';
import { type follow, readSubscription, type SubscriptionDetails } from './use-subscription.js';

type Source = keyof typeof texts.sources;

/** Makes or takes another signing secret, with a time in which both sign. One that was made is shown then. */
export function ChangeSigningSecret({
  read: { subscription, tag },
  onClose,
  onChanged,
}: {
  read: SubscriptionDetails;
  onClose: () => void;
  onChanged: (answer: Parameters<typeof follow>[1]) => void;
}) {
  const { id, signingsecret: present } = subscription;
  const action = useAction();
  const [source, setSource] = useState<Source>('make');
  const [secret, setSecret] = useState('');
  const [overlap, setOverlap] = useState<Overlap>(present === undefined ? '0' : '3600');
  const [made, setMade] = useState<string>();
  const [opened] = useState(present?.fingerprint);
  const [isReplaced, setIsReplaced] = useState(false);

  const patch = async (ifMatch: string, signingsecret: object | null, done: Text) => {
    const params = { path: { id }, header: { 'If-Match': ifMatch } };
    const { data, etag } = await api.PATCH('/subscriptions/{id}', { params, body: { signingsecret } });
    const { secret: shown, ...kept } = data.signingsecret ?? {};
    // The page keeps what it shows; the secret is in this dialog alone.
    onChanged({ data: { ...data, ...('setat' in kept && { signingsecret: kept }) }, etag });
    announce(t(done));
    return shown;
  };
  const readPresent = async () => {
    const found = await readSubscription(id);
    // Perhaps by this dialog, and the response was lost: nobody should make another one by pressing the button again.
    if (found.value.signingsecret?.fingerprint !== opened) {
      setIsReplaced(true);
      setSource('enter');
    }
    return found;
  };
  const now = (signingsecret: object | null, done: Text) => async () => {
    if (await action.run(() => patch(tag, signingsecret, done))) onClose();
  };
  if (made !== undefined) {
    return (
      <Dialog title={t(texts.name)} isKept onClose={onClose}>
        <MadeSecret secret={made} />
        <div class="actions">
          <button type="button" class="first" onClick={onClose}>
            {t(texts.haveIt)}
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <ConfirmChange
      of={{ tag, value: subscription }}
      read={readPresent}
      title={t(texts.change)}
      confirm={t(texts.change)}
      action={action}
      isKept={action.isBusy || secret !== ''}
      check={() => (source === 'enter' ? missing({ '/signingsecret/secret': [t(texts.secret), secret] }) : [])}
      shownAt={['/signingsecret/secret', '/signingsecret/overlapseconds']}
      sentence={t(texts.hint)}
      onConfirm={async (ifMatch) => {
        const next = source === 'make' ? { make: true } : { secret: secret.trim() };
        const overlapping = present === undefined ? {} : { overlapseconds: Number(overlap) };
        setMade(await patch(ifMatch, { ...next, ...overlapping }, texts.changed));
      }}
      onClose={onClose}
      onDone={() => source === 'enter' && onClose()}
    >
      {isReplaced && <p class="note open">{t(texts.replacedMeanwhile)}</p>}
      <ChoiceField
        label={t(texts.from)}
        value={source}
        options={Object.keys(texts.sources) as Source[]}
        textOf={(each) => t(texts.sources[each])}
        onChange={setSource}
      />
      {source === 'enter' && (
        <SecretField
          label={t(texts.secret)}
          hint={t(texts.secretHint)}
          problem={action.problem}
          pointer="/signingsecret/secret"
          value={secret}
          onInput={setSecret}
        />
      )}
      {present !== undefined && (
        <OverlapField
          problem={action.problem}
          pointer="/signingsecret/overlapseconds"
          value={overlap}
          onChange={setOverlap}
        />
      )}
      <p class="links">
        {present?.previous !== undefined && (
          <button type="button" class="quiet" onClick={() => void now({ overlapseconds: 0 }, texts.overlapEnded)()}>
            {t(subscriptionPageTexts.endOverlap)}
          </button>
        )}
        {present !== undefined && (
          <button type="button" class="quiet danger" onClick={() => void now(null, texts.removed)()}>
            {t(texts.remove)}
          </button>
        )}
      </p>
    </ConfirmChange>
  );
}
