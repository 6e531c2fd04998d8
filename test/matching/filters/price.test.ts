import { describe, expect, test } from '@jest/globals';
import { dialects } from '../../../src/matching/filters/dialects.js';
import type { Filter } from '../../../src/matching/filters/filter.js';
import { MatchIndex } from '../../../src/matching/index/match-index.js';
import { isLookedUp, priceOf } from '../../../src/matching/filters/price.js';
import { randomFilter, seeded } from '../../bench/random-filters.mjs';

describe('a subscription', () => {
  const like = (count: number) => Array.from({ length: count }, (_, i) => `subject LIKE '%${i}%'`).join(' OR ');

  test.each<[string, number, object]>([
    ['without filters', 0, {}],
    [
      'whose filters an event must meet',
      0,
      { filters: [{ exact: { type: 'a' } }, { not: { suffix: { source: 'b' } } }] },
    ],
    ['with a cheap pattern beside a type', 0, { types: ['a'], filters: [{ sql: "subject LIKE '%x%'" }] }],
    ['with nothing but what an event must not have', 20, { filters: [{ not: { exact: { type: 'a' } } }] }],
    ['with a pattern that may stand anywhere', 536, { filters: [{ sql: "subject LIKE '%x%'" }] }],
    ['with thirty of them', 15_732, { filters: [{ sql: like(30) }] }],
    ['with thirty of them beside a type', 15_732, { types: ['a'], filters: [{ sql: like(30) }] }],
  ])('%s has the price %i', (_what, price, wishes) => {
    expect(priceOf(wishes)).toBe(price);
  });

  test('counts as looked up in the price if the index does not test every event for it', () => {
    const random = seeded(7);
    const wrong: Filter[][] = [];
    let looked = 0;
    for (let i = 0; i < 5_000; i += 1) {
      const filters = [randomFilter(random, 4)] as Filter[];
      if (i % 4 === 0) filters.push({ sql: i % 8 === 0 ? "type = 'a' OR subject LIKE 'x%'" : "type != 'a'" });
      const index = new MatchIndex(dialects);
      index.add({ id: 'a', filters });
      const isFiled = index.statistics().unanchored === 0;
      looked += isFiled ? 1 : 0;
      if (isFiled !== isLookedUp({ filters })) wrong.push(filters);
    }
    expect(wrong).toEqual([]);
    expect(looked).toBeGreaterThan(1_000);
    expect(looked).toBeLessThan(4_900);
  });
});
