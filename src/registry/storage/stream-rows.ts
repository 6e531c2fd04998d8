import type { Socket } from 'node:net';
import pg from 'pg';

/**
 * The column `text` of a statement's rows, in pages as they arrive. Postgres continues with the statement while a page
 * is processed, and at most two pages are in memory. One stream at a time, which must be read to its end.
 */
export type Stream = (statement: string, values: string[]) => AsyncGenerator<string[]>;

interface Row {
  text: string;
}

/** Large enough to be efficient, and small enough not to block the event loop for long. */
const pageCharacters = 262_144;
const pageRows = 256;

/** A caller that does not read to the end must close the connection. */
export function streamOn(connection: pg.PoolClient): Stream {
  const { stream: socket } = (connection as pg.PoolClient & { connection: { stream: Socket } }).connection;
  return async function* (statement, values) {
    let page: string[] = [];
    let characters = 0;
    let end: { error?: Error } | undefined;
    let wake = () => {};
    const finish = (how: { error?: Error }) => {
      end = how;
      wake();
    };
    connection
      .query(new pg.Query<Row>(statement, values))
      .on('end', () => finish({}))
      .on('error', (error) => finish({ error }))
      .on('row', ({ text }) => {
        page.push(text);
        characters += text.length;
        if (characters < pageCharacters) return;
        socket.pause();
        wake();
      });
    for (;;) {
      if (end === undefined && characters < pageCharacters) await new Promise<void>((resolve) => (wake = resolve));
      if (end?.error !== undefined) throw end.error;
      if (page.length === 0) return;
      const full = page;
      [page, characters] = [[], 0];
      // The next page arrives while this one is processed.
      socket.resume();
      yield full;
    }
  };
}

/** For the embedded Postgres, which holds a whole result in memory. */
export function streamByCursor(query: (statement: string, values?: string[]) => Promise<Row[]>): Stream {
  return async function* (statement, values) {
    await query(`declare stream no scroll cursor for ${statement}`, values);
    for (;;) {
      const rows = await query(`fetch ${pageRows} from stream`);
      if (rows.length === 0) break;
      yield rows.map(({ text }) => text);
    }
    await query('close stream');
  };
}
