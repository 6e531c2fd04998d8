import type { components } from '../base/contract/contract.gen.js';
import type { Decision, Denial } from '../matching/replica/known-pairs.js';

/** A message for each reason, for senders. */
export const denials: Record<Denial, string> = {
  no_grant: 'The webhook has not allowed this origin to send.',
  expired: 'The grant expired and was not renewed.',
  revoked: 'An admin revoked this grant.',
  ended: 'The grant, or every subscription to this sink, has ended.',
  suspended: 'Every subscription to this sink is suspended, or its subscriber is blocked.',
  blocked: 'An admin blocks this origin or this sink.',
  held: 'The webhook asked senders to wait. The grant stays valid, so send later.',
};

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
    const reason = denial ?? 'no_grant';
    const answer = { origin, sink, allowed: false, reason, message: denials[reason] };
    if (grant === undefined) return answer;
    const until = reason === 'held' ? grant.heldUntil : undefined;
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
