import { Ellipsis, FileSignature, type IconNode, KeyRound, Pause, Play, RefreshCw, Trash2 } from 'lucide';
import { api, newKey } from '../../app/api.js';
import { t, type Text, announce } from '../../app/text.js';
import { subscriptionPageTexts } from '../../texts/subscriptions.js';
import { missing, ProblemView, ReasonField, ReferenceField, referenceHeader } from '../../ui/form.js';
import { useState } from 'preact/hooks';
import { type CredentialDraft, CredentialFields, readCredential } from './credential-fields.js';
import { type LoadedResource, useAction } from '../../app/live.js';
import { ConfirmChange } from '../../ui/dialog.js';
import { agreementHref, follow, readSubscription, type SubscriptionDetails } from './use-subscription.js';
import { go, href } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { commonTexts } from '../../texts/common.js';
import { Icon } from '../../ui/icon.js';
import { Menu, MenuButton } from '../../ui/menu.js';
import { type Overlap, OverlapField } from '../../ui/overlap.js';
import { Sink } from '../../ui/value.js';

/** Replaces the credential, with a time in which both are valid. */
export function RotateCredential({
  read,
  onClose,
  onChanged,
}: {
  read: SubscriptionDetails;
  onClose: () => void;
  onChanged: (answer: Answer) => void;
}) {
  const { subscription, tag } = read;
  const { id } = subscription;
  const present = subscription.sinkcredential;
  const action = useAction();
  const [draft, setDraft] = useState<CredentialDraft>({ credentialtype: present?.credentialtype ?? 'PLAIN' });
  const [overlap, setOverlap] = useState<Overlap>(present === undefined ? '0' : '3600');

  const patch = async (ifMatch: string, sinkcredential: object | null, done: Text) => {
    const params = { path: { id }, header: { 'If-Match': ifMatch } };
    onChanged(await api.PATCH('/subscriptions/{id}', { params, body: { sinkcredential } }));
    announce(t(done));
  };
  const now = (sinkcredential: object | null, done: Text) => async () => {
    if (await action.run(() => patch(tag, sinkcredential, done))) onClose();
  };
  const credential = readCredential(draft);
  return (
    <ConfirmChange
      of={{ tag, value: subscription }}
      read={() => readSubscription(id)}
      title={t(subscriptionPageTexts.rotate)}
      confirm={t(subscriptionPageTexts.rotate)}
      action={action}
      shownAt={(action.problem?.faults ?? [])
        .map(({ pointer }) => pointer)
        .filter((pointer) => pointer.startsWith('/sinkcredential/'))}
      sentence={t(subscriptionPageTexts.rotateHint)}
      onConfirm={(ifMatch) =>
        patch(ifMatch, { ...credential, overlapseconds: Number(overlap) }, subscriptionPageTexts.rotated)
      }
      onClose={onClose}
    >
      <CredentialFields draft={draft} onInput={setDraft} problem={action.problem} />
      {present !== undefined && (
        <OverlapField
          problem={action.problem}
          pointer="/sinkcredential/overlapseconds"
          value={overlap}
          onChange={setOverlap}
        />
      )}
      <p class="links">
        {present?.previous !== undefined && (
          <button
            type="button"
            class="quiet"
            onClick={() => void now({ overlapseconds: 0 }, subscriptionPageTexts.overlapEnded)()}
          >
            {t(subscriptionPageTexts.endOverlap)}
          </button>
        )}
        {present !== undefined && (
          <button
            type="button"
            class="quiet danger"
            onClick={() => void now(null, subscriptionPageTexts.credentialRemoved)()}
          >
            {t(subscriptionPageTexts.removeCredential)}
          </button>
        )}
      </p>
    </ConfirmChange>
  );
}

type Answer = Parameters<typeof follow>[1];
type Opened = 'suspend' | 'resume' | 'remove' | 'rotate';

/** What the user may do with a subscription, apart from what is beside the menu. */
export function ActionMenu({
  read,
  resource,
}: {
  read: SubscriptionDetails;
  resource: LoadedResource<SubscriptionDetails>;
}) {
  const { status, suspended } = read.subscription;
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const onChanged = (answer: Answer) => follow(resource, answer);
  const line = (name: Opened, icon: IconNode, look = '') => (
    <MenuButton icon={icon} look={look} onClick={() => setOpened(name)}>
      {t(subscriptionPageTexts[name])}
    </MenuButton>
  );
  return (
    <>
      <Menu look="quiet" label={t(subscriptionPageTexts.actions)} button={<Icon of={Ellipsis} size={18} />}>
        {!suspended && status !== 'expired' && line('suspend', Pause)}
        {line('rotate', KeyRound)}
        {isAdmin.value && status !== 'active' && (
          <a class="button quiet" href={agreementHref(read.subscription)}>
            <Icon of={FileSignature} />
            {t(subscriptionPageTexts.approve)}
          </a>
        )}
        {line('remove', Trash2, 'danger')}
      </Menu>
      {opened === 'rotate' && <RotateCredential read={read} onClose={close} onChanged={onChanged} />}
      {opened !== undefined && opened !== 'rotate' && (
        <Decision kind={opened} read={read} onClose={close} onChanged={onChanged} />
      )}
    </>
  );
}

