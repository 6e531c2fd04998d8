import { parseDictionary } from 'structured-headers';
import { base64Of } from './base64.js';
import { webHashes, type Hashes } from './hashes.js';

/** The value of Content-Digest (RFC 9530, section 2). */
export async function contentDigestOf(body: Uint8Array, hashes: Hashes = webHashes): Promise<string> {
  return `sha-256=:${base64Of(await hashes.sha256(body))}:`;
}

const algorithms: Readonly<Record<string, string>> = { 'sha-256': 'SHA-256', 'sha-512': 'SHA-512' };

/** Whether every digest of the field that this code knows is that of the body, and there is one. */
export async function isDigestOf(field: string, body: Uint8Array): Promise<boolean> {
  let known = 0;
  try {
    for (const [name, [value]] of parseDictionary(field)) {
      const algorithm = algorithms[name];
      if (algorithm === undefined) continue;
      if (!(value instanceof ArrayBuffer)) return false;
      const [stated, actual] = [new Uint8Array(value), new Uint8Array(await digestOf(algorithm, body))];
      if (stated.length !== actual.length || stated.some((byte, at) => byte !== actual[at])) return false;
      known += 1;
    }
  } catch {
    return false;
  }
  return known > 0;
}

const digestOf = (algorithm: string, body: Uint8Array): Promise<ArrayBuffer> => crypto.subtle.digest(algorithm, body);
