import { useState } from 'preact/hooks';
import { announce } from '../../app/announce.js';
import { api } from '../../app/api.js';
import { useAction } from '../../app/resource.js';
import { t, type Text } from '../../app/text.js';
import { subscriptionTexts as texts } from '../../texts/subscription.js';
import { Confirm } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { CredentialFields, readCredential, type CredentialDraft } from './credential-fields.js';
import type { SubscriptionDetails } from './use-subscription.js';

/** Replaces the credential, with a time in which both are valid. */
export function RotateCredential({
  read,
  onClose,
  onDone,
}: {
  read: SubscriptionDetails;
  onClose: () => void;
  onDone: () => void;
}) {
  const { subscription, etag } = read;
  const present = subscription.sinkcredential;
  const action = useAction();
  const [draft, setDraft] = useState<CredentialDraft>({ credentialtype: present?.credentialtype ?? 'PLAIN' });
  const [overlap, setOverlap] = useState(present === undefined ? '0' : '3600');

  const patch = async (sinkcredential: object | null, done: Text) => {
    await api.PATCH('/subscriptions/{id}', {
      params: { path: { id: subscription.id }, header: { 'If-Match': etag } },
      body: { sinkcredential },
    });
    announce(t(done));
    onDone();
  };
  const now = (sinkcredential: object | null, done: Text) => async () => {
    if (await action.run(() => patch(sinkcredential, done))) onClose();
  };
  const credential = readCredential(draft);
  return (
    <Confirm
      title={t(texts.rotate)}
      confirm={t(texts.rotate)}
      action={action}
      isReady={credential !== undefined && /^\d+$/.test(overlap)}
      shownAt={(action.problem?.faults ?? []).map(({ pointer }) => pointer)}
      onConfirm={() => patch({ ...credential, overlapseconds: Number(overlap) }, texts.rotated)}
      onClose={onClose}
    >
      <CredentialFields draft={draft} onInput={setDraft} problem={action.problem} />
      {present !== undefined && (
        <Field
          label={t(texts.overlap)}
          hint={t(texts.overlapHint)}
          problem={action.problem}
          pointer="/sinkcredential/overlapseconds"
        >
          {(attributes) => (
            <input
              {...attributes}
              inputMode="numeric"
              value={overlap}
              onInput={(event) => setOverlap(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
      <div class="actions">
        {present?.previous !== undefined && (
          <button type="button" onClick={() => void now({ overlapseconds: 0 }, texts.overlapEnded)()}>
            {t(texts.endOverlap)}
          </button>
        )}
        {present !== undefined && (
          <button type="button" class="danger" onClick={() => void now(null, texts.credentialRemoved)()}>
            {t(texts.removeCredential)}
          </button>
        )}
      </div>
    </Confirm>
  );
}
