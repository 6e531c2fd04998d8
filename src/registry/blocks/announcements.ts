import { everyTenant } from '../../matching/replica/blocks.js';
import { sleep } from '../../base/until.js';
import { beforeAllIds } from '../../base/files/ids.js';
import { databaseTime, service, type Database, type Sql, type Transaction } from '../storage/database.js';
import { Prisma, type block_announcement as AnnouncementRow } from '../storage/generated/client.js';
import { addressOf } from './find-blocks.js';
import type { Block, BlockKind } from './block.js';
import { indexOf, isUnder, type BlockedThing } from './under.js';

/**
 * A block is in force with its row. What it does to a subscription is announced to the consumer afterwards, with one change
 * for each, in pages: a page, its changes and its place are one transaction, so a killed process loses none and repeats
 * none. One page is written at a time, whatever the number of processes.
 *
 *   announcing   what the block stopped, from the first subscription to the last
 *   announced    `finishedat`; the row stays until the block is lifted
 *   releasing    the block was lifted, during or after the first walk: what nothing else stops, as far as that walk came.
 *                Then the row is deleted
 *
 * Where blocks overlap, a subscription is announced when it is stopped first and when it is released last. If the only
 * block that announced it is lifted before another one came to it, that one repeats it.
 */
export interface Announcement {
  isFinished: boolean;
  /** How many subscriptions were announced. */
  subscriptionCount: number;
}

const maxOrigins = 1_000;
const pageSize = 500;
const maxTurns = 10;

export async function beginAnnouncement({ sql }: Transaction, { id, tenant, kind, value }: Block): Promise<void> {
  await sql.$executeRaw`
    insert into block_announcement (block, tenant, kind, value, attenant, atid, origins)
    values (${id}::uuid, ${tenant}, ${kind}, ${value}, '', ${beforeAllIds}::uuid, '{}')`;
}

/** Waits for a page that is being written. */
export async function beginRelease({ sql }: Transaction, { id }: Block): Promise<void> {
  const hasBegun = await sql.$executeRaw`
    update block_announcement set islifted = true, attenant = '', atid = ${beforeAllIds}::uuid, subscriptioncount = 0, grantcount = 0,
      origins = '{}', untiltenant = case when finishedat is null then attenant end,
      untilid = case when finishedat is null then atid end, finishedat = null
    where block = ${id}::uuid and attenant <> ''`;
  if (hasBegun === 0) await sql.$executeRaw`delete from block_announcement where block = ${id}::uuid`;
}

export async function readAnnouncement(sql: Sql, { id }: Block): Promise<Announcement | undefined> {
  const [row] = await sql.$queryRaw<AnnouncementRow[]>`
    select * from block_announcement where block = ${id}::uuid and not islifted`;
  return row && { isFinished: row.finishedat !== null, subscriptionCount: row.subscriptioncount };
}

/**
 * Announces until nothing is left or the signal fires. Half of the time is for what others write to the log. Safe in several
 * processes at once.
 */
export async function announceBlocks(
  { write }: Pick<Database, 'write'>,
  signal: AbortSignal,
  size = pageSize,
): Promise<void> {
  const failed: string[] = [];
  const errors: unknown[] = [];
  while (!signal.aborted) {
    const startedAt = performance.now();
    let block: string | undefined;
    try {
      await write(async (tx) => {
        const row = await claim(tx.sql, failed);
        block = row?.block;
        if (row !== undefined) await announcePage(tx, row, size);
      });
    } catch (error) {
      if (block === undefined) throw error;
      // It is tried again at the next turn, and stops no other one.
      failed.push(block);
      errors.push(error);
    }
    if (block === undefined) break;
    await sleep(performance.now() - startedAt, signal);
  }
  if (errors.length > 0) throw errors[0];
}

/** The announcement that has waited longest, unless another process writes a page. */
async function claim(sql: Sql, failed: readonly string[]): Promise<AnnouncementRow | undefined> {
  const [free] = await sql.$queryRaw<Array<{ free: boolean }>>`
    select pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' announcements', 0)) as free`;
  if (free?.free !== true) return undefined;
  const [row] = await sql.$queryRaw<AnnouncementRow[]>`
    select * from block_announcement where finishedat is null and block <> all (${failed}::uuid[])
    order by pagedat limit 1 for update`;
  return row;
}

