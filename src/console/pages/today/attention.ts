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
  at?: string | undefined;
}

type GroupName = Schemas['AttentionGroup']['group'];

export interface AttentionGroup {
  name: GroupName;
  count: number;
  /** There may be more than `count`. */
  isAtLeast: boolean;
  first: Item[];
  /** The list of all. */
  address: string;
}

export interface Attention {
  groups: AttentionGroup[];
  /** There may be some, but the newest candidates are none. */
  unknown: AttentionGroup[];
  alerts: ReadonlyArray<Schemas['Alert']>;
}

const soonDays = '30';
const addresses: Record<GroupName, string> = {
  refused: href('subscriptions', undefined, { status: 'refused' }),
  unreachable: href('subscriptions', undefined, { status: 'unreachable' }),
  retired: href('subscriptions', undefined, { status: 'retired' }),
  expired: href('subscriptions', undefined, { status: 'expired', code: 'expired' }),
  blocked: href('subscriptions', undefined, { status: 'blocked' }),
  pending: href('subscriptions', undefined, { status: 'pending' }),
  ending: href('grants', undefined, { state: 'live', renews: 'false', within: soonDays }),
  held: href('grants', undefined, { state: 'live', held: 'true' }),
};

/** What needs attention, in one request, however much it is. */
export async function readAttention(signal: AbortSignal): Promise<Attention> {
  const { data } = await api.GET('/overview', { signal });
  const groups = data.groups.map(
    ({ group, count, more, firstsubscriptions: subscriptions = [], firstgrants: grants = [] }) => ({
      name: group,
      count,
      isAtLeast: more,
      first: [...subscriptions.map(itemOf), ...grants.map((grant) => itemOfGrant(grant, group))],
      address: addresses[group],
    }),
  );
  const isKnown = ({ count }: AttentionGroup) => count > 0;
  return {
    groups: groups.filter(isKnown),
    unknown: groups.filter((group) => !isKnown(group)),
    alerts: data.alerts,
  };
}

function itemOf({ id, sink, statusdetails }: Schemas['Subscription']): Item {
  return { id, sink, address: href('subscriptions', id), message: statusdetails.message };
}

function itemOfGrant({ id, origin, sink, expiresat, helduntil }: Schemas['Grant'], group: GroupName): Item {
  const at = group === 'held' ? helduntil : expiresat;
  return { id, sink, address: href('webhooks', undefined, { origin, sink }), at };
}
