import type { components } from '../base/contract/contract.gen.js';
import type { Rate } from './rate.js';

// May this origin send to this sink now? The registry decides it in the database (grant_standing and delivery_denial in the
// migration) and in memory, senders in theirs: with the same facts, the same denials, in the same order.

/** What a grant is based on: a response to OPTIONS, a callback, an agreement, or the origin's policy for unsupported targets. */
export const bases = ['response', 'callback', 'agreement', 'policy'] as const;
export type Basis = (typeof bases)[number];

/** What the feed says of a grant. Readers compare blocks and `expiresat` themselves. */
export const reportedStates = ['live', 'ended', 'revoked'] as const;

/** Where a grant stands now. */
export type Standing = (typeof reportedStates)[number] | 'blocked' | 'expired';

/**
 * The subscriptions of a pair: one is open, those that have not ended are suspended, all have ended, or there is none. A
 * blocked subscriber suspends its own.
 */
export type Subscribed = 'open' | 'suspended' | 'ended' | 'none';

/** A message for each denial, for senders. */
export const denials = {
  no_grant: 'The webhook has not allowed this origin to send.',
  expired: 'The grant expired and was not renewed.',
  revoked: 'An admin revoked this grant.',
  ended: 'The grant, or every subscription to this sink, has ended.',
  suspended: 'Every subscription to this sink is suspended, or its subscriber is blocked.',
  blocked: 'An admin blocks this origin or this sink.',
  held: 'The webhook asked senders to wait. The grant stays valid, so send later.',
} as const;
export type Denial = keyof typeof denials;

/** The same for one that has consent, and has sent as much as it may. */
export const rateUsedUp = (rate: Rate): string => `The webhook allows ${rate} requests per minute. Send later.`;

/** What ended or revoked the grant comes first, then a block, then its expiry. Undefined without a grant. */
export function standingOf(
  state: Standing | undefined,
  isBlocked: boolean,
  expiresAt: number,
  now: number,
): Standing | undefined {
  if (state !== 'live') return state;
  if (isBlocked) return 'blocked';
  return expiresAt <= now ? 'expired' : 'live';
}

/**
 * Undefined if the origin may send. An agreement needs no subscription: it answers for the pair, whoever subscribes, until an
 * admin or a 410 ends it. Look-ups, leases, gateways and senders hold to this; a match looks for subscriptions besides.
 */
export function denialOf(
  standing: Standing | undefined,
  subscribed: Subscribed,
  basis: Basis,
  heldUntil: number,
  now: number,
): Denial | undefined {
  if (standing !== 'live') return standing ?? 'no_grant';
  if (subscribed === 'suspended') return 'suspended';
  if (subscribed !== 'open' && basis !== 'agreement') return subscribed === 'ended' ? 'ended' : 'suspended';
  return heldUntil > now ? 'held' : undefined;
}

export interface Decision {
  denial: Denial | undefined;
  /** The grant of a pair that has or had one. Times are milliseconds since 1970. */
  grant: { id: string; basis: Basis; allowedRate: Rate; expiresAt: number; heldUntil: number | undefined } | undefined;
}

/** What a look-up asks for; the tenant is in the token. */
export interface AskedPair {
  /** In lower case. */
  origin: string;
  sink: string;
}

/** What a look-up returns. `origin` in lower case. */
export function presentPermission(
  origin: string,
  sink: string,
  { denial, grant }: Decision,
): components['schemas']['Permission'] {
  if (denial !== undefined || grant === undefined) {
    const why = denial ?? 'no_grant';
    const answer = { origin, sink, allowed: false, denial: why, message: denials[why] };
    if (grant === undefined) return answer;
    const until = why === 'held' ? grant.heldUntil : undefined;
    const hold = until === undefined ? {} : { helduntil: new Date(until).toISOString() };
    return { ...answer, grant: grant.id, ...hold };
  }
  return {
    origin,
    sink,
    allowed: true,
    allowedrate: grant.allowedRate,
    expiresat: new Date(grant.expiresAt).toISOString(),
    basis: grant.basis,
    grant: grant.id,
  };
}
