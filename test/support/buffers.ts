import pg from 'pg';
import { type Sql, sqlOn } from '../../src/registry/storage/database.js';

/** Reads a database as a process of the registry does, and counts the pages that each of its statements touches. */
export async function countBuffers(url: string | undefined) {
  // One statement at a time.
  const client = new pg.Pool({ connectionString: url, max: 1 });
  let touched = 0;
  const sql: Sql = sqlOn(async (text, values) => {
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    touched += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    return client.query(text, values);
  });
  return {
    sql,
    /** How many pages this touches. */
    async of(work: () => Promise<unknown>): Promise<number> {
      touched = 0;
      await work();
      return touched;
    },
    execute: (statements: string) => client.query(statements),
    end: () => client.end(),
  };
}
