import type { Express } from 'express';
import type { Worker } from '../handshake/worker.js';
import { createOperationsApp } from '../http/operations.js';
import { pendingMigrations, readMigrations } from '../storage/migrate.js';
import type { Context } from './context.js';
import type { Following } from './following.js';

/** Health, with what has to hold for requests to be sent here, and the metrics. */
export async function createOperations(
  { database, config, metrics, stopping }: Context,
  { follower }: Pick<Following, 'follower'>,
  worker: Pick<Worker, 'secondsSincePoll'>,
): Promise<Express> {
  const migrations = await readMigrations();
  return createOperationsApp({
    metrics: metrics.registry,
    timeoutMs: 2_000,
    stopping,
    checks: {
      process: async () => (stopping.aborted ? 'stopping' : undefined),
      database: async () => void (await database.client.$queryRaw`select 1`),
      migrations: async () => {
        const pending = await pendingMigrations(database, migrations);
        return pending.length > 0 ? `pending: ${pending.join(', ')}` : undefined;
      },
      index: async () => {
        if (follower.position() === undefined) return 'loading';
        // While the database is away it is kept, with its age; this is something else.
        return follower.secondsFailing() > 30 ? 'does not follow' : undefined;
      },
      ...(config.replicaUrl === undefined
        ? { worker: async () => (worker.secondsSincePoll() > config.pollMs / 1_000 + 30 ? 'does not poll' : undefined) }
        : { writes: async () => 'read only' }),
    },
    readChecks: ['process', 'index'],
  });
}
