import { describe, expect, test } from '@jest/globals';
import { compileCesql, matchesCesql } from '../../../src/matching/cesql/evaluate.js';
import { createRun, payFor, type Cesql, type CesqlValue } from '../../../src/matching/cesql/expression.js';
import { compileLike } from '../../../src/matching/cesql/like.js';
import { parseCesql } from '../../../src/matching/cesql/parser.js';

type Attributes = Record<string, CesqlValue>;

function read(text: string, functions: 'known' | 'any' = 'known'): Cesql {
  const parsed = parseCesql(text, {}, { functions });
  if ('fault' in parsed) throw new Error(`${text}: ${parsed.fault.rule} at ${parsed.fault.at}`);
  return parsed.expression;
}

/** The value, or the value and the error. */
function evaluate(text: string, attributes: Attributes = {}): unknown {
  const { value, error } = compileCesql(read(text, 'any'))(new Map(Object.entries(attributes)));
  return error === undefined ? value : [value, error];
}

function matches(text: string, attributes: Attributes): boolean {
  return matchesCesql(read(text))(new Map(Object.entries(attributes)));
}

function fault(text: string, limits?: { characters?: number; tokens?: number; depth?: number }): string {
  const parsed = parseCesql(text, limits);
  if (!('fault' in parsed)) throw new Error(`There is no fault in ${text}.`);
  expect(parsed.fault.detail.en).toMatch(/^[A-Z].*\.$/);
  return `${parsed.fault.at} ${parsed.fault.rule}`;
}

describe('operators group', () => {
  test.each<[string, string]>([
    ['NOT a = b', '(NOT a) = b'],
    ["NOT a LIKE 'x'", "(NOT a) LIKE 'x'"],
    ['NOT EXISTS a AND b', '(NOT (EXISTS a)) AND b'],
    ['-a * b', '(-a) * b'],
    ['- a LIKE "1"', '(- a) LIKE "1"'],
    ['- NOT a', '-(NOT a)'],
    ["a + b LIKE 'x'", "a + (b LIKE 'x')"],
    ['a * b IN (c)', 'a * (b IN (c))'],
    ["a LIKE 'x' IN (TRUE)", "(a LIKE 'x') IN (TRUE)"],
    ['a + b * c - d', '(a + (b * c)) - d'],
    ['a - b - c', '(a - b) - c'],
    ['a / b * c % d', '((a / b) * c) % d'],
    ['a = b + c', 'a = (b + c)'],
    ['a < b = c', '(a < b) = c'],
    ['a OR b AND c', '(a OR b) AND c'],
    ['a AND b OR c', '(a AND b) OR c'],
    ['a OR b XOR c OR d', '((a OR b) XOR c) OR d'],
    ['a = b AND c <> d', '(a = b) AND (c != d)'],
    ["a NOT LIKE 'x' AND b NOT IN (c, d)", "(NOT (a LIKE 'x')) AND (NOT (b IN (c, d)))"],
    ['4-1', '4 - 1'],
    ['a -1', 'a - 1'],
    ['a - -1', 'a - (-1)'],
  ])('%s as %s', (text, grouped) => {
    expect(read(text)).toEqual(read(grouped));
  });

  test('without regard to the case of keywords, functions and attributes', () => {
    expect(read("not Exists TYPE or Concat_ws(',', A) like 'X'")).toEqual(
      read("NOT EXISTS type OR CONCAT_WS(',', a) LIKE 'X'"),
    );
  });
});

describe('literals', () => {
  test.each<[string, CesqlValue]>([
    ['007', 7],
    ['+5', 5],
    ['-2147483648', -2147483648],
    ['2147483647', 2147483647],
    ['-0', 0],
    ['- 5', -5],
    ['--10', 10],
    [`'a"b'`, 'a"b'],
    [`"a'b"`, "a'b"],
    [String.raw`'\'\''`, "''"],
    [String.raw`"\'"`, String.raw`\'`],
    [String.raw`'a\\'`, String.raw`a\\`],
    [String.raw`'a\n\%'`, String.raw`a\n\%`],
    ["'line\nbreak \u{1f600}'", 'line\nbreak \u{1f600}'],
  ])('%s', (text, value) => {
    expect(evaluate(text)).toStrictEqual(value);
  });
});

