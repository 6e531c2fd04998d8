import type { Actor } from '../storage/audit.js';
import type { Sql } from '../storage/database.js';

/** What can become different for a delivery system. */
export type ChangeKind =
  | 'subscription.created'
  | 'subscription.replaced'
  | 'subscription.moved'
  | 'subscription.deleted'
  | 'subscription.suspended'
  | 'subscription.resumed'
  | 'origin.changed'
  | 'grant.live'
  | 'grant.ended'
  | 'grant.revoked'
  | 'grant.held'
  | 'grant.released';

export interface Change {
  kind: ChangeKind;
  tenant: string;
  origin: string;
  /** Empty where the change is of the origin itself. */
  sink: string;
  subscription?: string;
}

/** Wakes followers, with the position that was reached; a hint and nothing more, for the log is the truth. */
export const changeChannel = 'assent_change';

/**
 * Appends to the ordered log, each change with what became of its subject. Call it last in a transaction: it takes a
 * lock that is held until that commits, so that positions become visible in their order (see append_changes).
 */
export async function appendChange(sql: Sql, ...changes: readonly Change[]): Promise<void> {
  const list = (member: (change: Change) => string | null) => changes.map(member);
  await sql.$queryRaw`select append_changes(
    ${list(({ tenant }) => tenant)}::text[], ${list(({ origin }) => origin)}::text[], ${list(({ kind }) => kind)}::text[],
    ${list(({ sink }) => sink)}::text[], ${list(({ subscription }) => subscription ?? null)}::uuid[])::text`;
}

/** A change of the origin itself: its policy, or that it is there at all. */
export async function announceOrigin(sql: Sql, { tenant }: Actor, origin: string): Promise<void> {
  await appendChange(sql, { kind: 'origin.changed', tenant, origin, sink: '' });
}
