import { useState } from 'preact/hooks';
import { announce } from '../../app/announce.js';
import { api, type Schemas } from '../../app/api.js';
import { useAction } from '../../app/resource.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import { Confirm } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';

interface ChangeProps {
  grant: Schemas['Grant'];
  tag: string;
  onClose: () => void;
}

/** The headers of a change: the version that the user saw when the dialog opened, whatever has happened since. */
const headersOf = (tag: string, reference: string) => ({
  'If-Match': tag,
  ...(reference.trim() !== '' && { 'Audit-Reference': reference.trim() }),
});

const Pair = ({ grant: { origin, sink } }: { grant: Schemas['Grant'] }) => (
  <p>
    <bdi>{origin}</bdi> → <bdi>{sink}</bdi>
  </p>
);

export function RevokeGrant({ grant, tag, onClose }: ChangeProps) {
  const [opened] = useState(tag);
  const [reason, setReason] = useState('');
  const [reference, setReference] = useState('');
  const action = useAction();
  const revoke = async () => {
    const params = { path: { id: grant.id }, header: headersOf(opened, reference) };
    await api.POST('/grants/{id}/revoke', { params, body: { reason } });
    announce(t(texts.revoked));
  };
  return (
    <Confirm
      title={t(texts.revokeTitle)}
      confirm={t(texts.revoke)}
      action={action}
      onConfirm={revoke}
      onClose={onClose}
      shownAt={['/reason', 'header/audit-reference']}
      isDangerous
    >
      <Pair grant={grant} />
      <p>{t(texts.revokeLead)}</p>
      <Field label={t(commonTexts.reason)} hint={t(commonTexts.reasonHint)} problem={action.problem} pointer="/reason">
        {(attributes) => (
          <input {...attributes} value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
        )}
      </Field>
      <ReferenceField problem={action.problem} value={reference} onValue={setReference} />
    </Confirm>
  );
}

export function ReferenceField({
  problem,
  value,
  onValue,
}: {
  problem: Schemas['Problem'] | undefined;
  value: string;
  onValue: (value: string) => void;
}) {
  return (
    <Field
      label={t(commonTexts.reference)}
      hint={t(commonTexts.referenceHint)}
      problem={problem}
      pointer="header/audit-reference"
    >
      {(attributes) => (
        <input {...attributes} value={value} onInput={({ currentTarget }) => onValue(currentTarget.value)} />
      )}
    </Field>
  );
}

export function ReleaseGrant({ grant, tag, onClose }: ChangeProps) {
  const [opened] = useState(tag);
  const action = useAction();
  const release = async () => {
    const params = { path: { id: grant.id }, header: headersOf(opened, '') };
    await api.POST('/grants/{id}/release', { params });
    announce(t(texts.released));
  };
  return (
    <Confirm title={t(texts.release)} confirm={t(texts.release)} action={action} onConfirm={release} onClose={onClose}>
      <Pair grant={grant} />
      <p>{t(texts.releaseLead)}</p>
    </Confirm>
  );
}
