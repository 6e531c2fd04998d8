import { expect, test } from '@jest/globals';
import { RegistryError } from '../../../src/base/errors.js';
import { createBatcher } from '../../../src/registry/storage/batch.js';
import { createGate } from '../../support/gate.js';

/** Records the batches, and resolves each member with its own name. */
function record(
  settings: {
    maxBatch?: number;
    keyOf?: (member: string) => string | undefined;
    turn?: ReturnType<typeof createGate>;
  } = {},
) {
  const batches: string[][] = [];
  const gate = createGate();
  const add = createBatcher<string, string>({
    run: async (take) => {
      await settings.turn?.opened;
      const members = take();
      batches.push(members);
      if (batches.length === 1) await gate.opened;
      if (members.includes('away')) throw new RegistryError('database_unavailable', 'Away.');
      if (members.includes('bad')) throw new Error('Bad.');
      return members.map((member) => `${member}!`);
    },
    maxBatch: settings.maxBatch ?? 10,
    ...(settings.keyOf && { keyOf: settings.keyOf }),
  });
  return { batches, add, open: () => gate.open() };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('members of one tick form a batch, and members that arrive meanwhile form the next, in order', async () => {
  const { batches, add, open } = record();
  const early = [add('a'), add('b')];
  await turn();
  const late = [add('c'), add('d'), add('e')];
  await turn();
  expect(batches).toEqual([['a', 'b']]);
  open();
  expect(await Promise.all([...early, ...late])).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
  expect(batches).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ]);
});

test('members that arrive while a batch waits for its transaction join it', async () => {
  const gate = createGate();
  const { batches, add, open } = record({ turn: gate });
  open();
  const early = add('a');
  await turn();
  const late = add('b');
  await turn();
  gate.open();
  expect(await Promise.all([early, late])).toEqual(['a!', 'b!']);
  expect(batches).toEqual([['a', 'b']]);
});

test('the next batch starts before the results of the previous one are delivered', async () => {
  const { batches, add, open } = record();
  const first = add('a');
  await turn();
  void add('b');
  open();
  await first;
  expect(batches).toEqual([['a'], ['b']]);
});

test('a batch has a size limit, and members with the same key are in separate batches, in order', async () => {
  const { batches, add, open } = record({ maxBatch: 2, keyOf: (member) => member[0] });
  open();
  await Promise.all(['a1', 'a2', 'b1', 'c1', 'a3'].map(add));
  expect(batches).toEqual([['a1', 'b1'], ['a2', 'c1'], ['a3']]);
});

test('one bad member fails alone', async () => {
  const { batches, add, open } = record();
  open();
  const results = await Promise.allSettled(['a', 'bad', 'b'].map(add));
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason)))).toEqual([
    'a!',
    'Error: Bad.',
    'b!',
  ]);
  expect(batches).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']]);
});

test('nothing is retried while the database is unavailable: it may have been committed', async () => {
  const { batches, add, open } = record();
  open();
  const results = await Promise.allSettled(['a', 'away'].map(add));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(batches).toHaveLength(1);
  expect(await add('b')).toBe('b!');
});
