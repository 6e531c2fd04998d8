import { setMaxListeners } from 'node:events';
import { whenAborted } from '../../base/until.js';
import {
  available,
  createBucket,
  leasedMs,
  recentOf,
  type Bucket,
  type Denied,
  type LeaseClient,
  type Permission,
  type Permit,
  type Share,
  type Waiter,
} from './leases.js';
import { retryDelayMs } from '../../consent/backoff.js';
import { isFinal } from '../client/registry-client.js';

/**
 * Hands out permits from what this instance has leased of a pair's rate: first come, first served.
 *
 *   idle      no caller waits, and the shares last for about a second at the recent pace
 *   asking    one request for a lease is pending
 *   waiting   the registry, or a failure, set the time of the next request
 *
 * A share is counted from before the request for it, by the monotonic clock, so that it ends here before it ends at the
 * registry. Without the registry there are no new shares: sending stops when the last one is used up.
 */
export interface Permits {
  /** Rejects with the signal's reason, when the kit is closed, and when the registry refuses us permanently. */
  acquire(origin: string, sink: string, signal: AbortSignal | undefined): Promise<Permit | Denied>;
  /** The permission of this pair may have changed; of an origin, or of all pairs, if no more is given. */
  recheck(origin?: string, sink?: string): void;
  /** Returns the unused leases. */
  close(): Promise<void>;
}

export interface PermitSettings {
  /** The current permission. */
  permission: (origin: string, sink: string) => Permission;
  leases: LeaseClient;
  onFault: (error: unknown) => void;
}

/** With jitter at most half as much again, so that callers continue within five seconds. */
const backoff = { firstMs: 100, maxMs: 3_000 };
const unknownMs = 1_000;
const longestLookMs = 1_000;

