import { beforeAllIds } from '../../base/files/ids.js';
import { inPages, overPages } from '../storage/retention.js';
import type { Query } from '../storage/database.js';

const maxRows = 5_000;

/** The first id of that many days ago (UUID version 7, which begins with the time since 1970). */
const firstIdOf = (days: string) =>
  `(lpad(to_hex(greatest(0, extract(epoch from now() - make_interval(days => ${days})) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

/**
 * Deletes handshakes that finished this many days ago, except the latest one of each subscription, and the one that a
 * grant is based on.
 */
export async function forgetHandshakes(query: Query, days: number): Promise<void> {
  for (let after: string | undefined = beforeAllIds; after !== undefined;) {
    const rows: Array<{ last: string | null }> = await query(
      `with page as materialized (
         select id, subscription, createdat, finishedat, origin, sink from handshake
         where id > $1::uuid and id < ${firstIdOf('$2::int')} order by id limit ${maxRows}
       ), gone as (
         delete from handshake h using page p
         where h.id = p.id and p.finishedat < now() - make_interval(days => $2::int)
           and (p.subscription is null
             or not exists (select 1 from subscription s where s.id = p.subscription)
             or exists (select 1 from handshake newer
               where newer.subscription = p.subscription and newer.createdat > p.createdat))
           and not exists (select 1 from "grant" g where g.origin = p.origin and g.sink = p.sink and g.handshake = p.id)
       )
       select (select id from page order by id desc limit 1)::text as last`,
      [after, days],
    );
    after = rows[0]?.last ?? undefined;
  }
}

/** Deletes rate windows after their minute. */
export const forgetRateWindows = (query: Query) => forgetPast(query, 'rate_window');

/** Deletes cool-downs after their end. */
export const forgetCooldowns = (query: Query) => forgetPast(query, 'cooldown');

function forgetPast(query: Query, table: 'rate_window' | 'cooldown'): Promise<void> {
  return overPages(query, table, `delete from ${table} where ${inPages} and until < now()`);
}
