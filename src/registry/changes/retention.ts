import { inBatches } from '../storage/retention.js';
import type { Query } from '../storage/database.js';

const maxRows = 5_000;

/**
 * Deletes changes that are older than these hours, oldest first. The same statement moves the horizon, so that a reader
 * either finds a change or learns that its cursor is too old.
 */
export function forgetChanges(query: Query, hours: number): Promise<void> {
  return inBatches(
    query,
    maxRows,
    // Up to the first one to keep: the time of a change is the start of its transaction, so times are not in order.
    `with batch as (select position, at from change order by position limit ${maxRows}),
     kept as (select min(position) as position from batch where at >= now() - make_interval(hours => $1::int)),
     last as (
       select max(batch.position) as position from batch, kept
       where kept.position is null or batch.position < kept.position
     ),
     moved as (update feed_state set horizon = last.position from last where last.position > horizon returning horizon),
     deleted as (delete from change using moved where change.position <= moved.horizon returning 1)
     select count(*)::int as gone from deleted`,
    [hours],
  );
}

/** Deletes audit records after these days by the time of the database, the oldest ones of all tenants first. */
export function forgetAudits(query: Query, days: number): Promise<void> {
  return inBatches(
    query,
    maxRows,
    `with gone as (
       delete from audit where ctid = any (array(
         select ctid from audit where at < now() - make_interval(days => $1::int) order by at, id limit ${maxRows}))
       returning 1)
     select count(*)::int as gone from gone`,
    [days],
  );
}
