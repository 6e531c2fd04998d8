import { describe, expect, test } from '@jest/globals';
import { compileFilter } from '../../../src/matching/filters/compile-filter.js';
import { operators, type Filter, type Operator } from '../../../src/matching/filters/filter.js';
import { attributesOf, coreNames, type AttributeValue } from '../../../src/events/context-attributes.js';
import { MatchIndex } from '../../../src/matching/index/match-index.js';
import type { Dialects, MatchableSubscription } from '../../../src/matching/filters/predicate.js';
import { comparePairs } from '../../bench/pairs.mjs';

type Wishes = Omit<MatchableSubscription, 'id'>;
type Attributes = Record<string, AttributeValue | null>;

const created = { type: 'com.example.created', source: '/orders', id: '1' };

/** Queries the index and the compiled filter, which must agree. */
function matches(wishes: Wishes, attributes: Attributes, dialects: Dialects = {}): boolean {
  const event = attributesOf(attributes);
  const index = new MatchIndex(dialects);
  const handle = index.add({ id: 'a', ...wishes });
  const found = index.match(event);
  expect(found).toEqual(compileFilter({ id: 'a', ...wishes }, dialects)(event) ? [handle] : []);
  return found.length > 0;
}

function idsOf(index: MatchIndex, attributes: Attributes): string[] {
  return index
    .match(attributesOf(attributes))
    .map((handle) => index.idOf(handle))
    .sort();
}

describe('the conditions of a subscription without filters', () => {
  test.each<[string, Wishes, Attributes, boolean]>([
    ['nothing said means every event', {}, created, true],
    ['empty types and filters are no constraint', { types: [], filters: [] }, created, true],
    ['the source is equal', { source: '/orders' }, created, true],
    ['the source only begins like it', { source: '/order' }, created, false],
    ['one of the types', { types: ['x', 'com.example.created'] }, created, true],
    ['none of the types', { types: ['x', 'com.example.Created'] }, created, false],
    ['the subject is absent', { subject: 'a' }, created, false],
    ['the subject is null, which is absent', { subject: 'null' }, { ...created, subject: null }, false],
    [
      'all three',
      { source: '/orders', types: ['com.example.created'], subject: 'a' },
      { ...created, subject: 'a' },
      true,
    ],
    [
      'two of three',
      { source: '/orders', types: ['com.example.created'], subject: 'b' },
      { ...created, subject: 'a' },
      false,
    ],
  ])('%s', (_title, wishes, attributes, expected) => {
    expect(matches(wishes, attributes)).toBe(expected);
  });
});

