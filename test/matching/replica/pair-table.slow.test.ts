import { expect, test } from '@jest/globals';
import { hashBytes } from '../../../src/matching/index/hash.js';
import { PairTable, word } from '../../../src/matching/replica/pair-table.js';

/** A small generator, so that a failure can be reproduced with its seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('has the content of a Map, after 3,000 random additions and removals', () => {
  const next = numbers(1);
  const table = new PairTable();
  const model = new Map<string, { pair: number; rate: number; expiresAt: number; subscriptions: number; id: string }>();
  const wrong: string[] = [];
  for (let turn = 0; turn < 3_000; turn += 1) {
    const origin = 1 + next(3);
    const sink = `https://hooks.example.com/${'x'.repeat(next(90))}${next(700)}`;
    const key = `${origin} ${sink}`;
    const known = model.get(key);
    const bytes = Buffer.from(sink);
    if (table.find(origin, bytes, 0, bytes.length) !== (known?.pair ?? 0)) wrong.push(key);
    if (known === undefined) {
      const pair = table.acquire(origin, bytes);
      const hex = Array.from({ length: 32 }, () => next(16).toString(16)).join('');
      const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
      const values = {
        rate: next(2 ** 50),
        expiresAt: 1_790_000_000_000 + next(2 ** 40),
        subscriptions: next(2 ** 30),
      };
      if (table.large(pair, word.heldUntil) !== 0) wrong.push(key);
      table.setLarge(pair, word.rate, values.rate);
      table.setLarge(pair, word.expiresAt, values.expiresAt);
      table.setSmall(pair, word.subscriptions, values.subscriptions);
      table.setId(pair, id);
      model.set(key, { pair, id, ...values });
    } else if (next(2) === 0) {
      table.release(known.pair);
      model.delete(key);
    }
  }
  expect(wrong).toEqual([]);
  expect(table.size).toBe(model.size);
  for (const [key, { pair, rate, expiresAt, subscriptions, id }] of model) {
    expect(`${table.origin(pair)} ${table.sink(pair)}`).toBe(key);
    expect([table.large(pair, word.rate), table.large(pair, word.expiresAt)]).toEqual([rate, expiresAt]);
    expect([table.small(pair, word.subscriptions), table.id(pair)]).toEqual([subscriptions, id]);
  }
  table.pairsOf(1).forEach((pair) => table.release(pair));
  expect(table.size).toBe([...model.keys()].filter((key) => !key.startsWith('1 ')).length);
});

test('memory that was given back is used again', () => {
  const table = new PairTable();
  const turns = Array.from({ length: 20 }, () => {
    const pairs = Array.from({ length: 5_000 }, (_, i) =>
      table.acquire(1, Buffer.from(`https://hooks.example.com/${i}`)),
    );
    const full = table.bytes;
    pairs.forEach((pair) => table.release(pair));
    return { full, empty: table.bytes };
  });
  // The hash differs from process to process, and with it how many buckets grow: some kilobytes of a megabyte.
  const first = turns[0]!.full;
  expect(Math.max(...turns.map(({ full }) => full))).toBeLessThan(first * 1.25);
  expect(Math.max(...turns.map(({ empty }) => empty))).toBeLessThan(first / 4);
});

test('many look-ups at once give the results of single look-ups, whatever else is stored', () => {
  const table = new PairTable();
  const sinks = Array.from({ length: 1_000 }, (_, i) => `https://hooks.example.com/${'é'.repeat(i % 7)}${i}`);
  sinks.forEach((sink, i) => i % 3 > 0 && table.acquire(1 + (i % 2), Buffer.from(sink)));
  const bytes = Buffer.from(sinks.join(''));
  const lengths = sinks.map((sink) => Buffer.byteLength(sink));
  const sinkFrom = Int32Array.from(lengths, (_, i) => lengths.slice(0, i).reduce((sum, length) => sum + length, 0));
  const sinkTo = sinkFrom.map((from, i) => from + lengths[i]!);
  const sinkHashes = sinkFrom.map((from, i) => hashBytes(bytes, from, sinkTo[i]!));
  const origins = sinkFrom.map((_, i) => 1 + (Math.floor(i / 5) % 2));
  const found = new Int32Array(sinks.length);
  table.findAll({ count: sinks.length, bytes, origins, sinkFrom, sinkTo, sinkHashes }, found);
  const oneByOne = sinks.map((_, i) => table.find(origins[i]!, bytes, sinkFrom[i]!, sinkTo[i]!));
  expect([...found]).toEqual(oneByOne);
  expect(oneByOne.filter((pair) => pair > 0).length).toBeGreaterThan(200);
});
