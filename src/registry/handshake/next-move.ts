import type { Grant } from '../../consent/grant.js';
import type { Consent } from '../grants/write.js';
import type { Origin } from '../../consent/origin.js';
import { notBefore, retryDelayMs, type Backoff } from '../../consent/backoff.js';
import type { Begun } from '../../consent/handshake.js';
import { cooldownAfter, isSilent, type Judgement } from '../../consent/judgement.js';
import type { Verdict } from '../../consent/verdicts.js';

/** What to write on the handshake row. */
export type Move =
  | { state: 'granted' | 'refused' | 'retired' | 'unreachable'; verdict: Verdict }
  | { state: 'waiting'; verdict: Verdict; until: Date }
  /** Retried after that time, and not during the cool-down of the webhook unless the response ended it. */
  | { state: 'due'; verdict: Verdict; afterMs: number; afterCooldown: boolean };

/** A response, and what was known when it arrived. */
export interface JudgedAttempt extends Begun {
  origin: Origin;
  judgement: Judgement;
  /** Attempts of this handshake without a response that counts, including this one. */
  failures: number;
  /** When the callback that this handshake offered expires. */
  callbackUntil: Date | undefined;
  /** The verdict on the request with a callback, if it had no WebHook header and this is the one without a callback. */
  silentVerdict: Verdict | undefined;
  /** The live grant that a renewal is for. */
  renewed: Pick<Grant, 'basis' | 'expiresAt'> | undefined;
  /** A block was created while the webhook was asked. */
  isBlocked: boolean;
}

/** The part of it that decides. */
export type MoveInput = Omit<JudgedAttempt, keyof Begun | 'origin'> & {
  claim: Pick<Begun['claim'], 'trigger'>;
  attempt: Pick<Begun['attempt'], 'callbackOffered'>;
  origin: Pick<Origin, 'unsupportedRate'>;
};

/** When to look again whether the block on an address was lifted. */
export const blockedMs = 60_000;

export interface RetrySettings {
  /** The most attempts for a webhook that does not respond. */
  maxAttempts: number;
  retry: Backoff;
  random: () => number;
}

/**
 * The next state of a handshake after a response. For a renewal only a clear refusal ends anything: any other response
 * without consent counts as none, and the renewal is retried until the grant expires.
 *
 * @param now the database's time
 */
export function nextMove(judged: MoveInput, now: Date, settings: RetrySettings): Move {
  const { claim, attempt, judgement, callbackUntil, silentVerdict } = judged;
  const { kind, verdict } = judgement;
  // Asked again once the block is lifted: a consent under a block does not count, and a refusal does.
  if (judged.isBlocked && (kind === 'granted' || givenBy(judged) !== undefined)) {
    return { state: 'due', verdict: 'blocked', afterMs: 0, afterCooldown: false };
  }
  if (kind === 'granted') return { state: 'granted', verdict };
  if (kind === 'retired') return { state: 'retired', verdict };
  if (isClearRefusal(judgement)) return { state: 'refused', verdict };
  // As for a name that resolves to an internal address: subscribers must not see a difference.
  if (verdict === 'name_not_found' && claim.trigger !== 'renewal') return { state: 'refused', verdict };
  // Some receivers withhold their consent if a callback is offered: retry once without it.
  if (attempt.callbackOffered && isSilent(verdict)) return { state: 'due', verdict, afterMs: 0, afterCooldown: false };
  const hasTrickle = givenBy(judged) !== undefined;
  if (claim.trigger === 'renewal' && !hasTrickle) return afterNoAnswer(judged, now, settings);
  const until = callbackUntil !== undefined && callbackUntil > now ? callbackUntil : undefined;
  if (kind === 'postponed' || kind === 'unreachable') {
    // Receivers that support only the callback may fail without one, but they responded before.
    return silentVerdict === undefined || until === undefined || verdict === 'aborted'
      ? afterNoAnswer(judged, now, settings)
      : { state: 'waiting', verdict: silentVerdict, until };
  }
  if (kind === 'withheld' && until !== undefined) return { state: 'waiting', verdict, until };
  return hasTrickle ? { state: 'granted', verdict: 'granted_by_policy' } : { state: 'refused', verdict };
}

/** The response names another origin. A response without the header is no decision: it may come from a proxy. */
export function isClearRefusal({ verdict }: Judgement): boolean {
  return verdict === 'origin_mismatch';
}

/** Retried with backoff; a renewal before the grant expires, unless the webhook asked for a later time. */
function afterNoAnswer({ claim, judgement, failures, renewed }: MoveInput, now: Date, settings: RetrySettings): Move {
  const { maxAttempts, retry, random } = settings;
  const { verdict } = judgement;
  const afterCooldown = cooldownAfter(judgement) === undefined;
  if (verdict === 'aborted') return { state: 'due', verdict, afterMs: 0, afterCooldown };
  if (failures >= maxAttempts) return { state: 'unreachable', verdict };
  const retryAfterMs = judgement.kind === 'postponed' ? judgement.retryAfterMs : undefined;
  const delayMs = retryDelayMs(failures, retry, random);
  if (claim.trigger !== 'renewal' || renewed === undefined) {
    return { state: 'due', verdict, afterMs: notBefore(retryAfterMs, delayMs), afterCooldown };
  }
  const leftMs = renewed.expiresAt.getTime() - now.getTime();
  const soonMs = Math.min(delayMs, Math.max(retry.firstMs, leftMs * (0.25 + 0.5 * random())));
  if (soonMs >= leftMs) return { state: 'unreachable', verdict };
  return { state: 'due', verdict, afterMs: notBefore(retryAfterMs, soonMs), afterCooldown };
}

/**
 * The consent in the response of a target, or by the policy of the origin for a target that does not support the
 * handshake. The policy never replaces a consent that the webhook gave itself.
 */
export function givenBy({
  judgement,
  origin,
  renewed,
}: Pick<MoveInput, 'judgement' | 'origin' | 'renewed'>):
  Pick<Consent, 'basis' | 'allowedOrigin' | 'allowedRate' | 'tolerated'> | undefined {
  if (judgement.kind === 'granted') {
    const { allowedOrigin, allowedRate, tolerated } = judgement;
    return { basis: 'response', allowedOrigin, allowedRate, tolerated };
  }
  const { unsupportedRate } = origin;
  const standsAbove = renewed !== undefined && renewed.basis !== 'policy';
  if (judgement.verdict !== 'unsupported' || unsupportedRate === undefined || standsAbove) return undefined;
  return { basis: 'policy', allowedOrigin: undefined, allowedRate: unsupportedRate, tolerated: [] };
}
