// Admins write origins and their policy. All other code reads them, within the transaction of its decision.

import { RegistryError } from '../../base/errors.js';
import { pageOf, type ListPage } from '../http/page.js';
import { changedMembers } from '../storage/columns.js';
import { isUniqueViolation } from '../storage/database-errors.js';
import { service, type Database, type Sql, type Actor, type Transaction } from '../storage/database.js';
import type { Vault } from '../storage/vault.js';
import { insertRows, updateRows, written } from '../storage/rows.js';
import type { origin as OriginRow } from '../storage/generated/client.js';
import { claimKey, type IdempotentRequest } from '../storage/idempotency.js';
import { nameTexts, originTexts } from '../../base/texts/origins.js';
import type { Origin, OriginPolicy } from '../../consent/origin.js';
import { originOf, policyMembers } from './columns.js';
import { storeProof } from './check-proof.js';
import type { Proved } from './domain-proof.js';
import { insertKey, makeKey, type MadeKey } from './keys.js';

export interface OriginStore {
  create(actor: Actor, origin: NewOrigin, request: IdempotentRequest): Promise<Created>;
  /** Whose the name is; undefined if nobody has it. */
  holderOf(name: string): Promise<Holder | undefined>;
  /**
   * Creates an origin whose name another tenant holds unverified, after the proof: what depends on the other one is removed with
   * it. Throws RegistryError `origin_exists` if the name is not as it was held any more.
   */
  take(actor: Actor, origin: NewOrigin, holder: Holder, proved: Proved, request: IdempotentRequest): Promise<Created>;
  /** Throws RegistryError `origin_not_found` for an origin that is not the tenant's. */
  read(tenant: string, name: string): Promise<Origin>;
  list(tenant: string, query: OriginQuery): Promise<ListPage<Origin>>;
  /** `policyFor` gets the current origin, under lock. */
  replace(actor: Actor, name: string, policyFor: (present: Origin) => OriginPolicy): Promise<Origin>;
  /** `check` gets the origin, under lock, before it is removed. Returns the removed origin. */
  remove(actor: Actor, name: string, check: (present: Origin) => void): Promise<Origin>;
}

interface OriginQuery {
  after: string | undefined;
  limit: number;
  /** Only those that notices come from. */
  notices: boolean | undefined;
}

export interface NewOrigin {
  name: string;
  /** Gets whether the tenant has no other origin. */
  policyFor: PolicyOfNew;
}

/** `directory` tells an origin from a later one with its name. */
export type Holder = Pick<Origin, 'tenant' | 'directory' | 'verifiedBy'>;

type PolicyOfNew = (isFirst: boolean) => OriginPolicy;

export interface Created {
  origin: Origin;
  replayed: boolean;
}

export interface OriginStoreSettings {
  database: Database;
  vault: Pick<Vault, 'seal'>;
  /** Removes what depends on an origin, in the transaction of its removal. */
  removeDependents: (tx: Transaction, actor: Actor, origin: string) => Promise<void>;
  /** The same for its subscriptions, which otherwise keep it. Returns how many. */
  removeSubscriptions: (tx: Transaction, actor: Actor, origin: string, maxRows: number) => Promise<number>;
  /** New origins can have subscriptions only while they are verified. */
  mustVerify: boolean;
}

/** Subscriptions that one transaction removes. */
const maxRemoved = 500;

