// How an origin signs what it sends, and how a receiver checks it: HTTP Message Signatures (RFC 9421) in the form of Web
// Bot Auth (draft-ietf-webbotauth-httpsig-protocol), with everything under the signature that consent depends on.

import { serializeDictionary, Token, type Item } from 'structured-headers';
import { base64Of, base64urlOf } from './base64.js';
import { contentDigestOf, isDigestOf } from './content-digest.js';
import type { Hashes } from './hashes.js';
import { isSignedBy, type PublishedKey } from './keys.js';
import {
  prepareSignature,
  readSignatures,
  SignatureError,
  stringOf,
  type Component,
  type FieldOf,
  type PreparedSignature,
  type ReadSignature,
  type SignedRequest,
} from './message-signature.js';

/** How `Signature-Agent` is written: as the working group has it, or as a bare string, which some verifiers still expect. */
export type SignatureForm = 'dictionary' | 'string';

/** Where the keys of the signer are: the well-known directory of an https origin, or a JWK Set at a URL. */
export interface SignatureAgent {
  url: string;
  type: 'directory' | 'jwks_uri';
}

const label = 'sig1';
export const signatureTag = 'web-bot-auth';
/** The well-known path of a directory (draft-ietf-webbotauth-httpsig-protocol, section "Well-Known URI"). */
export const directoryPath = '/.well-known/http-message-signatures-directory';
export const directoryMediaType = 'application/http-message-signatures-directory+json';
/** Seconds between `created` and `expires`. */
export const signatureSeconds = 60;
/** Seconds by which the clocks of sender and receiver may differ. */
const skewSeconds = 60;
/** Seconds after which a receiver takes no signature, whatever it says of itself. */
export const maxSignatureSeconds = 300;

export interface RequestToSign {
  method: 'OPTIONS' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Of a delivery. A request without one has no Content-Digest. */
  body?: Uint8Array | undefined;
}

export interface SigningSettings {
  keyid: string;
  form: SignatureForm;
  agent: SignatureAgent;
  /** Seconds since 1970. */
  now: number;
  /** 64 random bytes if absent, as other implementations have them. */
  nonce?: string;
  /** Those of the runtime if absent. */
  hashes?: Hashes;
}

/** Fields that are covered if the request has them, beside those of an event in binary mode. */
const coveredFields = [
  'content-type',
  'content-digest',
  'webhook-request-origin',
  'webhook-request-callback',
  'webhook-request-rate',
];

/** The fields to add to a request; `base` is what the key signs. */
export interface PreparedRequest extends Pick<PreparedSignature, 'base'> {
  fields(signature: Uint8Array): Record<string, string>;
}

/** An OPTIONS request, which has no body. */
export function prepareRequest(request: Omit<RequestToSign, 'body'>, settings: SigningSettings): PreparedRequest {
  return prepare(request, {}, settings);
}

/** A delivery, with the digest of its body. */
export async function prepareDelivery(
  { body, ...request }: RequestToSign & { body: Uint8Array },
  settings: SigningSettings,
): Promise<PreparedRequest> {
  return prepare(request, { 'Content-Digest': await contentDigestOf(body, settings.hashes) }, settings);
}

function prepare(
  { method, url, headers }: Omit<RequestToSign, 'body'>,
  more: Record<string, string>,
  { keyid, form, agent, now, nonce = makeNonce() }: SigningSettings,
): PreparedRequest {
  const added = { ...more, 'Signature-Agent': agentField(form, agent) };
  const values = new Map(
    [...Object.entries(headers), ...Object.entries(added)].map(([name, value]) => [name.toLowerCase(), value.trim()]),
  );
  const components: Component[] = [
    { name: '@method' },
    { name: '@authority' },
    { name: '@target-uri' },
    ...[...coveredFields.filter((name) => values.has(name)), ...[...values.keys()].filter(isAttribute)].map((name) => ({
      name,
    })),
    { name: 'signature-agent', ...(form === 'dictionary' && { key: label }) },
  ];
  const parameters = { created: now, expires: now + signatureSeconds, keyid, alg: 'ed25519', nonce, tag: signatureTag };
  const prepared = prepareSignature(label, components, parameters, {
    method,
    url,
    fieldOf: (name) => values.get(name),
  });
  return { base: prepared.base, fields: (signature) => ({ ...added, ...prepared.fields(signature) }) };
}

