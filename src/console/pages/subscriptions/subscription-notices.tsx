import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { useAction, useKey, useResource } from '../../app/live.js';
import { href } from '../../app/route.js';
import { caller } from '../../app/session.js';
import { announce, t } from '../../app/text.js';
import { subscriptionPageTexts as texts } from '../../texts/subscriptions.js';
import { Form, Loaded, missing, ProblemView, TextField } from '../../ui/form.js';
import { Sink, StatusBadge } from '../../ui/value.js';

/**
 * Turns notices about one subscription on and off: a subscription of its own, to the origin that notices come from, with
 * this one as the subject. Only its subscriber gets any. Nothing is shown if no notices are sent here.
 */
export function Notices({ of: { id, origin, subscriber } }: { of: Schemas['Subscription'] }) {
  const action = useAction();
  const keyOf = useKey();
  const [sink, setSink] = useState('');
  const notices = useResource(
    `notices ${id}`,
    async (signal) => {
      const { data: origins } = await api.GET('/origins', { params: { query: { notices: true, limit: 1 } }, signal });
      const from = origins[0]?.name;
      if (from === undefined || from === origin) return {};
      const query = { origin: from, subject: id, subscriber };
      const { data } = await api.GET('/subscriptions', { params: { query }, signal });
      return { from, present: data[0] };
    },
    ({ kind }) => kind.startsWith('subscription.') || kind.startsWith('grant.'),
  );
  if (caller.value?.subscriber !== subscriber || (notices.data !== undefined && notices.data.from === undefined))
    return null;
  const turnOn = async () => {
    const body = { sink: sink.trim(), protocol: 'HTTP' as const, origin: notices.data?.from, subject: id };
    const header = { 'Idempotency-Key': keyOf(body) };
    await api.POST('/subscriptions', { params: { header }, body: body });
    announce(t(texts.noticesOn));
    notices.reload();
  };
  const turnOff = (present: string) => async () => {
    await api.DELETE('/subscriptions/{id}', { params: { path: { id: present } } });
    announce(t(texts.noticesOff));
    notices.reload();
  };
  return (
    <section class="card notices" aria-labelledby="notices">
      <h2 id="notices">{t(texts.notices)}</h2>
      <p class="soft">{t(texts.noticesHint)}</p>
      <Loaded of={notices}>
        {({ present }) =>
          present === undefined ? (
            <Form action={action} check={() => missing({ '/sink': [t(texts.noticesSink), sink] })} onSubmit={turnOn}>
              <TextField
                label={t(texts.noticesSink)}
                type="url"
                placeholder="https://"
                problem={action.problem}
                pointer="/sink"
                value={sink}
                onInput={setSink}
              />
              <ProblemView problem={action.problem} shownAt={['/sink']} />
              <button type="submit" disabled={action.isBusy}>
                {t(texts.noticesTurnOn)}
              </button>
            </Form>
          ) : (
            <>
              <p>
                <a href={href('subscriptions', present.id)}>
                  <Sink sink={present.sink} />
                </a>{' '}
                <StatusBadge status={present.status} />
              </p>
              <ProblemView problem={action.problem} />
              <button type="button" disabled={action.isBusy} onClick={() => void action.run(turnOff(present.id))}>
                {t(texts.noticesTurnOff)}
              </button>
            </>
          )
        }
      </Loaded>
    </section>
  );
}