/** What a suspended subscription needs. Only an admin resumes what an admin suspended. */
export function ResumeButton({
  read,
  resource,
}: {
  read: SubscriptionDetails;
  resource: LoadedResource<SubscriptionDetails>;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const { suspension } = read.subscription;
  if (suspension === undefined || !(isAdmin.value || suspension.by === 'subscriber')) return null;
  return (
    <>
      <button type="button" class="first" onClick={() => setIsOpen(true)}>
        <Icon of={Play} />
        {t(subscriptionPageTexts.resume)}
      </button>
      {isOpen && (
        <Decision
          kind="resume"
          read={read}
          onClose={() => setIsOpen(false)}
          onChanged={(answer) => follow(resource, answer)}
        />
      )}
    </>
  );
}

/** Not offered if the registry would surely refuse it. */
export function AskAgain({ read, reload }: { read: SubscriptionDetails; reload: () => void }) {
  const { id, status, statusdetails } = read.subscription;
  const action = useAction();
  if (status === 'suspended' || status === 'blocked' || statusdetails.code === 'ended') return null;
  if (statusdetails.code === 'revoked' && !isAdmin.value) return null;
  const run = async () => {
    const header = { 'Idempotency-Key': newKey(), Prefer: 'wait=10' };
    await api.POST('/subscriptions/{id}/handshakes', { params: { path: { id }, header } });
    announce(t(subscriptionPageTexts.asked));
    reload();
  };
  return (
    <>
      <button
        type="button"
        class={status === 'active' ? '' : 'first'}
        disabled={action.isBusy}
        onClick={() => void action.run(run)}
      >
        <Icon of={RefreshCw} />
        {t(action.isBusy ? subscriptionPageTexts.asking : subscriptionPageTexts.ask)}
      </button>
      <ProblemView problem={action.problem} />
    </>
  );
}

/** Suspends, resumes or deletes, after a question. */
function Decision({
  kind,
  read: { subscription, tag },
  onClose,
  onChanged,
}: {
  kind: Exclude<Opened, 'rotate'>;
  read: SubscriptionDetails;
  onClose: () => void;
  onChanged: (answer: Answer) => void;
}) {
  const { id } = subscription;
  const action = useAction();
  const [reason, setReason] = useState('');
  const [reference, setReference] = useState('');
  const isRemoving = kind === 'remove';
  const perform = async (ifMatch: string) => {
    const params = { path: { id }, header: { 'If-Match': ifMatch, ...referenceHeader(reference) } };
    const body = { reason: reason.trim() };
    if (kind === 'suspend') onChanged(await api.POST('/subscriptions/{id}/suspend', { params, body }));
    if (kind === 'resume') {
      onChanged(await api.POST('/subscriptions/{id}/resume', { params, ...(body.reason !== '' && { body }) }));
    }
    if (isRemoving) await api.DELETE('/subscriptions/{id}', { params });
    announce(t(subscriptionPageTexts[`${kind}Done`]));
    if (isRemoving) go(href('subscriptions'));
  };
  return (
    <ConfirmChange
      of={{ tag, value: subscription }}
      read={() => readSubscription(id)}
      title={t(subscriptionPageTexts[`${kind}Title`])}
      confirm={t(subscriptionPageTexts[kind])}
      action={action}
      sentence={t(subscriptionPageTexts[`${kind}Hint`])}
      isDangerous={isRemoving}
      check={() => (kind === 'suspend' ? missing({ '/reason': [t(commonTexts.reason), reason] }) : [])}
      shownAt={['/reason', 'header/audit-reference']}
      onConfirm={perform}
      onClose={onClose}
    >
      {isRemoving && (
        <p>
          <Sink sink={subscription.sink} />
        </p>
      )}
      {!isRemoving && (
        <ReasonField
          label={t(kind === 'resume' ? commonTexts.reasonOptional : commonTexts.reason)}
          problem={action.problem}
          value={reason}
          onInput={setReason}
        />
      )}
      {isAdmin.value && <ReferenceField problem={action.problem} value={reference} onInput={setReference} />}
    </ConfirmChange>
  );
}
