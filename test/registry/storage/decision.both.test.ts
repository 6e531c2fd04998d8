import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { service, type Database, type Transaction } from '../../../src/registry/storage/database.js';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { copyDatabase } from '../../support/registry.js';

let folder: string;
let copy: Awaited<ReturnType<typeof copyDatabase>>;
let database: Database;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-decision-'));
  copy = await copyDatabase(folder);
  database = await openDatabase({ databaseUrl: copy.url, dataFolder: folder });
});
afterAll(async () => {
  await database.close();
  await copy.drop();
  await rm(folder, { recursive: true });
});

const pair = { tenant: 'gemeente', origin: 'eventemitter.example.com', sink: 'https://webhook.example.com/' };
const notes = () => database.query<{ key: string }>('select key from rate_window order by key');
const note = ({ sql }: Transaction, key: string) =>
  sql.$executeRaw`insert into rate_window (key, taken, until) values (${key}, '{}', now())`;
const recorded = async () => {
  const [counts] = await database.query(
    `select (select count(*)::int from audit) as audits, (select count(*)::int from change) as changes`,
  );
  return counts;
};

test('of a decision, all is committed or nothing: its state, its audit record and its change', async () => {
  const kind = 'subscription.created';
  await database.write(async (tx) => {
    await note(tx, 'all');
    tx.audit(service('gemeente'), kind, 'subscription');
    tx.change({ kind, ...pair });
  });
  expect(await notes()).toEqual([{ key: 'all' }]);
  expect(await recorded()).toEqual({ audits: 1, changes: 1 });

  const withoutAudit = database.write(async (tx) => {
    await note(tx, 'without an audit record');
    tx.audit(service('gemeente'), kind, 'no text of Postgres: \0');
    tx.change({ kind, ...pair });
  });
  await expect(withoutAudit).rejects.toThrow(/\\u0000|unsupported Unicode/);
  const withoutChange = database.write(async (tx) => {
    await note(tx, 'without a change');
    tx.audit(service('gemeente'), kind, 'subscription');
    tx.change({ kind, ...pair, sink: 'no text of Postgres: \0' });
  });
  await expect(withoutChange).rejects.toThrow(/encoding/);
  expect(await notes()).toEqual([{ key: 'all' }]);
  expect(await recorded()).toEqual({ audits: 1, changes: 1 });
});
