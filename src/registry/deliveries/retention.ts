import { inPages, overPages } from '../storage/retention.js';
import type { Query } from '../storage/database.js';

/** Deletes leases that were not used for an hour. */
export async function forgetLeases(query: Query): Promise<void> {
  await overPages(
    query,
    'lease_holder',
    `delete from lease_holder where ${inPages} and askedat < now() - interval '1 hour'`,
  );
  // Skips locked rows: a pool that is being written is in use, and its holder may not be there yet.
  await overPages(
    query,
    'lease_pool',
    `delete from lease_pool where pair in (
       select p.pair from lease_pool p
       where ${inPages} and p.tokensat < now() - interval '1 hour'
         and not exists (select from lease_holder h where h.pair = p.pair)
       for update skip locked)`,
  );
}
