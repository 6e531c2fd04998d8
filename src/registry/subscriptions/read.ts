import type { BlockKind } from '../blocks/block.js';
import { isBlockedPair, isBlockedSubscriber } from '../blocks/find-blocks.js';
import { RegistryError } from '../../base/errors.js';
import type { Basis } from '../../consent/decision.js';
import type { Grant } from '../../consent/grant.js';
import { grantsOnBasis, grantsOver } from '../grants/read.js';
import { handshakesInState, handshakesWithVerdict } from '../handshake/find-handshakes.js';
import {
  openStates,
  type HandshakeTrigger,
  type HandshakeState,
  type HeaderLine,
  type RejectedCallback,
} from '../../consent/handshake.js';
import { statusDetailCodes, type Status, type StatusDetailCode } from '../../consent/status.js';
import { publicVerdict, type Verdict } from '../../consent/verdicts.js';
import type { FoundPage } from '../http/page.js';
import type { Principal } from '../../base/contract/principal.js';
import type { Profile } from '../../consent/origin.js';
import { storedRate } from '../../consent/rate.js';
import { createBatcher } from '../storage/batch.js';
import { trusted } from '../storage/columns.js';
import type { Database, Sql } from '../storage/database.js';
import { Prisma, type subscription as SubscriptionRow } from '../storage/generated/client.js';
import { isUuid } from '../../base/files/ids.js';
import {
  allOf,
  countMatches,
  countPart,
  createdWithin,
  findPage,
  firstOf,
  given,
  idsWithin,
  sinkContains,
  timesWithin,
  type CreationSort,
  type ExpirySort,
  type PairQuery,
  type SearchKey,
  type Part,
  type SearchPlan,
  type Way,
} from '../storage/search.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import { presentSecrets } from './secrets.js';
import { definitionMembers, type Subscription, type SubscriptionStatus, type SuspendedBy } from './columns.js';

export interface SubscriptionQuery extends PairQuery {
  source?: string | undefined;
  type?: string | undefined;
  subject?: string | undefined;
  status?: Status | undefined;
  /** Of `statusdetails`. */
  code?: StatusDetailCode | undefined;
  createdsince?: Date | undefined;
  createduntil?: Date | undefined;
  expiressince?: Date | undefined;
  expiresuntil?: Date | undefined;
  sort?: CreationSort | ExpirySort | undefined;
  /** Whether to count all that match. */
  count?: boolean | undefined;
  after: string | undefined;
  limit: number;
}

export interface SubscriptionReader {
  /** Throws RegistryError `subscription_not_found` for a subscription that the principal may not see. */
  read(principal: Principal, id: string): Promise<Subscription>;
  /** The subscriptions that the principal may see; the oldest first, unless another order is asked for. */
  list(principal: Principal, query: SubscriptionQuery): Promise<FoundPage<Subscription>>;
  /** Those that the principal may see, in the order of their ids. */
  readMany(principal: Principal, ids: readonly string[]): Promise<Subscription[]>;
}

/** `now`: milliseconds since 1970 by the clock of the database. */
export function createSubscriptionReader({ sql }: Database, now: () => number): SubscriptionReader {
  const read = createBatcher<string, Row | undefined>({ run: (take) => readRows(sql, take()), maxBatch: 200 });
  return {
    async read(principal, id) {
      return visible(principal, isUuid(id) ? await read(id) : undefined);
    },

    async readMany(principal, ids) {
      const rows = ids.length === 0 ? [] : await readRows(sql, ids);
      return rows.filter((row) => isVisible(principal, row)).map((row) => subscriptionOf(principal, row));
    },

    async list(principal, query) {
      const wanted = searchFor(principal, query, new Date(now()));
      const { ids, next, examined } = await findPage(sql, wanted, query.after, query.limit);
      const rows = ids.length === 0 ? [] : await readRows(sql, ids);
      const entries = rows.filter((row) => row !== undefined).map((row) => subscriptionOf(principal, row));
      return { entries, next, examined, total: query.count ? await countMatches(sql, wanted) : undefined };
    },
  };
}