export function createPermits({ permission, leases, onFault }: PermitSettings): Permits {
  const buckets = new Map<string, Bucket>();
  let isClosed = false;

  function bucketOf(origin: string, sink: string): Bucket {
    const key = `${origin} ${sink}`;
    let bucket = buckets.get(key);
    if (bucket === undefined) buckets.set(key, (bucket = createBucket(origin, sink)));
    return bucket;
  }

  /** Undefined if a share is needed and there is none. */
  function tryTake(bucket: Bucket): Permit | Denied | undefined {
    const held = permission(bucket.origin, bucket.sink);
    if (!held.allowed) return { ...held, allowed: false };
    if (held.allowedrate === '*') return { ...held, allowed: true, giveBack: () => undefined };
    const now = performance.now();
    if (available(bucket, now) === 0) return undefined;
    const share = bucket.shares.find(({ left }) => left > 0) as Share;
    share.left -= 1;
    recentOf(bucket, now);
    bucket.recent += 1;
    let isOpen = true;
    const giveBack = () => {
      if (!isOpen) return;
      isOpen = false;
      // The bucket may have been removed with its last share and created again.
      const present = bucketOf(bucket.origin, bucket.sink);
      if (present.shares.includes(share)) share.left += 1;
      else present.returns.set(share.lease, (present.returns.get(share.lease) ?? 0) + 1);
      serve(present);
    };
    return { ...held, allowed: true, giveBack };
  }

  function serve(bucket: Bucket): void {
    for (const waiter of bucket.waiting) {
      const outcome = tryTake(bucket);
      if (outcome === undefined) break;
      bucket.waiting.delete(waiter);
      waiter.give(outcome);
    }
    proceed(bucket);
  }

  /** Asks for more if more is needed; otherwise returns leftovers. */
  function proceed(bucket: Bucket): void {
    if (isClosed || bucket.asking !== undefined) return;
    clearTimeout(bucket.timer);
    const now = performance.now();
    const left = available(bucket, now);
    const recent = Math.floor(recentOf(bucket, now));
    const { allowed, allowedrate } = permission(bucket.origin, bucket.sink);
    // The time of the next request belonged to the old rate.
    if (allowedrate !== bucket.rate) bucket.notBefore = 0;
    bucket.rate = allowedrate;
    const wanted = allowed ? bucket.waiting.size + recent - left : 0;
    if (wanted > 0 && (bucket.waiting.size > 0 || left < recent / 2)) {
      if (now >= bucket.notBefore) ask(bucket, wanted);
      else wake(bucket, bucket.notBefore - now);
      return;
    }
    const nextEnd = Math.min(...bucket.shares.map(({ endsAt }) => endsAt));
    if (bucket.shares.length > 0) return wake(bucket, nextEnd - now);
    for (const [lease, unused] of bucket.returns) void leases.handBack(lease, unused).catch(onFault);
    bucket.returns.clear();
    if (now < bucket.notBefore) wake(bucket, bucket.notBefore - now);
    else if (bucket.waiting.size === 0) buckets.delete(`${bucket.origin} ${bucket.sink}`);
  }

  function wake(bucket: Bucket, milliseconds: number): void {
    const isWaitedFor = bucket.waiting.size > 0;
    // The feed does not report that a grant expired.
    const delayMs = Math.min(milliseconds, isWaitedFor ? longestLookMs : Infinity);
    bucket.timer = setTimeout(() => serve(bucket), Math.ceil(delayMs));
    // Only waiting callers keep the process alive.
    if (!isWaitedFor) bucket.timer.unref();
  }

  function ask(bucket: Bucket, wanted: number): void {
    const maxRequests = typeof bucket.rate === 'number' ? Math.ceil((bucket.rate * leasedMs) / 60_000) : 1;
    // The registry accepts returns of the latest four leases only, and a return that may have arrived is not repeated.
    const returns = [...bucket.returns].slice(-4).map(([lease, unused]) => ({ lease, unused }));
    bucket.returns.clear();
    bucket.asking = leases
      .take({ origin: bucket.origin, sink: bucket.sink, requests: Math.min(wanted, maxRequests), returns })
      .then(
        (taken) => {
          bucket.failures = 0;
          if ('denied' in taken) {
            // The feed will report the same in a moment.
            bucket.notBefore = performance.now() + unknownMs;
            const { origin, sink } = bucket;
            settle(bucket, ({ give }) => give({ origin, sink, allowed: false, ...taken.denied }));
            return;
          }
          const { share, retryAfterMs } = taken;
          if (share !== undefined) bucket.shares.push(share);
          // Neither a share nor a time: the feed has not reported the cause yet.
          bucket.notBefore = performance.now() + (retryAfterMs ?? (share === undefined ? unknownMs : 0));
        },
        (error: unknown) => {
          bucket.failures += 1;
          bucket.notBefore = performance.now() + retryDelayMs(bucket.failures, backoff);
          onFault(error);
          if (isFinal(error)) settle(bucket, ({ refuse }) => refuse(error));
        },
      )
      .then(() => {
        bucket.asking = undefined;
        serve(bucket);
      });
  }

  function settle(bucket: Bucket, each: (waiter: Waiter) => void): void {
    const all = [...bucket.waiting];
    bucket.waiting.clear();
    all.forEach(each);
  }

  return {
    async acquire(origin, sink, signal) {
      signal?.throwIfAborted();
      if (isClosed) throw new Error('The sender is closed.');
      const bucket = bucketOf(origin, sink);
      // No caller overtakes those that wait.
      const outcome = bucket.waiting.size === 0 ? tryTake(bucket) : undefined;
      if (outcome !== undefined) {
        proceed(bucket);
        return outcome;
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          bucket.waiting.delete(waiter);
          reject(signal?.reason as Error);
        };
        const settled = <T>(settle: (value: T) => void) => {
          return (value: T) => {
            stopListening();
            settle(value);
          };
        };
        const waiter: Waiter = { give: settled(resolve), refuse: settled(reject) };
        // Hundreds of callers may share one signal; that is not a leak.
        if (signal !== undefined) setMaxListeners(0, signal);
        let stopListening = () => {};
        stopListening = whenAborted([signal], leave);
        bucket.waiting.add(waiter);
        serve(bucket);
      });
    },

    recheck(origin, sink) {
      if (origin !== undefined && sink !== undefined) {
        const bucket = buckets.get(`${origin} ${sink}`);
        if (bucket !== undefined) serve(bucket);
        return;
      }
      for (const bucket of [...buckets.values()]) if (origin === undefined || origin === bucket.origin) serve(bucket);
    },

    async close() {
      isClosed = true;
      const closed = new Error('The sender is closed.');
      const all = [...buckets.values()];
      for (const bucket of all) {
        clearTimeout(bucket.timer);
        settle(bucket, ({ refuse }) => refuse(closed));
      }
      await Promise.all(all.map(async ({ asking }) => asking));
      const left = all.flatMap(({ shares, returns }) => [
        ...shares.filter((share) => share.left > 0).map((share) => [share.lease, share.left] as const),
        ...returns,
      ]);
      await Promise.all(left.map(([lease, unused]) => leases.handBack(lease, unused).catch(onFault)));
    },
  };
}
