import { forgetLeases } from '../deliveries/lease.js';
import { forget } from '../handshake/forget.js';
import { sweep } from '../handshake/sweep.js';
import type { Query } from '../storage/sql.js';
import type { CredentialVault } from '../subscriptions/credential-vault.js';
import { forgetEndedCredentials, resealCredentials } from '../subscriptions/reseal-credentials.js';
import type { Context } from './context.js';
import { repeat } from './repeat.js';

/** What a process that writes does by the clock. Safe in several processes at once. */
export interface Upkeep {
  /** Brings about what time alone brings about. */
  sweep(): Promise<void>;
  /** Deletes what is older than it is kept. */
  forget(): Promise<void>;
  /** Loops that end by the signal. */
  run(signal: AbortSignal): Promise<void>[];
}

const hourMs = 3_600_000;
/** As often as a server begins its log anew (checkpoint_timeout). */
const tidyMs = 300_000;

export function createUpkeep({ database, config, log, stopping }: Context, vault: CredentialVault): Upkeep {
  // There may be much of it, and a stop waits for no more than what is under way.
  const query: Query = async (text, values) => {
    stopping.throwIfAborted();
    return database.query(text, values);
  };

  async function reseal(): Promise<void> {
    const { resealed, unopened, example } = await resealCredentials({ query }, vault);
    if (resealed > 0) log.info({ credentials: resealed }, 'credentials were sealed with the present key');
    if (unopened > 0) log.error({ credentials: unopened, subscription: example }, 'no key opens these credentials');
  }

  const upkeep: Upkeep = {
    sweep: () => sweep(database),
    async forget() {
      await forget({ ...database, query }, config);
      await forgetLeases(query);
      await forgetEndedCredentials({ query });
    },
    run(signal) {
      const onFault = (error: unknown) => log.error({ err: error }, 'sweep fault');
      return [
        repeat(upkeep.sweep, config.pollMs * 2, signal, onFault),
        repeat(upkeep.forget, hourMs, signal, onFault),
        repeat(database.tidy, tidyMs, signal, onFault, tidyMs),
        // Not at the start: where processes are restarted one by one, the others do not have a new key yet.
        repeat(reseal, hourMs, signal, onFault, hourMs),
      ];
    },
  };
  return upkeep;
}
