import { formatNumber, t } from '../../app/text.js';
import { isAdmin } from '../../app/session.js';
import { handshakeTexts as texts } from '../../texts/subscription.js';
import { Copyable } from '../../ui/copy.js';
import { Time } from '../../ui/time.js';
import type { Handshake } from './use-subscription.js';

type Attempt = Handshake['attempts'][number];
type Lines = Attempt['request'];

const stages = ['lookupms', 'connectms', 'tlsms', 'answerms', 'totalms'] as const;

/** The words that a shell reads as one, whatever is in them. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

export function curlOf(sink: string, request: Lines): string {
  const headers = request.map(({ name, value }) => `  -H ${quoted(`${name}: ${value}`)}`);
  return [`curl -i -X OPTIONS ${quoted(sink)}`, ...headers].join(' \\\n');
}

/** One attempt as it went over the wire: what Assent sent, what came back, and what that means. */
export function Exchange({ sink, attempt, isAlone }: { sink: string; attempt: Attempt; isAlone: boolean }) {
  const {
    number,
    startedat,
    finishedat,
    request,
    answer,
    status,
    remoteaddress,
    timing,
    verdict,
    warnings = [],
  } = attempt;
  const { host, pathname, search } = new URL(sink);
  const sent = [`OPTIONS ${pathname}${search} HTTP/1.1`, `Host: ${host}`, ...request.map(lineOf)];
  const received = [...(status === undefined ? [] : [`HTTP/1.1 ${status}`]), ...(answer ?? []).map(lineOf)];
  const measured = stages.flatMap((stage) => {
    const ms = timing?.[stage];
    return ms === undefined ? [] : [`${t(texts.stages[stage])} ${formatNumber(Math.round(ms * 10) / 10)} ms`];
  });
  return (
    <section aria-label={t(texts.attempt(String(number)))}>
      <h4>
        {t(texts.attempt(String(number)))} · <Time at={startedat} isExact />
      </h4>
      <div class="exchange">
        <Wire title={t(texts.sent)} lines={sent} />
        {received.length > 0 ? <Wire title={t(texts.received)} lines={received} /> : <p>{t(nothing(attempt))}</p>}
      </div>
      {!isAlone && verdict !== undefined && (
        <p>
          <code>{verdict}</code> <bdi>{attempt.message}</bdi> <bdi>{attempt.advice}</bdi>
        </p>
      )}
      {warnings.length > 0 && (
        <p>
          {t(texts.tolerated)}: <code>{warnings.join(', ')}</code>
        </p>
      )}
      {isAdmin.value ? (
        <p class="soft">
          {remoteaddress !== undefined && `${t(texts.address)}: ${remoteaddress}. `}
          {measured.length > 0 && `${t(texts.timing)}: ${measured.join(', ')}.`}
        </p>
      ) : (
        finishedat !== undefined && <p class="soft">{t(texts.onlyAdmins)}</p>
      )}
      <details>
        <summary>{t(texts.curl)}</summary>
        <Copyable text={curlOf(sink, request)} label={t(texts.curl)} />
      </details>
    </section>
  );
}

const lineOf = ({ name, value }: Lines[number]) => `${name}: ${value}`;

/** Consumers do not see whether there was a response without WebHook headers, other than by the verdict. */
function nothing({ finishedat, answer }: Attempt) {
  if (finishedat === undefined) return texts.inFlight;
  return answer === undefined ? texts.nothingReceived : texts.noWebhookHeader;
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
