import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';
import type { Database } from '../storage/database.js';
import type { Sql } from '../storage/sql.js';
import { databaseTime, lockRegistry } from '../storage/transaction.js';

/**
 * Limits the handshakes of one host, its registrable domain, its network and one tenant in any minute, across all
 * processes, with a sliding window for each. The registry must not flood a victim that has many names, that many
 * tenants name, or that one client asks again and again. A handshake over the limit waits; none is dropped.
 */
export interface RateWindows {
  /**
   * Takes a place in all windows of each question, or in none if one of them is full: otherwise a crowd for one host,
   * which returns each minute, would use up the tenant's limit. Returns the milliseconds to wait, by id, for those
   * without a place. Call it under the lock on claims; `now` is the database's time.
   */
  admit(sql: Sql, questions: readonly AdmittedQuestion[], now: number): Promise<Map<string, number>>;
  /**
   * The same for the network that is about to be dialled, a /24 or a /48, in its own transaction: milliseconds to wait,
   * or undefined for no wait.
   */
  admitNetwork({ write }: Pick<Database, 'write'>, network: string): Promise<number | undefined>;
}

interface AdmittedQuestion {
  id: string;
  tenant: string;
  sinkHost: string;
}

const windowMs = 60_000;
/** A window is counted in slices, so that its row stays small for any limit. */
const sliceMs = 5_000;
/** Prevents a busy loop while a slice is about to end. */
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
      // On a developer's machine everything is in one network.
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

/** Call it under a lock on all these windows. */
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
  /** Milliseconds until a place is free; 0 if one is free now. */
  waitMs(limit: number): number;
  take(): void;
  /** The columns to write, if a place was taken. */
  changed(): Array<{ taken: Taken; until: Date }>;
}

/**
 * A slice counts in full until its end is a minute ago. So no minute, wherever it begins, exceeds the limit. A place is
 * free again after 60 to 65 seconds.
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

/** The registrable domain of a host by the public suffix list, private suffixes included; null if it has none. */
function domainOf(host: string): string | null {
  return getDomain(host, { allowPrivateDomains: true });
}

function isLoopback(network: string): boolean {
  const address = network.split('/')[0] ?? '';
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
