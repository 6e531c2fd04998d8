import { RegistryError } from '../../base/errors.js';
import type { ContextAttributes } from '../../events/context-attributes.js';
import { withoutQuery } from '../../base/formats/uri.js';
import { MatchIndex } from '../index/match-index.js';
import type { Decision } from '../../consent/decision.js';
import { KnownPairs, type MatchedPair, type Use } from './known-pairs.js';
import type { Dialects } from '../filters/predicate.js';
import type { Work } from '../match/work.js';
import type { BlockState, GrantState, OriginState, State, Subject, SubscriptionState } from './state.js';

export interface KnownOrigin extends OriginState {
  tenant: string;
}

/** An origin and its index. The arrays are indexed by the handles of the index. */
interface IndexedOrigin {
  number: number;
  origin: KnownOrigin;
  index: MatchIndex;
  pairs: Int32Array;
  /** The indexed subscriptions of a pair are a list, which begins at `KnownPairs.indexed`. 0 ends it. */
  next: Int32Array;
  previous: Int32Array;
  /** The numbers of their subscribers; 0 for a free handle. */
  subscribers: Int32Array;
  /** Suspended subscriptions, by id. They are not in the index. */
  suspended: Map<string, Use & { pair: number }>;
  /** Of those in the index. Milliseconds since 1970. */
  ends: Map<number, number>;
  credentials: Set<number>;
  signingSecrets: Set<number>;
  protocolSettings: Map<number, Record<string, unknown>>;
}

interface ReplicaSettings {
  dialects: Dialects;
  /** Milliseconds since 1970 by the database's clock. */
  now: () => number;
}

/**
 * The state of the registry in memory: origins, which subscriptions an event matches, which origin may send where, and
 * the blocks that stand above all of it.
 * Every process of the registry has one, and so does every sender that follows the feed, so all give the same results.
 *
 * `put` accepts states in the order of the log; a state replaces the previous one, and null removes it. Everything here
 * is synchronous, so no caller sees a partial change. Each call checks by the clock of the database whether a grant is
 * live and a subscription has not ended: no change of the log says so in time.
 */
export class Replica {
  readonly #pairs = new KnownPairs();
  readonly pairs: Pick<KnownPairs, 'find' | 'findAll' | 'denial' | 'rate' | 'expiresAt' | 'basis' | 'writeGrantId'> =
    this.#pairs;
  /** Milliseconds since 1970 by the database's clock. */
  readonly now: () => number;
  readonly #dialects: Dialects;
  readonly #indexed = new Map<string, IndexedOrigin>();
  /** The number of subscriptions by tenant. */
  readonly #subscriptions = new Map<string, number>();
  /** The name of the default origin by tenant. */
  readonly #defaults = new Map<string, string>();
  #originNumber = 0;

  constructor({ dialects, now }: ReplicaSettings) {
    this.#dialects = dialects;
    this.now = now;
  }

  /** `subject` is the thing that has the state. */
  put(subject: Subject, state: State | null): void {
    if (subject.kind === 'block') {
      this.#pairs.blocks.put(subject.tenant, subject.id, state as BlockState | null);
      return;
    }
    if (subject.kind === 'origin') {
      this.#putOrigin(subject.tenant, subject.origin, state as OriginState | null);
      return;
    }
    const entry = this.#indexed.get(subject.origin);
    // It was removed together with its origin.
    if (entry === undefined) return;
    if (subject.kind === 'subscription') this.#putSubscription(entry, subject.id, state as SubscriptionState | null);
    else this.#pairs.putGrant(entry.number, subject.sink, state as GrantState | null);
  }

  /** Undefined for an origin that is not the tenant's. */
  origin(tenant: string, name: string): KnownOrigin | undefined {
    const origin = this.#indexed.get(name)?.origin;
    return origin?.tenant === tenant ? origin : undefined;
  }

  defaultOrigin(tenant: string): KnownOrigin | undefined {
    return this.#indexed.get(this.#defaults.get(tenant) ?? '')?.origin;
  }

