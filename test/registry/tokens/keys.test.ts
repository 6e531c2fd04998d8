import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { exportJWK, generateSecret, jwtVerify, type JWK } from 'jose';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createRemoteKeySource, type KeySource } from '../../../src/registry/tokens/keys.js';
import { newSigningKey, signed, startJwksServer, type JwksServer, type SigningKey } from '../../support/jwks-server.js';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

let first: SigningKey;
let next: SigningKey;
let server: JwksServer;
let now: number;
let outages: unknown[];
let keys: KeySource;

beforeAll(async () => {
  [first, next] = await Promise.all([newSigningKey('first'), newSigningKey('next')]);
});

beforeEach(async () => {
  server = await startJwksServer();
  server.publishes(first.publicJwk);
  now = 0;
  outages = [];
  keys = source();
});

afterEach(() => server.stop());

function source(settings: { timeoutMs?: number; url?: string } = {}): KeySource {
  return createRemoteKeySource({
    url: server.url,
    clock: () => now,
    onOutage: (cause) => outages.push(cause),
    ...settings,
  });
}

async function verdict(key: SigningKey, from = keys): Promise<string> {
  return jwtVerify(await signed(key, {}), from).then(
    () => 'verified',
    (error) => error.code,
  );
}

const unknownKey = 'ERR_JWKS_NO_MATCHING_KEY';

test('the set is fetched at the first look-up and then kept', async () => {
  expect(server.fetches()).toBe(0);
  expect(await verdict(first)).toBe('verified');
  now = 9 * minute;
  expect(await verdict(first)).toBe('verified');
  expect(server.fetches()).toBe(1);
});

test('two hundred look-ups at startup share one fetch', async () => {
  const verdicts = await Promise.all(Array.from({ length: 200 }, () => verdict(first)));
  expect(new Set(verdicts)).toEqual(new Set(['verified']));
  expect(server.fetches()).toBe(1);
});

test('after ten minutes a look-up starts a refresh in the background and does not wait for it', async () => {
  await verdict(first);
  const fetched = new Promise<ServerResponse>((resolve) => server.answers((_, response) => resolve(response)));
  now = 10 * minute - 1;
  expect(await verdict(first)).toBe('verified');
  expect(server.fetches()).toBe(1);
  now = 10 * minute;
  expect(await verdict(first)).toBe('verified');
  const response = await fetched;
  const refreshed = verdict(next);
  response.end(JSON.stringify({ keys: [next.publicJwk] }));
  expect(await refreshed).toBe('verified');
  expect(await verdict(first)).toBe(unknownKey);
  expect(server.fetches()).toBe(2);
});

test('a key that was withdrawn during a time without look-ups is not accepted again', async () => {
  await verdict(first);
  server.publishes(next.publicJwk);
  now = 20 * minute;
  expect(await Promise.all([verdict(first), verdict(first)])).toEqual([unknownKey, unknownKey]);
  expect(await verdict(next)).toBe('verified');
  expect(server.fetches()).toBe(2);
});

test('after an outage and a time without look-ups, a withdrawn key is not accepted either', async () => {
  await verdict(first);
  server.breaks();
  now = 20 * minute;
  expect(await verdict(first)).toBe('verified');
  server.publishes(next.publicJwk);
  now = 5 * hour;
  expect(await verdict(first)).toBe(unknownKey);
});

test('during an outage known keys wait only for the first fetch in ten minutes', async () => {
  await verdict(first);
  server.breaks();
  now = 20 * minute;
  expect(await verdict(first)).toBe('verified');
  let isOver = false;
  server.answers((_, response) => response.on('close', () => (isOver = true)));
  now = 30 * minute - 1;
  expect(await verdict(first)).toBe('verified');
  expect(isOver).toBe(false);
});

test('a new key is accepted 30 s after the last fetch, and the old key as long as it is published', async () => {
  await verdict(first);
  server.publishes(first.publicJwk, next.publicJwk);
  now = 30 * second;
  expect(await verdict(next)).toBe('verified');
  expect(await verdict(first)).toBe('verified');
  expect(server.fetches()).toBe(2);
});

test('a key that may have been published since the last fetch is unavailable until the next one, and not refused', async () => {
  await verdict(first);
  server.publishes(first.publicJwk, next.publicJwk);
  now = 10 * second;
  const refused = jwtVerify(await signed(next, {}), keys);
  await expect(refused).rejects.toMatchObject({ code: 'keys_unavailable', retryAfterSeconds: 20 });
  now = 30 * second;
  expect(await verdict(next)).toBe('verified');
});

test('a key that a fetched set lacks is refused from then on, and so are many other made-up keys', async () => {
  await verdict(first);
  const garbage = (index: number) => ({ ...next, kid: `garbage-${index}` });
  now = 29 * second;
  expect(await verdict(garbage(0))).toBe('keys_unavailable');
  for (const at of [30, 31, 59, 60, 61]) {
    now = at * second;
    expect([at, await verdict(garbage(0))]).toEqual([at, unknownKey]);
  }
  const verdicts = await Promise.all(Array.from({ length: 200 }, (_, index) => verdict(garbage(index + 1))));
  expect(verdicts.filter((each) => each === 'keys_unavailable').length).toBeLessThan(64);
  now = 89 * second;
  expect(await verdict(garbage(500))).toBe(unknownKey);
  expect(server.fetches()).toBe(3);
});

test('a made-up key at the first look-up is refused immediately', async () => {
  expect(await Promise.all([verdict(next), verdict(next)])).toEqual([unknownKey, unknownKey]);
  now = second;
  expect(await verdict(next)).toBe(unknownKey);
});

