import { presentRejected } from '../../../registry/handshake/explain.js';
import { verdicts, mistakes, presentMistakes, type Verdict } from '../../../consent/verdicts.js';
import type { SigningKey } from '../../conformance/signing-key.js';
import type { CallbackReceived } from './callback-listener.js';
import type { CheckedAttempt, CheckReport } from './check.js';
import { exchangeLines, printable } from '../printable.js';

/** Headers that a reader of a callback wants to see. The others are of the client's library. */
const toldByCallback = /^(?:webhook-.*|content-type|user-agent)$/i;

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`.trimEnd());

export function attemptLines({ request, answer, detail, message, evidence, totalMs }: CheckedAttempt): string[] {
  const headers = (pairs: ReadonlyArray<readonly [string, string]>) =>
    pairs.map(([name, value]) => `${name}: ${value}`);
  const asked = [request.line, ...headers(request.headers)].join('\n');
  const answered = answer === undefined ? '' : [`HTTP/1.1 ${answer.status}`, ...headers(answer.headers)].join('\n');
  return [
    ...indented(exchangeLines({ asked, body: '', answered })),
    ...(answer === undefined ? [`  no response after ${totalMs} ms: ${printable(detail ?? '')}`] : []),
    '',
    message,
    ...(evidence === undefined ? [] : [`Evidence: ${printable(evidence)}`]),
    '',
  ];
}

/** What the webhook needs to check the signature. */
export const keyLines = ({ public: key }: SigningKey): string[] => [
  `Signs as ${key.kid}. For the webhook:`,
  JSON.stringify({ keys: [key] }),
  '',
];

export const waitingLines = (seconds: number): string[] => [
  `No consent yet. Waiting up to ${seconds} s for the webhook to call the callback URL.`,
  '',
];

/** What came of it, after the attempts. */
export function reportLines(report: CheckReport): string[] {
  const { outcome, verdict, message, advice, allowedRate, tolerated, callbacks, notes, origin, attempts } = report;
  const title = { consent: 'Consent', none: 'No consent', unreachable: 'No consent: unreachable' }[outcome];
  const rate = allowedRate === '*' ? 'no limit' : `${allowedRate} requests per minute`;
  return [
    ...callbacks.flatMap((callback) => callbackLines(origin, callback)),
    `${title} (${verdict}${allowedRate === undefined ? '' : `, ${rate}`})`,
    ...(attempts.at(-1)?.verdict === verdict ? [] : [`  ${message}`]),
    ...(advice === undefined ? [] : [`  What to change: ${advice}`]),
    ...tolerated.map((code) => `  Tolerated: ${mistakes[code].en}`),
    ...notes.map((note) => `  Note: ${note}`),
  ];
}

function callbackLines(origin: string, { method, rawHeaders, body, status, rejected }: CallbackReceived): string[] {
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && toldByCallback.test(name) ? [`${name}: ${rawHeaders[index + 1]}`] : [],
  );
  const asked = [`${method} the callback URL`, ...headers].join('\n');
  const told = rejected && presentRejected(origin, rejected, 'en');
  return [
    'The webhook called the callback URL:',
    '',
    ...indented(exchangeLines({ asked, body, answered: `HTTP/1.1 ${status}` })),
    '',
    ...(told === undefined ? [] : [told.message, `What to change: ${told.advice}`, '']),
  ];
}

/** The report as data. Members are in lower case, as in the API. */
export function reportJson(report: CheckReport): string {
  const named = (pairs: ReadonlyArray<readonly [string, string]>) => pairs.map(([name, value]) => ({ name, value }));
  const { url, origin, requestedRate, outcome, verdict, message, advice, allowedRate, tolerated, attempts } = report;
  const said = (about: { verdict: Verdict; message: string; advice?: string | undefined }) => ({
    verdict: about.verdict,
    message: about.message,
    advice: about.advice,
    fixedby: verdicts[about.verdict].fixedBy,
  });
  return JSON.stringify(
    {
      url,
      origin,
      requestedrate: requestedRate,
      outcome,
      ...said({ verdict, message, advice }),
      allowedrate: allowedRate,
      tolerated: presentMistakes(tolerated, 'en'),
      attempts: attempts.map(({ request, answer, totalMs, detail, evidence, ...about }) => ({
        request: named(request.headers),
        ...(answer === undefined ? { detail } : { statuscode: answer.status, response: named(answer.headers) }),
        totalms: totalMs,
        ...said(about),
        evidence,
      })),
      callbacks: report.callbacks.map(({ method, status, rejected }) => ({
        method,
        statuscode: status,
        rejected: rejected && presentRejected(origin, rejected, 'en'),
      })),
      notes: report.notes,
    },
    null,
    2,
  );
}
