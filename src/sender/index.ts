import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { firstHoldSeconds, holdSecondsOf } from '../deliveries/outcome.js';
import { presentPermission } from '../grants/permission.js';
import { dialects } from '../matching/dialects.js';
import { matchMessage, originFor, textOfMatch, type BatchAnswer, type MatchAnswer } from '../matching/match-message.js';
import { createReplica, indexLoading } from '../matching/replica.js';
import { createCredentials } from './credentials.js';
import { messageOf, type EventMessage } from './delivery.js';
import { openJournal } from './journal.js';
import { createLeaseClient, type Denied, type Permission, type Permit } from './leases.js';
import { ownTenant } from './lines.js';
import { createOutcomes, type OutcomeReport } from './outcomes.js';
import { createPermits } from './permits.js';
import { createRegistryClient } from './registry-client.js';
import { createReplicaSync } from './replica-sync.js';

export { RegistryError } from '../errors.js';
export { deliveryOf, type Delivery } from './delivery.js';
export { RegistryRefusal } from './registry-client.js';
export type { BatchAnswer, Denied, EventMessage, MatchAnswer, OutcomeReport, Permission, Permit };

/**
 * The registry within a delivery system: a replica that answers in this process with the code of the registry, and this
 * instance's share of the rates. While the registry is away the replica keeps answering, and `age` returns how old it
 * is; a rate can then be used only as far as it was leased, because a rate is never exceeded.
 *
 * What passes through: changes come in by the feed (replica-sync) into the replica and the file (journal); events are
 * matched against the replica, with credentials from the registry (credentials); each request to a webhook takes a
 * permit (permits, from leases), and what the webhook responded goes back to the registry (outcomes).
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
   * What `POST /v1/match` answers, without sink credentials: `event` is a CloudEvent in the JSON format, a list of
   * them, or the request it came in. RegistryErrors as there: `invalid_event` with the places, `origin_not_found`, ...
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
  /** Tells the registry what a webhook answered; returns at once. */
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
  /** Closes the sender when it fires. */
  signal?: AbortSignal | undefined;
  /** What went wrong in the background and is tried again. */
  onFault?: ((error: unknown) => void) | undefined;
}

const closeTimeoutMs = 3_000;
/** A feed that can be read has reported a hold within this time. */
const holdReportedWithinMs = 60_000;

