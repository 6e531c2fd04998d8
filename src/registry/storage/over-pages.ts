import type { Query } from './sql.js';

const pagesAtOnce = 2_000;

/** The condition that limits a statement to one part of the table. */
export const inPages = 'ctid >= $1::tid and ctid < $2::tid';

/**
 * Runs a statement with the condition `inPages` for one part of a table after the other. So no statement takes long,
 * however large the table is, with or without a suitable index.
 */
export async function overPages(query: Query, table: string, statement: string): Promise<void> {
  for (let from = 0; ; from += pagesAtOnce) {
    // The first row after the finished part. The size of the table is known only on its node, which may be another one.
    const [next] = await query<{ at: string }>(`select ctid::text as at from ${table} where ctid >= $1::tid limit 1`, [
      `(${from},0)`,
    ]);
    if (next === undefined) return;
    from = Number(/\d+/.exec(next.at)?.[0]);
    await query(statement, [`(${from},0)`, `(${from + pagesAtOnce},0)`]);
  }
}
