import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../errors.js';
import { sqlState } from './database-errors.js';
import type { Database, Session } from './database.js';

/**
 * Applies prisma/migrations in order, each in one transaction, and keeps the table that `prisma migrate deploy` keeps,
 * so that both agree on what is done. Prisma's own command needs an engine that is downloaded; this needs nothing.
 * Processes that start together wait for one another on an advisory lock.
 */
const folder = new URL('../../prisma/migrations/', import.meta.url);
/** Less than a statement of others may take. */
const patienceMs = 2_000;

export interface Migration {
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
 * Returns the names of what was applied now. `onWaiting` hears of a migration that waits for somebody's transaction.
 * Throws a SetupError if a migration has changed since it was applied.
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
    // Where it is there, this asks for no more than the rights to rows, and a database that only reads says so.
    await execute(table?.isthere ? 'update _prisma_migrations set id = id where false' : createTable);
  });
  const { pending } = await compareMigrations(database, migrations);
  for (const { name, sql, checksum } of migrations.filter((migration) => pending.includes(migration.name))) {
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
    );
  }
  return pending;
}

/**
 * A migration's statements, each of which ends where a line ends with a semicolon; bodies of functions stand between `$$`.
 * One by one, because Citus passes each on to the node that has the schema.
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

/** For a standby, which gets its migrations from its primary: returns when it has them all. */
export async function awaitMigrations(
  database: Database,
  { pollMs, onPending }: { pollMs: number; onPending: (names: string[]) => void },
): Promise<void> {
  const migrations = await readMigrations();
  for (let told = false; ; told = true) {
    const { pending } = await compareMigrations(database, migrations).catch((error: unknown) => {
      const isEmpty = sqlState(error) === '42P01';
      if (isEmpty) return { pending: migrations.map(({ name }) => name) };
      throw error;
    });
    if (pending.length === 0) return;
    if (!told) onPending(pending);
    await sleep(pollMs);
  }
}

/**
 * Whoever waits for a table that a long transaction has, such as a dump, keeps everybody from it who comes later; so they
 * are let pass in between.
 */
async function underLock(
  database: Database,
  work: (session: Session) => Promise<void>,
  onWaiting?: () => void,
): Promise<void> {
  for (let told = false; ; told = true) {
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
    if (!told) onWaiting?.();
    await sleep(patienceMs);
  }
}

export interface MigrationNames {
  /** This version brings them, and the database lacks them. */
  pending: string[];
  /** The database has them, and this version does not know them: a newer version applied them. */
  unknown: string[];
}

/** SetupError if a migration has changed since it was applied. */
export async function compareMigrations(database: Database, migrations: readonly Migration[]): Promise<MigrationNames> {
  const rows = await database.client.$queryRaw<Array<{ name: string; checksum: string }>>`
    select migration_name as name, checksum from _prisma_migrations
    where finished_at is not null and rolled_back_at is null`;
  const done = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const changed = migrations.find(({ name, checksum }) => done.has(name) && done.get(name) !== checksum);
  if (changed) throw new SetupError(`The migration ${changed.name} is not the one that was applied to this database.`);
  const names = migrations.map(({ name }) => name);
  return {
    pending: names.filter((name) => !done.has(name)),
    unknown: [...done.keys()].filter((name) => !names.includes(name)).sort(),
  };
}
