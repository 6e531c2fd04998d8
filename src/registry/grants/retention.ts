import { type Database, databaseTime, type Transaction } from '../storage/database.js';
import { Prisma, type grant as GrantRow } from '../storage/generated/client.js';
import { recordsetOfPairs } from '../storage/rows.js';

const maxRows = 5_000;

interface Key {
  origin: string;
  sink: string;
}

/**
 * Deletes ended and expired grants that no subscription needs, after the given number of days, with the counters of
 * their deliveries. Every follower of the change log drops them too. A revoked grant is never deleted.
 */
export async function forgetGrants({ query, write }: Database, days: number): Promise<void> {
  for (let after: Key | undefined = { origin: '', sink: '' }; after !== undefined;) {
    const rows: Array<{ last: Key; dead: Key[] | null }> = await query(
      `with page as materialized (
         select origin, sink, state, endedat, expiresat from "grant" where (origin, sink) > ($1, $2)
         order by origin, sink limit ${maxRows}
       )
       select (select row_to_json(k) from (select origin, sink from page order by origin desc, sink desc limit 1) k) as last,
         (select json_agg(row_to_json(k)) from (select origin, sink from page g where ${dead(days)}) k) as dead`,
      [after.origin, after.sink],
    );
    const [page] = rows;
    if (page?.dead) await write((tx) => remove(tx, page.dead ?? [], days));
    after = page?.last ?? undefined;
  }
}

/** @param days from the configuration */
const dead = (days: number) => `
  case when g.state = 'ended' then g.endedat when g.state = 'live' then g.expiresat end < now() - make_interval(days => ${days})
  and not exists (select 1 from subscription s where s.origin = g.origin and s.sink = g.sink and s.endedat is null)`;

/** Removes those that are still dead, locked in the order that all transactions use. */
async function remove(tx: Transaction, keys: readonly Key[], days: number): Promise<void> {
  const rows = await tx.sql.$queryRaw<Array<Key & { tenant: string }>>`
    with going as materialized (
       select g.origin, g.sink from ${recordsetOfPairs(keys)} k
       join "grant" g on g.origin = k.origin and g.sink = k.sink
       where ${Prisma.raw(dead(days))} order by g.origin collate "C", g.sink collate "C" for update of g
     ), uncounted as (
       delete from delivery d using going where d.origin = going.origin and d.sink = going.sink
     )
     delete from "grant" g using going where g.origin = going.origin and g.sink = going.sink
     returning g.origin, g.sink, g.tenant`;
  for (const row of rows) tx.change({ ...row, kind: 'grant.ended' });
}

/**
 * Logs what time alone does to live grants, once for each expiry: that one is about to expire although it was not
 * renewed, and that it has. Nothing else changes; readers of permissions compare `expiresat`. Safe in several processes
 * at once. Returns how many it logged, at most `maxRows`.
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
