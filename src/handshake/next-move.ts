import type { Grant } from '../grants/grant.js';
import type { Consent } from '../grants/write-grant.js';
import type { Origin } from '../origins/origin.js';
import { notBefore, retryDelayMs } from './backoff.js';
import type { Begun } from './handshake.js';
import { cooldownAfter, isSilent, type Judgement } from './judgement.js';
import type { Verdict } from './verdicts.js';

/** What is to be written on the handshake row. */
export type Move =
  | { state: 'granted' | 'refused' | 'retired' | 'unreachable'; verdict: Verdict }
  | { state: 'waiting'; verdict: Verdict; until: Date }
  /** Asked again after so long and, where the webhook gave no answer that ends its cool-down, not before that is over. */
  | { state: 'due'; verdict: Verdict; afterMs: number; afterCooldown: boolean };

/** An answer, and what was known when it came. */
export interface Judged extends Begun {
  origin: Origin;
  judgement: Judgement;
  /** Rounds of this handshake without an answer that counts, with this one. */
  failures: number;
  /** Until when a callback that this handshake offered can be called. */
  callbackUntil: Date | undefined;
  /** What the answer to the question with a callback was, if it had no WebHook header and this is the one without. */
  silentVerdict: Verdict | undefined;
  /** The live grant that a renewal is for. */
  renewed: Pick<Grant, 'basis' | 'expiresAt'> | undefined;
}

export interface RetrySettings {
  /** How often a webhook is asked that gives no answer. */
  maxAttempts: number;
  retry: { firstMs: number; maxMs: number };
  random: () => number;
}

/**
 * Where an answer leads its handshake. At a renewal only a clear refusal ends anything: whatever else is not a consent
 * is no answer, and the webhook is asked again while the lease lasts.
 *
 * @param now the database's time
 */
export function nextMove(judged: Judged, now: Date, settings: RetrySettings): Move {
  const { claim, attempt, judgement, callbackUntil, silentVerdict } = judged;
  const { kind, verdict } = judgement;
  if (kind === 'granted') return { state: 'granted', verdict };
  if (kind === 'retired') return { state: 'retired', verdict };
  if (isClearRefusal(judgement)) return { state: 'refused', verdict };
  // As a name that leads inside: to subscribers the two are the same.
  if (verdict === 'name_not_found' && claim.reason !== 'renewal') return { state: 'refused', verdict };
  // Some receivers keep their consent back where a callback is offered: the same question once more, without it.
  if (attempt.callbackOffered && isSilent(verdict)) return { state: 'due', verdict, afterMs: 0, afterCooldown: false };
  const hasTrickle = givenBy(judged) !== undefined;
  if (claim.reason === 'renewal' && !hasTrickle) return afterNoAnswer(judged, now, settings);
  const until = callbackUntil !== undefined && callbackUntil > now ? callbackUntil : undefined;
  if (kind === 'postponed' || kind === 'unreachable') {
    // Receivers that know nothing but the callback may fail without one: they have answered before.
    return silentVerdict === undefined || until === undefined || verdict === 'aborted'
      ? afterNoAnswer(judged, now, settings)
      : { state: 'waiting', verdict: silentVerdict, until };
  }
  if (kind === 'withheld' && until !== undefined) return { state: 'waiting', verdict, until };
  return hasTrickle ? { state: 'granted', verdict: 'granted_by_policy' } : { state: 'refused', verdict };
}

/** The answer names another origin. An answer without the header is no decision: a proxy may have given it. */
export function isClearRefusal({ verdict }: Judgement): boolean {
  return verdict === 'origin_mismatch';
}

/** Asked again with backoff; for a renewal within its lease, unless the webhook itself named a later time. */
function afterNoAnswer({ claim, judgement, failures, renewed }: Judged, now: Date, settings: RetrySettings): Move {
  const { maxAttempts, retry, random } = settings;
  const { verdict } = judgement;
  const afterCooldown = cooldownAfter(judgement) === undefined;
  if (verdict === 'aborted') return { state: 'due', verdict, afterMs: 0, afterCooldown };
  if (failures >= maxAttempts) return { state: 'unreachable', verdict };
  const retryAfterMs = judgement.kind === 'postponed' ? judgement.retryAfterMs : undefined;
  const delayMs = retryDelayMs(failures, retry, random);
  if (claim.reason !== 'renewal' || renewed === undefined) {
    return { state: 'due', verdict, afterMs: notBefore(retryAfterMs, delayMs), afterCooldown };
  }
  const leftMs = renewed.expiresAt.getTime() - now.getTime();
  const soonMs = Math.min(delayMs, Math.max(retry.firstMs, leftMs * (0.25 + 0.5 * random())));
  if (soonMs >= leftMs) return { state: 'unreachable', verdict };
  return { state: 'due', verdict, afterMs: notBefore(retryAfterMs, soonMs), afterCooldown };
}

/**
 * What a target gives by its answer, or the origin's policy in place of one that does not know the handshake. Where the
 * webhook once agreed itself, the policy takes nothing of that away.
 */
export function givenBy({
  judgement,
  origin,
  renewed,
}: Pick<Judged, 'judgement' | 'origin' | 'renewed'>):
  Pick<Consent, 'basis' | 'allowedOrigin' | 'allowedRate' | 'warnings'> | undefined {
  if (judgement.kind === 'granted') {
    const { allowedOrigin, allowedRate, warnings } = judgement;
    return { basis: 'response', allowedOrigin, allowedRate, warnings };
  }
  const { unsupportedRate } = origin;
  const standsAbove = renewed !== undefined && renewed.basis !== 'policy';
  if (judgement.verdict !== 'unsupported' || unsupportedRate === undefined || standsAbove) return undefined;
  return { basis: 'policy', allowedOrigin: undefined, allowedRate: unsupportedRate, warnings: [] };
}
