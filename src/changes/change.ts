import type { Actor } from '../storage/audit.js';
import type { Sql } from '../storage/database.js';

/** What can become different for a delivery system. */
export type ChangeKind =
  | 'subscription.created'
  | 'subscription.replaced'
  | 'subscription.deleted'
  | 'subscription.suspended'
  | 'subscription.resumed'
  | 'origin.changed'
  | 'grant.live'
  | 'grant.ended'
  | 'grant.revoked';

export interface Change {
  kind: ChangeKind;
  tenant: string;
  origin: string;
  /** Empty where the change is of the origin itself. */
  sink: string;
  subscription?: string;
}

const lockId = 7_266_112_002;

/** Wakes followers; a hint and nothing more, for the log is the truth. */
export const changeChannel = 'assent_change';

/**
 * Appends to the ordered log. Call it last in a transaction: the lock is held until that commits, so that positions become
 * visible in their order. A sequence alone would let a reader pass a position that commits late, and miss it for ever.
 */
export async function appendChange(sql: Sql, change: Change): Promise<void> {
  await sql.$queryRaw`select pg_advisory_xact_lock(${lockId})::text`;
  await sql.$executeRaw`insert into change (tenant, origin, kind, sink, subscription)
    values (${change.tenant}, ${change.origin}, ${change.kind}, ${change.sink}, ${change.subscription ?? null}::uuid)`;
  await sql.$queryRaw`select pg_notify(${changeChannel}, '')::text`;
}

/** A change of the origin itself: its policy, or that it is there at all. */
export async function announceOrigin(sql: Sql, { tenant }: Actor, origin: string): Promise<void> {
  await appendChange(sql, { kind: 'origin.changed', tenant, origin, sink: '' });
}
