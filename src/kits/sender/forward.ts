import { createHash } from 'node:crypto';
import { LinkedController } from '../../base/until.js';
import { placeOf, traced, type Tracing } from '../../base/tracing.js';
import { readEvents } from '../../events/read-events.js';
import { kindOf } from '../../consent/outcome.js';
import type { Denial } from '../../consent/decision.js';
import { isOwnFault, type Attempts } from './attempts.js';
import { addressed, messageIdOf, type DeliveryMessage } from './delivery.js';
import type { Denied, Permission, Permit, RateUsedUp } from './leases.js';
import type { Signing } from './signing.js';
import type { Sinks } from './sinks.js';

/** A request of any content, as the sender wants to send it. */
export interface ForwardRequest {
  origin: string;
  /** An https URL in canonical form: the sink that the webhook's owner allowed. */
  sink: string;
  /** The headers of the content and others. Those of the connection, such as Host, are left out. */
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
  /** Returns the body of the response if it has at most so many bytes (64 KiB if absent). */
  maxResponseBytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * `answered`: what the webhook returned; `body` is undefined if it is too long or broke off. After a 401 during a rotation
 * of the credential, the next request has the other one, so send it again. `denied`: nothing may be sent now; seconds are
 * given if waiting helps. `withheld`: the credential or the signing secret is missing or cannot be applied, or there is no
 * key to sign with; seconds are given if that may pass. `blocked`: the
 * sink, or an address of its host, is not allowed. `unanswered`: no response. `reported` is false if it is the fault of the
 * sender's own proxy, so that the registry did not get the outcome.
 */
export type ForwardResult =
  | {
      kind: 'answered';
      status: number;
      headers: ReadonlyArray<readonly [name: string, value: string]>;
      body: Buffer | undefined;
    }
  | {
      kind: 'denied';
      denial: Denial | 'rate_used_up';
      message: string;
      /** RFC 3339. */
      helduntil?: string;
      /** With fractions. */
      retryAfterSeconds?: number;
    }
  | { kind: 'withheld'; detail: string; retryAfterSeconds?: number }
  | { kind: 'blocked'; code: string; detail: string }
  | { kind: 'unanswered'; code: string; detail: string; reported: boolean };

export interface ForwardSettings {
  attempts: Attempts;
  sinks: Sinks;
  signing: Signing;
  permission: (origin: string, sink: string) => Permission;
  tryAcquire: (origin: string, sink: string, signal: AbortSignal) => Promise<Permit | Denied | RateUsedUp>;
  closing: AbortSignal;
  /** Milliseconds since 1970, by the registry's clock. */
  now: () => number;
  /** Undefined if nothing is traced. */
  tracing: Tracing | undefined;
}

const usualResponseBytes = 65_536;
/** Of the connection (RFC 9110, section 7.6.1), and of the handshake. */
const dropped =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|webhook-(?:request|allowed)-.*)$/i;

