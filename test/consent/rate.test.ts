import { describe, expect, test } from '@jest/globals';
import { formatRate, parseRate } from '../../src/consent/rate.js';

describe('a rate', () => {
  test.each([
    ['*', '*'],
    ['1', 1],
    ['120', 120],
    ['999999999999999', 999_999_999_999_999],
    ['1000000000000000', 999_999_999_999_999],
    ['9'.repeat(8_000), 999_999_999_999_999],
    [' 120\t', 120],
    ['\t*', '*'],
  ])('is read from %j', (text, rate) => {
    expect(parseRate(text)).toBe(rate);
  });

  test.each([
    ['empty', ''],
    ['white space', ' \t'],
    ['zero', '0'],
    ['a leading zero', '0120'],
    ['a sign', '+120'],
    ['a negative number', '-1'],
    ['a fraction', '1.5'],
    ['a fraction of zero', '120.0'],
    ['an exponent', '1e3'],
    ['a hexadecimal number', '0x10'],
    ['a unit', '120/min'],
    ['a unit after a space', '120 rpm'],
    ['a list', '120, 120'],
    ['two asterisks', '**'],
    ['an asterisk and a number', '*120'],
    ['a quoted number', '"120"'],
    ['Infinity', 'Infinity'],
    ['a line end', '120\n'],
    ['a no-break space', '\u00a0120'],
    ['a NUL', '120\0'],
    ['Arabic-Indic digits', '\u0661\u0662'],
    ['full-width digits', '\uff11\uff12'],
    ['a full-width asterisk', '\uff0a'],
  ])('is not read from %s', (_what, text) => {
    expect(parseRate(text)).toBeUndefined();
  });

  test('is written so that it reads the same', () => {
    for (const rate of [1, 120, 999_999_999_999_999, '*'] as const) expect(parseRate(formatRate(rate))).toBe(rate);
  });
});
