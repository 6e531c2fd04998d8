import type { Database } from '../storage/database.js';
import type { OutcomeKind } from '../../consent/outcome.js';
import type { Verdict } from '../../consent/verdicts.js';

/**
 * What is counted, for each origin:
 *
 *   handshake   attempts to ask a webhook, and decisions by callback, by verdict
 *   delivery    deliveries that senders reported, by kind of outcome
 *   lease       `leased`: requests that leases allowed. `allowed`: the rates of the pairs, once for each minute in which a
 *               sender asked for a lease. So the two can be compared. Pairs without a limit have no leases.
 */
type Counted =
  | { kind: 'handshake'; code: Verdict }
  | { kind: 'delivery'; code: OutcomeKind }
  | { kind: 'lease'; code: 'leased' | 'allowed' };

export type StatisticKind = Counted['kind'];

/** A day by minute, and a year by hour and by day, are kept. Days are in UTC. */
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

interface Row {
  tenant: string;
  origin: string;
  kind: string;
  code: string;
  /** The beginning of the minute, in milliseconds since 1970. */
  minute: number;
  count: number;
}

/**
 * Counts in memory, by minute, and writes what came together every few seconds in one statement. So counting costs the
 * requests and handshakes nothing, and one row is written once for thousands of events. The price: a process that is
 * killed loses the counts of its last seconds, and a statement whose outcome is unknown is written again. These are
 * numbers for charts; the audit record and the handshakes are the evidence.
 */
export class Counter {
  readonly #settings: CounterSettings;
  #rows = new Map<string, Row>();
  #writing: Promise<void> | undefined;

  constructor(settings: CounterSettings) {
    this.#settings = settings;
  }

  count(tenant: string, origin: string, { kind, code }: Counted, count: number): void {
    if (count <= 0) return;
    this.#add({ tenant, origin, kind, code, minute: startOfPeriod(this.#settings.now(), 'minute'), count });
  }

  /** Writes what was counted. After a failure it is kept, for the next time. */
  async flush(): Promise<void> {
    // What another call is writing counts as written by this one, too.
    while (this.#writing !== undefined) await this.#writing.catch(() => undefined);
    if (this.#rows.size === 0) return;
    this.#writing = this.#write().finally(() => (this.#writing = undefined));
    await this.#writing;
  }

  #add(row: Row): void {
    const { tenant, origin, kind, code, minute, count } = row;
    const key = `${minute} ${kind} ${code} ${origin} ${tenant}`;
    const present = this.#rows.get(key);
    if (present !== undefined) present.count += count;
    else if (this.#rows.size < maxRows) this.#rows.set(key, row);
  }

  async #write(): Promise<void> {
    const written = this.#rows;
    this.#rows = new Map();
    try {
      await store(this.#settings.query, [...written.values()]);
    } catch (error) {
      written.forEach((row) => this.#add(row));
      throw error;
    }
  }
}

/** In the order of the primary key, as in every process: two of them never wait for each other. */
async function store(query: Database['query'], minutes: readonly Row[]): Promise<void> {
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
}

/** The beginning of the step that contains this time. */
export function startOfPeriod(time: number, step: keyof typeof stepMs): number {
  return Math.floor(time / stepMs[step]) * stepMs[step];
}
