import { denials } from '../../consent/decision.js';
import type { components } from '../../base/contract/contract.gen.js';
import { AssentError } from '../client/assent-error.js';
import type { Client } from '../client/create-client.js';

export type Permission = components['schemas']['Permission'];

/** One request may be sent, immediately and once. */
export interface Permit extends Permission {
  allowed: true;
  /** Call this if the request was not sent. */
  giveBack(): void;
}

/** Nothing may be sent. `reason` and `message` say why; `helduntil` is the end of a hold. */
export interface Denied extends Permission {
  allowed: false;
}

/** How many requests of a lease are left until it ends, by the monotonic clock. */
export interface Share {
  lease: string;
  left: number;
  endsAt: number;
}

/** A denial with its reason and message; or a share, if any, and when to ask for the next one. */
export type LeaseResult =
  | { denied: Pick<Denied, 'reason' | 'message' | 'helduntil'> }
  | { share: Share | undefined; retryAfterMs: number | undefined };

export interface LeaseClient {
  /** `returns` gives back the unused part of earlier leases. */
  take(request: {
    origin: string;
    sink: string;
    requests: number;
    returns: Array<{ lease: string; unused: number }>;
  }): Promise<LeaseResult>;
  handBack(lease: string, unused: number): Promise<void>;
}

/** A request takes time to reach the webhook, and must arrive before its lease ends. */
const wayMs = 250;

/** `POST /v1/leases` and `DELETE /v1/leases/{id}` for one instance. */
export function createLeaseClient(client: Client, instance: string, signal: AbortSignal): LeaseClient {
  return {
    async take(request) {
      const askedAt = performance.now();
      const { returns, ...rest } = request;
      const body = { ...rest, instance, ...(returns.length === 0 ? {} : { returns }) };
      const answer = await client.POST('/leases', { body, signal }).catch(deniedBy);
      if ('denied' in answer) return answer;
      const { lease, requests, seconds, retryafter, helduntil } = answer.data;
      if (helduntil !== undefined) return { denied: { reason: 'held', message: denials.held, helduntil } };
      const endsAt = askedAt + (seconds ?? 0) * 1_000 - wayMs;
      return {
        share: lease === undefined || requests < 1 ? undefined : { lease, left: requests, endsAt },
        retryAfterMs: retryafter === undefined ? undefined : retryafter * 1_000,
      };
    },
    async handBack(lease, unused) {
      await client.DELETE('/leases/{id}', { params: { path: { id: lease }, query: { unused } }, signal });
    },
  };
}

function deniedBy(error: unknown): Extract<LeaseResult, { denied: unknown }> {
  const [fault] = error instanceof AssentError && error.code === 'not_permitted' ? error.faults : [];
  if (fault === undefined) throw error;
  return { denied: { reason: fault.rule, message: fault.detail } };
}

/** A caller that waits for a permit. */
export interface Waiter {
  give: (outcome: Permit | Denied) => void;
  refuse: (error: unknown) => void;
}

/**
 * The token bucket of an origin and a sink in use: leases fill it, and each permit takes one request out. All times are
 * monotonic.
 */
export interface Bucket {
  origin: string;
  sink: string;
  shares: Share[];
  /** First come, first served. */
  waiting: Set<Waiter>;
  /** The unused part of shares that ended, by lease. */
  returns: Map<string, number>;
  /** A decaying count of requests, over about two seconds. */
  recent: number;
  recentAt: number;
  /** Settles with the one pending request for a lease. */
  asking: Promise<void> | undefined;
  notBefore: number;
  /** The rate when last checked; undefined while nothing may be sent. */
  rate: Permit['allowedrate'];
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/** The duration of a lease. */
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

/** Requests that may be sent now. Removes shares that ended. */
export function available(bucket: Bucket, now: number): number {
  let requests = 0;
  bucket.shares = bucket.shares.filter((share) => {
    if (share.endsAt > now) requests += share.left;
    else if (share.left > 0) bucket.returns.set(share.lease, share.left);
    return share.endsAt > now;
  });
  return requests;
}
