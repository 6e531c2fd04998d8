import { Bucket, maxReturns } from '../../consent/bucket.js';
import { leaseMs } from '../../consent/lease.js';
import type { Rate } from '../../consent/rate.js';
import type { LeaseAnswer, Leases } from '../deliveries/lease.js';

export interface RatedPair {
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
  onLease: (pair: RatedPair, answer: LeaseAnswer) => void;
  onFault: (error: unknown) => void;
}

/** What is held for a pair. Times are monotonic. */
interface Held {
  pair: RatedPair;
  bucket: Bucket;
  waiting: number;
  asking: Promise<LeaseAnswer> | undefined;
  takenAt: number;
  timer: NodeJS.Timeout | undefined;
}

const shortestPauseMs = 50;
const taken: Taken = { kind: 'taken' };

/**
 * What this process has leased of the rates of pairs for its gateways, and hands out one request at a time. A gateway
 * leases nothing itself: it asks for each delivery. So this process is one instance among those that share a rate, and
 * the leases keep their promise, however many processes and senders there are.
 *
 *   shared   a lease is in memory, and a request takes a part of it without waiting
 *   asking   one request for a lease is pending, and every other request waits for it
 *   empty    nothing is available until `notBefore`, and no request asks
 *
 * What is left when a share ends is returned.
 */
export class Shares {
  readonly #settings: SharesSettings;
  readonly #held = new Map<string, Held>();
  readonly #returning = new Set<Promise<unknown>>();

  constructor(settings: SharesSettings) {
    this.#settings = settings;
  }

  /** Returns no promise if memory has the answer. Rejects if the database has no answer. */
  take(pair: RatedPair): Taken | Promise<Taken> {
    const held = this.#heldOf(pair);
    return this.#fromMemory(held) ?? this.#fromDatabase(held);
  }

  /** Hands back what is left. */
  async close(): Promise<void> {
    const all = [...this.#held.values()];
    await Promise.allSettled(all.map(async ({ asking }) => asking));
    for (const held of all) {
      clearTimeout(held.timer);
      this.#handBack(held, Infinity);
    }
    await Promise.all(this.#returning);
  }

  #heldOf(pair: RatedPair): Held {
    const key = keyOf(pair);
    const known = this.#held.get(key);
    if (known !== undefined) return Object.assign(known, { pair });
    const held: Held = { pair, bucket: new Bucket(), waiting: 0, asking: undefined, takenAt: 0, timer: undefined };
    this.#held.set(key, held);
    return held;
  }

  /** Undefined if only the database knows. */
  #fromMemory(held: Held): Taken | undefined {
    const now = performance.now();
    const { bucket, asking } = held;
    if (bucket.take(now) !== undefined) {
      held.takenAt = now;
      return taken;
    }
    if (asking !== undefined || now >= bucket.notBefore) return undefined;
    return { kind: 'empty', retryAfterSeconds: (bucket.notBefore - now) / 1_000 };
  }

  async #fromDatabase(held: Held): Promise<Taken> {
    held.waiting += 1;
    try {
      for (;;) {
        const answer = await (held.asking ??= this.#ask(held));
        if (answer.kind !== 'counted') return answer;
        const found = this.#fromMemory(held);
        if (found !== undefined) return found;
      }
    } finally {
      held.waiting -= 1;
    }
  }

  async #ask(held: Held): Promise<LeaseAnswer> {
    clearTimeout(held.timer);
    const { leases, instance, onLease } = this.#settings;
    const { pair, bucket } = held;
    const askedAt = performance.now();
    const { tenant, origin, sink, rate } = pair;
    const requests = bucket.wanted(held.waiting, rate, askedAt);
    const returns = bucket.takeReturns(askedAt, maxReturns);
    try {
      const answer = await leases.take({ tenant, origin, sink, instance, requests, returns });
      onLease(pair, answer);
      if (answer.kind === 'counted') {
        if (answer.lease !== undefined) bucket.fill(answer.lease.id, answer.requests, askedAt + leaseMs);
        const pauseMs = answer.retryAfterSeconds * 1_000;
        bucket.notBefore = performance.now() + (answer.requests > 0 ? pauseMs : Math.max(pauseMs, shortestPauseMs));
      }
      return answer;
    } finally {
      held.asking = undefined;
      this.#schedule(held);
    }
  }

  /** Tidies up when a share ends, or when it may ask again. */
  #schedule(held: Held): void {
    clearTimeout(held.timer);
    const now = performance.now();
    const until = held.bucket.nextEnd(now) ?? Math.max(held.bucket.notBefore, held.takenAt + leaseMs);
    held.timer = setTimeout(() => this.#tidy(held), Math.max(until - now, 1)).unref();
  }

  #tidy(held: Held): void {
    if (held.asking !== undefined) return;
    const now = performance.now();
    this.#handBack(held, now);
    const isUsed =
      held.bucket.nextEnd(now) !== undefined || now < Math.max(held.bucket.notBefore, held.takenAt + leaseMs);
    if (isUsed) this.#schedule(held);
    else this.#held.delete(keyOf(held.pair));
  }

  /** The unused part of what has ended by then. */
  #handBack({ pair, bucket }: Held, now: number): void {
    for (const { lease, unused } of bucket.takeReturns(now)) {
      const returned = this.#settings.leases.handBack(pair.tenant, lease, unused).catch(this.#settings.onFault);
      this.#returning.add(returned);
      void returned.finally(() => this.#returning.delete(returned));
    }
  }
}

const keyOf = ({ tenant, origin, sink }: RatedPair) => `${origin} ${sink} ${tenant}`;
