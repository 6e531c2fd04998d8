import type { BatchResult, MatchResult } from '../../matching/match/match-message.js';
import type { ClientCertificate, GuardSettings } from '../guard/index.js';
import type { DeliveredMatch, DeliverOptions, DeliveryResult } from './deliver.js';
import type { EventMessage, MatchedSink } from './delivery.js';
import type { ForwardRequest, ForwardResult } from './forward.js';
import type { Denied, Permission, Permit, RateUsedUp } from './leases.js';
import type { OutcomeReport } from './outcomes.js';
import type { OwnSigning, SignedDelivery } from './signing.js';

/**
 * The registry inside a sender: a replica that answers in this process with the registry's own code, and this instance's
 * share of each rate. While the registry is unreachable the replica keeps answering, and `age` returns how old it is. Only
 * requests that were already leased can then be sent, so that no rate is ever exceeded.
 *
 * Data flow: the feed (replica-sync) updates the replica and its file (replica-file). Events are matched against the replica,
 * with credentials from the registry (credentials). Each request to a webhook takes a permit (permits, from leases), is
 * signed (signing) and goes through the guarded client (attempts, for deliver and forward). The webhook's response is reported to the registry (outcomes).
 */
export interface Sender {
  /**
   * Resolves when there is a replica, from disk or from the registry, that was current at most `maxAgeMs` milliseconds
   * before this call (any age if absent). Rejects with AssentError if the registry refuses us, and when closed.
   */
  ready(maxAgeMs?: number): Promise<void>;
  /** As `GET /v1/permissions`; `no_grant` for a malformed pair. RegistryError `index_loading` without a replica. */
  permission(origin: string, sink: string): Permission;
  /**
   * What `POST /v1/match` returns, without sink credentials (`hascredential` marks sinks that have one). `event` is a
   * CloudEvent in the JSON format, a list of them, or the request it arrived in. Throws the same RegistryErrors:
   * `invalid_event` with each place, `origin_not_found`, and so on. `match_too_expensive` names the subscription with the
   * most expensive filters; nothing was matched then, so send fewer events at once. Blocks until everything is matched;
   * `matchWithCredentials` yields to the event loop.
   */
  match(event: readonly object[], of?: { origin?: string | undefined }): BatchResult;
  match(event: EventMessage, of?: { origin?: string | undefined }): MatchResult | BatchResult;
  match(event: object, of?: { origin?: string | undefined }): MatchResult;
  /**
   * The same with the sink credentials, which need a token with `assent:credentials`. Credentials are neither in the
   * replica nor on disk: the sender fetches unknown ones from the registry, and rejects if it is unreachable. Sinks whose
   * credential the registry cannot decrypt are in `withheld`.
   */
  matchWithCredentials(event: readonly object[], of?: { origin?: string | undefined }): Promise<BatchResult>;
  matchWithCredentials(event: EventMessage, of?: { origin?: string | undefined }): Promise<MatchResult | BatchResult>;
  matchWithCredentials(event: object, of?: { origin?: string | undefined }): Promise<MatchResult>;
  /**
   * Resolves with a permit when one request may be sent to the sink: send it immediately. Resolves with the denial as
   * soon as nothing may be sent. Rejects with the signal's reason, when the sender is closed, with AssentError if the
   * registry refuses us, and with RegistryError `index_loading` before there is a replica.
   */
  acquire(origin: string, sink: string, signal?: AbortSignal): Promise<Permit | Denied>;
  /**
   * The same, and never waits for a rate or a hold: resolves with `rate_used_up` if this instance has no share of the rate
   * and can get none now. Waits only for the request to the registry that asks for a share, which all callers of a pair
   * have in common. Rejects with its error if that request fails, so without the registry, sending ends with the last share.
   */
  tryAcquire(origin: string, sink: string, signal?: AbortSignal): Promise<Permit | Denied | RateUsedUp>;
  /**
   * How to deliver to a sink that you know, as a match shows it for an event that matches every active subscription:
   * headers, credential and signing secrets. Kept in memory until the feed reports a change. Rejects with RegistryError
   * `not_permitted` if the origin may not send there, with an Error if the registry cannot decrypt a secret, and with
   * AssentError if a secret is needed and the registry is unreachable.
   */
  sinkOf(origin: string, sink: string): Promise<MatchedSink>;
  /**
   * Sends one request of any content to a sink that you know, once: with the subscription's headers and credential, and
   * signed. It never waits for a rate or a hold and never retries: that is the caller's. Reports the response. Rejects
   * as `tryAcquire` and `sinkOf` do, with the signal's reason, and with a TypeError for headers that cannot be sent.
   *
   * `webhook-id` (Standard Webhooks) is that of the headers, if there is one. Otherwise, one CloudEvent has the same as in
   * `deliver`, and any other content has one that is made of its bytes.
   */
  forward(request: ForwardRequest): Promise<ForwardResult>;
  /**
   * Delivers an event in the JSON format to every sink of its match, through the guarded client. It waits for a permit,
   * sends with the content mode, headers, credential and signatures of the match, and reports the response. It retries after 429, 500
   * to 599 and no response, with backoff or when the hold ends. After a 401 during a rotation it retries with the previous
   * credential. Resolves when there is a result for each sink, including `withheld` ones.
   *
   * Sends nothing to a sink whose credential or signing secret is missing from the match or cannot be applied: the result is `withheld`, and
   * `onFault` is called once for the sink. Rejects as `acquire` does, with TypeError for anything but one event, and when
   * the sender is closed.
   */
  deliver(event: object, match: DeliveredMatch, options?: DeliverOptions): Promise<DeliveryResult[]>;
  /**
   * One request of a delivery as `deliver` sends it, signed and with the client certificate of the origin, for an entry
   * of `match.sinks`. Send it immediately, and call this again for each attempt. Rejects as `deliveryOf` throws, and
   * without the signing secret of the webhook.
   */
  signedDeliveryOf(event: object, origin: string, to: MatchedSink): Promise<SignedDelivery>;
  /** Reports a webhook's response to a request that `deliver` did not send. Returns immediately. */
  report(outcome: OutcomeReport): void;
  /** Seconds since the replica was known to be current; Infinity before there is one. */
  age(): number;
  /** Stops: returns unused leases, reports the last outcomes, closes files and connections. */
  close(): Promise<void>;
}

