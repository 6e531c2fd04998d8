// As verify.mjs, with the library that Cloudflare publishes for Web Bot Auth.
import { createInterface } from 'node:readline';
import { verify } from 'web-bot-auth';
import { verifierFromJWK } from 'web-bot-auth/crypto';

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, url, headers, body, keys } = JSON.parse(line);
  const request = new Request(url, { method, headers, body: body && Buffer.from(body, 'base64') });
  const [x] = Object.values(keys);
  const fault = await verify(request, await verifierFromJWK({ kty: 'OKP', crv: 'Ed25519', x })).then(
    () => undefined,
    (error) => String(error),
  );
  console.log(JSON.stringify({ id, fault }));
}
