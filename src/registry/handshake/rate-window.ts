import ipaddr from 'ipaddr.js';
import { getDomain } from 'tldts';
import { type Sql, databaseTime, lockRegistry } from '../storage/database.js';
import { insertRows } from '../storage/rows.js';

/** Whose budgets a handshake uses. */
interface Asked {
  tenant: string;
  sinkHost: string;
}

type AdmittedQuestion = Asked & { id: string };

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
  async admit(sql: Sql, questions: readonly AdmittedQuestion[], now: number): Promise<Map<string, number>> {
    const budgets = await this.read(sql, questions, now);
    const held = new Map<string, number>();
    for (const question of questions) {
      const waitMs = Math.max(budgets.waitMsOfHost(question), budgets.waitMsOfTenant(question));
      if (waitMs > 0) held.set(question.id, waitMs);
      else budgets.take(question);
    }
    await budgets.write(sql);
    return held;
  }

  /** What is left of the budgets of these tenants and hosts. To take from them, call it under the lock on claims. */
  async read(sql: Sql, asked: readonly Asked[], now: number): Promise<Budgets> {
    return new Budgets(asked, { perHost: this.#perHost, perTenant: this.#perTenant }, now).load(sql);
  }

  /**
   * The same for networks that are about to be dialled, each a /24 or a /48: for each the milliseconds to wait, or undefined
   * for no wait.
   */
  async admitNetworks(sql: Sql, networks: readonly string[]): Promise<Array<number | undefined>> {
    const keys = networks.map((network) => `network:${network}`);
    await lockRegistry(sql, ...keys);
    const now = (await databaseTime(sql)).getTime();
    const windows = new Map(keys.map((key) => [key, new Window(key, this.#perHost * 4, now)]));
    await readWindows(sql, [...windows.values()], now);
    const waits = keys.map((key) => {
      const window = windows.get(key) as Window;
      const waitMs = window.waitMs();
      if (waitMs === 0) window.take();
      return waitMs === 0 ? undefined : waitMs;
    });
    await writeWindows(sql, [...windows.values()]);
    return waits;
  }
}

/** The windows of some tenants and hosts at one moment, to choose handshakes that have a place in each of theirs. */
export class Budgets {
  readonly #windows = new Map<string, Window>();
  readonly #domains = new Map<string, string | null>();
  readonly #now: number;

  constructor(asked: readonly Asked[], { perHost, perTenant }: { perHost: number; perTenant: number }, now: number) {
    this.#now = now;
    const open = (key: string, limit: number) => {
      if (!this.#windows.has(key)) this.#windows.set(key, new Window(key, limit, now));
    };
    for (const { tenant, sinkHost } of asked) {
      open(`tenant:${tenant}`, perTenant);
      open(`host:${sinkHost}`, perHost);
      if (!this.#domains.has(sinkHost)) this.#domains.set(sinkHost, domainOf(sinkHost));
      const domain = this.#domains.get(sinkHost) ?? null;
      if (domain !== null) open(`domain:${domain}`, perHost * 2);
    }
  }

  async load(sql: Sql): Promise<this> {
    await readWindows(sql, [...this.#windows.values()], this.#now);
    return this;
  }

  /** Milliseconds until the tenant has a place; 0 if it has one. */
  waitMsOfTenant(asked: Asked): number {
    return this.#ofTenant(asked).waitMs();
  }

  /** Milliseconds until the host and its domain have a place. */
  waitMsOfHost(asked: Asked): number {
    return Math.max(...this.#ofHost(asked).map((window) => window.waitMs()));
  }

  /** When the tenant last got a place, to five seconds; milliseconds since 1970, and 0 if it got none in the last minute. */
  lastTakenAt(asked: Asked): number {
    return this.#ofTenant(asked).lastTakenAt();
  }

  take(asked: Asked): void {
    for (const window of [this.#ofTenant(asked), ...this.#ofHost(asked)]) window.take();
  }

  /** Takes back what was taken at this moment. */
  giveBack(asked: Asked): void {
    for (const window of [this.#ofTenant(asked), ...this.#ofHost(asked)]) window.giveBack();
  }

  write(sql: Sql): Promise<void> {
    return writeWindows(sql, [...this.#windows.values()]);
  }

  #ofTenant({ tenant }: Asked): Window {
    return this.#windows.get(`tenant:${tenant}`) as Window;
  }

  #ofHost({ sinkHost }: Asked): Window[] {
    const domain = this.#domains.get(sinkHost) ?? null;
    const keys = [`host:${sinkHost}`, ...(domain === null ? [] : [`domain:${domain}`])];
    return keys.map((key) => this.#windows.get(key) as Window);
  }
}

/** How many places were taken in each slice of time (milliseconds since 1970 / sliceMs). */
type Taken = Record<string, number>;

async function readWindows(sql: Sql, windows: readonly Window[], now: number): Promise<void> {
  const byKey = new Map(windows.map((window) => [window.key, window]));
  const rows = await sql.$queryRaw<Array<{ key: string; taken: Taken }>>`
    select key, taken from rate_window where key = any (${[...byKey.keys()]}::text[]) and until > ${new Date(now)}::timestamptz`;
  for (const { key, taken } of rows) byKey.get(key)?.restore(taken);
}

/** Writes those in which a place was taken. */
async function writeWindows(sql: Sql, windows: readonly Window[]): Promise<void> {
  const changed = windows.flatMap((window) => window.changed());
  if (changed.length === 0) return;
  await sql.$executeRaw`
    ${insertRows('rate_window', changed)}
    on conflict (key) do update set taken = excluded.taken, until = excluded.until, fulluntil = excluded.fulluntil`;
}

/**
 * The places of a window. A slice counts in full until its end is a minute ago. So no minute, wherever it begins, exceeds
 * the limit. A place is free again after 60 to 65 seconds.
 */
class Window {
  readonly key: string;
  /** Handshakes. */
  readonly #limit: number;
  readonly #now: number;
  #slices = new Map<number, number>();
  #total = 0;
  #taken = 0;

  constructor(key: string, limit: number, now: number) {
    this.key = key;
    this.#limit = limit;
    this.#now = now;
  }

  restore(before: Taken): void {
    this.#slices = new Map(
      Object.entries(before)
        .map(([slice, count]) => [Number(slice), count] as const)
        .filter(([slice]) => freeAt(slice) > this.#now)
        .sort(([one], [other]) => one - other),
    );
    this.#total = [...this.#slices.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Milliseconds until a place is free; 0 if one is free now. */
  waitMs(): number {
    let left = this.#total;
    if (left < this.#limit) return 0;
    for (const [slice, count] of this.#slices) {
      left -= count;
      if (left < this.#limit) return Math.max(freeAt(slice) - this.#now, leastWaitMs);
    }
    return windowMs;
  }

  take(): void {
    this.#add(1);
  }

  giveBack(): void {
    this.#add(-1);
  }

  lastTakenAt(): number {
    const slices = [...this.#slices].filter(([, count]) => count > 0).map(([slice]) => slice);
    return slices.length === 0 ? 0 : Math.min((Math.max(...slices) + 1) * sliceMs, this.#now);
  }

  /** The columns to write, if a place was taken. */
  changed() {
    if (this.#taken === 0) return [];
    const waitMs = this.waitMs();
    return [
      {
        key: this.key,
        taken: Object.fromEntries(this.#slices),
        until: new Date(freeAt(Math.max(...this.#slices.keys()))),
        fulluntil: waitMs > 0 ? new Date(this.#now + waitMs) : null,
      },
    ];
  }

  #add(count: 1 | -1): void {
    const present = Math.floor(this.#now / sliceMs);
    this.#slices.set(present, (this.#slices.get(present) ?? 0) + count);
    this.#total += count;
    this.#taken += count;
  }
}

const freeAt = (slice: number) => (slice + 1) * sliceMs + windowMs;

/** The registrable domain of a host by the public suffix list, private suffixes included; null if it has none. */
function domainOf(host: string): string | null {
  return getDomain(host, { allowPrivateDomains: true });
}

/** On a developer's machine everything is in one network, which has no limit. */
export function isLoopback(network: string): boolean {
  const address = network.split('/')[0] ?? '';
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
