import type { components } from '../../base/contract/contract.gen.js';
import { helpWithVerdict } from '../../base/help.js';
import { blockTexts } from '../../base/texts/blocks.js';
import { exactLabels, statusNextTexts, statusTexts, untilAsked } from '../../base/texts/status.js';
import type { Language, Text } from '../../base/texts/text.js';
import { withValues } from '../../base/texts/verdicts.js';
import { statusDetailCodes } from '../../consent/status.js';
import { presentMistakes, verdicts } from '../../consent/verdicts.js';
import { explain, observed, presentRejected } from '../handshake/explain.js';
import { nextOf } from '../handshake/presentation.js';
import type { Subscription } from './columns.js';

type StatusDetails = components['schemas']['StatusDetails'];

/**
 * Why a subscription has its status: a stable code, a message, who can fix it, and what happens next and when. `registry` is
 * the public URL, for help.
 */
export function statusDetails(subscription: Subscription, language: Language, registry: string): StatusDetails {
  const { origin, code, handshake, since } = subscription;
  const { label, title, advice, fixedBy, wantsAttention } = statusDetailCodes[code];
  const rejected = handshake?.state === 'granted' ? undefined : handshake?.rejectedCallback;
  return {
    ...(handshake && { handshake: handshake.id }),
    ...(rejected && { rejectedcallback: presentRejected(origin, rejected, language) }),
    ...(handshake?.askedAt && { askedat: handshake.askedAt.toISOString() }),
    ...(since && { since: since.toISOString() }),
    code,
    label: label[language],
    message: title[language],
    // What a grant stands on is no fault, even if the webhook could do better.
    ...(advice && subscription.status !== 'active' && { advice: withValues(advice, asAsked(subscription))[language] }),
    fixedby: fixedBy,
    attention: wantsAttention,
    help: helpWithVerdict(registry, code),
    ...detailsOf(subscription, language),
  };
}

/** What the status and the handshake add to the row of the code. */
function detailsOf(subscription: Subscription, language: Language): Partial<StatusDetails> {
  const say = (text: Text) => text[language];
  const { status, code, handshake, suspension, block } = subscription;
  if (code === 'ended') return { next: say(statusNextTexts.untilExtended) };
  if (status === 'blocked' && block) {
    const { kind, value, reason: why, endsAt } = block;
    return {
      label: say(exactLabels.blocked(why)),
      message: say(blockTexts.blocked(kind, value, why)),
      next: say(endsAt ? blockTexts.untilEnd : blockTexts.untilLifted),
      ...(endsAt && { nextat: endsAt.toISOString() }),
    };
  }
  if (status === 'suspended' && suspension) {
    const { by, reason: why } = suspension;
    return {
      label: say(why === undefined ? exactLabels.draft : exactLabels.suspendedBy[by]),
      message: say(why === undefined ? statusTexts.draft : statusTexts.suspendedBy[by](why)),
      next: say(statusNextTexts.untilResumed),
    };
  }
  if (status === 'active') return detailsOfGrant(subscription, language);
  if (code === 'revoked') return { next: say(statusNextTexts.untilAdminAsks) };
  if (code === 'expired') {
    const last = handshake?.state === 'granted' ? undefined : handshake?.verdict;
    const next = say(untilAsked(subscription.id));
    if (last === undefined) return { next };
    const { title, advice, fixedBy } = verdicts[last];
    const message = say(statusTexts.expiredUnrenewed(title));
    return {
      message,
      ...(advice && { advice: say(withValues(advice, asAsked(subscription))) }),
      fixedby: fixedBy,
      next,
    };
  }
  if (code === 'asking') return {};
  const next =
    status === 'pending' ? (handshake ? nextOf(handshake, language) : {}) : { next: say(untilAsked(subscription.id)) };
  const waiting = handshake?.state === 'waiting' && status === 'pending' ? { label: say(exactLabels.waiting) } : {};
  // A webhook that returned 410 to a delivery gave no such response to a handshake.
  if (handshake?.verdict !== code) return { ...next, ...waiting };
  const facts = {
    ...observed(asAsked(subscription), handshake.responseHeaders, handshake.evidence),
    callbackOffered: handshake.callbackOffered,
  };
  return { ...explain(code, facts, language), ...next, ...waiting };
}

/** With the rate that the webhook was asked for: that of the origin if the subscription names none. */
function asAsked(subscription: Subscription) {
  return { ...subscription, requestedRate: subscription.handshake?.requestedRate ?? subscription.requestedRate };
}

function detailsOfGrant(subscription: Subscription, language: Language): Partial<StatusDetails> {
  const { origin, code, grant } = subscription;
  if (grant === undefined) return {};
  const renewal = renewalOf(subscription, language);
  return {
    message: `${statusDetailCodes[code].title[language]} ${statusTexts.maySend(origin, grant.allowedRate)[language]}`,
    ...nextOfGrant(subscription, renewal !== undefined, language),
    allowedrate: grant.allowedRate,
    grantexpiresat: grant.expiresAt.toISOString(),
    ...(renewal && { renewal }),
    ...(grant.tolerated.length > 0 && { tolerated: presentMistakes(grant.tolerated, language) }),
  };
}

/** An agreement is not renewed. During a renewal the grant has no time of renewal, but an open handshake. */
function nextOfGrant({ handshake, grant, expiresAt: endsAt }: Subscription, isAskedAgain: boolean, language: Language) {
  if (grant === undefined) return {};
  const { basis, renewAt, expiresAt } = grant;
  const renewal = basis !== 'agreement' && handshake?.trigger === 'renewal' ? handshake : undefined;
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
  if (grant === undefined || grant.basis === 'agreement' || handshake?.trigger !== 'renewal') return undefined;
  const { verdict, state, responseHeaders, evidence, callbackOffered } = handshake;
  if (verdict === undefined || verdicts[verdict].fixedBy === 'nobody') return undefined;
  if (state !== 'due' && state !== 'asking' && state !== 'unreachable') return undefined;
  const facts = { ...observed(asAsked(subscription), responseHeaders, evidence), callbackOffered };
  return {
    outcome: 'no_response',
    verdict,
    ...explain(verdict, facts, language),
    secondsleft: grant.secondsLeft,
  };
}
