import type { grant as GrantRow } from '../storage/generated/client.js';
import { databaseTime, type Transaction } from '../storage/transaction.js';

/**
 * Logs what time alone does to live grants, once for each expiry: that one is about to expire although it was not
 * renewed, and that it has. Nothing else changes; readers of permissions compare `expiresat`. Safe in several processes
 * at once. Returns how many it logged, at most `most`.
 */
export async function noteExpiries(tx: Transaction, maxRows: number): Promise<number> {
  const now = await databaseTime(tx.sql);
  const rows = await tx.sql.$queryRaw<GrantRow[]>`
    update "grant" g set noteat = case when g.expiresat > ${now}::timestamptz then g.expiresat end
    where (origin, sink) in (
      select origin, sink from "grant" where state = 'live' and noteat <= ${now}::timestamptz
      order by noteat limit ${maxRows} for update skip locked)
    returning *`;
  for (const { tenant, origin, sink, noteat } of rows) {
    tx.change({ kind: noteat === null ? 'grant.expired' : 'grant.expiring', tenant, origin, sink });
  }
  return rows.length;
}
