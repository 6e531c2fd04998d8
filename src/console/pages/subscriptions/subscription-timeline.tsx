import { formatNumber, t } from '../../app/text.js';
import { isAdmin } from '../../app/session.js';
import { handshakePageTexts, subscriptionPageTexts } from '../../texts/subscriptions.js';
import { Copyable, Time } from '../../ui/value.js';
import { type ApiHandshake, readHandshakes, type SubscriptionDetails } from './use-subscription.js';
import { useState } from 'preact/hooks';
import { useAction, useResource } from '../../app/live.js';
import { ProblemView, Loaded } from '../../ui/form.js';
import { RejectedCallbackNote } from './subscription-status.js';
import { api } from '../../app/api.js';
import { Table } from '../../ui/table.js';

type Attempt = ApiHandshake['attempts'][number];
type Lines = Attempt['request'];

const stages = ['lookupms', 'connectms', 'tlsms', 'responsems', 'totalms'] as const;

/** The words that a shell reads as one, whatever is in them. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function curlOf(sink: string, request: Lines): string {
  const headers = request.map(({ name, value }) => `  -H ${quoted(`${name}: ${value}`)}`);
  return [`curl -i -X OPTIONS ${quoted(sink)}`, ...headers].join(' \\\n');
}

/** One attempt as it went over the wire: what Assent sent, what came back, and what that means. */
function Exchange({ sink, attempt, isAlone }: { sink: string; attempt: Attempt; isAlone: boolean }) {
  const {
    number,
    startedat,
    finishedat,
    request,
    response,
    statuscode,
    address,
    timing,
    verdict,
    evidence,
    tolerated = [],
  } = attempt;
  const { host, pathname, search } = new URL(sink);
  const sent = [`OPTIONS ${pathname}${search} HTTP/1.1`, `Host: ${host}`, ...request.map(lineOf)];
  const received = [...(statuscode === undefined ? [] : [`HTTP/1.1 ${statuscode}`]), ...(response ?? []).map(lineOf)];
  const measured = stages.flatMap((stage) => {
    const ms = timing?.[stage];
    return ms === undefined
      ? []
      : [`${t(handshakePageTexts.stages[stage])} ${formatNumber(Math.round(ms * 10) / 10)} ms`];
  });
  return (
    <section aria-label={t(handshakePageTexts.attempt(String(number)))}>
      <h4>
        {t(handshakePageTexts.attempt(String(number)))} · <Time at={startedat} isExact />
      </h4>
      <div class="exchange">
        <Wire title={t(handshakePageTexts.sent)} lines={sent} />
        {received.length > 0 ? (
          <Wire title={t(handshakePageTexts.received)} lines={received} />
        ) : (
          <p>{t(nothing(attempt))}</p>
        )}
      </div>
      {!isAlone && verdict !== undefined && (
        <p>
          <code>{verdict}</code> <bdi>{attempt.message}</bdi> <bdi>{attempt.advice}</bdi>
        </p>
      )}
      {tolerated.length > 0 && (
        <p>
          {t(handshakePageTexts.tolerated)}: <bdi>{tolerated.map(({ message }) => message).join(' ')}</bdi>
        </p>
      )}
      {isAdmin.value ? (
        <p class="soft">
          {evidence !== undefined && `${t(handshakePageTexts.evidence)}: ${evidence}. `}
          {address !== undefined && `${t(handshakePageTexts.address)}: ${address}. `}
          {measured.length > 0 && `${t(handshakePageTexts.timing)}: ${measured.join(', ')}.`}
        </p>
      ) : (
        finishedat !== undefined && <p class="soft">{t(handshakePageTexts.onlyAdmins)}</p>
      )}
      <details>
        <summary>{t(handshakePageTexts.curl)}</summary>
        <Copyable text={curlOf(sink, request)} label={t(handshakePageTexts.curl)} />
      </details>
    </section>
  );
}

const lineOf = ({ name, value }: Lines[number]) => `${name}: ${value}`;

/** Consumers do not see whether there was a response without WebHook headers, other than by the verdict. */
function nothing({ finishedat, response }: Attempt) {
  if (finishedat === undefined) return handshakePageTexts.inFlight;
  return response === undefined ? handshakePageTexts.nothingReceived : handshakePageTexts.noWebhookHeader;
}

function Wire({ title, lines }: { title: string; lines: readonly string[] }) {
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <pre tabIndex={0} aria-label={title}>
        <code>
          {lines.map((line, place) => (
            <span key={place} class="line">
              <bdi>{line}</bdi>
            </span>
          ))}
        </code>
      </pre>
    </figure>
  );
}

const looks: Partial<Record<ApiHandshake['state'], string>> = {
  granted: 'good',
  due: 'open',
  asking: 'open',
  waiting: 'open',
  cancelled: 'off',
};

