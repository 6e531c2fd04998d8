import { isBlockedPair } from '../blocks/find-blocks.js';
import { RegistryError } from '../../base/errors.js';
import type { FoundPage } from '../http/page.js';
import type { Database, Sql } from '../storage/database.js';
import { Prisma, type grant as GrantRow } from '../storage/generated/client.js';
import { isUuid } from '../../base/files/ids.js';
import { openStatesSql } from '../storage/rows.js';
import {
  allIds,
  allOf,
  countFirst,
  countMatches,
  findPage,
  firstOfSearch,
  firstOf,
  given,
  sinkContains,
  timesWithin,
  type ExpirySort,
  type PairQuery,
  type SearchKey,
  type Part,
  type SearchCount,
  type SearchPlan,
  type Way,
} from '../storage/search.js';
import { grantTexts } from '../../base/texts/grants.js';
import type { Basis, Standing } from '../../consent/decision.js';
import { keyOfPair, type Grant, type Pair } from '../../consent/grant.js';
import { grantMembers } from './columns.js';

/** A grant as it is now: under a block it is blocked, and after its expiry it is expired, whatever its row says. */
export type PresentGrant = Omit<Grant, 'state'> & { state: Standing };

export interface GrantQuery extends PairQuery {
  tenant: string;
  state?: Standing | undefined;
  basis?: Basis | undefined;
  expiressince?: Date | undefined;
  expiresuntil?: Date | undefined;
  renews?: boolean | undefined;
  held?: boolean | undefined;
  sort?: ExpirySort | undefined;
  /** Whether to count all that match. */
  count?: boolean | undefined;
  after: string | undefined;
  limit: number;
}

export interface GrantReader {
  /** RegistryError `grant_not_found` for a grant of another tenant. */
  read(tenant: string, id: string): Promise<PresentGrant>;
  list(query: GrantQuery): Promise<FoundPage<PresentGrant>>;
  /** How many are live. `hasBlocks`: some may be blocked. */
  countLive(tenant: string, hasBlocks: boolean): Promise<SearchCount>;
  /** What an admin has to know: grants that end soon without a renewal, and those on hold. Each with the first few. */
  attention(tenant: string): Promise<GrantAttention[]>;
}

interface GrantAttention {
  group: 'ending' | 'held';
  count: number;
  /** How many of them are in the group for less than a day. Undefined where that isn't known. */
  recent?: number;
  isAtLeast: boolean;
  grants: PresentGrant[];
}

/** Soon enough to attend to. */
const soonMs = 30 * 86_400_000;

type Row = GrantRow & { standing: Standing };
// By the database's clock, like every expiry.
const standing = Prisma.sql`grant_standing(t.state, ${isBlockedPair(Prisma.sql`t`)}, t.expiresat, now())`;

/** `now`: milliseconds since 1970 by the clock of the database. */
export function createGrantReader(database: Database, now: () => number): GrantReader {
  const { sql } = database;
  return {
    async read(tenant, id) {
      return presentGrant(await findGrant(sql, tenant, id));
    },

    async list(query) {
      const wanted = searchFor(query, new Date(now()));
      const { ids, next, examined } = await findPage(sql, wanted, query.after, query.limit);
      const entries = await readGrants(sql, ids);
      const total = query.count ? await countMatches(sql, wanted) : undefined;
      return { entries, next, examined, total };
    },

    countLive(tenant, hasBlocks) {
      const live = searchFor({ tenant, state: 'live', sort: 'expiresat', after: undefined, limit: 0 }, new Date(now()));
      // The span leaves out the expired ones. To look for a block of each costs as much again.
      return countMatches(sql, hasBlocks ? live : { ...live, test: Prisma.sql`t.state = 'live'` });
    },

    async attention(tenant) {
      const live = { tenant, state: 'live', after: undefined, limit: 0 } as const;
      const at = new Date(now());
      const soon = new Date(now() + soonMs);
      const ending = searchFor({ ...live, renews: false, expiresuntil: soon, sort: 'expiresat' }, at);
      const [first, { recent: _, ...held }] = await Promise.all([
        countFirst(sql, { ...ending, details: soonSince }, firstOfSearch(ending)),
        countFirst(sql, { ...searchFor({ ...live, held: true }, at), details: noTime }, heldGrants(tenant)),
      ]);
      const groups = [
        { group: 'ending' as const, ...first },
        { group: 'held' as const, ...held },
      ];
      return Promise.all(groups.map(async ({ ids, ...group }) => ({ ...group, grants: await readGrants(sql, ids) })));
    },
  };
}

/** Of `t`, which ends soon: when its end came near, or when it was left without a renewal. */
const soonSince = Prisma.sql`
  select greatest(t.expiresat - interval '30 days', t.grantedat, (
    select max(h.finishedat) from handshake h where h.origin = t.origin and h.sink = t.sink and h.trigger = 'renewal')) as since`;
