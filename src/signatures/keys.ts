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
  /** The `kid` that the set gives it, if that is not the thumbprint. */
  name?: string;
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

/** By what a signature may name them. A thumbprint can be of one key only, so it comes before a name. */
export const byKeyid = (keys: readonly PublishedKey[]): Map<string, PublishedKey> =>
  new Map([
    ...keys.flatMap((key) => (key.name === undefined ? [] : [[key.name, key] as const])),
    ...keys.map((key) => [key.kid, key] as const),
  ]);

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
  const { use = 'sig', kid: name, nbf, exp } = (jwk ?? {}) as Record<string, unknown>;
  if (key === undefined || use !== 'sig') return undefined;
  const isNamed = typeof name === 'string' && name !== key.kid;
  return {
    ...key,
    ...(isNamed && { name }),
    ...(typeof nbf === 'number' && { nbf }),
    ...(typeof exp === 'number' && { exp }),
  };
}

const maxKeys = 100;

/**
 * The points of Ed25519 whose order is 8 or less, as the y of their encoding (RFC 8032, section 5.1.2), without the sign.
 * Anyone can make signatures that such a key verifies, some of them for every message.
 */
const smallOrder: ReadonlySet<string> = new Set([
  `01${'00'.repeat(31)}`,
  `ec${'ff'.repeat(30)}7f`,
  '00'.repeat(32),
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);
/** From 2^255 - 19 on, y is a second encoding of a point. */
const beyondField = /^(?:e[def]|f.)(?:ff){30}7f$/;

/** `x` of a JWK. Its last character has two bits that are not of the key. */
function isStrongPoint(x: string): boolean {
  if (!/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(x)) return false;
  const bytes = Array.from(atob(x.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0));
  bytes[31]! &= 0x7f;
  const y = bytes.map((each) => each.toString(16).padStart(2, '0')).join('');
  return !smallOrder.has(y) && !beyondField.test(y);
}

/** Undefined for anything but a public Ed25519 key that only its owner can sign for. Only its public members are kept. */
export async function publicKeyOf(jwk: unknown): Promise<PublicKey | undefined> {
  if (typeof jwk !== 'object' || jwk === null) return undefined;
  const { kty, crv, x } = jwk as Record<string, unknown>;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || !isStrongPoint(x)) return undefined;
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