describe('a filter, and not as its opposite', () => {
  const typed = { ...created, count: 5, flag: true, subject: '' };

  test.each<[string, Filter, Attributes, boolean]>([
    ['exact: equal', { exact: { type: 'com.example.created' } }, created, true],
    ['exact: other case', { exact: { type: 'com.example.CREATED' } }, created, false],
    ['exact: missing attribute', { exact: { subject: 'a' } }, created, false],
    ['exact: missing extension', { exact: { tenantid: 'a' } }, created, false],
    ['exact: an Integer is compared as its canonical string', { exact: { count: '5' } }, typed, true],
    ['exact: not as any other spelling of it', { exact: { count: '05' } }, typed, false],
    ['exact: a Boolean', { exact: { flag: 'true' } }, typed, true],
    ['exact: two attributes, both hold', { exact: { type: 'com.example.created', id: '1' } }, created, true],
    ['exact: two attributes, one holds', { exact: { type: 'com.example.created', id: '2' } }, created, false],
    ['prefix: begins like it', { prefix: { type: 'com.example.' } }, created, true],
    ['prefix: all of it', { prefix: { type: 'com.example.created' } }, created, true],
    ['prefix: longer than the value', { prefix: { type: 'com.example.created.' } }, created, false],
    ['prefix: an empty attribute', { prefix: { subject: 'a' } }, typed, false],
    ['prefix: missing attribute', { prefix: { subject: 'a' } }, created, false],
    ['prefix: half a character', { prefix: { subject: '\ud83d' } }, { ...created, subject: '\u{1f600}' }, true],
    ['suffix: ends like it', { suffix: { type: '.created' } }, created, true],
    ['suffix: all of it', { suffix: { type: 'com.example.created' } }, created, true],
    ['suffix: stands in the middle', { suffix: { type: 'example' } }, created, false],
    ['suffix: missing attribute', { suffix: { subject: 'a' } }, created, false],
    ['suffix: several attributes', { suffix: { type: 'created', source: 'orders' } }, created, true],
    ['all: both', { all: [{ exact: { id: '1' } }, { prefix: { source: '/' } }] }, created, true],
    ['all: one of two', { all: [{ exact: { id: '2' } }, { prefix: { source: '/' } }] }, created, false],
    ['all: of nothing is true', { all: [] }, created, true],
    ['any: one of two', { any: [{ exact: { id: '2' } }, { prefix: { source: '/' } }] }, created, true],
    ['any: none of two', { any: [{ exact: { id: '2' } }, { suffix: { source: '/' } }] }, created, false],
    ['any: of nothing is false', { any: [] }, created, false],
    ['not: over a missing attribute', { not: { exact: { subject: 'a' } } }, created, true],
    ['not: prefix over a missing attribute', { not: { prefix: { subject: 'a' } } }, created, true],
    ['not: of two attributes, one holds', { not: { exact: { id: '1', subject: 'a' } } }, created, true],
    ['not: not', { not: { not: { exact: { id: '1' } } } }, created, true],
    [
      'nested',
      { not: { any: [{ not: { all: [{ suffix: { type: 'd' } }] } }, { exact: { id: '2' } }] } },
      created,
      true,
    ],
    ['a name that objects have', { exact: { tostring: 'a' } }, created, false],
  ])('%s', (_title, filter, attributes, expected) => {
    expect(matches({ filters: [filter] }, attributes)).toBe(expected);
    expect(matches({ filters: [{ not: filter }] }, attributes)).toBe(!expected);
  });

  test.each(Object.keys(operators) as Operator[])('%s means the same to the index as to one filter', (operator) => {
    const texts = ['', 'a', 'b', 'ab', 'ba', 'aab', 'aba', 'abab', 'abba', 'b/a', 'A'];
    for (const value of texts.slice(1)) {
      for (const subject of texts) {
        const filter = { [operator]: { subject: value } } as unknown as Filter;
        const expected = operators[operator](subject, value);
        expect([subject, value, matches({ filters: [filter] }, { ...created, subject })]).toEqual([
          subject,
          value,
          expected,
        ]);
        expect(matches({ filters: [{ not: filter }] }, { ...created, subject })).toBe(!expected);
      }
      expect(matches({ filters: [{ [operator]: { subject: value } } as unknown as Filter] }, created)).toBe(false);
    }
  });

  test.each(coreNames)('of %s by itself', (name) => {
    const event = { ...Object.fromEntries(coreNames.map((each) => [each, `/${each}/`])), more: '/more/' };
    for (const kind of ['exact', 'prefix', 'suffix'] satisfies Operator[]) {
      for (const each of [...coreNames, 'more']) {
        const filter = { [kind]: { [name]: `/${each}/` } } as unknown as Filter;
        expect(matches({ filters: [filter] }, event)).toBe(each === name);
        expect(matches({ filters: [{ not: filter }] }, event)).toBe(each !== name);
      }
    }
  });

  test('all filters of a subscription hold', () => {
    const filters = [{ exact: { id: '1' } }, { suffix: { type: 'created' } }];
    expect(matches({ filters }, created)).toBe(true);
    expect(matches({ filters }, { ...created, id: '2' })).toBe(false);
  });

  test('prefixes and suffixes of every length are found, also long ones', () => {
    const text = Array.from({ length: 900 }, (_, i) => String.fromCharCode(97 + ((i * i) % 23))).join('');
    const lengths = [
      ...Array.from({ length: 70 }, (_, i) => i + 1),
      127,
      128,
      255,
      256,
      257,
      271,
      272,
      511,
      512,
      600,
      900,
    ];
    const index = new MatchIndex();
    for (const length of lengths) {
      index.add({ id: `prefix ${length}`, filters: [{ prefix: { subject: text.slice(0, length) } }] });
      index.add({ id: `suffix ${length}`, filters: [{ suffix: { source: text.slice(-length) } }] });
    }
    for (const length of [0, 1, 15, 16, 17, 64, 256, 258, 300, 512, 899, 900]) {
      const ids = idsOf(index, {
        type: 'a',
        subject: `${text.slice(0, length)}#`,
        source: `#${text.slice(900 - length)}`,
      });
      const expected = lengths.filter((each) => each <= length).flatMap((each) => [`prefix ${each}`, `suffix ${each}`]);
      expect(ids).toEqual(expected.sort());
    }
  });

  test('a whole text is compared, even if it shares long prefixes with others', () => {
    const index = new MatchIndex();
    const texts = [1, 30, 31, 32, 62, 63, 300].map((length) => 'a'.repeat(length));
    index.add({ id: 'prefix', filters: [{ prefix: { subject: 'a' } }] });
    for (const text of texts) index.add({ id: text, subject: text });
    for (const text of texts) expect(idsOf(index, { subject: text })).toEqual([text, 'prefix']);
    index.add({ id: 'longer', filters: [{ prefix: { subject: 'a'.repeat(100) } }] });
    expect(idsOf(index, { subject: texts.at(-1)! })).toEqual([texts.at(-1), 'longer', 'prefix']);
  });
});

