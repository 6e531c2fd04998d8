import { Follower } from '../changes/follower.js';
import { dialects } from '../../matching/filters/dialects.js';
import { Replica } from '../../matching/replica/replica.js';
import { listenForNotifications } from '../storage/listen.js';
import { type Query, changeChannel } from '../storage/database.js';
import type { Context, Freshness } from '../context.js';
import { repeat } from './repeat.js';

/** The memory of a process, whether it writes or only reads, and its age. */
interface Following extends Pick<Context, 'follower' | 'freshness'> {
  /** When it resolves, this process's memory contains what a request wrote, unless the database is unavailable. */
  onWritten: () => Promise<void>;
  /** Loops that end when the signal fires. */
  run(signal: AbortSignal): Promise<void>[];
}

/** For a standby that started without its primary: the value for "too large to count" (RFC 9111 section 1.2.2). */
const unknownAge = 2 ** 31;

export function createFollowing({ database, config, log }: Pick<Context, 'database' | 'config' | 'log'>): Following {
  const standby = config.database.replicaUrl === undefined ? undefined : new Standby(database.query);
  // A standby sends no notifications, so it is polled more often.
  const pollMs = standby === undefined ? config.pollMs : Math.min(config.pollMs, 100);
  const follower = new Follower({
    database,
    createReplica: (now) => new Replica({ dialects, now }),
    pollMs,
    onFault: (error) => log.error({ err: error }, 'follower fault'),
  });
  const databaseBehind = () => standby?.secondsBehind() ?? 0;
  const secondsBehind = () => Math.max(follower.secondsBehind(), databaseBehind());
  /** Between two polls the memory counts as current. If it is older than that, polls have failed. */
  const ageOf = (seconds: number) =>
    seconds > 1 + pollMs / 1_000 ? Math.min(Math.floor(seconds), unknownAge) : undefined;

  const freshness: Freshness = {
    secondsBehind,
    age: () => ageOf(secondsBehind()),
    ageOfDatabase: () => ageOf(databaseBehind()),
  };

  function wakeBy(databaseUrl: string, signal: AbortSignal): Promise<void> {
    return listenForNotifications(
      {
        databaseUrl,
        channel: changeChannel,
        onWake: (payload) => {
          const [schema, position = ''] = payload.split(/ (?=\d{1,19}$)/);
          // Any user of the database may notify, and it may contain other registries, in other schemas.
          if (schema === database.schema) follower.wake(position === '' ? undefined : BigInt(position));
        },
        onConnect: () => follower.distrust(),
        onFault: (error) => log.warn({ err: error }, 'lost the connection for change notifications'),
      },
      signal,
    );
  }

  return {
    follower,
    freshness,
    async onWritten() {
      if (follower.position() === undefined) return;
      await follower.catchUp().catch((error: unknown) => log.warn({ err: error }, 'the index is behind'));
    },
    run(signal) {
      // If the standby cannot be queried, the follower cannot read it either, and reports that.
      const quiet = () => undefined;
      return [
        follower.run(signal),
        ...(standby === undefined ? [] : [repeat(() => standby.look(), pollMs, signal, quiet)]),
        ...(config.database.url === undefined ? [] : [wakeBy(config.database.url, signal)]),
      ];
    },
  };
}

/**
 * How far a standby is behind its primary, as far as the standby knows. It is current while it is connected to its
 * primary and has replayed everything that it received. Otherwise its age is at most the age of the last transaction that
 * it replayed, and the time since it was last seen current. A frozen or disconnected primary is noticed only when the
 * standby notices it (`wal_receiver_timeout`). Any user may run these queries.
 */
class Standby {
  readonly #query: Query;
  #lookedAt = -Infinity;
  #currentAt = -Infinity;
  /** The age of the last replayed transaction, at the last look. */
  #replayed = Infinity;

  constructor(query: Query) {
    this.#query = query;
  }

  async look(): Promise<void> {
    const startedAt = performance.now();
    const [row] = await this.#query<{ behind: number | null }>(
      `select case
         when not pg_is_in_recovery() then 0
         when exists (select from pg_stat_wal_receiver) and pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn() then 0
         else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8
       end as behind`,
    );
    this.#lookedAt = startedAt;
    this.#replayed = row?.behind ?? Infinity;
    if (this.#replayed === 0) this.#currentAt = startedAt;
  }

  /** An upper bound; Infinity before the first look. */
  secondsBehind(): number {
    const now = performance.now();
    return Math.min((now - this.#currentAt) / 1_000, this.#replayed + (now - this.#lookedAt) / 1_000);
  }
}
