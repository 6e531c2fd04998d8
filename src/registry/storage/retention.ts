import type { Query } from './database.js';

// Every folder that deletes has a retention.ts. What its statements share is here. app/upkeep.ts says when they run.

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

/** Repeats a statement that deletes at most `maxRows` rows and returns their number as `gone`, until fewer are left. */
export async function inBatches(query: Query, maxRows: number, statement: string, values: unknown[]): Promise<void> {
  for (let gone = maxRows; gone === maxRows;) {
    const [row] = await query<{ gone: number }>(statement, values);
    gone = row?.gone ?? 0;
  }
}

/** Deletes idempotency keys after a day. */
export function forgetKeys(query: Query): Promise<void> {
  return overPages(
    query,
    'idempotency',
    `delete from idempotency where ${inPages} and createdat < now() - interval '1 day'`,
  );
}