describe('a dialect with its own language', () => {
  let runs = 0;
  const dialects: Dialects = {
    sql: (text) => ({
      steps: 0,
      anchors:
        text === 'throws'
          ? []
          : [
              [
                { attribute: 'id', exact: text },
                { attribute: 'subject', prefix: text },
              ],
            ],
      test: (event) => {
        runs += 1;
        if (text === 'throws') throw new Error('This cannot be evaluated.');
        return event.get('id') === text || event.subject === text;
      },
    }),
  };
  const sql = (text: string) => ({ sql: text }) as unknown as Filter;

  test('is tested if one of its anchors matches, and decides', () => {
    expect(matches({ filters: [sql('1')] }, created, dialects)).toBe(true);
    expect(matches({ filters: [sql('2')] }, { ...created, subject: '2' }, dialects)).toBe(true);
    expect(matches({ filters: [sql('2')] }, { ...created, subject: '22' }, dialects)).toBe(false);
    expect(matches({ filters: [{ not: sql('2') }] }, created, dialects)).toBe(true);
  });

  test('is false if it cannot be evaluated, and its opposite is true', () => {
    expect(matches({ filters: [sql('throws')] }, created, dialects)).toBe(false);
    expect(matches({ filters: [{ not: sql('throws') }] }, created, dialects)).toBe(true);
  });

  test('is one condition among others, in any place', () => {
    const parts: [Filter, boolean][] = [
      [sql('1'), true],
      [sql('2'), false],
      [{ not: sql('1') }, false],
      [{ not: sql('2') }, true],
      [{ suffix: { source: 's' } }, true],
      [{ not: { exact: { id: '1' } } }, false],
    ];
    for (const [one, first] of parts) {
      for (const [two, second] of parts) {
        for (const [three, third] of parts) {
          const filters = [one, two, three];
          expect(matches({ filters }, created, dialects)).toBe(first && second && third);
          expect(matches({ filters: [{ any: filters }] }, created, dialects)).toBe(first || second || third);
        }
      }
    }
  });

  test('does not change while others are added and removed', () => {
    const index = new MatchIndex(dialects);
    index.add({ id: 'a', source: '/bills' });
    index.add({ id: 'b', filters: [sql('1')] });
    index.add({ id: 'c', filters: [{ not: sql('2') }] });
    index.remove('a');
    expect(idsOf(index, created)).toEqual(['b', 'c']);
    index.remove('b');
    index.add({ id: 'd', filters: [sql('3')] });
    expect(idsOf(index, { ...created, id: '3' })).toEqual(['c', 'd']);
  });

  test('is run once for all subscriptions with the same filter', () => {
    const index = new MatchIndex(dialects);
    for (let i = 0; i < 100; i += 1) index.add({ id: `${i}`, filters: [sql('throws')] });
    runs = 0;
    index.match(attributesOf(created));
    expect(runs).toBe(1);
    expect(index.statistics()).toMatchObject({ subscriptions: 100, distinct: 1, unanchored: 1 });
  });

  test('without a compiler is refused and changes nothing', () => {
    const index = new MatchIndex();
    index.add({ id: 'a', source: '/orders' });
    const filters = [{ exact: { unheardof: 'x' } }, sql('1')];
    expect(() => index.add({ id: 'a', filters })).toThrow('"sql"');
    expect(() => index.add({ id: 'b', filters })).toThrow('"sql"');
    expect(idsOf(index, created)).toEqual(['a']);
    expect(index.statistics()).toMatchObject({ subscriptions: 1, distinct: 1, keys: 1 });
  });
});

