import { RegistryError } from '../errors.js';
import { parseRate, type Rate } from '../origins/rate.js';
import { createInstantWriter } from './instant.js';
import type { MatchEvent } from './match-event.js';
import { createMatchIndex, type MatchIndex } from './match-index.js';
import { PairTable } from './pair-table.js';
import type { Dialects } from './predicate.js';
import {
  bases,
  grantStates,
  type GrantState,
  type OriginState,
  type State,
  type Subject,
  type SubscriptionState,
} from './state.js';

/**
 * What the registry knows, by heart: origins, which subscriptions an event matches, and who may send where. Every process
 * of the registry keeps one, and so does every sender that follows the feed: there is one way to answer, and it is this.
 *
 * It is told states, in the order of the log; a state takes the place of the one before, and null is the end. Nothing here
 * waits, so nobody ever sees half of a call. Whether a grant is live is looked at for each question, by the clock of the
 * database, because leases end by themselves.
 */
export interface Replica {
  /** `subject` says what the state is of. */
  put(subject: Subject, state: State | null): void;
  /** Undefined for an origin that is not the tenant's. */
  origin(tenant: string, name: string): KnownOrigin | undefined;
  defaultOrigin(tenant: string): KnownOrigin | undefined;
  /** The pairs that get the event, each once, with the subscriptions that want it; oldest first. */
  match(origin: KnownOrigin, event: MatchEvent): MatchedPair[];
  /** `origin` in lower case. A pair of another tenant has no grant. */
  permission(tenant: string, origin: string, sink: string): Permission;
  /** Subscriptions in the index, grants in the table, and bytes of both outside of the collected heap. */
  size(): { subscriptions: number; pairs: number; bytes: number };
}

export interface KnownOrigin extends OriginState {
  tenant: string;
}

export interface MatchedPair {
  sink: string;
  allowedRate: Rate;
  /** RFC 3339. */
  expiresAt: string;
  /** RFC 3339: the webhook asked for a rest until then. */
  heldUntil: string | undefined;
  subscriptions: string[];
  protocolSettings: Record<string, unknown> | undefined;
  /** Of these subscriptions some has a sink credential. */
  hasCredential: boolean;
}

/** Why not: no grant, one that is over, all subscriptions of the pair suspended (an agreement needs none), or a rest. */
export type Denial = 'no_grant' | 'expired' | 'revoked' | 'ended' | 'suspended' | 'held';

export interface Permission {
  denial: Denial | undefined;
  /** Of a pair that has or had one. Times are milliseconds since 1970. */
  grant:
    | { id: string; basis: GrantState['basis']; allowedRate: Rate; expiresAt: number; heldUntil: number | undefined }
    | undefined;
}

const nothing: Permission = { denial: 'no_grant', grant: undefined };
/** A standing is a state and a basis in one number, and never 0. */
const standingOf = ({ state, basis }: GrantState) => 1 + grantStates.indexOf(state) + 4 * bases.indexOf(basis);
const stateOf = (standing: number) => grantStates[(standing & 3) - 1];
const basisOf = (standing: number) => bases[standing >>> 2] ?? 'response';
const live = 1;

/** An origin and its index. What belongs to a handle of the index stands in the arrays at its place. */
interface Home {
  number: number;
  origin: KnownOrigin;
  index: MatchIndex;
  pairs: number[];
  credentials: Set<number>;
  protocolSettings: Map<number, Record<string, unknown>>;
}

export interface ReplicaSettings {
  dialects: Dialects;
  /** Milliseconds since 1970 by the database's clock. */
  now: () => number;
}

