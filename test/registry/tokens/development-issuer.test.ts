import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimsOf } from '../../../src/tools/cli/login/create-token.js';
import { createAuthenticate } from '../../../src/registry/tokens/authenticate.js';
import { developmentAudience, openDevelopmentIssuer } from '../../../src/registry/tokens/development-issuer.js';

const wanted = { tenant: 'demo', subscriber: 'me', lifetimeSeconds: 600 } as const;

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'issuer-'));
  file = join(folder, 'development-issuer.json');
});

afterEach(() => rm(folder, { recursive: true }));

test('its tokens are accepted, in this process and after a restart', async () => {
  const before = await openDevelopmentIssuer(folder);
  const token = await before.sign({ ...wanted, scopes: ['assent:admin', 'assent:subscribe'] });
  const { issuer, keySource } = await openDevelopmentIssuer(folder);
  const authenticate = createAuthenticate({
    issuers: [{ issuer, audience: [developmentAudience], algorithms: ['ES256'], keys: keySource }],
  });
  const principal = await authenticate(`Bearer ${token}`);
  expect(principal).toMatchObject({ tenant: 'demo', subscriber: 'me' });
  expect(principal.scopes).toEqual(new Set(['assent:subscribe', 'assent:admin']));
  const ended = await before.sign({ ...wanted, scopes: [], lifetimeSeconds: -60 });
  await expect(authenticate(`Bearer ${ended}`)).rejects.toMatchObject({ faults: [{ rule: 'token_expired' }] });
});

test('processes that start at the same time agree on one key and leave no other file', async () => {
  const opened = await Promise.all(Array.from({ length: 20 }, () => openDevelopmentIssuer(folder)));
  expect(new Set(opened.map(({ jwks }) => jwks.keys[0]?.x)).size).toBe(1);
  expect(await readdir(folder)).toEqual(['development-issuer.json']);
});

test('a missing data folder is created, and only its owner can read the key file', async () => {
  const fresh = join(folder, 'data', 'assent');
  await openDevelopmentIssuer(fresh);
  expect((await stat(join(fresh, 'development-issuer.json'))).mode & 0o777).toBe(0o600);
});

test('the published set contains no private part', async () => {
  const { jwks } = await openDevelopmentIssuer(folder);
  const { d } = JSON.parse(await readFile(file, 'utf8'));
  expect(d).toHaveLength(43);
  expect(JSON.stringify(jwks)).not.toContain(d);
  expect(Object.keys(jwks.keys[0]!).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
});

test.each([
  ['is truncated', (text: string) => text.slice(0, -20)],
  ['is empty', () => ''],
  ['contains only a public key', (text: string) => JSON.stringify({ ...JSON.parse(text), d: undefined })],
  ['contains a private part that does not fit', (text: string) => text.replace(/"d":"...../, '"d":"AAAAA')],
])('a key file that %s causes an error that names the file, keeps it and reveals no key', async (_, damage) => {
  await openDevelopmentIssuer(folder);
  const text = await readFile(file, 'utf8');
  await writeFile(file, damage(text));
  const error = await openDevelopmentIssuer(folder).catch((reason) => reason);
  expect(error.message).toContain(file);
  expect(`${error.stack} ${error.cause}`).not.toContain(JSON.parse(text).d.slice(0, 10));
  expect(await readFile(file, 'utf8')).toBe(damage(text));
});

test('further claims are in the token, but none replaces a claim that the service reads', async () => {
  const { issuer, keySource, sign } = await openDevelopmentIssuer(folder);
  const authenticate = createAuthenticate({
    issuers: [{ issuer, audience: [developmentAudience], algorithms: ['ES256'], keys: keySource }],
  });
  const claims = { ...claimsOf(['role=a', 'role=b=c', 'team=']), tenant: 'other', client_id: 'other', aud: 'other' };
  const principal = await authenticate(`Bearer ${await sign({ ...wanted, scopes: [], claims })}`);
  expect(principal).toMatchObject({ tenant: 'demo', subscriber: 'me' });
  expect(principal.claims?.()).toMatchObject({ role: ['a', 'b=c'], team: '', tenant: 'demo', aud: 'assent' });
  expect(() => claimsOf(['role'])).toThrow('--claim must be NAME=VALUE.');
});