/** An attribute of an event in binary mode (HTTP binding, section 3.1.3.1), in lower case. */
export const isAttribute = (name: string): boolean => name.startsWith('ce-');

const makeNonce = () => base64Of(crypto.getRandomValues(new Uint8Array(64)));

function agentField(form: SignatureForm, { url, type }: SignatureAgent): string {
  if (form === 'string') return `"${new URL(url).origin}"`;
  const parameters = new Map(type === 'directory' ? [] : [['type', new Token(type)] as const]);
  return serializeDictionary(new Map([[label, [url, parameters] as Item]]));
}

/** Why a request does not count as signed. */
export type SignatureFault =
  /** It has none. */
  | 'signature_missing'
  /** Its fields cannot be read, or the message does not have what they cover. */
  | 'signature_malformed'
  /** It does not cover what it must. */
  | 'signature_incomplete'
  | 'signature_expired'
  /** `created` is in the future. */
  | 'signature_early'
  | 'key_unknown'
  /** Another key made it, or the request was altered. */
  | 'signature_invalid'
  /** The body is not that of Content-Digest. */
  | 'digest_mismatch'
  /** It was seen before. */
  | 'signature_replayed';

export interface VerifiedSignature {
  keyid: string;
  nonce: string | undefined;
  /**
   * One for each signature of the request that is right. A copy of the request, also with fewer of its signatures, has none
   * that is new; no other request has one of them.
   */
  fingerprints: string[];
  /** Seconds since 1970 until which a repetition must be remembered. */
  until: number;
  agent: SignatureAgent | undefined;
}

export type Verification =
  { ok: true; signature: VerifiedSignature } | { ok: false; fault: SignatureFault; detail: string };

export interface VerifySettings {
  /** The key with this thumbprint, if it is one of the origin that the request names. */
  keyOf: (keyid: string, agent: SignatureAgent | undefined) => Promise<PublishedKey | undefined>;
  /** Of a delivery; undefined for OPTIONS. A function is called once the signature itself is right. */
  body: Uint8Array | undefined | (() => Promise<Uint8Array>);
  /** Names of fields, in lower case, that the signature must cover, too: those of an event in binary mode. */
  mustCover?: readonly string[];
  /** Seconds since 1970. */
  now: number;
}

/**
 * Checks the signature of a handshake or a delivery. It must cover method, target, the origin and, if they are there,
 * callback and rate; for a delivery also the media type and the digest of the body, which must be right. Rejects only if
 * a function of the settings does.
 */
export async function verifyRequest(request: SignedRequest, settings: VerifySettings): Promise<Verification> {
  let candidates: ReadSignature[];
  try {
    candidates = readSignatures(request.fieldOf, signatureTag);
  } catch (error) {
    return refusedBy(error);
  }
  if (candidates.length === 0) return refused('signature_missing', 'The request has no signature (RFC 9421).');
  if (candidates.length > maxSignatures) {
    return refused('signature_malformed', `The request has more than ${maxSignatures} signatures.`);
  }
  let right: VerifiedSignature | undefined;
  let wrong: Verification | undefined;
  let fault: unknown;
  // A proxy may have added one of its own: one that is right is enough.
  for (const each of candidates) {
    try {
      const verified = await verifyOne(request, each, settings);
      if (!verified.ok) wrong ??= verified;
      else if (right === undefined) right = verified.signature;
      else right.fingerprints.push(...verified.signature.fingerprints);
    } catch (error) {
      fault ??= error;
    }
  }
  if (right !== undefined) return { ok: true, signature: right };
  if (fault !== undefined) return refusedBy(fault);
  return wrong as Verification;
}

const maxSignatures = 5;

/** Rejects with an error that is not about the request. */
function refusedBy(error: unknown): Verification {
  if (error instanceof SignatureError) return refused('signature_malformed', error.message);
  throw error;
}

