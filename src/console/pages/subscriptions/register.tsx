import { useState } from 'preact/hooks';
import { announce, t } from '../../app/text.js';
import { api, type Schemas } from '../../app/api.js';
import { dropDraft, useDraft } from '../../app/draft.js';
import { useAction, useKey } from '../../app/live.js';
import { emptyDraft } from './subscription-draft.js';
import { href } from '../../app/route.js';
import { commonTexts } from '../../texts/common.js';
import { registerTexts as texts } from '../../texts/subscriptions.js';
import { Form, Loaded, ProblemView } from '../../ui/form.js';
import { AskAgain, type CredentialDraft, CredentialFields, readCredential } from './subscription-actions.js';
import { askedRate, needsLines } from './subscription.js';
import { isShownAtField, SubscriptionFields, useSubscriptionForm } from './subscription-edit.js';
import { StatusNote } from './subscription-status.js';
import { Handshakes } from './subscription-timeline.js';
import { useSubscription } from './use-subscription.js';
import { WebhookLines } from './webhook-lines.js';

/** The form, and then the response of the webhook as it comes. */
export function RegisterPage() {
  const [registered, setRegistered] = useState<string>();
  return (
    <>
      <h1>{t(texts.title)}</h1>
      {registered === undefined ? (
        <RegisterForm onDone={setRegistered} />
      ) : (
        <Registered id={registered} onAnother={() => setRegistered(undefined)} />
      )}
    </>
  );
}

function RegisterForm({ onDone }: { onDone: (id: string) => void }) {
  const action = useAction();
  const kept = useDraft('register', emptyDraft);
  const form = useSubscriptionForm(kept, action.problem);
  const [credential, setCredential] = useState<CredentialDraft>({ credentialtype: '' });
  const [isDraft, setIsDraft] = useState(false);
  const keyOf = useKey();

  const sinkcredential = readCredential(credential);
  const submit = async () => {
    const body = {
      protocol: 'HTTP',
      ...form.members,
      ...(sinkcredential && { sinkcredential }),
      ...(isDraft && { suspended: true }),
    } as Schemas['SubscriptionRegistration'];
    // It does not wait: the page shows the response of the webhook as it comes.
    const header = { 'Idempotency-Key': keyOf(body), Prefer: 'respond-async' };
    const { data } = await api.POST('/subscriptions', { params: { header }, body });
    dropDraft('register');
    announce(t(texts.registered));
    onDone(data.id);
  };
  const shownAt = (action.problem?.faults ?? [])
    .map(({ pointer }) => pointer)
    .filter((pointer) => isShownAtField(pointer) || pointer.startsWith('/sinkcredential/'));
  return (
    <>
      <p class="lead">{t(texts.intro)}</p>
      <Form action={action} check={form.check} isKept={sinkcredential === undefined} onSubmit={submit}>
        <SubscriptionFields {...form} />
        <CredentialFields draft={credential} onInput={setCredential} problem={action.problem} />
        <p>
          <label class="choice">
            <input type="checkbox" checked={isDraft} onChange={(event) => setIsDraft(event.currentTarget.checked)} />{' '}
            {t(texts.draft)}
          </label>
        </p>
        <ProblemView problem={action.problem} shownAt={shownAt} />
        <button type="submit" class="first" disabled={action.isBusy}>
          {action.isBusy ? t(commonTexts.busy) : t(isDraft ? texts.submitDraft : texts.submit)}
        </button>
      </Form>
    </>
  );
}

function Registered({ id, onAnother }: { id: string; onAnother: () => void }) {
  const resource = useSubscription(id);
  return (
    <>
      <h2>{t(texts.answer)}</h2>
      <Loaded of={resource}>
        {(read) => {
          const { subscription } = read;
          const { origin, sink } = subscription;
          return (
            <>
              <StatusNote subscription={subscription} />
              {subscription.status !== 'active' && <AskAgain read={read} reload={resource.reload} />}
              {needsLines(subscription) && <WebhookLines origin={origin} asked={askedRate(read)} sink={sink} isOpen />}
              <Handshakes read={read} />
            </>
          );
        }}
      </Loaded>
      <p class="actions">
        <a class="button" href={href('subscriptions', id)}>
          {t(texts.open)}
        </a>
        <button type="button" onClick={onAnother}>
          {t(texts.another)}
        </button>
      </p>
    </>
  );
}