/** `Sender.forward`. */
export function createForward(settings: ForwardSettings) {
  const { attempts, sinks, signing, permission, tryAcquire, closing, now, tracing } = settings;

  function denied({ denial, message = '', helduntil, ...more }: Denied | RateUsedUp): ForwardResult {
    const seconds = 'retryAfterSeconds' in more ? more.retryAfterSeconds : undefined;
    const retryAfterSeconds = helduntil === undefined ? seconds : Math.max(0, Date.parse(helduntil) - now()) / 1_000;
    return {
      kind: 'denied',
      denial: denial as Denial | 'rate_used_up',
      message,
      ...(helduntil !== undefined && { helduntil }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
  }

  async function send(origin: string, request: ForwardRequest, signal: AbortSignal): Promise<ForwardResult> {
    const { sink, maxResponseBytes: maxReadBytes = usualResponseBytes } = request;
    const held = permission(origin, sink);
    if (!held.allowed) return denied(held as Denied);
    const found = await sinks.of(origin, sink);
    if ('denied' in found) return denied(found.denied);
    if ('unreadable' in found) return { kind: 'withheld', detail: found.unreadable, retryAfterSeconds: 60 };
    const detail = attempts.withheldBy(origin, found.to);
    if (detail !== undefined) return { kind: 'withheld', detail };
    const to = attempts.withCredential(origin, found.to);
    const content = contentOf(request);
    const message = addressed(content, origin, to);
    // Not while a permit waits to be used.
    const notReady = await signing.prepare(origin);
    if (notReady !== undefined) return { kind: 'withheld', ...notReady };
    const permit = await tryAcquire(origin, sink, signal);
    if (!permit.allowed) return denied(permit);
    const messageId = () => idOf(content, sink);
    const reply = await attempts.send({ origin, to, message, messageId, maxReadBytes }, permit, signal);
    switch (reply.kind) {
      case 'withheld':
        return reply;
      case 'answered':
        if (reply.status === 401) attempts.switchCredential(origin, found.to, to);
        return { kind: 'answered', status: reply.status, headers: reply.headers, body: reply.body };
      case 'blocked':
        return { kind: 'blocked', code: reply.code, detail: reply.detail };
      case 'unanswered':
        return { kind: 'unanswered', code: reply.code, detail: reply.detail, reported: !isOwnFault(reply) };
    }
  }

  return async function forward(request: ForwardRequest): Promise<ForwardResult> {
    const over = new LinkedController([request.signal, closing]);
    try {
      over.signal.throwIfAborted();
      const origin = request.origin.toLowerCase();
      const start = () => send(origin, request, over.signal);
      return await (tracing ? inSpan(tracing, origin, request, start) : start());
    } finally {
      over.abort();
    }
  };
}

function inSpan(
  tracing: Tracing,
  origin: string,
  { sink, headers }: ForwardRequest,
  start: () => Promise<ForwardResult>,
): Promise<ForwardResult> {
  const valueOf = (name: string) => Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  // The context of the event in binary mode, or else that of the caller.
  const prefix = valueOf('ce-traceparent') === undefined ? '' : 'ce-';
  const event = { traceparent: valueOf(`${prefix}traceparent`), tracestate: valueOf(`${prefix}tracestate`) };
  const attributes = { origin, ...placeOf(sink) };
  return traced(tracing, 'deliver', { event, attributes }, async (span) => {
    const result = await start();
    const outcome = result.kind === 'answered' ? kindOf(result.status) : result.kind;
    span?.set({ outcome });
    if (outcome !== 'delivered') span?.fail(outcome);
    return result;
  });
}

function contentOf({ headers, body }: ForwardRequest): DeliveryMessage {
  const named = Object.entries(headers).find(([name]) => name.toLowerCase() === 'connection')?.[1] ?? '';
  const ofConnection = new Set(named.split(',').map((name) => name.trim().toLowerCase()));
  const kept = Object.entries(headers).filter(([name]) => !dropped.test(name) && !ofConnection.has(name.toLowerCase()));
  return {
    headers: Object.fromEntries(kept),
    body: typeof body === 'string' ? Buffer.from(body) : (body as Uint8Array<ArrayBuffer>),
  };
}

/** The sender's own, that of its event, or else that of these bytes: the same for each attempt to send them. */
function idOf({ headers, body }: DeliveryMessage, sink: string): string {
  const own = Object.entries(headers).find(([name]) => name.toLowerCase() === 'webhook-id')?.[1];
  if (own !== undefined && /^[\w-]{1,256}$/.test(own)) return own;
  const bytes = body as Uint8Array;
  const read = readEvents({ headers: Object.entries(headers).flat(), body: bytes });
  const [event] = 'mode' in read && read.mode !== 'batched' ? read.events : [];
  if (event !== undefined && 'event' in event) {
    const { attributes } = event.event;
    return messageIdOf(attributes.get('source'), attributes.get('id'), sink);
  }
  return messageIdOf(null, createHash('sha256').update(bytes).digest('base64url'), sink);
}
