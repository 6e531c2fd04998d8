import { RegistryError } from '../../base/errors.js';
import { Prisma } from '../storage/generated/client.js';
import type { Sql } from '../storage/database.js';
import { recordset } from '../storage/rows.js';
import { blockTexts } from '../../base/texts/blocks.js';
import type { BlockKind } from './block.js';

/** What a block may stop: a pair of origin and sink, and the client that subscribes, if one does. */
export interface BlockTarget {
  tenant: string;
  origin: string;
  sink: string;
  subscriber?: string;
}

interface FoundBlock {
  kind: BlockKind;
  value: string;
  reason: string;
}

/** The first block that stops each of them, in their order. Without a subscriber, it is whoever subscribes to the pair. */
export async function findBlocks(sql: Sql, targets: readonly BlockTarget[]): Promise<Array<FoundBlock | undefined>> {
  if (targets.length === 0) return [];
  const rows = targets.map(({ tenant, origin, sink, subscriber }) => ({ tenant, origin, sink, subscriber }));
  const row = Prisma.sql`t`;
  const blocks = await sql.$queryRaw<Array<FoundBlock & { place: number }>>`
    select distinct on (t.ordinality) t.ordinality::int - 1 as place, b.kind, b.value, b.reason
    from ${recordset('subscription', rows)} with ordinality t
    join block b on b.tenant in (t.tenant, '*') and (
      blocks_pair(b.kind, b.value, t.origin, t.sink, ${askedAddressOf(row)})
      or (b.kind = 'subscriber' and (b.value = t.subscriber or (t.subscriber is null and ${areSubscribersBlocked(row)}))))
    order by t.ordinality, b.id`;
  const found = new Map(blocks.map((block) => [block.place, block]));
  return targets.map((_, place) => found.get(place));
}

/**
 * The first block of a network that is so new that this handshake may be on its way into it: where the webhook is, is stored
 * with its response. Claims know the older ones. A transaction takes no minute.
 */
export async function findUnseenNetwork(sql: Sql, { id, tenant }: { id: string; tenant: string }) {
  const [block] = await sql.$queryRaw<FoundBlock[]>`
    select b.kind, b.value, b.reason from block b
    where b.tenant in (${tenant}, '*') and b.kind = 'network' and b.createdat > (
      select a.startedat - interval '1 minute' from attempt a
      where a.handshake = ${id}::uuid and a.finishedat is null order by a.number desc limit 1)
    order by b.id limit 1`;
  return block;
}

/** RegistryError `blocked`, with the place of what is blocked in the body of a registration or an agreement. */
export function blockedError({ kind, value, reason }: FoundBlock): RegistryError {
  const detail = blockTexts.blocked(kind, value, reason);
  const pointer = pointers[kind];
  return new RegistryError('blocked', detail, {
    faults: pointer === undefined ? [] : [{ pointer, rule: 'blocked', detail }],
  });
}

const pointers: Partial<Record<BlockKind, string>> = {
  origin: '/origin',
  sink: '/sink',
  host: '/sink',
  domain: '/sink',
  network: '/sink',
};

/**
 * The address of the webhook when it gave the consent of this pair. The aliases in here are none that a caller uses: with
 * the same, the pair would be compared with itself.
 */
export function addressOf(row: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(select given.address from "grant" given where given.origin = ${row}.origin and given.sink = ${row}.sink)`;
}

/** The same when it was last asked, whatever it answered. A webhook without a connection for so long has no address. */
export function askedAddressOf(row: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`coalesce((
    select a.address from (
      select past.id from handshake past
      where past.origin = ${row}.origin and past.sink = ${row}.sink and past.tenant = ${row}.tenant order by past.id desc limit 20
    ) p join attempt a on a.handshake = p.id
    where a.address is not null order by p.id desc, a.number desc limit 1), ${addressOf(row)})`;
}

/** Whether a block stops the pair of a row, whose alias is given: a handshake, a grant or a subscription. */
export function isBlockedPair(row: Prisma.Sql, address = addressOf(row)): Prisma.Sql {
  return Prisma.sql`exists (
    select from block b where b.tenant in (${row}.tenant, '*')
      and blocks_pair(b.kind, b.value, ${row}.origin, ${row}.sink, ${address}))`;
}

/** Whether blocks stop what this handshake asks for, whose alias is given: its pair, or all that want it. */
export function isBlockedHandshake(row: Prisma.Sql, address: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(${isBlockedPair(row, address)} or case when ${row}.subscription is null then ${areSubscribersBlocked(row)}
    else coalesce((select ${isBlockedSubscriber(Prisma.sql`s`)} from subscription s where s.id = ${row}.subscription), false) end)`;
}

/** Whether a block stops the subscriber of a subscription, whose alias is given. */
export function isBlockedSubscriber(row: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`exists (
    select from block b where b.tenant in (${row}.tenant, '*') and b.kind = 'subscriber' and b.value = ${row}.subscriber)`;
}

/** Whether the pair of a row has subscriptions, and blocks stop the subscribers of all of them. */
function areSubscribersBlocked(row: Prisma.Sql): Prisma.Sql {
  const subscriptions = Prisma.sql`
    select from subscription s where s.origin = ${row}.origin and s.sink = ${row}.sink and s.endedat is null`;
  return Prisma.sql`(
    exists (select from block c where c.tenant in (${row}.tenant, '*') and c.kind = 'subscriber')
    and exists (${subscriptions}) and not exists (${subscriptions} and not ${isBlockedSubscriber(Prisma.sql`s`)}))`;
}