describe('filing', () => {
  const hot = { type: 'com.example.hot', source: '/s', id: '1' };

  test('a subscription that is found in several ways is reported once', () => {
    const index = new MatchIndex();
    const any: Filter[] = [
      { exact: { type: 'com.example.hot' } },
      { prefix: { type: 'com' } },
      { suffix: { source: 's' } },
    ];
    index.add({ id: 'any', filters: [{ any }] });
    index.add({ id: 'mixed', filters: [{ any: [...any, { not: { exact: { id: '2' } } }] }] });
    index.add({
      id: 'types',
      types: ['com.example.hot', 'com.example.hot', 'b'],
      filters: [{ prefix: { type: 'c' } }],
    });
    expect(idsOf(index, hot)).toEqual(['any', 'mixed', 'types']);
    expect(idsOf(index, { ...hot, type: 'x', id: '2' })).toEqual(['any', 'mixed']);
    expect(idsOf(index, { ...hot, type: 'x', source: 'x', id: '2' })).toEqual([]);
    expect(index.statistics().unanchored).toBe(1);
  });

  test('filters that say the same in other words are one', () => {
    const index = new MatchIndex();
    index.add({ id: 'a', source: '/s', types: ['t', 'u'] });
    index.add({ id: 'b', types: ['u', 't', 'u'], filters: [{ exact: { source: '/s' } }] });
    index.add({
      id: 'c',
      filters: [{ all: [{ any: [{ exact: { type: 'u' } }, { exact: { type: 't' } }] }] }, { exact: { source: '/s' } }],
    });
    const u = { not: { exact: { type: 'u' } } };
    index.add({
      id: 'd',
      filters: [
        { not: { any: [{ all: [u, { not: { exact: { type: 't' } } }] }, { not: { exact: { source: '/s' } } }] } },
      ],
    });
    expect(index.statistics()).toMatchObject({ subscriptions: 4, distinct: 1 });
    expect(idsOf(index, { type: 't', source: '/s' })).toEqual(['a', 'b', 'c', 'd']);
    index.add({ id: 'e', source: '/s', filters: [{ exact: { id: '1', subject: 'x' } }] });
    index.add({ id: 'f', subject: 'x', filters: [{ exact: { source: '/s', id: '1' } }] });
    const [one, two] = [{ exact: { id: '1' } }, { exact: { id: '2' } }];
    index.add({ id: 'g', filters: [{ any: [{ any: [two, one] }, { exact: { subject: 'x' } }] }] });
    index.add({ id: 'h', filters: [{ any: [one, { any: [{ exact: { subject: 'x' } }, two] }] }] });
    expect(index.statistics()).toMatchObject({ subscriptions: 8, distinct: 3 });
    expect(idsOf(index, { source: '/s', id: '1', subject: 'x' })).toEqual(['e', 'f', 'g', 'h']);
    expect(idsOf(index, { source: '/s', id: '2' })).toEqual(['g', 'h']);
  });

  test('a popular type costs nothing if the subject is rare, in any order', () => {
    const index = new MatchIndex();
    for (let i = 0; i < 5000; i += 1) {
      const not: Filter = { not: { exact: { id: `${i}` } } };
      index.add({ id: `${i}`, types: [hot.type], filters: [{ exact: { subject: `s${i}` } }, not] });
    }
    expect(idsOf(index, { ...hot, subject: 's17' })).toEqual(['17']);
    expect(index.statistics().candidates).toBeLessThan(5);
  });

  test('a popular type and a popular source cost nothing if the pair is rare', () => {
    const index = new MatchIndex();
    for (let i = 0; i < 10_000; i += 1)
      index.add({ id: `${i}`, types: [`t${i % 100}`], source: `s${Math.floor(i / 100)}` });
    expect(idsOf(index, { type: 't42', source: 's17' })).toEqual(['1742']);
    expect(index.statistics().candidates).toBeLessThan(10);
    const any = [{ exact: { source: 's1' } }, { exact: { source: 's2' } }];
    index.add({ id: 'several', types: ['t1', 't2'], filters: [{ any }] });
    for (const [type, source, id] of [
      ['t1', 's1', '101'],
      ['t1', 's2', '201'],
      ['t2', 's1', '102'],
      ['t2', 's2', '202'],
    ] as const) {
      expect(idsOf(index, { type, source })).toEqual([id, 'several']);
      expect(index.statistics().candidates).toBeLessThan(10);
    }
  });

  test('a bundle under a key that becomes popular moves to other keys, and is still found until it is removed', () => {
    const index = new MatchIndex();
    const popular: Filter = { prefix: { source: '/popular-source/' } };
    for (let i = 0; i < 300; i += 1)
      index.add({ id: `filler ${i}`, filters: [popular, { exact: { subject: `f${i}` } }] });
    for (let i = 0; i < 100; i += 1) {
      index.add({ id: `early ${i}`, types: [hot.type], filters: [popular, { not: { exact: { id: `e${i}` } } }] });
    }
    index.match(attributesOf(hot));
    expect(index.statistics().candidates).toBeGreaterThan(90);
    for (let i = 0; i < 5000; i += 1) {
      index.add({
        id: `late ${i}`,
        types: [hot.type],
        filters: [{ exact: { subject: `l${i}` } }, { not: { exact: { id: `l${i}` } } }],
      });
      if (i % 2 === 1) index.remove(`late ${i - 1}`);
      if (i % 50 === 49) index.remove(`early ${(i - 49) / 50}`);
      if (i !== 3999) continue;
      expect(idsOf(index, hot)).toEqual([]);
      expect(index.statistics().candidates).toBeLessThan(5);
      expect(idsOf(index, { ...hot, source: '/popular-source/1' })).toHaveLength(20);
    }
    expect(idsOf(index, hot)).toEqual([]);
    expect(index.statistics().candidates).toBeLessThan(10);
    expect(idsOf(index, { ...hot, source: '/popular-source/1' })).toEqual([]);
    index.add({ id: 'early again', types: [hot.type], filters: [popular] });
    expect(idsOf(index, { ...hot, source: '/popular-source/1' })).toEqual(['early again']);
    expect(idsOf(index, { ...hot, subject: 'l17' })).toEqual(['late 17']);
    expect(idsOf(index, { ...hot, subject: 'l16' })).toEqual([]);
  });
});

