import { LinkedController, sleep } from '../../base/until.js';
import { retryDelayMs } from '../../consent/backoff.js';
import { kindOf, type OutcomeKind } from '../../consent/outcome.js';
import type { MatchResult } from '../../matching/match/match-message.js';
import { placeOf, traced, type Tracing } from '../../base/tracing.js';
import type { Attempts } from './attempts.js';
import { deliveryOf, idOfEvent, type MatchedSink } from './delivery.js';
import type { Denied, Permission, Permit } from './leases.js';
import type { Signing } from './signing.js';

/** The result of delivering an event to one webhook. */
export interface DeliveryResult {
  sink: string;
  /**
   * The kind of the last response, as in reports (`delivered`, `gone`, `throttled`, `unavailable`, `mediarefused`,
   * `unauthorized`, `redirected`, `rejected`, `failed`, or `no_response` without one). Or why nothing was sent: `denied`
   * (no consent, or a hold), `withheld` (the credential or the signing secret is missing or cannot be applied, or there is
   * no key to sign with), `blocked` (the sink, or an address that its name resolves to, is not allowed).
   */
  outcome: OutcomeKind | 'denied' | 'withheld' | 'blocked';
  /** The HTTP status code of the last response. */
  statusCode?: number;
  /**
   * Why there is no response, as a code such as `connection_refused` or `proxy_unreachable`. With `withheld`,
   * `secret_unavailable` if it can be sent later: the registry cannot decrypt a secret, or the keys could not be loaded.
   */
  code?: string;
  /** The same as a sentence. */
  detail?: string;
  /** RFC 3339. The end of the hold that the webhook asked for. */
  helduntil?: string;
  /** Number of requests sent. */
  attempts: number;
}

