import type { LeaseAnswer, Leases } from '../deliveries/lease.js';
import { leaseMs } from '../../consent/lease.js';
import type { Rate } from '../../consent/rate.js';

/**
 * What this process has leased of the rates of pairs for its gateways, and hands out one request at a time. A gateway
 * leases nothing itself: it asks for each delivery. So this process is one instance among those that share a rate, and
 * the leases keep their promise, however many processes and senders there are.
 *
 *   shared   a lease is in memory, and a request takes a part of it without waiting
 *   asking   one request for a lease is pending, and every other request waits for it
 *   empty    nothing is available until `notBefore`, and no request asks
 *
 * A share is counted from before the request for it, by the monotonic clock, and ends early enough for a delivery to
 * reach the webhook while its lease lasts. What is left then is returned.
 */
export interface Shares {
  /** Returns no promise if memory has the answer. Rejects if the database has no answer. */
  take(pair: Pair): Taken | Promise<Taken>;
  /** Hands back what is left. */
  close(): Promise<void>;
}

export interface Pair {
  tenant: string;
  /** In lower case. */
  origin: string;
  sink: string;
  rate: Exclude<Rate, '*'>;
}

export type Taken =
  | { kind: 'taken' }
  /** Seconds, with fractions. */
  | { kind: 'empty'; retryAfterSeconds: number }
  | Exclude<LeaseAnswer, { kind: 'counted' }>;

export interface SharesSettings {
  leases: Pick<Leases, 'take' | 'handBack'>;
  /** Identifies this process among the instances that share a rate. */
  instance: string;
  onLease: (pair: Pair, answer: LeaseAnswer) => void;
  onFault: (error: unknown) => void;
}

interface Bucket {
  pair: Pair;
  lease: string;
  left: number;
  /** By the monotonic clock, as all times here. */
  endsAt: number;
  notBefore: number;
  waiting: number;
  asking: Promise<LeaseAnswer> | undefined;
  /** A decaying count of requests, over about the time that a lease lasts. */
  recent: number;
  recentAt: number;
  timer: NodeJS.Timeout | undefined;
}

/** A delivery takes time to leave the gateway, and must do so before its lease ends. */
const wayMs = 250;
const shortestPauseMs = 50;
const taken: Taken = { kind: 'taken' };

export function createShares({ leases, instance, onLease, onFault }: SharesSettings): Shares {
  const buckets = new Map<string, Bucket>();
  const returning = new Set<Promise<unknown>>();

  function bucketOf(pair: Pair): Bucket {
    const key = keyOf(pair);
    const known = buckets.get(key);
    if (known !== undefined) return Object.assign(known, { pair });
    const bucket: Bucket = {
      pair,
      lease: '',
      left: 0,
      endsAt: 0,
      notBefore: 0,
      waiting: 0,
      asking: undefined,
      recent: 0,
      recentAt: 0,
      timer: undefined,
    };
    buckets.set(key, bucket);
    return bucket;
  }

  /** Undefined if only the database knows. */
  function fromMemory(bucket: Bucket): Taken | undefined {
    const now = performance.now();
    if (bucket.left > 0 && now < bucket.endsAt) {
      bucket.left -= 1;
      return taken;
    }
    if (bucket.asking !== undefined || now >= bucket.notBefore) return undefined;
    return { kind: 'empty', retryAfterSeconds: (bucket.notBefore - now) / 1_000 };
  }

  async function fromDatabase(bucket: Bucket): Promise<Taken> {
    for (;;) {
      bucket.waiting += 1;
      const answer = await (bucket.asking ??= ask(bucket)).finally(() => (bucket.waiting -= 1));
      if (answer.kind !== 'counted') return answer;
      const found = fromMemory(bucket);
      if (found !== undefined) return found;
    }
  }

  async function ask(bucket: Bucket): Promise<LeaseAnswer> {
    clearTimeout(bucket.timer);
    const askedAt = performance.now();
    const { tenant, origin, sink, rate } = bucket.pair;
    const returns = bucket.left > 0 ? [{ lease: bucket.lease, unused: bucket.left }] : [];
    bucket.left = 0;
    const maxRequests = Math.ceil((rate * leaseMs) / 60_000);
    const requests = Math.min(Math.max(bucket.waiting, Math.ceil(bucket.recent)), maxRequests);
    try {
      const answer = await leases.take({ tenant, origin, sink, instance, requests, returns });
      onLease(bucket.pair, answer);
      if (answer.kind === 'counted') {
        if (answer.lease !== undefined) {
          Object.assign(bucket, { lease: answer.lease.id, left: answer.requests });
          bucket.endsAt = askedAt + leaseMs - wayMs;
        }
        const pauseMs = answer.retryAfterSeconds * 1_000;
        bucket.notBefore = performance.now() + (answer.requests > 0 ? pauseMs : Math.max(pauseMs, shortestPauseMs));
      }
      return answer;
    } finally {
      bucket.asking = undefined;
      schedule(bucket);
    }
  }

  /** Tidies the bucket when its share ends, or when it may ask again. */
  function schedule(bucket: Bucket): void {
    clearTimeout(bucket.timer);
    const until = bucket.left > 0 ? bucket.endsAt : Math.max(bucket.notBefore, bucket.recentAt + leaseMs);
    bucket.timer = setTimeout(() => tidy(bucket), Math.max(until - performance.now(), 1)).unref();
  }

  function tidy(bucket: Bucket): void {
    if (bucket.asking !== undefined) return;
    const now = performance.now();
    if (bucket.left > 0 && now >= bucket.endsAt) handBack(bucket);
    if (bucket.left > 0 || now < bucket.notBefore || now < bucket.recentAt + leaseMs) schedule(bucket);
    else buckets.delete(keyOf(bucket.pair));
  }

  function handBack(bucket: Bucket): void {
    const { pair, lease, left } = bucket;
    bucket.left = 0;
    const returned = leases.handBack(pair.tenant, lease, left).catch(onFault);
    returning.add(returned);
    void returned.finally(() => returning.delete(returned));
  }

  return {
    take(pair) {
      const bucket = bucketOf(pair);
      const now = performance.now();
      bucket.recent = bucket.recent * Math.exp((bucket.recentAt - now) / leaseMs) + 1;
      bucket.recentAt = now;
      return fromMemory(bucket) ?? fromDatabase(bucket);
    },

    async close() {
      const all = [...buckets.values()];
      await Promise.allSettled(all.map(async ({ asking }) => asking));
      for (const { timer } of all) clearTimeout(timer);
      all.filter(({ left }) => left > 0).forEach(handBack);
      await Promise.all(returning);
    },
  };
}

const keyOf = ({ tenant, origin, sink }: Pair) => `${origin} ${sink} ${tenant}`;