  /** The pairs that get the event, each once, with the subscriptions that match it; oldest first. */
  match(origin: KnownOrigin, event: ContextAttributes): MatchedPair[];
  /**
   * The same within a slice: undefined if the work was stopped. The final result is the state at that time, as if it
   * had been computed in one go.
   */
  match(origin: KnownOrigin, event: ContextAttributes, work?: Work): MatchedPair[] | undefined;
  match({ name }: KnownOrigin, event: ContextAttributes, work?: Work): MatchedPair[] | undefined {
    const entry = this.#indexed.get(name);
    if (entry === undefined) {
      work?.endEvent();
      return [];
    }
    const handles = work === undefined ? entry.index.match(event) : entry.index.match(event, work);
    if (handles === undefined) return undefined;
    const matches: MatchedPair[] = [];
    if (handles.length === 0) return matches;
    // One subscription needs no grouping by pair.
    const found = handles.length === 1 ? undefined : new Map<number, MatchedPair>();
    const time = this.now();
    const ends = entry.ends.size === 0 ? undefined : entry.ends;
    const barred = this.#pairs.barred(entry.number);
    for (const handle of handles) {
      if (barred.size > 0 && barred.has(entry.subscribers[handle] ?? 0)) continue;
      if (ends !== undefined && (ends.get(handle) ?? Infinity) <= time) continue;
      const pair = entry.pairs[handle] ?? 0;
      if (this.#pairs.standing(pair, time) !== 'live') continue;
      let matched = found?.get(pair);
      if (matched === undefined) {
        matched = this.#pairs.matched(pair, time);
        matches.push(matched);
        found?.set(pair, matched);
      }
      addTo(matched, entry, handle);
    }
    for (const { subscriptions } of matches) if (subscriptions.length > 1) subscriptions.sort();
    return matches;
  }

  /**
   * The pair as an event shows it that matches every active subscription, and until when that holds if no change is
   * reported. Undefined without a live grant. `origin` in lower case.
   */
  sinkOf(tenant: string, origin: string, sink: string): { matched: MatchedPair; until: number } | undefined {
    const bytes = Buffer.from(sink);
    const pair = this.#pairs.find(this.numberOf(tenant, origin), bytes, 0, bytes.length);
    const entry = this.#indexed.get(origin);
    const time = this.now();
    if (pair === 0 || entry === undefined || this.#pairs.standing(pair, time) !== 'live') return undefined;
    const matched = this.#pairs.matched(pair, time);
    const barred = this.#pairs.barred(entry.number);
    let until = this.#pairs.expiresAt(pair);
    if (matched.heldUntil !== undefined) until = Math.min(until, Date.parse(matched.heldUntil));
    for (let handle = this.#pairs.indexed(pair); handle !== 0; handle = entry.next[handle] ?? 0) {
      const end = entry.ends.get(handle) ?? Infinity;
      if (barred.has(entry.subscribers[handle] ?? 0) || end <= time) continue;
      until = Math.min(until, end);
      addTo(matched, entry, handle);
    }
    matched.subscriptions.sort();
    return { matched, until };
  }

  /** `origin` in lower case. A pair of another tenant has no grant. */
  permission(tenant: string, origin: string, sink: string): Decision {
    const bytes = Buffer.from(sink);
    const pair = this.#pairs.find(this.numberOf(tenant, origin), bytes, 0, bytes.length);
    return this.#pairs.permission(pair, this.now());
  }

  /** The same in steps, for many at once: the number of the origin; 0, without pairs, if it is not the tenant's. */
  numberOf(tenant: string, origin: string): number {
    const entry = this.#indexed.get(origin);
    return entry?.origin.tenant === tenant ? entry.number : 0;
  }

  /** How many subscriptions a tenant has, the suspended ones included. */
  subscriptionsOf(tenant: string): number {
    return this.#subscriptions.get(tenant) ?? 0;
  }

  /** Subscriptions, pairs that have a subscription or a grant, and the bytes of all of them outside the JS heap. */
  size(): { subscriptions: number; pairs: number; bytes: number } {
    let subscriptions = 0;
    let { bytes } = this.#pairs;
    for (const entry of this.#indexed.values()) {
      subscriptions += sizeOf(entry);
      bytes += entry.index.statistics().bytes + entry.pairs.length * 16;
    }
    return { subscriptions, pairs: this.#pairs.size, bytes };
  }

  #putOrigin(tenant: string, name: string, state: OriginState | null): void {
    const entry = this.#indexed.get(name);
    if (state === null) {
      if (entry) {
        this.#count(entry.origin.tenant, -sizeOf(entry));
        for (const use of entry.suspended.values()) this.#pairs.leave(use.pair, use);
        entry.subscribers.forEach((subscriber, handle) => subscriber > 0 && this.#leaveIndexed(entry, handle));
        this.#pairs.releaseOrigin(entry.number);
      }
      this.#indexed.delete(name);
    } else if (entry === undefined) {
      const index = new MatchIndex(this.#dialects);
      this.#indexed.set(name, {
        number: (this.#originNumber += 1),
        origin: { ...state, tenant },
        index,
        pairs: new Int32Array(64),
        next: new Int32Array(64),
        previous: new Int32Array(64),
        subscribers: new Int32Array(64),
        suspended: new Map(),
        ends: new Map(),
        credentials: new Set(),
        signingSecrets: new Set(),
        protocolSettings: new Map(),
      });
    } else {
      this.#count(entry.origin.tenant, -sizeOf(entry));
      entry.origin = { ...state, tenant };
      this.#count(tenant, sizeOf(entry));
    }
    if (state !== null) this.#pairs.putOrigin(this.#indexed.get(name)?.number ?? 0, tenant, name);
    if (state?.isdefault) this.#defaults.set(tenant, name);
    else if (this.#defaults.get(tenant) === name) this.#defaults.delete(tenant);
  }

  #count(tenant: string, change: number): void {
    const number = (this.#subscriptions.get(tenant) ?? 0) + change;
    if (number === 0) this.#subscriptions.delete(tenant);
    else this.#subscriptions.set(tenant, number);
  }

  #putSubscription(entry: IndexedOrigin, id: string, state: SubscriptionState | null): void {
    const size = sizeOf(entry);
    try {
      // Join before leave, so that a pair that stays the same is never empty in between.
      const use = state === null ? undefined : this.#useOf(state);
      const pair = state === null || use === undefined ? 0 : this.#pairs.join(entry.number, state.sink, use);
      this.#leave(entry, id, state !== null && !state.suspended);
      if (state === null || use === undefined) return;
      if (state.suspended) entry.suspended.set(id, { ...use, pair });
      else this.#addOrRemove(entry, state, pair, use);
    } finally {
      this.#count(entry.origin.tenant, sizeOf(entry) - size);
    }
  }

  #useOf(state: SubscriptionState): Use {
    const subscriber = this.#pairs.acquireSubscriber(state.subscriber ?? '');
    return { subscriber, isSuspended: state.suspended, end: endOf(state) };
  }

  /** If indexing fails, neither the new subscription nor the one that it replaces stays. */
  #addOrRemove(entry: IndexedOrigin, state: SubscriptionState, pair: number, use: Use): void {
    try {
      const handle = this.#addToIndex(entry, state, pair, use.subscriber);
      if (use.end !== undefined) entry.ends.set(handle, use.end);
    } catch (error) {
      const handle = entry.index.handleOf(state.id);
      if (handle !== undefined) this.#removeFromIndex(entry, state.id, handle);
      this.#pairs.leave(pair, use);
      throw error;
    }
  }

  #addToIndex(entry: IndexedOrigin, state: SubscriptionState, pair: number, subscriber: number): number {
    const handle = entry.index.add({
      id: state.id,
      source: state.source ?? undefined,
      types: state.types ?? undefined,
      subject: state.subject ?? undefined,
      filters: state.filters ?? undefined,
    });
    if (handle >= entry.pairs.length) {
      entry.pairs = grown(entry.pairs);
      entry.next = grown(entry.next);
      entry.previous = grown(entry.previous);
      entry.subscribers = grown(entry.subscribers);
    }
    entry.pairs[handle] = pair;
    entry.subscribers[handle] = subscriber;
    const first = this.#pairs.indexed(pair);
    entry.next[handle] = first;
    entry.previous[handle] = 0;
    entry.previous[first] = handle;
    this.#pairs.setIndexed(pair, handle);
    if (state.hascredential) entry.credentials.add(handle);
    else entry.credentials.delete(handle);
    if (state.hassigningsecret === true) entry.signingSecrets.add(handle);
    else entry.signingSecrets.delete(handle);
    const settings = state.protocolsettings ?? {};
    if (Object.values(settings).some(isSet)) entry.protocolSettings.set(handle, settings);
    else entry.protocolSettings.delete(handle);
    return handle;
  }

