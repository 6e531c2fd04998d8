import { standingOf } from '../../consent/decision.js';
import type { Grant } from '../../consent/grant.js';
import { storedRate } from '../../consent/rate.js';
import { changedMembers, type Changed, storedMembers, trusted } from '../storage/columns.js';
import type { grant as GrantRow } from '../storage/generated/client.js';

export const grantMembers = storedMembers<Grant, GrantRow>()({
  id: { column: 'id', audited: false },
  tenant: { column: 'tenant', audited: false },
  origin: { column: 'origin', audited: false },
  sink: { column: 'sink', audited: false },
  state: { column: 'state', read: trusted },
  basis: { column: 'basis', read: trusted },
  allowedRate: { column: 'allowedrate', read: storedRate },
  grantedAt: { column: 'grantedat', audited: false },
  expiresAt: { column: 'expiresat', read: instant },
  tolerated: { column: 'tolerated', read: (codes: string[] | null) => codes ?? [], audited: false },
  recordedBy: { column: 'recordedby', audited: false },
  recordedByPerson: { column: 'recordedbyperson', read: trusted, audited: false },
  endCode: { column: 'endcode' },
  endReason: { column: 'endreason' },
  allowedOrigin: { column: 'allowedorigin', audited: false },
  requestedRate: { column: 'requestedrate' },
  handshake: { column: 'handshake', audited: false },
  agreement: { column: 'agreement' },
  renewAt: { column: 'renewat', audited: false },
  endedAt: { column: 'endedat', audited: false },
  endedBy: { column: 'endedby', audited: false },
  endedByPerson: { column: 'endedbyperson', read: trusted, audited: false },
  heldUntil: { column: 'helduntil', read: (at) => (at === null ? undefined : instant(at)) },
  version: { column: 'version', audited: false },
});

/** A row within JSON has its times as text. */
function instant(stored: Date | string): Date {
  return new Date(stored);
}

/**
 * What the audit record keeps of a change. `now` is when it was made: it says whether the grant had expired, and whether
 * its hold was over.
 */
export function changedGrant(
  before: GrantRow | undefined,
  after: GrantRow | undefined,
  now: Date | null,
): Changed | undefined {
  return changedMembers(membersAt(before, now), membersAt(after, now));
}

function membersAt(row: GrantRow | undefined, now: Date | null): Record<string, unknown> {
  if (row === undefined) return {};
  const grant = grantMembers.read(row);
  const isOver = now !== null && grant.heldUntil !== undefined && grant.heldUntil <= now;
  return {
    ...grantMembers.audited(grant),
    // A block is a record of its own.
    state: standingOf(grant.state, false, Number(grant.expiresAt), now?.getTime() ?? 0),
    helduntil: isOver ? null : grant.heldUntil,
  };
}
