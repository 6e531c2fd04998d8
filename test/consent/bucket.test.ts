import { expect, test } from '@jest/globals';
import { Bucket } from '../../src/consent/bucket.js';

test('a share is taken out one by one, and ends before its lease', () => {
  const bucket = new Bucket();
  expect(bucket.take(0)).toBeUndefined();
  bucket.fill('a', 2, 2_000);
  expect(bucket.take(0)).toBeDefined();
  expect([bucket.available(1_749), bucket.nextEnd(1_749)]).toEqual([1, 1_750]);
  expect(bucket.take(1_750)).toBeUndefined();
  expect([bucket.available(1_750), bucket.nextEnd(1_750)]).toEqual([0, undefined]);
});

test('what is left of ended shares is handed back once, even if it comes back later', () => {
  const bucket = new Bucket();
  bucket.fill('a', 3, 2_000);
  bucket.fill('b', 1, 3_000);
  const [first, second] = [bucket.take(0), bucket.take(0)];
  if (first !== undefined) bucket.giveBack(first);
  expect(bucket.available(0)).toBe(3);
  expect(bucket.takeReturns(2_000)).toEqual([{ lease: 'a', unused: 2 }]);
  expect(bucket.takeReturns(2_000)).toEqual([]);
  if (second !== undefined) bucket.giveBack(second);
  expect(bucket.takeReturns(Infinity)).toEqual([
    { lease: 'a', unused: 1 },
    { lease: 'b', unused: 1 },
  ]);
});

test('returns are those of the latest leases, if there are too many', () => {
  const bucket = new Bucket();
  for (const lease of ['a', 'b', 'c']) bucket.fill(lease, 1, 2_000);
  expect(bucket.takeReturns(2_000, 2).map(({ lease }) => lease)).toEqual(['b', 'c']);
  expect(bucket.takeReturns(2_000)).toEqual([]);
});

// Of twenty just now, `left` are left.
test.each<[string, { taken: number; left: number; waiting: number; rate?: number; now?: number }, number]>([
  ['nothing while nobody asks', { taken: 0, left: 0, waiting: 0, rate: 600 }, 0],
  ['one for each that waits', { taken: 0, left: 0, waiting: 3, rate: 600 }, 3],
  ['as many as lately, and those that wait', { taken: 10, left: 0, waiting: 3, rate: 600 }, 13],
  ['at most two seconds of the rate', { taken: 10, left: 0, waiting: 30, rate: 600 }, 20],
  ['one if the rate is not known', { taken: 10, left: 0, waiting: 30 }, 1],
  ['nothing while the shares last for about a second', { taken: 10, left: 5, waiting: 0, rate: 600 }, 0],
  ['what is missing before they run out', { taken: 10, left: 4, waiting: 0, rate: 600 }, 6],
  ['less when the latest were long ago', { taken: 10, left: 0, waiting: 0, rate: 600, now: 2_000 }, 3],
  ['nothing when they are forgotten', { taken: 10, left: 0, waiting: 0, rate: 600, now: 20_000 }, 0],
])('asks for %s', (_, { taken, left, waiting, rate, now = 0 }, wanted) => {
  const bucket = new Bucket();
  bucket.fill('a', taken + left, 60_000);
  for (let each = 0; each < taken; each += 1) bucket.take(0);
  expect(bucket.wanted(waiting, rate, now)).toBe(wanted);
});
