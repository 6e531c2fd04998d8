import type { GrantState, OriginState, SubscriptionState } from '../../matching/replica/state.js';
import type { ChangeLine, SnapshotLine } from '../../kits/sender/lines.js';
import type { Notice, NoticeType } from './notice.js';

/**
 * Where every subscription of the tenant stands, worked out from the log: what the registry's `status` says at each
 * change, in order. A subscription is, from the first that applies:
 *
 *   blocked    by an admin: its origin, its sink or its subscriber
 *   suspended  by its subscriber or an admin
 *   active     its grant is live
 *   refused    its grant is revoked
 *   (outcome)  what its latest handshake, or the end of its grant, came to: refused, unreachable, retired, expired
 *   pending    none of these
 *
 * Each change returns the notices that it causes. Reading the same changes again gives the same notices.
 */
export interface Standings {
  /** A line of a snapshot: causes no notice. */
  load(line: SnapshotLine): void;
  apply(change: ChangeLine): Notice[];
  /** What differs from earlier standings, which were current at a revision. */
  since(earlier: Standings, revision: string, at: string): Notice[];
  subscriberOf(subscription: string): string | undefined;
  readonly subscriptions: ReadonlyMap<string, Known>;
  readonly pairs: ReadonlyMap<string, Pair>;
}

export interface Known {
  subscriber: string;
  origin: string;
  sink: string;
  suspended: boolean;
  /** Its subscriber is blocked. */
  blocked: boolean;
  /** The end that its consumer named. */
  expiresAt: string | undefined;
  outcome: Standing | undefined;
  standing: Standing;
}

interface Standing {
  status: string;
  reason: string;
}

export interface Pair {
  grant: GrantState | undefined;
  isExpired: boolean;
  /** A block of the sink is in force. The state of the grant says so only if it is live. */
  isBlocked: boolean;
  /** The verdict of the latest renewal without consent. */
  renewal: string | undefined;
  members: Set<string>;
}

/** A snapshot has the status if it was asked for. */
type StatedSubscription = SubscriptionState & { subscriber?: string; status?: string; reason?: string };

const pending: Standing = { status: 'pending', reason: 'not_asked_yet' };
const outcomes: ReadonlySet<string> = new Set(['refused', 'unreachable', 'retired', 'expired']);
const reasons: Readonly<Record<string, string>> = {
  response: 'granted',
  callback: 'callback_granted',
  policy: 'granted_by_policy',
};

