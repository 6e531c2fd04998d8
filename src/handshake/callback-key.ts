import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits. Only its hash is stored, so that nobody who reads the database can grant. */
export function createCallbackKey(): { key: string; hash: Uint8Array<ArrayBuffer> } {
  const key = randomBytes(32).toString('base64url');
  return { key, hash: hashCallbackKey(key) };
}

export function hashCallbackKey(key: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(key).digest());
}

/** In constant time. */
export function isSameHash(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
