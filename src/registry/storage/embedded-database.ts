import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SetupError } from '../../base/errors.js';
import { diskFull, unlessVictim } from './database-errors.js';
import { type Database, sqlOn, type Query, type Run, inTransaction } from './database.js';
import { hasRoom, requireRoom, writeWithRoom, type OnRoom } from '../../base/files/disk-room.js';
import { lockFolder } from '../../base/files/folder-lock.js';
import { PrismaClient } from './generated/client.js';
import { makeFolder } from '../../base/files/make-folder.js';
import { streamBy } from './stream-rows.js';

/** PGlite in its own folder. SetupError if the folder is in use, or the disk is full. */
export async function openEmbedded(folder: string, onRoom: OnRoom): Promise<Database> {
  // Loaded only here: a deployment with a Postgres server needs neither of them in memory.
  const [{ PGlite }, { PrismaPGlite }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('pglite-prisma-adapter'),
  ]);
  const cannot = (error: Error) => {
    throw error instanceof SetupError
      ? error
      : new SetupError(`ASSENT_DATA: cannot open the database in ${folder}: ${error.message}`);
  };
  const unlock = await makeFolder(folder)
    .then(() => lockFolder(folder))
    .catch(cannot);
  const pglite = await requireRoom(folder)
    .then(() => makeIfMissing(folder))
    .then(() => PGlite.create(folder))
    .catch(async (error: Error) => {
      await unlock();
      return cannot(error);
    });
  const closing = new AbortController();
  let isFull = false;
  const noteRoom: OnRoom = (isRoom) => {
    isFull = !isRoom;
    onRoom(isRoom);
  };
  const watching = writeWithRoom(pglite, folder, noteRoom, closing.signal);
  const client = new PrismaClient({ adapter: new PrismaPGlite(pglite) });
  const inTurn = createTurns();
  return {
    kind: 'embedded',
    place: `embedded Postgres in ${folder}`,
    client,
    sql: sqlOn(runOn(pglite)),
    schema: 'public',
    write: (work) =>
      unlessVictim(async () => {
        const { result } = await inTurn(() => pglite.transaction((sql) => inTransaction(sqlOn(runOn(sql)), work)));
        return result;
      }),
    query: queryOn(pglite),
    snapshot: (work) =>
      pglite.transaction((sql) => {
        const query = queryOn(sql);
        return work({ query, stream: streamBy(query) });
      }),
    exclusively: (work) =>
      pglite.transaction((sql) => work({ query: queryOn(sql), execute: (statements) => sql.exec(statements) })),
    tidy: () => tidy(pglite, folder),
    refusesWrites: () => (isFull ? diskFull : undefined),
    close: async () => {
      closing.abort();
      await Promise.all([client.$disconnect(), watching]);
      await pglite.close();
      await unlock();
    },
  };
}

/**
 * Creates the database if the folder is empty. That blocks a thread for seconds, so a worker does it: this thread can
 * still stop the process. The unfinished database is in a folder next to the final one.
 */
async function makeIfMissing(folder: string): Promise<void> {
  if (existsSync(join(folder, 'PG_VERSION'))) return;
  if ((await readdir(folder)).length > 0) {
    throw new SetupError(
      `ASSENT_DATA: ${folder} has files, but no database: PG_VERSION is missing. Restore the whole folder from a backup, or ` +
        'move it away to begin with an empty database.',
    );
  }
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await makeFolder(unfinished);
  const module = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const code = `const { module, folder } = require('node:worker_threads').workerData;
    require(module).PGlite.create(folder).then((database) => database.close());`;
  await once(new Worker(code, { eval: true, workerData: { module, folder: unfinished } }), 'exit');
  await rename(unfinished, folder);
}

/**
 * PGlite has one connection and serves its callers in order. So it gets one decision at a time, and the next one when that has
 * ended: a read waits for one decision at most, however many of them wait. A decision waits for the reads that came
 * before its turn, and not for later ones.
 *
 * PGlite works in this thread and does not let go of it between two statements. After a decision there is a pause, in
 * which requests arrive and webhooks respond: those join the next batch, which costs hardly more than one of them.
 */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.then(pause, pause);
    return turn;
  };
}

const pauseMs = 10;
const pause = () => new Promise((resolve) => setTimeout(resolve, pauseMs));

interface Connection {
  query: <Row>(text: string, values?: unknown[]) => Promise<{ rows: Row[]; affectedRows?: number }>;
  exec: (statements: string) => Promise<unknown>;
}

function queryOn(connection: Pick<Connection, 'query'>): Query {
  return async <Row>(text: string, values?: unknown[]) => (await connection.query<Row>(text, values)).rows;
}

function runOn(connection: Pick<Connection, 'query'>): Run {
  return async (text, values) => {
    const { rows, affectedRows } = await connection.query(text, values);
    return { rows, rowCount: affectedRows ?? 0 };
  };
}

/** Tables with so many dead rows that a server would vacuum them: by their own storage parameters, or by its settings. */
const tablesDue = `
  select s.relid::regclass::text as name, pg_total_relation_size(s.relid)::float8 as bytes
  from pg_stat_all_tables s join pg_class c on c.oid = s.relid
  cross join lateral (
    select jsonb_object_agg(option_name, option_value) as set from pg_options_to_table(c.reloptions)) own
  where s.n_dead_tup > greatest(c.reltuples, 0)
      * coalesce(own.set->>'autovacuum_vacuum_scale_factor', current_setting('autovacuum_vacuum_scale_factor'))::float8
    + coalesce(own.set->>'autovacuum_vacuum_threshold', current_setting('autovacuum_vacuum_threshold'))::float8`;

/**
 * Does what a server does in the background and an embedded Postgres does not. Otherwise deleted rows keep their disk
 * space forever, and the write-ahead log grows until the process ends. Does nothing while the disk is nearly full,
 * because a vacuum needs space itself: at most the size of the table, in the log.
 */
async function tidy(database: Connection, folder: string): Promise<void> {
  const checkpoint = async () => {
    if (await hasRoom(folder)) await database.exec('checkpoint');
  };
  await checkpoint();
  // Otherwise the latest counts become visible only seconds later.
  await database.exec('select pg_stat_force_next_flush()');
  const { rows } = await database.query<{ name: string; bytes: number }>(tablesDue);
  for (const { name, bytes } of rows) if (await hasRoom(folder, bytes)) await database.exec(`vacuum ${name}`);
  if (rows.length > 0) await checkpoint();
}