  /** Removes a subscription from its pair, and from the index unless it stays there. */
  #leave(entry: IndexedOrigin, id: string, staysInIndex: boolean): void {
    const use = entry.suspended.get(id);
    if (use !== undefined) {
      entry.suspended.delete(id);
      this.#pairs.leave(use.pair, use);
      return;
    }
    const handle = entry.index.handleOf(id);
    if (handle === undefined) return;
    this.#leaveIndexed(entry, handle);
    if (!staysInIndex) this.#removeFromIndex(entry, id, handle);
  }

  #leaveIndexed(entry: IndexedOrigin, handle: number): void {
    const subscriber = entry.subscribers[handle] ?? 0;
    const pair = entry.pairs[handle] ?? 0;
    const [next, previous] = [entry.next[handle] ?? 0, entry.previous[handle] ?? 0];
    // What is written to 0 is never read.
    entry.previous[next] = previous;
    if (previous === 0) this.#pairs.setIndexed(pair, next);
    else entry.next[previous] = next;
    this.#pairs.leave(pair, { subscriber, isSuspended: false, end: entry.ends.get(handle) });
    entry.subscribers[handle] = 0;
    entry.ends.delete(handle);
  }

  #removeFromIndex(entry: IndexedOrigin, id: string, handle: number): void {
    entry.index.remove(id);
    entry.credentials.delete(handle);
    entry.signingSecrets.delete(handle);
    entry.protocolSettings.delete(handle);
  }
}

