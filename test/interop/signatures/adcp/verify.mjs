// As ../node/verify.mjs, with the parts of the library that read and check a signature. Its whole check wants a tag of its own.
import { createPublicKey } from 'node:crypto';
import { createInterface } from 'node:readline';
import { buildSignatureBase, parseSignature, parseSignatureInput, verifySignature } from '@adcp/sdk/signing';

function check({ method, url, headers, keys }) {
  const { label, components, params, signatureParamsValue } = parseSignatureInput(headers['signature-input']);
  const { bytes } = parseSignature(headers.signature, label);
  const base = buildSignatureBase(components, { method, url, headers }, params, signatureParamsValue);
  const [x] = Object.values(keys);
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  if (!verifySignature(params.alg, key, new TextEncoder().encode(base), bytes)) throw new Error('invalid signature');
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let fault;
  try {
    check(request);
  } catch (error) {
    fault = String(error);
  }
  console.log(JSON.stringify({ id: request.id, fault }));
}
