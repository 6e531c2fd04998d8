import type { Express } from 'express';
import type { Context } from '../context.js';
import { compareMigrations, readMigrations } from '../storage/migrate.js';
import { createOperationsApp } from './operations-app.js';

/** Health, with the conditions for receiving requests, and the metrics. */
export async function createOperations({
  database,
  config,
  log,
  metrics,
  follower,
  worker,
  secretWatch,
  stopping,
}: Context): Promise<Express> {
  const migrations = await readMigrations();
  let unknown: string[] = [];
  /** Not a failure: during a rolling upgrade, the old version keeps running next to the new one. */
  async function look(): Promise<string[]> {
    const names = await compareMigrations(database, migrations);
    const fresh = names.unknown.filter((name) => !unknown.includes(name));
    if (fresh.length > 0) log.error({ migrations: fresh }, 'the database has migrations of a newer version');
    unknown = names.unknown;
    metrics.unknownMigrations(unknown.length);
    return names.pending;
  }
  await look();
  return createOperationsApp({
    metrics: metrics.registry,
    timeoutMs: 2_000,
    stopping,
    checks: {
      process: async () => (stopping.aborted ? 'stopping' : undefined),
      database: async () => void (await database.client.$queryRaw`select 1`),
      migrations: async () => {
        const pending = await look();
        return pending.length > 0 ? `pending: ${pending.join(', ')}` : undefined;
      },
      index: async () => {
        if (follower.position() === undefined) return 'loading';
        // If the database is unavailable, the index is kept, with its age. This is a different failure.
        return follower.secondsFailing() > 30 ? 'does not follow' : undefined;
      },
      ...(config.database.replicaUrl === undefined
        ? {
            worker: async () => (worker.secondsSincePoll() > config.pollMs / 1_000 + 30 ? 'does not poll' : undefined),
            writes: async () => database.refusesWrites(),
          }
        : { writes: async () => 'read only' }),
    },
    readChecks: ['process', 'index'],
    needs: { migrations: ['database'], writes: ['database'] },
    warnings: () => [
      ...unknown.map((name) => `The database has a migration of a newer version: ${name}`),
      ...secretWatch.warnings(),
    ],
  });
}
