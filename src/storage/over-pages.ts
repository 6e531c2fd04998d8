import type { Query } from './sql.js';

const pagesAtOnce = 2_000;

/** The condition for rows of the part that a statement is run for. */
export const inPages = 'ctid >= $1::tid and ctid < $2::tid';

/**
 * Runs a statement, which has the condition `inPages`, for one part of a table after the other, so that none of them
 * takes long, however large the table is and whether or not an index leads to what is wanted.
 */
export async function overPages(query: Query, table: string, statement: string): Promise<void> {
  for (let from = 0; ; from += pagesAtOnce) {
    // The first row behind what is done; a size is known only where the table is, which may be another node.
    const [next] = await query<{ at: string }>(`select ctid::text as at from ${table} where ctid >= $1::tid limit 1`, [
      `(${from},0)`,
    ]);
    if (next === undefined) return;
    from = Number(/\d+/.exec(next.at)?.[0]);
    await query(statement, [`(${from},0)`, `(${from + pagesAtOnce},0)`]);
  }
}
