import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { TokenCache } from '../../../src/registry/tokens/issuers.js';

/** Every token that was verified, as often as it was verified. */
let judged: string[];
let expiresAt: number;
let now: number;
let cache: TokenCache;

beforeEach(() => {
  [judged, expiresAt, now] = [[], Infinity, 0];
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  cache = new TokenCache(async (authorization = '') => {
    judged.push(authorization);
    return {
      tenant: 'gemeente',
      subscriber: 'zaaksysteem',
      client: 'zaaksysteem',
      scopes: new Set(),
      tokenExpiresAt: expiresAt,
    };
  });
});
afterEach(() => void jest.restoreAllMocks());

const come = async (authorization: string) => cache.authenticate(authorization);

test.each([
  [Infinity, 60_000],
  [5_000, 5_000],
])('a token that expires at %d is verified again from %d on', async (expiry, anew) => {
  expiresAt = expiry;
  await come('Bearer a');
  now = anew - 1;
  await come('Bearer a');
  expect(judged).toHaveLength(1);
  now = anew;
  await come('Bearer a');
  expect(judged).toHaveLength(2);
});

test('after keys have changed every token is verified again, even one whose verification was in progress', async () => {
  for (let times = 0; times < 2; times += 1) await come('Bearer a');
  cache.clear();
  const pending = come('Bearer b');
  cache.clear();
  await pending;
  for (const token of ['Bearer a', 'Bearer b']) await come(token);
  expect(judged).toEqual(['Bearer a', 'Bearer b', 'Bearer a', 'Bearer b']);
});

test('each token is cached on its own, in one spelling', async () => {
  for (const token of ['Bearer a', 'Bearer b', 'Bearer a', 'bearer a', 'bearer a', 'Bearer  b']) await come(token);
  expect(judged).toEqual(['Bearer a', 'Bearer b', 'bearer a', 'bearer a', 'Bearer  b']);
});

test('of ten thousand and one tokens the oldest is verified again', async () => {
  for (let token = 0; token <= 10_000; token += 1) await come(`Bearer ${token}`);
  judged.splice(0);
  for (const token of ['Bearer 1', 'Bearer 10000', 'Bearer 0']) await come(token);
  expect(judged).toEqual(['Bearer 0']);
});
