import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { compactDecrypt, CompactEncrypt } from 'jose';
import { z } from 'zod';
import { RegistryError } from '../../base/errors.js';
import { openKeyFile } from '../../base/files/key-file.js';
import { requestTexts } from '../../base/texts/requests.js';

export interface VaultKey {
  id: string;
  /** 32 bytes. */
  key: Uint8Array;
}

/** The owner of a secret. It is sealed too, so that a secret copied to another row does not open there. */
export interface SealContext {
  tenant: string;
  /** The kind and the id of the row, such as `subscription:01a2…`. */
  owner: string;
}

/** Of a secret that belongs to no tenant. No token names it. */
export const registryTenant = '';

export interface Vault {
  /** Of each key, the prefix of every text that it sealed, and of no other. The first is that of the current key. */
  beginnings: readonly [string, ...string[]];
  seal(secret: object, context: SealContext): Promise<string>;
  /**
   * Rejects with `secret_unavailable` if the text was altered, sealed for another context, or sealed with a key that is not
   * configured. What needs the secret must not go on as if there were none.
   */
  open(sealed: string, context: SealContext): Promise<unknown>;
  /**
   * Distinguishes two secrets of one owner without revealing anything about them. An attacker without the key cannot try
   * secrets, and cannot find the secret of another owner by registering guesses. Base64url, 96
   * bits.
   */
  fingerprint(secret: object, context: SealContext): string;
}

/**
 * Keeps secrets encrypted at rest (credentials and signing secrets of subscriptions, private keys), as JWE compact
 * serialization (RFC 7516 section 3.1) with `dir` and `A256GCM`. The first key seals, and every key opens what it
 * sealed: to rotate, put a new key first. A text names its key by id, and by fingerprint in case another key gets the
 * id later. Throws for invalid keys. `onUnopened` gets the owner of each secret that cannot be opened.
 */
export function createVault(
  keys: readonly VaultKey[],
  onUnopened: (owner: string, cause: unknown) => void = () => undefined,
): Vault {
  const [current, ...older] = keys;
  const secrets = new Map(keys.map(({ id, key }) => [id, secretKey(id, key)]));
  if (!current) throw new Error('No key for secrets is configured.');
  if (secrets.size !== keys.length) throw new Error('Two keys for secrets have the same id.');

  function keyNamed(kid: string | undefined): KeyObject {
    const secret = secrets.get(kid ?? '');
    if (!secret) throw new Error(`A secret was sealed with the key ${JSON.stringify(kid)}, which is not configured.`);
    return secret;
  }

  async function decrypt(sealed: string, { tenant, owner }: SealContext): Promise<unknown> {
    const { plaintext, protectedHeader } = await compactDecrypt(sealed, ({ kid }) => keyNamed(kid), {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
    if (protectedHeader['tenant'] !== tenant || protectedHeader['owner'] !== owner)
      throw new Error('A secret was sealed for another owner.');
    return JSON.parse(Buffer.from(plaintext).toString()) as unknown;
  }

  const header = headerOf(current);
  const fingerprintKey = createHmac('sha256', current.key).update('fingerprints of credentials').digest();
  return {
    beginnings: [beginningOf(header), ...older.map((key) => beginningOf(headerOf(key)))],
    async seal(secret, { tenant, owner }) {
      return new CompactEncrypt(Buffer.from(JSON.stringify(secret)))
        .setProtectedHeader({ ...header, tenant, owner })
        .encrypt(keyNamed(current.id));
    },
    async open(sealed, context) {
      try {
        return await decrypt(sealed, context);
      } catch (cause) {
        onUnopened(context.owner, cause);
        throw secretUnavailable(cause);
      }
    },
    fingerprint(secret, { tenant, owner }) {
      const members = Object.entries(secret).sort(([a], [b]) => (a < b ? -1 : 1));
      return hashOf(fingerprintKey, JSON.stringify([tenant, owner, members]));
    },
  };
}

/** Seconds, before it is worth another attempt: someone has to configure a key. */
export const secretRetrySeconds = 60;

export function secretUnavailable(cause?: unknown): RegistryError {
  return new RegistryError('secret_unavailable', requestTexts.secretUnavailable, {
    cause,
    retryAfterSeconds: secretRetrySeconds,
  });
}

export const isSecretUnavailable = (error: unknown): boolean =>
  error instanceof RegistryError && error.code === 'secret_unavailable';

function headerOf({ id, key }: VaultKey) {
  return { alg: 'dir', enc: 'A256GCM', kid: id, fingerprint: fingerprintOf(key) };
}

function fingerprintOf(key: Uint8Array): string {
  return hashOf(key, 'fingerprint');
}

function hashOf(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, 16);
}

/** The prefix of every text that is sealed with this header, which continues with the context. */
function beginningOf(header: object): string {
  const text = Buffer.from(`${JSON.stringify(header).slice(0, -1)},"tenant":"`);
  // Three bytes become four characters; an incomplete group would share a character with the next bytes.
  return text.subarray(0, text.length - (text.length % 3)).toString('base64url');
}

function secretKey(id: string, key: Uint8Array): KeyObject {
  if (id === '') throw new Error('A key for secrets has no id.');
  if (key.length !== 32) throw new Error(`The key ${JSON.stringify(id)} for secrets must have 32 bytes.`);
  return createSecretKey(key);
}

const keyFile = z.object({ keys: z.array(z.object({ id: z.string().min(1), key: z.base64url().length(43) })).min(1) });

export const developmentKeysIn = (dataFolder: string) => join(dataFolder, 'credential-keys.json');

/**
 * The keys for secrets on a developer's machine, created once as `credential-keys.json` in the data folder.
 * Rejects with an Error that names the file if it cannot be read.
 */
export async function openDevelopmentKeys(dataFolder: string): Promise<VaultKey[]> {
  return openKeyFile(
    developmentKeysIn(dataFolder),
    () => ({ keys: [{ id: 'development', key: randomBytes(32).toString('base64url') }] }),
    (content) => keyFile.parse(content).keys.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64url') })),
  );
}