/** Every handshake, newest first. The newest is open. */
export function Timeline({ read }: { read: SubscriptionDetails }) {
  const [older, setOlder] = useState<{ handshakes: readonly ApiHandshake[]; cursor: string | undefined }>();
  const action = useAction();
  const cursor = older === undefined ? read.olderCursor : older.cursor;
  const readOlder = async () => {
    const { data, next } = await readHandshakes(read.subscription.id, cursor);
    setOlder({ handshakes: [...(older?.handshakes ?? []), ...data], cursor: next });
  };
  const known = new Set(read.handshakes.map(({ id }) => id));
  const all = [...read.handshakes, ...(older?.handshakes ?? []).filter(({ id }) => !known.has(id))];
  return (
    <section aria-labelledby="handshakes">
      <h2 id="handshakes">{t(handshakePageTexts.title)}</h2>
      <p>{t(all.length === 0 ? handshakePageTexts.none : handshakePageTexts.hint)}</p>
      <ol class="timeline">
        {all.map((handshake, place) => (
          <li key={handshake.id} class="card">
            <HandshakeCard handshake={handshake} isOpen={place === 0} />
          </li>
        ))}
      </ol>
      <ProblemView problem={action.problem} isRead />
      {cursor !== undefined && (
        <button type="button" disabled={action.isBusy} onClick={() => void action.run(readOlder)}>
          {t(handshakePageTexts.older)}
        </button>
      )}
    </section>
  );
}

function HandshakeCard({ handshake, isOpen }: { handshake: ApiHandshake; isOpen: boolean }) {
  const { sink, trigger, state, verdict, message, advice, fixedby = 'nobody', next, nextat } = handshake;
  const { createdat, attempts, rejectedcallback } = handshake;
  return (
    <details open={isOpen}>
      <summary>
        <h3 class="in-line">
          <Time at={createdat} isExact /> · {t(handshakePageTexts.triggers[trigger])}
        </h3>{' '}
        <span class={`badge ${looks[state] ?? 'bad'}`}>{t(handshakePageTexts.states[state])}</span>{' '}
        {verdict !== undefined && <code>{verdict}</code>}
      </summary>
      {message !== undefined && (
        <p>
          <bdi>{message}</bdi>
        </p>
      )}
      {advice !== undefined && (
        <p>
          <strong>{t(subscriptionPageTexts.toDo[fixedby])}</strong> <bdi>{advice}</bdi>
        </p>
      )}
      {nextat !== undefined && (
        <p>
          <strong>{t(subscriptionPageTexts.next)}</strong> {next} <Time at={nextat} />
        </p>
      )}
      <RejectedCallbackNote of={rejectedcallback} />
      {attempts.map((attempt) => (
        <Exchange key={attempt.number} sink={sink} attempt={attempt} isAlone={attempts.length === 1} />
      ))}
    </details>
  );
}

type Outcome = keyof typeof subscriptionPageTexts.outcomes;

/** What senders reported for the pair of origin and sink. */
export function Deliveries({ id, origin, sink }: { id: string; origin: string; sink: string }) {
  const deliveries = useResource(
    `${id} ${origin} ${sink}`,
    async (signal) => (await api.GET('/subscriptions/{id}/deliveries', { params: { path: { id } }, signal })).data,
    (change) => change.origin === origin && change.sink === sink && change.subscription === undefined,
  );
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">{t(subscriptionPageTexts.deliveries)}</h2>
      <Loaded of={deliveries}>
        {({ counts, failures, deliveredat, lastat, laststatuscode, helduntil, message, advice }) => {
          const rows = Object.entries(counts);
          if (rows.length === 0) return <p>{t(subscriptionPageTexts.noDeliveries)}</p>;
          return (
            <>
              <p>{t(subscriptionPageTexts.deliveriesHint)}</p>
              {message !== undefined && (
                <p>
                  {message} {advice !== undefined && <strong>{advice}</strong>}
                </p>
              )}
              <dl class="facts">
                <dt>{t(subscriptionPageTexts.lastDelivery)}</dt>
                <dd>
                  <Time at={lastat} /> {laststatuscode}
                </dd>
                <dt>{t(subscriptionPageTexts.lastSuccess)}</dt>
                <dd>{deliveredat === undefined ? '–' : <Time at={deliveredat} />}</dd>
                <dt>{t(subscriptionPageTexts.failures)}</dt>
                <dd>{formatNumber(failures)}</dd>
                {helduntil !== undefined && (
                  <>
                    <dt>{t(subscriptionPageTexts.heldUntil)}</dt>
                    <dd>
                      <Time at={helduntil} />
                    </dd>
                  </>
                )}
              </dl>
              <Table
                caption={t(subscriptionPageTexts.deliveries)}
                rows={rows}
                keyOf={([outcome]) => outcome}
                columns={[
                  {
                    key: 'outcome',
                    title: t(subscriptionPageTexts.outcome),
                    cell: ([outcome]) =>
                      outcome in subscriptionPageTexts.outcomes
                        ? t(subscriptionPageTexts.outcomes[outcome as Outcome])
                        : outcome,
                  },
                  {
                    key: 'count',
                    title: t(subscriptionPageTexts.count),
                    isNumber: true,
                    cell: ([, count]) => formatNumber(count),
                  },
                ]}
              />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}
