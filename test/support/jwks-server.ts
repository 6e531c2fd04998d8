import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';

/** A token issuer's key server on loopback. It returns what the test has set, and counts the fetches. */
export async function startJwksServer() {
  let answer: RequestListener = (_, response) => response.writeHead(404).end();
  let fetches = 0;
  const server = createServer((request, response) => {
    fetches++;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
    fetches: () => fetches,
    answers: (listener: RequestListener) => void (answer = listener),
    publishes: (...keys: JWK[]) => void (answer = (_, response) => response.end(JSON.stringify({ keys }))),
    breaks: () => void (answer = (_, response) => response.writeHead(500).end('{"keys":[]}')),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type JwksServer = Awaited<ReturnType<typeof startJwksServer>>;

export interface SigningKey {
  kid: string;
  alg: string;
  publicJwk: JWK;
  privateKey: CryptoKey;
}

export async function newSigningKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, publicJwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' }, privateKey };
}

export function signed(key: SigningKey, claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
    .sign(key.privateKey);
}
