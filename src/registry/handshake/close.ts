import { keyOfPair, type Pair } from '../../consent/grant.js';
import { Prisma } from '../storage/generated/client.js';
import { openStatesSql } from '../storage/rows.js';
import { type Sql, databaseTime, halfWay } from '../storage/database.js';
import { openLanes, type Lane } from './lane.js';
import { isOpen } from './wanted.js';

// Ends handshakes that are no longer needed, in the transaction of the change that makes them so.

/** Ends the handshakes of subscriptions, and makes their callbacks unknown, however the handshakes ended. */
export function closeHandshakesOf(sql: Sql, ...subscriptions: string[]): Promise<void> {
  return close(sql, Prisma.sql`subscription = any (${subscriptions}::uuid[])`);
}

/**
 * The same for handshakes that were sent with another rate: their response would set an outdated rate, and so would
 * their callback, even after the response. A consent that exists stays valid.
 */
export async function closeHandshakesOfOtherRate(sql: Sql, subscription: string, rate: number | null): Promise<void> {
  const own = Prisma.sql`subscription = ${subscription}::uuid`;
  await holdOpen(sql, own);
  await close(
    sql,
    Prisma.sql`${own} and requestedrate is distinct from ${rate}::int
      and state <> 'granted' and (state <> 'due' or attempts > 0)`,
  );
}

/**
 * The same for a renewal that was sent with a rate that no subscription of the pair requests any more; `rate` is the
 * default for those that name none. A renewal that was not sent yet is postponed to halfway through the rest of the
 * grant's lifetime: sent together with another rate, it could get its response last and restore the old rate.
 */
export async function closeUnwantedRenewal(
  sql: Sql,
  { tenant, origin, sink }: Pair,
  rate: number | null,
): Promise<void> {
  const renewal = Prisma.sql`
    h.origin = ${origin} and h.sink = ${sink} and h.tenant = ${tenant} and h.trigger = 'renewal'`;
  const isUnwanted = (asked: Prisma.Sql) => Prisma.sql`not exists (
    select 1 from subscription s where s.origin = ${origin} and s.sink = ${sink} and s.endedat is null
      and coalesce(s.requestedrate, ${rate}::int) is not distinct from ${asked})`;
  await holdOpen(sql, renewal);
  await close(
    sql,
    Prisma.sql`${renewal} and h.state in ${openStatesSql} and (h.state <> 'due' or h.attempts > 0)
      and ${isUnwanted(Prisma.sql`h.requestedrate`)}`,
  );
  const postponed = await sql.$queryRaw<Array<Lane & { dueat: Date }>>`
    update handshake h set dueat = greatest(h.dueat, ${halfWay(await databaseTime(sql), Prisma.sql`g.expiresat`)}) from "grant" g
    where ${renewal} and h.state = 'due' and g.origin = h.origin and g.sink = h.sink and g.state = 'live'
      and g.expiresat > now() and ${isUnwanted(Prisma.sql`g.requestedrate`)}
    returning h.tenant, h.sinkhost, h.dueat`;
  await openLanes(sql, postponed);
}

/** The same for all handshakes of a pair, renewals among them. */
export function closeHandshakesOfPair(sql: Sql, { tenant, origin, sink }: Pair): Promise<void> {
  return close(sql, Prisma.sql`origin = ${origin} and sink = ${sink} and tenant = ${tenant}`);
}

/** The same for all handshakes of an origin. */
export function closeHandshakesOfOrigin(sql: Sql, { tenant, origin }: Omit<Pair, 'sink'>): Promise<void> {
  return close(sql, Prisma.sql`origin = ${origin} and tenant = ${tenant}`);
}

/** The same for many pairs. Arrays, so that Postgres uses the index for each of them. */
export function closeHandshakesOfPairs(sql: Sql, pairs: readonly Pair[]): Promise<void> {
  const origins = [...new Set(pairs.map(({ origin }) => origin))];
  const sinks = [...new Set(pairs.map(({ sink }) => sink))];
  return close(
    sql,
    Prisma.sql`origin = any (${origins}::text[]) and sink = any (${sinks}::text[])
      and origin || ' ' || sink = any (${pairs.map(keyOfPair)}::text[])`,
  );
}

/** The same for a renewal that waits because all subscriptions of the pair are suspended, once its grant has expired. */
export function closeWaitingRenewal(sql: Sql, { tenant, origin, sink }: Pair): Promise<void> {
  return close(
    sql,
    Prisma.sql`origin = ${origin} and sink = ${sink} and tenant = ${tenant} and trigger = 'renewal' and state = 'due'
      and not exists (
        select 1 from subscription s where s.origin = ${origin} and s.sink = ${sink} and ${isOpen})
      and not exists (
        select 1 from "grant" g where g.origin = ${origin} and g.sink = ${sink} and g.state = 'live' and g.expiresat > now())`,
  );
}

/**
 * Locks them, so that no process claims, hands back or settles them until the transaction ends. A statement that depends
 * on whether they are due or in flight would miss one that is claimed at this moment.
 */
async function holdOpen(sql: Sql, which: Prisma.Sql): Promise<void> {
  await sql.$queryRaw`
    select 1 from handshake h where ${which} and state in ${openStatesSql} order by id for update`;
}

/**
 * Marks the failures before these handshakes, which have ended. Only a handshake of a registration has none before it. The
 * list of failures that may still count stays short, however many there were.
 */
export async function supersedeFailures(sql: Sql, ended: readonly string[]): Promise<void> {
  if (ended.length === 0) return;
  await sql.$executeRaw`
    update handshake h set superseded = true from handshake later
    where later.id = any (${ended}::uuid[]) and h.subscription = later.subscription and h.createdat < later.createdat
      and h.state in ('refused', 'unreachable', 'retired') and not h.superseded`;
}

/** due | asking | waiting -> cancelled. */
async function close(sql: Sql, which: Prisma.Sql): Promise<void> {
  await sql.$executeRaw`
    update handshake h set callbackopen = false, claimid = null, claimeduntil = null,
      finishedat = least(finishedat, now()),
      state = case when state in ${openStatesSql} then 'cancelled' else state end
    where ${which} and callbackopen`;
}
