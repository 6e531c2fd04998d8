import type { Person } from '../base/contract/principal.js';
import type { Basis } from './decision.js';
import type { Rate } from './rate.js';

export type EndCode = 'renewal_refused' | 'target_gone' | 'no_subscription' | 'reopened' | 'revoked';

export interface Pair {
  tenant: string;
  origin: string;
  sink: string;
}

/** A pair as one unique text: the name of an origin contains no space. */
export function keyOfPair({ origin, sink }: Omit<Pair, 'tenant'>): string {
  return `${origin} ${sink}`;
}

/**
 * The fact that an origin may send to a sink. There is one for each pair, and all subscriptions of the pair share it.
 *
 *   live     until `expiresAt`, which a renewal moves. After that it has expired; nothing is written.
 *   ended    by a refused renewal, a retired target or the removal of the last subscription. A new consent revives it.
 *   revoked  by an admin. Only a handshake that an admin starts, or an agreement, can make it live again.
 *
 * The newest consent sets the rate. Two exceptions: a trickle by policy never replaces a live consent, and a consent
 * beside a live agreement sets the rate but keeps the expiry of the agreement.
 */
export interface Grant extends Pair {
  id: string;
  state: 'live' | 'ended' | 'revoked';
  endCode: string | undefined;
  /** What the admin who revoked it wrote. */
  endReason: string | undefined;
  basis: Basis;
  /** WebHook-Allowed-Origin as the webhook returned it. */
  allowedOrigin: string | undefined;
  /** Requests per minute. */
  allowedRate: Rate;
  requestedRate: number | undefined;
  tolerated: string[];
  handshake: string | undefined;
  agreement: string | undefined;
  recordedBy: string;
  recordedByPerson: Person | undefined;
  grantedAt: Date;
  expiresAt: Date;
  renewAt: Date | undefined;
  endedAt: Date | undefined;
  endedBy: string | undefined;
  endedByPerson: Person | undefined;
  /** The end of the hold that the webhook asked for. */
  heldUntil: Date | undefined;
  version: number;
}