describe('a fault is named by place and rule', () => {
  test.each<[string, string]>([
    ['', '0 operand_expected'],
    [' \n ', '3 operand_expected'],
    ['type = ', '7 operand_expected'],
    ['= 5', '0 operand_expected'],
    ['(a', '0 parenthesis_unclosed'],
    ['(a b)', '3 operator_expected'],
    ['a)', '1 operator_expected'],
    ['a b', '2 operator_expected'],
    ['a NOT b', '6 operator_expected'],
    ['a NOT', '5 operator_expected'],
    ['a == b', '3 operand_expected'],
    ['a & b', '2 character_unexpected'],
    ['a.b = 1', '1 character_unexpected'],
    ['a ! b', '2 character_unexpected'],
    ['a = \u{a0}1', '4 character_unexpected'],
    ["a = 'x", '4 string_unterminated'],
    [String.raw`a = 'x\'`, '4 string_unterminated'],
    ["a = 'it''s'", '8 operator_expected'],
    ["a = 'x\ud800'", '6 text_malformed'],
    ['a LIKE 123', '7 pattern_expected'],
    ['a LIKE b', '7 pattern_expected'],
    ["a LIKE ('x')", '7 pattern_expected'],
    ['a IN b', '5 set_expected'],
    ['a IN ()', '6 operand_expected'],
    ['a IN (b,)', '8 operand_expected'],
    ['a IN (b', '5 parenthesis_unclosed'],
    ['EXISTS (a)', '7 attribute_expected'],
    ["EXISTS 'a'", '7 attribute_expected'],
    ['EXISTS not', '7 attribute_expected'],
    ['EXISTS', '6 attribute_expected'],
    ['my_ext = 1', '0 name_malformed'],
    ['a + + b', '4 operand_expected'],
    ['+ 5', '0 operand_expected'],
    ['2147483648', '0 integer_out_of_range'],
    ['a = -2147483649', '5 integer_out_of_range'],
    ['- 2147483648', '2 integer_out_of_range'],
    ['9'.repeat(5000), '0 integer_out_of_range'],
    ['TRUE AND nosuch(1)', '9 function_unknown'],
    ['constructor(1)', '0 function_unknown'],
    ['CONCAT_WS()', '0 arity_wrong'],
    ["LEFT('a')", '0 arity_wrong'],
    ["SUBSTRING('a', 1, 2, 3)", '0 arity_wrong'],
    ['ABS(1 2)', '6 operator_expected'],
    ['ABS(', '4 operand_expected'],
  ])('%j: %s', (text, expected) => {
    expect(fault(text)).toBe(expected);
  });
});

describe('an operator of another language is refused with what to write', () => {
  test.each([
    ["type == 'a'", 'Write = here.'],
    ["type === 'a'", 'Write = here.'],
    ["type !== 'a'", 'Write != here.'],
    ["type = 'a' && subject = 'b'", 'Write AND here.'],
    ["type = 'a' || subject = 'b'", 'Write OR here.'],
    ["!(type = 'a')", 'Write NOT here.'],
    ["type =~ '^a'", "Write LIKE 'com.example.%' here."],
    ["type MATCHES '^a'", "Write LIKE 'com.example.%' here."],
    ["(type contains 'a')", "Write LIKE '%text%' here."],
    ["type startsWith 'a'", "Write LIKE 'text%' here."],
    ["type ends_with 'a'", "Write LIKE '%text' here."],
    ['subject IS NULL', 'Write EXISTS subject here.'],
    ['size BETWEEN 1 AND 2', 'Write >=, AND, <= here.'],
    ['data.total > 3', 'Expressions see the attributes of an event, not its data.'],
  ])('%s', (text, hint) => {
    const parsed = parseCesql(text);
    expect('fault' in parsed && parsed.fault.detail.en.endsWith(` ${hint}`)).toBe(true);
  });

  test('and a fault of another kind gets no hint', () => {
    for (const text of ['', '(a b)', "a = 'it''s'", 'a NOT b', "a = '==", 'a IN ()', 'a + + b']) {
      const parsed = parseCesql(text);
      expect('fault' in parsed && / (?:Write|Expressions see) /.test(parsed.fault.detail.en)).toBe(false);
    }
  });
});