/** Announces its next subscriptions, so many or half as many again at most. */
async function announcePage(tx: Transaction, row: AnnouncementRow, size: number): Promise<void> {
  const { sql } = tx;
  const tenant = row.attenant || (await nextTenant(sql, row, '')) || '';
  const kind = row.islifted ? 'subscription.unblocked' : 'subscription.blocked';
  const announced: Looked[] = [];
  let last = row.atid;
  let isTenantOver = false;
  // Where no index knows what is under the block, few of a page may be.
  for (let turn = 0; turn < maxTurns && !isTenantOver && announced.length < size / 2; turn += 1) {
    const page = await readPage(sql, row, tenant, last, size);
    announced.push(...page.filter(({ isNews }) => isNews));
    last = page.at(-1)?.id ?? last;
    isTenantOver = page.length < size;
  }
  for (const { id, origin, sink, subscriber } of announced) {
    tx.change({ kind, tenant, origin, sink, subscription: id, subscriber });
  }
  const subscriptioncount = row.subscriptioncount + announced.length;
  const grantcount = row.grantcount + announced.reduce((sum, each) => sum + each.grants, 0);
  const origins = [...new Set([...row.origins, ...announced.map(({ origin }) => origin)])].slice(0, maxOrigins);
  const next = isTenantOver ? await nextTenant(sql, row, tenant) : tenant;
  if (next === undefined) {
    const what = row.islifted ? 'lifted' : 'created';
    const detail = { what, kind: row.kind, value: row.value, subscriptioncount, grantcount, origins: origins.length };
    tx.audit(service(row.tenant), 'block.announced', `block:${row.block}`, detail);
  }
  if (next === undefined && row.islifted) {
    await sql.$executeRaw`delete from block_announcement where block = ${row.block}::uuid`;
    return;
  }
  const now = await databaseTime(sql);
  await sql.$executeRaw`
    update block_announcement set attenant = ${next ?? tenant}, atid = ${next === tenant ? last : beforeAllIds}::uuid,
      subscriptioncount = ${subscriptioncount}, grantcount = ${grantcount}, origins = ${origins}::text[], pagedat = ${now}::timestamptz,
      finishedat = ${next === undefined ? now : null}::timestamptz
    where block = ${row.block}::uuid`;
}

interface Looked {
  id: string;
  origin: string;
  sink: string;
  subscriber: string;
  /** Its consumer does not know yet. */
  isNews: boolean;
  /** Live ones that are counted with it: a pair counts with its oldest subscription. */
  grants: number;
}

async function readPage(
  sql: Sql,
  row: AnnouncementRow,
  tenant: string,
  after: string,
  size: number,
): Promise<Looked[]> {
  const block: BlockedThing = { tenant, kind: row.kind as BlockKind, value: row.value };
  const stops = (other: Prisma.Sql) => Prisma.sql`${other}.tenant in (t.tenant, '*')
    and (blocks_pair(${other}.kind, ${other}.value, t.origin, t.sink, ${addressOf(Prisma.sql`t`)})
      or (${other}.kind = 'subscriber' and ${other}.value = t.subscriber))`;
  const place = Prisma.sql`(t.tenant, t.id)`;
  // Another one that stops it, or did, has told the consumer that it is blocked, and not yet that it is no longer.
  const isKnown = Prisma.sql`exists (
    select from block_announcement a where a.block <> ${row.block}::uuid and ${stops(Prisma.sql`a`)} and case
      when a.islifted then ${place} > (a.attenant, a.atid) and (a.untilid is null or ${place} <= (a.untiltenant, a.untilid))
      else a.finishedat is not null or ${place} <= (a.attenant, a.atid) end)`;
  const isStopped = Prisma.sql`exists (select from block b where ${stops(Prisma.sql`b`)})`;
  const isNews = row.islifted ? Prisma.sql`not ${isStopped} and not ${isKnown}` : Prisma.sql`not ${isKnown}`;
  const until =
    row.untilid === null ? Prisma.empty : Prisma.sql`and ${place} <= (${row.untiltenant}::text, ${row.untilid}::uuid)`;
  return sql.$queryRaw<Looked[]>`
    select t.*, case when not t."isNews" then 0 else (
        select count(*)::int from "grant" g where g.origin = t.origin and g.sink = t.sink and g.state = 'live'
          and not exists (select from subscription o
            where o.origin = t.origin and o.sink = t.sink and o.endedat is null and o.id < t.id)
      ) end as grants
    from (
      select t.id, t.origin, t.sink, t.subscriber, t.endedat is null and ${isUnder(block)} and ${isNews} as "isNews"
      from subscription t where t.tenant = ${tenant} and ${indexOf(block, Prisma.sql`${tenant}`)} and t.id > ${after}::uuid ${until}
      order by t.id limit ${size}
    ) t order by t.id`;
}

/** Undefined after the last one. A release ends where the first walk ended. */
async function nextTenant(sql: Sql, row: AnnouncementRow, after: string): Promise<string | undefined> {
  if (row.tenant !== everyTenant) return after === '' ? row.tenant : undefined;
  const [next] = await sql.$queryRaw<Array<{ tenant: string | null }>>`
    select min(tenant) as tenant from origin where tenant > ${after} and tenant <= coalesce(${row.untiltenant}, tenant)`;
  return next?.tenant ?? undefined;
}
