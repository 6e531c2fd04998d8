import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SetupError } from '../errors.js';
import { diskFull, unlessVictim } from './database-errors.js';
import type { Database } from './database.js';
import { requireRoom, writeWithRoom, type OnRoom } from './disk-room.js';
import { lockFolder } from './folder-lock.js';
import { PrismaClient } from './generated/client.js';
import { makeFolder } from './make-folder.js';
import { sqlOn, type Query, type Run } from './sql.js';
import { streamByCursor } from './stream-rows.js';
import { tidy } from './tidy.js';
import { inTransaction } from './transaction.js';

/** PGlite in a folder of its own. SetupError where the folder is in use, or has no room. */
export async function openEmbedded(folder: string, onRoom: OnRoom): Promise<Database> {
  // Loaded here: a deployment on a server needs neither of them in memory.
  const [{ PGlite }, { PrismaPGlite }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('pglite-prisma-adapter'),
  ]);
  const cannot = (error: Error) => {
    throw error instanceof SetupError
      ? error
      : new SetupError(`ASSENT_DATA: no database in ${folder}: ${error.message}`);
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
  return {
    kind: 'embedded',
    place: `embedded Postgres in ${folder}`,
    client,
    sql: sqlOn(runOn(pglite)),
    schema: 'public',
    write: (work) =>
      unlessVictim(async () => {
        const { result } = await pglite.transaction((sql) => inTransaction(sqlOn(runOn(sql)), work));
        return result;
      }),
    query: async <Row>(text: string, values?: unknown[]) => (await pglite.query<Row>(text, values)).rows,
    snapshot: (work) =>
      pglite.transaction((sql) => {
        const query: Query = async <Row>(text: string, values?: unknown[]) => (await sql.query<Row>(text, values)).rows;
        return work({ query, stream: streamByCursor(query) });
      }),
    exclusively: (work) =>
      pglite.transaction((sql) =>
        work({
          query: async <Row>(text: string, values?: unknown[]) => (await sql.query<Row>(text, values)).rows,
          execute: (statements) => sql.exec(statements),
        }),
      ),
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
 * Makes the database of an empty folder. That keeps a thread busy for seconds, so another thread does it: this one can
 * still end the process. What was being made lies beside the folder until it is whole.
 */
async function makeIfMissing(folder: string): Promise<void> {
  if (existsSync(join(folder, 'PG_VERSION'))) return;
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await makeFolder(unfinished);
  const module = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const code = `const { module, folder } = require('node:worker_threads').workerData;
    require(module).PGlite.create(folder).then((database) => database.close());`;
  await once(new Worker(code, { eval: true, workerData: { module, folder: unfinished } }), 'exit');
  await rename(unfinished, folder);
}

interface EmbeddedConnection {
  query: (text: string, values: unknown[]) => Promise<{ rows: unknown[]; affectedRows?: number }>;
}

function runOn(connection: EmbeddedConnection): Run {
  return async (text, values) => {
    const { rows, affectedRows } = await connection.query(text, values);
    return { rows, rowCount: affectedRows ?? 0 };
  };
}
