import { describe, expect, test } from '@jest/globals';
import { parseFilters, type Filter } from '../../../src/matching/filters/filter.js';
import { filterTexts } from '../../../src/base/texts/filters.js';
import { textIn } from '../../../src/base/texts/text.js';

const leaf = { exact: { type: 'com.example.created' } };

/** The places and rules of the faults; the sentences are for people. */
function faults(value: unknown) {
  const parsed = parseFilters(value, '/filters');
  if (!('faults' in parsed)) throw new Error('There is no fault.');
  for (const { detail } of parsed.faults) expect(textIn(detail, 'en')).toMatch(/^["A-Z].*\.$/);
  return parsed.faults.map(({ pointer, rule }) => `${pointer} ${rule}`);
}

function nested(depth: number): unknown {
  let filter: unknown = leaf;
  for (let level = 1; level < depth; level += 1) filter = { not: filter };
  return [filter];
}

describe('filters that are accepted', () => {
  test('are none when they are absent or empty, which means every event', () => {
    expect(parseFilters(undefined, '/filters')).toEqual({ filters: [] });
    expect(parseFilters([], '/filters')).toEqual({ filters: [] });
  });

  test.each<[string, Filter[]]>([
    ['exact with two attributes', [{ exact: { type: 'com.github.push', subject: 'https://github.com/cloudevents' } }]],
    ['prefix', [{ prefix: { type: 'com.github.', subject: 'https://github.com/cloudevents' } }]],
    ['suffix', [{ suffix: { type: '.created' } }]],
    ['all', [{ all: [leaf, { exact: { subject: 'a' } }] }]],
    ['any', [{ any: [leaf, { suffix: { source: '/x' } }] }]],
    ['not', [{ not: leaf }]],
    [
      'all six together',
      [{ all: [{ any: [leaf, { not: { prefix: { a1: ' ' } } }] }] }, { suffix: { id: 'é\u{1f600}' } }],
    ],
    ['names longer than 20 characters, which the text only advises against', [{ exact: { ['a'.repeat(60)]: 'x' } }]],
    [
      'extension attributes that are called property or value',
      [{ exact: { property: 'x' } }, { exact: { value: 'x' } }],
    ],
    ['CESQL', [{ sql: "type = 'a'" }]],
    ['an attribute that is called sql or not', [{ exact: { sql: 'x', not: 'y' } }]],
  ])('come back as they were written: %s', (_what, filters) => {
    expect(parseFilters(filters, '/filters')).toEqual({ filters });
  });

  test('share nothing with the value that was read', () => {
    const value = [{ all: [{ exact: { type: 'a' } }] }];
    const parsed = parseFilters(value, '/filters');
    if (value[0]?.all[0]) value[0].all[0].exact.type = 'changed';
    expect(parsed).toEqual({ filters: [{ all: [{ exact: { type: 'a' } }] }] });
  });
});

describe('a filter that is refused is named by place and rule', () => {
  test.each<[string, unknown, string]>([
    ['null', null, '/filters type'],
    ['a string', 'exact', '/filters type'],
    ['an object, as in older drafts', leaf, '/filters type'],
    ['an element that is null', [null], '/filters/0 type'],
    ['an element that is an array', [[leaf]], '/filters/0 type'],
    ['an element that is a string', [leaf, 'x'], '/filters/1 type'],
    ['an empty object', [{}], '/filters/0 dialect_missing'],
    ['an unknown dialect', [{ regex: { type: '.*' } }], '/filters/0/regex dialect_unknown'],
    ['a dialect in capitals', [{ Exact: { type: 'a' } }], '/filters/0/Exact dialect_unknown'],
    ['a dialect with a URI', [{ 'https://x/~y': {} }], '/filters/0/https:~1~1x~1~0y dialect_unknown'],
    ['CESQL that breaks off', [{ sql: 'type = ' }], '/filters/0/sql operand_expected'],
    ['CESQL further down', [{ not: { any: [leaf, { sql: '' }] } }], '/filters/0/not/any/1/sql operand_expected'],
    ['two dialects', [{ exact: { type: 'a' }, prefix: { type: 'b' } }], '/filters/0 dialect_repeated'],
    ['a leaf without attributes', [{ exact: {} }], '/filters/0/exact attributes_empty'],
    ['a leaf that is a string', [{ prefix: 'com.example.' }], '/filters/0/prefix type'],
    ['a leaf that is an array', [{ suffix: [] }], '/filters/0/suffix type'],
    ['a leaf that is null', [{ exact: null }], '/filters/0/exact type'],
    ['an empty attribute name', [{ exact: { '': 'a' } }], '/filters/0/exact/ name_empty'],
    ['a name with capitals', [{ exact: { eventType: 'a' } }], '/filters/0/exact/eventType name_malformed'],
    ['a name with an underscore', [{ exact: { my_type: 'a' } }], '/filters/0/exact/my_type name_malformed'],
    ['a name with a prefix', [{ exact: { 'ce-type': 'a' } }], '/filters/0/exact/ce-type name_malformed'],
    ['a name with other digits', [{ exact: { 'a\u0661': 'a' } }], '/filters/0/exact/a\u0661 name_malformed'],
    ['a name with a line end', [{ exact: { 'a\n': 'a' } }], '/filters/0/exact/a\n name_malformed'],
    ['the name data', [{ exact: { data: 'a' } }], '/filters/0/exact/data name_reserved'],
    ['a value that is empty', [{ prefix: { subject: '' } }], '/filters/0/prefix/subject value_empty'],
    [
      'a value with a control character',
      [{ suffix: { abc: 'a\n' } }],
      '/filters/0/suffix/abc cloudevents.attribute_text',
    ],
    ['a value with half a pair', [{ exact: { abc: '\ud83d' } }], '/filters/0/exact/abc cloudevents.attribute_text'],
    [
      'a value with a noncharacter',
      [{ prefix: { abc: '\ufffe' } }],
      '/filters/0/prefix/abc cloudevents.attribute_text',
    ],
    ['a value that is a number', [{ exact: { sequence: 5 } }], '/filters/0/exact/sequence type'],
    ['a value that is null', [{ exact: { type: null } }], '/filters/0/exact/type type'],
    ['a value that is an array', [{ exact: { type: ['a'] } }], '/filters/0/exact/type type'],
    ['all without filters', [{ all: [] }], '/filters/0/all filters_empty'],
    ['any without filters', [{ any: [] }], '/filters/0/any filters_empty'],
    ['all of an object', [{ all: leaf }], '/filters/0/all type'],
    ['any of null', [{ any: null }], '/filters/0/any type'],
    ['not of an array, as in older drafts', [{ not: [leaf] }], '/filters/0/not type'],
    ['not of null', [{ not: null }], '/filters/0/not type'],
    ['not of an empty object', [{ not: {} }], '/filters/0/not dialect_missing'],
    ['the shape with dialect', [{ dialect: 'basic', filters: [] }], '/filters/0 shape_outdated'],
    ['the shape with property', [{ type: 'prefix', property: 'type', value: 'a' }], '/filters/0 shape_outdated'],
    ['the shape with attributes', [{ attributes: { type: 'a' } }], '/filters/0 shape_outdated'],
    [
      'a leaf with property and value',
      [{ prefix: { property: 'type', value: 'a' } }],
      '/filters/0/prefix shape_outdated',
    ],
    ['a leaf with attribute and value', [{ exact: { attribute: 'a', value: 'b' } }], '/filters/0/exact shape_outdated'],
  ])('%s', (_what, value, expected) => {
    expect(faults(value)).toEqual([expected]);
  });

  test('the dialect "cesql" is refused with the right name, "sql"', () => {
    expect(parseFilters([{ cesql: "type = 'a'" }], '/filters')).toMatchObject({
      faults: [{ pointer: '/filters/0/cesql', rule: 'dialect_unknown', detail: filterTexts.cesql }],
    });
  });

  test('all faults are reported at once, in the order of the text', () => {
    const value = [
      { exact: { Type: '', id: 3 } },
      { any: [leaf, { sql: 'x =' }, { not: { all: [] } }] },
      { prefix: { subject: '' }, nonsense: 1 },
    ];
    expect(faults(value)).toEqual([
      '/filters/0/exact/Type name_malformed',
      '/filters/0/exact/Type value_empty',
      '/filters/0/exact/id type',
      '/filters/1/any/1/sql operand_expected',
      '/filters/1/any/2/not/all filters_empty',
      '/filters/2 dialect_repeated',
      '/filters/2/prefix/subject value_empty',
      '/filters/2/nonsense dialect_unknown',
    ]);
  });

  test('no more than fifty faults are given', () => {
    expect(faults(Array.from({ length: 90 }, () => ({})))).toHaveLength(50);
    const leaves = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`A${index}`, '']));
    expect(faults([{ exact: leaves }])).toHaveLength(50);
  });

  test('names that reach a prototype are refused as dialect, and reach none', () => {
    const value: unknown = JSON.parse('[{"__proto__":{"type":"a"}},{"exact":{"__proto__":"a"}},{"prototype":1}]');
    expect(faults(value)).toEqual([
      '/filters/0/__proto__ name_forbidden',
      '/filters/1/exact/__proto__ name_malformed',
      '/filters/2/prototype name_forbidden',
    ]);
    expect(({} as { type?: string }).type).toBeUndefined();
  });

  test('pointers begin where the caller says', () => {
    expect(parseFilters(1, '/a')).toEqual({ faults: [expect.objectContaining({ pointer: '/a' })] });
  });
});

