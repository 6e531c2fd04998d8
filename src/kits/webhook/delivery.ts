import type { Fault } from '../../base/errors.js';
import type { CloudEvent as ReadCloudEvent, Mode } from '../../events/cloud-event.js';
import { readEvents, type MessageLimits } from '../../events/read-events.js';
import { parseOriginName } from '../../consent/origin.js';
import type { Rate } from '../../consent/rate.js';
import { limits as usualLimits } from '../../base/limits.js';
import type { createAuthentication } from './authentication.js';
import { plainEvents, type CloudEvent } from './cloud-event.js';
import type { RequestCounter } from './counter.js';
import {
  originRepeated,
  problem,
  type ReceivedDelivery,
  type WebhookRequest,
  type WebhookResponse,
} from './exchange.js';
import type { OriginCheck } from './origin-policy.js';
import type { LargeIntegers } from './parse-data.js';
import type { Verification } from './verification.js';

/** A response with content: 200, or 201 (webhook specification, section 2.2). `type` is its Content-Type. */
export interface Content {
  status?: 200 | 201;
  type: string;
  body: string | Uint8Array;
}

/** Nothing: the events are processed, 204. `{ status: 202 }`: they will be. */
export type Received = void | { status: 202 } | Content;

/**
 * Gets the events of one request: one, or all of a batch. A sender repeats a request that fails, so an event can arrive
 * twice with the same source and id.
 */
export type Receive = (events: CloudEvent[], delivery: ReceivedDelivery) => Received | Promise<Received>;

/** Thrown by `receive`: the sender repeats the request after so many seconds (503 with Retry-After). */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
  readonly seconds: number;

  constructor(seconds: number) {
    super(`Try again in ${seconds} seconds.`);
    this.seconds = seconds;
  }
}

/** Thrown by `receive`: this webhook is retired, and senders stop (410). */
export class Gone extends Error {
  override readonly name = 'Gone';

  constructor() {
    super('This webhook is retired.');
  }
}

export interface DeliveryParts {
  authenticate: ReturnType<typeof createAuthentication>;
  policy: OriginCheck;
  verification: Verification | undefined;
  counter: RequestCounter;
  receive: Receive;
  limits: MessageLimits;
  largeIntegers: LargeIntegers;
}

/**
 * Answers one delivery (webhook specification, section 2.2): who sends, whether it may, whether it is signed, how fast,
 * and only then what. Rejects if the application fails.
 */
export async function answerDelivery(
  parts: DeliveryParts,
  request: WebhookRequest,
  headers: Readonly<Record<string, string>>,
): Promise<WebhookResponse> {
  const { authenticate, policy, verification, limits } = parts;
  const named = headers['webhook-request-origin']?.trim() ?? '';
  const parsed = parseOriginName(named);
  const asked = { origin: parsed.ok ? parsed.name : '', headers };
  const authenticated = await authenticate(asked, request.url);
  if (!authenticated.ok) return authenticated.refusal;
  if (named.includes(',')) return originRepeated;
  if (!parsed.ok) return problem(403, `WebHook-Request-Origin names no origin. ${parsed.detail.en}`);
  const verdict = await policy(parsed.name);
  if (verdict.kind !== 'allowed') return problem(403, `This webhook has not allowed ${parsed.name} to send.`);
  if (!/^(?:identity)?$/i.test(headers['content-encoding']?.trim() ?? '')) {
    const detail = 'This webhook reads bodies without Content-Encoding.';
    return problem(415, detail, { headers: { 'Accept-Encoding': 'identity' } });
  }
  let body: Promise<Uint8Array | WebhookResponse> | undefined;
  const readBody = () => (body ??= bodyOf(request, headers, limits));
  const verified = await verification?.checkDelivery(parsed.name, verdict, request, readBody);
  if (verified?.ok === false) return verified.refusal;
  const delivery = { ...asked, ...(verified?.keyid !== undefined && { keyid: verified.keyid }) };
  let isAccepted = false;
  try {
    const response = await accept(parts, delivery, verdict.rate, request, readBody);
    isAccepted = response.status < 300;
    return withCaching(response, authenticated.inQuery && isAccepted);
  } finally {
    if (!isAccepted) await verified?.release();
  }
}

