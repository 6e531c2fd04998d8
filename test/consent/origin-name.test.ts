import { describe, expect, test } from '@jest/globals';
import { parseOriginName } from '../../src/consent/origin.js';
import { cpuTime } from '../support/cpu-time.js';

const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;

describe('the name of an origin', () => {
  test.each([
    ['eventemitter.example.com', 'eventemitter.example.com'],
    ['EventEmitter.Example.COM', 'eventemitter.example.com'],
    ['example.com', 'example.com'],
    ['a.b', 'a.b'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['3com.1-2-3.example', '3com.1-2-3.example'],
    [longest, longest],
  ])('is read from %s in lower case', (text, name) => {
    expect(parseOriginName(text)).toEqual({ ok: true, name });
  });

  test.each([
    ['', 'origin_empty'],
    [' example.com', 'origin_not_ascii'],
    ['example.com\n', 'origin_not_ascii'],
    ['example\0.com', 'origin_not_ascii'],
    ['exam\u0440le.com', 'origin_not_ascii'],
    ['\u212aiosk.example.com', 'origin_not_ascii'],
    ['bücher.example', 'origin_not_ascii'],
    ['*', 'origin_wildcard'],
    ['*.example.com', 'origin_wildcard'],
    ['https://example.com', 'origin_scheme'],
    ['https://example.com:443/', 'origin_scheme'],
    ['example.com:443', 'origin_port'],
    ['example.com:', 'origin_port'],
    ['192.0.2.1', 'origin_address'],
    ['127.1', 'origin_address'],
    ['1.0x7f', 'origin_address'],
    ['example.0x', 'origin_address'],
    ['2130706433', 'origin_address'],
    ['::1', 'origin_address'],
    ['[::1]', 'origin_address'],
    ['2001:db8::1', 'origin_address'],
    ['example.com.', 'origin_trailing_dot'],
    ['.', 'origin_trailing_dot'],
    [`${longest}d`, 'origin_too_long'],
    [`${'a'.repeat(64)}.example`, 'origin_label_too_long'],
    ['.example.com', 'origin_malformed'],
    ['example..com', 'origin_malformed'],
    ['-a.example.com', 'origin_malformed'],
    ['a-.example.com', 'origin_malformed'],
    ['_sip.example.com', 'origin_malformed'],
    ['example.com/path', 'origin_malformed'],
    ['user@example.com', 'origin_malformed'],
    ['user:1@example.com', 'origin_malformed'],
    ['a.example.com,b.example.com', 'origin_malformed'],
    ['"example.com"', 'origin_malformed'],
    ['localhost', 'origin_single_label'],
  ])('is not read from %j', (text, rule) => {
    expect(parseOriginName(text)).toEqual({
      ok: false,
      rule,
      detail: { en: expect.stringMatching(/^[A-Z].*\.$/), nl: expect.stringMatching(/^[A-Z].*\.$/) },
    });
  });

  test('of any length is checked quickly', () => {
    const judge = () => {
      for (const text of ['a'.repeat(100_000), 'a.'.repeat(50_000), '-'.repeat(100_000), ':'.repeat(100_000)]) {
        expect(parseOriginName(text).ok).toBe(false);
      }
    };
    expect(cpuTime(judge)).toBeLessThan(10_000);
  });
});
