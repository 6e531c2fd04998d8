// Reads requests from standard input, one a line, and writes for each whether the libraries accept its signatures.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createInterface } from 'node:readline';
import { httpbis } from 'http-message-signatures';
import { Webhook } from 'standardwebhooks';

const covered = ['@method', '@authority', '@target-uri', 'webhook-request-origin'];

async function check({ method, url, headers, body, keys, secret }) {
  const content = Buffer.from(body ?? '', 'base64');
  const keyLookup = async ({ keyid }) => {
    if (!Object.hasOwn(keys, keyid)) return null;
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: keys[keyid] }, format: 'jwk' });
    return { id: keyid, algs: ['ed25519'], verify: async (data, signature) => verify(null, data, key, signature) };
  };
  const requiredFields = body === undefined ? covered : [...covered, 'content-digest'];
  const config = { keyLookup, requiredFields, requiredParams: ['created', 'expires', 'keyid', 'nonce'], maxAge: 60 };
  if ((await httpbis.verifyMessage(config, { method, url, headers })) !== true) throw new Error('not verified');
  // The library leaves the digest to its user.
  const digest = `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;
  if (body !== undefined && headers['content-digest'] !== digest) throw new Error('another body');
  if (secret !== undefined) new Webhook(secret).verify(content.toString(), headers);
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const fault = await check(request).then(
    () => undefined,
    (error) => String(error),
  );
  console.log(JSON.stringify({ id: request.id, fault }));
}