describe('errors come with a value', () => {
  test.each<[string, unknown]>([
    // Section 3.2: what refers to a missing attribute has the zero value of its own type.
    ['missing', [false, 'missingAttribute']],
    ['constructor', [false, 'missingAttribute']],
    ['missing = missing', [false, 'missingAttribute']],
    ['missing != 2', [false, 'missingAttribute']],
    ['NOT (missing = 2)', [false, 'missingAttribute']],
    ["missing NOT LIKE 'x'", [false, 'missingAttribute']],
    ['missing NOT IN (1)', [false, 'missingAttribute']],
    ['1 NOT IN (1, missing)', [false, 'missingAttribute']],
    ['1 + missing', [0, 'missingAttribute']],
    ['LENGTH(missing)', [0, 'missingAttribute']],
    ["CONCAT('a', missing)", ['', 'missingAttribute']],
    ['IS_INT(missing)', [false, 'missingAttribute']],
    ['missing OR TRUE', [false, 'missingAttribute']],
    ['TRUE OR missing', true],
    ['FALSE AND missing', false],
    ['TRUE XOR missing', [false, 'missingAttribute']],
    ['missing < 1', [false, 'missingAttribute']],
    // Section 3.3 and 3.4: mathematics.
    ['5 / 0', [0, 'math']],
    ['5 % 0', [0, 'math']],
    ['(5 / 0) + 1', [0, 'math']],
    ['2147483647 + 1', [0, 'math']],
    ['-2147483648 - 1', [0, 'math']],
    ['--2147483648', [0, 'math']],
    ['-2147483648 / -1', [0, 'math']],
    ['2147483647 * 2147483647', [0, 'math']],
    ['ABS(-2147483648)', [2147483647, 'math']],
    ['1 < 1 OR 2 < 1', false],
    ['1 < 2 AND 1 <= 1 AND 1 <= 2', true],
    ['2 <= 1 OR 1 > 1 OR 1 > 2', false],
    ['2 > 1 AND 1 >= 1 AND 2 >= 1', true],
    ['1 >= 2', false],
    ['-7 / 2', -3],
    ['-7 % 2', -1],
    ['-4 % 2', 0],
    ['-2147483648 % -1', 0],
    // Section 3.7: casts.
    ["'abc' = 1", [false, 'cast']],
    ["'abc' = TRUE", [false, 'cast']],
    ["1 IN (1, 'abc')", [true, 'cast']],
    ["1 IN ('abc', 1)", [false, 'cast']],
    ["'2147483648' + 0", [0, 'cast']],
    ["INT('')", [0, 'cast']],
    ["INT('-')", [0, 'cast']],
    ["INT(' 5')", [0, 'cast']],
    ["INT('5.0')", [0, 'cast']],
    ["INT('-2147483648')", -2147483648],
    ["INT('+0005')", 5],
    ["BOOL('yes')", [false, 'cast']],
    ["BOOL('False')", false],
    ["BOOL('tRuE')", true],
    ["'abc' AND TRUE", [false, 'cast']],
    ["NOT 'abc'", [true, 'cast']],
    ['NOT 0', [true, 'cast']],
    ['BOOL(0) = FALSE AND 5 = TRUE AND (5 AND -1)', true],
    ['TRUE = "true" AND FALSE = "false"', true],
    ['TRUE = "TRUE" OR FALSE = "FALSE"', false],
    ['IS_INT("12") AND IS_INT(TRUE) AND NOT IS_INT("a") AND IS_BOOL(3) AND NOT IS_BOOL("1")', true],
    // Section 3.5: functions.
    ['NOSUCH(1)', [false, 'missingFunction']],
    ["ABS('x')", [0, 'cast']],
    ["LEFT('abc', 'x')", ['', 'cast']],
    ["RIGHT('abc', 'x')", ['', 'cast']],
    ["SUBSTRING('abc', 'x')", ['', 'cast']],
    ["SUBSTRING('abc', 'x', 1)", ['', 'cast']],
    ["SUBSTRING('abc', 1, 'x')", ['', 'cast']],
    ["LEFT('abc', -1)", ['abc', 'functionEvaluation']],
    ["RIGHT('abc', -1) = 'abc'", [false, 'functionEvaluation']],
    ["SUBSTRING('abc', 1, -1)", ['', 'functionEvaluation']],
    ["SUBSTRING('', 1)", ['', 'functionEvaluation']],
    ["SUBSTRING('abc', -3, 99)", 'abc'],
    ["SUBSTRING('abc', -2)", 'bc'],
    ["SUBSTRING('abcd', -3, 2)", 'bc'],
    ["SUBSTRING('abc', 3, 0)", ''],
    ["LENGTH('a\u{1f600}b')", 3],
    ["LEFT('\u{1f600}bc', 2)", '\u{1f600}b'],
    ["RIGHT('a\u{1f600}b', 2)", '\u{1f600}b'],
    ["SUBSTRING('a\u{1f600}bc', 2, 2)", '\u{1f600}b'],
    ["TRIM('\u{85}\t \u{3000}a b\u{2003}\n')", 'a b'],
    ["TRIM('\ufeffa\u{1}')", '\ufeffa\u{1}'],
    ["CONCAT_WS('-', 1, TRUE, 'x')", '1-true-x'],
    ["UPPER('stra\u{df}e')", 'STRASSE'],
  ])('%j', (text, expected) => {
    expect(evaluate(text)).toStrictEqual(expected);
  });

  test('and a filter with an error does not pass, however it is turned', () => {
    for (const text of ["a LIKE 'x%'", "a = 'x'", "a != 'x'", "a IN ('x')", 'a < 1', '1/a = 0', "TRIM(a) = ''"]) {
      for (const turned of [text, `NOT (${text})`, `(${text}) = FALSE`, `(${text}) XOR TRUE`]) {
        expect([turned, matches(turned, {})]).toEqual([turned, false]);
      }
    }
  });

  test('and a value that is no Boolean does not pass', () => {
    for (const text of ['1', "'true'", 'a', 'BOOL(a) + 0']) expect(matches(text, { a: 'true' })).toBe(false);
    expect(matches('a', { a: true })).toBe(true);
    expect(matches('BOOL(a)', { a: 'TRUE' })).toBe(true);
  });

  test('and the steps and the error of one event do not affect the next', () => {
    const long = matchesCesql(read('LENGTH(a) = 600000'));
    for (let turn = 0; turn < 3; turn += 1) expect(long(new Map([['a', 'x'.repeat(600_000)]]))).toBe(true);
    const filter = matchesCesql(read("LEFT(a, b) = 'x'"));
    expect(filter(new Map<string, CesqlValue>([['a', 'xy']]))).toBe(false);
    expect(filter(new Map(Object.entries({ a: 'xy', b: 1 })))).toBe(true);
  });
});

