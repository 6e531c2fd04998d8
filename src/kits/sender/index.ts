import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { RegistryError } from '../../base/errors.js';
import { openTracing, traced } from '../../base/tracing.js';
import { whenAborted } from '../../base/until.js';
import { firstHoldSeconds, holdSecondsOf } from '../../consent/outcome.js';
import { presentPermission, type Denial } from '../../consent/decision.js';
import { dialects } from '../../matching/filters/dialects.js';
import {
  matchEvents,
  originFor,
  readMessage,
  spanOfMatch,
  textOfMatch,
  type BatchResult,
  type MatchResult,
} from '../../matching/match/match-message.js';
import { Replica, indexLoading } from '../../matching/replica/replica.js';
import { sliceSteps, usualBudget, Work } from '../../matching/match/work.js';
import { createRegistryClient } from '../client/registry-client.js';
import { createGuardedClient, type ClientCertificate, type GuardSettings } from '../guard/index.js';
import { createCredentials } from './credentials.js';
import { Attempts } from './attempts.js';
import { createDeliver, type DeliveredMatch, type DeliverOptions, type DeliveryResult } from './deliver.js';
import { messageOf, deliveryOf, idOfEvent, type EventMessage, type MatchedSink } from './delivery.js';
import { createForward, type ForwardRequest, type ForwardResult } from './forward.js';
import { LeaseClient, type Denied, type Permission, type Permit, type RateUsedUp } from './leases.js';
import { ownTenant } from './lines.js';
import { createOutcomes, type OutcomeReport } from './outcomes.js';
import { Permits } from './permits.js';
import { openReplicaFile } from './replica-file.js';
import { createReplicaSync } from './replica-sync.js';
import type { Sender, SenderSettings } from './sender.js';
import { Sinks } from './sinks.js';
import { Signing, type OwnSigning, type PrivateKey, type SignedDelivery } from './signing.js';

export { RegistryError };
export { deliveryOf, type DeliveryMessage } from './delivery.js';
export { AssentError } from '../client/assent-error.js';
export type { Sender, SenderSettings, DeliveredMatch, DeliverOptions, DeliveryResult, GuardSettings };
export type { BatchResult, ClientCertificate, Denied, EventMessage, MatchResult, OutcomeReport, Permission, Permit };
export type { ForwardRequest, ForwardResult, MatchedSink, RateUsedUp };
export type { OwnSigning, PrivateKey, SignedDelivery };

const closeTimeoutMs = 3_000;
const maxWithheld = 10_000;
/** A working feed reports a hold within this time. */
const holdReportedWithinMs = 60_000;

