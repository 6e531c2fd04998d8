import type { Replica } from '../matching/replica.js';
import type { GrantState, OriginState, State, Subject, SubscriptionState } from '../matching/state.js';
import type { Query } from '../storage/database.js';

/** One entry of the change log, with what became of its subject. */
export interface LoggedChange {
  position: bigint;
  /** RFC 3339. */
  at: string;
  tenant: string;
  origin: string;
  kind: string;
  /** Empty where the change is of the origin itself. */
  sink: string;
  subscription: string | null;
  /** JSON; null where the subject is gone. */
  state: string | null;
}

/** Which history positions belong to, and the last position that was forgotten. */
export interface LogBounds {
  epoch: string;
  horizon: bigint;
}

/** A tenant, or one origin of it. */
export interface Scope {
  tenant: string;
  origin?: string | undefined;
}

/**
 * Changes behind a position in their order, of everybody or of a scope, with the bounds, the end of the log and the time
 * (milliseconds since 1970) of that moment.
 */
export async function readLog(
  query: Query,
  after: bigint,
  limit: number,
  of?: Scope,
): Promise<{ bounds: LogBounds; end: bigint; now: number; changes: LoggedChange[] }> {
  const { where, values } = conditions(of, 3);
  const rows = await query<LogRow>(
    `select f.epoch::text as epoch, f.horizon::text as horizon, c.position::text as position, c.tenant, c.origin, c.kind,
       c.sink, c.subscription::text as subscription, c.state::text as state,
       greatest(f.horizon, (select max(position) from change))::text as end,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
       to_char(c.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
     from feed f left join lateral (
       select * from change where ${where}position > $1::bigint order by position limit $2::int
     ) c on true
     order by c.position`,
    [String(after), limit, ...values],
  );
  const [first] = rows;
  if (first === undefined) throw new Error('The table feed has no row.');
  const changes = rows
    .filter((row) => row.position !== null)
    .map(({ position, at, tenant, origin, kind, sink, subscription, state }) => {
      return { position: BigInt(position), at, tenant, origin, kind, sink, subscription, state };
    });
  const bounds = { epoch: first.epoch, horizon: BigInt(first.horizon) };
  return { bounds, end: BigInt(first.end), now: first.now, changes };
}

/** Written out for each scope, because a condition that may be absent keeps Postgres from its indexes. */
function conditions(of: Scope | undefined, first: number): { where: string; values: string[] } {
  if (of === undefined) return { where: '', values: [] };
  if (of.origin === undefined) return { where: `tenant = $${first} and `, values: [of.tenant] };
  return { where: `tenant = $${first} and origin = $${first + 1} and `, values: [of.tenant, of.origin] };
}

/** Where the log stands, what protects its cursors, and what time it is there, in milliseconds since 1970. */
export async function readEnd(query: Query): Promise<LogBounds & { secret: Buffer; position: bigint; now: number }> {
  const [row] = await query<{ epoch: string; horizon: string; secret: string; position: string; now: number }>(
    `select f.epoch::text as epoch, f.horizon::text as horizon, encode(f.secret, 'hex') as secret,
       greatest(f.horizon, coalesce((select max(position) from change), 0))::text as position,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as now
     from feed f`,
  );
  if (row === undefined) throw new Error('The table feed has no row.');
  const { epoch, horizon, secret, position, now } = row;
  return { epoch, horizon: BigInt(horizon), secret: Buffer.from(secret, 'hex'), position: BigInt(position), now };
}

/**
 * Everything that a replica holds, as lines of JSON, `{"kind":"grant","state":{...}}`, many at once; origins first, in the
 * order that it can be put. Read it within one snapshot. Postgres makes the next lines while these are being used.
 */
export async function* readStates(query: Query, of?: Scope): AsyncGenerator<string> {
  const { where, values } = conditions(of, 2);
  for (const { kind, view, key, start } of sources) {
    const statement = `select string_agg('{"kind":"${kind}","state":' || state || '}', E'\\n') as lines
      from (select state from ${view} where ${where}${key} > $1 order by ${key} limit ${pageSize}) page`;
    const read = async (after: string) => (await query<{ lines: string | null }>(statement, [after, ...values]))[0];
    let reading: ReturnType<typeof read> | undefined = read(start);
    while (reading !== undefined) {
      const lines: string | null | undefined = (await reading)?.lines;
      if (!lines) break;
      reading = read(keyOf(lines.slice(lines.lastIndexOf('\n') + 1)));
      // Whoever stops early leaves it unread.
      reading.catch(() => undefined);
      yield lines;
    }
  }
}

/** Where the next page begins: behind the last line of this one. */
function keyOf(line: string): string {
  const { kind, state } = JSON.parse(line) as StateLine;
  return kind === 'origin' ? (state as OriginState).name : (state as SubscriptionState | GrantState).id;
}

/** Large enough that the way to Postgres does not count, small enough that one page stops nobody for long. */
const pageSize = 2_000;
const firstId = '00000000-0000-0000-0000-000000000000';
const sources = [
  { kind: 'origin', view: 'originstate', key: 'origin', start: '' },
  { kind: 'subscription', view: 'subscriptionstate', key: 'id', start: firstId },
  { kind: 'grant', view: 'grantstate', key: 'id', start: firstId },
];

/** A line of a snapshot. */
export interface StateLine {
  kind: Subject['kind'];
  state: State;
}

/** `tenantOf` tells whose an origin is, by its name. */
export function putLines(replica: Replica, lines: string, tenantOf: (origin: string) => string): void {
  for (const { kind, state } of JSON.parse(`[${lines.replaceAll('\n', ',')}]`) as StateLine[]) {
    if (kind === 'origin') {
      const { name } = state as OriginState;
      replica.put({ kind, tenant: tenantOf(name), origin: name }, state);
    } else {
      const { origin, id, sink } = state as SubscriptionState & GrantState;
      replica.put(kind === 'grant' ? { kind, origin, sink } : { kind, origin, id }, state);
    }
  }
}

/** Whose each origin is. */
export async function readOwners(query: Query): Promise<Map<string, string>> {
  const rows = await query<{ origin: string; tenant: string }>('select origin, tenant from originstate');
  return new Map(rows.map(({ origin, tenant }) => [origin, tenant]));
}

export function applyChange(replica: Replica, change: LoggedChange): void {
  const { kind, tenant, origin, sink, subscription, state } = change;
  replica.put(
    subjectOf(kindOf(kind), tenant, origin, subscription ?? '', sink),
    state === null ? null : (JSON.parse(state) as State),
  );
}

/** `grant.revoked` is about a grant. */
function kindOf(kind: string): Subject['kind'] {
  return kind.slice(0, kind.indexOf('.')) as Subject['kind'];
}

function subjectOf(kind: Subject['kind'], tenant: string, origin: string, id: string, sink: string): Subject {
  if (kind === 'origin') return { kind, tenant, origin };
  return kind === 'subscription' ? { kind, origin, id } : { kind, origin, sink };
}

interface LogRow extends Omit<LoggedChange, 'position'> {
  epoch: string;
  horizon: string;
  end: string;
  now: number;
  position: string;
}
