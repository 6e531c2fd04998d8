import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createFollower, type Follower } from '../../src/changes/follower.js';
import type { LoggedChange } from '../../src/changes/log.js';
import { dialects } from '../../src/matching/dialects.js';
import { createReplica } from '../../src/matching/replica.js';
import { openDatabase, type Database } from '../../src/storage/database.js';
import { copyDatabase } from '../support/registry.js';

let folder: string;
let copy: Awaited<ReturnType<typeof copyDatabase>>;
let database: Database;
let follower: Follower;
let told: bigint[];
/** Runs while everything is being loaded. */
let onLoad = () => {};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-take-'));
  copy = await copyDatabase(folder);
  database = await openDatabase({ databaseUrl: copy.url, dataFolder: folder });
  const onFault = (error: unknown) => {
    throw error;
  };
  const create = (now: () => number) => {
    onLoad();
    return createReplica({ dialects, now });
  };
  onLoad = () => {};
  follower = createFollower({ database, createReplica: create, pollMs: 60_000, onFault });
  told = [];
  follower.subscribe((changes) => told.push(...changes.map(({ position }) => position)));
  await follower.catchUp();
});
afterEach(async () => {
  await database.close();
  await copy.drop();
  await rm(folder, { recursive: true });
});

/** Logs a change, as a batch does, and gives what the batch is told of it. */
async function log(): Promise<[LoggedChange[], bigint]> {
  const [row] = await database.query<{ log: { after: string; changes: Array<{ position: string }> } }>(
    `select log_changes(array['gemeente'], array['a.example'], array['origin.changed'], array[''], array[null]::uuid[]) as log`,
  );
  const { after = '', changes = [] } = row?.log ?? {};
  return [changes.map((change) => ({ ...change, position: BigInt(change.position) }) as LoggedChange), BigInt(after)];
}

test('what comes right after what was applied is taken in at once, and nothing twice', async () => {
  const [changes, after] = await log();
  expect(follower.take(changes, after)).toBeUndefined();
  expect(follower.position()).toBe(changes[0]?.position);
  await follower.catchUp();
  expect(told).toEqual(changes.map(({ position }) => position));
});

test('what leaves a gap is read, with what lies in between', async () => {
  const [first] = await log();
  const [second, after] = await log();
  await follower.take(second, after);
  expect(told).toEqual([...first, ...second].map(({ position }) => position));
});

test('nothing is taken in while the history is in doubt, nor while all is loaded anew', async () => {
  const unlogged = (): [LoggedChange[], bigint] => {
    const after = follower.position() ?? 0n;
    const change = { position: after + 1n, at: '', tenant: 'gemeente', origin: 'a.example', kind: 'origin.changed' };
    return [[{ ...change, sink: '', subscription: null, state: null }], after];
  };
  const known = follower.position();
  follower.distrust();
  await follower.take(...unlogged());
  expect(follower.position()).toBe(known);

  await database.query('update feed set epoch = gen_random_uuid()');
  let taken: Promise<void> | undefined;
  onLoad = () => {
    taken = follower.take(...unlogged());
  };
  await follower.catchUp();
  expect(taken).toBeInstanceOf(Promise);
  await taken;
  expect(follower.position()).toBe(known);
  expect(told).toEqual([]);
});