function searchFor(principal: Principal, query: SubscriptionQuery, now: Date): SearchPlan {
  const { tenant } = principal;
  const { expiressince, expiresuntil, sort } = query;
  const { source, type, subject, sink, host, sinkcontains, origin, status, code, createdsince, createduntil } = query;
  const isAdmin = principal.scopes.has('assent:admin');
  const subscriber = isAdmin ? query.subscriber : principal.subscriber;
  const ofTenant: SearchKey[number] = [Prisma.sql`t.tenant`, tenant];
  const ways: Array<Way | undefined> = [
    given(sink, (uri) => ({
      few: Prisma.sql`
        select p.id from origin o, lateral (
          select s.id from subscription s where s.origin = o.name and s.sink = ${uri} offset 0) p
        where o.tenant = ${tenant}`,
    })),
    given(host, (name) => ({ key: [ofTenant, [Prisma.sql`sink_host(t.sink)`, name]] })),
    given(origin, (name) => ({
      few: firstOf(Prisma.sql`select s.id from subscription s`, { key: [[Prisma.sql`s.origin`, name]] }),
      isUsuallyMany: true,
    })),
    status === 'suspended' || code === 'suspended'
      ? { key: [ofTenant], only: Prisma.sql`t.suspendedat is not null` }
      : undefined,
    candidatesOf(tenant, status, code),
  ];
  const ofCaller: Part = {
    key: [ofTenant, ...(given(subscriber, (name): SearchKey => [[Prisma.sql`t.subscriber`, name]]) ?? [])],
  };
  const ends: Part = { key: [ofTenant], only: Prisma.sql`t.endsat is not null` };
  const hasNotEnded = status !== undefined && status !== 'expired';
  return {
    table: Prisma.sql`subscription t`,
    ...(sort === 'expiresat' || sort === '-expiresat'
      ? {
          order: { time: Prisma.sql`t.endsat`, isDescending: sort === '-expiresat' },
          ways: [...ways, subscriber === undefined ? undefined : ofCaller].filter((way) => way !== undefined),
          whole: ends,
          span: timesWithin(hasNotEnded && (expiressince ?? now) <= now ? now : expiressince, expiresuntil),
        }
      : {
          order: { isDescending: sort === '-createdat' },
          ways: [...ways, endsWithin(tenant, expiressince, expiresuntil)].filter((way) => way !== undefined),
          whole: ofCaller,
          span: idsWithin(createdsince, createduntil),
        }),
    test: allOf([
      visibleTo(principal),
      given(query.subscriber, (name) => Prisma.sql`t.subscriber = ${name}`),
      given(source, (text) => Prisma.sql`t.source = ${text}`),
      given(subject, (text) => Prisma.sql`t.subject = ${text}`),
      given(sink, (uri) => Prisma.sql`t.sink = ${uri}`),
      given(sinkcontains, sinkContains),
      given(origin, (name) => Prisma.sql`t.origin = ${name}`),
      given(type, (name) => Prisma.sql`t.types @> array[${name}::text]`),
      createdWithin(createdsince, createduntil),
      given(expiressince, (at) => Prisma.sql`t.endsat >= ${at.toISOString()}::timestamptz`),
      given(expiresuntil, (at) => Prisma.sql`t.endsat < ${at.toISOString()}::timestamptz`),
      hasStatus(status, code),
    ]),
    isCostly: status !== undefined || code !== undefined,
  };
}

/** Few subscriptions have an end. */
function endsWithin(tenant: string, since: Date | undefined, until: Date | undefined): Way | undefined {
  if (since === undefined && until === undefined) return undefined;
  return {
    few: Prisma.sql`
      select s.id from subscription s where ${allOf([
        Prisma.sql`s.tenant = ${tenant} and s.endsat is not null`,
        given(since, (at) => Prisma.sql`s.endsat >= ${at.toISOString()}::timestamptz`),
        given(until, (at) => Prisma.sql`s.endsat < ${at.toISOString()}::timestamptz`),
      ])} order by s.endsat`,
  };
}