describe('changes', () => {
  test('a subscription with an existing id replaces the other one under its handle', () => {
    const index = new MatchIndex();
    const handle = index.add({ id: 'a', source: '/orders' });
    expect(index.add({ id: 'a', source: '/orders' })).toBe(handle);
    expect(index.add({ id: 'a', source: '/bills' })).toBe(handle);
    expect(idsOf(index, created)).toEqual([]);
    expect(idsOf(index, { ...created, source: '/bills' })).toEqual(['a']);
    expect(index.size).toBe(1);
  });

  test('handles are dense, and are used again', () => {
    const index = new MatchIndex();
    const handles = Array.from({ length: 1000 }, (_, i) => index.add({ id: `${i}`, source: '/orders' }));
    expect(Math.max(...handles)).toBeLessThanOrEqual(1000);
    expect(index.remove('17')).toBe(handles[17]);
    expect(index.remove('17')).toBeUndefined();
    expect(index.handleOf('17')).toBeUndefined();
    expect(index.handleOf('18')).toBe(handles[18]);
    expect(index.add({ id: 'new' })).toBe(handles[17]);
  });

  test('many subscriptions with the same filter are added and removed in any order', () => {
    const index = new MatchIndex();
    const ids = Array.from({ length: 3000 }, (_, i) => `${i}`);
    for (const id of ids) index.add({ id, source: '/orders' });
    for (const id of ids) if (Number(id) % 3 !== 1) index.remove(id);
    const left = ids.filter((id) => Number(id) % 3 === 1);
    expect(idsOf(index, created)).toEqual(left.toSorted());
    for (const id of left.toReversed()) index.remove(id);
    expect(idsOf(index, created)).toEqual([]);
  });

  test('a filter that one subscription has, then several, then another one alone, is reported with whom it has', () => {
    const index = new MatchIndex();
    const wishes = { types: ['com.example.created', 'com.example.removed'] };
    const found = () => [idsOf(index, created), idsOf(index, { ...created, type: 'com.example.removed' })];
    index.add({ id: 'a', ...wishes });
    expect(found()).toEqual([['a'], ['a']]);
    index.add({ id: 'b', ...wishes });
    expect(found()).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    index.remove('a');
    expect(found()).toEqual([['b'], ['b']]);
    index.add({ id: 'b', source: '/bills' });
    expect(found()).toEqual([[], []]);
    index.add({ id: 'c', ...wishes });
    expect(found()).toEqual([['c'], ['c']]);
  });

  test('a filter that moves to other keys keeps its only subscription, and the one that replaces it', () => {
    const index = new MatchIndex();
    for (let i = 0; i < 100; i += 1) index.add({ id: `early ${i}`, types: ['t'], source: `/s/${i}` });
    for (let i = 0; i < 3000; i += 1) {
      index.add({ id: `type ${i}`, types: ['t'], subject: `${i}` });
      index.add({ id: `source ${i}`, source: `/s/${i % 100}`, subject: `${i}` });
      if (i % 3 === 0) index.remove(`type ${i}`);
    }
    for (let i = 0; i < 100; i += 1) {
      expect(idsOf(index, { type: 't', source: `/s/${i}` })).toEqual([`early ${i}`]);
      expect(idsOf(index, { type: 't', source: 'x', subject: `${i}` })).toEqual(i % 3 === 0 ? [] : [`type ${i}`]);
    }
  });

  test('a text that needs more memory than a chunk has is found, and its memory is given back', () => {
    const index = new MatchIndex();
    const text = 'x'.repeat(3_000_000);
    index.add({ id: 'other', subject: 'x' });
    const before = index.statistics().bytes;
    for (let round = 0; round < 2; round += 1) {
      index.add({ id: 'long', subject: text });
      expect(idsOf(index, { subject: text })).toEqual(['long']);
      expect(idsOf(index, { subject: `${text.slice(1)}y` })).toEqual([]);
      expect(index.statistics().bytes - before).toBeGreaterThanOrEqual(text.length);
      index.remove('long');
      expect(index.statistics().bytes - before).toBeLessThan(10_000);
    }
    expect(idsOf(index, { subject: 'x' })).toEqual(['other']);
  });

  test('names and values that are added and removed do not use more and more memory', () => {
    const index = new MatchIndex();
    const bytes: number[] = [];
    for (let i = 0; i < 20_000; i += 1) {
      index.add({ id: 'a', filters: [{ exact: { [`x${i}`]: `value ${i}` } }] });
      index.remove('a');
      if (i % 10_000 === 99) bytes.push(index.statistics().bytes);
    }
    expect(bytes[1]! - bytes[0]!).toBeLessThan(10_000);
  });

  test('removal leaves nothing', () => {
    const index = new MatchIndex();
    const empty = index.statistics();
    const bytes: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (let i = 0; i < 8000; i += 1) {
        const filters: Filter[] = [
          { prefix: { [`extension${i % 50}`]: `${round} ${i}` } },
          { suffix: { subject: `${i}${'x'.repeat(i % 300)}` } },
        ];
        index.add({
          id: `${round} ${i}`,
          types: [`t${i}`, `u${i % 7}`],
          source: `/s/${i}`,
          ...(i % 3 === 0 ? { filters } : {}),
        });
      }
      for (let i = 0; i < 8000; i += 1) index.remove(`${round} ${(i * 7919) % 8000}`);
      const { subscriptions, distinct, keys, unanchored } = index.statistics();
      expect({ subscriptions, distinct, keys, unanchored }).toEqual({
        subscriptions: 0,
        distinct: 0,
        keys: 0,
        unanchored: 0,
      });
      bytes.push(index.statistics().bytes);
    }
    // A small chunk of each size of block is kept.
    expect(Math.max(...bytes) - empty.bytes).toBeLessThan(500_000);
  });

  test.each([50, 400, 2000])('100,000 random pairs give the result of a linear scan, among %i ids', (subscriptions) => {
    const seed = Number(process.env['MATCH_SEED'] ?? Date.now() % 1_000_000);
    const { compared, matched, differences } = comparePairs(
      { createMatchIndex: () => new MatchIndex(), compileFilter, attributesOf },
      100_000,
      seed,
      subscriptions,
    );
    expect({ seed, differences }).toEqual({ seed, differences: [] });
    expect(compared).toBeGreaterThanOrEqual(100_000);
    expect(matched).toBeGreaterThan(1000);
  });
});
