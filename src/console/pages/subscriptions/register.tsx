import { CircleCheck, CircleX, RefreshCw } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { dropDraft, useDraft } from '../../app/draft.js';
import { incomplete, useAction, useKey } from '../../app/live.js';
import { href } from '../../app/route.js';
import { announce, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { registerTexts as texts, subscriptionPageTexts } from '../../texts/subscriptions.js';
import { Form, Loaded, ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { Copyable, rateText, Sink, StatusBadge } from '../../ui/value.js';
import { AskAgain, type CredentialDraft, CredentialFields, missingIn, readCredential } from './subscription-actions.js';
import { emptyDraft } from './subscription-draft.js';
import { isShownAtField, SubscriptionFields, useSubscriptionForm } from './subscription-fields.js';
import { StatusNote } from './subscription-status.js';
import { Exchange, Handshakes } from './subscription-timeline.js';
import { askedRate, needsLines } from './subscription.js';
import { TryEvent } from './try-event.js';
import { useSubscription } from './use-subscription.js';
import { WebhookLines } from './webhook-lines.js';

/** The form, and then the response of the webhook as it comes. */
export function RegisterPage() {
  const [registered, setRegistered] = useState<string>();
  return registered === undefined ? (
    <RegisterForm onDone={setRegistered} />
  ) : (
    <Registered id={registered} onAnother={() => setRegistered(undefined)} />
  );
}

function RegisterForm({ onDone }: { onDone: (id: string) => void }) {
  const action = useAction();
  const kept = useDraft('register', emptyDraft);
  const form = useSubscriptionForm(kept, action.problem, true);
  const [credential, setCredential] = useState<CredentialDraft>({ credentialtype: '' });
  const keyOf = useKey();

  const sinkcredential = readCredential(credential);
  const register = async (suspended: boolean) => {
    const missing = [...form.check(), ...missingIn(credential)];
    if (missing.length > 0) throw incomplete(missing);
    const body = {
      protocol: 'HTTP',
      ...form.members,
      ...(sinkcredential && { sinkcredential }),
      ...(suspended && { suspended }),
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
    <Form look="wide" action={action} isKept={sinkcredential === undefined} onSubmit={() => register(false)}>
      <h1>{t(texts.title)}</h1>
      <div>
        <ProblemView problem={action.problem} shownAt={shownAt} />
        <SubscriptionFields
          form={form}
          belowSink={<SinkCheck of={form.dryRun} />}
          credential={
            <CredentialFields isOptional draft={credential} onInput={setCredential} problem={action.problem} />
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

type Form = ReturnType<typeof useSubscriptionForm>;

/** What the registry says of the sink as it is typed: without asking it. */
function SinkCheck({ of }: { of: Form['dryRun'] }) {
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
function AskWebhook({ form }: { form: Form }) {
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

function Answer({ of: { status, statusdetails, attempt, sink, origin } }: { of: Schemas['Subscription'] }) {
  const { message, advice, allowedrate, fixedby } = statusdetails;
  return (
    <>
      <p>
        {t(texts.nothingStored)}{' '}
        {status === 'active' ? (
          t(texts.wouldBeActive(rateText(allowedrate)))
        ) : (
          <bdi>
            {message} {advice}
          </bdi>
        )}
      </p>
      {status !== 'active' && fixedby === 'headers' && (
        <Copyable text={`WebHook-Allowed-Origin: ${origin}`} label={t(subscriptionPageTexts.toDo.headers)} />
      )}
      {attempt !== undefined && <Exchange asked={{ sink, origin }} attempt={attempt} isTold />}
    </>
  );
}

function Registered({ id, onAnother }: { id: string; onAnother: () => void }) {
  const resource = useSubscription(id);
  useEffect(() => scrollTo(0, 0), []);
  return (
    <>
      <div class="title">
        <h1>{resource.data === undefined ? t(texts.title) : <Sink sink={resource.data.subscription.sink} />}</h1>
        {resource.data !== undefined && <StatusBadge status={resource.data.subscription.status} />}
        <span class="grow" />
        <button type="button" class="quiet" onClick={onAnother}>
          {t(texts.another)}
        </button>
        <a class="button" href={href('subscriptions', id)}>
          {t(texts.open)}
        </a>
        {resource.data !== undefined && resource.data.subscription.status !== 'active' && (
          <AskAgain read={resource.data} reload={resource.reload} />
        )}
      </div>
      <Loaded of={resource}>
        {(read) => {
          const { subscription } = read;
          const { origin, sink } = subscription;
          return (
            <>
              <StatusNote subscription={subscription} />
              {needsLines(subscription) && <WebhookLines origin={origin} asked={askedRate(read)} sink={sink} isOpen />}
              <h2>{t(texts.answer)}</h2>
              <Handshakes read={read} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}
