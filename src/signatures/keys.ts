import { utf8Bytes } from '../base/formats/bytes.js';
import { base64urlOf } from './base64.js';

/** A public key that signs requests: Ed25519 (RFC 8037). `kid` is its thumbprint. */
export interface PublicKey {
  kty: 'OKP';
  crv: 'Ed25519';
  /** Base64url. */
  x: string;
  kid: string;
}

/** A key of a set, with the times from when and until when it signs, in seconds since 1970. */
export interface PublishedKey extends PublicKey {
  nbf?: number;
  exp?: number;
}

/** The thumbprint of a key (RFC 7638; RFC 8037, appendix A.3), in base64url: the `keyid` of its signatures. */
export async function thumbprintOf({ crv, kty, x }: Pick<PublicKey, 'crv' | 'kty' | 'x'>): Promise<string> {
  const canonical = utf8Bytes(JSON.stringify({ crv, kty, x }));
  return base64urlOf(new Uint8Array(await crypto.subtle.digest('SHA-256', canonical)));
}

/** The keys of a JWK Set that can verify a signature, each with its thumbprint; those of other kinds are left out. */
export async function keysOf(set: unknown): Promise<PublishedKey[]> {
  const keys = typeof set === 'object' && set !== null ? (set as { keys?: unknown }).keys : undefined;
  if (!Array.isArray(keys)) return [];
  const found = await Promise.all(keys.slice(0, maxKeys).map(publishedKeyOf));
  return found.flatMap((key) => key ?? []);
}

/** The same of a text; undefined if it is no JWK Set. */
export async function keysIn(text: string): Promise<PublishedKey[] | undefined> {
  try {
    const set: unknown = JSON.parse(text);
    return Array.isArray((set as { keys?: unknown } | null)?.keys) ? await keysOf(set) : undefined;
  } catch {
    return undefined;
  }
}

async function publishedKeyOf(jwk: unknown): Promise<PublishedKey | undefined> {
  const key = await publicKeyOf(jwk);
  const { use = 'sig', nbf, exp } = (jwk ?? {}) as Record<string, unknown>;
  if (key === undefined || use !== 'sig') return undefined;
  return { ...key, ...(typeof nbf === 'number' && { nbf }), ...(typeof exp === 'number' && { exp }) };
}

const maxKeys = 100;

/** Undefined for anything but a public Ed25519 key. Only its public members are kept. */
export async function publicKeyOf(jwk: unknown): Promise<PublicKey | undefined> {
  if (typeof jwk !== 'object' || jwk === null) return undefined;
  const { kty, crv, x } = jwk as Record<string, unknown>;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(x)) return undefined;
  return { kty, crv, x, kid: await thumbprintOf({ kty, crv, x }) };
}

/** Keys, not promises: an edge runtime lets no request wait for the work of another one. */
const imported = new WeakMap<PublicKey, Awaited<ReturnType<typeof crypto.subtle.importKey>>>();

/** Whether this key made the signature. */
export async function isSignedBy(
  key: PublicKey,
  signature: Uint8Array<ArrayBuffer>,
  base: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const { kty, crv, x } = key;
  let verifying = imported.get(key);
  if (verifying === undefined) {
    const read = crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify']);
    verifying = await read.catch(() => undefined);
    if (verifying === undefined) return false;
    imported.set(key, verifying);
  }
  return crypto.subtle.verify('Ed25519', verifying, signature, base);
}
