import type { Query } from './database.js';

const pagesAtOnce = 2_000;

/** The condition for rows of the part that a statement is run for. */
export const inPages = 'ctid >= $1::tid and ctid < $2::tid';

/**
 * Runs a statement, which has the condition `inPages`, for one part of a table after the other, so that none of them
 * takes long, however large the table is and whether or not an index leads to what is wanted.
 */
export async function overPages(query: Query, table: string, statement: string): Promise<void> {
  const [size] = await query<{ pages: number }>(
    `select (pg_relation_size('${table}') / current_setting('block_size')::int)::float8 as pages`,
  );
  for (let from = 0; from < (size?.pages ?? 0); from += pagesAtOnce) {
    await query(statement, [`(${from},0)`, `(${from + pagesAtOnce},0)`]);
  }
}
