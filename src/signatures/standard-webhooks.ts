// Standard Webhooks (standardwebhooks.com, specification 1.0): a body signed with a secret that both sides have.

import { bytesOfBase64, concatenate, utf8Bytes } from '../base/formats/bytes.js';
import { base64Of } from './base64.js';
import { webHashes, type Hashes } from './hashes.js';
import { fingerprintOf, maxSignatureSeconds, type SignatureFault } from './request-signature.js';

const prefix = 'whsec_';
/** Of a secret, in bytes. */
export const secretBytes = { min: 24, max: 64, made: 32 };
/** Characters of `webhook-signature`: some 80 signatures. */
const maxFieldLength = 4_096;

/** The bytes of a secret: 24 to 64 in base64, after `whsec_`. Undefined for every other text. */
export function secretOf(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const encoded = text.slice(prefix.length);
  const bytes = bytesOfBase64(encoded.padEnd(Math.ceil(encoded.length / 4) * 4, '='));
  return bytes && bytes.length >= secretBytes.min && bytes.length <= secretBytes.max
    ? new Uint8Array(bytes)
    : undefined;
}

export function makeSecret(): string {
  return prefix + base64Of(crypto.getRandomValues(new Uint8Array(secretBytes.made)));
}

export interface WebhookMessage {
  /** The same for each attempt to deliver a message. Without a full stop. */
  id: string;
  /** Seconds since 1970, of this attempt. */
  timestamp: number;
  body: Uint8Array;
}

/** The fields to add to a delivery: a signature for each secret, so that a receiver may have either during a rotation. */
export async function signMessage(
  message: WebhookMessage,
  secrets: readonly string[],
  hashes?: Hashes,
): Promise<Record<string, string>> {
  const content = contentOf(message);
  const signatures = await Promise.all(
    secrets.map(async (secret) => `v1,${base64Of(await hmacOf(secret, content, hashes))}`),
  );
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': signatures.join(' '),
  };
}

export interface VerifiedMessage {
  id: string;
  timestamp: number;
  /** The same for a repetition of this request, whichever secret signed it. */
  fingerprint: string;
  /** Seconds since 1970 until which a repetition must be remembered. */
  until: number;
}

export type MessageVerification =
  { ok: true; message: VerifiedMessage } | { ok: false; fault: SignatureFault; detail: string };

/** Whether one of the secrets signed the delivery in the last five minutes. `now` is seconds since 1970. */
export async function verifyMessage(
  fieldOf: (name: string) => string | undefined,
  body: Uint8Array,
  secrets: readonly string[],
  now: number,
): Promise<MessageVerification> {
  const [id, stated, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(fieldOf);
  if (id === undefined || stated === undefined || signatures === undefined) {
    return refused('signature_missing', 'The delivery has no signature of Standard Webhooks.');
  }
  const timestamp = /^\d{1,12}$/.test(stated) ? Number(stated) : NaN;
  if (Number.isNaN(timestamp) || id === '') return refused('signature_malformed', 'webhook-timestamp is no time.');
  if (timestamp < now - maxSignatureSeconds) return refused('signature_expired', 'webhook-timestamp is too old.');
  if (timestamp > now + maxSignatureSeconds) return refused('signature_early', 'webhook-timestamp is in the future.');
  if (signatures.length > maxFieldLength) return refused('signature_malformed', 'webhook-signature is too long.');
  // Lines of the field are joined with a comma.
  const given = signatures
    .split(' ')
    .map((each) => each.replace(/,$/, ''))
    .flatMap((each) => (each.startsWith('v1,') ? (bytesOfBase64(each.slice('v1,'.length)) ?? []) : []));
  const content = contentOf({ id, timestamp, body });
  for (const secret of secrets) {
    if (secretOf(secret) === undefined) continue;
    const right = await hmacOf(secret, content);
    if (!given.some((each) => isEqual(each, right))) continue;
    const until = timestamp + maxSignatureSeconds;
    return { ok: true, message: { id, timestamp, fingerprint: await fingerprintOf(content), until } };
  }
  return refused('signature_invalid', 'No secret of this webhook made the signature.');
}

function contentOf({ id, timestamp, body }: WebhookMessage): Uint8Array<ArrayBuffer> {
  const head = utf8Bytes(`${id}.${timestamp}.`);
  return concatenate([head, body], head.length + body.length);
}

async function hmacOf(secret: string, content: Uint8Array<ArrayBuffer>, hashes: Hashes = webHashes) {
  const key = secretOf(secret);
  if (key === undefined) throw new Error('A signing secret is not one of Standard Webhooks.');
  return hashes.hmac(key, content);
}

/** In constant time. */
function isEqual(given: Uint8Array, right: Uint8Array): boolean {
  if (given.length !== right.length) return false;
  let difference = 0;
  for (const [at, byte] of right.entries()) difference |= byte ^ given[at]!;
  return difference === 0;
}

const refused = (fault: SignatureFault, detail: string): MessageVerification => ({ ok: false, fault, detail });
