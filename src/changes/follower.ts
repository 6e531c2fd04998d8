import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Sql } from '../storage/database.js';
import type { change as ChangeRow } from '../storage/generated/client.js';

/**
 * Follows the change log in this process: loads a snapshot that stands at a position, then applies what comes after it, in
 * order. Three states: loading (no position yet; tried again until it works), following, and stopped.
 *
 * Positions become visible in their order (see change.ts), so the highest one that a snapshot sees stands for all before.
 * What a change names is read again when it is applied, so it may be newer than the change; applying it twice is no harm.
 */
export interface Follower {
  /** Loads, then follows until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /** Applies everything that was committed before this call. */
  catchUp(): Promise<void>;
  /** Wakes the loop; a hint. */
  wake(): void;
  /** True once this position is applied; false after the time. */
  waitFor(position: bigint, timeoutMs: number): Promise<boolean>;
  /** Milliseconds since 1970 by the database's clock, which tells when grants end. */
  now(): number;
  /** Undefined while loading. */
  position(): bigint | undefined;
  /** Since the log was last read to its end; Infinity while loading. */
  secondsBehind(): number;
}

/** What follows: it must not fail for what it is given, and never shows half of a call to its readers. */
export interface Followed {
  /** Replaces everything, from within one snapshot of the database. */
  load(sql: Sql): Promise<void>;
  /** Reads again what the changes name. */
  apply(changes: readonly ChangeRow[]): Promise<void>;
}

export interface FollowerSettings {
  database: Database;
  followed: Followed;
  pollMs: number;
  onFault: (error: unknown) => void;
}

const atOnce = 1_000;
const loadTimeoutMs = 600_000;

export function createFollower({ database, followed, pollMs, onFault }: FollowerSettings): Follower {
  let position: bigint | undefined;
  let readAt = -Infinity;
  /** How far the database's clock is ahead of this process's, in milliseconds. */
  let aheadMs = 0;
  let reading: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let rest = new AbortController();
  const waiting = new Set<() => void>();

  async function load(): Promise<void> {
    await database.client.$transaction(
      async (sql) => {
        const [row] = await sql.$queryRaw<Array<{ position: bigint; now: Date }>>`
          select coalesce(max(position), 0)::bigint as position, clock_timestamp() as now from change`;
        if (row) aheadMs = row.now.getTime() - Date.now();
        await followed.load(sql);
        position = row?.position ?? 0n;
      },
      { isolationLevel: 'RepeatableRead', timeout: loadTimeoutMs, maxWait: 30_000 },
    );
    readAt = performance.now();
  }

  async function read(): Promise<void> {
    for (let isMore = true; isMore && position !== undefined;) {
      const changes = await database.client.change.findMany({
        where: { position: { gt: position } },
        orderBy: { position: 'asc' },
        take: atOnce,
      });
      if (changes.length > 0) await followed.apply(changes);
      position = changes.at(-1)?.position ?? position;
      isMore = changes.length === atOnce;
    }
    readAt = performance.now();
    for (const check of waiting) check();
  }

  /** One reading at a time. A call that comes during one is served by the next, which begins after what it saw. */
  function catchUp(): Promise<void> {
    if (reading === undefined) {
      reading = read().finally(() => (reading = undefined));
      return reading;
    }
    queued ??= reading
      .catch(() => undefined)
      .then(() => {
        queued = undefined;
        return catchUp();
      });
    return queued;
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        // Before the work: who wakes while it goes on cuts the rest short that follows.
        rest = new AbortController();
        try {
          await (position === undefined ? load() : catchUp());
        } catch (error) {
          if (!signal.aborted) onFault(error);
        }
        await sleep(pollMs, undefined, { signal: AbortSignal.any([signal, rest.signal]) }).catch(() => undefined);
      }
    },
    catchUp,
    wake: () => rest.abort(),

    waitFor(wanted, timeoutMs) {
      const isThere = () => position !== undefined && position >= wanted;
      if (isThere()) return Promise.resolve(true);
      rest.abort();
      return new Promise((resolve) => {
        const end = (result: boolean) => {
          clearTimeout(timer);
          waiting.delete(check);
          resolve(result);
        };
        const check = () => isThere() && end(true);
        const timer = setTimeout(() => end(isThere()), timeoutMs);
        waiting.add(check);
      });
    },
    now: () => Date.now() + aheadMs,
    position: () => position,
    secondsBehind: () => (performance.now() - readAt) / 1_000,
  };
}
