import { RegistryError } from '../../base/errors.js';
import { pageOf, type ListPage } from '../http/page.js';
import { changedMembers } from '../storage/columns.js';
import { type Database, type Sql, lockRegistry, service, type Actor, type Transaction } from '../storage/database.js';
import { Prisma, type block as BlockRow } from '../storage/generated/client.js';
import { openStatesSql } from '../storage/rows.js';
import { beforeAllIds, isUuid, uuidv7 } from '../../base/files/ids.js';
import { addressOf } from './find-blocks.js';
import { blockOf, everyTenant, type Block, type BlockKind } from './block.js';

interface BlockStore {
  /** Everything that it stops learns of it in the same transaction. */
  create(actor: Actor, block: NewBlock): Promise<Block>;
  /** What it would stop now. */
  effectOf(block: NewBlock): Promise<BlockEffect>;
  /** RegistryError `block_not_found`, and `scope_missing` from `check`. */
  lift(actor: Actor, scope: BlockScope, id: string, check: (block: Block) => void): Promise<Block>;
  read(scope: BlockScope, id: string): Promise<Block>;
  list(scope: BlockScope, query: BlockQuery): Promise<ListPage<Block>>;
  /** Lifts blocks whose end has passed. Safe in several processes at once. */
  liftEnded: () => Promise<void>;
}

export type NewBlock = Pick<Block, 'tenant' | 'kind' | 'value' | 'reason' | 'endsAt' | 'byOperator'>;

/** The tenants whose blocks a caller sees, and those of every tenant; undefined means all. */
export type BlockScope = readonly string[] | undefined;

interface BlockQuery {
  kind?: BlockKind | undefined;
  value?: string | undefined;
  after: string | undefined;
  limit: number;
}

/** What is under a block, whatever other blocks there are. */
export interface BlockEffect {
  origins: string[];
  /** Not ended. */
  subscriptions: number;
  subscribers: string[];
  /** Live. */
  grants: number;
  /** Not finished. */
  handshakes: number;
}

/** For a tenant. Each look-up that decides compares with all of them. */
const maxBlocks = 1_000;
/** Names in an effect. */
const maxNames = 20;

export function createBlockStore({ sql, write }: Pick<Database, 'sql' | 'write'>): BlockStore {
  async function liftIn(tx: Transaction, actor: Actor, block: Block): Promise<void> {
    await tx.sql.$executeRaw`delete from block where id = ${block.id}::uuid`;
    const changed = changedMembers(audited(block), {});
    tx.audit(actorFor(actor, block), 'block.lifted', `block:${block.id}`, { ...audited(block), changed });
    await recordAffected(tx, block, 'unblocked');
  }

  return {
    create: (actor, { tenant, kind, value, reason, endsAt, byOperator }) =>
      write(async (tx) => {
        const [present] = await tx.sql.$queryRaw<Array<{ count: number }>>`
          select count(*)::int as count from block where tenant = ${tenant}`;
        if ((present?.count ?? 0) >= maxBlocks) {
          throw new RegistryError(
            'quota_exceeded',
            `There may be ${maxBlocks} blocks. Lift one, or block a domain or a network.`,
          );
        }
        const id = uuidv7();
        const [row] = await tx.sql.$queryRaw<BlockRow[]>`
          insert into block (id, tenant, kind, value, reason, endsat, createdby, byoperator)
          values (${id}::uuid, ${tenant}, ${kind}, ${value}, ${reason}, ${endsAt?.toISOString()}::timestamptz,
            ${actor.name}, ${byOperator})
          returning *`;
        if (row === undefined) throw new Error('An inserted row was not returned.');
        const block = blockOf(row);
        const changed = changedMembers({}, audited(block));
        tx.audit(actorFor(actor, block), 'block.created', `block:${id}`, { ...audited(block), changed });
        await recordAffected(tx, block, 'blocked');
        return block;
      }),

    effectOf: (block) => effectOf(sql, block),

    lift: (actor, scope, id, check) =>
      write(async (tx) => {
        const block = await findBlock(tx.sql, scope, id, Prisma.sql`for update`);
        check(block);
        await liftIn(tx, actor, block);
        return block;
      }),

    read: (scope, id) => findBlock(sql, scope, id),

    async list(scope, { kind, value, after, limit }) {
      const rows = await sql.$queryRaw<BlockRow[]>`
        select * from block where ${within(scope)} and id > ${after ?? beforeAllIds}::uuid
          and kind = coalesce(${kind ?? null}, kind) and value = coalesce(${value ?? null}, value)
        order by id limit ${limit + 1}`;
      return pageOf(rows.map(blockOf), limit, ({ id }) => id);
    },

    async liftEnded() {
      const liftOne = (tx: Transaction) =>
        tx.sql.$queryRaw<BlockRow[]>`
          select * from block where endsat <= now() order by id limit 1 for update skip locked`.then(async ([row]) => {
          if (row !== undefined) await liftIn(tx, service(row.tenant), blockOf(row));
          return row !== undefined;
        });
      while (await write(liftOne));
    },
  };
}

function within(scope: BlockScope): Prisma.Sql {
  return scope === undefined ? Prisma.sql`true` : Prisma.sql`tenant = any (${[...scope, everyTenant]}::text[])`;
}

async function findBlock(sql: Sql, scope: BlockScope, id: string, lock = Prisma.empty): Promise<Block> {
  const [row] = isUuid(id)
    ? await sql.$queryRaw<BlockRow[]>`select * from block where id = ${id}::uuid and ${within(scope)} ${lock}`
    : [];
  if (row === undefined) throw new RegistryError('block_not_found', 'There is no such block, or it was lifted.');
  return blockOf(row);
}

