import type { Database } from '../storage/database.js';
import { hostOf } from '../../base/formats/uri.js';
import type { Pair } from '../../consent/grant.js';
import type { OutcomeKind } from '../../consent/outcome.js';
import type { Settled } from '../../consent/handshake.js';
import { isVerdict, verdicts, type HandshakeOutcome, type Verdict } from '../../consent/verdicts.js';

/**
 * What is counted, for each origin, and for each host of a sink:
 *
 *   attempt     answers to requests that asked a webhook, by verdict; a handshake has one or more
 *   handshake   what became of handshakes, by verdict; and `waiting`, when one begins to wait for its callback
 *   delivery    deliveries that senders reported, by kind of outcome
 *   lease       `leased`: requests that leases allowed. `allowed`: the rates of the pairs, once for each minute in which a
 *               sender asked for a lease. So the two can be compared. Pairs without a limit have no leases.
 */
type Counted =
  | { kind: 'attempt'; code: Verdict }
  | { kind: 'handshake'; code: HandshakeCode }
  | { kind: 'delivery'; code: OutcomeKind }
  | { kind: 'lease'; code: 'leased' | 'allowed' };

export type StatisticKind = Counted['kind'];

/** What a handshake came to: a decision or its end by a verdict, or that it waits for one. */
type HandshakeCode = Verdict | typeof waiting;
const waiting = 'waiting';

/** Undefined for the code of a version that this one does not know. */
export function outcomeOf(code: string): HandshakeOutcome | typeof waiting | undefined {
  return code === waiting ? waiting : isVerdict(code) ? verdicts[code].outcome : undefined;
}

/** Of origins, a day by minute, and a year by hour and by day, are kept; of hosts, a day by hour. Days are in UTC. */
export type Step = 'minute' | 'hour' | 'day';

export const stepMs: Readonly<Record<Step, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const steps = Object.keys(stepMs) as Step[];

interface CounterSettings extends Pick<Database, 'query'> {
  /** Milliseconds since 1970, by the database's clock. */
  now: () => number;
}

/** How long counts stay in memory. */
export const flushMs = 5_000;
/** Beyond this, new rows are not begun until the others are written: the database is away. */
const maxRows = 100_000;

/** The columns of a host. */
export const hostCounts = ['delivered', 'throttled', 'gone', 'failed', 'refused', 'leased', 'allowed'] as const;
type HostCount = (typeof hostCounts)[number];

function hostCountOf({ kind, code }: Counted): HostCount | undefined {
  if (kind === 'lease') return code;
  if (kind === 'attempt') return undefined;
  if (kind === 'handshake') return outcomeOf(code) === 'refused' ? 'refused' : undefined;
  return code === 'delivered' || code === 'throttled' || code === 'gone' ? code : 'failed';
}

interface OriginRow {
  tenant: string;
  origin: string;
  kind: string;
  code: string;
  /** The beginning of the minute, in milliseconds since 1970. */
  minute: number;
}

interface HostRow {
  tenant: string;
  host: string;
  column: HostCount;
  /** The beginning of the hour, in milliseconds since 1970. */
  hour: number;
}

type Store<Row> = (query: Database['query'], rows: ReadonlyArray<Row & { count: number }>) => Promise<void>;

/**
 * Counts in memory, by minute, and writes what came together every few seconds in one statement. So counting costs the
 * requests and handshakes nothing, and one row is written once for thousands of events. The price: a process that is
 * killed loses the counts of its last seconds, and a statement whose outcome is unknown is written again. These are
 * numbers for charts; the audit record and the handshakes are the evidence.
 */
export class Counter {
  readonly #now: () => number;
  readonly #origins: Tally<OriginRow>;
  readonly #hosts: Tally<HostRow>;

  constructor({ now, query }: CounterSettings) {
    this.#now = now;
    this.#origins = new Tally(query, storeOrigins);
    this.#hosts = new Tally(query, storeHosts);
  }

  count({ tenant, origin, sink }: Pair, counted: Counted, count: number): void {
    if (count <= 0) return;
    const { kind, code } = counted;
    this.#origins.add({ tenant, origin, kind, code, minute: startOfPeriod(this.#now(), 'minute') }, count);
    const column = hostCountOf(counted);
    if (column === undefined) return;
    this.#hosts.add({ tenant, host: hostOf(sink), column, hour: startOfPeriod(this.#now(), 'hour') }, count);
  }

