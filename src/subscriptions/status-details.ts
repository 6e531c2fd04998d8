import type { Basis } from '../grants/grant.js';
import { nextOf, observed } from '../handshake/presentation.js';
import { presentRejected } from '../handshake/rejected-callback.js';
import { advise, describe, verdicts, warnings as warningSentences } from '../handshake/verdicts.js';
import type { components } from '../http/contract.gen.js';
import type { Subscription, SubscriptionStatus } from './subscription.js';

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
    return {
      ...base,
      reason: reasonOfBasis[grant.basis],
      message: `${sentenceOfBasis[grant.basis]} ${origin} may send ${limit(grant.allowedRate)}.`,
      ...nextOfConsent(handshake, grant),
      allowedrate: grant.allowedRate,
      expiresat: grant.expiresAt.toISOString(),
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
    const ending = last === undefined ? '' : ` The last renewal: ${verdicts[last].title}`;
    return { ...base, reason: 'expired', message: `The consent ran out.${ending}`, next: askAgain };
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
function nextOfConsent(
  handshake: SubscriptionStatus['handshake'],
  { basis, renewAt, expiresAt }: NonNullable<SubscriptionStatus['grant']>,
) {
  const renewal = basis !== 'agreement' && handshake?.reason === 'renewal' ? handshake : undefined;
  const askedAt = renewAt ?? (renewal?.state === 'due' ? renewal.dueAt : undefined);
  if (askedAt) return { next: 'The consent is renewed by another handshake.', nextat: askedAt.toISOString() };
  if (renewal?.state === 'asking') return { next: 'The webhook is being asked to renew the consent.' };
  if (renewal?.state === 'waiting' && renewal.waitingUntil) {
    const endsAt = renewal.waitingUntil < expiresAt ? renewal.waitingUntil : expiresAt;
    return { next: 'The consent ends, unless the callback URL is called.', nextat: endsAt.toISOString() };
  }
  return { next: 'The consent ends.', nextat: expiresAt.toISOString() };
}

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
