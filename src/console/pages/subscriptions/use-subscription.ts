import { useEffect } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { type Change, connection, isBlock, type LoadedResource, useResource } from '../../app/live.js';
import { href } from '../../app/route.js';
import type { Version } from '../../app/version.js';

export type ApiSubscription = Schemas['Subscription'];
export type ApiHandshake = Schemas['Handshake'];

/** The form for an agreement, which approves a subscription and returns to it. */
export const agreementHref = ({ id, origin, sink, requestedrate: rate }: ApiSubscription) =>
  href('new-grant', undefined, { origin, sink, rate: rate === undefined ? undefined : String(rate), subscription: id });

export interface SubscriptionDetails {
  subscription: ApiSubscription;
  tag: string;
  /** Newest first. */
  handshakes: readonly ApiHandshake[];
  olderCursor: string | undefined;
}

const askingPauseMs = 1_000;
const waitingPauseMs = 5_000;
const withoutFeedMs = 15_000;
const pageSize = 20;

export const readHandshakes = (id: string, cursor?: string, signal?: AbortSignal) => {
  const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
  const init = { params: { path: { id }, query }, ...(signal === undefined ? {} : { signal }) };
  return api.GET('/subscriptions/{id}/handshakes', init);
};

export async function readSubscription(id: string, signal?: AbortSignal): Promise<Version<ApiSubscription>> {
  const { data, etag = '' } = await api.GET('/subscriptions/{id}', {
    params: { path: { id } },
    ...(signal && { signal }),
  });
  return { value: data, tag: etag };
}

/** The page shows the answer to a change at once, and its version is the one of the next change. */
export function follow(
  { data, put }: LoadedResource<SubscriptionDetails>,
  { data: subscription, etag = '' }: { data: ApiSubscription; etag: string | undefined },
): void {
  if (data !== undefined) put({ ...data, subscription, tag: etag });
}

/** A subscription with its latest handshakes. While the webhook is being asked, it is read again and again. */
export function useSubscription(id: string): LoadedResource<SubscriptionDetails> {
  const resource: LoadedResource<SubscriptionDetails> = useResource(
    id,
    async (signal): Promise<SubscriptionDetails> => {
      const [{ value: subscription, tag }, handshakes] = await Promise.all([
        readSubscription(id, signal),
        readHandshakes(id, undefined, signal),
      ]);
      return { subscription, tag, handshakes: handshakes.data, olderCursor: handshakes.next };
    },
    (change) => isAbout(change, id, resource.data),
  );
  const { data, problem, isLoading, reload } = resource;
  const pauseMs = isLoading || data === undefined ? undefined : pauseOf(data);
  useEffect(() => {
    if (pauseMs === undefined) return undefined;
    const timer = setTimeout(reload, problem === undefined ? pauseMs : withoutFeedMs);
    return () => clearTimeout(timer);
  }, [data, problem, pauseMs]);
  return resource;
}

function isAbout(change: Change, id: string, read: SubscriptionDetails | undefined): boolean {
  const { kind, subscription, origin, sink } = change;
  if (isBlock(change)) return true;
  if (kind.startsWith('subscription.')) return subscription === id;
  if (read === undefined || origin !== read.subscription.origin) return false;
  return sink === read.subscription.sink || kind.startsWith('origin.');
}

/** The feed has no entry for a response that leaves a subscription pending. */
function pauseOf({ subscription: { status }, handshakes: [latest] }: SubscriptionDetails): number | undefined {
  const isAsking =
    latest?.state === 'asking' || (latest?.state === 'due' && Date.parse(latest.nextat ?? '') - Date.now() < 2_000);
  if (status !== 'suspended' && status !== 'blocked') {
    if (isAsking) return askingPauseMs;
    if (status === 'pending') return waitingPauseMs;
  }
  return connection.value === 'live' ? undefined : withoutFeedMs;
}
