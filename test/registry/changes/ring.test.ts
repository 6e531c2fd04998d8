import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { Ring } from '../../../src/registry/changes/ring.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('nothing keeps a large change that the memory of the feed has dropped', async () => {
  const ring = new Ring({ entries: 1_000, bytes: 10_000 });
  const ofAll = {
    at: '',
    tenant: 'a',
    origin: 'a',
    kind: 'origin.changed',
    sink: '',
    subscription: null,
    cause: null,
    subscribers: null,
    block: null,
  };
  const appended = Array.from({ length: 10 }, (_, place) => {
    const change = { ...ofAll, position: BigInt(place + 1), resource: 'x'.repeat(4_000) };
    ring.append([change]);
    return new WeakRef(change);
  });
  await nextTurn();
  collect();

  const { changes } = ring.read({ tenant: 'a', origin: undefined }, 0n, 10);
  expect(changes.map(({ position }) => position)).toEqual([10n]);
  expect(appended.filter((change) => change.deref() !== undefined)).toHaveLength(1);
});
