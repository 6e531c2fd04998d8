import type { Replica } from '../matching/replica.js';
import type { State, Subject } from '../matching/state.js';
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

/** Changes behind a position in their order, with the bounds and the time (milliseconds since 1970) of that moment. */
export async function readLog(
  query: Query,
  after: bigint,
  limit: number,
): Promise<{ bounds: LogBounds; now: number; changes: LoggedChange[] }> {
  const rows = await query<LogRow>(
    `select f.epoch::text as epoch, f.horizon::text as horizon, c.position::text as position, c.tenant, c.origin, c.kind,
       c.sink, c.subscription::text as subscription, c.state::text as state,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
       to_char(c.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
     from feed f left join lateral (
       select * from change where position > $1::bigint order by position limit $2::int
     ) c on true
     order by c.position`,
    [String(after), limit],
  );
  const [first] = rows;
  if (first === undefined) throw new Error('The table feed has no row.');
  const changes = rows
    .filter((row) => row.position !== null)
    .map(({ position, at, tenant, origin, kind, sink, subscription, state }) => {
      return { position: BigInt(position), at, tenant, origin, kind, sink, subscription, state };
    });
  return { bounds: { epoch: first.epoch, horizon: BigInt(first.horizon) }, now: first.now, changes };
}

/** Where the log stands, and what time it is there, in milliseconds since 1970. */
export async function readEnd(query: Query): Promise<LogBounds & { position: bigint; now: number }> {
  const [row] = await query<{ epoch: string; horizon: string; position: string; now: number }>(
    `select f.epoch::text as epoch, f.horizon::text as horizon,
       greatest(f.horizon, coalesce((select max(position) from change), 0))::text as position,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as now
     from feed f`,
  );
  if (row === undefined) throw new Error('The table feed has no row.');
  return { epoch: row.epoch, horizon: BigInt(row.horizon), position: BigInt(row.position), now: row.now };
}

/** Everything that a replica holds, origins first: in the order that it can be put. Read it within one snapshot. */
export async function* readStates(query: Query, of: Scope = {}): AsyncGenerator<StateRow[]> {
  const where = `($1::text is null or tenant = $1) and ($2::text is null or origin = $2)`;
  const scope = [of.tenant ?? null, of.origin ?? null];
  yield query<StateRow>(
    `select 'origin' as kind, tenant, name as origin, '' as key, state::text as state from originstate
     where ($1::text is null or tenant = $1) and ($2::text is null or name = $2) order by name`,
    scope,
  );
  for (let last: string | undefined = '00000000-0000-0000-0000-000000000000'; last !== undefined;) {
    const page: StateRow[] = await query<StateRow>(
      `select 'subscription' as kind, tenant, origin, id::text as key, state::text as state from subscriptionstate
       where ${where} and id > $3::uuid order by id limit ${pageSize}`,
      [...scope, last],
    );
    yield page;
    last = page.length < pageSize ? undefined : page.at(-1)?.key;
  }
  for (let last: [string, string] | undefined = ['', '']; last !== undefined;) {
    const page: StateRow[] = await query<StateRow>(
      `select 'grant' as kind, tenant, origin, sink as key, state::text as state from grantstate
       where ${where} and (origin, sink) > ($3, $4) order by origin, sink limit ${pageSize}`,
      [...scope, ...last],
    );
    yield page;
    const end = page.at(-1);
    last = page.length < pageSize || end === undefined ? undefined : [end.origin, end.key];
  }
}

const pageSize = 1_000;

export interface Scope {
  tenant?: string;
  origin?: string;
}

export interface StateRow {
  kind: Subject['kind'];
  tenant: string;
  origin: string;
  /** The id of a subscription, the sink of a grant. */
  key: string;
  /** JSON. */
  state: string;
}

export function putState(replica: Replica, { kind, tenant, origin, key, state }: StateRow): void {
  replica.put(subjectOf(kind, tenant, origin, key, key), JSON.parse(state) as State);
}

export function applyChange(replica: Replica, change: LoggedChange): void {
  const { kind, tenant, origin, sink, subscription, state } = change;
  const subject = subjectOf(kindOf(kind), tenant, origin, subscription ?? '', sink);
  replica.put(subject, state === null ? null : (JSON.parse(state) as State));
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
  now: number;
  position: string;
}
