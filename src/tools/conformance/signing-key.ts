import { createPrivateKey, generateKeyPairSync, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import { publicKeyOf, type PublicKey } from '../../signatures/keys.js';
import { prepareDelivery, prepareRequest, type RequestToSign } from '../../signatures/request-signature.js';

/** A key of an origin, with what signs. */
export interface SigningKey {
  public: PublicKey;
  sign(base: Uint8Array): Uint8Array;
}

export async function makeSigningKey(): Promise<SigningKey> {
  return signingKeyOf(generateKeyPairSync('ed25519').privateKey);
}

/** A new private JSON Web Key. */
export const makePrivateKey = (): JsonWebKey => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });

/** From a private JSON Web Key, as JSON. Throws an Error without a word of its content. */
export async function parseSigningKey(text: string): Promise<SigningKey> {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: 'jwk' });
  } catch {
    // Messages of OpenSSL and of JSON.parse may quote it.
  }
  if (key?.asymmetricKeyType === 'ed25519') return signingKeyOf(key);
  throw new Error('it is no private JSON Web Key of Ed25519');
}

async function signingKeyOf(key: KeyObject): Promise<SigningKey> {
  const { kty, crv, x } = key.export({ format: 'jwk' });
  const named = (await publicKeyOf({ kty, crv, x })) as PublicKey;
  return { public: named, sign: (base) => sign(null, base, key) };
}

/** The fields to add to a request of an origin. `now` is seconds since 1970. */
export async function signatureOf(
  key: SigningKey,
  { body, ...request }: RequestToSign,
  origin: string,
  now = Math.floor(Date.now() / 1_000),
): Promise<Record<string, string>> {
  // Without a path, HTTP asks for the root.
  const url = request.url.replace(/^(https?:\/\/[^/?#]+)(?=$|\?)/i, '$1/');
  const agent = { url: `https://${origin}`, type: 'directory' } as const;
  const settings = { keyid: key.public.kid, form: 'dictionary', agent, now } as const;
  const prepared =
    body === undefined
      ? prepareRequest({ ...request, url }, settings)
      : await prepareDelivery({ ...request, url, body }, settings);
  return prepared.fields(key.sign(prepared.base));
}
