import { readFile } from 'node:fs/promises';
import { UsageError } from '../../../base/errors.js';
import { keysIn, keysOf, type PublishedKey } from '../../../signatures/keys.js';
import { openKeyFile } from '../../../base/files/key-file.js';
import { fetchJson } from '../../../registry/tokens/fetch-json.js';
import { makePrivateKey, parseSigningKey, type SigningKey } from '../../conformance/signing-key.js';

/** Throws a UsageError that names the option, and nothing of the content. */
export async function keyIn(option: string, path: string): Promise<SigningKey> {
  try {
    return await parseSigningKey(await readFile(path, 'utf8'));
  } catch (error) {
    throw unusable(option, path, error);
  }
}

/** Makes the file if there is none. Throws a SetupError for one that is no key. */
export const openSigningKey = (path: string): Promise<SigningKey> =>
  openKeyFile(path, makePrivateKey, (content) => parseSigningKey(JSON.stringify(content)));

/** The public keys of a JSON Web Key Set, in a file or at an https URL. */
export async function keySetIn(option: string, place: string): Promise<PublishedKey[]> {
  try {
    const keys = /^https:/i.test(place)
      ? await keysOf(await fetchJson(place, reading))
      : ((await keysIn(await readFile(place, 'utf8'))) ?? []);
    if (keys.length > 0) return keys;
  } catch (error) {
    throw unusable(option, place, error);
  }
  throw new UsageError(`${option}: ${place} is no JSON Web Key Set with an Ed25519 key.`);
}

const reading = { timeoutMs: 10_000, accept: 'application/jwk-set+json, application/json', route: undefined };

const unusable = (option: string, path: string, error: unknown) =>
  new UsageError(`${option}: ${path} cannot be used: ${(error as Error).message}.`);
