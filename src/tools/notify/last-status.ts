import type { Rate } from '../../consent/rate.js';
import { isEffectOfBlock, type GrantState, type SubscriptionState } from '../../matching/replica/state.js';
import type { Change } from '../../kits/client/follow-changes.js';
import type { Notice, NoticeType } from './notice.js';

/** The status of a subscription that was reported last. The registry decides the status; this only compares. */
export interface LastStatus {
  subscriber: string;
  origin: string;
  sink: string;
  status: string;
  handshake?: string | undefined;
  /** The end that its consumer named. */
  endsAt?: string;
}

/** Where a subscription stands now, as the registry says it. */
export interface PresentStatus extends Omit<LastStatus, 'endsAt'> {
  id: string;
  code: string;
  allowedrate?: Rate | undefined;
  grantexpiresat?: string | undefined;
}

/** A line of a snapshot with `statuses=true`. */
export type StatedSubscription = SubscriptionState & Omit<PresentStatus, 'allowedrate' | 'grantexpiresat'>;

/** What to keep: the new last status of each subscription, undefined if it is gone. */
export type Updates = Map<string, LastStatus | undefined>;

/** A change lists at most so many. More are in a snapshot. */
export const maxListed = 1_000;

const ofGrants: Readonly<Record<string, NoticeType>> = {
  'grant.expiring': 'subscription.expiring',
  'grant.held': 'grant.held',
  'grant.released': 'grant.released',
};

/**
 * The notices of a change. The statuses are the present ones: what flips twice between two reads is reported once, or
 * not at all if it is back.
 */
export function noticesOf(change: Change, known: ReadonlyMap<string, LastStatus>, updates: Updates): Notice[] {
  const { kind, subscription = '', revision, at, resource, statuses = [] } = change;
  const time = Date.parse(at).toString(36);
  const from = (id: string) => ({ id: `${id}.${revision}.${time}`, at, subscription: id });
  const before = (id: string) => (updates.has(id) ? updates.get(id) : known.get(id));
  if (kind === 'subscription.deleted') {
    const gone = before(subscription);
    updates.set(subscription, undefined);
    return gone === undefined || gone.status === 'expired' ? [] : [ended(from(subscription), gone, false)];
  }
  return (statuses as PresentStatus[]).flatMap((present) => {
    const { id, status } = present;
    const { subscriber, origin, sink, code, handshake } = present;
    const last = before(id);
    const endsAt =
      kind.startsWith('subscription.') && !isEffectOfBlock(kind)
        ? (resource as SubscriptionState | undefined)?.expiresat
        : last?.endsAt;
    updates.set(id, { subscriber, origin, sink, status, handshake, ...(endsAt ? { endsAt } : {}) });
    const types = [
      ...(isNews(present, last) ? [`subscription.${status}` as NoticeType] : []),
      ...(status === 'active' && ofGrants[kind] ? [ofGrants[kind]] : []),
    ];
    const grant = grantOf(present, kind, resource as GrantState | undefined);
    const what = { subscriber, origin, sink, status, code, grant };
    return types.map((type, place) => ({
      ...from(id),
      ...(place > 0 && { id: `${from(id).id}.${place}` }),
      type,
      ...what,
    }));
  });
}

/** What differs from a whole snapshot. The ids are the same for every snapshot that is compared after a revision. */
export function differences(
  snapshot: ReadonlyMap<string, StatedSubscription>,
  grants: ReadonlyMap<string, GrantState>,
  known: ReadonlyMap<string, LastStatus>,
  { revision, at }: { revision: string; at: string },
): Notice[] {
  const from = (id: string, status: string) => ({ id: `${id}.${revision}.${status}`, at, subscription: id });
  const notices: Notice[] = [];
  for (const [id, { subscriber, origin, sink, status, code, handshake }] of snapshot) {
    if (!isNews({ status, code, handshake }, known.get(id))) continue;
    const grant = grants.get(`${origin} ${sink}`);
    const what = { subscriber, origin, sink, status, code, grant };
    notices.push({ ...from(id, status), type: `subscription.${status}` as NoticeType, ...what });
  }
  for (const [id, last] of known) {
    if (snapshot.has(id) || last.status === 'expired') continue;
    const isEnded = last.endsAt !== undefined && Date.parse(last.endsAt) <= Date.parse(at);
    notices.push(ended(from(id, isEnded ? 'expired' : 'deleted'), last, isEnded));
  }
  return notices;
}

/** A second handshake with the same result is news, too. The registration of a draft is none. */
function isNews(
  { status, code, handshake }: Pick<PresentStatus, 'status' | 'code' | 'handshake'>,
  last: LastStatus | undefined,
): boolean {
  if (status === 'pending') return false;
  if (status !== (last?.status ?? 'suspended')) return true;
  const isOutcome = ['refused', 'unreachable', 'retired'].includes(status) && code !== 'revoked';
  return isOutcome && handshake !== last?.handshake;
}

function ended(from: Pick<Notice, 'id' | 'at' | 'subscription'>, last: LastStatus, isEnded: boolean): Notice {
  const { subscriber, origin, sink } = last;
  const [status, code] = isEnded ? ['expired', 'ended'] : ['deleted', 'deleted'];
  return {
    ...from,
    type: `subscription.${status}` as NoticeType,
    subscriber,
    origin,
    sink,
    status,
    code,
    grant: undefined,
  };
}

function grantOf(
  { code, allowedrate, grantexpiresat }: PresentStatus,
  kind: string,
  resource: GrantState | undefined,
): Notice['grant'] {
  if (kind.startsWith('grant.') && resource !== undefined) return resource;
  if (allowedrate === undefined || grantexpiresat === undefined || code === 'ended') return undefined;
  return { allowedrate, expiresat: grantexpiresat };
}
