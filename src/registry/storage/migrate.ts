import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { sleep } from '../../base/until.js';
import { SetupError } from '../../base/errors.js';
import { sqlState } from './database-errors.js';
import type { Database, DatabaseSession } from './database.js';
import { asOwner } from './rights.js';

/**
 * Applies prisma/migrations in order, each in one transaction. Maintains the same table as `prisma migrate deploy`, so
 * that both agree on which migrations are applied. Prisma's own command downloads an engine; this needs nothing.
 * Processes that start together wait for one another on an advisory lock.
 */
const folder = new URL('../../../prisma/migrations/', import.meta.url);
/** Less than the statement timeout of other processes. */
const patienceMs = 2_000;

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

export async function readMigrations(): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(new URL(`${name}/migration.sql`, folder), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Returns the names of the applied migrations. `onWaiting` is called for a migration that waits for another
 * transaction. Throws a SetupError, of one line, if this version cannot work with the database.
 */
export async function migrate(
  database: Database,
  onWaiting: (name: string) => void = () => undefined,
): Promise<string[]> {
  const migrations = await readMigrations();
  await underLock(database, async ({ query, execute }) => {
    const [table] = await query<{ isthere: boolean }>(
      `select to_regclass(quote_ident(current_schema()) || '._prisma_migrations') is not null as isthere`,
    );
    // If the table exists, this needs only the rights to rows, and fails on a read-only database.
    await execute(table?.isthere ? 'update _prisma_migrations set id = id where false' : createTable);
  });
  const { pending } = await compareMigrations(database, migrations);
  for (const { name, sql, checksum } of migrations.filter((migration) => pending.includes(migration.name))) {
    const failed = (error: Error) => {
      if (error instanceof SetupError || sqlState(error) === undefined) throw error;
      const advice = /^42(?:P06|P07|710|723)$/.test(sqlState(error) ?? '') ? ` ${otherDatabase}` : '';
      throw new SetupError(`The migration ${name} was not applied: ${error.message}.${advice}`, { cause: error });
    };
    await underLock(
      database,
      async ({ query, execute }) => {
        const done = await query(
          'select 1 from _prisma_migrations where migration_name = $1 and finished_at is not null',
          [name],
        );
        if (done.length > 0) return;
        for (const statement of statementsOf(sql)) await execute(statement);
        await query(
          `insert into _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
           values ($1, $2, now(), $3, 1)`,
          [randomUUID(), checksum, name],
        );
      },
      () => onWaiting(name),
    ).catch(failed);
  }
  return pending;
}

const otherDatabase = 'Use an empty database or schema, or the version that made this one.';

/**
 * The statements of a migration. A statement ends at a line that ends with a semicolon; function bodies are between
 * `$$`. They run one by one, because Citus passes each to the node that has the schema.
 */
function statementsOf(sql: string): string[] {
  const statements: string[] = [];
  let statement = '';
  for (const line of sql.split('\n')) {
    statement += `${line}\n`;
    const isInBody = statement.split('$$').length % 2 === 0;
    if (isInBody || line.startsWith('--') || !line.endsWith(';')) continue;
    statements.push(statement);
    statement = '';
  }
  return statements;
}

const createTable = `
  create table _prisma_migrations (
    id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz,
    migration_name varchar(255) not null, logs text, rolled_back_at timestamptz,
    started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`;

/** For a standby, which receives its migrations from its primary. Resolves when it has all of them. */
export async function awaitMigrations(
  database: Database,
  { pollMs, onPending }: { pollMs: number; onPending: (names: string[]) => void },
): Promise<void> {
  const migrations = await readMigrations();
  for (let isReported = false; ; isReported = true) {
    const { pending } = await compareMigrations(database, migrations);
    if (pending.length === 0) return;
    if (!isReported) onPending(pending);
    await sleep(pollMs);
  }
}

/**
 * A transaction that waits for a table lock, for example behind a dump, blocks all later queries of that table. So this
 * gives up after a short time, lets them pass, and retries.
 */
async function underLock(
  database: Database,
  work: (session: DatabaseSession) => Promise<void>,
  onWaiting?: () => void,
): Promise<void> {
  for (let isReported = false; ; isReported = true) {
    try {
      return await database.exclusively(async (session) => {
        await session.execute(`
          select pg_advisory_xact_lock(hashtextextended(current_schema() || ' migrations', 0));
          set local lock_timeout = ${patienceMs}`);
        await work(session);
      });
    } catch (error) {
      if (sqlState(error) !== '55P03') throw error;
    }
    if (!isReported) onWaiting?.();
    await sleep(patienceMs);
  }
}

interface MigrationNames {
  /** Part of this version, and not yet applied to the database. */
  pending: string[];
  /** Applied to the database, and unknown to this version: a newer version applied them. */
  unknown: string[];
}

/**
 * For a database without the table of migrations, all are pending. SetupError if a migration has changed since it was
 * applied, or if the database has another history: an unreleased version has made it.
 */
export async function compareMigrations(database: Database, migrations: readonly Migration[]): Promise<MigrationNames> {
  const rows = await database
    .query<{ name: string; checksum: string }>(
      `select migration_name as name, checksum from _prisma_migrations
       where finished_at is not null and rolled_back_at is null`,
    )
    .catch((error: Error) => {
      if (sqlState(error) === '42P01') return [];
      throw sqlState(error) === '42501' ? new SetupError(`${error.message}. ${asOwner}.`) : error;
    });
  const done = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const changed = migrations.find(({ name, checksum }) => done.has(name) && done.get(name) !== checksum);
  if (changed) {
    throw new SetupError(
      `The migration ${changed.name} is not the one that was applied to this database. ${otherDatabase}`,
    );
  }
  const names = migrations.map(({ name }) => name);
  const pending = names.filter((name) => !done.has(name));
  const unknown = [...done.keys()].filter((name) => !names.includes(name)).sort();
  if (pending.length > 0 && unknown.length > 0) {
    const history = `it lacks ${pending.join(', ')} and has ${unknown.join(', ')}`;
    throw new SetupError(`An unreleased version of Assent made this database: ${history}. ${otherDatabase}`);
  }
  return { pending, unknown };
}
