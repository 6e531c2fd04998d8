import type { Pair } from '../../consent/grant.js';
import { Prisma } from '../storage/generated/client.js';
import type { Sql } from '../storage/database.js';
import { recordset, updateRows } from '../storage/rows.js';
import { isWanted } from './wanted.js';

/**
 * The due handshakes of one tenant for one host wait in a lane, the oldest first. Lanes take turns: a claim looks at the
 * lanes whose turn has come, and at the first handshakes in them. So what waits costs a claim nothing, however much it is.
 *
 *   (none) -> waiting    a handshake of the lane becomes due, now or later (openLanes)
 *   waiting -> ready     `nextat` has passed, and `helduntil`
 *   ready -> ready       served: it is its turn again after the others
 *   ready -> waiting     its first handshake is due later, or its host has no budget left until `helduntil`
 *   ready -> (none)      nothing in it is due
 *
 * A due handshake that is not wanted now, such as under a block, is parked when a claim meets it: its `dueat` is null. It
 * is due again when it is wanted (unpark).
 */
export interface Lane {
  tenant: string;
  sinkhost: string;
}

/**
 * Call it with everything that becomes due, in the same transaction; without a time, it is due now. It locks the lanes
 * until the transaction ends, so that no claim removes one of them as empty. A budget that is used up stays so.
 */
export async function openLanes(
  sql: Sql,
  due: ReadonlyArray<Lane & { dueat?: Date | null | undefined }>,
): Promise<void> {
  const rows = new Map<string, Lane & { nextat: Date | undefined }>();
  for (const { tenant, sinkhost, dueat } of due) {
    const key = keyOfLane({ tenant, sinkhost });
    const known = rows.get(key);
    const nextat = dueat ?? undefined;
    const isEarlier = known === undefined || nextat === undefined || (known.nextat && nextat < known.nextat);
    if (isEarlier) rows.set(key, { tenant, sinkhost, nextat });
  }
  if (rows.size === 0) return;
  await sql.$executeRaw`
    insert into handshake_lane as lane (tenant, sinkhost, nextat)
    select tenant, sinkhost, greatest(nextat, date_trunc('milliseconds', now()))
    from ${recordset('handshake_lane', [...rows.values()])} r order by tenant collate "C", sinkhost collate "C"
    on conflict (tenant, sinkhost) do update
      set nextat = least(lane.nextat, greatest(excluded.nextat, lane.helduntil))`;
}

export const keyOfLane = ({ tenant, sinkhost }: Lane) => JSON.stringify([tenant, sinkhost]);

/**
 * After a claim: moves the lanes that it served, found without a ready handshake, or found without a budget until a time.
 * A lane that is locked gets a handshake at this moment, and stays as it is. Returns how many were moved.
 */
export async function moveLanes(
  sql: Sql,
  lanes: ReadonlyArray<Lane & { helduntil: Date | undefined }>,
): Promise<number> {
  if (lanes.length === 0) return 0;
  const met = recordset('handshake_lane', lanes);
  const locked = await sql.$queryRaw<Lane[]>`
    select l.tenant, l.sinkhost from ${met} m join handshake_lane l on l.tenant = m.tenant and l.sinkhost = m.sinkhost
    for update of l skip locked`;
  if (locked.length === 0) return 0;
  const isLocked = new Set(locked.map(keyOfLane));
  const moved = recordset(
    'handshake_lane',
    lanes.filter((lane) => isLocked.has(keyOfLane(lane))),
  );
  // A statement of its own, which sees what was committed before the lanes were locked.
  await sql.$executeRaw`
    with next as materialized (
      select m.tenant, m.sinkhost, m.helduntil, (
        select h.dueat from handshake h
        where h.state = 'due' and h.tenant = m.tenant and h.sinkhost = m.sinkhost and h.dueat is not null
        order by h.dueat, h.id limit 1) as dueat
      from ${moved} m
    ), gone as (
      delete from handshake_lane l using next n where l.tenant = n.tenant and l.sinkhost = n.sinkhost and n.dueat is null
    )
    update handshake_lane l set nextat = greatest(n.dueat, n.helduntil, statement_timestamp()), helduntil = n.helduntil
    from next n where l.tenant = n.tenant and l.sinkhost = n.sinkhost and n.dueat is not null`;
  return locked.length;
}

/** How many handshakes at the head of lanes one claim parks. */
const parkedAtOnce = 200;

/**
 * Parks the handshakes at the head of these lanes that are not wanted now; those of a webhook that cools down are due when
 * that ends. Returns how many.
 */
export async function parkUnwanted(sql: Sql, lanes: readonly Lane[]): Promise<number> {
  // A statement of its own: Citus allows no clock function in all places of one that writes.
  const unwanted = await sql.$queryRaw<Array<{ id: string; dueat: Date | null }>>`
    with head as materialized (
      select first.id from ${recordset('handshake_lane', lanes)} l cross join lateral (
        select h.id from handshake h
        where h.state = 'due' and h.tenant = l.tenant and h.sinkhost = l.sinkhost and h.dueat <= statement_timestamp()
        order by h.dueat, h.id limit ${Math.ceil(parkedAtOnce / lanes.length)}) first
    )
    select h.id, (
      select c.until from cooldown c where c.tenant = h.tenant and c.origin = h.origin and c.sink = h.sink
        and c.until > statement_timestamp()) as dueat
    from handshake h where h.id in (select id from head) and h.state = 'due' and not ${isWanted}
    for update of h skip locked`;
  if (unwanted.length > 0) await sql.$executeRaw`${updateRows('handshake', ['id'], unwanted)}`;
  return unwanted.length;
}

/** Makes the parked handshakes of a pair due: one of its subscriptions was resumed. Those still unwanted are parked again. */
export async function unparkPair(sql: Sql, { tenant, origin, sink }: Pair): Promise<void> {
  const due = await sql.$queryRaw<Lane[]>`
    update handshake set dueat = date_trunc('milliseconds', now())
    where origin = ${origin} and sink = ${sink} and tenant = ${tenant} and state = 'due' and dueat is null
    returning tenant, sinkhost`;
  await openLanes(sql, due);
}

/**
 * Looks at the next parked handshakes after an id, and makes those due that are wanted again. Returns the last id that it
 * looked at; undefined at the end.
 */
export async function unpark(sql: Sql, after: string, maxRows: number): Promise<string | undefined> {
  const rows = await sql.$queryRaw<Array<Lane & { id: string; iswanted: boolean }>>`
    select h.id, h.tenant, h.sinkhost, ${isWanted} as iswanted from handshake h
    where h.state = 'due' and h.dueat is null and h.id > ${after}::uuid order by h.id limit ${maxRows}`;
  const wanted = rows.filter(({ iswanted }) => iswanted).map(({ id }) => id);
  if (wanted.length > 0) {
    const due = await sql.$queryRaw<Lane[]>`
      update handshake set dueat = date_trunc('milliseconds', now())
      where id in (
        select id from handshake where id = any (${wanted}::uuid[]) and state = 'due' and dueat is null
        order by id for update skip locked)
      returning tenant, sinkhost`;
    await openLanes(sql, due);
  }
  return rows.length < maxRows ? undefined : rows.at(-1)?.id;
}

/** Until when a budget holds the handshake `table`, which is due; null if none does. */
export function heldUntil(table: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(
    select l.until from lane_hold l
    where ${table}.state = 'due' and ${table}.dueat <= now() and l.tenant = ${table}.tenant and l.sinkhost = ${table}.sinkhost)`;
}
