import { createFollower, type Follower } from '../changes/follower.js';
import { dialects } from '../matching/dialects.js';
import { createReplica } from '../matching/replica.js';
import { listen } from '../storage/listen.js';
import { createStandby } from '../storage/standby.js';
import { changeChannel } from '../storage/transaction.js';
import type { Context } from './context.js';
import { repeat } from './repeat.js';

/** What a process has in memory, whether it writes or only reads, and how old that is. */
export interface Following {
  follower: Follower;
  /** Since the memory was current, as far as anybody knows. */
  secondsBehind(): number;
  /** For the header `Age`; undefined where the memory is as current as it can be. */
  age(): number | undefined;
  /** The same of the database, for what is read from there. */
  ageOfDatabase(): number | undefined;
  /** What a request has written is in this process's own memory when it resolves, unless the database is away. */
  onWritten(): Promise<void>;
  /** Loops that end by the signal. */
  run(signal: AbortSignal): Promise<void>[];
}

/** Of a standby that was started while its primary is away: what is too much to be counted (RFC 9111 section 1.2.2). */
const unknownAge = 2 ** 31;

export function createFollowing({ database, config, log }: Pick<Context, 'database' | 'config' | 'log'>): Following {
  const standby = config.replicaUrl === undefined ? undefined : createStandby(database.query);
  // A standby tells nobody of changes, so it is asked more often.
  const pollMs = standby === undefined ? config.pollMs : Math.min(config.pollMs, 100);
  const follower = createFollower({
    database,
    createReplica: (now) => createReplica({ dialects, now }),
    pollMs,
    onFault: (error) => log.error({ err: error }, 'follower fault'),
  });
  const databaseBehind = () => standby?.secondsBehind() ?? 0;
  const secondsBehind = () => Math.max(follower.secondsBehind(), databaseBehind());
  /** Between two polls nobody knows of anything newer; what is older than that was not to be had. */
  const told = (seconds: number) =>
    seconds > 1 + pollMs / 1_000 ? Math.min(Math.floor(seconds), unknownAge) : undefined;

  function wakeBy(databaseUrl: string, signal: AbortSignal): Promise<void> {
    return listen(
      {
        databaseUrl,
        channel: changeChannel,
        onWake: (payload) => {
          const [schema, position = ''] = payload.split(/ (?=\d{1,19}$)/);
          // Whoever may connect to the database may notify; and it may have other registries, in other schemas.
          if (schema === database.schema) follower.wake(position === '' ? undefined : BigInt(position));
        },
        onConnect: follower.distrust,
        onFault: (error) => log.warn({ err: error }, 'notifications of changes are interrupted'),
      },
      signal,
    );
  }

  return {
    follower,
    secondsBehind,
    age: () => told(secondsBehind()),
    ageOfDatabase: () => told(databaseBehind()),
    async onWritten() {
      if (follower.position() === undefined) return;
      await follower.catchUp().catch((error: unknown) => log.warn({ err: error }, 'the index is behind'));
    },
    run(signal) {
      // Where the standby cannot be asked, the follower cannot read it either, and says so.
      const quiet = () => undefined;
      return [
        follower.run(signal),
        ...(standby === undefined ? [] : [repeat(standby.look, pollMs, signal, quiet)]),
        ...(config.databaseUrl === undefined ? [] : [wakeBy(config.databaseUrl, signal)]),
      ];
    },
  };
}
