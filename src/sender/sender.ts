import type { BatchAnswer, MatchAnswer } from '../matching/match-message.js';
import type { DoorSettings } from '../outbound/door.js';
import type { DeliveredMatch, DeliverOptions, DeliveryResult } from './deliver.js';
import type { EventMessage } from './delivery.js';
import type { Denied, Permission, Permit } from './leases.js';
import type { OutcomeReport } from './outcomes.js';

/**
 * The registry within a delivery system: a replica that answers in this process with the code of the registry, and this
 * instance's share of the rates. While the registry is away the replica keeps answering, and `age` returns how old it
 * is; a rate can then be used only as far as it was leased, because a rate is never exceeded.
 *
 * What passes through: changes come in by the feed (replica-sync) into the replica and the file (journal); events are
 * matched against the replica, with credentials from the registry (credentials); each request to a webhook takes a
 * permit (permits, from leases), goes through the guarded door (deliver), and what the webhook responded goes back to the
 * registry (outcomes).
 */
export interface Sender {
  /**
   * Resolves when there is a replica, from disk or the registry, that was current at most so many milliseconds before
   * this call (any age, if absent). Rejects with RegistryRefusal where the registry refuses us, and when closed.
   */
  ready(maxAgeMs?: number): Promise<void>;
  /** As `GET /v1/permissions`; `no_grant` for what can be no pair. RegistryError `index_loading` without a replica. */
  permission(origin: string, sink: string): Permission;
  /**
   * What `POST /v1/match` answers, without sink credentials (`hascredential` marks sinks that have one): `event` is a CloudEvent in the JSON format, a list of
   * them, or the request it came in. RegistryErrors as there: `invalid_event` with the places, `origin_not_found`, ...
   * `match_too_expensive` names the subscription whose filters take most: nothing was matched then, so send fewer events
   * at once. It returns when all is matched; `matchWithCredentials` lets others in between.
   */
  match(event: readonly object[], of?: { origin?: string | undefined }): BatchAnswer;
  match(event: EventMessage, of?: { origin?: string | undefined }): MatchAnswer | BatchAnswer;
  match(event: object, of?: { origin?: string | undefined }): MatchAnswer;
  /**
   * The same with the sink credentials, for which the token needs `assent:credentials`. They are not in the replica and
   * not on disk: the registry is asked for those that are not known yet, and this rejects where it is away. Sinks whose
   * credential it cannot read are in `withheld`.
   */
  matchWithCredentials(event: readonly object[], of?: { origin?: string | undefined }): Promise<BatchAnswer>;
  matchWithCredentials(event: EventMessage, of?: { origin?: string | undefined }): Promise<MatchAnswer | BatchAnswer>;
  matchWithCredentials(event: object, of?: { origin?: string | undefined }): Promise<MatchAnswer>;
  /**
   * Resolves with a permit when one request may be sent to the sink: send it then, and at once. Resolves with why not
   * as soon as nothing may be sent. Rejects with the reason of the signal, when the sender is closed, with
   * RegistryRefusal where the registry refuses us, and with RegistryError `index_loading` before there is a replica.
   */
  acquire(origin: string, sink: string, signal?: AbortSignal): Promise<Permit | Denied>;
  /**
   * Delivers an event in the JSON format to every sink of its match, through the guarded door: waits for a permit, sends
   * with the content mode, the headers and the credential of the match, reports the response, and sends again after
   * 429, 500 to 599 and no response, with a growing pause or when the hold is over. A 401 while an earlier credential
   * overlaps is answered with that one. Resolves when there is a result for each sink, `withheld` ones included.
   *
   * Nothing is sent to a sink that has a credential which the match does not hold, or which cannot be applied: the
   * result is `withheld`, and `onFault` is called once for the sink. Rejects as `acquire` does, and with TypeError for
   * anything but one event. In flight when the sender is closed, it rejects.
   */
  deliver(event: object, match: DeliveredMatch, options?: DeliverOptions): Promise<DeliveryResult[]>;
  /** Tells the registry what a webhook answered to a request that `deliver` did not send; returns at once. */
  report(outcome: OutcomeReport): void;
  /** Seconds since the replica was known to be current; Infinity before there is one. */
  age(): number;
  /** Ends everything: hands back what was leased, tells the last outcomes, closes files and connections. */
  close(): Promise<void>;
}

export interface SenderSettings {
  /** Where the registry is, or several of its processes. */
  registry: string | readonly string[];
  /** An access token with the scope `assent:deliver`. Asked for each stream and whenever one is refused. */
  token: () => Promise<string> | string;
  /** Follows this origin only; absent, all of the tenant. */
  origin?: string | undefined;
  /** Begins the name under which this instance leases; what follows is new at each start. */
  instance?: string | undefined;
  /** Keeps the replica in this folder, which is this process's own. */
  folder?: string | undefined;
  /** Bytes: a file below that is not compacted (1 MiB if absent). Above, it is when it has twice of what it holds. */
  compactAbove?: number | undefined;
  /** PEM of the authority of the registry's certificate. */
  ca?: string | undefined;
  /** How webhooks are reached: which addresses and ports, with which authorities, for how long. */
  door?: DoorSettings | undefined;
  /** Closes the sender when it fires. */
  signal?: AbortSignal | undefined;
  /** Steps that the filters may take for one message, as `ASSENT_MATCH_STEPS` of the registry (500,000,000 if absent). */
  matchSteps?: number | undefined;
  /** What went wrong in the background and is tried again. */
  onFault?: ((error: unknown) => void) | undefined;
}
