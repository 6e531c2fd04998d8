import { helpWithVerdict } from '../../base/help.js';
import type { components } from '../../base/contract/contract.gen.js';
import { nextTexts } from '../../base/texts/handshakes.js';
import type { Language } from '../../base/texts/text.js';
import { fieldsOf } from '../../signatures/message-signature.js';
import { shownSignature } from '../../signatures/request-signature.js';
import { explain, observed, presentRejected, type HandshakePair } from './explain.js';
import type { Attempt, Handshake, HeaderLine } from '../../consent/handshake.js';
import { presentMistakes, publicVerdict, type Verdict } from '../../consent/verdicts.js';

type Presented = components['schemas']['Handshake'];

/** For whom; `registry` is the public URL, for help. */
interface Reader {
  isAdmin: boolean;
  language: Language;
  registry: string;
}

/**
 * A handshake as the API shows it. Only admins see the target's status, address, timing and other headers; nobody else
 * may use the registry as a port scanner.
 */
export function presentHandshake(handshake: Handshake, reader: Reader): Presented {
  const { language } = reader;
  const { state, verdict } = handshake;
  const last = handshake.attempts.findLast((attempt) => attempt.verdict === verdict);
  return {
    id: handshake.id,
    origin: handshake.origin,
    sink: handshake.sink,
    subscription: handshake.subscription,
    trigger: handshake.trigger,
    requestedrate: handshake.requestedRate,
    state,
    ...(verdict === undefined
      ? {}
      : sentences(verdict, handshake, last, handshake.attempts.some(offersCallback), reader)),
    ...nextOf(handshake, language),
    ...(handshake.rejectedCallback === undefined
      ? {}
      : { rejectedcallback: presentRejected(handshake.origin, handshake.rejectedCallback, language) }),
    createdat: handshake.createdAt.toISOString(),
    finishedat: handshake.finishedAt?.toISOString(),
    attempts: handshake.attempts.map((attempt) => presentAttempt(handshake, attempt, reader)),
  };
}

/** What happens next without any action, and when. */
export function nextOf(
  { state, dueAt, waitingUntil }: Pick<Handshake, 'state' | 'dueAt' | 'waitingUntil'>,
  language: Language,
) {
  if (state === 'due' && dueAt) return { next: nextTexts.due[language], nextat: dueAt.toISOString() };
  if (state === 'asking') return { next: nextTexts.asking[language] };
  if (state === 'waiting' && waitingUntil) {
    return { next: nextTexts.waiting[language], nextat: waitingUntil.toISOString() };
  }
  return {};
}

export function presentAttempt(
  asked: HandshakePair,
  attempt: Attempt,
  reader: Reader,
): components['schemas']['Attempt'] {
  const { isAdmin, language } = reader;
  const { responseHeaders, verdict, evidence } = attempt;
  const visible = responseHeaders?.filter(([name]) => isAdmin || name.toLowerCase().startsWith('webhook-'));
  return {
    number: attempt.number,
    startedat: attempt.startedAt.toISOString(),
    finishedat: attempt.finishedAt?.toISOString(),
    request: attempt.requestHeaders.map(headerOf),
    signature: shownSignature(fieldsOf(attempt.requestHeaders)),
    response: visible?.map(headerOf),
    ...(isAdmin && attempt.statusCode !== undefined ? { statuscode: attempt.statusCode } : {}),
    ...(isAdmin && attempt.address !== undefined ? { address: attempt.address } : {}),
    ...(isAdmin && attempt.timing !== undefined ? { timing: timingOf(attempt.timing) } : {}),
    ...(verdict === undefined ? {} : sentences(verdict, asked, attempt, offersCallback(attempt), reader)),
    ...(isAdmin && evidence !== undefined ? { evidence } : {}),
    ...(attempt.tolerated.length === 0 ? {} : { tolerated: presentMistakes(attempt.tolerated, language) }),
  };
}

/** Members of the API are in lower case. */
function timingOf({ lookupMs, connectMs, tlsMs, responseMs, totalMs = 0 }: Record<string, number>) {
  const stages = { lookupms: lookupMs, connectms: connectMs, tlsms: tlsMs, responsems: responseMs };
  const done = Object.fromEntries(Object.entries(stages).filter(([, ms]) => ms !== undefined));
  return { ...done, totalms: totalMs };
}

function offersCallback({ requestHeaders }: Attempt): boolean {
  return requestHeaders.some(([name]) => name === 'WebHook-Request-Callback');
}

function sentences(
  verdict: Verdict,
  asked: HandshakePair,
  attempt: Attempt | undefined,
  callbackOffered: boolean,
  { isAdmin, language, registry }: Reader,
) {
  const facts = {
    ...observed(asked, attempt?.responseHeaders, attempt?.evidence),
    callbackOffered,
    ...(isAdmin && attempt?.statusCode !== undefined ? { status: attempt.statusCode } : {}),
  };
  const shown = isAdmin ? verdict : publicVerdict(verdict);
  return { verdict: shown, ...explain(shown, facts, language), help: helpWithVerdict(registry, shown) };
}

function headerOf([name, value]: HeaderLine) {
  return { name, value };
}