/** Throws an Error for settings that make no sense, and for a folder that is in use or cannot be written. */
export async function createSender(settings: SenderSettings): Promise<Sender> {
  const { token, ca, folder, compactAbove, onFault = () => undefined } = settings;
  const addresses = [settings.registry].flat().map(addressOf);
  if (addresses.length === 0) throw new Error('The registry needs an address.');
  const origin = settings.origin?.toLowerCase();
  const registry = addresses
    .map(({ href }) => href)
    .sort()
    .join(' ');
  const journal =
    folder === undefined ? undefined : await openJournal({ folder, registry, origin, onFault, compactAbove });

  const instance = [...(settings.instance === undefined ? [] : [settings.instance.slice(0, 60)]), randomUUID()].join(
    '.',
  );

  const closing = new AbortController();
  const last = new AbortController();
  // Every call to the registry that is under way listens to one of them.
  setMaxListeners(0, closing.signal, last.signal);
  const client = createRegistryClient({ addresses, token, ca });
  const now = () => Date.now() + client.aheadMs();
  const sync = createReplicaSync({
    client,
    journal,
    origin,
    onFault,
    random: Math.random,
    createReplica: () => createReplica({ dialects, now }),
    onChange(of, sink) {
      credentials.forget(of, sink);
      // The feed reports the hold now, and will report when an admin ends it.
      const told = of !== undefined && sink !== undefined ? known().permission(ownTenant, of, sink).denial : undefined;
      if (told === 'held') holds.delete(`${of} ${sink}`);
      permits.recheck(of, sink);
    },
  });
  /**
   * Webhooks that asked for a hold, by pair: until when by the registry's clock, and when they asked by the monotonic
   * clock.
   */
  const holds = new Map<string, { until: number; askedAt: number }>();
  const credentials = createCredentials(client, onFault, closing.signal, now);
  const outcomes = createOutcomes(client, onFault, Math.random, now);
  const permits = createPermits({
    permission: (of, sink) => permission(of, sink, heldUntil(`${of} ${sink}`)),
    leases: createLeaseClient(client, instance, last.signal),
    onFault,
    random: Math.random,
  });

  function known() {
    const replica = sync.replica();
    if (replica === undefined) throw indexLoading();
    return replica;
  }

  function heldUntil(pair: string): number {
    const hold = holds.get(pair);
    if (hold === undefined) return 0;
    const currentAt = performance.now() - sync.age() * 1_000;
    return currentAt > hold.askedAt + holdReportedWithinMs ? 0 : hold.until;
  }

  function permission(name: string, sink: string, ownHold = 0): Permission {
    const of = name.toLowerCase();
    const { denial, grant } = known().permission(ownTenant, of, sink);
    if (denial !== undefined || grant === undefined || ownHold <= now()) {
      return presentPermission(of, sink, { denial, grant });
    }
    return presentPermission(of, sink, { denial: 'held', grant: { ...grant, heldUntil: ownHold } });
  }

  function hold({ origin: of, sink, status, retryAfter }: OutcomeReport): void {
    const named = retryAfter ? holdSecondsOf(retryAfter, undefined, new Date(now())) : undefined;
    const seconds = status === 429 ? (named ?? firstHoldSeconds) : named;
    if (seconds === undefined) return;
    for (const pair of holds.keys()) if (heldUntil(pair) <= now()) holds.delete(pair);
    const pair = `${of} ${sink}`;
    // Deliveries that were on their way together are answered one after the other, and what was told first holds too.
    const until = Math.max(heldUntil(pair), now() + seconds * 1_000);
    holds.set(pair, { until, askedAt: performance.now() });
    permits.recheck(of, sink);
  }

  const work = [sync.run(closing.signal), outcomes.run(closing.signal)];
  let closed: Promise<void> | undefined;

  async function end(): Promise<void> {
    settings.signal?.removeEventListener('abort', onAbort);
    closing.abort(new Error('The sender is closed.'));
    const timer = setTimeout(() => last.abort(), closeTimeoutMs);
    const told = Promise.all(work).then(() => outcomes.flush(last.signal).catch(onFault));
    // At once: nothing is sent any more from now on.
    await Promise.all([permits.close(), told]);
    clearTimeout(timer);
    sync.settle();
    await Promise.all([client.close(), journal?.close().catch(onFault)]);
  }

  const close = () => (closed ??= end());
  const onAbort = () => void close();
  settings.signal?.addEventListener('abort', onAbort, { once: true });
  if (settings.signal?.aborted) await close();

  return {
    ready: (maxAgeMs = Infinity) => sync.ready(maxAgeMs),
    permission: (of, sink) => permission(of, sink),
    match(event: object, { origin: name = settings.origin } = {}) {
      const replica = known();
      const of = originFor(replica, ownTenant, name);
      const revision = sync.checkpoint()?.revision ?? '';
      const text = textOfMatch(revision, of, matchMessage(replica, of, messageOf(event)));
      return JSON.parse(text) as MatchAnswer & BatchAnswer;
    },
    async matchWithCredentials(event: object, { origin: name = settings.origin } = {}) {
      const replica = known();
      const of = originFor(replica, ownTenant, name);
      const message = messageOf(event);
      const revision = sync.checkpoint()?.revision ?? '';
      const told = await credentials.of(of.name, revision, matchMessage(replica, of, message), message);
      return JSON.parse(textOfMatch(revision, of, told.matched, told.credentialOf)) as MatchAnswer & BatchAnswer;
    },
    acquire: (of, sink, signal) => permits.acquire(of.toLowerCase(), sink, signal),
    report(outcome) {
      outcomes.report(outcome);
      if (outcome.status === 429 || outcome.status === 503) hold({ ...outcome, origin: outcome.origin.toLowerCase() });
    },
    age: () => sync.age(),
    close,
  };
}

function addressOf(text: string): URL {
  const address = new URL(text);
  if (!['https:', 'http:'].includes(address.protocol)) throw new Error(`${text} is no address of a registry.`);
  if (!address.pathname.endsWith('/')) address.pathname += '/';
  return address;
}