describe('attributes are compared by the type that they have', () => {
  test.each<[string, Attributes, boolean]>([
    ["count = '5'", { count: 5 }, true],
    ["count = '05'", { count: 5 }, false],
    ["'05' = count", { count: 5 }, true],
    ['count = 5', { count: '+05' }, true],
    ["count IN ('05', 'x')", { count: '05' }, true],
    ["count IN ('05')", { count: 5 }, true],
    ["flag LIKE 't%'", { flag: true }, true],
    ['flag = TRUE', { flag: 'tRUE' }, true],
    ["'TRUE' = flag", { flag: true }, true],
    ['a = b', { a: '5', b: 5 }, true],
    ['a = b', { a: 5, b: '05' }, false],
    ['a = b', { a: 5, b: '5' }, true],
    ['a IN (b, c)', { a: 'x', b: 'y', c: 'x' }, true],
    ['a IN (b, c)', { a: 'x', b: 'y', c: 'z' }, false],
    ["Type = 'X'", { type: 'x' }, false],
  ])('%s with %j: %s', (text, attributes, expected) => {
    expect(matches(text, attributes)).toBe(expected);
  });
});

describe('LIKE', () => {
  /** The definition, word for word, and exponential. */
  function reference(pattern: string[], text: string[]): boolean {
    const [first, ...rest] = pattern;
    if (first === undefined) return text.length === 0;
    if (first === '%') return reference(rest, text) || (text.length > 0 && reference(pattern, text.slice(1)));
    if (text.length === 0) return false;
    const escaped = first === '\\' && (rest[0] === '%' || rest[0] === '_');
    if (escaped) return text[0] === rest[0] && reference(rest.slice(1), text.slice(1));
    return (first === '_' || first === text[0]) && reference(rest, text.slice(1));
  }

  test('follows its definition for every short pattern and text', () => {
    const words = (letters: string[], length: number): string[] =>
      length === 0 ? [''] : words(letters, length - 1).flatMap((word) => [word, ...letters.map((one) => word + one)]);
    const texts = [...new Set(words(['a', '%', '\\', '\u{1f600}'], 4))];
    for (const pattern of new Set(words(['a', '%', '_', '\\', '\u{1f600}'], 4))) {
      const matcher = compileLike(pattern);
      const wrong = texts.filter((text) => matcher(text, createRun()) !== reference([...pattern], [...text]));
      expect([pattern, wrong]).toEqual([pattern, []]);
    }
  });

  test('looks at each character about once when the pattern has many wildcards', () => {
    const run = createRun();
    const text = 'a'.repeat(4000);
    payFor(text, run);
    expect(compileLike(`${'%a'.repeat(2000)}%b`)(text, run)).toBe(false);
    expect(run.given - run.steps).toBeLessThan(3 * 4000);
  });

  test('stops with an error, and does not pass, when a pattern almost matches everywhere', () => {
    const pattern = `%${'a_'.repeat(5000)}b%`;
    const text = 'a'.repeat(60_000);
    expect(evaluate(`a LIKE '${pattern}'`, { a: text })).toEqual([false, 'generic']);
    expect(matches(`a NOT LIKE '${pattern}'`, { a: text })).toBe(false);
    // As many of them as fit: the steps are those of the whole evaluation, so that nothing is left for the second.
    const run = createRun();
    compileLike(pattern)(text, run);
    expect(run).toMatchObject({ error: 'generic', steps: -1 });
  });
});

