import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { compactDecrypt, CompactEncrypt } from 'jose';

export interface VaultKey {
  id: string;
  /** 32 bytes. */
  key: Uint8Array;
}

/** Whose credential it is. Sealed in with it, so that a credential copied to another row does not open there. */
export interface CredentialContext {
  tenant: string;
  subscription: string;
}

export interface CredentialVault {
  /** What every text begins with that the present key has sealed, and no other. */
  beginning: string;
  seal(credential: object, context: CredentialContext): Promise<string>;
  /** Rejects when the text was altered, sealed for another context, or sealed with a key that is not configured. */
  open(sealed: string, context: CredentialContext): Promise<object>;
}

/**
 * Keeps the `sinkcredential` of subscriptions (CloudEvents Subscriptions API) encrypted at rest, as JWE compact
 * serialization (RFC 7516 section 3.1) with `dir` and `A256GCM`. The first key seals, every key opens what it sealed:
 * to rotate, put a new key in front. A text names its key by its id and, in case the id is given to another one later,
 * by its fingerprint. Throws for keys that cannot serve.
 */
export function createCredentialVault(keys: readonly VaultKey[]): CredentialVault {
  const current = keys[0];
  const secrets = new Map(keys.map(({ id, key }) => [id, secretKey(id, key)]));
  if (!current) throw new Error('No key for sink credentials is configured.');
  if (secrets.size !== keys.length) throw new Error('Two keys for sink credentials have the same id.');

  function keyNamed(kid: string | undefined): KeyObject {
    const secret = secrets.get(kid ?? '');
    if (!secret)
      throw new Error(`A sink credential was sealed with the key ${JSON.stringify(kid)}, which is not configured.`);
    return secret;
  }

  const header = { alg: 'dir', enc: 'A256GCM', kid: current.id, fingerprint: fingerprintOf(current.key) };
  return {
    beginning: beginningOf(header),
    async seal(credential, { tenant, subscription }) {
      return new CompactEncrypt(Buffer.from(JSON.stringify(credential)))
        .setProtectedHeader({ ...header, tenant, subscription })
        .encrypt(keyNamed(current.id));
    },
    async open(sealed, { tenant, subscription }) {
      const { plaintext, protectedHeader } = await compactDecrypt(sealed, ({ kid }) => keyNamed(kid), {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      if (protectedHeader['tenant'] !== tenant || protectedHeader['subscription'] !== subscription)
        throw new Error('A sink credential was sealed for another subscription.');
      return JSON.parse(Buffer.from(plaintext).toString()) as object;
    },
  };
}

function fingerprintOf(key: Uint8Array): string {
  return createHmac('sha256', key).update('fingerprint').digest('base64url').slice(0, 16);
}

/** Of the text of everything that is sealed with this header, which goes on with the context. */
function beginningOf(header: object): string {
  const text = Buffer.from(`${JSON.stringify(header).slice(0, -1)},"tenant":"`);
  // Three bytes are four characters, and what is left over shares one with what follows.
  return text.subarray(0, text.length - (text.length % 3)).toString('base64url');
}

function secretKey(id: string, key: Uint8Array): KeyObject {
  if (id === '') throw new Error('A key for sink credentials has no id.');
  if (key.length !== 32) throw new Error(`The key ${JSON.stringify(id)} for sink credentials must have 32 bytes.`);
  return createSecretKey(key);
}
