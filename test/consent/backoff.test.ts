import { describe, expect, test } from '@jest/globals';
import { notBefore, parseRetryAfter, retryDelayMs } from '../../src/consent/backoff.js';

const base = { firstMs: 1000, maxMs: 60_000, factor: 4 };
const dayMs = 86_400_000;

describe('the delay before another attempt', () => {
  test('is as many times as long after every attempt as its factor says, twice by default, up to the maximum', () => {
    const delays = [1, 2, 3, 4, 5, 1000].map((attempt) => retryDelayMs(attempt, base, () => 0.5));
    expect(delays).toEqual([1000, 4000, 16_000, 60_000, 60_000, 60_000]);
    expect(retryDelayMs(3, { firstMs: 1000, maxMs: 60_000 }, () => 0.5)).toBe(4000);
  });

  test('varies by up to half in both directions', () => {
    expect(retryDelayMs(2, base, () => 0)).toBe(2000);
    expect(retryDelayMs(2, base, () => 0.999999)).toBe(6000);
  });

  test('is never below half of the first delay and never zero', () => {
    for (const attempt of [-1, 0, 1, 2, 50]) {
      expect(retryDelayMs(attempt, base, () => 0)).toBeGreaterThanOrEqual(500);
    }
    expect(retryDelayMs(1, { firstMs: 0, maxMs: 0 }, () => 0)).toBe(1);
    expect(retryDelayMs(1, { firstMs: 1000, maxMs: 10 }, () => 0)).toBe(500);
  });
});

describe('Retry-After', () => {
  test('makes the delay longer, never shorter, by at most a day', () => {
    expect(notBefore(undefined, 4000)).toBe(4000);
    expect(notBefore(0, 4000)).toBe(4000);
    expect(notBefore(120_000, 4000)).toBe(120_000);
    expect(notBefore(365 * dayMs, 4000)).toBe(dayMs);
    expect(notBefore(365 * dayMs, 2 * dayMs)).toBe(2 * dayMs);
  });

  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';

  test.each([
    ['seconds', '120', 120_000],
    ['zero seconds', '0', 0],
    ['an IMF date', 'Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
    ['a leap second', 'Sun, 06 Nov 1994 08:50:60 GMT', 82_000],
    ['an RFC 850 date', 'Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
    ['an asctime date', 'Sun Nov  6 08:50:37 1994', 60_000],
    ['a date in the past', 'Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['thirty years', '946080000', 946_080_000_000],
  ])('is read as %s', (_what, text, ms) => {
    expect(parseRetryAfter(text, date)).toBe(ms);
  });

  test.each([
    ['-1'],
    ['1.5'],
    ['1e3'],
    ['soon'],
    [''],
    ['2026-11-20T12:00:00Z'],
    ['Xyz, 99 Foo 1994 08:49:37 GMT'],
    ['Thu, 31 Feb 1994 08:49:37 GMT'],
    // Unix times, in seconds and in milliseconds.
    ['1795734210'],
    ['1795734210000'],
    ['9'.repeat(400)],
  ])('counts as absent when it is %j', (text) => {
    expect(parseRetryAfter(text, date)).toBeUndefined();
  });

  test('with a date is measured by the Date of the response, and counts as absent without one', () => {
    expect(parseRetryAfter('Sun, 06 Nov 1994 08:50:37 GMT', undefined)).toBeUndefined();
    expect(parseRetryAfter('Sun, 06 Nov 1994 08:50:37 GMT', 'yesterday')).toBeUndefined();
    expect(parseRetryAfter('60', undefined)).toBe(60_000);
    expect(parseRetryAfter(undefined, date)).toBeUndefined();
  });
});
