import { capital, formatNumber, t } from '../../app/text.js';
import { isAdmin } from '../../app/session.js';
import { handshakePageTexts } from '../../texts/handshakes.js';
import { subscriptionPageTexts } from '../../texts/subscriptions.js';
import { Copyable, type Look, Time } from '../../ui/value.js';
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

/** One attempt as it went over the wire: what Assent sent, what came back, and what that means, unless the page says it. */
export function Exchange({
  asked: { sink, origin },
  attempt,
  isTold,
  isShort = false,
}: {
  asked: Pick<ApiHandshake, 'sink' | 'origin'>;
  attempt: Attempt;
  isTold: boolean;
  /** Only what came back. */
  isShort?: boolean;
}) {
  const { request, response, statuscode, address, timing, evidence, message, advice, tolerated = [] } = attempt;
  const { host, pathname, search } = new URL(sink);
  const sent = [`OPTIONS ${pathname}${search} HTTP/1.1`, `Host: ${host}`, ...request.map(lineOf)];
  const received = [...(statuscode === undefined ? [] : [`HTTP/1.1 ${statuscode}`]), ...(response ?? []).map(lineOf)];
  const measured = stages.flatMap((stage) => {
    const ms = timing?.[stage];
    return ms === undefined ? [] : [`${t(handshakePageTexts.stages[stage])} ${formatNumber(Math.round(ms))} ms`];
  });
  return (
    <>
      <div class="exchange">
        {!isShort && <Wire title={t(handshakePageTexts.sent)} lines={sent} />}
        {received.length > 0 ? (
          <Wire title={t(handshakePageTexts.received)} lines={received} origin={origin} />
        ) : (
          <p class="soft">{t(nothing(attempt))}</p>
        )}
      </div>
      {message !== undefined && !isTold && (
        <p>
          <bdi>{message}</bdi> <bdi class="soft">{advice}</bdi>
        </p>
      )}
      {tolerated.length > 0 && (
        <p>
          {t(handshakePageTexts.tolerated)}: <bdi>{tolerated.map(({ message: text }) => text).join(' ')}</bdi>
        </p>
      )}
      {!isShort && <SignatureOf attempt={attempt} />}
      {isAdmin.value && !isShort && (
        <p class="soft">
          {evidence !== undefined && `${t(handshakePageTexts.evidence)}: ${evidence}. `}
          {address !== undefined && `${t(handshakePageTexts.address)}: ${address}. `}
          {measured.length > 0 && `${t(handshakePageTexts.timing)}: ${measured.join(', ')}.`}
        </p>
      )}
      <details>
        <summary>{t(handshakePageTexts.curl)}</summary>
        <Copyable text={curlOf(sink, request)} label={t(handshakePageTexts.curl)} />
      </details>
    </>
  );
}

/** By which key the request was signed, and what of it. */
function SignatureOf({ attempt: { signature } }: { attempt: Attempt }) {
  if (signature === undefined) return <p class="soft">{t(handshakePageTexts.unsigned)}</p>;
  const { keyid, form, signatureagent, covered } = signature;
  return (
    <details>
      <summary>
        {t(handshakePageTexts.signedBy)} <code title={keyid}>{keyid.slice(0, 12)}…</code>
      </summary>
      <dl class="facts">
        <dt>{t(handshakePageTexts.keyid)}</dt>
        <dd>
          <code>{keyid}</code>
        </dd>
        <dt>Signature-Agent</dt>
        <dd>
          <bdi>{signatureagent}</bdi> ({form})
        </dd>
        <dt>{t(handshakePageTexts.covered)}</dt>
        <dd>
          <code>{covered.join(', ')}</code>
        </dd>
      </dl>
    </details>
  );
}

const lineOf = ({ name, value }: Lines[number]) => `${name}: ${value}`;

/** Consumers do not see whether there was a response without WebHook headers, other than by the verdict. */
function nothing({ finishedat, response }: Attempt) {
  if (finishedat === undefined) return handshakePageTexts.inFlight;
  return response === undefined ? handshakePageTexts.nothingReceived : handshakePageTexts.noWebhookHeader;
}

/** Lines of a message. A consent for another origin than `origin` is marked. */
function Wire({ title, lines, origin }: { title: string; lines: readonly string[]; origin?: string }) {
  const isOther = (line: string) =>
    origin !== undefined &&
    /^webhook-allowed-origin: /i.test(line) &&
    !/: \*$/.test(line) &&
    !line.endsWith(` ${origin}`);
  return (
    <figure>
      <figcaption class="unseen">{title}</figcaption>
      <pre tabIndex={0} aria-label={title}>
        <code>
          {lines.map((line, place) => (
            <span key={place} class={place === 0 ? 'line soft' : 'line'}>
              {isOther(line) ? (
                <>
                  {line.slice(0, line.indexOf(' '))} <mark>{line.slice(line.indexOf(' ') + 1)}</mark>
                </>
              ) : (
                <bdi>{line}</bdi>
              )}
            </span>
          ))}
        </code>
      </pre>
    </figure>
  );
}

const looks: Partial<Record<ApiHandshake['state'], Look>> = {
  granted: 'good',
  due: 'open',
  asking: 'open',
  waiting: 'open',
  unreachable: 'open',
  cancelled: 'off',
};

/** The attempts of a handshake, newest first, each in a line that opens. The first of an open one is open. */
export function Attempts({ handshake, isOpen }: { handshake: ApiHandshake; isOpen: boolean }) {
  const { state, trigger, createdat, attempts, nextat, rejectedcallback } = handshake;
  const word = capital(t(handshakePageTexts.states[state]));
  const last = attempts.length;
  const isPlanned = attempts.length === 0 || nextat !== undefined;
  return (
    <>
      {isPlanned && (
        <li class="open">
          <div class="line-of">
            <b>{word}</b>
            <span class="soft">{t(handshakePageTexts.triggers[trigger])}</span>
            <Time at={createdat} />
          </div>
        </li>
      )}
      <RejectedCallbackNote of={rejectedcallback} />
      {attempts.toReversed().map((attempt) => {
        const isLast = attempt.number === last && !isPlanned;
        const { number, statuscode, timing, startedat } = attempt;
        return (
          <li key={number} class={isLast ? (looks[state] ?? 'bad') : 'open'}>
            <details open={isOpen && number === last}>
              <summary class="line-of">
                <b>{isLast ? word : t(handshakePageTexts.noAnswer)}</b>
                <span class="soft">
                  {t(handshakePageTexts.triggers[trigger])} · {t(handshakePageTexts.attempt(formatNumber(number)))}
                  {statuscode !== undefined && ` · ${statuscode}`}
                  {timing?.totalms !== undefined && ` · ${formatNumber(Math.round(timing.totalms))} ms`}
                </span>
                <Time at={startedat} />
              </summary>
              <Exchange asked={handshake} attempt={attempt} isTold={isOpen && number === last} />
            </details>
          </li>
        );
      })}
    </>
  );
}

/** Every handshake, newest first. */
export function Handshakes({ read }: { read: SubscriptionDetails }) {
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
      <h2 id="handshakes" class="unseen">
        {t(handshakePageTexts.title)}
      </h2>
      {all.length === 0 && <p class="soft">{t(handshakePageTexts.none)}</p>}
      <ol class="timeline">
        {all.map((handshake, place) => (
          <Attempts key={handshake.id} handshake={handshake} isOpen={place === 0} />
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
      <h2 id="deliveries" class="unseen">
        {t(subscriptionPageTexts.deliveries)}
      </h2>
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