export function createReplica({ dialects, now }: ReplicaSettings): Replica {
  const homes = new Map<string, Home>();
  const pairs = new PairTable();
  /** Subscriptions that are suspended are in no index; their pair, by id. */
  const suspended = new Map<string, number>();
  let defaults = new Map<string, KnownOrigin>();
  let originNumber = 0;
  const writeInstant = createInstantWriter();

  function putOrigin(tenant: string, name: string, state: OriginState | null): void {
    const home = homes.get(name);
    if (state === null) {
      if (home) pairs.releaseOrigin(home.number);
      homes.delete(name);
    } else if (home === undefined) {
      const index = createMatchIndex(dialects);
      homes.set(name, {
        ...{ number: (originNumber += 1), origin: { ...state, tenant }, index, pairs: [] },
        ...{ credentials: new Set(), protocolSettings: new Map() },
      });
    } else {
      home.origin = { ...state, tenant };
    }
    const all = [...homes.values()].map(({ origin }) => origin);
    defaults = new Map(all.filter(({ isdefault }) => isdefault).map((origin) => [origin.tenant, origin]));
  }

  function putSubscription(home: Home, id: string, state: SubscriptionState | null): void {
    const before = leave(home, id, state !== null && !state.suspended);
    if (state !== null) {
      const pair = pairs.acquire(home.number, state.sink);
      pairs.setSmall(pair, 'subscriptions', pairs.small(pair, 'subscriptions') + 1);
      if (state.suspended) {
        suspended.set(id, pair);
        pairs.setSmall(pair, 'suspended', pairs.small(pair, 'suspended') + 1);
      } else {
        file(home, state, pair);
      }
    }
    if (before !== 0) releaseEmpty(before);
  }

  function file(home: Home, state: SubscriptionState, pair: number): void {
    const handle = home.index.add({
      id: state.id,
      source: state.source ?? undefined,
      types: state.types ?? undefined,
      subject: state.subject ?? undefined,
      filters: state.filters ?? undefined,
    });
    home.pairs[handle] = pair;
    if (state.hascredential) home.credentials.add(handle);
    else home.credentials.delete(handle);
    if (state.protocolsettings) home.protocolSettings.set(handle, state.protocolsettings);
    else home.protocolSettings.delete(handle);
  }

  /** Takes a subscription from its pair, which is returned, and from the index unless it comes back there. */
  function leave(home: Home, id: string, staysInIndex: boolean): number {
    const resting = suspended.get(id);
    const handle = resting === undefined ? home.index.handleOf(id) : undefined;
    const pair = resting ?? (handle === undefined ? 0 : (home.pairs[handle] ?? 0));
    if (pair === 0) return 0;
    pairs.setSmall(pair, 'subscriptions', pairs.small(pair, 'subscriptions') - 1);
    if (resting !== undefined) {
      suspended.delete(id);
      pairs.setSmall(pair, 'suspended', pairs.small(pair, 'suspended') - 1);
    } else if (handle !== undefined && !staysInIndex) {
      home.index.remove(id);
      home.pairs[handle] = 0;
      home.credentials.delete(handle);
      home.protocolSettings.delete(handle);
    }
    return pair;
  }

  function putGrant(home: Home, sink: string, state: GrantState | null): void {
    const pair = pairs.acquire(home.number, sink);
    pairs.setSmall(pair, 'standing', state === null ? 0 : standingOf(state));
    if (state !== null) {
      const rate = parseRate(state.allowedrate) ?? 1;
      pairs.setLarge(pair, 'rate', rate === '*' ? 0 : rate);
      pairs.setLarge(pair, 'expiresAt', Date.parse(state.expiresat));
      pairs.setLarge(pair, 'heldUntil', state.helduntil ? Date.parse(state.helduntil) : 0);
      pairs.setId(pair, state.id);
    }
    releaseEmpty(pair);
  }

  function releaseEmpty(pair: number): void {
    if (pairs.small(pair, 'subscriptions') === 0 && pairs.small(pair, 'standing') === 0) pairs.release(pair);
  }

  const rateOf = (pair: number): Rate => pairs.large(pair, 'rate') || '*';

  function matchedPair(pair: number, time: number): MatchedPair {
    const heldUntil = pairs.large(pair, 'heldUntil');
    return {
      sink: pairs.sink(pair),
      allowedRate: rateOf(pair),
      expiresAt: writeInstant(pairs.large(pair, 'expiresAt')),
      heldUntil: heldUntil > time ? writeInstant(heldUntil) : undefined,
      subscriptions: [],
      protocolSettings: undefined,
      hasCredential: false,
    };
  }

  function denialOf(pair: number, standing: number, time: number): Denial | undefined {
    const state = stateOf(standing);
    if (state !== 'live') return state ?? 'no_grant';
    if (pairs.large(pair, 'expiresAt') <= time) return 'expired';
    const all = pairs.small(pair, 'subscriptions');
    const isSuspended = all === pairs.small(pair, 'suspended') && (all > 0 || basisOf(standing) !== 'agreement');
    if (isSuspended) return 'suspended';
    return pairs.large(pair, 'heldUntil') > time ? 'held' : undefined;
  }

  return {
    put(subject, state) {
      if (subject.kind === 'origin') {
        putOrigin(subject.tenant, subject.origin, state as OriginState | null);
        return;
      }
      const home = homes.get(subject.origin);
      // It went with its origin.
      if (home === undefined) return;
      if (subject.kind === 'subscription') putSubscription(home, subject.id, state as SubscriptionState | null);
      else putGrant(home, subject.sink, state as GrantState | null);
    },

    origin(tenant, name) {
      const origin = homes.get(name)?.origin;
      return origin?.tenant === tenant ? origin : undefined;
    },

    defaultOrigin: (tenant) => defaults.get(tenant),

    match({ name }, event) {
      const home = homes.get(name);
      if (home === undefined) return [];
      const found = new Map<number, MatchedPair>();
      const time = now();
      for (const handle of home.index.match(event)) {
        const pair = home.pairs[handle] ?? 0;
        const isLive = (pairs.small(pair, 'standing') & 3) === live && pairs.large(pair, 'expiresAt') > time;
        if (!isLive) continue;
        let matched = found.get(pair);
        if (matched === undefined) found.set(pair, (matched = matchedPair(pair, time)));
        const id = home.index.idOf(handle);
        const settings = home.protocolSettings.get(handle);
        // Ids begin with the time of their making (UUID version 7): the smallest is the oldest.
        if (settings !== undefined && matched.subscriptions.every((other) => id < other)) {
          matched.protocolSettings = settings;
        }
        matched.subscriptions.push(id);
        matched.hasCredential ||= home.credentials.has(handle);
      }
      const matches = [...found.values()];
      for (const { subscriptions } of matches) if (subscriptions.length > 1) subscriptions.sort();
      return matches;
    },

    permission(tenant, origin, sink) {
      const home = homes.get(origin);
      const pair = home?.origin.tenant === tenant ? pairs.find(home.number, sink) : 0;
      const standing = pair === 0 ? 0 : pairs.small(pair, 'standing');
      if (standing === 0) return nothing;
      const heldUntil = pairs.large(pair, 'heldUntil');
      return {
        denial: denialOf(pair, standing, now()),
        grant: {
          id: pairs.id(pair),
          basis: basisOf(standing),
          allowedRate: rateOf(pair),
          expiresAt: pairs.large(pair, 'expiresAt'),
          heldUntil: heldUntil === 0 ? undefined : heldUntil,
        },
      };
    },

    size: () => {
      let subscriptions = suspended.size;
      let { bytes } = pairs;
      for (const { index, pairs: held } of homes.values()) {
        subscriptions += index.size;
        bytes += index.statistics().bytes + held.length * 4;
      }
      return { subscriptions, pairs: pairs.size, bytes };
    },
  };
}

/** For who is asked before the replica is there. */
export function indexLoading(): RegistryError {
  return new RegistryError('index_loading', 'The index of subscriptions and grants is being loaded.', {
    retryAfterSeconds: 1,
  });
}
