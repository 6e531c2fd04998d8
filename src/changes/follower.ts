import { setTimeout as sleep } from 'node:timers/promises';
import type { Replica } from '../matching/replica.js';
import type { Database } from '../storage/database.js';
import {
  applyChange,
  putLines,
  readEnd,
  readLog,
  readOwners,
  readStates,
  type LogBounds,
  type LoggedChange,
} from './log.js';

/**
 * Keeps a replica of the registry in this process: loads it from a snapshot that stands at a position, then applies what
 * comes after it, in order.
 *
 *   loading    no position yet; tried again until it works
 *   following  at a position; what was asked is answered from the replica, also while the database is away
 *   reloading  following, and a new replica is being made because this one cannot be followed on: the log was forgotten
 *              behind it, or the database has another history since a failover. The new one then takes its place
 *
 * Positions become visible in their order (see change.ts), so the highest one that a snapshot sees stands for all before.
 */
export interface Follower {
  /** Loads, then follows until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /** Applies everything that was committed before this call; loads first if nothing is loaded. */
  catchUp(): Promise<void>;
  /** Wakes the loop; a hint. */
  wake(): void;
  /** True once this position is applied; false after the time. */
  waitFor(position: bigint, timeoutMs: number): Promise<boolean>;
  /** Calls back with what was applied, in order, after it was applied; returns what ends that. */
  subscribe(listener: (changes: readonly LoggedChange[]) => void): () => void;
  /** Milliseconds since 1970 by the database's clock, which tells when grants end. */
  now(): number;
  /** Undefined while loading; ask for it anew each time. */
  replica(): Replica | undefined;
  /** Undefined while loading. */
  position(): bigint | undefined;
  /** Undefined while loading. */
  bounds(): LogBounds | undefined;
  /** Since the log was last read to its end; Infinity while loading. */
  secondsBehind(): number;
}

export interface FollowerSettings {
  database: Database;
  createReplica: (now: () => number) => Replica;
  pollMs: number;
  onFault: (error: unknown) => void;
}

interface Standing extends LogBounds {
  replica: Replica;
  position: bigint;
}

const atOnce = 1_000;

export function createFollower({ database, createReplica, pollMs, onFault }: FollowerSettings): Follower {
  let standing: Standing | undefined;
  let readAt = -Infinity;
  /** How far the database's clock is ahead of this process's, in milliseconds. */
  let aheadMs = 0;
  let reading: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let rest = new AbortController();
  const waiting = new Set<() => void>();
  const listeners = new Set<(changes: readonly LoggedChange[]) => void>();
  const now = () => Date.now() + aheadMs;

  async function load(): Promise<void> {
    standing = await database.snapshot(async (query) => {
      const { epoch, horizon, position, now: databaseNow } = await readEnd(query);
      aheadMs = databaseNow - Date.now();
      const replica = createReplica(now);
      const owners = await readOwners(query);
      for await (const lines of readStates(query)) putLines(replica, lines, (name) => owners.get(name) ?? '');
      return { epoch, horizon, position, replica };
    });
    readAt = performance.now();
    for (const check of waiting) check();
  }

  async function read(): Promise<void> {
    if (standing === undefined) return load();
    for (let isMore = true; isMore;) {
      const { bounds, changes, now: databaseNow } = await readLog(database.query, standing.position, atOnce);
      if (bounds.epoch !== standing.epoch || bounds.horizon > standing.position) return load();
      for (const change of changes) applyChange(standing.replica, change);
      aheadMs = databaseNow - Date.now();
      standing.horizon = bounds.horizon;
      standing.position = changes.at(-1)?.position ?? standing.position;
      if (changes.length > 0) for (const listener of listeners) listener(changes);
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
          await catchUp();
        } catch (error) {
          if (!signal.aborted) onFault(error);
        }
        await sleep(pollMs, undefined, { signal: AbortSignal.any([signal, rest.signal]) }).catch(() => undefined);
      }
    },
    catchUp,
    wake: () => rest.abort(),

    waitFor(wanted, timeoutMs) {
      const isThere = () => standing !== undefined && standing.position >= wanted;
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

    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    now,
    replica: () => standing?.replica,
    position: () => standing?.position,
    bounds: () => standing,
    secondsBehind: () => (performance.now() - readAt) / 1_000,
  };
}
