import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';
import type { Database } from '../storage/database.js';
import type { Sql } from '../storage/sql.js';
import { databaseTime, lockRegistry } from '../storage/transaction.js';

/**
 * How many handshakes one host, its registrable domain, its network and one tenant get in any minute, over all
 * processes: a sliding window for each. The registry must not flood anyone because a victim has many names, because
 * many tenants name it, or because a client asks again and again. A handshake that finds no room waits; none is dropped.
 */
export interface RateWindows {
  /**
   * Takes a place in all windows of each question or, where one of them is full, in none: else a crowd for one host,
   * which is back each minute, would use up what its tenant has. Returns for those without a place how many milliseconds
   * to wait, by their ids. Call it under the lock of claims; `now` is the database's time.
   */
  admit(sql: Sql, questions: readonly AdmittedQuestion[], now: number): Promise<Map<string, number>>;
  /**
   * The same for the network that is about to be dialled, a /24 or a /48, in a transaction of its own: milliseconds to
   * wait, or undefined to go on.
   */
  admitNetwork({ write }: Pick<Database, 'write'>, network: string): Promise<number | undefined>;
}

export interface AdmittedQuestion {
  id: string;
  tenant: string;
  sinkHost: string;
}

const windowMs = 60_000;
/** A window is counted in slices: its row stays small, whatever the limit is. */
const sliceMs = 5_000;
/** So that a slice that is about to end is not asked again and again. */
const leastWaitMs = 500;

/** @param perMinute handshakes of a host and of a tenant; a domain gets twice as many as a host, a network four times */
export function createRateWindows({ perHost, perTenant }: { perHost: number; perTenant: number }): RateWindows {
  function windowsOf({ tenant, sinkHost }: AdmittedQuestion): Window[] {
    const domain = domainOf(sinkHost);
    return [
      { key: `tenant:${tenant}`, limit: perTenant },
      { key: `host:${sinkHost}`, limit: perHost },
      ...(domain === null ? [] : [{ key: `domain:${domain}`, limit: perHost * 2 }]),
    ];
  }

  return {
    admit: (sql, questions, now) =>
      admitAll(
        sql,
        questions.map((question) => ({ id: question.id, windows: windowsOf(question) })),
        now,
      ),

    async admitNetwork({ write }, network) {
      // On a developer's machine everything is one network.
      if (isLoopback(network)) return undefined;
      const key = `network:${network}`;
      const held = await write(async ({ sql }) => {
        await lockRegistry(sql, key);
        const now = (await databaseTime(sql)).getTime();
        return admitAll(sql, [{ id: key, windows: [{ key, limit: perHost * 4 }] }], now);
      });
      return held.get(key);
    },
  };
}

interface Window {
  key: string;
  /** Handshakes. */
  limit: number;
}

/** How many places were taken in each slice of time (milliseconds since 1970 / sliceMs). */
type Taken = Record<string, number>;

/** Under a lock for all these windows. */
async function admitAll(
  sql: Sql,
  asked: ReadonlyArray<{ id: string; windows: Window[] }>,
  now: number,
): Promise<Map<string, number>> {
  const keys = [...new Set(asked.flatMap(({ windows }) => windows).map(({ key }) => key))];
  const rows = await sql.$queryRaw<Array<{ key: string; taken: Taken }>>`
    select key, taken from rate_window where key = any (${keys}::text[]) and until > ${new Date(now)}::timestamptz`;
  const counters = new Map(keys.map((key) => [key, createCounter({}, now)]));
  for (const { key, taken } of rows) counters.set(key, createCounter(taken, now));
  const counterOf = ({ key }: Window) => counters.get(key) as Counter;
  const held = new Map<string, number>();
  for (const { id, windows } of asked) {
    const waits = windows.map((window) => counterOf(window).waitMs(window.limit));
    const full = waits.find((waitMs) => waitMs > 0);
    if (full !== undefined) held.set(id, Math.max(full, leastWaitMs));
    else for (const window of windows) counterOf(window).take();
  }
  const columns = [...counters].flatMap(([key, { changed }]) => changed().map((columns) => ({ key, ...columns })));
  if (columns.length > 0) {
    await sql.$executeRaw`
      insert into rate_window (key, taken, until)
      select key, taken, until
      from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as w (key text, taken jsonb, until timestamptz)
      on conflict (key) do update set taken = excluded.taken, until = excluded.until`;
  }
  return held;
}

interface Counter {
  /** Milliseconds until a place is free; 0 for now. */
  waitMs(limit: number): number;
  take(): void;
  /** What is to be written, if a place was taken. */
  changed(): Array<{ taken: Taken; until: Date }>;
}

/**
 * A slice counts as a whole until its last moment is a minute ago. So no minute has more than the limit, wherever it
 * begins; a place that is taken is free again after 60 to 65 seconds.
 */
function createCounter(before: Taken, now: number): Counter {
  const freeAt = (slice: number) => (slice + 1) * sliceMs + windowMs;
  const present = Math.floor(now / sliceMs);
  const slices = new Map(
    Object.entries(before)
      .map(([slice, count]) => [Number(slice), count] as const)
      .filter(([slice]) => freeAt(slice) > now)
      .sort(([one], [other]) => one - other),
  );
  let total = [...slices.values()].reduce((sum, count) => sum + count, 0);
  let isChanged = false;
  return {
    waitMs(limit) {
      let left = total;
      if (left < limit) return 0;
      for (const [slice, count] of slices) {
        left -= count;
        if (left < limit) return freeAt(slice) - now;
      }
      return windowMs;
    },
    take() {
      slices.set(present, (slices.get(present) ?? 0) + 1);
      total += 1;
      isChanged = true;
    },
    changed: () =>
      isChanged ? [{ taken: Object.fromEntries(slices), until: new Date(freeAt(Math.max(...slices.keys()))) }] : [],
  };
}

/**
 * The registrable domain of a host by the public suffix list (private suffixes count); null for a name that has none.
 */
function domainOf(host: string): string | null {
  return getDomain(host, { allowPrivateDomains: true });
}

function isLoopback(network: string): boolean {
  const address = network.split('/')[0] ?? '';
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
