import { until } from '../../base/until.js';
import { version } from '../../base/version.js';
import type { Context } from '../context.js';
import type { Handlers } from '../http/handler.js';

/** How long the database may take to say what is due. */
const patienceMs = 2_000;

/** Whether a process keeps up, for admins. Operators have more of it, and for every process, in the metrics. */
export function routes({ config, database, follower, freshness, queue }: Context): Handlers<'getHealth'> {
  return {
    getHealth: async () => {
      const secondsLate = await until(
        queue.lagSeconds().catch(() => undefined),
        { ms: patienceMs, ref: false },
      );
      const secondsBehind = freshness.secondsBehind();
      const revision = follower.position()?.toString();
      return {
        status: 200,
        body: {
          version,
          revision,
          secondsbehind: Number.isFinite(secondsBehind) ? secondsBehind : undefined,
          secondslate: secondsLate,
          writable: config.database.replicaUrl === undefined && database.refusesWrites() === undefined,
        },
      };
    },
  };
}
