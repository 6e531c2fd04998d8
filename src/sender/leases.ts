import { denials } from '../grants/permission.js';
import type { components } from '../http/contract.gen.js';
import { RegistryRefusal, type RegistryClient } from './registry-client.js';

type Lease = components['schemas']['Lease'];
export type Permission = components['schemas']['Permission'];

/** One request may be sent, now: not later, and not twice. */
export interface Permit extends Permission {
  allowed: true;
  /** It was not sent after all. */
  giveBack(): void;
}

/** Nothing may be sent: `reason` and `message` say why, `helduntil` until when if the webhook asked for a hold. */
export interface Denied extends Permission {
  allowed: false;
}

/** So many requests of a lease may still be sent until it ends, by the clock that only goes forward. */
export interface Share {
  lease: string;
  left: number;
  endsAt: number;
}

/** Nothing may be sent, with the reason and its sentence; or a share, if there is one, and when to ask for the next. */
export type LeaseResult =
  | { denied: Pick<Denied, 'reason' | 'message' | 'helduntil'> }
  | { share: Share | undefined; retryAfterMs: number | undefined };

export interface LeaseClient {
  /** `returns` hands back what was not used of earlier leases. */
  take(request: {
    origin: string;
    sink: string;
    requests: number;
    returns: ReadonlyArray<{ lease: string; unused: number }>;
  }): Promise<LeaseResult>;
  handBack(lease: string, unused: number): Promise<void>;
}

/** A request needs some time from here to the webhook, and must not come there after the end of its lease. */
const wayMs = 250;

/** `POST /v1/leases` and `DELETE /v1/leases/{id}` for one instance. */
export function createLeaseClient(client: RegistryClient, instance: string, signal: AbortSignal): LeaseClient {
  return {
    async take(request) {
      const askedAt = performance.now();
      const { returns, ...rest } = request;
      const body = { ...rest, instance, ...(returns.length === 0 ? {} : { returns }) };
      const answer = await client.call({ method: 'POST', path: 'v1/leases', body, signal }).catch(deniedBy);
      if ('denied' in answer) return answer;
      const { lease, requests, seconds, retryafter, helduntil } = (await answer.json()) as Lease;
      if (helduntil !== undefined) return { denied: { reason: 'held', message: denials.held, helduntil } };
      const endsAt = askedAt + (seconds ?? 0) * 1_000 - wayMs;
      return {
        share: lease === undefined || requests < 1 ? undefined : { lease, left: requests, endsAt },
        retryAfterMs: retryafter === undefined ? undefined : retryafter * 1_000,
      };
    },
    async handBack(lease, unused) {
      const path = `v1/leases/${encodeURIComponent(lease)}?unused=${unused}`;
      const answer = await client.call({ method: 'DELETE', path, signal });
      await answer.dump();
    },
  };
}

function deniedBy(error: unknown): Extract<LeaseResult, { denied: unknown }> {
  const [fault] = error instanceof RegistryRefusal && error.code === 'not_permitted' ? error.faults : [];
  if (fault === undefined) throw error;
  return { denied: { reason: fault.rule, message: fault.detail } };
}

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
export function available(bucket: Bucket, now: number): number {
  let requests = 0;
  bucket.shares = bucket.shares.filter((share) => {
    if (share.endsAt > now) requests += share.left;
    else if (share.left > 0) bucket.returns.set(share.lease, share.left);
    return share.endsAt > now;
  });
  return requests;
}