export function createOriginStore({
  database,
  vault,
  removeDependents,
  removeSubscriptions,
  mustVerify,
}: OriginStoreSettings): OriginStore {
  async function refuseTaken<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw isUniqueViolation(error) ? nameTaken(name, error) : error;
    }
  }

  async function repeated(tx: Transaction, actor: Actor, { name }: NewOrigin, request: IdempotentRequest) {
    const earlier = await claimKey(tx.sql, request, name);
    return earlier === undefined
      ? undefined
      : { origin: await findOrigin(tx.sql, actor.tenant, earlier), replayed: true };
  }

  async function insert(
    tx: Transaction,
    actor: Actor,
    { name, policyFor }: NewOrigin,
    key: MadeKey,
    proved?: Proved,
  ): Promise<Created> {
    const { sql } = tx;
    await lockDefault(sql, actor.tenant);
    const [{ isfirst }] = await sql.$queryRaw<[{ isfirst: boolean }]>`
      select not exists (select from origin where tenant = ${actor.tenant}) as isfirst`;
    const policy = policyFor(isfirst);
    const previous = policy.isDefault ? await clearDefault(sql, actor.tenant) : undefined;
    const columns = { name, tenant: actor.tenant, mustverify: mustVerify, ...policyMembers.write(policy) };
    const [created] = await sql.$queryRaw<[OriginRow]>`${insertRows('origin', [columns])} returning *`;
    await insertKey(sql, actor, name, { ...key, startsat: created.createdat });
    record(tx, actor, 'origin.created', name, { before: undefined, after: policy });
    if (previous) recordCleared(tx, actor, previous);
    const origin = originOf(created);
    return { origin: proved === undefined ? origin : await storeProof(tx, actor, origin, proved), replayed: false };
  }

  return {
    async create(actor, origin, request) {
      const key = await makeKey(vault, actor.tenant);
      return refuseTaken(origin.name, () =>
        database.write(async (tx) => (await repeated(tx, actor, origin, request)) ?? insert(tx, actor, origin, key)),
      );
    },

    async holderOf(name) {
      const [row] = await database.sql.$queryRaw<OriginRow[]>`select * from origin where name = ${name}`;
      return row && originOf(row);
    },

    async take(actor, origin, holder, proved, request) {
      const key = await makeKey(vault, actor.tenant);
      const { name } = origin;
      const loser = service(holder.tenant);
      // No registration, verification or other claim gets between: all of them lock the origin. Registrations end here.
      const lockHeld = async (sql: Sql) => {
        const held = await sql.$executeRaw`
          update origin set mustverify = true where name = ${name} and tenant = ${holder.tenant}
            and directory = ${holder.directory}::uuid and verifiedby is null`;
        if (held === 0) throw nameTaken(name);
      };
      // However many it has: a transaction for all of them would last too long.
      let subscriptions = 0;
      for (let removed = maxRemoved; removed === maxRemoved;) {
        removed = await database.write(async (tx) => {
          await lockHeld(tx.sql);
          return removeSubscriptions(tx, loser, name, maxRemoved);
        });
        subscriptions += removed;
      }
      return refuseTaken(name, () =>
        database.write(async (tx) => {
          const { sql } = tx;
          const earlier = await repeated(tx, actor, origin, request);
          if (earlier !== undefined) return earlier;
          await lockHeld(sql);
          subscriptions += await removeSubscriptions(tx, loser, name, maxRemoved);
          await sql.$executeRaw`delete from origin where name = ${name}`;
          await removeDependents(tx, loser, name);
          tx.audit(loser, 'origin.lost', `origin:${name}`, { by: proved.place, subscriptions });
          tx.change({ kind: 'origin.changed', tenant: holder.tenant, origin: name, sink: '' });
          return insert(tx, actor, origin, key, proved);
        }),
      );
    },

    read: (tenant, name) => findOrigin(database.sql, tenant, name),

    async list(tenant, { after, limit, notices }) {
      const rows = await database.client.origin.findMany({
        where: {
          tenant,
          ...(notices === true && { notices }),
          ...(after === undefined ? {} : { name: { gt: after } }),
        },
        orderBy: { name: 'asc' },
        take: limit + 1,
      });
      return pageOf(rows.map(originOf), limit, (origin) => origin.name);
    },

    replace: (actor, name, policyFor) =>
      database.write(async (tx) => {
        const { sql } = tx;
        const before = await lockOrigin(sql, actor.tenant, name);
        const policy = policyFor(before);
        const isMoved = policy.isDefault && !before.isDefault;
        if (isMoved) await lockDefault(sql, actor.tenant);
        const previous = isMoved ? await clearDefault(sql, actor.tenant) : undefined;
        const [row] = await sql.$queryRaw<[OriginRow]>`
          ${updateRows('origin', ['name'], [{ name, ...policyMembers.write(policy) }], written)} returning t.*`;
        record(tx, actor, 'origin.replaced', name, { before, after: policy });
        if (previous) recordCleared(tx, actor, previous);
        return originOf(row);
      }),

    remove: (actor, name, check) =>
      database.write(async (tx) => {
        const { sql } = tx;
        const origin = await lockOrigin(sql, actor.tenant, name);
        check(origin);
        const [{ subscriptions }] = await sql.$queryRaw<[{ subscriptions: number }]>`
          select count(*)::int as subscriptions from subscription where origin = ${name}`;
        if (subscriptions > 0) {
          throw new RegistryError(
            'origin_in_use',
            `${subscriptions} subscription(s) use this origin. Delete them first.`,
          );
        }
        await sql.$executeRaw`delete from origin where name = ${name}`;
        await removeDependents(tx, actor, name);
        record(tx, actor, 'origin.removed', name, { before: origin, after: undefined });
        return origin;
      }),
  };
}

