import type { Database } from '../storage/database.js';
import { Prisma } from '../storage/generated/client.js';
import type { Transaction } from '../storage/transaction.js';

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
       select g.origin, g.sink from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as k (origin text, sink text)
       join "grant" g on g.origin = k.origin and g.sink = k.sink
       where ${Prisma.raw(dead(days))} order by g.origin collate "C", g.sink collate "C" for update of g
     ), uncounted as (
       delete from delivery d using going where d.origin = going.origin and d.sink = going.sink
     )
     delete from "grant" g using going where g.origin = going.origin and g.sink = going.sink
     returning g.origin, g.sink, g.tenant`;
  for (const row of rows) tx.change({ ...row, kind: 'grant.ended' });
}