/** The audit record of the tenant has what an operator did to it. */
function actorFor(actor: Actor, { tenant }: Block): Actor {
  return tenant === everyTenant ? actor : { ...actor, tenant };
}

function audited({ kind, value, reason, endsAt, tenant }: Block) {
  return { kind, value, reason, expiresat: endsAt, ...(tenant === everyTenant ? { tenant } : {}) };
}

/** The rows `t` (subscriptions or grants) that are under a block. */
function under({ tenant, kind, value }: Pick<Block, 'tenant' | 'kind' | 'value'>): Prisma.Sql {
  const ofTenant = tenant === everyTenant ? Prisma.sql`true` : Prisma.sql`t.tenant = ${tenant}`;
  switch (kind) {
    case 'tenant':
      return ofTenant;
    case 'origin':
      return Prisma.sql`${ofTenant} and t.origin = ${value}`;
    case 'sink':
      return Prisma.sql`${ofTenant} and sink_host(t.sink) = sink_host(${value}) and t.sink = ${value}`;
    case 'host':
      return Prisma.sql`${ofTenant} and sink_host(t.sink) = ${value}`;
    default:
      return Prisma.sql`${ofTenant} and blocks_pair(${kind}, ${value}, t.origin, t.sink, ${addressOf(Prisma.sql`t`)})`;
  }
}

/**
 * Appends a change for everything whose state a block is part of (see the views): origins for their name or tenant, pairs for
 * where their sink is, subscriptions for their subscriber; but not for what another block of this sort still stops. Under
 * the lock of the log: a grant that is committed at this
 * moment is either seen here, or sees the block when its own change is appended.
 */
async function recordAffected(tx: Transaction, block: Block, what: 'blocked' | 'unblocked'): Promise<void> {
  const { sql } = tx;
  const { tenant, kind, value } = block;
  await lockRegistry(sql, 'changes');
  const ofTenant = tenant === everyTenant ? Prisma.sql`true` : Prisma.sql`t.tenant = ${tenant}`;
  const isFree = (isStopping: Prisma.Sql) => Prisma.sql`not exists (
    select from block b where b.id <> ${block.id}::uuid and b.tenant in (t.tenant, '*') and ${isStopping})`;
  if (kind === 'origin' || kind === 'tenant') {
    const rows = await sql.$queryRaw<Array<{ name: string; tenant: string }>>`
      select t.name, t.tenant from origin t
      where ${ofTenant} and ${kind === 'tenant' ? Prisma.sql`true` : Prisma.sql`t.name = ${value}`} order by t.name`;
    for (const row of rows) tx.change({ kind: `origin.${what}`, tenant: row.tenant, origin: row.name, sink: '' });
    return;
  }
  if (kind === 'subscriber') {
    const rows = await sql.$queryRaw<Array<{ id: string; tenant: string; origin: string; sink: string }>>`
      select id, tenant, origin, sink from subscription t
      where ${ofTenant} and t.subscriber = ${value} and t.endedat is null
        and ${isFree(Prisma.sql`b.kind = 'subscriber' and b.value = t.subscriber`)} order by id`;
    for (const { id, ...pair } of rows) tx.change({ kind: `subscription.${what}`, ...pair, subscription: id });
    return;
  }
  const isAffected = Prisma.sql`${under(block)} and ${isFree(Prisma.sql`b.kind in ('sink', 'host', 'domain', 'network')
    and blocks_pair(b.kind, b.value, t.origin, t.sink, ${addressOf(Prisma.sql`t`)})`)}`;
  const pairs = await sql.$queryRaw<Array<{ tenant: string; origin: string; sink: string }>>`
    select t.tenant, t.origin, t.sink from "grant" t where t.state = 'live' and ${isAffected}
    union select t.tenant, t.origin, t.sink from subscription t where t.endedat is null and ${isAffected}
    order by origin, sink`;
  for (const pair of pairs) tx.change({ kind: `grant.${what}`, ...pair });
}

async function effectOf(sql: Sql, block: Pick<Block, 'tenant' | 'kind' | 'value'>): Promise<BlockEffect> {
  const ofSubscriber = block.kind === 'subscriber';
  const subscriptions = ofSubscriber
    ? Prisma.sql`t.subscriber = ${block.value} and ${under({ ...block, kind: 'tenant' })}`
    : under(block);
  // Of a subscriber: the pairs that nobody else uses.
  const pairs = ofSubscriber
    ? Prisma.sql`(t.origin, t.sink) in (select origin, sink from subscriptions) and not exists (
        select from subscription o where o.origin = t.origin and o.sink = t.sink and o.subscriber <> ${block.value})`
    : under(block);
  const [row] = await sql.$queryRaw<BlockEffect[]>`
    with subscriptions as materialized (
      select t.id, t.origin, t.sink, t.subscriber from subscription t where t.endedat is null and ${subscriptions}
    ), grants as materialized (
      select t.origin, t.sink from "grant" t where t.state = 'live' and t.expiresat > now() and ${pairs}
    )
    select
      array(select origin from (select origin from subscriptions union select origin from grants) o order by origin limit ${maxNames}) as origins,
      (select count(*)::int from subscriptions) as subscriptions,
      array(select distinct subscriber from subscriptions order by subscriber limit ${maxNames}) as subscribers,
      (select count(*)::int from grants) as grants,
      (select count(*)::int from handshake h where h.state in ${openStatesSql}
        and (h.subscription in (select id from subscriptions)
          or (h.subscription is null and (h.origin, h.sink) in (select origin, sink from grants)))) as handshakes`;
  if (row === undefined) throw new Error('A count returned no row.');
  return row;
}