function nameTaken(name: string, cause?: unknown): RegistryError {
  const detail = nameTexts.taken(name);
  const faults = [{ pointer: '/name', rule: 'origin_exists' as const, detail }];
  return new RegistryError('origin_exists', detail, { cause, faults });
}

/** Until the transaction ends, no other one chooses the default origin of the tenant. */
async function lockDefault(sql: Sql, tenant: string): Promise<void> {
  const name = `default origin of ${tenant}`;
  await sql.$queryRaw`select pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || ${name}, 0))::text`;
}

/** Returns the origin that was the default; undefined if there was none. Needs `lockDefault`. */
async function clearDefault(sql: Sql, tenant: string): Promise<Origin | undefined> {
  const [row] = await sql.$queryRaw<OriginRow[]>`
    update origin t set isdefault = false ${written} where tenant = ${tenant} and isdefault returning t.*`;
  return row && originOf(row);
}

/** After the entry of the new default origin: whoever follows the changes never sees a tenant without one. */
function recordCleared(tx: Transaction, actor: Actor, previous: Origin): void {
  record(tx, actor, 'origin.replaced', previous.name, { before: { ...previous, isDefault: true }, after: previous });
}

interface PolicyChange {
  before: OriginPolicy | undefined;
  after: OriginPolicy | undefined;
}

function record(tx: Transaction, actor: Actor, action: string, name: string, { before, after }: PolicyChange): void {
  const [was, is] = [membersOf(before), membersOf(after)];
  // The rules can be long, so an entry has them only if they changed.
  const { subscriptionrules: _, ...detail } = is;
  tx.audit(actor, action, `origin:${name}`, { ...detail, changed: changedMembers(was, is) });
  tx.change({ kind: 'origin.changed', tenant: actor.tenant, origin: name, sink: '' });
}

function membersOf(policy: OriginPolicy | undefined): Record<string, unknown> {
  return policy === undefined ? {} : policyMembers.audited(policy);
}

/** Throws RegistryError `origin_not_found` for an origin that is not the tenant's. */
export async function findOrigin(sql: Sql, tenant: string, name: string): Promise<Origin> {
  const [row] = await sql.$queryRaw<OriginRow[]>`select * from origin where name = ${name} and tenant = ${tenant}`;
  if (row === undefined) throw new RegistryError('origin_not_found', originTexts.unknown);
  return originOf(row);
}

/** The origin of subscriptions that name none; undefined if the tenant has no default. */
export async function findDefaultOrigin(sql: Sql, tenant: string): Promise<Origin | undefined> {
  const [row] = await sql.$queryRaw<OriginRow[]>`select * from origin where tenant = ${tenant} and isdefault`;
  return row === undefined ? undefined : originOf(row);
}

export async function lockOrigin(sql: Sql, tenant: string, name: string): Promise<Origin> {
  await sql.$queryRaw`select 1 from origin where name = ${name} and tenant = ${tenant} for update`;
  return findOrigin(sql, tenant, name);
}
