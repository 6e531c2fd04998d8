import { randomUUID } from 'node:crypto';
import type { Replica } from '../../matching/replica/replica.js';
import { asUnavailable, sqlState } from '../storage/database-errors.js';
import type { Database } from '../storage/database.js';
import {
  applyChange,
  putStates,
  readEnd,
  readLog,
  readOwners,
  readStates,
  type LogBounds,
  type LoggedChange,
} from './log.js';
import type { Query } from '../storage/sql.js';

/**
 * Keeps a replica of the registry in this process: loads it from a snapshot at a position, then applies the changes
 * after that, in order.
 *
 *   loading    no position yet; retried until it works
 *   following  at a position; requests are answered from the replica, also while the database is unavailable
 *   reloading  following, while a new replica is loaded to replace this one, which cannot continue: changes after its
 *              position were deleted, the log was set back, or the database has another history since a failover
 *
 * Positions become visible in order (see append_changes), so a snapshot contains every change up to its highest
 * position.
 */
export interface Follower {
  /** Loads, then follows until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /** Applies everything that was committed before this call; loads the replica first if necessary. */
  catchUp(): Promise<void>;
  /** Wakes the loop unless it has reached this position; only a hint. */
  wake(position?: bigint): void;
  /** Resolves to true when this position is applied, to false after the time. */
  waitFor(position: bigint, timeoutMs: number): Promise<boolean>;
  /**
   * Calls back with applied changes and the position right before them, in order; without changes after a new replica
   * was loaded at that position.
   */
  subscribe(listener: Listener): void;
  /** The database may be another one: the next read first checks its history. Only a hint. */
  distrust(): void;
  /** Milliseconds since 1970 by the database's clock, which expires grants; by the machine's until that is known. */
  now(): number;
  /** Undefined while loading. Do not keep it: it may be replaced. */
  replica(): Replica | undefined;
  /** Undefined while loading. */
  position(): bigint | undefined;
  /** Undefined while loading. */
  bounds(): (LogBounds & { secret: Buffer }) | undefined;
  /** Time since the log was last read to its end; Infinity while loading. */
  secondsBehind(): number;
  /** How long reads have been failing although the database responds; 0 if they work. */
  secondsFailing(): number;
}

type Listener = (changes: readonly LoggedChange[], after: bigint) => void;

interface FollowerSettings {
  database: Database;
  createReplica: (now: () => number) => Replica;
  pollMs: number;
  onFault: (error: unknown) => void;
}

interface Loaded extends LogBounds {
  secret: Buffer;
  replica: Replica;
  position: bigint;
}

const pageLimits = { rows: 1_000, bytes: 8_388_608 };

