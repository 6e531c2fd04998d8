import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { frontHeaders } from '../../consent/fronts.js';
import type { BegunAttempt, HeaderLine, Question } from '../../consent/handshake.js';
import { placeOf, type Tracing, type TraceSpan } from '../../base/tracing.js';
import { prepareRequest } from '../../signatures/request-signature.js';
import type { OriginSigner } from '../origins/keys.js';
import { evidenceOf, type FinalReply, type Judgement } from '../../consent/judgement.js';

/** What an attempt sends, and what is recorded of it. Only a hash of the callback key is kept. */
interface PreparedAttempt {
  headers: BegunAttempt['headers'];
  recorded: HeaderLine[];
  callbackKeyHash: Uint8Array | undefined;
  /** It should be signed, and the key cannot be opened: it is not sent. */
  isWithheld: boolean;
  span: TraceSpan | undefined;
}

/** What signs a request, and when: milliseconds since 1970. */
interface Signing {
  signer: OriginSigner | undefined;
  now: number;
}

/**
 * Webhook specification, sections 4.1.2 to 4.1.4. No callback is offered without a URL for it. The signature covers the
 * callback as it is sent, with its key.
 */
export function prepareAttempt(
  question: Pick<Question, 'id' | 'origin' | 'sink' | 'requestedRate' | 'trigger' | 'traceparent'>,
  publicUrl: string | undefined,
  { number, tracing, signing }: { number: number; tracing?: Tracing | undefined; signing?: Signing },
): PreparedAttempt {
  const { id, origin, sink, requestedRate, trigger } = question;
  // A request that a span is for names it, and the signature is for the headers as they are sent.
  const span = tracing?.start('handshake', {
    parent: question.traceparent,
    attributes: { method: 'OPTIONS', ...placeOf(sink), origin, handshake: id, trigger, attempt: number },
  });
  const isWithheld = signing?.signer === 'unavailable';
  const traceparent = span?.traceparent ?? question.traceparent;
  const lines = (callback: string | undefined) => ({
    'WebHook-Request-Origin': origin,
    ...(callback === undefined ? {} : { 'WebHook-Request-Callback': callback }),
    ...(requestedRate === undefined ? {} : { 'WebHook-Request-Rate': String(requestedRate) }),
    ...(traceparent === undefined ? {} : { traceparent }),
  });
  if (publicUrl === undefined) {
    const headers = lines(undefined);
    const signed = { ...headers, ...signatureOf(sink, headers, signing) };
    return { headers: signed, recorded: Object.entries(signed), callbackKeyHash: undefined, isWithheld, span };
  }
  const address = `${publicUrl}/v1/callbacks/${id}?key=`;
  const { key, hash } = createCallbackKey();
  const headers = lines(address + key);
  const signature = signatureOf(sink, headers, signing);
  return {
    headers: { ...headers, ...signature },
    recorded: Object.entries({ ...lines(`${address}[secret]`), ...signature }),
    callbackKeyHash: hash,
    isWithheld,
    span,
  };
}

/** `Signature-Agent`, `Signature-Input` and `Signature`; nothing without a key. */
function signatureOf(url: string, headers: BegunAttempt['headers'], signing: Signing | undefined) {
  if (signing?.signer === undefined || signing.signer === 'unavailable') return {};
  const { signer } = signing;
  const now = Math.floor(signing.now / 1_000);
  const prepared = prepareRequest({ method: 'OPTIONS', url, headers }, { ...signer, now });
  return prepared.fields(signer.sign(prepared.base));
}

/** Where the webhook is; undefined if there was no connection. */
export function addressIn(reply: FinalReply): string | undefined {
  return 'remoteAddress' in reply ? reply.remoteAddress || undefined : undefined;
}

/** What is kept of a response, as columns. */
export function answerColumns(attempt: BegunAttempt, reply: FinalReply, judgement: Judgement) {
  const told = reply.kind === 'answered' ? reply.headers.filter(([name]) => isTelling(name)) : [];
  return {
    number: attempt.number,
    verdict: judgement.verdict,
    evidence: evidenceOf(judgement) ?? null,
    tolerated: judgement.kind === 'granted' ? judgement.tolerated : [],
    statuscode: reply.kind === 'answered' ? reply.status : null,
    responseheaders: reply.kind === 'answered' ? withoutKey(offeredKey(attempt), told).map((line) => clip(line)) : null,
    address: addressIn(reply) ?? null,
    timing: reply.timing,
  };
}

/** The WebHook headers and a few that explain a response; never headers that could contain a secret of the target. */
const diagnostic: ReadonlySet<string> = new Set([
  ...['allow', 'server', 'x-powered-by', 'via', 'retry-after', 'location', 'content-type', 'date', 'www-authenticate'],
  ...frontHeaders,
]);

function isTelling(name: string): boolean {
  const key = name.toLowerCase();
  return key.startsWith('webhook-') || key.startsWith('access-control-') || diagnostic.has(key);
}

/**
 * A target may echo what it was sent, in any case. Subscribers see its response, and anyone who has the callback key
 * could give consent in its place.
 */
export function withoutKey(key: string, lines: ReadonlyArray<readonly [string, string]>) {
  const lowerKey = key.toLowerCase();
  const isWrittenBack = (text: string) => text.toLowerCase().includes(lowerKey);
  if (key === '' || !lines.some(([name, value]) => isWrittenBack(name) || isWrittenBack(value))) return lines;
  // Base64url has no special characters of regular expressions. Compiled only if needed, because that is slow.
  const secret = new RegExp(key, 'gi');
  const hide = (text: string) => text.replace(secret, '[secret]');
  return lines.map(([name, value]) => [hide(name), hide(value)] as const);
}

function offeredKey({ headers }: BegunAttempt): string {
  const callback = headers['WebHook-Request-Callback'];
  return callback?.slice(callback.lastIndexOf('=') + 1) ?? '';
}

/** NUL and lone surrogates cannot be stored, and no header needs more than a kilobyte. */
export function clip([name, value]: readonly [string, string], max = 1_024): HeaderLine {
  return [name, value.slice(0, max).replaceAll('\0', '').toWellFormed()];
}

/** 256 random bits. Only the hash is stored, so that read access to the database is not enough to grant. */
function createCallbackKey(): { key: string; hash: Uint8Array<ArrayBuffer> } {
  const key = randomBytes(32).toString('base64url');
  return { key, hash: hashCallbackKey(key) };
}

export function hashCallbackKey(key: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(key).digest());
}

/** In constant time. */
export function isSameHash(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
