import { RegistryError } from '../../base/errors.js';
import { pageOf, type ListPage } from '../http/page.js';
import { withoutQuery } from '../../base/formats/uri.js';
import { changedMembers } from '../storage/columns.js';
import {
  type Database,
  type Sql,
  lockRegistry,
  service,
  storedPerson,
  type Actor,
  type Transaction,
} from '../storage/database.js';
import { claimKey, noteResource, type IdempotentRequest } from '../storage/idempotency.js';
import { Prisma, type block as BlockRow } from '../storage/generated/client.js';
import { beforeAllIds, isUuid, uuidv7 } from '../../base/files/ids.js';
import { everyTenant } from '../../matching/replica/blocks.js';
import { beginAnnouncement, beginRelease, readAnnouncement, type Announcement } from './announcements.js';
import { blockOf, type Block, type BlockKind } from './block.js';
import { effectOf, type BlockEffect } from './effect.js';

interface BlockStore {
  /**
   * In force when it resolves; each follower applies it with its next read of the log. An equal block that is in force
   * stays as it is: a second one would stop the same, and go on after the first is lifted.
   */
  create(actor: Actor, block: NewBlock, request: IdempotentRequest): Promise<CreatedBlock>;
  /** What it would stop now. */
  effectOf(block: NewBlock): Promise<BlockEffect>;
  /** How far its consumers were told. */
  announcement(block: Block): Promise<Announcement | undefined>;
  /** RegistryError `block_not_found`, and `scope_missing` from `check`. */
  lift(actor: Actor, scope: BlockScope, id: string, check: (block: Block) => void): Promise<Block>;
  read(scope: BlockScope, id: string): Promise<Block>;
  list(scope: BlockScope, query: BlockQuery): Promise<ListPage<Block>>;
  /** Lifts blocks whose end has passed. Safe in several processes at once. */
  liftEnded: () => Promise<void>;
}

/** `isNew`: no equal block was in force. */
export interface CreatedBlock {
  block: Block;
  isNew: boolean;
  replayed: boolean;
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

/** For a tenant. Each look-up that decides compares with all of them. */
const maxBlocks = 1_000;

export function createBlockStore({ sql, write }: Pick<Database, 'sql' | 'write'>): BlockStore {
  async function liftIn(tx: Transaction, actor: Actor, block: Block): Promise<void> {
    await tx.sql.$executeRaw`delete from block where id = ${block.id}::uuid`;
    const changed = changedMembers(audited(block), {});
    tx.audit(actorFor(actor, block), 'block.lifted', `block:${block.id}`, { ...audited(block), changed });
    await beginRelease(tx, block);
    recordChange(tx, block, 'block.lifted');
  }

  return {
    create: (actor, { tenant, kind, value, reason, endsAt, byOperator }, request) =>
      write(async (tx) => {
        const id = uuidv7();
        const earlier = await claimKey(tx.sql, request, id);
        if (earlier !== undefined) return { ...(await repeated(tx.sql, earlier)), replayed: true };
        // Equal blocks that are requested at once wait here for each other.
        await lockRegistry(tx.sql, `blocks ${tenant}`);
        const end = endsAt?.toISOString() ?? null;
        const [equal] = await tx.sql.$queryRaw<BlockRow[]>`
          select * from block where tenant = ${tenant} and kind = ${kind} and value = ${value}
            and byoperator = ${byOperator} and endsat is not distinct from ${end}::timestamptz
          order by id limit 1`;
        if (equal !== undefined) {
          await noteResource(tx.sql, request, `equal ${equal.id}`);
          return { block: blockOf(equal), isNew: false, replayed: false };
        }
        const [present] = await tx.sql.$queryRaw<Array<{ count: number }>>`
          select count(*)::int as count from block where tenant = ${tenant}`;
        if ((present?.count ?? 0) >= maxBlocks) {
          throw new RegistryError(
            'quota_exceeded',
            `There may be ${maxBlocks} blocks. Lift one, or block a domain or a network.`,
          );
        }
        const [row] = await tx.sql.$queryRaw<BlockRow[]>`
          insert into block (id, tenant, kind, value, reason, endsat, createdby, createdbyperson, byoperator)
          values (${id}::uuid, ${tenant}, ${kind}, ${value}, ${reason}, ${end}::timestamptz,
            ${actor.name}, ${storedPerson(actor)}::jsonb, ${byOperator})
          returning *`;
        if (row === undefined) throw new Error('An inserted row was not returned.');
        const block = blockOf(row);
        const changed = changedMembers({}, audited(block));
        tx.audit(actorFor(actor, block), 'block.created', `block:${id}`, { ...audited(block), changed });
        await beginAnnouncement(tx, block);
        recordChange(tx, block, 'block.created');
        return { block, isNew: true, replayed: false };
      }),

    effectOf: (block) => effectOf(sql, block),

    announcement: (block) => readAnnouncement(sql, block),

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
      const errors: unknown[] = [];
      for (let after = beforeAllIds; ;) {
        const [ended] = await sql.$queryRaw<Array<{ id: string }>>`
          select id from block where endsat <= now() and id > ${after}::uuid order by id limit 1`;
        if (ended === undefined) break;
        after = ended.id;
        await write(async (tx) => {
          const [row] = await tx.sql.$queryRaw<BlockRow[]>`
            select * from block where id = ${after}::uuid and endsat <= now() for update skip locked`;
          if (row !== undefined) await liftIn(tx, service(row.tenant), blockOf(row));
        }).catch((error: unknown) => errors.push(error));
      }
      // One that fails stops no other one.
      if (errors.length > 0) throw errors[0];
    },
  };
}

/** What an earlier request with the same key created or found. */
async function repeated(sql: Sql, resource: string): Promise<Omit<CreatedBlock, 'replayed'>> {
  const isNew = !resource.startsWith('equal ');
  return { block: await findBlock(sql, undefined, isNew ? resource : resource.slice('equal '.length)), isNew };
}

/** The one change that followers need: they compare what they know with the block. */
function recordChange(tx: Transaction, { id, tenant }: Block, kind: 'block.created' | 'block.lifted'): void {
  tx.change({ kind, tenant, origin: '', sink: '', block: id });
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
  const shown = kind === 'sink' ? withoutQuery(value) : value;
  return { kind, value: shown, reason, expiresat: endsAt, ...(tenant === everyTenant ? { tenant } : {}) };
}