export function createFollower({ database, createReplica, pollMs, onFault }: FollowerSettings): Follower {
  let loaded: Loaded | undefined;
  let readAt = -Infinity;
  let failsSince: number | undefined;
  /** Milliseconds from the monotonic clock of this process to the database's clock. */
  let aheadMs = performance.timeOrigin;
  let reading: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let isTrusted = false;
  let isWoken = false;
  let endPause = () => {};
  const waiting = new Set<() => void>();
  const listeners = new Set<Listener>();
  const now = () => performance.now() + aheadMs;
  const wake = () => {
    isWoken = true;
    endPause();
  };

  function apply(to: Loaded, changes: readonly LoggedChange[]): void {
    for (const change of changes) applyChange(to.replica, change, onFault);
    const after = to.position;
    to.position = changes.at(-1)?.position ?? after;
    if (changes.length > 0) for (const listener of listeners) listener(changes, after);
  }

  async function load(): Promise<void> {
    loaded = await database.snapshot(async (snapshot) => {
      const { query } = snapshot;
      const { now: databaseNow, ...end } = await readEnd(query);
      aheadMs = databaseNow - performance.now();
      const replica = createReplica(now);
      const owners = await readOwners(query);
      for await (const { kind, states } of readStates(snapshot)) {
        putStates(replica, kind, states, (name) => owners.get(name) ?? '', onFault);
      }
      return { ...end, replica };
    });
    readAt = performance.now();
    for (const listener of listeners) listener([], loaded.position);
    for (const check of waiting) check();
  }

  async function read(): Promise<void> {
    if (!isTrusted) {
      isTrusted = true;
      await recordHistory(database.query);
    }
    if (loaded === undefined) return load();
    for (let isMore = true; isMore;) {
      const from = loaded.position;
      const page = await readLog(database.query, from, pageLimits);
      const { bounds, end, changes, now: databaseNow } = page;
      if (bounds.epoch !== loaded.epoch || bounds.horizon > from) return load();
      // A log that ends before the last position that was read was set back.
      if (end < from) return load();
      aheadMs = databaseNow - performance.now();
      loaded.horizon = bounds.horizon;
      apply(loaded, changes);
      ({ isMore } = page);
    }
    readAt = performance.now();
    for (const check of waiting) check();
  }

  /** One read at a time. A call during a read waits for the next one, which starts after the call. */
  function catchUp(): Promise<void> {
    if (reading === undefined) {
      reading = read()
        .then(() => void (failsSince = undefined))
        .catch((error: unknown) => {
          isTrusted = false;
          failsSince = asUnavailable(error) === error ? (failsSince ?? performance.now()) : undefined;
          throw error;
        })
        .finally(() => (reading = undefined));
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

  /** Without the promise version of setTimeout, whose overhead is larger than the pause is worth. */
  function pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      endPause = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', endPause);
        resolve();
      };
      const timer = setTimeout(endPause, pollMs);
      signal.addEventListener('abort', endPause);
      if (signal.aborted) endPause();
    });
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        // Before the work: a wake-up during it skips the pause that follows.
        isWoken = false;
        try {
          await catchUp();
        } catch (error) {
          if (!signal.aborted) onFault(error);
        }
        if (!isWoken) await pause(signal);
      }
    },
    catchUp,

    wake(position) {
      if (position === undefined) return wake();
      // A change of this process is often read before its notification arrives.
      setImmediate(() => {
        if (loaded === undefined || loaded.position < position) wake();
      });
    },

    waitFor(wanted, timeoutMs) {
      const isThere = () => loaded !== undefined && loaded.position >= wanted;
      if (isThere()) return Promise.resolve(true);
      wake();
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

    subscribe: (listener) => void listeners.add(listener),
    distrust() {
      isTrusted = false;
      wake();
    },
    now,
    replica: () => loaded?.replica,
    position: () => loaded?.position,
    bounds: () => loaded,
    secondsBehind: () => (performance.now() - readAt) / 1_000,
    secondsFailing: () => (failsSince === undefined ? 0 : (performance.now() - failsSince) / 1_000),
  };
}

/**
 * Positions are valid within one history of one database. A new history begins when a backup is restored, or when a
 * standby is promoted that lacks the last commits: then the same positions mean other changes. The system identifier of
 * the cluster and the timeline identify the history of a Postgres. A copy within the same cluster has another database
 * oid, and a dump that is restored in place creates another table. Any user may read all of them. A standby has nothing
 * to record, and a read-only session must not write. Postgres cannot detect that a folder or a disk was rolled back.
 */
const presentHistory = `case when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then null else
  (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
  || '/' || (select oid from pg_database where datname = current_database()) || '/' || 'feed_state'::regclass::oid end`;

/**
 * Begins a new epoch if the database's history differs from the recorded one; only one of several processes does. A
 * database without a recorded history keeps its epoch.
 */
async function recordHistory(query: Query): Promise<void> {
  const cluster = await readPresent(query);
  if (cluster === undefined) return;
  await query(
    `update feed_state set cluster = $1, epoch = case when cluster = '' then epoch else $2::uuid end where cluster <> $1`,
    [cluster, randomUUID()],
  );
}

/** Undefined if it is as recorded, or unknown: a managed Postgres may not have these functions. */
async function readPresent(query: Query): Promise<string | undefined> {
  try {
    const [row] = await query<{ cluster: string; present: string | null }>(
      `select cluster, ${presentHistory} as present from feed_state`,
    );
    return row === undefined || row.present === null || row.present === row.cluster ? undefined : row.present;
  } catch (error) {
    // A promotion may be in progress.
    if (/^(?:42|0A|55)/.test(sqlState(error) ?? '')) return undefined;
    throw error;
  }
}
