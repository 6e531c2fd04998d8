import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Database } from '../../../src/registry/storage/database.js';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { copyDatabase, isServer } from '../../support/registry.js';

let folder: string;
let copy: Awaited<ReturnType<typeof copyDatabase>>;
let database: Database;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-stream-'));
  copy = await copyDatabase(folder);
  database = await openDatabase({ databaseUrl: copy.url, dataFolder: folder });
});
afterAll(async () => {
  await database.close();
  await copy.drop();
  await rm(folder, { recursive: true });
});

/** The rows of each page, for a slow reader. */
const pagesOf = (statement: string, ...values: string[]) =>
  database.snapshot(async ({ stream }) => {
    const pages: string[][] = [];
    for await (const page of stream(statement, values)) {
      pages.push(page);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return pages;
  });

test('a stream has every row once and in order, and holds few of them at a time, however many there are', async () => {
  const pages = await pagesOf(`select n || repeat($1, 999) as text from generate_series(1, 5000) n`, 'é');
  expect(pages.flat().map((text) => parseInt(text))).toEqual(Array.from({ length: 5_000 }, (_, n) => n + 1));
  expect(pages.flat().every((text) => text.endsWith('é'.repeat(999)))).toBe(true);
  expect(Math.max(...pages.map((page) => page.length))).toBeLessThan(500);
  expect(await pagesOf(`select 'never' as text where $1 = 'b'`, 'a')).toEqual([]);
});

test('streams of one snapshot see the same moment, one after the other', async () => {
  const statement = 'select cluster as text from feed_state where true';
  const seen = await database.snapshot(async ({ stream, query }) => {
    const states: string[] = [];
    for await (const page of stream(statement, [])) states.push(...page);
    if (isServer()) await database.exclusively(({ execute }) => execute(`update feed_state set cluster = 'another'`));
    for await (const page of stream(statement, [])) states.push(...page);
    return [
      ...states,
      ...(await query<{ cluster: string }>('select cluster from feed_state')).map(({ cluster }) => cluster),
    ];
  });
  expect(seen).toHaveLength(3);
  expect(new Set(seen).size).toBe(1);
});

test('a failure of the statement or of its reader fails the snapshot, and the next snapshot is complete', async () => {
  const rows = `select (60000 / (50000 - n))::text as text from generate_series(1, $1::int) n`;
  await expect(pagesOf(rows, '60000')).rejects.toThrow('division by zero');
  const leaving = database.snapshot(async ({ stream }) => {
    for await (const page of stream(rows, ['40000'])) throw new Error(`No more than ${page[0]}.`);
  });
  await expect(leaving).rejects.toThrow('No more than 1.');
  expect((await pagesOf(rows, '40000')).flat()).toHaveLength(40_000);
});