export function createStandings(): Standings {
  const subscriptions = new Map<string, Known>();
  const pairs = new Map<string, Pair>();
  const blockedOrigins = new Set<string>();

  function pairOf(origin: string, sink: string): Pair {
    const key = `${origin} ${sink}`;
    let pair = pairs.get(key);
    if (pair === undefined) {
      pair = { grant: undefined, isExpired: false, isBlocked: false, renewal: undefined, members: new Set() };
      pairs.set(key, pair);
    }
    return pair;
  }

  function standingOf({ origin, sink, suspended, blocked, outcome }: Known): Standing {
    const { grant, isExpired, isBlocked } = pairOf(origin, sink);
    const state = grant?.state;
    if (blocked || isBlocked || state === 'blocked' || blockedOrigins.has(origin))
      return { status: 'blocked', reason: 'blocked' };
    if (suspended) return { status: 'suspended', reason: 'suspended' };
    if (grant !== undefined && state === 'live' && !isExpired) {
      return { status: 'active', reason: reasons[grant.basis] ?? grant.basis };
    }
    if (state === 'revoked') return { status: 'refused', reason: 'revoked' };
    return outcome ?? pending;
  }

  function leave(id: string, { origin, sink }: Known): void {
    const pair = pairOf(origin, sink);
    pair.members.delete(id);
    if (pair.members.size === 0 && pair.grant === undefined) pairs.delete(`${origin} ${sink}`);
  }

  function put(state: StatedSubscription): Known {
    const before = subscriptions.get(state.id);
    const isOtherPair = before !== undefined && (before.origin !== state.origin || before.sink !== state.sink);
    if (before !== undefined && isOtherPair) leave(state.id, before);
    const known: Known = {
      subscriber: state.subscriber ?? before?.subscriber ?? '',
      origin: state.origin,
      sink: state.sink,
      suspended: state.suspended,
      blocked: before?.blocked ?? false,
      expiresAt: state.expiresat ?? undefined,
      outcome: isOtherPair ? undefined : before?.outcome,
      standing: before?.standing ?? pending,
    };
    subscriptions.set(state.id, known);
    pairOf(known.origin, known.sink).members.add(state.id);
    return known;
  }

  function putGrant(origin: string, sink: string, state: GrantState | null): Pair {
    const pair = pairOf(origin, sink);
    pair.grant = state ?? undefined;
    if (state === null && pair.members.size === 0) pairs.delete(`${origin} ${sink}`);
    return pair;
  }

  /** Moves the subscriptions to where they stand now. A repeated outcome of a handshake is news, too. */
  function move(ids: Iterable<string>, isNews: (known: Known) => boolean = () => false): Array<[string, NoticeType]> {
    const moved: Array<[string, NoticeType]> = [];
    for (const id of ids) {
      const known = subscriptions.get(id);
      if (known === undefined) continue;
      const before = known.standing;
      known.standing = standingOf(known);
      if (known.standing.status === 'pending') continue;
      if (before.status === known.standing.status && !isNews(known)) continue;
      moved.push([id, `subscription.${known.standing.status}` as NoticeType]);
    }
    return moved;
  }

  /** The active subscriptions of a pair. */
  const active = ({ members }: Pair) =>
    [...members].filter((id) => subscriptions.get(id)?.standing.status === 'active');

  function applyGrant({ kind, origin, sink = '', reason, state }: ChangeLine): Array<[string, NoticeType]> {
    const pair = putGrant(origin, sink, state as GrantState | null);
    const settle = (outcome: Standing | undefined) => {
      for (const id of pair.members) (subscriptions.get(id) as Known).outcome = outcome;
    };
    const held = (type: NoticeType) => active(pair).map((id): [string, NoticeType] => [id, type]);
    switch (kind) {
      case 'grant.live':
        Object.assign(pair, { isExpired: false, renewal: undefined });
        settle(undefined);
        break;
      case 'grant.ended':
        settle(
          reason === 'target_gone'
            ? { status: 'retired', reason: 'gone' }
            : reason === 'renewal_refused'
              ? { status: 'refused', reason: pair.renewal ?? 'renewal_refused' }
              : undefined,
        );
        break;
      case 'grant.expired':
        pair.isExpired = true;
        settle({ status: 'expired', reason: 'expired' });
        break;
      case 'grant.blocked':
      case 'grant.unblocked':
        pair.isBlocked = kind === 'grant.blocked';
        break;
      case 'grant.expiring':
        return held('subscription.expiring');
      case 'grant.held':
      case 'grant.released':
        return held(kind);
    }
    return move(pair.members);
  }

  function applySubscription({ kind, subscription = '', reason, state }: ChangeLine): Array<[string, NoticeType]> {
    // The change after it says where it went.
    if (kind === 'subscription.moved') return [];
    const before = subscriptions.get(subscription);
    if (state === null) {
      if (before === undefined) return [];
      const isEnded = kind === 'subscription.expired';
      before.standing = isEnded
        ? { status: 'expired', reason: reason ?? 'ended' }
        : { status: 'deleted', reason: 'deleted' };
      return [[subscription, isEnded ? 'subscription.expired' : 'subscription.deleted']];
    }
    const known = put(state as StatedSubscription);
    if (kind === 'subscription.blocked' || kind === 'subscription.unblocked') known.blocked = kind.endsWith('.blocked');
    // Asked anew, if it needs to be.
    if (kind === 'subscription.resumed') known.outcome = undefined;
    const moved = move([subscription]);
    // Its own registration as suspended is no news.
    return before === undefined && known.standing.status === 'suspended' ? [] : moved;
  }

  function applyHandshake({ kind, origin, sink = '', subscription, reason = '' }: ChangeLine) {
    const status = kind.slice(kind.indexOf('.') + 1);
    const known = subscriptions.get(subscription ?? '');
    if (subscription === undefined) pairOf(origin, sink).renewal = reason;
    if (subscription === undefined || known === undefined || !outcomes.has(status)) return [];
    // It moved to another pair meanwhile.
    if (known.origin !== origin || known.sink !== sink) return [];
    known.outcome = { status, reason };
    return move([subscription], ({ standing, outcome }) => standing === outcome);
  }

  function applyOrigin({ origin, state }: ChangeLine): Array<[string, NoticeType]> {
    const isBlocked = (state as OriginState | null)?.blocked === true;
    if (isBlocked === blockedOrigins.has(origin)) return [];
    if (isBlocked) blockedOrigins.add(origin);
    else blockedOrigins.delete(origin);
    return move([...subscriptions.keys()].filter((id) => subscriptions.get(id)?.origin === origin));
  }

  function applyAny(change: ChangeLine): Array<[string, NoticeType]> {
    switch (change.kind.slice(0, change.kind.indexOf('.'))) {
      case 'origin':
        return applyOrigin(change);
      case 'subscription':
        return applySubscription(change);
      case 'grant':
        return applyGrant(change);
      case 'handshake':
        return applyHandshake(change);
      default:
        return [];
    }
  }

  function noticeOf(id: string, type: NoticeType, from: { id: string; at: string }): Notice {
    const { subscriber, origin, sink, standing } = subscriptions.get(id) as Known;
    const { grant } = pairOf(origin, sink);
    return { id: from.id, type, at: from.at, subscriber, subscription: id, origin, sink, ...standing, grant };
  }

  return {
    subscriptions,
    pairs,

    load(line) {
      if (line.kind === 'origin' && line.state.blocked) blockedOrigins.add(line.state.name);
      if (line.kind === 'subscription') {
        const { status = 'pending', reason = '' } = line.state as StatedSubscription;
        const known = put(line.state);
        known.standing = { status, reason };
        if (outcomes.has(status)) known.outcome = known.standing;
      }
      if (line.kind === 'grant') {
        const { origin, sink } = line.state;
        const pair = putGrant(origin, sink, line.state);
        pair.isExpired = [...pair.members].some((id) => subscriptions.get(id)?.standing.reason === 'expired');
      }
    },

    apply(change) {
      const { revision, at, kind, subscription = '' } = change;
      const time = Date.parse(at).toString(36);
      const notices = applyAny(change).map(([id, type]) => noticeOf(id, type, { id: `${id}.${revision}.${time}`, at }));
      const isGone = kind.startsWith('subscription.') && kind !== 'subscription.moved' && change.state === null;
      const gone = isGone ? subscriptions.get(subscription) : undefined;
      if (gone !== undefined) {
        subscriptions.delete(subscription);
        leave(subscription, gone);
      }
      return notices;
    },

    since(earlier, revision, at) {
      const notices: Notice[] = [];
      // The same for every snapshot that replaces these standings, however often one is taken.
      const from = (id: string, status: string) => ({ id: `${id}.${revision}.${status}`, at });
      for (const [id, { standing }] of subscriptions) {
        const before = earlier.subscriptions.get(id);
        const { status } = standing;
        if (status === 'pending' || status === (before?.standing.status ?? 'suspended')) continue;
        notices.push(noticeOf(id, `subscription.${status}` as NoticeType, from(id, status)));
      }
      for (const [id, known] of earlier.subscriptions) {
        if (subscriptions.has(id)) continue;
        const isEnded = known.expiresAt !== undefined && Date.parse(known.expiresAt) <= Date.parse(at);
        const { subscriber, origin, sink } = known;
        const standing = isEnded ? { status: 'expired', reason: 'ended' } : { status: 'deleted', reason: 'deleted' };
        const type: NoticeType = isEnded ? 'subscription.expired' : 'subscription.deleted';
        const what = { subscriber, subscription: id, origin, sink, ...standing, grant: undefined };
        notices.push({ ...from(id, standing.status), type, ...what });
      }
      return notices;
    },

    subscriberOf: (subscription) => subscriptions.get(subscription)?.subscriber,
  };
}