/** Throws an Error for invalid settings, and for a folder that is in use or not writable. */
export async function createSender(settings: SenderSettings): Promise<Sender> {
  const { token, ca, folder, compactAbove, matchSteps = usualBudget, onFault = () => undefined } = settings;
  const addresses = [settings.registry].flat().map(addressOf);
  if (addresses.length === 0) throw new Error('createSender needs the URL of a registry.');
  const origin = settings.origin?.toLowerCase();
  const registry = addresses
    .map(({ href }) => href)
    .sort()
    .join(' ');
  const file =
    folder === undefined ? undefined : await openReplicaFile({ folder, registry, origin, onFault, compactAbove });

  const instance = [...(settings.instance === undefined ? [] : [settings.instance.slice(0, 60)]), randomUUID()].join(
    '.',
  );

  const closing = new AbortController();
  const last = new AbortController();
  // Every pending call to the registry listens to one of them.
  setMaxListeners(0, closing.signal, last.signal);
  const client = createRegistryClient({ addresses, token, ca });
  const now = () => Date.now() + client.aheadMs();
  const sync = createReplicaSync({
    client,
    file,
    origin,
    onFault,
    createReplica: () => new Replica({ dialects, now }),
    onChange(of, sink, kind = '') {
      if (of === undefined || kind.startsWith('origin.')) signing.forget(of);
      // A block changes no credential, and forgetting all of them would ask for all of them again.
      if (!kind.startsWith('block.')) credentials.forget(of, sink);
      // The subscription may have left another sink, which the change does not name.
      sinks.forget(of, kind === 'subscription.replaced' ? undefined : sink);
      if (of === undefined || sink === undefined) withheld.clear();
      else withheld.delete(`${of} ${sink}`);
      // The feed reports the hold now, and will report when an admin ends it.
      const denial =
        of !== undefined && sink !== undefined ? known().permission(ownTenant, of, sink).denial : undefined;
      if (denial === 'held') holds.delete(`${of} ${sink}`);
      permits.recheck(of, sink);
    },
  });
  /**
   * Holds by pair: when each ends by the registry's clock, and when it was asked for by the monotonic clock.
   */
  const holds = new Map<string, { until: number; askedAt: number }>();
  /** Pairs whose deliveries are withheld and were reported to the host, until they change. */
  const withheld = new Set<string>();
  const onWithheld = (of: string, sink: string, error: Error) => {
    if (withheld.has(`${of} ${sink}`)) return;
    if (withheld.size >= maxWithheld) withheld.clear();
    withheld.add(`${of} ${sink}`);
    onFault(error);
  };
  const credentials = createCredentials(client, onFault, onWithheld, closing.signal, now);
  const outcomes = createOutcomes(client, onFault, now);
  const permits = new Permits({
    permission: (of, sink) => permissionNow(of, sink),
    leases: new LeaseClient(client, instance, last.signal),
    onFault,
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

  function hold({ origin: of, sink, statusCode, retryAfter }: OutcomeReport): void {
    const named = retryAfter ? holdSecondsOf(retryAfter, undefined, new Date(now())) : undefined;
    // After a 410, the registry ends the grant or lets us go on (`goneafter`): a hold until the feed reports which.
    const seconds = statusCode === 410 ? firstHoldSeconds : statusCode === 429 ? (named ?? firstHoldSeconds) : named;
    if (seconds === undefined) return;
    for (const pair of holds.keys()) if (heldUntil(pair) <= now()) holds.delete(pair);
    const pair = `${of} ${sink}`;
    // Concurrent deliveries get their responses one after the other; an earlier hold still counts.
    const until = Math.max(heldUntil(pair), now() + seconds * 1_000);
    holds.set(pair, { until, askedAt: performance.now() });
    permits.recheck(of, sink);
  }

  const permissionNow = (of: string, sink: string) => permission(of, sink, heldUntil(`${of} ${sink}`));

  function report(outcome: OutcomeReport): void {
    outcomes.report(outcome);
    if ([410, 429, 503].includes(Number(outcome.statusCode)))
      hold({ ...outcome, origin: outcome.origin.toLowerCase() });
  }

  const signing = new Signing({
    client,
    own: settings.signing,
    clientCertificate: settings.clientCertificate,
    originOf: (name) => sync.replica()?.origin(ownTenant, name),
    onFault,
    closing: closing.signal,
    now,
  });
  const guarded = createGuardedClient(settings.guard);
  const tracing = openTracing('@assent/sender');
  const attempts = new Attempts({ guarded, signing, report, onWithheld, now, tracing });
  const sinks = new Sinks({
    replica: known,
    permission: permissionNow,
    credentials,
    revision: () => sync.checkpoint()?.revision ?? '',
    now,
  });
  const common = { attempts, signing, permission: permissionNow, closing: closing.signal, now, tracing };
  const deliver = createDeliver({ ...common, acquire: (...pair) => permits.acquire(...pair) });
  const forward = createForward({ ...common, sinks, tryAcquire: (...pair) => permits.tryAcquire(...pair) });
  const work = [sync.run(closing.signal), outcomes.run(closing.signal)];
  let closed: Promise<void> | undefined;

  async function end(): Promise<void> {
    leave();
    closing.abort(new Error('The sender is closed.'));
    const timer = setTimeout(() => last.abort(), closeTimeoutMs);
    const flushed = Promise.all(work).then(() => outcomes.flush(last.signal).catch(onFault));
    // In parallel: from here on, nothing more is sent.
    await Promise.all([permits.close(), flushed]);
    clearTimeout(timer);
    sync.settle();
    guarded.close();
    await Promise.all([client.close(), file?.close().catch(onFault)]);
  }

  const close = () => (closed ??= end());
  let leave = () => {};
  leave = whenAborted([settings.signal], () => void close());
  await closed;

  return {
    ready: (maxAgeMs = Infinity) => sync.ready(maxAgeMs),
    permission: (of, sink) => permission(of, sink),
    match(event: object, { origin: name = settings.origin } = {}) {
      return traced(tracing, 'match', { event }, (span) => {
        const replica = known();
        const of = originFor(replica, ownTenant, name);
        const revision = sync.checkpoint()?.revision ?? '';
        const matched = readMessage(of, messageOf(event));
        const work = new Work(matchSteps);
        matchEvents(replica, of, matched, work, revision);
        span?.set(spanOfMatch(of, matched, work));
        return JSON.parse(textOfMatch(revision, of, matched)) as MatchResult & BatchResult;
      });
    },
    matchWithCredentials(event: object, { origin: name = settings.origin } = {}) {
      return traced(tracing, 'match', { event }, async (span) => {
        const of = originFor(known(), ownTenant, name);
        const message = messageOf(event);
        const matched = readMessage(of, message);
        const slice = { left: sliceSteps };
        const work = new Work(matchSteps, slice);
        const position = () => sync.checkpoint()?.revision ?? '';
        // The replica may have been replaced after each slice.
        while (!matchEvents(known(), originFor(known(), ownTenant, name), matched, work, position())) {
          await setImmediate();
          slice.left = sliceSteps;
        }
        span?.set(spanOfMatch(of, matched, work));
        const revision = position();
        const complete = await credentials.of(of.name, revision, matched, message);
        return JSON.parse(textOfMatch(revision, of, complete.matched, complete.secretsOf)) as MatchResult & BatchResult;
      });
    },
    acquire: (of, sink, signal) => permits.acquire(of.toLowerCase(), sink, signal),
    tryAcquire: (of, sink, signal) => permits.tryAcquire(of.toLowerCase(), sink, signal),
    async sinkOf(name, sink) {
      const found = await sinks.of(name.toLowerCase(), sink);
      if ('to' in found) return found.to;
      if ('unreadable' in found) throw new RegistryError('secret_unavailable', found.unreadable);
      const { denial: rule, message: detail = '' } = found.denied;
      const faults = [{ pointer: 'sink', rule: rule as Denial, detail }];
      throw new RegistryError('not_permitted', detail, { faults });
    },
    deliver,
    forward,
    async signedDeliveryOf(event, name, to) {
      const of = name.toLowerCase();
      return signing.sign(deliveryOf(event, of, to), () => idOfEvent(event, to.sink), of, to);
    },
    report,
    age: () => sync.age(),
    close,
  };
}

function addressOf(text: string): URL {
  const address = new URL(text);
  if (!['https:', 'http:'].includes(address.protocol)) throw new Error(`${text} is not the URL of a registry.`);
  if (!address.pathname.endsWith('/')) address.pathname += '/';
  return address;
}
