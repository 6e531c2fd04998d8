import type { GrantState } from '../matching/replica/state.js';
import { storedRate, type Rate } from './rate.js';
import type { grant as GrantRow } from '../registry/storage/generated/client.js';

/** What it is based on: a response to OPTIONS, a callback, an agreement, or the origin's policy for unsupported targets. */
export type Basis = GrantState['basis'];

export type EndReason = 'renewal_refused' | 'target_gone' | 'no_subscription' | 'reopened';

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
 *   live     until `expiresAt`, which a renewal moves. After that the grant counts as expired; nothing is written.
 *   ended    by a refused renewal, a retired target or the removal of the last subscription. A new consent revives it.
 *   revoked  by an admin. Only a handshake that an admin starts, or an agreement, can make it live again.
 *
 * The newest consent sets the rate. Two exceptions: a trickle by policy never replaces a live consent, and a consent
 * beside a live agreement sets the rate but keeps the expiry of the agreement.
 */
export interface Grant extends Pair {
  id: string;
  state: GrantState['state'];
  endReason: string | undefined;
  basis: Basis;
  /** WebHook-Allowed-Origin as the webhook returned it. */
  allowedOrigin: string | undefined;
  /** Requests per minute. */
  allowedRate: Rate;
  requestedRate: number | undefined;
  warnings: string[];
  handshake: string | undefined;
  reference: string | undefined;
  recordedBy: string;
  grantedAt: Date;
  expiresAt: Date;
  renewAt: Date | undefined;
  endedAt: Date | undefined;
  endedBy: string | undefined;
  /** The end of the hold that the webhook asked for. */
  heldUntil: Date | undefined;
  version: number;
}

export function grantOf(row: GrantRow): Grant {
  return {
    tenant: row.tenant,
    origin: row.origin,
    sink: row.sink,
    id: row.id,
    state: row.state as Grant['state'],
    endReason: row.endreason ?? undefined,
    basis: row.basis as Basis,
    allowedOrigin: row.allowedorigin ?? undefined,
    allowedRate: storedRate(row.allowedrate),
    requestedRate: row.requestedrate ?? undefined,
    warnings: row.warnings ?? [],
    handshake: row.handshake ?? undefined,
    reference: row.reference ?? undefined,
    recordedBy: row.recordedby,
    grantedAt: row.grantedat,
    expiresAt: row.expiresat,
    renewAt: row.renewat ?? undefined,
    endedAt: row.endedat ?? undefined,
    endedBy: row.endedby ?? undefined,
    heldUntil: row.helduntil ?? undefined,
    version: row.version,
  };
}