/** A hold has an end, and no beginning. */
const noTime = Prisma.sql`select null::timestamptz as since`;

/** In the order of the ids. */
async function readGrants(sql: Sql, ids: readonly string[]): Promise<PresentGrant[]> {
  if (ids.length === 0) return [];
  const rows = await sql.$queryRaw<Row[]>`
    select t.*, ${standing} as standing from "grant" t where t.id = any (${ids}::uuid[])`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []).map(presentGrant);
}

/** Those whose hold ends first, first. */
const heldGrants = (tenant: string) => Prisma.sql`
  select g.id from "grant" g where g.tenant = ${tenant} and g.helduntil > now() order by g.helduntil`;

function searchFor(query: GrantQuery, now: Date): SearchPlan {
  const { tenant, origin, sink, host, sinkcontains, subscriber, state, basis, renews, held, sort } = query;
  const { expiressince, expiresuntil } = query;
  const ofTenant: SearchKey[number] = [Prisma.sql`t.tenant`, tenant];
  const since = expiressince?.toISOString();
  const until = expiresuntil?.toISOString();
  const isFinal = state === 'live' && renews === false;
  const expiring = (end: Prisma.Sql) => Prisma.sql`
    select g.id from "grant" g
    where g.tenant = ${tenant} and g.expiresat < ${end} ${since === undefined ? Prisma.empty : Prisma.sql`and g.expiresat >= ${since}::timestamptz`}
    order by g.expiresat`;
  // In the order of their expiry, they are the span.
  const expiries: Array<Way | undefined> = sort
    ? []
    : [
        state === 'expired' ? { few: expiring(Prisma.sql`now()`) } : undefined,
        given(until, (at) => ({ few: expiring(Prisma.sql`${at}::timestamptz`) })),
        isFinal
          ? { few: firstOf(Prisma.sql`select g.id from "grant" g`, finalGrants(Prisma.sql`g`, tenant)) }
          : undefined,
      ];
  const ways: Array<Way | undefined> = [
    given(sink, (uri) => ({
      few: Prisma.sql`
        select p.id from origin o, lateral (
          select g.id from "grant" g where g.origin = o.name and g.sink = ${uri} offset 0) p
        where o.tenant = ${tenant}`,
    })),
    given(host, (name) => ({ key: [ofTenant, [Prisma.sql`sink_host(t.sink)`, name]] })),
    given(subscriber, (name) => ({
      few: Prisma.sql`
        select s.origin, s.sink from subscription s where s.tenant = ${tenant} and s.subscriber = ${name}`,
      ids: Prisma.sql`
        select g.id from few, lateral (
          select p.id from "grant" p where p.origin = few.origin and p.sink = few.sink offset 0) g`,
    })),
    given(origin, (name) => ({
      few: firstOf(Prisma.sql`select g.id from "grant" g`, { key: [[Prisma.sql`g.origin`, name]] }),
      isUsuallyMany: true,
    })),
    state === 'ended' || state === 'revoked' ? grantsOver(Prisma.sql`t`, tenant, state) : undefined,
    basis === undefined || basis === 'response' ? undefined : grantsOnBasis(Prisma.sql`t`, tenant, basis),
    held === true ? { few: heldGrants(tenant) } : undefined,
    ...expiries,
  ];
  return {
    table: Prisma.sql`"grant" t`,
    ways: ways.filter((way) => way !== undefined),
    ...(sort
      ? {
          order: { time: Prisma.sql`t.expiresat`, isDescending: sort === '-expiresat' },
          whole: isFinal ? finalGrants(Prisma.sql`t`, tenant) : { key: [ofTenant] },
          span: timesWithin(
            state === 'live' && (expiressince ?? now) <= now ? now : expiressince,
            state === 'expired' && (expiresuntil ?? now) >= now ? now : expiresuntil,
          ),
        }
      : { order: { isDescending: false }, whole: { key: [ofTenant] }, span: allIds }),
    test: allOf([
      Prisma.sql`t.tenant = ${tenant}`,
      given(origin, (name) => Prisma.sql`t.origin = ${name}`),
      given(sink, (uri) => Prisma.sql`t.sink = ${uri}`),
      given(sinkcontains, sinkContains),
      given(state, (value) => Prisma.sql`${value} = ${standing}`),
      given(basis, (value) => Prisma.sql`t.basis = ${value}`),
      given(since, (at) => Prisma.sql`t.expiresat >= ${at}::timestamptz`),
      given(until, (at) => Prisma.sql`t.expiresat < ${at}::timestamptz`),
      given(renews, (value) => Prisma.sql`${renewal(Prisma.sql`t`)} = ${value}`),
      given(held, (value) => Prisma.sql`coalesce(t.helduntil > now(), false) = ${value}`),
      given(subscriber, (name) => usesPair(tenant, name)),
    ]),
    isCostly: subscriber !== undefined,
  };
}

