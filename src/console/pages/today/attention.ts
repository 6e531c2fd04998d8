import { api, type Schemas } from '../../app/api.js';
import { href } from '../../app/route.js';

/** Something that waits for a person, with a link to it. */
interface Item {
  id: string;
  sink: string;
  address: string;
  /** What the registry says about it. */
  message?: string;
  /** Of a grant. */
  at?: string;
}

type GroupName = Attended | 'ending' | 'held';

export interface AttentionGroup {
  name: GroupName;
  count: number;
  /** There are at least `count`. */
  isAtLeast: boolean;
  first: Item[];
  /** The list of all. */
  address: string;
}

const maxShown = 3;
const page = 200;
const soonDays = 30;

/** In this order. A new status doesn't compile until it stands here, or is one that nobody has to attend to. */
type Attended = Exclude<Schemas['SubscriptionStatus'], 'active' | 'suspended'>;
const places: Record<Attended, number> = { refused: 0, unreachable: 1, retired: 2, expired: 3, blocked: 4, pending: 5 };
const statuses = (Object.keys(places) as Attended[]).sort((one, two) => places[one] - places[two]);

/** The groups that have something in them, in parallel requests. Only admins see grants. */
export async function readAttention(seesGrants: boolean, signal: AbortSignal): Promise<AttentionGroup[]> {
  const groups = await Promise.all([
    ...statuses.map((status) => (status === 'pending' ? readPending(signal) : readStatus(status, signal))),
    ...(seesGrants ? [readEnding(signal), readHeld(signal)] : []),
  ]);
  return groups.filter(({ count }) => count > 0);
}

async function readStatus(status: Exclude<Attended, 'pending'>, signal: AbortSignal): Promise<AttentionGroup> {
  // A subscription that reached the end that its subscriber chose has this status as well.
  const reason = status === 'expired' ? { reason: 'expired' } : {};
  const query = { status, ...reason, limit: maxShown, count: true };
  const { data, headers } = await api.GET('/subscriptions', { params: { query }, signal });
  const total = headers.get('X-Total-Count') ?? '0';
  return {
    name: status,
    count: Number.parseInt(total, 10),
    isAtLeast: total.endsWith('+'),
    first: data.map(itemOf),
    address: href('subscriptions', undefined, { status, ...reason }),
  };
}

async function readPending(signal: AbortSignal): Promise<AttentionGroup> {
  const query = { status: 'pending', limit: page } as const;
  const { data, headers } = await api.GET('/subscriptions', { params: { query }, signal });
  const waiting = data.filter(({ statusdetails }) => statusdetails.attention);
  const address = href('subscriptions', undefined, { status: 'pending' });
  return { name: 'pending', ...listed(waiting.map(itemOf), headers), address };
}

async function readEnding(signal: AbortSignal): Promise<AttentionGroup> {
  const expiresuntil = new Date(Date.now() + soonDays * 86_400_000).toISOString();
  const query = { state: 'live', renews: false, expiresuntil, limit: page } as const;
  const { data, headers } = await api.GET('/grants', { params: { query }, signal });
  const sorted = data.sort((one, other) => one.expiresat.localeCompare(other.expiresat));
  const address = href('grants', undefined, { state: 'live', renews: 'false', within: String(soonDays) });
  return {
    name: 'ending',
    ...listed(
      sorted.map((grant) => itemOfGrant(grant, grant.expiresat)),
      headers,
    ),
    address,
  };
}

async function readHeld(signal: AbortSignal): Promise<AttentionGroup> {
  const query = { state: 'live', held: true, limit: page } as const;
  const { data, headers } = await api.GET('/grants', { params: { query }, signal });
  const items = data.map((grant) => itemOfGrant(grant, grant.helduntil));
  const address = href('grants', undefined, { state: 'live', held: 'true' });
  return { name: 'held', ...listed(items, headers), address };
}

function listed(items: readonly Item[], headers: Headers): Pick<AttentionGroup, 'count' | 'isAtLeast' | 'first'> {
  return { count: items.length, isAtLeast: headers.get('Link') !== null, first: items.slice(0, maxShown) };
}

function itemOf({ id, sink, statusdetails }: Schemas['Subscription']): Item {
  return { id, sink, address: href('subscriptions', id), message: statusdetails.message };
}

function itemOfGrant({ id, origin, sink }: Schemas['Grant'], at: string | undefined): Item {
  return { id, sink, address: href('webhooks', undefined, { origin, sink }), ...(at === undefined ? {} : { at }) };
}
