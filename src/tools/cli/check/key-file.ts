import { readFile } from 'node:fs/promises';
import { UsageError } from '../../../base/errors.js';
import { keysIn, type PublicKey } from '../../../signatures/keys.js';
import { openKeyFile } from '../../../base/files/key-file.js';
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
export async function keySetIn(option: string, place: string): Promise<PublicKey[]> {
  try {
    const keys = (await keysIn(await (/^https:/i.test(place) ? textAt(place) : readFile(place, 'utf8')))) ?? [];
    if (keys.length > 0) return keys;
  } catch (error) {
    throw unusable(option, place, error);
  }
  throw new UsageError(`${option}: ${place} is no JSON Web Key Set with an Ed25519 key.`);
}

const readMs = 10_000;

async function textAt(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(readMs) });
  if (!response.ok) throw new Error(`it returned ${response.status}`);
  return response.text();
}

const unusable = (option: string, path: string, error: unknown) =>
  new UsageError(`${option}: ${path} cannot be used: ${(error as Error).message}.`);
