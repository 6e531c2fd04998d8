import { everyTenant } from '../../matching/replica/blocks.js';
import { putOrRemove, type Replica } from '../../matching/replica/replica.js';
import {
  isEffectOfBlock,
  subjectOfChange,
  subjectOfState,
  type State,
  type StateLine,
  type Subject,
} from '../../matching/replica/state.js';
import type { Snapshot, Query } from '../storage/database.js';

/** One entry of the change log, with the new state of its subject. */
export interface LoggedChange {
  position: bigint;
  /** RFC 3339. */
  at: string;
  /** Of a block for every tenant, `everyTenant`. */
  tenant: string;
  /** Empty for a change of a block. */
  origin: string;
  kind: string;
  /** Empty for a change of the origin itself. */
  sink: string;
  subscription: string | null;
  /** The state of the subject, as JSON; null if it no longer exists, or if nothing changed for senders. */
  resource: string | null;
  /** A code. */
  cause: string | null;
  /** Whose subscriptions it is about; null for a change of the origin itself. */
  subscribers: string[] | null;
  /** The id of the block that the change is about. */
  block: string | null;
}

/** The history that positions belong to, and the last deleted position. */
export interface LogBounds {
  epoch: string;
  horizon: bigint;
}

/** A tenant, or one of its origins; of either, only what one subscriber may see. */
export interface FeedScope {
  tenant: string;
  origin?: string | undefined;
  subscriber?: string | undefined;
  /** Each change has the present status of the subscriptions that it is about. */
  withStatuses?: boolean | undefined;
}

/** Whether a reader of this scope gets the change. What a block does to subscriptions is for those who report statuses. */
export function isVisible(change: LoggedChange, { tenant, origin, subscriber, withStatuses }: FeedScope): boolean {
  if (change.tenant !== tenant && change.tenant !== everyTenant) return false;
  if (origin !== undefined && change.origin !== origin && change.origin !== '') return false;
  if (subscriber !== undefined) return change.subscribers?.includes(subscriber) === true;
  return withStatuses === true || !isEffectOfBlock(change.kind);
}

/** How many changes of the tenant one read goes through: a subscriber may have none among millions. */
export const maxSearched = 5_000;

/** The position before the last changes of a scope. The end of the log if none of them is found. */
export async function positionBefore(query: Query, scope: FeedScope, count: number): Promise<bigint> {
  const { tenant, origin, subscriber } = scope;
  const [row] = await query<{ position: string }>(
    `select greatest(f.horizon, coalesce(first.position - 1, (select max(position) from change)))::text as position
     from feed_state f, (
       select min(position) as position from (
         select position from (
           select position, kind, subscribers from change
           where tenant = $1 ${origin === undefined ? '' : 'and origin = $4 '}order by position desc limit ${maxSearched}
         ) newest
         where case when $3::text is null then kind not in ('subscription.blocked', 'subscription.unblocked')
           else $3 = any (subscribers) end
         order by position desc limit $2::int
       ) last
     ) first`,
    [tenant, count, subscriber ?? null, ...(origin === undefined ? [] : [origin])],
  );
  if (row === undefined) throw new Error('The table feed_state has no row.');
  return BigInt(row.position);
}

/** A page has at least one change, however large that is. */
interface PageLimits {
  rows: number;
  bytes: number;
}

/** Without changes, one row has the bounds, and null for the members of a change. */
interface LogRow extends Omit<LoggedChange, 'position'> {
  epoch: string;
  horizon: string;
  end: string;
  now: number;
  position: string | null;
  found: string | null;
}

/**
 * Changes after a position, in order, of all tenants or of a scope, with the current bounds, end and time (milliseconds
 * since 1970) of the log. `isMore` says that more changes may follow.
 */
export async function readLog(
  query: Query,
  after: bigint,
  limits: PageLimits,
  of?: FeedScope,
): Promise<{ bounds: LogBounds; end: bigint; now: number; changes: LoggedChange[]; isMore: boolean }> {
  const { values, sources } = sourcesOf(of);
  const rows = await query<LogRow>(
    `select f.epoch::text as epoch, f.horizon::text as horizon, c.position::text as position, c.tenant, c.origin, c.kind,
       c.sink, c.subscription::text as subscription, c.resource, c.cause, c.subscribers, c.block::text as block, c.found,
       greatest(f.horizon, (select max(position) from change))::text as end,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
       to_char(c.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
     from feed_state f left join lateral (
       select *, count(*) over () as found from (
         select *, sum(bytes) over (order by position rows unbounded preceding) as upto from (
           select *, ${changeOverhead} + octet_length(sink) + coalesce(octet_length(resource), 0) as bytes from (
             select position, at, tenant, origin, kind, sink, subscription, resource::text as resource, cause, subscribers, block
             from (${sources}) source order by position limit $2::int
           ) page
         ) sized
       ) summed
     ) c on c.upto <= $3::bigint or c.upto = c.bytes
     order by c.position`,
    [String(after), limits.rows, limits.bytes, ...values],
  );
  const [first] = rows;
  if (first === undefined) throw new Error('The table feed_state has no row.');
  const changes = rows.flatMap(({ position, at, tenant, origin, kind, sink, subscription, resource, ...whom }) => {
    if (position === null) return [];
    const { cause, subscribers, block } = whom;
    return [
      {
        position: BigInt(position),
        at,
        tenant,
        origin,
        kind,
        sink,
        subscription,
        resource,
        cause,
        subscribers,
        block,
      },
    ];
  });
  const bounds = { epoch: first.epoch, horizon: BigInt(first.horizon) };
  const isMore = changes.length === limits.rows || changes.length < Number(first.found ?? 0);
  return { bounds, end: BigInt(first.end), now: first.now, changes, isMore };
}

