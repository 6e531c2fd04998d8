import { CircleCheck, CircleX, RefreshCw } from 'lucide';
import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { dropDraft, useDraft } from '../../app/draft.js';
import { incomplete, useAction, useKey } from '../../app/live.js';
import { announce, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { registerTexts as texts } from '../../texts/register.js';
import { signingSecretTexts } from '../../texts/signing-secrets.js';
import { subscriptionPageTexts } from '../../texts/subscriptions.js';
import { Form, ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { later } from '../../ui/later.js';
import { StatusBadge } from '../../ui/value.js';
import { type CredentialDraft, CredentialFields, missingIn, readCredential } from './credential-fields.js';
import { emptyDraft } from './subscription-draft.js';
import {
  isShownAtField,
  SubscriptionFields,
  type SubscriptionForm,
  useSubscriptionForm,
} from './subscription-fields.js';
import { TryEvent } from './try-event.js';

const Registered = later(async () => (await import('./registered.js')).Registered);
const Answer = later(async () => (await import('./registered.js')).Answer);

/** The form, and then the response of the webhook as it comes. */
export function RegisterPage() {
  const [registered, setRegistered] = useState<Done>();
  return registered === undefined ? (
    <RegisterForm onDone={setRegistered} />
  ) : (
    <Registered {...registered} onAnother={() => setRegistered(undefined)} />
  );
}

interface Done {
  id: string;
  /** Made for it. No request shows it again. */
  secret: string | undefined;
  /** One was made, and the response that had it did not arrive. */
  isSecretLost: boolean;
}

function RegisterForm({ onDone }: { onDone: (done: Done) => void }) {
  const action = useAction();
  const kept = useDraft('register', emptyDraft);
  const form = useSubscriptionForm(kept, action.problem, true);
  const [credential, setCredential] = useState<CredentialDraft>({ credentialtype: '' });
  const [{ isSigned }, setSigning] = useDraft('register signing', { isSigned: false });
  const keyOf = useKey();

  const sinkcredential = readCredential(credential);
  const register = async (suspended: boolean) => {
    const missing = [...form.check(), ...missingIn(credential)];
    if (missing.length > 0) throw incomplete(missing);
    const body = {
      protocol: 'HTTP',
      ...form.members,
      ...(sinkcredential && { sinkcredential }),
      ...(isSigned && { signingsecret: { make: true } }),
      ...(suspended && { suspended }),
    } as Schemas['SubscriptionRegistration'];
    // It does not wait: the page shows the response of the webhook as it comes.
    const header = { 'Idempotency-Key': keyOf(body), Prefer: 'respond-async' };
    const { data } = await api.POST('/subscriptions', { params: { header }, body });
    dropDraft('register');
    dropDraft('register signing');
    announce(t(texts.registered));
    const secret = data.signingsecret?.secret;
    onDone({ id: data.id, secret, isSecretLost: isSigned && secret === undefined });
  };
  const shownAt = (action.problem?.faults ?? [])
    .map(({ pointer }) => pointer)
    .filter((pointer) => isShownAtField(pointer) || pointer.startsWith('/sinkcredential/'));
  return (
    <Form look="wide" action={action} isKept={sinkcredential === undefined} onSubmit={() => register(false)}>
      <h1>{t(texts.title)}</h1>
      <div>
        <ProblemView problem={action.problem} shownAt={shownAt} />
        <SubscriptionFields
          form={form}
          belowSink={<SinkCheck of={form.dryRun} />}
          credential={
            <>
              <CredentialFields isOptional draft={credential} onInput={setCredential} problem={action.problem} />
              <label class="choice">
                <input
                  type="checkbox"
                  checked={isSigned}
                  onChange={({ currentTarget }) => setSigning({ isSigned: currentTarget.checked })}
                />{' '}
                {t(signingSecretTexts.sign)}
              </label>
            </>
          }
        />
      </div>
      <aside>
        <AskWebhook form={form} />
        <TryEvent of={form.tried} wanted={form.wanted} conditions={form.conditions} />
      </aside>
      <div class="actions">
        <button
          type="button"
          class="quiet"
          disabled={action.isBusy}
          title={t(texts.draftHint)}
          onClick={() => void action.run(() => register(true))}
        >
          {t(texts.draft)}
        </button>
        <button type="submit" class="first" disabled={action.isBusy}>
          {t(action.isBusy ? commonTexts.busy : texts.submit)}
        </button>
      </div>
    </Form>
  );
}

/** What the registry says of the sink as it is typed: without asking it. */
function SinkCheck({ of }: { of: SubscriptionForm['dryRun'] }) {
  const refusal = of?.problem?.faults?.length ? undefined : of?.problem?.detail;
  const isActive = of?.data?.status === 'active';
  return (
    <p class={`below ${refusal === undefined ? 'good' : 'bad'}`} role="status">
      {of?.data !== undefined && (
        <>
          <Icon of={CircleCheck} /> {t(isActive ? texts.allowedAlready : texts.canAsk)}
        </>
      )}
      {refusal !== undefined && (
        <>
          <Icon of={CircleX} /> <bdi>{refusal}</bdi>
        </>
      )}
    </p>
  );
}

/** What the webhook would say: it is asked once, and nothing is stored. */
function AskWebhook({ form }: { form: SubscriptionForm }) {
  const action = useAction();
  const [asked, setAsked] = useState<{ about: string; answer: Schemas['Subscription'] }>();
  const { sink, origin, requestedrate } = form.members;
  const about = JSON.stringify([sink, origin, requestedrate]);
  const answer = asked?.about === about ? asked.answer : undefined;
  const ask = async () => {
    const missing = form.check();
    if (missing.length > 0) throw incomplete(missing);
    const body = { protocol: 'HTTP', ...form.members } as Schemas['SubscriptionRegistration'];
    const { data } = await api.POST('/subscriptions', { params: { query: { dryrun: true, ask: true } }, body });
    setAsked({ about, answer: data });
  };
  return (
    <section class="card" aria-labelledby="ask">
      <div class="head">
        <h2 id="ask">{t(texts.ask)}</h2>
        <span role="status">{answer !== undefined && <StatusBadge status={answer.status} />}</span>
      </div>
      {answer === undefined ? <p class="soft">{t(texts.askHint)}</p> : <Answer of={answer} />}
      <ProblemView problem={action.problem} isRead />
      <button type="button" disabled={action.isBusy} onClick={() => void action.run(ask)}>
        <Icon of={RefreshCw} />
        {t(
          action.isBusy
            ? subscriptionPageTexts.asking
            : answer === undefined
              ? texts.askNow
              : subscriptionPageTexts.ask,
        )}
      </button>
    </section>
  );
}
