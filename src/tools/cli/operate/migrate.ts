import { readDatabaseUrl } from '../../../registry/app/config.js';
import { compareMigrations, migrate, readMigrations } from '../../../registry/storage/migrate.js';
import { openDatabase } from '../../../registry/storage/open-database.js';
import type { Io } from '../command.js';

export const exitCodes = {
  /** Nothing is pending. */
  done: 0,
  /** Migrations are pending, or cannot be applied. */
  refused: 1,
  /** The database does not respond, or refuses the user. */
  unreachable: 3,
} as const;

/** Resolves to the exit code of `assent migrate`. Throws a SetupError for people. */
export async function runMigrate(
  { isCheck }: { isCheck: boolean },
  { stdout, stderr, env }: Pick<Io, 'stdout' | 'stderr' | 'env'>,
): Promise<number> {
  const databaseUrl = readDatabaseUrl(env);
  const database = await openDatabase({ databaseUrl, dataFolder: '', readsOnly: isCheck }).catch((error: Error) => {
    stderr.write(`${error.message}\n`);
  });
  if (database === undefined) return exitCodes.unreachable;
  try {
    const { pending, unknown } = await compareMigrations(database, await readMigrations());
    if (unknown.length > 0) {
      stdout.write(`A newer version of Assent migrated this database: it has ${unknown.join(', ')}.\n`);
    }
    if (pending.length === 0) {
      stdout.write('No migration is pending.\n');
      return exitCodes.done;
    }
    if (isCheck) {
      stdout.write(pending.map((name) => `pending: ${name}\n`).join(''));
      return exitCodes.refused;
    }
    const applied = await migrate(
      database,
      (name) => void stderr.write(`${name} waits for a transaction that locks a table.\n`),
    );
    stdout.write(applied.map((name) => `applied: ${name}\n`).join(''));
    return exitCodes.done;
  } finally {
    await database.close();
  }
}
