import type { Sql } from '../storage/database.js';
import type { Judgement } from './exchange.js';
import type { BegunAttempt, Claim } from './handshake.js';
import type { Reply } from './safe-request.js';

/** A reply that is an outcome; one that was held is none. */
export type Outcome = Exclude<Reply, { kind: 'held' }>;

/** What is kept of an attempt, as columns. */
export function outcomeColumns(reply: Outcome, judgement: Judgement) {
  const answer = reply.kind === 'answered' ? reply.headers.filter(([name]) => isTelling(name)) : [];
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
  const { verdict, warnings, status, answerheaders, remoteaddress, timing } = outcomeColumns(reply, judgement);
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

/** NUL and half surrogates cannot be stored; nothing is worth more than a kilobyte. */
function clip([name, value]: readonly [string, string]): [string, string] {
  return [name, value.slice(0, 1_024).replaceAll('\0', '').toWellFormed()];
}