describe('limits', () => {
  test('32 filters may be nested, and the 33rd is reported', () => {
    expect(parseFilters(nested(32), '/filters')).toEqual({ filters: nested(32) });
    expect(faults(nested(33))).toEqual([`/filters/0${'/not'.repeat(32)} too_deep`]);
  });

  test('100 filters are allowed at all depths together, and the 101st is reported once', () => {
    const hundred = [{ any: Array.from({ length: 98 }, () => leaf) }, leaf];
    expect(parseFilters(hundred, '/filters')).toEqual({ filters: hundred });
    expect(faults([...hundred, leaf, leaf])).toEqual(['/filters/2 too_many_filters']);
    expect(faults([{ any: Array.from({ length: 500 }, () => leaf) }, leaf])).toEqual([
      '/filters/0/any/99 too_many_filters',
    ]);
  });

  test('an "all" or "any" counts as one level, as "not" does', () => {
    for (const group of ['all', 'any']) {
      expect(faults([{ [group]: nested(32) }])).toEqual([`/filters/0/${group}/0${'/not'.repeat(31)} too_deep`]);
      expect(parseFilters([{ [group]: nested(31) }], '/filters')).toHaveProperty('filters');
    }
  });

  test('72 KB of nested not, all or any cannot overflow the stack', () => {
    const depth = 12_000;
    const not: unknown = JSON.parse(`[${'{"not":'.repeat(depth)}{}${'}'.repeat(depth)}]`);
    const all: unknown = JSON.parse(`[${'{"all":['.repeat(depth)}${']}'.repeat(depth)}]`);
    for (const value of [not, all]) expect(faults(value)).toEqual([expect.stringMatching(/ too_deep$/)]);
  });

  test('a long list of faulty filters is not walked to its end', () => {
    let reads = 0;
    const list = new Proxy(
      Array.from({ length: 1_000_000 }, () => 1),
      {
        get(entries, member) {
          reads += 1;
          return Reflect.get(entries, member) as unknown;
        },
      },
    );
    expect(faults(list)).toHaveLength(50);
    expect(reads).toBeLessThan(1_000);
  });
});
