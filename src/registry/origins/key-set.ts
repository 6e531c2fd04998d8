import { keysIn, type PublicKey } from '../../signatures/keys.js';
import type { ReadDocument } from '../../outbound/read-document.js';

/** The public keys at a URL, or why there are none: a code of read-document.ts, or one of these. */
export type ReadKeySet = { ok: true; keys: PublicKey[] } | { ok: false; code: string };

/** Of a set. Its keys are in the directory and the feed of the origin. */
const maxKeysOfSet = 20;

export async function readKeySet(readDocument: ReadDocument, url: string, signal?: AbortSignal): Promise<ReadKeySet> {
  const result = await readDocument(url, 'application/jwk-set+json, application/json', signal);
  if (!result.ok) return result;
  const found = (await keysIn(result.body.toString())) ?? [];
  if (found.length === 0) return { ok: false, code: 'no_ed25519_key' };
  if (found.length > maxKeysOfSet) return { ok: false, code: 'too_many_keys' };
  // The registry has times of its own.
  return { ok: true, keys: found.map(({ kty, crv, x, kid }) => ({ kty, crv, x, kid })) };
}
