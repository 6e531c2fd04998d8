import type { Query, Stream } from './database.js';

interface Row {
  text: string;
}

/** Large enough to be efficient, and small enough not to block the event loop for long. */
const pageCharacters = 262_144;
const firstRows = 256;
const maxRows = 4_096;

/** In a transaction. A caller that does not read to the end must end it. */
export function streamBy(query: Query): Stream {
  return async function* (statement, values) {
    // By default Postgres plans a cursor for its first rows.
    await query('set local cursor_tuple_fraction to 1');
    await query(`declare stream no scroll cursor for ${statement}`, values);
    const fetch = (rows: number) => {
      const page = query<Row>(`fetch ${rows} from stream`);
      // Whoever reads the page gets the error; a reader that has left does not.
      page.catch(() => undefined);
      return page;
    };
    let next = fetch(firstRows);
    for (;;) {
      const page = (await next).map(({ text }) => text);
      if (page.length === 0) break;
      const characters = page.reduce((sum, text) => sum + text.length, 0);
      next = fetch(Math.ceil(Math.min(maxRows, (page.length * pageCharacters) / Math.max(characters, 1))));
      yield page;
    }
    await query('close stream');
  };
}
