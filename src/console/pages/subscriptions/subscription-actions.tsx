import { useState } from 'preact/hooks';
import { announce } from '../../app/announce.js';
import { api, newKey } from '../../app/api.js';
import { useAction } from '../../app/resource.js';
import { go, href } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { subscriptionTexts as texts } from '../../texts/subscription.js';
import { Confirm } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { ProblemView } from '../../ui/problem.js';
import { RotateCredential } from './subscription-credential.js';
import type { SubscriptionDetails } from './use-subscription.js';

type Opened = 'suspend' | 'resume' | 'remove' | 'rotate';

/** What the user may do with a subscription. */
export function Actions({
  read,
  reload,
  onEdit,
}: {
  read: SubscriptionDetails;
  reload: () => void;
  onEdit: (() => void) | undefined;
}) {
  const { status, suspended } = read.subscription;
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const button = (name: Opened, look = '') => (
    <button type="button" class={look} onClick={() => setOpened(name)}>
      {t(texts[name])}
    </button>
  );
  const mayResume = suspended !== undefined && (isAdmin.value || suspended.by === 'subscriber');
  return (
    <section aria-label={t(texts.actions)}>
      <AskAgain read={read} reload={reload} />
      <div class="actions">
        {onEdit !== undefined && (
          <button type="button" onClick={onEdit}>
            {t(texts.edit)}
          </button>
        )}
        {mayResume && button('resume')}
        {suspended === undefined && status !== 'expired' && button('suspend')}
        {button('rotate')}
        {button('remove', 'danger')}
      </div>
      {opened === 'rotate' && <RotateCredential read={read} onClose={close} onDone={reload} />}
      {opened !== undefined && opened !== 'rotate' && (
        <Decision kind={opened} read={read} onClose={close} reload={reload} />
      )}
    </section>
  );
}

/** Not offered if the registry would surely refuse it. */
export function AskAgain({ read, reload }: { read: SubscriptionDetails; reload: () => void }) {
  const { id, status, statusdetails } = read.subscription;
  const action = useAction();
  if (status === 'suspended' || status === 'blocked' || statusdetails.reason === 'ended') return null;
  if (statusdetails.reason === 'revoked' && !isAdmin.value) return null;
  const run = async () => {
    const header = { 'Idempotency-Key': newKey(), Prefer: 'wait=10' };
    await api.POST('/subscriptions/{id}/handshakes', { params: { path: { id }, header } });
    announce(t(texts.asked));
    reload();
  };
  return (
    <>
      <p class="actions">
        <button
          type="button"
          class={status === 'active' ? '' : 'first'}
          disabled={action.isBusy}
          onClick={() => void action.run(run)}
        >
          {t(action.isBusy ? texts.asking : texts.ask)}
        </button>
      </p>
      <ProblemView problem={action.problem} />
    </>
  );
}

/** Suspends, resumes or deletes, after a question. */
function Decision({
  kind,
  read: { subscription, etag },
  onClose,
  reload,
}: {
  kind: Exclude<Opened, 'rotate'>;
  read: SubscriptionDetails;
  onClose: () => void;
  reload: () => void;
}) {
  const action = useAction();
  const [reason, setReason] = useState('');
  const [reference, setReference] = useState('');
  const isRemoving = kind === 'remove';
  const header = { 'If-Match': etag, ...(reference.trim() !== '' && { 'Audit-Reference': reference.trim() }) };
  const params = { path: { id: subscription.id }, header };
  const perform = async () => {
    const body = { reason: reason.trim() };
    if (kind === 'suspend') await api.POST('/subscriptions/{id}/suspend', { params, body });
    if (kind === 'resume') await api.POST('/subscriptions/{id}/resume', { params, body });
    if (isRemoving) await api.DELETE('/subscriptions/{id}', { params });
    announce(t(texts[`${kind}Done`]));
    if (isRemoving) go(href('subscriptions'));
    else reload();
  };
  return (
    <Confirm
      title={t(texts[`${kind}Title`])}
      confirm={t(texts[kind])}
      action={action}
      isDangerous={isRemoving}
      isReady={isRemoving || reason.trim() !== ''}
      shownAt={['/reason', 'header/audit-reference']}
      onConfirm={perform}
      onClose={() => {
        // The next attempt is for what is stored now.
        if (action.problem?.code === 'precondition_failed') reload();
        onClose();
      }}
    >
      <p>{t(texts[`${kind}Hint`])}</p>
      {isRemoving && (
        <p>
          <bdi>{subscription.sink}</bdi>
        </p>
      )}
      {!isRemoving && (
        <Field
          label={t(commonTexts.reason)}
          hint={t(commonTexts.reasonHint)}
          problem={action.problem}
          pointer="/reason"
        >
          {(attributes) => (
            <input
              {...attributes}
              maxLength={500}
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
      {isAdmin.value && (
        <Field
          label={t(commonTexts.reference)}
          hint={t(commonTexts.referenceHint)}
          problem={action.problem}
          pointer="header/audit-reference"
        >
          {(attributes) => (
            <input
              {...attributes}
              maxLength={200}
              value={reference}
              onInput={(event) => setReference(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </Confirm>
  );
}
