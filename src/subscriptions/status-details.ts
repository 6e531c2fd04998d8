import type { Basis } from '../grants/grant.js';
import { nextOf, observed } from '../handshake/presentation.js';
import { presentRejected } from '../handshake/rejected-callback.js';
import { advise, describe, verdicts, warnings as warningSentences, type Verdict } from '../handshake/verdicts.js';
import type { components } from '../http/contract.gen.js';
import type { Subscription } from './subscription.js';

type StatusDetails = components['schemas']['StatusDetails'];

const askAgain = 'Nothing by itself. Ask again with POST on the handshakes of the subscription.';

/** Why a subscription has its status: a stable code, a sentence, and what happens next and when. */
export function statusDetails(subscription: Subscription): StatusDetails {
  const { origin, status, handshake, grant, suspended } = subscription;
  const rejected = handshake?.state === 'granted' ? undefined : handshake?.rejectedCallback;
  const base = {
    ...(handshake === undefined ? {} : { handshake: handshake.id }),
    ...(rejected === undefined ? {} : { rejectedcallback: presentRejected(origin, rejected) }),
  };
  if (suspended) {
    return {
      ...base,
      reason: 'suspended',
      message: `The ${suspended.by} suspended it: ${suspended.reason}`,
      next: 'It waits to be resumed.',
    };
  }
  if (status === 'active' && grant) {
    const renewal = renewalOf(subscription);
    return {
      ...base,
      reason: reasonOfBasis[grant.basis],
      message: `${sentenceOfBasis[grant.basis]} ${origin} may send ${limit(grant.allowedRate)}.`,
      ...nextOfConsent(subscription, renewal !== undefined),
      allowedrate: grant.allowedRate,
      expiresat: grant.expiresAt.toISOString(),
      ...(renewal === undefined ? {} : { renewal }),
      ...(grant.warnings.length === 0 ? {} : { warnings: grant.warnings.map(warningOf) }),
    };
  }
  if (grant?.state === 'revoked') {
    return {
      ...base,
      reason: 'revoked',
      message: verdicts.revoked.title,
      next: 'Nothing by itself. Only an admin can ask again.',
    };
  }
  if (status === 'expired') {
    const last = handshake?.state === 'granted' ? undefined : handshake?.verdict;
    if (last === undefined) return { ...base, reason: 'expired', message: 'The consent ran out.', next: askAgain };
    const { title, advice } = verdicts[last];
    return {
      ...base,
      reason: 'expired',
      message: `The consent ran out. No renewal got an answer that counts. The last one: ${title}`,
      ...(advice === '' ? {} : { advice }),
      next: askAgain,
    };
  }
  if (status === 'retired' && handshake?.verdict !== 'gone') {
    // A delivery was answered so.
    return { ...base, reason: 'gone', message: verdicts.gone.title, advice: verdicts.gone.advice, next: askAgain };
  }
  const isUnasked = handshake?.verdict === undefined || handshake.verdict === 'held_by_budget';
  if (handshake?.state === 'asking' && isUnasked) {
    return { ...base, reason: 'asking', message: 'The webhook is being asked.' };
  }
  if (handshake?.verdict === undefined) {
    return {
      ...base,
      reason: 'not_asked_yet',
      message: 'The webhook has not been asked yet.',
      ...(handshake ? nextOf(handshake) : {}),
    };
  }
  const { verdict } = handshake;
  const facts = { ...observed(subscription, handshake.answer), callbackOffered: handshake.callbackOffered };
  const advice = advise(verdict, facts);
  return {
    ...base,
    reason: verdict,
    message: describe(verdict, facts),
    ...(advice === '' ? {} : { advice }),
    ...(status === 'pending' ? nextOf(handshake) : { next: askAgain }),
  };
}

/** An agreement is not renewed. What is renewed has no time for that any more, and a handshake that is open instead. */
function nextOfConsent({ handshake, grant }: Subscription, isAskedAgain: boolean) {
  if (grant === undefined) return {};
  const { basis, renewAt, expiresAt } = grant;
  const renewal = basis !== 'agreement' && handshake?.reason === 'renewal' ? handshake : undefined;
  const askedAt = renewAt ?? (renewal?.state === 'due' ? renewal.dueAt : undefined);
  if (askedAt) {
    const next = isAskedAgain
      ? 'The webhook is asked again to renew the consent.'
      : 'The consent is renewed by another handshake.';
    return { next, nextat: askedAt.toISOString() };
  }
  if (renewal?.state === 'asking') return { next: 'The webhook is being asked to renew the consent.' };
  return { next: 'The consent ends.', nextat: expiresAt.toISOString() };
}

/** What is known of a renewal without an answer that counts; what is our own doing is no news of the webhook. */
function renewalOf(subscription: Subscription): StatusDetails['renewal'] {
  const { handshake, grant } = subscription;
  if (grant === undefined || grant.basis === 'agreement' || handshake?.reason !== 'renewal') return undefined;
  const { verdict, state, answer } = handshake;
  if (verdict === undefined || ownVerdicts.includes(verdict)) return undefined;
  if (state !== 'due' && state !== 'asking' && state !== 'unreachable') return undefined;
  const facts = { ...observed(subscription, answer), callbackOffered: handshake.callbackOffered };
  const advice = advise(verdict, facts);
  return {
    outcome: 'no_answer',
    verdict,
    message: describe(verdict, facts),
    ...(advice === '' ? {} : { advice }),
    secondsleft: grant.secondsLeft,
  };
}

const ownVerdicts: Verdict[] = ['held_by_budget', 'aborted'];

const reasonOfBasis: Record<Basis, string> = {
  response: 'granted',
  callback: 'callback_granted',
  agreement: 'agreement',
  policy: 'granted_by_policy',
};

const sentenceOfBasis: Record<Basis, string> = {
  response: 'The webhook agreed in its answer.',
  callback: 'The webhook agreed by the callback.',
  agreement: 'An admin recorded an agreement.',
  policy: 'The webhook does not support the handshake; the policy of the origin lets it have a little.',
};

function limit(rate: number | '*'): string {
  return rate === '*' ? 'without a limit' : `up to ${rate} request${rate === 1 ? '' : 's'} per minute`;
}

function warningOf(code: string): { code: string; message: string } {
  return { code, message: (warningSentences as Record<string, string>)[code] ?? code };
}
