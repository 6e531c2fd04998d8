import { LinkedController, sleep } from '../../base/until.js';
import { retryDelayMs } from '../../consent/backoff.js';
import { failuresOfProxy } from '../../outbound/failure.js';
import { kindOf, type OutcomeKind } from '../../consent/outcome.js';
import type { MatchResult } from '../../matching/match/match-message.js';
import type { GuardedClient, GuardedReply } from '../guard/index.js';
import { credentialHeaderOf, signingFaultOf, type MatchedSink } from './delivery.js';
import type { Denied, Permission, Permit } from './leases.js';
import type { OutcomeReport } from './outcomes.js';
import type { Signing } from './signing.js';

/** The result of delivering an event to one webhook. */
export interface DeliveryResult {
  sink: string;
  /**
   * The kind of the last response, as in reports (`delivered`, `gone`, `throttled`, `unavailable`, `mediarefused`,
   * `unauthorized`, `redirected`, `rejected`, `failed`, or `no_response` without one). Or why nothing was sent: `denied`
   * (no consent, or a hold), `withheld` (the credential or the signing secret is missing or cannot be applied), `blocked` (the sink, or an
   * address that its name resolves to, is not allowed).
   */
  outcome: OutcomeKind | 'denied' | 'withheld' | 'blocked';
  /** The HTTP status code of the last response. */
  statusCode?: number;
  /** Why there is no response, as a code such as `connection_refused` or `proxy_unreachable`. */
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
  guarded: GuardedClient;
  acquire: (origin: string, sink: string, signal: AbortSignal) => Promise<Permit | Denied>;
  /** The current permission, as far as this process knows. */
  permission: (origin: string, sink: string) => Permission;
  signing: Signing;
  report: (outcome: OutcomeReport) => void;
  /** Called whenever a delivery to a sink is withheld. */
  onWithheld: (origin: string, sink: string, error: Error) => void;
  closing: AbortSignal;
  /** Milliseconds since 1970, by the registry's clock. */
  now: () => number;
}

const backoff = { firstMs: 1_000, maxMs: 60_000 };
/** An admin may end a hold at any time. */
const longestLookMs = 1_000;
/** A retry of any other outcome would give the same result. */
const isTransient: ReadonlySet<string> = new Set(['throttled', 'unavailable', 'failed', 'no_response']);

/** `Sender.deliver`. */
export function createDeliver(settings: DeliverSettings) {
  const { guarded, acquire, permission, signing, report, onWithheld, closing, now } = settings;

  async function attempt(event: object, origin: string, to: MatchedSink, signal: AbortSignal, permit: Permit) {
    const delivery = await signing.sign(event, origin, to);
    const reply = await guarded.post({ ...delivery, signal });
    signal.throwIfAborted();
    if (isOwnFault(reply)) {
      // The webhook had no part in it, and got nothing.
      permit.giveBack();
      onWithheld(origin, to.sink, new Error(`Nothing was delivered. ${reply.detail}`));
      return reply;
    }
    if (reply.kind === 'blocked') permit.giveBack();
    const statusCode = reply.kind === 'answered' ? reply.status : undefined;
    report({ origin, sink: to.sink, statusCode, retryAfter: retryAfterOf(reply) });
    return reply;
  }

  async function deliverTo(
    event: object,
    origin: string,
    to: MatchedSink,
    maxAttempts: number,
    signal: AbortSignal,
  ): Promise<DeliveryResult> {
    const { sink } = to;
    const fault = credentialHeaderOf(to).fault ?? signingFaultOf(to);
    if (fault !== undefined) {
      onWithheld(origin, sink, new Error(`Nothing was delivered. ${fault}`));
      return { sink, outcome: 'withheld', detail: fault, attempts: 0 };
    }
    let previous = to.previouscredential;
    let using = to;
    for (let attempts = 0; ;) {
      const permit = await acquire(origin, sink, signal);
      if (!permit.allowed) {
        const { helduntil, message: detail = '' } = permit;
        if (helduntil === undefined) return { sink, outcome: 'denied', detail, attempts };
        if (maxAttempts === 1) return { sink, outcome: 'denied', detail, helduntil, attempts };
        await sleep(Math.min(longestLookMs, Math.max(50, Date.parse(helduntil) - now())), signal);
        continue;
      }
      const reply = await attempt(event, origin, using, signal, permit);
      const isUnsigned = signing.lacksKeys(origin);
      if (reply.kind === 'blocked') {
        onWithheld(origin, sink, new Error(`Nothing was delivered. ${reply.detail}`));
        return { sink, outcome: 'blocked', detail: reply.detail, attempts };
      }
      attempts += 1;
      const outcome = kindOf(reply.kind === 'answered' ? reply.status : undefined);
      // The webhook may not know the new credential yet.
      if (reply.kind === 'answered' && reply.status === 401 && previous && Date.parse(previous.until) > now()) {
        using = { ...to, sinkcredential: previous.sinkcredential };
        previous = undefined;
        continue;
      }
      const mayPass = isTransient.has(outcome) || (isUnsigned && outcome === 'unauthorized');
      if (!mayPass || attempts >= maxAttempts) {
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
    { origin: name, sinks, withheld = [] }: DeliveredMatch,
    { attempts = 5, signal: caller }: DeliverOptions = {},
  ): Promise<DeliveryResult[]> {
    if (Array.isArray(event) || typeof (event as { headers?: unknown }).headers === 'object') {
      throw new TypeError('deliver takes one event in the JSON format.');
    }
    const origin = name.toLowerCase();
    const over = new LinkedController([caller, closing]);
    try {
      // Not while a permit waits to be used.
      await signing.prepare(origin);
      const results = await Promise.all(sinks.map((to) => deliverTo(event, origin, to, attempts, over.signal)));
      const detail = 'The registry cannot decrypt a secret of this webhook.';
      return [...results, ...withheld.map(({ sink }) => ({ sink, outcome: 'withheld' as const, detail, attempts: 0 }))];
    } finally {
      over.abort();
    }
  };
}

/** The sender's own proxy failed, or does not let it reach the webhook. */
function isOwnFault(reply: GuardedReply): reply is GuardedReply & { kind: 'unanswered' } {
  return reply.kind === 'unanswered' && (failuresOfProxy.has(reply.code) || reply.code === 'proxy_refused');
}

/** The first of several header lines counts. */
function retryAfterOf(reply: GuardedReply): string | undefined {
  if (reply.kind !== 'answered') return undefined;
  return reply.headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1];
}