/** Approximate bytes of a change without its sink and its resource. */
export const changeOverhead = 350;

/**
 * Where the changes of a scope are: each part is read in the order of an index, and no further than a page. Blocks belong to
 * no origin, and those of every tenant to each scope.
 */
function sourcesOf(of: FeedScope | undefined): { sources: string; values: string[] } {
  const part = (where: string) =>
    `(select * from change where ${where}position > $1::bigint order by position limit $2::int)`;
  if (of === undefined) return { sources: part(''), values: [] };
  const { tenant, origin } = of;
  if (origin === undefined) {
    return { sources: `${part('tenant = $4 and ')} union all ${part(`tenant = '*' and `)}`, values: [tenant] };
  }
  const blocks = part(`origin = '' and tenant in ($4, '*') and `);
  return { sources: `${part('tenant = $4 and origin = $5 and ')} union all ${blocks}`, values: [tenant, origin] };
}

/** Of a view. A separate text for each scope, because Postgres does not use its indexes for optional conditions. */
function conditions(kind: Subject['kind'], of: FeedScope | undefined): { where: string; values: string[] } {
  if (of === undefined) return { where: '', values: [] };
  const { tenant, origin } = of;
  if (kind === 'block') return { where: `tenant in ($1, '*') and `, values: [tenant] };
  if (origin === undefined) return { where: 'tenant = $1 and ', values: [tenant] };
  return { where: 'tenant = $1 and origin = $2 and ', values: [tenant, origin] };
}

/** The end of the log, the secret of its cursors, and the time of the database in milliseconds since 1970. */
export async function readEnd(query: Query): Promise<LogBounds & { secret: Buffer; position: bigint; now: number }> {
  const [row] = await query<{ epoch: string; horizon: string; secret: string; position: string; now: number }>(
    `select f.epoch::text as epoch, f.horizon::text as horizon, encode(f.secret, 'hex') as secret,
       greatest(f.horizon, coalesce((select max(position) from change), 0))::text as position,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as now
     from feed_state f`,
  );
  if (row === undefined) throw new Error('The table feed_state has no row.');
  const { epoch, horizon, secret, position, now } = row;
  return { epoch, horizon: BigInt(horizon), secret: Buffer.from(secret, 'hex'), position: BigInt(position), now };
}

/**
 * Everything that a replica contains, as JSON, in pages; blocks first, and origins before what depends on them. The status of a
 * subscription costs several look-ups.
 */
export async function* readStates(
  { stream }: Snapshot,
  of?: FeedScope,
  withStatuses = false,
): AsyncGenerator<{ kind: Subject['kind']; states: string[] }> {
  for (const kind of ['block', 'origin', 'subscription', 'grant'] as const) {
    const { where, values } = conditions(kind, of);
    const statement =
      withStatuses && kind === 'subscription'
        ? `select (s.resource::jsonb || jsonb_strip_nulls(
             jsonb_build_object('status', d.status, 'code', d.code, 'handshake', d.handshake)))::text as text
           from subscription_state s cross join lateral (
             select t.status, t.code, t.handshake from subscription_status t where t.id = s.id offset 0) d
           where ${where}true`
        : `select resource::text as text from ${kind}_state where ${where}true`;
    for await (const states of stream(statement, values)) yield { kind, states };
  }
}

/** `tenantOf` returns the tenant of an origin or a block, by its name or id. A state that cannot be applied is reported. */
export function putStates(
  replica: Replica,
  kind: Subject['kind'],
  states: readonly string[],
  tenantOf: (key: string) => string,
  onFault: (error: unknown) => void,
): void {
  for (const text of states) {
    const line = { kind, resource: JSON.parse(text) as State } as StateLine;
    const key = line.kind === 'origin' ? line.resource.name : line.resource.id;
    putOrRemove(replica, subjectOfState(line, tenantOf(key)), line.resource, onFault);
  }
}

/** The tenant of each origin and each block, by name and by id. */
export async function readOwners(query: Query): Promise<Map<string, string>> {
  const rows = await query<{ key: string; tenant: string }>(
    'select origin as key, tenant from origin_state union all select id::text, tenant from block_state',
  );
  return new Map(rows.map(({ key, tenant }) => [key, tenant]));
}

/** A change that cannot be applied is reported, and does not stop the follower. */
export function applyChange(replica: Replica, change: LoggedChange, onFault: (error: unknown) => void): void {
  const state = change.resource === null ? null : (JSON.parse(change.resource) as State);
  putOrRemove(replica, subjectOfChange(change, change.tenant), state, onFault);
}
