import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { publicKeyOf, type PublicKey } from '../../src/signatures/keys.js';
import {
  prepareDelivery,
  prepareRequest,
  type PreparedRequest,
  type RequestToSign,
  type SigningSettings,
} from '../../src/signatures/request-signature.js';

export interface Signer {
  public: PublicKey;
  private: KeyObject;
  /** The headers to send: those of the request, and those of its signature. */
  sign(request: RequestToSign, settings?: Partial<SigningSettings>): Promise<Record<string, string>>;
}

let nonces = 0;

/** An origin with a key of its own. */
export async function createSigner(): Promise<Signer> {
  const pair = generateKeyPairSync('ed25519');
  const key = (await publicKeyOf(pair.publicKey.export({ format: 'jwk' }))) as PublicKey;
  return {
    public: key,
    private: pair.privateKey,
    async sign({ body, ...request }, more = {}) {
      const settings: SigningSettings = {
        keyid: key.kid,
        form: 'dictionary',
        agent: { url: 'https://eventemitter.example.com', type: 'directory' },
        now: Math.floor(Date.now() / 1_000),
        nonce: `nonce-${(nonces += 1)}`,
        ...more,
      };
      const prepared: PreparedRequest =
        body === undefined ? prepareRequest(request, settings) : await prepareDelivery({ ...request, body }, settings);
      return { ...request.headers, ...prepared.fields(sign(null, prepared.base, pair.privateKey)) };
    },
  };
}
