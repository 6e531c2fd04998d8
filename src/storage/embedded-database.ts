import { SetupError } from '../errors.js';
import { unlessVictim } from './database-errors.js';
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
    .then(() => PGlite.create(folder))
    .catch(async (error: Error) => {
      await unlock();
      return cannot(error);
    });
  const closing = new AbortController();
  const watching = writeWithRoom(pglite, folder, onRoom, closing.signal);
  const client = new PrismaClient({ adapter: new PrismaPGlite(pglite) });
  return {
    kind: 'embedded',
    place: `embedded Postgres in ${folder}`,
    client,
    sql: sqlOn(runOn(pglite)),
    schema: 'public',
    write: (work) => unlessVictim(() => pglite.transaction((sql) => inTransaction(sqlOn(runOn(sql)), work))),
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
    close: async () => {
      closing.abort();
      await Promise.all([client.$disconnect(), watching]);
      await pglite.close();
      await unlock();
    },
  };
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
