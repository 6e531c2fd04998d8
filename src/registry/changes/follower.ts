import { randomUUID } from 'node:crypto';
import type { Replica } from '../../matching/replica/replica.js';
import { asUnavailable, sqlState } from '../storage/database-errors.js';
import type { Database, Query } from '../storage/database.js';
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
export class Follower {
  readonly #settings: FollowerSettings;
  #loaded: Loaded | undefined;
  #readAt = -Infinity;
  #failsSince: number | undefined;
  /** Milliseconds from the monotonic clock of this process to the database's clock. */
  #aheadMs = performance.timeOrigin;
  #reading: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #isTrusted = false;
  #isWoken = false;
  #endPause = () => {};
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<Listener>();

  constructor(settings: FollowerSettings) {
    this.#settings = settings;
  }

  /** Loads, then follows until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Before the work: a wake-up during it skips the pause that follows.
      this.#isWoken = false;
      try {
        await this.catchUp();
      } catch (error) {
        if (!signal.aborted) this.#settings.onFault(error);
      }
      if (!this.#isWoken) await this.#pause(signal);
    }
  }

  /**
   * Applies everything that was committed before this call; loads the replica first if necessary. One read at a time: a
   * call during a read waits for the next one, which starts after the call.
   */
  catchUp(): Promise<void> {
    if (this.#reading === undefined) {
      this.#reading = this.#read()
        .then(() => void (this.#failsSince = undefined))
        .catch((error: unknown) => {
          this.#isTrusted = false;
          this.#failsSince = asUnavailable(error) === error ? (this.#failsSince ?? performance.now()) : undefined;
          throw error;
        })
        .finally(() => (this.#reading = undefined));
      return this.#reading;
    }
    this.#queued ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#queued = undefined;
        return this.catchUp();
      });
    return this.#queued;
  }

  /** Wakes the loop unless it has reached this position; only a hint. */
  wake(position?: bigint): void {
    if (position === undefined) return this.#wake();
    // A change of this process is often read before its notification arrives.
    setImmediate(() => {
      if (!this.#isAt(position)) this.#wake();
    });
  }

  /** Resolves to true when this position is applied, to false after the time. */
  waitFor(position: bigint, timeoutMs: number): Promise<boolean> {
    if (this.#isAt(position)) return Promise.resolve(true);
    this.#wake();
    return new Promise((resolve) => {
      const end = (result: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(result);
      };
      const check = () => this.#isAt(position) && end(true);
      const timer = setTimeout(() => end(this.#isAt(position)), timeoutMs);
      this.#waiting.add(check);
    });
  }

  /**
   * Calls back with applied changes and the position right before them, in order; without changes after a new replica
   * was loaded at that position.
   */
  subscribe(listener: Listener): void {
    this.#listeners.add(listener);
  }

  /** The database may be another one: the next read first checks its history. Only a hint. */
  distrust(): void {
    this.#isTrusted = false;
    this.#wake();
  }

  /** Milliseconds since 1970 by the database's clock, which expires grants; by the machine's until that is known. */
  readonly now = (): number => performance.now() + this.#aheadMs;

  /** Undefined while loading. Do not keep it: it may be replaced. */
  replica(): Replica | undefined {
    return this.#loaded?.replica;
  }

  /** Undefined while loading. */
  position(): bigint | undefined {
    return this.#loaded?.position;
  }

  /** Undefined while loading. */
  bounds(): (LogBounds & { secret: Buffer }) | undefined {
    return this.#loaded;
  }

  /** Time since the log was last read to its end; Infinity while loading. */
  secondsBehind(): number {
    return (performance.now() - this.#readAt) / 1_000;
  }

  /** How long reads have been failing although the database responds; 0 if they work. */
  secondsFailing(): number {
    return this.#failsSince === undefined ? 0 : (performance.now() - this.#failsSince) / 1_000;
  }

  async #read(): Promise<void> {
    const { query } = this.#settings.database;
    if (!this.#isTrusted) {
      this.#isTrusted = true;
      await recordHistory(query);
    }
    const loaded = this.#loaded;
    if (loaded === undefined) return this.#load();
    for (let isMore = true; isMore;) {
      const from = loaded.position;
      const page = await readLog(query, from, pageLimits);
      const { bounds, end, changes, now } = page;
      if (bounds.epoch !== loaded.epoch || bounds.horizon > from) return this.#load();
      // A log that ends before the last position that was read was set back.
      if (end < from) return this.#load();
      this.#aheadMs = now - performance.now();
      loaded.horizon = bounds.horizon;
      this.#apply(loaded, changes);
      ({ isMore } = page);
    }
    this.#noteRead();
  }

  async #load(): Promise<void> {
    const { database, createReplica, onFault } = this.#settings;
    const loaded = await database.snapshot(async (snapshot) => {
      const { query } = snapshot;
      const { now, ...end } = await readEnd(query);
      this.#aheadMs = now - performance.now();
      const replica = createReplica(this.now);
      const owners = await readOwners(query);
      for await (const { kind, states } of readStates(snapshot)) {
        putStates(replica, kind, states, (name) => owners.get(name) ?? '', onFault);
      }
      return { ...end, replica };
    });
    this.#loaded = loaded;
    for (const listener of this.#listeners) listener([], loaded.position);
    this.#noteRead();
  }

  #apply(to: Loaded, changes: readonly LoggedChange[]): void {
    for (const change of changes) applyChange(to.replica, change, this.#settings.onFault);
    const after = to.position;
    to.position = changes.at(-1)?.position ?? after;
    if (changes.length > 0) for (const listener of this.#listeners) listener(changes, after);
  }

  #noteRead(): void {
    this.#readAt = performance.now();
    for (const check of this.#waiting) check();
  }

  #isAt(position: bigint): boolean {
    return this.#loaded !== undefined && this.#loaded.position >= position;
  }

  #wake(): void {
    this.#isWoken = true;
    this.#endPause();
  }

  /** Without the promise version of setTimeout, whose overhead is larger than the pause is worth. */
  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#endPause = end;
      const timer = setTimeout(end, this.#settings.pollMs);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    });
  }
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
