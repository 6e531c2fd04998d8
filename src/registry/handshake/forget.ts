import { forgetChanges } from '../changes/retention.js';
import { forgetGrants } from '../grants/forget-grants.js';
import type { Database } from '../storage/database.js';
import { beforeAllIds } from '../../base/files/ids.js';
import { inPages, overPages } from '../storage/over-pages.js';
import type { Query } from '../storage/sql.js';

export interface ForgetSettings {
  /** Of handshakes, and of grants that no subscription needs. */
  retentionDays: number;
  feedRetentionHours: number;
  auditDays: number;
}

const maxRows = 5_000;

/**
 * Deletes what is past its retention: an idempotency key after a day, a rate window after its minute, a cool-down after
 * its end, records after the configured time. Each statement reads at most some thousand rows or pages, so that none
 * times out.
 */
export async function forget(database: Database, settings: ForgetSettings): Promise<void> {
  const { retentionDays, feedRetentionHours, auditDays } = settings;
  const { query } = database;
  await forgetChanges(query, feedRetentionHours);
  await overPages(
    query,
    'idempotency',
    `delete from idempotency where ${inPages} and createdat < now() - interval '1 day'`,
  );
  for (const table of ['rate_window', 'cooldown']) {
    await overPages(query, table, `delete from ${table} where ${inPages} and until < now()`);
  }
  await forgetAudits(query, auditDays);
  await forgetHandshakes(query, retentionDays);
  await forgetGrants(database, retentionDays);
}

/** The first id of that many days ago (UUID version 7, which begins with the time since 1970). */
const firstIdOf = (days: string) =>
  `(lpad(to_hex(greatest(0, extract(epoch from now() - make_interval(days => ${days})) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;

/** By the time of the database, the oldest ones of all tenants first. */
async function forgetAudits(query: Query, days: number): Promise<void> {
  for (let gone = maxRows; gone === maxRows;) {
    const [row] = await query<{ gone: number }>(
      `with gone as (
         delete from audit where ctid = any (array(
           select ctid from audit where at < now() - make_interval(days => $1::int) order by at, id limit ${maxRows}))
         returning 1)
       select count(*)::int as gone from gone`,
      [days],
    );
    gone = row?.gone ?? 0;
  }
}

/** Keeps the latest handshake of each subscription, and the one that a grant is based on. */
async function forgetHandshakes(query: Query, days: number): Promise<void> {
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
