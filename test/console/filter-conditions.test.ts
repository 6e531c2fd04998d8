import { describe, expect, test } from '@jest/globals';
import { conditionsOf, filtersOf, type Condition } from '../../src/console/pages/subscriptions/filter-conditions.js';

const readable = (each: Condition): unknown => {
  const not = each.isNot ? ['not'] : [];
  if (each.kind === 'compare') return [...not, each.attribute, each.operator, each.value];
  if (each.kind === 'group') return [...not, each.of, each.members.map(readable)];
  return [...not, each.kind];
};

const exact = (attribute: string, value: string) => ({ exact: { [attribute]: value } });
const a = exact('subject', 'a');
const b = { prefix: { region: 'eu-' } };
const sa = ['subject', 'exact', 'a'];
const sb = ['region', 'prefix', 'eu-'];

describe('the conditions of a filter', () => {
  test.each<[string, unknown[], unknown[]]>([
    ['nothing', [], []],
    ['each operator', [a, b, { suffix: { type: '.v1' } }], [sa, sb, ['type', 'suffix', '.v1']]],
    ['what is not so', [{ not: a }], [['not', ...sa]]],
    ['any of some', [{ any: [a, { all: [a, b] }] }], [['any', [sa, ['all', [sa, sb]]]]]],
    ['none of some', [{ not: { any: [a, b] } }], [['not', 'any', [sa, sb]]]],
    ['CESQL', [{ sql: 'EXISTS x' }, { not: { sql: 'x = 1' } }], [['sql'], ['not', 'sql']]],
    ['a row that is not filled in', [exact('', '')], [['', 'exact', '']]],
    [
      'what has no row',
      [
        { not: { not: a } },
        { exact: { x: 1 } },
        { exact: {} },
        { exact: 'x' },
        { all: 1 },
        { x: 1 },
        { ...a, ...b },
        3,
        null,
      ],
      Array.from({ length: 9 }, () => ['json']),
    ],
    ['a group with what has no row', [{ any: [a, { later: [1] }] }], [['any', [sa, ['json']]]]],
    ['an empty group', [{ any: [] }], [['any', []]]],
  ])('of %s come from it, and make it again', (_what, filters, expected) => {
    const conditions = conditionsOf(filters);
    expect(conditions.map(readable)).toEqual(expected);
    expect(filtersOf(conditions)).toEqual(filters);
  });

  const two = { exact: { subject: 'a', region: 'b' } };
  const [one, other] = [a, exact('region', 'b')];

  // All attributes of one filter must match: the same with a filter for each.
  test.each<[string, unknown[], unknown[]]>([
    ['a filter', [two], [one, other]],
    ['all of some', [{ all: [two, b] }], [{ all: [one, other, b] }]],
    ['any of some', [{ any: [two, b] }], [{ any: [{ all: [one, other] }, b] }]],
    ['what is not so', [{ not: two }], [{ not: { all: [one, other] } }]],
  ])('with several attributes in %s have a row for each', (_where, filters, same) => {
    expect(filtersOf(conditionsOf(filters))).toEqual(same);
  });

  test('know where their faults are, and which part decides', () => {
    const filters = [two, { not: { any: [exact('x/y', '')] } }];
    const places = conditionsOf(filters).map(({ place, part }) => [place, part]);
    expect(places).toEqual([
      ['/filters/0/exact/subject', '/filters/0/exact/subject'],
      ['/filters/0/exact/region', '/filters/0/exact/region'],
      ['/filters/1/not/any', '/filters/1/not'],
    ]);
    const [, , group] = conditionsOf(filters);
    expect(group?.kind === 'group' && group.members[0]?.place).toBe('/filters/1/not/any/0/exact/x~1y');
  });
});
