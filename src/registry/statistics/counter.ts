import type { Database } from '../storage/database.js';
import { stepMs, type Counted, type StoredStep } from './statistic.js';

/**
 * Counts in memory, by minute, and writes what came together every few seconds in one statement. So counting costs the
 * requests and handshakes nothing, and one row is written once for thousands of events. The price: a process that is
 * killed loses the counts of its last seconds, and a statement whose outcome is unknown is written again. These are
 * numbers for charts; the audit record and the handshakes are the evidence.
 */
export interface Counter {
  count(tenant: string, origin: string, counted: Counted, count: number): void;
  /** Writes what was counted. After a failure it is kept, for the next time. */
  flush(): Promise<void>;
}

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

export function createCounter({ query, now }: CounterSettings): Counter {
  let rows = new Map<string, Row>();
  let writing: Promise<void> | undefined;

  function add({ tenant, origin, kind, code, minute, count }: Row): void {
    const key = `${minute} ${kind} ${code} ${origin} ${tenant}`;
    const row = rows.get(key);
    if (row !== undefined) row.count += count;
    else if (rows.size < maxRows) rows.set(key, { tenant, origin, kind, code, minute, count });
  }

  async function write(): Promise<void> {
    const written = rows;
    rows = new Map();
    try {
      await store(query, [...written.values()]);
    } catch (error) {
      written.forEach(add);
      throw error;
    }
  }

  return {
    count(tenant, origin, { kind, code }, count) {
      if (count <= 0) return;
      add({ tenant, origin, kind, code, minute: startOf(now(), 'minute'), count });
    },

    async flush() {
      // What another call is writing counts as written by this one, too.
      while (writing !== undefined) await writing.catch(() => undefined);
      if (rows.size === 0) return;
      writing = write().finally(() => (writing = undefined));
      await writing;
    },
  };
}

/** In the order of the primary key, as in every process: two of them never wait for each other. */
async function store(query: Database['query'], minutes: readonly Row[]): Promise<void> {
  const columns = new Map<string, object & { count: number }>();
  for (const { minute, count, ...row } of minutes) {
    for (const step of ['minute', 'hour'] satisfies StoredStep[]) {
      const column = { ...row, step, startsat: new Date(startOf(minute, step)).toISOString() };
      const key = JSON.stringify(Object.values(column));
      columns.set(key, { ...column, count: count + (columns.get(key)?.count ?? 0) });
    }
  }
  await query(
    `insert into statistic as present (tenant, step, startsat, origin, kind, code, count)
     select tenant, step, startsat, origin, kind, code, count
     from jsonb_to_recordset($1::jsonb) as r (
       tenant text, step text, startsat timestamptz, origin text, kind text, code text, count bigint)
     order by tenant collate "C", step collate "C", startsat, origin collate "C", kind collate "C", code collate "C"
     on conflict (tenant, step, startsat, origin, kind, code) do update set count = present.count + excluded.count`,
    [JSON.stringify([...columns.values()])],
  );
}

/** The beginning of the step that contains this time. */
export function startOf(time: number, step: keyof typeof stepMs): number {
  return Math.floor(time / stepMs[step]) * stepMs[step];
}
