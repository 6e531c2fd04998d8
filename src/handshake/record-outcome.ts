import type { Sql } from '../storage/database.js';
import type { Judgement, Outcome } from './exchange.js';
import type { BegunAttempt, Claim } from './handshake.js';

/** What is kept of an attempt, as columns. */
export function outcomeColumns(attempt: BegunAttempt, reply: Outcome, judgement: Judgement) {
  const told = reply.kind === 'answered' ? reply.headers.filter(([name]) => isTelling(name)) : [];
  const answer = withoutKey(attempt, told);
  return {
    verdict: judgement.verdict,
    warnings: judgement.kind === 'granted' ? judgement.warnings : [],
    status: reply.kind === 'answered' ? reply.status : null,
    answerheaders: reply.kind === 'answered' ? answer.map(clip) : null,
    remoteaddress: 'remoteAddress' in reply ? (reply.remoteAddress ?? null) : null,
    timing: reply.timing,
  };
}

/** Kept whoever the handshake belongs to by now: it happened. */
export async function recordOutcome(
  sql: Sql,
  claim: Claim,
  attempt: BegunAttempt,
  reply: Outcome,
  judgement: Judgement,
): Promise<void> {
  const { verdict, warnings, status, answerheaders, remoteaddress, timing } = outcomeColumns(attempt, reply, judgement);
  await sql.$executeRaw`
    update attempt set finishedat = now(), verdict = ${verdict}, warnings = ${warnings}::text[], status = ${status}::int,
      answerheaders = ${answerheaders && JSON.stringify(answerheaders)}::jsonb,
      remoteaddress = ${remoteaddress}, timing = ${JSON.stringify(timing)}::jsonb
    where handshake = ${claim.id}::uuid and number = ${attempt.number} and finishedat is null`;
}

/** The WebHook headers and a few that explain an answer; never what could hold a secret of the target. */
const diagnostic = ['allow', 'server', 'via', 'retry-after', 'location', 'content-type', 'date', 'www-authenticate'];

function isTelling(name: string): boolean {
  const key = name.toLowerCase();
  return key.startsWith('webhook-') || key.startsWith('access-control-') || diagnostic.includes(key);
}

/**
 * A target may write back what it was sent, in whatever case. Subscribers see its answer, and whoever has the key of
 * the callback could consent in its place.
 */
function withoutKey({ headers }: BegunAttempt, lines: ReadonlyArray<readonly [string, string]>) {
  const callback = headers['WebHook-Request-Callback'];
  const key = callback?.slice(callback.lastIndexOf('=') + 1) ?? '';
  const lowerKey = key.toLowerCase();
  const isWrittenBack = (text: string) => text.toLowerCase().includes(lowerKey);
  if (key === '' || !lines.some(([name, value]) => isWrittenBack(name) || isWrittenBack(value))) return lines;
  // In base64url nothing means anything to a regular expression. Made for few: to compile one takes long.
  const secret = new RegExp(key, 'gi');
  const hide = (text: string) => text.replace(secret, '[secret]');
  return lines.map(([name, value]) => [hide(name), hide(value)] as const);
}

/** NUL and half surrogates cannot be stored; nothing is worth more than a kilobyte. */
function clip([name, value]: readonly [string, string]): [string, string] {
  return [name, value.slice(0, 1_024).replaceAll('\0', '').toWellFormed()];
}
