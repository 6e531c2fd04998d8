import { inBatches } from '../storage/retention.js';
import type { Query } from '../storage/database.js';

const maxRows = 1_000;

/** Deletes subscriptions that ended so many days ago. */
export function forgetEnded(query: Query, days: number): Promise<void> {
  return inBatches(
    query,
    maxRows,
    `with gone as (
       delete from subscription where id in (
         select id from subscription where endedat < now() - make_interval(days => $1::int)
         order by endedat limit ${maxRows} for update skip locked)
       returning 1)
     select count(*)::int as gone from gone`,
    [days],
  );
}

/** Deletes previous credentials whose overlap has ended. */
export async function forgetPreviousCredentials(query: Query): Promise<void> {
  await query(
    `update subscription set previouscredential = null, previousinfo = null, previousuntil = null
     where previousuntil <= now()`,
    [],
  );
}
