import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CompactEncrypt, decodeProtectedHeader } from 'jose';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVault, type VaultKey, openDevelopmentKeys } from '../../../src/registry/storage/vault.js';

const context = { tenant: 'a', owner: 'subscription:s1' };
const credential = { credentialtype: 'ACCESSTOKEN', accesstoken: 'planted-é', nested: { list: [1, null] } };
const newKey = (id: string): VaultKey => ({ id, key: randomBytes(32) });
const [first, second] = [newKey('first'), newKey('second')];
const vault = createVault([first]);
/** Nothing goes on as if there were no secret. */
const refused = (cause: object) => ({ code: 'secret_unavailable', cause });

test('a credential opens unchanged, and the sealed text reveals nothing of it', async () => {
  const sealed = await vault.seal(credential, context);
  expect(await vault.open(sealed, context)).toEqual(credential);
  const header = {
    alg: 'dir',
    enc: 'A256GCM',
    kid: 'first',
    fingerprint: expect.stringMatching(/^.{16}$/),
    ...context,
  };
  expect(decodeProtectedHeader(sealed)).toEqual(header);
  expect(sealed.startsWith(vault.beginnings[0])).toBe(true);
  expect(sealed.split('.').map((part) => Buffer.from(part, 'base64url').toString())).not.toContainEqual(
    expect.stringContaining('planted'),
  );
});

test('sealing the same credential twice gives two texts', async () => {
  expect(await vault.seal(credential, context)).not.toBe(await vault.seal(credential, context));
});

test.each([
  ['another subscription', { tenant: 'a', owner: 'subscription:s2' }],
  ['another tenant', { tenant: 'b', owner: 'subscription:s1' }],
  ['a context whose parts are shifted', { tenant: 'as', owner: 'ubscription:s1' }],
])('a credential that is copied to %s does not open there', async (_, other) => {
  const sealed = await vault.seal(credential, context);
  await expect(vault.open(sealed, other)).rejects.toMatchObject(
    refused({ message: expect.stringContaining('sealed for another owner') }),
  );
});

test('a text with a header rewritten for another row does not open there', async () => {
  const parts = (await vault.seal(credential, context)).split('.');
  const other = { ...context, owner: 'subscription:s2' };
  const header = { ...decodeProtectedHeader(parts.join('.')), ...other };
  const forged = [Buffer.from(JSON.stringify(header)).toString('base64url'), ...parts.slice(1)].join('.');
  await expect(vault.open(forged, other)).rejects.toMatchObject(refused({ code: 'ERR_JWE_DECRYPTION_FAILED' }));
});

test.each([
  ['initialization vector', 2],
  ['ciphertext', 3],
  ['tag', 4],
])('one altered bit in the %s is refused', async (_, index) => {
  const parts = (await vault.seal(credential, context)).split('.');
  const bytes = Buffer.from(parts[index]!, 'base64url');
  bytes[0]! ^= 1;
  parts[index] = bytes.toString('base64url');
  await expect(vault.open(parts.join('.'), context)).rejects.toMatchObject(
    refused({ code: 'ERR_JWE_DECRYPTION_FAILED' }),
  );
});

test.each([[0], [4], [12], [15]])('a tag that is cut to %d bytes is refused', async (length) => {
  const parts = (await vault.seal(credential, context)).split('.');
  parts[4] = Buffer.from(parts[4]!, 'base64url').subarray(0, length).toString('base64url');
  await expect(vault.open(parts.join('.'), context)).rejects.toMatchObject(refused({ code: 'ERR_JWE_INVALID' }));
});

test('another algorithm with the same key is refused', async () => {
  const wrapped = await new CompactEncrypt(Buffer.from('{}'))
    .setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM', kid: 'first', ...context })
    .encrypt(first.key);
  await expect(vault.open(wrapped, context)).rejects.toMatchObject(refused({ code: 'ERR_JOSE_ALG_NOT_ALLOWED' }));
});

test('after a rotation old credentials open and ask to be sealed again, new ones use the new key', async () => {
  const old = await vault.seal(credential, context);
  const rotated = createVault([second, first]);
  expect(await rotated.open(old, context)).toEqual(credential);
  const fresh = await rotated.seal(credential, context);
  await expect(vault.open(fresh, context)).rejects.toMatchObject(
    refused({ message: expect.stringContaining('the key "second", which is not configured') }),
  );
});

test('a wrong key under a known id is refused', async () => {
  const sealed = await vault.seal(credential, context);
  const impostor = createVault([newKey('first')]);
  await expect(impostor.open(sealed, context)).rejects.toMatchObject(refused({ code: 'ERR_JWE_DECRYPTION_FAILED' }));
});

test('invalid keys are refused at once, without showing them', () => {
  expect(() => createVault([])).toThrow('No key');
  expect(() => createVault([{ id: '', key: first.key }])).toThrow('no id');
  expect(() => createVault([first, { ...second, id: 'first' }])).toThrow('same id');
  expect(() => createVault([{ id: 'short', key: randomBytes(16) }])).toThrow('"short"');
});

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vault-'));
});

afterEach(() => rm(folder, { recursive: true }));

test('development keys are created once, for their owner only, and open what they sealed before', async () => {
  const opened = await Promise.all(Array.from({ length: 20 }, () => openDevelopmentKeys(folder)));
  const sealed = await createVault(opened[0]!).seal(credential, context);
  for (const keys of [...opened, await openDevelopmentKeys(folder)])
    expect(await createVault(keys).open(sealed, context)).toEqual(credential);
  expect(await readdir(folder)).toEqual(['credential-keys.json']);
  expect((await stat(join(folder, 'credential-keys.json'))).mode & 0o777).toBe(0o600);
});

test('a damaged file of development keys is an error that names the file', async () => {
  const file = join(folder, 'credential-keys.json');
  await openDevelopmentKeys(folder);
  const text = await readFile(file, 'utf8');
  for (const damaged of ['', '{}', text.slice(0, 60), text.replace(/"key":"..../, '"key":"')]) {
    await writeFile(file, damaged);
    await expect(openDevelopmentKeys(folder)).rejects.toThrow(file);
  }
});
