import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Database } from '../../../src/registry/storage/database.js';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { copyDatabase, isServer } from '../../support/registry.js';

let folder: string;
let copy: Awaited<ReturnType<typeof copyDatabase>>;
let database: Database;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-turns-'));
  copy = await copyDatabase(folder);
  database = await openDatabase({ databaseUrl: copy.url, dataFolder: folder });
  // Prisma takes its time for the first one.
  await database.client.$queryRaw`select 1`;
});
afterAll(async () => {
  await database.close();
  await copy.drop();
  await rm(folder, { recursive: true });
});

/** A server has a connection for each. */
const onOneConnection = isServer() ? test.skip : test;

const decide = () =>
  database.write(async ({ sql }) => {
    for (let statement = 0; statement < 5; statement += 1) await sql.$queryRaw`select 1`;
  });
const reads = {
  'a statement': () => database.query('select 1'),
  'a template': () => database.sql.$queryRaw`select 1`,
  Prisma: () => database.client.$queryRaw`select 1`,
};

onOneConnection.each(Object.entries(reads))(
  'a read (%s) waits for the decision that runs, and not for those that wait',
  async (_name, read) => {
    const done: string[] = [];
    let begin = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const running = database
      .write(async ({ sql }) => {
        begin();
        await sql.$queryRaw`select 1`;
      })
      .then(() => done.push('running'));
    const waiting = Array.from({ length: 20 }, () => decide().then(() => done.push('waiting')));
    await begun;
    await read().then(() => done.push('read'));
    expect(done).toEqual(['running', 'read']);
    await Promise.all([running, ...waiting]);
    expect(done.filter((each) => each === 'waiting')).toHaveLength(20);
  },
);

onOneConnection('a decision waits only for the reads that came before it, however many follow', async () => {
  let count = 0;
  let isOver = false;
  const reader = async () => {
    for (; !isOver; count += 1) {
      await database.query('select 1');
      // As requests do, and timers must run.
      await nextTurn();
    }
  };
  const readers = Array.from({ length: 5 }, reader);
  await database.query('select 1');
  // The pause after an earlier decision is over.
  await sleep(50);
  const before = count;
  await decide();
  const meanwhile = count - before;
  isOver = true;
  await Promise.all(readers);
  expect(meanwhile).toBeLessThanOrEqual(10);
});
