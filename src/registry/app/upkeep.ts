import { createBlockStore } from '../blocks/store.js';
import { forgetLeases } from '../deliveries/lease.js';
import { forget } from '../handshake/forget.js';
import { sweep } from '../handshake/sweep.js';
import { flushMs, type Counter } from '../statistics/counter.js';
import { forgetStatistics } from '../statistics/read-statistics.js';
import type { Query } from '../storage/sql.js';
import { forgetEnded, recordEnds } from '../subscriptions/end.js';
import type { CredentialVault } from '../subscriptions/credential-vault.js';
import { forgetEndedCredentials, resealCredentials } from '../subscriptions/reseal-credentials.js';
import type { Context } from './context.js';
import { repeat } from './repeat.js';

/** The periodic work of a process that writes. Safe in several processes at once. */
export interface Upkeep {
  /** Runs the transitions that time alone causes. */
  sweep(): Promise<void>;
  /** Deletes data whose retention time is over. */
  forget(): Promise<void>;
  /** Loops that end when the signal fires. */
  run(signal: AbortSignal): Promise<void>[];
}

const hourMs = 3_600_000;
/** The interval of a server's checkpoints (checkpoint_timeout). */
const tidyMs = 300_000;

export function createUpkeep(
  { database, config, log, stopping }: Context,
  vault: CredentialVault,
  counter: Pick<Counter, 'flush'>,
): Upkeep {
  // There may be many statements, and a stop waits only for the one in progress.
  const query: Query = async (text, values) => {
    stopping.throwIfAborted();
    return database.query(text, values);
  };

  const blocks = createBlockStore(database);

  async function reseal(): Promise<void> {
    const { resealed, unopened, example } = await resealCredentials({ query }, vault);
    if (resealed > 0) log.info({ credentials: resealed }, 're-encrypted credentials with the current key');
    if (unopened > 0) log.error({ credentials: unopened, subscription: example }, 'no key decrypts these credentials');
  }

  const upkeep: Upkeep = {
    async sweep() {
      // None may keep the others from their work.
      await recordEnds(database)
        .finally(() => blocks.liftEnded())
        .finally(() => sweep(database));
    },
    async forget() {
      await forgetEnded(query, config.retentionDays);
      await forget({ ...database, query }, config);
      await forgetLeases(query);
      await forgetEndedCredentials({ query });
      await forgetStatistics(query);
    },
    run(signal) {
      const onFault = (error: unknown) => log.error({ err: error }, 'sweep fault');
      return [
        repeat(upkeep.sweep, config.pollMs * 2, signal, onFault),
        repeat(upkeep.forget, hourMs, signal, onFault),
        repeat(counter.flush, flushMs, signal, onFault, flushMs),
        repeat(database.tidy, tidyMs, signal, onFault, tidyMs),
        // Not at startup: during a rolling restart, the other processes do not have a new key yet.
        repeat(reseal, hourMs, signal, onFault, hourMs),
      ];
    },
  };
  return upkeep;
}