/** Admins see all subscriptions of the tenant, subscribers see their own. */
export function visibleTo({ tenant, subscriber, scopes }: Principal): Prisma.Sql {
  return scopes.has('assent:admin')
    ? Prisma.sql`t.tenant = ${tenant}`
    : Prisma.sql`t.tenant = ${tenant} and t.subscriber = ${subscriber}`;
}

/**
 * The view decides. Before it, this tests what the status implies for the subscription and its grant, because the view
 * looks up the handshakes as well. `offset 0` keeps the planner to one look-up for each row.
 */
export function hasStatus(status: Status | undefined, code: StatusDetailCode | undefined): Prisma.Sql | undefined {
  const known = impliedBy(status, code);
  if (known?.isExact !== false) return known?.test;
  return allOf([
    known.test,
    Prisma.sql`(select ${allOf([
      given(status, (value) => Prisma.sql`d.status = ${value}`),
      given(code, (value) => Prisma.sql`d.code = ${value}`),
    ])} from subscription_status d where d.id = t.id offset 0)`,
  ]);
}

/** What a status or code implies for the subscription `t` and its grant. If that is not exact, the view decides. */
export function impliedBy(
  status: Status | undefined,
  code: StatusDetailCode | undefined,
): { test: Prisma.Sql; isExact: boolean } | undefined {
  if (status === undefined && code === undefined) return undefined;
  const implied = status ?? (code === undefined ? undefined : statusDetailCodes[code].status);
  const isOther = code !== undefined && ![undefined, implied].includes(statusDetailCodes[code].status);
  if (implied === 'blocked' || isOther) {
    const test = Prisma.sql`(t.endedat is null and coalesce(t.endsat > now(), true)
      and (${isBlockedPair(Prisma.sql`t`)} or ${isBlockedSubscriber(Prisma.sql`t`)})
      and ${!isOther && [undefined, 'blocked'].includes(code)})`;
    return { test, isExact: true };
  }
  const hasGrant = Prisma.sql`coalesce((
    select g.state = 'live' and g.expiresat > now() from "grant" g where g.origin = t.origin and g.sink = t.sink), false)`;
  const test =
    implied === 'suspended'
      ? Prisma.sql`t.suspendedat is not null`
      : implied === 'expired'
        ? Prisma.sql`(t.endedat is not null or t.endsat <= now() or (t.suspendedat is null and not ${hasGrant}))`
        : Prisma.sql`t.suspendedat is null and ${implied === 'active'} = ${hasGrant}`;
  return { test, isExact: false };
}

/** How many subscriptions the principal may see. */
export function countVisible({ sql }: Pick<Database, 'sql'>, { tenant, subscriber, scopes }: Principal) {
  const key: SearchKey = [
    [Prisma.sql`t.tenant`, tenant],
    ...(scopes.has('assent:admin') ? [] : [[Prisma.sql`t.subscriber`, subscriber] as const]),
  ];
  return countPart(sql, Prisma.sql`subscription t`, { key });
}

/**
 * The subscriptions that may have this status or code, by an open or failed handshake, or a grant that is over.
 * Undefined if no index leads to them: `active` is the usual status, and `expired` is what remains.
 */
