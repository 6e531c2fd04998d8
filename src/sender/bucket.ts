import type { Denied, Permit, Share } from './leases.js';

/** A caller that waits for a permit. */
export interface Waiter {
  give: (outcome: Permit | Denied) => void;
  refuse: (error: unknown) => void;
}

/**
 * The token bucket of an origin and a sink that something is sent to now: leases fill it, and each permit takes one
 * request out. All times are by the monotonic clock.
 */
export interface Bucket {
  origin: string;
  sink: string;
  shares: Share[];
  /** In the order that they came. */
  waiting: Set<Waiter>;
  /** What was not sent of shares that are over, by lease. */
  returns: Map<string, number>;
  /** Requests of about the last two seconds; of those before, less and less. */
  recent: number;
  recentAt: number;
  /** Settles when the one request for a lease that is on its way is answered. */
  asking: Promise<void> | undefined;
  notBefore: number;
  /** That holds, or held when it was looked at last; undefined while nothing may be sent. */
  rate: Permit['allowedrate'];
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/** For how long requests are leased at a time. */
export const leasedMs = 2_000;

export function createBucket(origin: string, sink: string): Bucket {
  return {
    origin,
    sink,
    shares: [],
    waiting: new Set(),
    returns: new Map(),
    recent: 0,
    recentAt: 0,
    asking: undefined,
    notBefore: 0,
    rate: undefined,
    failures: 0,
    timer: undefined,
  };
}

export function recentOf(bucket: Bucket, now: number): number {
  bucket.recent *= Math.exp((bucket.recentAt - now) / leasedMs);
  bucket.recentAt = now;
  return bucket.recent;
}

/** Requests that may be sent at this moment; shares that are over leave. */
export function atHand(bucket: Bucket, now: number): number {
  let requests = 0;
  bucket.shares = bucket.shares.filter((share) => {
    if (share.endsAt > now) requests += share.left;
    else if (share.left > 0) bucket.returns.set(share.lease, share.left);
    return share.endsAt > now;
  });
  return requests;
}
