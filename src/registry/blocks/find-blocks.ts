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

/** The first block that stops each of them, in their order. */
export async function findBlocks(sql: Sql, targets: readonly BlockTarget[]): Promise<Array<FoundBlock | undefined>> {
  if (targets.length === 0) return [];
  const rows = targets.map(({ tenant, origin, sink, subscriber }) => ({ tenant, origin, sink, subscriber }));
  const blocks = await sql.$queryRaw<Array<FoundBlock & { place: number }>>`
    select distinct on (t.ordinality) t.ordinality::int - 1 as place, b.kind, b.value, b.reason
    from ${recordset('subscription', rows)} with ordinality t
    join block b on b.tenant in (t.tenant, '*')
      and (blocks_pair(b.kind, b.value, t.origin, t.sink, ${addressOf(Prisma.sql`t`)}) or (b.kind = 'subscriber' and b.value = t.subscriber))
    order by t.ordinality, b.id`;
  const found = new Map(blocks.map((block) => [block.place, block]));
  return targets.map((_, place) => found.get(place));
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

/** The address of the webhook when it was last asked for the consent of this pair. */
export function addressOf(row: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(select p.address from "grant" p where p.origin = ${row}.origin and p.sink = ${row}.sink)`;
}

/** Whether a block stops the pair of a row, whose alias is given: a handshake, a grant or a subscription. */
export function isBlockedPair(row: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`exists (
    select from block b where b.tenant in (${row}.tenant, '*')
      and blocks_pair(b.kind, b.value, ${row}.origin, ${row}.sink, ${addressOf(row)}))`;
}

/** Whether a block stops the subscriber of a subscription, whose alias is given. */
export function isBlockedSubscriber(row: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`exists (
    select from block b where b.tenant in (${row}.tenant, '*') and b.kind = 'subscriber' and b.value = ${row}.subscriber)`;
}