test('two hundred unknown keys at once cause one fetch, and no further one for 30 s', async () => {
  await verdict(first);
  now = 30 * second;
  const strangers = Array.from({ length: 200 }, (_, index) => ({ ...next, kid: `stranger-${index}` }));
  expect(new Set(await Promise.all(strangers.map((key) => verdict(key))))).toEqual(new Set([unknownKey]));
  now = 60 * second - 1;
  await Promise.all(strangers.map((key) => verdict(key)));
  expect(server.fetches()).toBe(2);
});

test('two hundred unknown keys during an outage cause one fetch, and no further one for 30 s', async () => {
  await verdict(first);
  server.breaks();
  now = 30 * second;
  const strangers = Array.from({ length: 200 }, (_, index) => ({ ...next, kid: `stranger-${index}` }));
  expect(new Set(await Promise.all(strangers.map((key) => verdict(key))))).toEqual(new Set(['keys_unavailable']));
  now = 60 * second - 1;
  await Promise.all(strangers.map((key) => verdict(key)));
  expect(server.fetches()).toBe(2);
});

test('during an outage known keys work for a day after the last good response and not longer', async () => {
  now = 12 * hour;
  await verdict(first);
  server.breaks();
  now = 36 * hour - 1;
  expect(await verdict(first)).toBe('verified');
  now = 36 * hour + 30 * second;
  expect(await verdict(first)).toBe('keys_unavailable');
  expect(outages.map(String)).toContain('Error: The URL returned 500.');
});

test('an unknown key during an outage gets keys_unavailable with the time to retry', async () => {
  await verdict(first);
  server.breaks();
  now = 30 * second;
  await expect(jwtVerify(await signed(next, {}), keys)).rejects.toMatchObject({
    code: 'keys_unavailable',
    retryAfterSeconds: 30,
  });
});

test('a new key is accepted within 60 s after an outage ends', async () => {
  await verdict(first);
  server.breaks();
  now = 30 * second;
  expect(await verdict(next)).toBe('keys_unavailable');
  server.publishes(first.publicJwk, next.publicJwk);
  now = 60 * second;
  expect(await verdict(next)).toBe('verified');
});

test('without a set, fetches start at most every 5 s, and the first good response ends the outage', async () => {
  server.breaks();
  expect(await verdict(first)).toBe('keys_unavailable');
  server.publishes(first.publicJwk);
  now = 5 * second - 1;
  expect(await verdict(first)).toBe('keys_unavailable');
  expect(server.fetches()).toBe(1);
  now = 5 * second;
  expect(await verdict(first)).toBe('verified');
});

test('a URL without a server is an outage', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  expect(await verdict(first, source({ url: `http://127.0.0.1:${port}/` }))).toBe('keys_unavailable');
});

const garbage: Array<[string, number, string]> = [
  ['an HTML page', 200, '<html>We are down for maintenance</html>'],
  ['JSON that is not a set', 200, '{"error":"busy"}'],
  ['null', 200, 'null'],
  ['keys that are not a list', 200, '{"keys":{"first":{}}}'],
  ['an empty set', 200, '{"keys":[]}'],
  [
    'a set of values that are not keys',
    200,
    '{"keys":[null,7,{"kty":"EC","kid":"first","crv":"P-256","x":"!","y":"!"}]}',
  ],
  ['half a response', 200, '{"keys":[{"kty":"EC","kid":"fi'],
  ['a redirect', 302, ''],
];

test.each(garbage)('%s is an outage, and never replaces the last good set', async (_, status, body) => {
  await verdict(first);
  server.answers((_request, response) => response.writeHead(status, { location: '/elsewhere' }).end(body));
  now = 30 * second;
  expect(await verdict(next)).toBe('keys_unavailable');
  expect(await verdict(first)).toBe('verified');
  expect(server.fetches()).toBe(2);
});

test('a set of 256 KiB is read, and one byte more is an outage', async () => {
  const set = JSON.stringify({ keys: [first.publicJwk] });
  server.answers((_, response) => response.end(set.padEnd(256 * 1024)));
  expect(await verdict(first)).toBe('verified');
  server.answers((_, response) => response.end(set.padEnd(256 * 1024 + 1)));
  expect(await verdict(first, source())).toBe('keys_unavailable');
});

test('a server that never responds is an outage after the timeout', async () => {
  server.answers(() => {});
  expect(await verdict(first, source({ timeoutMs: 2_000 }))).toBe('keys_unavailable');
  expect(server.fetches()).toBe(1);
});

test('a server that sends a byte now and then cannot extend the timeout', async () => {
  server.answers((_, response) => {
    const drip = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(drip));
  });
  expect(await verdict(first, source({ timeoutMs: 500 }))).toBe('keys_unavailable');
});

test('unusable keys in a set are ignored, and the others work', async () => {
  const secret: JWK = { ...(await exportJWK(await generateSecret('HS256', { extractable: true }))), kid: 'secret' };
  const leaked: JWK = { ...(await exportJWK(next.privateKey)), kid: next.kid };
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
  server.publishes({ kty: 'FUTURE', kid: 'new' }, secret, leaked, { ...short, kid: 'short' }, first.publicJwk);
  expect(await verdict(first)).toBe('verified');
  now = 30 * second;
  expect(await verdict(next)).toBe(unknownKey);
  now = 60 * second;
  const header = { alg: 'PS256', kid: 'short' };
  await expect(keys(header, { payload: '', signature: '' })).rejects.toMatchObject({ code: unknownKey });
});