export interface DeliverOptions {
  /**
   * Maximum number of requests to each webhook (5 if absent). With 1, `deliver` does not wait for a hold to end either:
   * for senders that have their own queue.
   */
  attempts?: number | undefined;
  /** Cancels waits and requests: `deliver` rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** The match of one event, or the parts of it that deliveries need. */
export type DeliveredMatch = Pick<MatchResult, 'origin' | 'sinks' | 'withheld'>;

export interface DeliverSettings {
  attempts: Attempts;
  acquire: (origin: string, sink: string, signal: AbortSignal) => Promise<Permit | Denied>;
  /** The current permission, as far as this process knows. */
  permission: (origin: string, sink: string) => Permission;
  signing: Signing;
  closing: AbortSignal;
  /** Milliseconds since 1970, by the registry's clock. */
  now: () => number;
  /** Undefined if nothing is traced. */
  tracing: Tracing | undefined;
}

const backoff = { firstMs: 1_000, maxMs: 60_000 };
/** An admin may end a hold at any time. */
const longestLookMs = 1_000;
/** A retry of any other outcome would give the same result. */
const isTransient: ReadonlySet<string> = new Set(['throttled', 'unavailable', 'failed', 'no_response']);

/** `Sender.deliver`. */
export function createDeliver(settings: DeliverSettings) {
  const { attempts: requests, acquire, permission, signing, closing, now, tracing } = settings;

  async function deliverTo(
    event: object,
    origin: string,
    to: MatchedSink,
    maxAttempts: number,
    signal: AbortSignal,
  ): Promise<DeliveryResult> {
    const { sink } = to;
    const detail = requests.withheldBy(origin, to);
    if (detail !== undefined) return { sink, outcome: 'withheld', detail, attempts: 0 };
    const messageId = () => idOfEvent(event, sink);
    for (let attempts = 0, waits = 0, isSwitched = false; ;) {
      // Not while a permit waits to be used.
      const notReady = await signing.prepare(origin);
      if (notReady !== undefined) {
        waits += 1;
        if (attempts + waits >= maxAttempts) return { ...withheld(sink, notReady.detail), attempts };
        await sleep(retryDelayMs(waits, backoff), signal);
        continue;
      }
      // Throws before there is a permit.
      let using = requests.withCredential(origin, to);
      let message = deliveryOf(event, origin, using);
      const permit = await acquire(origin, sink, signal);
      if (!permit.allowed) {
        const { helduntil, message: detail = '' } = permit;
        if (helduntil === undefined) return { sink, outcome: 'denied', detail, attempts };
        if (maxAttempts === 1) return { sink, outcome: 'denied', detail, helduntil, attempts };
        await sleep(Math.min(longestLookMs, Math.max(50, Date.parse(helduntil) - now())), signal);
        continue;
      }
      // The overlap of two credentials may have ended meanwhile.
      const present = requests.withCredential(origin, to);
      if (present.sinkcredential !== using.sinkcredential) {
        using = present;
        try {
          message = deliveryOf(event, origin, using);
        } catch (error) {
          permit.giveBack();
          throw error;
        }
      }
      const reply = await requests.send({ origin, to: using, message, messageId }, permit, signal);
      // The origin has changed since: as above.
      if (reply.kind === 'withheld') continue;
      if (reply.kind === 'blocked') return { sink, outcome: 'blocked', detail: reply.detail, attempts };
      attempts += 1;
      const outcome = kindOf(reply.kind === 'answered' ? reply.status : undefined);
      // The webhook may know only the other credential of an overlap.
      if (reply.kind === 'answered' && reply.status === 401 && !isSwitched) {
        isSwitched = requests.switchCredential(origin, to, using);
        if (isSwitched) continue;
      }
      if (!isTransient.has(outcome) || attempts >= maxAttempts) {
        const { helduntil } = permission(origin, sink);
        const what =
          reply.kind === 'answered' ? { statusCode: reply.status } : { code: reply.code, detail: reply.detail };
        return { sink, outcome, ...what, ...(helduntil !== undefined && { helduntil }), attempts };
      }
      // `acquire` waits until the hold ends.
      if (permission(origin, sink).helduntil !== undefined) continue;
      await sleep(retryDelayMs(attempts, backoff), signal);
    }
  }

  return async function deliver(
    event: object,
    { origin: name, sinks, withheld: unreadable = [] }: DeliveredMatch,
    { attempts = 5, signal: caller }: DeliverOptions = {},
  ): Promise<DeliveryResult[]> {
    if (Array.isArray(event) || typeof (event as { headers?: unknown }).headers === 'object') {
      throw new TypeError('deliver takes one event in the JSON format.');
    }
    const origin = name.toLowerCase();
    const over = new LinkedController([caller, closing]);
    try {
      const results = await Promise.all(
        sinks.map((to) => {
          const start = () => deliverTo(event, origin, to, attempts, over.signal);
          return tracing ? inSpan(tracing, event as Record<string, unknown>, origin, to, start) : start();
        }),
      );
      const detail = 'The registry cannot decrypt a secret of this webhook.';
      return [...results, ...unreadable.map(({ sink }) => withheld(sink, detail))];
    } finally {
      over.abort();
    }
  };
}

/** It can be sent later. */
const withheld = (sink: string, detail: string): DeliveryResult => ({
  sink,
  outcome: 'withheld',
  code: 'secret_unavailable',
  detail,
  attempts: 0,
});

function inSpan(
  tracing: Tracing,
  event: Readonly<Record<string, unknown>>,
  origin: string,
  { sink }: MatchedSink,
  start: () => Promise<DeliveryResult>,
): Promise<DeliveryResult> {
  const [eventId, eventSource, eventType] = [event['id'], event['source'], event['type']].map(String);
  const attributes = { origin, ...placeOf(sink), eventId, eventSource, eventType };
  return traced(tracing, 'deliver', { event, attributes }, async (span) => {
    const result = await start();
    const { outcome, attempts } = result;
    span?.set({ outcome, attempts });
    if (outcome !== 'delivered') span?.fail(outcome);
    return result;
  });
}