function candidatesOf(tenant: string, status: Status | undefined, code: StatusDetailCode | undefined): Way | undefined {
  const t = Prisma.sql`t`;
  const handshakes = (part: Part) => firstOf(Prisma.sql`select ${ofHandshake} from handshake t`, part);
  const grants = (part: Part) => firstOf(Prisma.sql`select ${ofGrant} from "grant" t`, part);
  const inState = (state: string) => handshakes(handshakesInState(t, tenant, state));
  const withVerdict = (code: string) => handshakes(handshakesWithVerdict(t, tenant, code));
  const over = (state: string) => grants(grantsOver(t, tenant, state));
  const open = () => openStates.map(inState);

  let queries: Prisma.Sql[] | undefined;
  if (code !== undefined) {
    const { basis, status: only } = statusDetailCodes[code];
    if (basis !== undefined) queries = basis === 'response' ? undefined : [grants(grantsOnBasis(t, tenant, basis))];
    else if (code === 'revoked') queries = [over('revoked')];
    else if (only === 'pending') queries = open();
    // A 410 to a handshake, or to a delivery.
    else if (code === 'gone') queries = [withVerdict(code), over('ended')];
    else if (code === 'name_not_public') queries = [code, 'name_not_found', 'address_not_allowed'].map(withVerdict);
    else if (only === undefined) queries = [withVerdict(code)];
  } else if (status === 'blocked') return { few: blockedIn(tenant) };
  else if (status === 'pending') queries = open();
  else if (status === 'unreachable') queries = [inState(status)];
  else if (status === 'refused') queries = [inState(status), over('revoked')];
  else if (status === 'retired') queries = [inState(status), over('ended')];
  if (queries === undefined) return undefined;
  return { few: Prisma.join(queries, ' union all '), ids: subscriptionsOf(Prisma.sql`few`) };
}

/** What candidates that are no subscriptions say about theirs, for `subscriptionsOf`. */
export const ofHandshake = Prisma.sql`t.subscription, t.origin, t.sink`;
export const ofGrant = Prisma.sql`null::uuid as subscription, t.origin, t.sink`;