  /** One that is asked again has not come to anything yet, and of one that was decided elsewhere, that decision counts. */
  countAttempt(pair: Pair, { judged, verdict, state }: Settled): void {
    this.count(pair, { kind: 'attempt', code: judged }, 1);
    if (state === undefined || state === 'due') return;
    this.count(pair, { kind: 'handshake', code: state === 'waiting' ? waiting : verdict }, 1);
  }

  /** Writes what was counted. After a failure it is kept, for the next time. */
  async flush(): Promise<void> {
    const results = await Promise.allSettled([this.#origins.flush(), this.#hosts.flush()]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}

/** Counts of one table. */
class Tally<Row extends object> {
  readonly #query: Database['query'];
  readonly #store: Store<Row>;
  #rows = new Map<string, Row & { count: number }>();
  #writing: Promise<void> | undefined;

  constructor(query: Database['query'], store: Store<Row>) {
    this.#query = query;
    this.#store = store;
  }

  add(row: Row, count: number): void {
    const key = Object.values(row).join(' ');
    const present = this.#rows.get(key);
    if (present !== undefined) present.count += count;
    else if (this.#rows.size < maxRows) this.#rows.set(key, { ...row, count });
  }

  async flush(): Promise<void> {
    // What another call is writing counts as written by this one, too.
    while (this.#writing !== undefined) await this.#writing.catch(() => undefined);
    if (this.#rows.size === 0) return;
    this.#writing = this.#write().finally(() => (this.#writing = undefined));
    await this.#writing;
  }

  async #write(): Promise<void> {
    const written = this.#rows;
    this.#rows = new Map();
    try {
      await this.#store(this.#query, [...written.values()]);
    } catch (error) {
      written.forEach(({ count, ...row }) => this.add(row as unknown as Row, count));
      throw error;
    }
  }
}

/** In the order of the primary key, as in every process: two of them never wait for each other. */
const storeHosts: Store<HostRow> = async (query, hours) => {
  const rows = new Map<string, Record<string, string | number>>();
  for (const { tenant, host, column, hour, count } of hours) {
    const key = `${hour} ${host} ${tenant}`;
    rows.set(key, { ...rows.get(key), tenant, host, startsat: new Date(hour).toISOString(), [column]: count });
  }
  await query(
    `insert into host_statistic as present (tenant, startsat, host, ${hostCounts.join()})
     select tenant, startsat, host, ${hostCounts.map((name) => `coalesce(${name}, 0)`).join()}
     from jsonb_populate_recordset(null::host_statistic, $1::jsonb)
     order by tenant collate "C", startsat, host collate "C"
     on conflict (tenant, startsat, host) do update set
       ${hostCounts.map((name) => `${name} = present.${name} + excluded.${name}`).join()}`,
    [JSON.stringify([...rows.values()])],
  );
};

const storeOrigins: Store<OriginRow> = async (query, minutes) => {
  const columns = new Map<string, object & { count: number }>();
  for (const { minute, count, ...row } of minutes) {
    for (const step of steps) {
      const column = { ...row, step, startsat: new Date(startOfPeriod(minute, step)).toISOString() };
      const key = JSON.stringify(Object.values(column));
      columns.set(key, { ...column, count: count + (columns.get(key)?.count ?? 0) });
    }
  }
  await query(
    `insert into statistic as present (tenant, step, startsat, origin, kind, code, count)
     select tenant, step, startsat, origin, kind, code, count
     from jsonb_populate_recordset(null::statistic, $1::jsonb)
     order by tenant collate "C", step collate "C", startsat, origin collate "C", kind collate "C", code collate "C"
     on conflict (tenant, step, startsat, origin, kind, code) do update set count = present.count + excluded.count`,
    [JSON.stringify([...columns.values()])],
  );
};

/** The beginning of the step that contains this time. */
export function startOfPeriod(time: number, step: keyof typeof stepMs): number {
  return Math.floor(time / stepMs[step]) * stepMs[step];
}