describe('hostile expressions', () => {
  const deep = 72 * 1024;
  const roomy = { characters: 1_000_000, tokens: 1_000_000 };

  test.each<[string, string, string]>([
    ['parentheses', '('.repeat(deep), '32 too_deep'],
    ['NOT', 'NOT '.repeat(deep), '128 too_deep'],
    ['minus', '- '.repeat(deep), '64 too_deep'],
    ['functions', 'ABS('.repeat(deep), '128 too_deep'],
    ['sets', 'a IN ('.repeat(deep), '192 too_deep'],
  ])('72 Ki of nested %s are refused by depth', (_what, text, expected) => {
    expect(fault(text, roomy)).toBe(expected);
    expect(fault(text)).toBe('32768 too_long');
  });

  test('are refused by tokens and by length, and accepted at the limit', () => {
    const chain = (count: number) => Array.from({ length: count }, () => 'a').join(' OR ');
    expect(read(chain(256)).kind).toBe('logic');
    expect(fault(chain(257))).toBe(`${256 * 5} too_many_tokens`);
    expect(fault('a', { tokens: 0 })).toBe('0 too_many_tokens');
    expect(read(`'${'x'.repeat(32_766)}'`).kind).toBe('literal');
    expect(fault(`'${'x'.repeat(32_767)}'`)).toBe('32768 too_long');
    expect(read(`${'('.repeat(31)}a${')'.repeat(31)}`).kind).toBe('attribute');
    expect(fault(`${'('.repeat(32)}a${')'.repeat(32)}`)).toBe('32 too_deep');
  });

  test('cannot make strings grow without end: a delimiter of delimiters of delimiters', () => {
    let text = 'a';
    for (let level = 0; level < 25; level += 1) text = `CONCAT_WS(${text},${"'',".repeat(3)}'')`;
    expect(evaluate(`LENGTH(${text})`, { a: 'x'.repeat(1000) })).toEqual([0, 'functionEvaluation']);
    expect(evaluate(text, { a: '' })).toBe('');
    expect(matches(`${text} NOT LIKE 'y'`, { a: 'x'.repeat(1000) })).toBe(false);
  });

  test('cannot make much work of a short text, and so of every event', () => {
    const delimiter = `CONCAT_WS('${' '.repeat(300)}',${"'',".repeat(60)}'')`;
    const spaces = `CONCAT_WS(${delimiter},${"'',".repeat(26)}'')`;
    for (const text of [`TRIM(${spaces}) = ''`, `LENGTH(${spaces}) > 0`, `${spaces} LIKE '%_x'`]) {
      expect(evaluate(text)).toEqual([false, 'functionEvaluation']);
    }
    const text = 'x'.repeat(10_000);
    expect(evaluate("TRIM(LOWER(CONCAT(SUBSTRING(a, 2), a))) LIKE '%y'", { a: text })).toBe(false);
    // Nor of a long one, however often it is read.
    const run = createRun();
    for (let turn = 0; turn < 20; turn += 1) payFor(text, run);
    expect(run).toEqual({ error: undefined, steps: 1_000_000, given: 1_000_000 });
  });

  test('never throw, whatever the text', () => {
    const pieces = [' ', ...`' " \\ ( ) , NOT a 1 - + LIKE IN '%' = < ABS _`.split(' ')];
    let seed = 1;
    const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
    let accepted = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const text = Array.from({ length: 1 + random(8) }, () => pieces[random(pieces.length)]).join(
        random(2) ? ' ' : '',
      );
      const parsed = parseCesql(text);
      if ('fault' in parsed) {
        if (parsed.fault.at > text.length) throw new Error(text);
        continue;
      }
      accepted += 1;
      if (!('value' in compileCesql(parsed.expression)(new Map([['a', 'x']])))) throw new Error(text);
    }
    expect(accepted).toBeGreaterThan(1000);
  });
});