/** A renewal and a grant belong to all subscriptions of the pair. `offset 0`: looked up one by one. */
export function subscriptionsOf(candidates: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    select coalesce(few.subscription, s.id) as id, few.origin, few.sink from ${candidates} few left join lateral (
      select p.id from subscription p where few.subscription is null and p.origin = few.origin and p.sink = few.sink
      offset 0) s on true`;
}

/**
 * What may be under a block: by the index of its kind. No index leads to what is under a domain or a network, so while one is
 * blocked, these are all subscriptions of the tenant.
 */
export function blockedIn(tenant: string): Prisma.Sql {
  const under = (kind: BlockKind, ids: Prisma.Sql) => Prisma.sql`
    select s.id from block b cross join lateral (${ids} offset 0) s
    where b.tenant in (${tenant}, '*') and b.kind = ${kind}`;
  return Prisma.join(
    [
      under('origin', Prisma.sql`select s.id from subscription s where s.origin = b.value`),
      under(
        'sink',
        Prisma.sql`select s.id from origin o, subscription s where o.tenant = ${tenant} and s.origin = o.name and s.sink = b.value`,
      ),
      under(
        'host',
        Prisma.sql`select s.id from subscription s where s.tenant = ${tenant} and sink_host(s.sink) = b.value`,
      ),
      under(
        'subscriber',
        Prisma.sql`select s.id from subscription s where s.tenant = ${tenant} and s.subscriber = b.value`,
      ),
      Prisma.sql`(
        select s.id from subscription s where s.tenant = ${tenant} and exists (
          select from block b where b.tenant in (${tenant}, '*') and b.kind in ('domain', 'network', 'tenant'))
        order by s.tenant desc, s.id desc)`,
    ],
    ' union all ',
  );
}

/** Throws RegistryError `subscription_not_found` for a subscription that the principal may not see. */
function visible(principal: Principal, row: Row | undefined): Subscription {
  if (!isVisible(principal, row)) throw new RegistryError('subscription_not_found', subscriptionTexts.notFound);
  return subscriptionOf(principal, row);
}

function isVisible({ tenant, subscriber, scopes }: Principal, row: Row | undefined): row is Row {
  return row?.tenant === tenant && (row.subscriber === subscriber || scopes.has('assent:admin'));
}

async function readRows(sql: Sql, ids: readonly string[]): Promise<Array<Row | undefined>> {
  const rows = await sql.$queryRaw<Row[]>`
    select (r.own).*, (r.derived).*, r.profile, r.overlaps, r.signingoverlaps from read_subscriptions(${ids}::uuid[]) r`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** Like `read`, and locks the subscription until the transaction ends. */
export async function lockSubscription(sql: Sql, principal: Principal, id: string): Promise<Subscription> {
  if (!isUuid(id)) return visible(principal, undefined);
  await sql.$queryRaw`select 1 from subscription t where t.id = ${id}::uuid and ${visibleTo(principal)} for update`;
  return visible(principal, (await readRows(sql, [id]))[0]);
}

/** The columns of the view; the migration has its query. */
type Row = SubscriptionRow & {
  profile: Profile;
  overlaps: boolean | null;
  signingoverlaps: boolean | null;
  status: Status;
  code: StatusDetailCode;
  since: Date | null;
  askedat: Date | null;
  isended: boolean;
  handshake: string | null;
  handshakestate: HandshakeState;
  handshaketrigger: HandshakeTrigger;
  askedrate: number | null;
  verdict: Verdict | null;
  dueat: Date | null;
  waitinguntil: Date | null;
  responseheaders: HeaderLine[] | null;
  evidence: string | null;
  callbackoffered: boolean | null;
  rejectedcallback: RejectedCallback | null;
  block: { kind: BlockKind; value: string; reason: string; endsat: string | null } | null;
  grantstate: Grant['state'] | null;
  basis: Basis;
  allowedrate: string;
  tolerated: string[] | null;
  expiresat: Date;
  renewat: Date | null;
  secondsleft: number;
};

function subscriptionOf({ scopes }: Principal, row: Row): Subscription {
  // Subscribers don't see which person of the admins it was.
  const showsPerson = row.suspendedby === 'subscriber' || scopes.has('assent:admin');
  return {
    id: row.id,
    tenant: row.tenant,
    subscriber: row.subscriber,
    origin: row.origin,
    profile: row.profile,
    ...definitionMembers.read(row),
    secrets: presentSecrets(row, { sinkcredential: row.overlaps, signingsecret: row.signingoverlaps }),
    generation: row.generation,
    version: row.version,
    suspension:
      row.suspendedat === null
        ? undefined
        : {
            at: row.suspendedat,
            by: row.suspendedby as SuspendedBy,
            person: showsPerson ? trusted(row.suspendedbyperson) : undefined,
            reason: row.suspendreason ?? undefined,
          },
    block:
      row.block === null
        ? undefined
        : { ...row.block, endsAt: row.block.endsat ? new Date(row.block.endsat) : undefined },
    isEnded: row.isended,
    createdAt: row.createdat,
    updatedAt: row.updatedat,
    ...statusOf(row),
  };
}

function statusOf(row: Row): SubscriptionStatus {
  return {
    status: row.status,
    code: row.code,
    since: row.since ?? undefined,
    handshake:
      row.handshake === null
        ? undefined
        : {
            id: row.handshake,
            trigger: row.handshaketrigger,
            requestedRate: row.askedrate ?? undefined,
            state: row.handshakestate,
            askedAt: row.askedat ?? undefined,
            verdict: row.verdict === null ? undefined : publicVerdict(row.verdict),
            dueAt: row.dueat ?? undefined,
            waitingUntil: row.waitinguntil ?? undefined,
            responseHeaders: row.responseheaders ?? undefined,
            evidence: row.evidence ?? undefined,
            callbackOffered: row.callbackoffered ?? false,
            rejectedCallback: row.rejectedcallback ?? undefined,
          },
    grant:
      row.grantstate === null
        ? undefined
        : {
            state: row.grantstate,
            basis: row.basis,
            allowedRate: storedRate(row.allowedrate),
            tolerated: row.tolerated ?? [],
            expiresAt: row.expiresat,
            renewAt: row.renewat ?? undefined,
            secondsLeft: row.secondsleft,
          },
  };
}
