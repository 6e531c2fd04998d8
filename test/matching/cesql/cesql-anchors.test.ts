import { describe, expect, test } from '@jest/globals';
import { anchorsOf } from '../../../src/matching/cesql/anchors.js';
import { matchesCesql } from '../../../src/matching/cesql/evaluate.js';
import type { CesqlValue } from '../../../src/matching/cesql/expression.js';
import { parseCesql } from '../../../src/matching/cesql/parser.js';
import type { Anchor } from '../../../src/matching/filters/predicate.js';

function read(text: string) {
  const parsed = parseCesql(text);
  if ('fault' in parsed) throw new Error(`${text}: ${parsed.fault.rule} at ${parsed.fault.at}`);
  return parsed.expression;
}

/** `a=x` exact, `a^x` prefix, `a$x` suffix; anchors of one list with `|`, lists with `&`. */
function show(text: string): string {
  const write = (one: Anchor) =>
    'exact' in one
      ? `${one.attribute}=${one.exact}`
      : 'prefix' in one
        ? `${one.attribute}^${one.prefix}`
        : `${one.attribute}$${one.suffix}`;
  return anchorsOf(read(text))
    .map((list) => list.map(write).join('|'))
    .join(' & ');
}

describe('the anchors of an expression', () => {
  test.each([
    ["a = 'x'", 'a=x'],
    ["'x' = a", 'a=x'],
    ["'05' = a", 'a=05|a=5'],
    ["'TRUE' = a", 'a=TRUE|a=true'],
    ['5 = a', 'a=5|a=true'],
    ['FALSE = a', 'a=false|a=0'],
    ['a = 5', ''],
    ['a = TRUE', ''],
    ['a = b', ''],
    ["a != 'x'", ''],
    ["NOT (a != 'x')", 'a=x'],
    ["a IN ('x', 'y', 'x')", 'a=x|a=y'],
    ["a IN ('x', 7)", 'a=x|a=7|a=true'],
    ["a IN ('x', b)", ''],
    ["'x' IN (a, b)", 'a=x|b=x'],
    ["a NOT IN ('x')", ''],
    ["a LIKE 'x%'", 'a^x'],
    ["a LIKE '%x'", 'a$x'],
    ["a LIKE 'x%y_z'", 'a^x & a$z'],
    [String.raw`a LIKE '100\%'`, 'a=100%'],
    [String.raw`a LIKE '\_x\\y%'`, String.raw`a^_x\\y`],
    ["a LIKE ''", 'a='],
    ["a LIKE '%x%'", ''],
    ["a NOT LIKE 'x%'", ''],
    ["LOWER(a) LIKE 'x%'", ''],
    ["a = 'x' AND b LIKE 'y%'", 'a=x & b^y'],
    ["a = 'x' AND EXISTS b AND c > 1", 'a=x'],
    ["a = 'x' OR b LIKE 'y%'", 'a=x|b^y'],
    ["a = 'x' OR EXISTS b", ''],
    ["(a = 'x' AND b = 'y') OR (c = 'z' AND d = 'w')", 'a=x|c=z & a=x|d=w & b=y|c=z & b=y|d=w'],
    ["NOT (a != 'x' OR b != 'y')", 'a=x & b=y'],
    ["NOT (a != 'x' AND b != 'y')", 'a=x|b=y'],
    ["a = 'x' XOR b = 'y'", ''],
    ['EXISTS a', ''],
    ['TRUE', ''],
  ])('%s: %s', (text, expected) => {
    expect(show(text)).toBe(expected);
  });

  test('do not multiply without limit', () => {
    const both = (n: number) => `(a = 'x${n}' AND b = 'y${n}' AND c = 'z${n}')`;
    const many = Array.from({ length: 30 }, (_none, n) => both(n)).join(' OR ');
    const anchors = anchorsOf(read(many));
    expect(anchors.length).toBeLessThanOrEqual(16);
    for (const list of anchors) expect(list).toHaveLength(30);
  });
});

describe('anchors are sound', () => {
  let seed = 20_240_613;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;

  const names = ['a', 'b', 'c'];
  const texts = [
    'x',
    'xy',
    'yx',
    'X',
    '',
    '5',
    '05',
    '+5',
    '0',
    '1',
    '-0',
    'true',
    'TRUE',
    'False',
    'false',
    'x%',
    '\u{1f600}x',
  ];
  const values: (CesqlValue | undefined)[] = [...texts, 5, 0, 1, -1, true, false, undefined];
  const patterns = [
    'x%',
    '%x',
    'x',
    '_x',
    'x_',
    '%',
    '%5',
    't%e',
    '0_',
    String.raw`x\%`,
    String.raw`\%x%`,
    '%x%y%',
    '',
  ];

  const literal = () => pick([`'${pick(texts)}'`, pick(['5', '0', '1', '-1', '005']), pick(['TRUE', 'FALSE'])]);
  const simple = () => (random(2) ? pick(names) : literal());
  const list = () => Array.from({ length: 1 + random(3) }, () => (random(4) ? literal() : pick(names))).join(', ');

  function expression(depth: number): string {
    const kind = random(depth > 0 ? 12 : 6);
    if (kind < 2) return `(${simple()} ${pick(['=', '!=', '<>', '=', '<'])} ${simple()})`;
    if (kind === 2) return `(${pick(names)} ${pick(['LIKE', 'LIKE', 'NOT LIKE'])} '${pick(patterns)}')`;
    if (kind === 3) return `(${simple()} ${pick(['IN', 'NOT IN'])} (${list()}))`;
    if (kind === 4) return `(EXISTS ${pick(names)})`;
    if (kind === 5) return random(3) ? simple() : `CONCAT(${simple()}, ${simple()})`;
    if (kind < 8) return `(NOT ${expression(depth - 1)})`;
    return `(${expression(depth - 1)} ${pick(['AND', 'OR', 'AND', 'OR', 'XOR', '='])} ${expression(depth - 1)})`;
  }

  function holds(one: Anchor, event: ReadonlyMap<string, CesqlValue>): boolean {
    const value = event.get(one.attribute);
    if (value === undefined) return false;
    const canonical = String(value);
    if ('exact' in one) return canonical === one.exact;
    return 'prefix' in one ? canonical.startsWith(one.prefix) : canonical.endsWith(one.suffix);
  }

  test('whenever a random expression matches a random event, each list has an alternative that matches', () => {
    let anchored = 0;
    for (let round = 0; round < 6_000; round += 1) {
      const text = expression(1 + random(4));
      const parsed = read(text);
      const anchors = anchorsOf(parsed);
      if (anchors.length === 0) continue;
      const filter = matchesCesql(parsed);
      for (let turn = 0; turn < 40; turn += 1) {
        const pairs = names.map((name) => [name, pick(values)] as const);
        const event = new Map(pairs.filter((pair): pair is [string, CesqlValue] => pair[1] !== undefined));
        if (!filter(event)) continue;
        anchored += 1;
        const broken = anchors.filter((alternatives) => !alternatives.some((one) => holds(one, event)));
        if (broken.length > 0) expect({ text, event: Object.fromEntries(event), broken }).toBeUndefined();
      }
    }
    expect(anchored).toBeGreaterThan(2_000);
  });
});