async function accept(
  { counter, receive, limits, largeIntegers }: DeliveryParts,
  delivery: Omit<ReceivedDelivery, 'rawBody'>,
  rate: Rate,
  request: WebhookRequest,
  readBody: () => Promise<Uint8Array | WebhookResponse>,
): Promise<WebhookResponse> {
  const waitSeconds = rate === '*' ? 0 : await counter.take(delivery.origin, rate);
  if (waitSeconds > 0) {
    const detail = `${delivery.origin} may send ${rate} requests per minute.`;
    return problem(429, detail, { headers: { 'Retry-After': String(Math.ceil(waitSeconds)) } });
  }
  const body = await readBody();
  if (!(body instanceof Uint8Array)) return body;
  const events = eventsOf(request, body, limits, largeIntegers);
  return Array.isArray(events) ? answerOf(await receive(events, { ...delivery, rawBody: body })) : events;
}

async function bodyOf(
  request: WebhookRequest,
  headers: Readonly<Record<string, string>>,
  limits: MessageLimits,
): Promise<Uint8Array | WebhookResponse> {
  const tooLarge = () => problem(413, `The body has more than ${limits.bytes} bytes.`);
  if (Number(headers['content-length']) > limits.bytes) return tooLarge();
  const body = await request.body(limits.bytes);
  if (body === 'too_large') return tooLarge();
  return body === 'interrupted' ? problem(400, 'The body is incomplete.') : body;
}

function eventsOf(
  request: WebhookRequest,
  body: Uint8Array,
  limits: MessageLimits,
  largeIntegers: LargeIntegers,
): CloudEvent[] | WebhookResponse {
  const message = readEvents({ headers: request.headers, body }, limits);
  if ('code' in message) {
    const status = message.code === 'body_too_large' ? 413 : message.code === 'media_type_unsupported' ? 415 : 400;
    return problem(status, message.faults[0]?.detail ?? '', { faults: message.faults });
  }
  return validEvents(message.mode, body, message.events, largeIntegers);
}

function validEvents(
  mode: Mode,
  body: Uint8Array,
  read: Extract<ReturnType<typeof readEvents>, { events: unknown }>['events'],
  largeIntegers: LargeIntegers,
): CloudEvent[] | WebhookResponse {
  const faults = read.flatMap((each) => ('event' in each ? [] : each.faults));
  if (faults.length > 0) return invalid(faults);
  const plain = plainEvents(
    mode,
    body,
    read.map((each) => (each as { event: ReadCloudEvent }).event),
    largeIntegers,
  );
  return 'events' in plain ? plain.events : invalid(plain.faults);
}

function invalid(faults: ReadonlyArray<Fault<string>>): WebhookResponse {
  const listed = faults.slice(0, usualLimits.faults);
  return problem(400, 'The request is not a valid CloudEvent. `faults` names each place.', { faults: listed });
}

function answerOf(result: unknown): WebhookResponse {
  // A handler may return what its last call returned, such as a response of fetch, which has a type and a body.
  const { type, body, status = 200 } = (result ?? {}) as Partial<Record<keyof Content, unknown>>;
  if (status === 202) return { status, headers: {}, body: undefined };
  const isContent = typeof type === 'string' && (typeof body === 'string' || body instanceof Uint8Array);
  if (!isContent) return { status: 204, headers: {}, body: undefined };
  return { status: status === 201 ? 201 : 200, headers: { 'Content-Type': type }, body };
}

/** Webhook specification, section 3.2. */
function withCaching(response: WebhookResponse, inQuery: boolean): WebhookResponse {
  return inQuery ? { ...response, headers: { ...response.headers, 'Cache-Control': 'private' } } : response;
}