export interface SenderSettings {
  /** The URL of the registry, or of several of its processes. */
  registry: string | readonly string[];
  /** An access token with the scope `assent:deliver`. Called for each stream, and whenever a token is refused. */
  token: () => Promise<string> | string;
  /** Follows only this origin. Absent: all origins of the tenant. */
  origin?: string | undefined;
  /** Prefix of the name under which this instance takes leases. The rest is random at each start. */
  instance?: string | undefined;
  /** Keeps the replica in this folder. Each process needs its own. */
  folder?: string | undefined;
  /** Bytes. A smaller file is never compacted (1 MiB if absent). A larger one is when it has doubled. */
  compactAbove?: number | undefined;
  /** PEM of the certificate authority that signed the registry's certificate. */
  ca?: string | undefined;
  /** How webhooks are reached: allowed addresses and ports, certificate authorities, deadlines. */
  guard?: GuardSettings | undefined;
  /**
   * HTTP Message Signatures (RFC 9421) of deliveries. Absent: with the keys that the registry makes for the origin, if the
   * token has the scope `assent:sign`; they are kept in memory. A key of your own stays in your process. `false`: none.
   * Signing secrets of webhooks are used in any case.
   */
  signing?: OwnSigning | false | undefined;
  /** Shown to webhooks that ask for one. Absent: that of the origin, if the token has the scope `assent:sign`. */
  clientCertificate?: ClientCertificate | undefined;
  /** Closes the sender when it fires. */
  signal?: AbortSignal | undefined;
  /** Budget of filter steps for one message, like `ASSENT_MATCH_STEPS` of the registry (500,000,000 if absent). */
  matchSteps?: number | undefined;
  /** Called with background errors, which are retried. */
  onFault?: ((error: unknown) => void) | undefined;
}