/** Whether Assent will ask for this consent again, or is asking now. */
function renewal(grant: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(${grant}.renewat is not null or exists (
    select from handshake h where h.origin = ${grant}.origin and h.sink = ${grant}.sink and h.trigger = 'renewal'
      and h.state in ${openStatesSql}))`;
}

/** The index of live grants that end without a renewal, except those that are being renewed now. It continues with their expiry. */
function finalGrants(table: Prisma.Sql, tenant: string): Part {
  return {
    key: [[Prisma.sql`${table}.tenant`, tenant]],
    only: Prisma.sql`${table}.state = 'live' and ${table}.renewat is null`,
  };
}

/** The index of grants that are over. */
export function grantsOver(table: Prisma.Sql, tenant: string, state: string): Part {
  return {
    key: [
      [Prisma.sql`${table}.tenant`, tenant],
      [Prisma.sql`${table}.state`, state],
    ],
    only: Prisma.sql`${table}.state <> 'live'`,
  };
}

/** The index of grants that a 410 ended. */
export function goneGrants(table: Prisma.Sql, tenant: string): Part {
  return {
    key: [[Prisma.sql`${table}.tenant`, tenant]],
    only: Prisma.sql`${table}.state = 'ended' and ${table}.endcode = 'target_gone'`,
  };
}

/** The index of grants with another basis than a response. */
export function grantsOnBasis(table: Prisma.Sql, tenant: string, basis: Basis): Part {
  return {
    key: [
      [Prisma.sql`${table}.tenant`, tenant],
      [Prisma.sql`${table}.basis`, basis],
    ],
    only: Prisma.sql`${table}.basis <> 'response'`,
  };
}

/**
 * Whether a subscription of this subscriber is for the pair of `t`. Of a pair with many subscriptions, the planner would
 * otherwise read all that the subscriber has: `offset 0`.
 */
function usesPair(tenant: string, subscriber: string): Prisma.Sql {
  return Prisma.sql`exists (
    select 1 from (
      select s.tenant, s.subscriber from subscription s where s.origin = t.origin and s.sink = t.sink offset 0) s
    where s.tenant = ${tenant} and s.subscriber = ${subscriber})`;
}

/** The grant of a pair, of any tenant. */
export async function findGrantOf(sql: Sql, { origin, sink }: Omit<Pair, 'tenant'>): Promise<GrantRow | undefined> {
  return (await sql.$queryRaw<GrantRow[]>`select * from "grant" where origin = ${origin} and sink = ${sink}`)[0];
}

/** The grants of an origin for these sinks, as they are now. */
export async function findGrantsOf(
  sql: Sql,
  tenant: string,
  origin: string,
  sinks: readonly string[],
): Promise<PresentGrant[]> {
  const rows = await sql.$queryRaw<Row[]>`
    select t.*, ${standing} as standing from "grant" t
    where t.origin = ${origin} and t.sink = any (${sinks}::text[]) and t.tenant = ${tenant}`;
  return rows.map(presentGrant);
}

/** The pairs among these, as `keyOfPair`, whose grant an admin revoked. */
export async function revokedAmong(sql: Sql, pairs: ReadonlyArray<Omit<Pair, 'tenant'>>): Promise<Set<string>> {
  const each = (member: 'origin' | 'sink') => [...new Set(pairs.map((pair) => pair[member]))];
  const rows = await sql.$queryRaw<Array<Pick<GrantRow, 'origin' | 'sink'>>>`
    select origin, sink from "grant"
    where origin = any (${each('origin')}::text[]) and sink = any (${each('sink')}::text[]) and state = 'revoked'`;
  return new Set(rows.map(keyOfPair));
}

/** RegistryError `grant_not_found` for a grant of another tenant. */
export async function findGrant(sql: Sql, tenant: string, id: string): Promise<Row> {
  const rows = isUuid(id)
    ? await sql.$queryRaw<Row[]>`
        select t.*, ${standing} as standing from "grant" t where t.id = ${id}::uuid and t.tenant = ${tenant}`
    : [];
  if (rows[0] === undefined) throw new RegistryError('grant_not_found', grantTexts.notFound);
  return rows[0];
}

/** As findGrant, with the row locked until the transaction ends. */
export async function lockGrant(sql: Sql, tenant: string, id: string): Promise<Row> {
  if (isUuid(id)) {
    await sql.$queryRaw`select 1 from "grant" where id = ${id}::uuid and tenant = ${tenant} for update`;
  }
  return findGrant(sql, tenant, id);
}

function presentGrant(row: Row): PresentGrant {
  return { ...grantMembers.read(row), state: row.standing };
}
