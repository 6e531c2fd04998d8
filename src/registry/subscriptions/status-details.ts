import type { Basis } from '../../consent/grant.js';
import { explain, observed, presentRejected } from '../handshake/explain.js';
import { nextOf } from '../handshake/presentation.js';
import { verdicts, warnings as warningTexts, type Verdict } from '../../consent/verdicts.js';
import type { components } from '../../base/contract/contract.gen.js';
import { blockTexts } from '../../base/texts/blocks.js';
import { nextTexts } from '../../base/texts/handshakes.js';
import { statusNextTexts, statusTexts } from '../../base/texts/status.js';
import type { Language, Text } from '../../base/texts/text.js';
import { verdictTexts } from '../../base/texts/verdicts.js';
import type { Subscription } from './subscription.js';

type StatusDetails = components['schemas']['StatusDetails'];

/** Why a subscription has its status: a stable code, a message, and what happens next and when. */
export function statusDetails(subscription: Subscription, language: Language): StatusDetails {
  const say = (text: Text) => text[language];
  const { origin, status, handshake, grant, suspended, block } = subscription;
  const rejected = handshake?.state === 'granted' ? undefined : handshake?.rejectedCallback;
  const base = {
    ...(handshake === undefined ? {} : { handshake: handshake.id }),
    ...(rejected === undefined ? {} : { rejectedcallback: presentRejected(origin, rejected, language) }),
  };
  if (subscription.isEnded) {
    return {
      ...base,
      reason: 'ended',
      message: say(statusTexts.ended),
      next: say(statusNextTexts.untilExtended),
    };
  }
  if (block) {
    const { kind, value, reason, endsAt } = block;
    return {
      ...base,
      reason: 'blocked',
      message: say(blockTexts.blocked(kind, value, reason)),
      next: say(endsAt ? blockTexts.untilEnd : blockTexts.untilLifted),
      ...(endsAt && { nextat: endsAt.toISOString() }),
    };
  }
  if (suspended) {
    const { by, reason } = suspended;
    return {
      ...base,
      reason: 'suspended',
      message: say(reason === undefined ? statusTexts.draft : statusTexts.suspendedBy[by](reason)),
      next: say(statusNextTexts.untilResumed),
    };
  }
  if (status === 'active' && grant) {
    const renewal = renewalOf(subscription, language);
    return {
      ...base,
      reason: reasonOfBasis[grant.basis],
      message: `${say(statusTexts.bases[grant.basis])} ${say(statusTexts.maySend(origin, grant.allowedRate))}`,
      ...nextOfGrant(subscription, renewal !== undefined, language),
      allowedrate: grant.allowedRate,
      expiresat: grant.expiresAt.toISOString(),
      ...(renewal === undefined ? {} : { renewal }),
      ...(grant.warnings.length === 0 ? {} : { warnings: grant.warnings.map((code) => warningOf(code, language)) }),
    };
  }
  if (grant?.state === 'revoked') {
    return {
      ...base,
      reason: 'revoked',
      message: say(verdicts.revoked.title),
      next: say(statusNextTexts.untilAdminAsks),
    };
  }
  if (status === 'expired') {
    const last = handshake?.state === 'granted' ? undefined : handshake?.verdict;
    const { title, advice } = last === undefined ? {} : verdicts[last];
    return {
      ...base,
      reason: 'expired',
      message: say(title === undefined ? statusTexts.expired : statusTexts.expiredUnrenewed(title)),
      ...(advice === undefined ? {} : { advice: say(advice) }),
      next: say(statusNextTexts.untilAsked),
    };
  }
  if (status === 'retired' && handshake?.verdict !== 'gone') {
    // The webhook returned 410 to a delivery.
    const { title, advice } = verdictTexts.gone;
    return {
      ...base,
      reason: 'gone',
      message: say(title),
      advice: say(advice),
      next: say(statusNextTexts.untilAsked),
    };
  }
  const isUnasked = handshake?.verdict === undefined || handshake.verdict === 'held_by_budget';
  if (handshake?.state === 'asking' && isUnasked) {
    return { ...base, reason: 'asking', message: say(nextTexts.asking) };
  }
  if (handshake?.verdict === undefined) {
    return {
      ...base,
      reason: 'not_asked_yet',
      message: say(statusTexts.notAskedYet),
      ...(handshake ? nextOf(handshake, language) : {}),
    };
  }
  const { verdict } = handshake;
  const facts = { ...observed(subscription, handshake.answer), callbackOffered: handshake.callbackOffered };
  return {
    ...base,
    reason: verdict,
    ...explain(verdict, facts, language),
    ...(status === 'pending' ? nextOf(handshake, language) : { next: say(statusNextTexts.untilAsked) }),
  };
}

/** An agreement is not renewed. During a renewal the grant has no time of renewal, but an open handshake. */
function nextOfGrant({ handshake, grant, expiresAt: endsAt }: Subscription, isAskedAgain: boolean, language: Language) {
  if (grant === undefined) return {};
  const { basis, renewAt, expiresAt } = grant;
  const renewal = basis !== 'agreement' && handshake?.reason === 'renewal' ? handshake : undefined;
  const askedAt = renewAt ?? (renewal?.state === 'due' ? renewal.dueAt : undefined);
  if (endsAt && endsAt <= (askedAt ?? expiresAt)) {
    return { next: statusNextTexts.end[language], nextat: endsAt.toISOString() };
  }
  if (askedAt) {
    const next = isAskedAgain ? statusNextTexts.renewalAgain : statusNextTexts.renewal;
    return { next: next[language], nextat: askedAt.toISOString() };
  }
  if (renewal?.state === 'asking') return { next: statusNextTexts.renewalAsking[language] };
  return { next: statusNextTexts.expiry[language], nextat: expiresAt.toISOString() };
}

/** What is known of a renewal without a response that counts. What Assent caused itself says nothing about the webhook. */
function renewalOf(subscription: Subscription, language: Language): StatusDetails['renewal'] {
  const { handshake, grant } = subscription;
  if (grant === undefined || grant.basis === 'agreement' || handshake?.reason !== 'renewal') return undefined;
  const { verdict, state, answer } = handshake;
  if (verdict === undefined || ownVerdicts.includes(verdict)) return undefined;
  if (state !== 'due' && state !== 'asking' && state !== 'unreachable') return undefined;
  const facts = { ...observed(subscription, answer), callbackOffered: handshake.callbackOffered };
  return {
    outcome: 'no_answer',
    verdict,
    ...explain(verdict, facts, language),
    secondsleft: grant.secondsLeft,
  };
}

const ownVerdicts: Verdict[] = ['held_by_budget', 'blocked', 'aborted'];

const reasonOfBasis: Record<Basis, string> = {
  response: 'granted',
  callback: 'callback_granted',
  agreement: 'agreement',
  policy: 'granted_by_policy',
};

function warningOf(code: string, language: Language): { code: string; message: string } {
  return { code, message: (warningTexts as Partial<Record<string, Text>>)[code]?.[language] ?? code };
}