/** Adds a subscription to the pair that it matched with. */
function addTo(matched: MatchedPair, entry: IndexedOrigin, handle: number): void {
  const id = entry.index.idOf(handle);
  const settings = entry.protocolSettings.get(handle);
  // Ids begin with their creation time (UUID version 7), so the smallest is the oldest.
  if (settings !== undefined && (matched.settingsOf === undefined || id < matched.settingsOf)) {
    matched.protocolSettings = settings;
    matched.settingsOf = id;
  }
  matched.subscriptions.push(id);
  matched.hasCredential ||= entry.credentials.has(handle);
  matched.hasSigningSecret ||= entry.signingSecrets.has(handle);
}

function sizeOf({ index, suspended }: IndexedOrigin): number {
  return index.size + suspended.size;
}

/**
 * Puts a state, or removes its subject if this version cannot use the state: removing denies, but the old state might
 * allow. A block stays, because removing it would allow. An undefined subject is of a kind that this version does not know.
 */
export function putOrRemove(
  replica: Replica,
  subject: Subject | undefined,
  state: State | null,
  onFault: (error: unknown) => void,
): void {
  if (subject === undefined) return;
  try {
    replica.put(subject, state);
  } catch (cause) {
    const logged = subject.kind === 'grant' ? { ...subject, sink: withoutQuery(subject.sink) } : subject;
    onFault(new Error(`A state could not be taken in: ${JSON.stringify(logged)}`, { cause }));
    if (subject.kind !== 'block') replica.put(subject, null);
  }
}

/** Undefined without an end. An end that this version cannot read has passed. */
function endOf({ expiresat }: SubscriptionState): number | undefined {
  return expiresat ? Date.parse(expiresat) || 0 : undefined;
}

/** A patch that removes the last member leaves an empty object. */
function isSet(setting: unknown): boolean {
  return typeof setting !== 'object' || setting === null || Object.keys(setting).length > 0;
}

function grown(words: Int32Array): Int32Array {
  const more = new Int32Array(words.length * 2);
  more.set(words);
  return more;
}

/** The error while the replica is still loading. */
export function indexLoading(): RegistryError {
  return new RegistryError('index_loading', 'The index of subscriptions and grants is being loaded.', {
    retryAfterSeconds: 1,
  });
}