async function verifyOne(
  request: SignedRequest,
  read: ReadSignature,
  { keyOf, body, mustCover = [], now }: VerifySettings,
): Promise<Verification> {
  const { keyid, created, expires, alg, nonce } = read.parameters;
  const missing = uncovered(request, read, body !== undefined, mustCover);
  if (missing !== undefined) return refused('signature_incomplete', `The signature does not cover ${missing}.`);
  if (keyid === undefined || created === undefined) {
    return refused('signature_incomplete', 'The signature has no keyid, or no time of its creation.');
  }
  if (alg !== undefined && alg !== 'ed25519') return refused('key_unknown', `The algorithm is ${alg}, not ed25519.`);
  if (created > now + skewSeconds) return refused('signature_early', 'The signature was created in the future.');
  const until = Math.min((expires ?? Infinity) + skewSeconds, created + maxSignatureSeconds);
  if (until < now) {
    return refused('signature_expired', 'The signature has expired.');
  }
  const agent = agentOf(request.fieldOf, read);
  const key = await keyOf(keyid, agent);
  if (key === undefined) return refused('key_unknown', `The origin has no key ${keyid}.`);
  const { nbf = -Infinity, exp = Infinity } = key;
  if (now < nbf - skewSeconds || now > exp + skewSeconds) {
    return refused('key_unknown', `The key ${keyid} of the origin does not sign now (nbf, exp).`);
  }
  const base = read.base(request);
  if (!(await isSignedBy(key, read.signature, base))) {
    return refused('signature_invalid', 'The signature is not one of this request and this key.');
  }
  const content = typeof body === 'function' ? await body() : body;
  if (content !== undefined && !(await isDigestOf(request.fieldOf('content-digest') ?? '', content))) {
    return refused('digest_mismatch', 'Content-Digest is not that of the body (RFC 9530).');
  }
  return { ok: true, signature: { keyid, nonce, fingerprints: [await fingerprintOf(base)], until, agent } };
}

/** What tells a signed text from every other one: 128 bits, in base64url. */
export async function fingerprintOf(signed: Uint8Array<ArrayBuffer>): Promise<string> {
  return base64urlOf(new Uint8Array(await crypto.subtle.digest('SHA-256', signed)).subarray(0, 16));
}

/** What a signed request says of its signature, unchecked; undefined if it has none that can be read. */
export interface ShownSignature {
  keyid: string;
  form: SignatureForm;
  /** Where the keys are, of `Signature-Agent`. */
  signatureagent: string;
  covered: string[];
}

/** For people who look at a request that was sent. */
export function shownSignature(fieldOf: FieldOf): ShownSignature | undefined {
  try {
    const [signature] = readSignatures(fieldOf, signatureTag);
    const agent = signature?.components.find(({ name }) => name === 'signature-agent');
    if (signature?.parameters.keyid === undefined || agent === undefined) return undefined;
    return {
      keyid: signature.parameters.keyid,
      form: agent.key === undefined ? 'string' : 'dictionary',
      signatureagent: stringOf(fieldOf('signature-agent') ?? '', agent.key)?.text ?? '',
      covered: signature.components.map(({ name }) => name),
    };
  } catch (error) {
    if (error instanceof SignatureError) return undefined;
    throw error;
  }
}

const refused = (fault: SignatureFault, detail: string): Verification => ({ ok: false, fault, detail });

/** The first component that a signature must cover and does not. */
function uncovered(
  { fieldOf }: SignedRequest,
  { components }: ReadSignature,
  isDelivery: boolean,
  more: readonly string[],
): string | undefined {
  const isCovered = (name: string) => components.some((each) => each.name === name && each.key === undefined);
  const isTarget = isCovered('@target-uri') || (isCovered('@authority') && isCovered('@path') && isCovered('@query'));
  if (!isTarget) return '@target-uri';
  const optional = ['webhook-request-callback', 'webhook-request-rate', ...(isDelivery ? ['content-type'] : [])];
  const fields = optional.filter((name) => fieldOf(name) !== undefined);
  const needed = ['@method', 'webhook-request-origin', ...fields, ...(isDelivery ? ['content-digest'] : []), ...more];
  return needed.find((name) => !isCovered(name));
}

/** What the signature covers of `Signature-Agent`; undefined if it covers nothing of it. */
function agentOf(fieldOf: FieldOf, { components, label: own }: ReadSignature): SignatureAgent | undefined {
  const value = fieldOf('signature-agent');
  const covered = components.find(({ name }) => name === 'signature-agent');
  if (value === undefined || covered === undefined) return undefined;
  if (covered.key !== undefined && covered.key !== own) return undefined;
  const read = stringOf(value, covered.key);
  if (read === undefined) return undefined;
  const type: unknown = read.parameters.get('type');
  if (type === undefined) return { url: read.text, type: 'directory' };
  return type instanceof Token && type.toString() === 'jwks_uri' ? { url: read.text, type: 'jwks_uri' } : undefined;
}
