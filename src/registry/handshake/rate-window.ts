import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';
import { type Database, type Sql, databaseTime, lockRegistry } from '../storage/database.js';
import { insertRows } from '../storage/rows.js';

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

/**
 * Limits the handshakes of one host, its registrable domain, its network and one tenant in any minute, across all
 * processes, with a sliding window for each. The registry must not flood a victim that has many names, that many
 * tenants name, or that one client asks again and again. A handshake over the limit waits; none is dropped.
 */
export class RateWindows {
  readonly #perHost: number;
  readonly #perTenant: number;

  /** The handshakes of a host and of a tenant in a minute; a domain gets twice as many as a host, a network four times. */
  constructor({ perHost, perTenant }: { perHost: number; perTenant: number }) {
    this.#perHost = perHost;
    this.#perTenant = perTenant;
  }

  /**
   * Takes a place in all windows of each question, or in none if one of them is full: otherwise a crowd for one host,
   * which returns each minute, would use up the tenant's limit. Returns the milliseconds to wait, by id, for those
   * without a place. Call it under the lock on claims; `now` is the database's time.
   */
  admit(sql: Sql, questions: readonly AdmittedQuestion[], now: number): Promise<Map<string, number>> {
    const asked = questions.map((question) => ({ id: question.id, windows: this.#windowsOf(question) }));
    return admitAll(sql, asked, now);
  }

  /**
   * The same for the network that is about to be dialled, a /24 or a /48, in its own transaction: milliseconds to wait,
   * or undefined for no wait.
   */
  async admitNetwork({ write }: Pick<Database, 'write'>, network: string): Promise<number | undefined> {
    // On a developer's machine everything is in one network.
    if (isLoopback(network)) return undefined;
    const key = `network:${network}`;
    const held = await write(async ({ sql }) => {
      await lockRegistry(sql, key);
      const now = (await databaseTime(sql)).getTime();
      return admitAll(sql, [{ id: key, windows: [{ key, limit: this.#perHost * 4 }] }], now);
    });
    return held.get(key);
  }

  #windowsOf({ tenant, sinkHost }: AdmittedQuestion): Window[] {
    const domain = domainOf(sinkHost);
    return [
      { key: `tenant:${tenant}`, limit: this.#perTenant },
      { key: `host:${sinkHost}`, limit: this.#perHost },
      ...(domain === null ? [] : [{ key: `domain:${domain}`, limit: this.#perHost * 2 }]),
    ];
  }
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
  const counters = new Map(keys.map((key) => [key, new Places({}, now)]));
  for (const { key, taken } of rows) counters.set(key, new Places(taken, now));
  const counterOf = ({ key }: Window) => counters.get(key) as Places;
  const held = new Map<string, number>();
  for (const { id, windows } of asked) {
    const waits = windows.map((window) => counterOf(window).waitMs(window.limit));
    const full = waits.find((waitMs) => waitMs > 0);
    if (full !== undefined) held.set(id, Math.max(full, leastWaitMs));
    else for (const window of windows) counterOf(window).take();
  }
  const changed = [...counters].flatMap(([key, places]) => places.changed().map((columns) => ({ key, ...columns })));
  if (changed.length > 0) {
    await sql.$executeRaw`
      ${insertRows('rate_window', changed)}
      on conflict (key) do update set taken = excluded.taken, until = excluded.until`;
  }
  return held;
}

/**
 * The places of a window. A slice counts in full until its end is a minute ago. So no minute, wherever it begins, exceeds
 * the limit. A place is free again after 60 to 65 seconds.
 */
class Places {
  readonly #now: number;
  readonly #slices: Map<number, number>;
  #total: number;
  #isChanged = false;

  constructor(before: Taken, now: number) {
    this.#now = now;
    this.#slices = new Map(
      Object.entries(before)
        .map(([slice, count]) => [Number(slice), count] as const)
        .filter(([slice]) => freeAt(slice) > now)
        .sort(([one], [other]) => one - other),
    );
    this.#total = [...this.#slices.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Milliseconds until a place is free; 0 if one is free now. */
  waitMs(limit: number): number {
    let left = this.#total;
    if (left < limit) return 0;
    for (const [slice, count] of this.#slices) {
      left -= count;
      if (left < limit) return freeAt(slice) - this.#now;
    }
    return windowMs;
  }

  take(): void {
    const present = Math.floor(this.#now / sliceMs);
    this.#slices.set(present, (this.#slices.get(present) ?? 0) + 1);
    this.#total += 1;
    this.#isChanged = true;
  }

  /** The columns to write, if a place was taken. */
  changed(): Array<{ taken: Taken; until: Date }> {
    if (!this.#isChanged) return [];
    return [{ taken: Object.fromEntries(this.#slices), until: new Date(freeAt(Math.max(...this.#slices.keys()))) }];
  }
}

const freeAt = (slice: number) => (slice + 1) * sliceMs + windowMs;

/** The registrable domain of a host by the public suffix list, private suffixes included; null if it has none. */
function domainOf(host: string): string | null {
  return getDomain(host, { allowPrivateDomains: true });
}

function isLoopback(network: string): boolean {
  const address = network.split('/')[0] ?? '';
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
