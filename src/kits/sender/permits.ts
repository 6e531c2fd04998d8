import { setMaxListeners } from 'node:events';
import { whenAborted } from '../../base/until.js';
import { retryDelayMs } from '../../consent/backoff.js';
import { rateUsedUp } from '../../consent/decision.js';
import { Bucket, maxReturns } from '../../consent/bucket.js';
import { isFinal } from '../client/registry-client.js';
import type { Denied, LeaseClient, LeaseResult, Permission, Permit, RateUsedUp } from './leases.js';

export interface PermitSettings {
  /** The current permission. */
  permission: (origin: string, sink: string) => Permission;
  leases: LeaseClient;
  onFault: (error: unknown) => void;
}

/** A caller that waits for a permit, or only for the pending request for a lease. */
interface Waiter {
  give: (outcome: Outcome) => void;
  refuse: (error: unknown) => void;
  isPatient: boolean;
}

type Outcome = Permit | Denied | RateUsedUp;

/** The callers of a pair. Times are monotonic. */
interface Queue {
  origin: string;
  sink: string;
  bucket: Bucket;
  /** First come, first served. */
  waiting: Set<Waiter>;
  /** Settles with the one pending request for a lease. */
  asking: Promise<void> | undefined;
  /** The rate when last checked; undefined while nothing may be sent. */
  rate: Permit['allowedrate'];
  /** Requests for a lease that failed in a row, and the last error. */
  failures: number;
  error: unknown;
  timer: NodeJS.Timeout | undefined;
}

/** With jitter at most half as much again, so that callers continue within five seconds. */
const backoff = { firstMs: 100, maxMs: 3_000 };
const unknownMs = 1_000;
const longestLookMs = 1_000;

/**
 * Hands out permits from what this instance has leased of a pair's rate: first come, first served.
 *
 *   idle      no caller waits, and the shares last for about a second at the recent pace
 *   asking    one request for a lease is pending
 *   waiting   the registry, or a failure, set the time of the next request
 *
 * Without the registry there are no new shares: sending stops when the last one is used up.
 */
export class Permits {
  readonly #settings: PermitSettings;
  readonly #queues = new Map<string, Queue>();
  #isClosed = false;

  constructor(settings: PermitSettings) {
    this.#settings = settings;
  }

  /** Rejects with the signal's reason, when the kit is closed, and when the registry refuses us permanently. */
  acquire(origin: string, sink: string, signal: AbortSignal | undefined): Promise<Permit | Denied> {
    return this.#take(origin, sink, signal, true);
  }

  /** Waits only for one request for a lease. Rejects as `acquire`, and with its error if that request fails. */
  tryAcquire(origin: string, sink: string, signal: AbortSignal | undefined): Promise<Outcome> {
    return this.#take(origin, sink, signal, false);
  }

  async #take(origin: string, sink: string, signal: AbortSignal | undefined, isPatient: boolean): Promise<Outcome> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new Error('The sender is closed.');
    const held = this.#settings.permission(origin, sink);
    if (!this.#queues.has(keyOf(origin, sink)) && needsNoShare(held)) return withoutShare(held);
    const queue = this.#queueOf(origin, sink);
    // No caller overtakes those that wait.
    const outcome = queue.waiting.size === 0 ? this.#tryTake(queue, held) : undefined;
    if (outcome !== undefined) {
      this.#proceed(queue, held);
      return outcome;
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.waiting.delete(waiter);
        reject(signal?.reason as Error);
      };
      const settled = <T>(settle: (value: T) => void) => {
        return (value: T) => {
          stopListening();
          settle(value);
        };
      };
      const waiter: Waiter = { give: settled(resolve), refuse: settled(reject), isPatient };
      // Hundreds of callers may share one signal; that is not a leak.
      if (signal !== undefined) setMaxListeners(0, signal);
      let stopListening = () => {};
      stopListening = whenAborted([signal], leave);
      queue.waiting.add(waiter);
      this.#serve(queue);
    });
  }

  /** The permission of this pair may have changed; of an origin, or of all pairs, if no more is given. */
  recheck(origin?: string, sink?: string): void {
    for (const queue of [...this.#queues.values()]) {
      const isMeant = (origin ?? queue.origin) === queue.origin && (sink ?? queue.sink) === queue.sink;
      if (isMeant) this.#serve(queue);
    }
  }

  /** Returns the unused leases. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = new Error('The sender is closed.');
    const all = [...this.#queues.values()];
    for (const queue of all) {
      clearTimeout(queue.timer);
      settle(queue, ({ refuse }) => refuse(closed));
    }
    await Promise.all(all.map(async ({ asking }) => asking));
    await Promise.all(all.map((queue) => this.#handBack(queue, Infinity)));
  }

  #queueOf(origin: string, sink: string): Queue {
    const key = keyOf(origin, sink);
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      const idle = { asking: undefined, rate: undefined, failures: 0, error: undefined, timer: undefined };
      queue = { origin, sink, bucket: new Bucket(), waiting: new Set(), ...idle };
      this.#queues.set(key, queue);
    }
    return queue;
  }

  /** Undefined if a share is needed and there is none. */
  #tryTake({ origin, sink, bucket }: Queue, held: Permission): Permit | Denied | undefined {
    if (needsNoShare(held)) return withoutShare(held);
    const share = bucket.take(performance.now());
    if (share === undefined) return undefined;
    let isOpen = true;
    const giveBack = () => {
      if (!isOpen) return;
      isOpen = false;
      // The queue may have been removed with its last share and created again.
      const present = this.#queueOf(origin, sink);
      present.bucket.giveBack(share);
      this.#serve(present);
    };
    return { ...held, allowed: true, giveBack };
  }

  #serve(queue: Queue): void {
    const held = this.#settings.permission(queue.origin, queue.sink);
    for (const waiter of queue.waiting) {
      const outcome = this.#tryTake(queue, held);
      if (outcome === undefined) break;
      queue.waiting.delete(waiter);
      waiter.give(outcome);
    }
    this.#proceed(queue, held);
  }

  /** Asks for more if more is needed; otherwise returns leftovers. */
  #proceed(queue: Queue, { allowed, allowedrate }: Permission): void {
    if (this.#isClosed || queue.asking !== undefined) return;
    clearTimeout(queue.timer);
    const now = performance.now();
    const { origin, sink, bucket, waiting } = queue;
    // The time of the next request belonged to the old rate.
    if (allowedrate !== queue.rate) bucket.notBefore = 0;
    queue.rate = allowedrate;
    const rate = typeof allowedrate === 'number' ? allowedrate : undefined;
    const wanted = allowed ? bucket.wanted(waiting.size, rate, now) : 0;
    if (wanted > 0 && now >= bucket.notBefore) {
      queue.asking = this.#ask(queue, wanted);
      return;
    }
    for (const waiter of waiting) if (!waiter.isPatient) this.#sendAway(queue, waiter, now);
    if (wanted > 0) {
      this.#wake(queue, bucket.notBefore - now);
      return;
    }
    const nextEnd = bucket.nextEnd(now);
    if (nextEnd !== undefined) return this.#wake(queue, nextEnd - now);
    void this.#handBack(queue, now);
    if (now < bucket.notBefore) this.#wake(queue, bucket.notBefore - now);
    else if (waiting.size === 0) this.#queues.delete(keyOf(origin, sink));
  }

  /** Nothing is left, and it is too early to ask for more. */
  #sendAway({ origin, sink, bucket, rate, waiting, failures, error }: Queue, waiter: Waiter, now: number): void {
    waiting.delete(waiter);
    if (failures > 0) return waiter.refuse(error);
    const retryAfterSeconds = (bucket.notBefore - now) / 1_000;
    const message = rateUsedUp(rate ?? '*');
    waiter.give({ origin, sink, allowed: false, denial: 'rate_used_up', message, retryAfterSeconds });
  }

  #wake(queue: Queue, milliseconds: number): void {
    const isWaitedFor = queue.waiting.size > 0;
    // The feed does not report that a grant expired.
    const delayMs = Math.min(milliseconds, isWaitedFor ? longestLookMs : Infinity);
    queue.timer = setTimeout(() => this.#serve(queue), Math.ceil(delayMs));
    // Only waiting callers keep the process alive.
    if (!isWaitedFor) queue.timer.unref();
  }

  /** Never rejects. A return that may have arrived is not repeated. */
  async #ask(queue: Queue, requests: number): Promise<void> {
    const { leases, onFault } = this.#settings;
    const { origin, sink, bucket } = queue;
    const askedAt = performance.now();
    const returns = bucket.takeReturns(askedAt, maxReturns);
    try {
      this.#receive(queue, await leases.take({ origin, sink, requests, returns }), askedAt);
      queue.failures = 0;
    } catch (error) {
      queue.failures += 1;
      queue.error = error;
      bucket.notBefore = performance.now() + retryDelayMs(queue.failures, backoff);
      onFault(error);
      if (isFinal(error)) settle(queue, ({ refuse }) => refuse(error));
    }
    queue.asking = undefined;
    this.#serve(queue);
  }

  #receive(queue: Queue, result: LeaseResult, askedAt: number): void {
    const { origin, sink, bucket } = queue;
    if ('denied' in result) {
      // The feed will report the same in a moment.
      bucket.notBefore = performance.now() + unknownMs;
      settle(queue, ({ give }) => give({ origin, sink, allowed: false, ...result.denied }));
      return;
    }
    const { lease, requests, seconds, retryAfterMs } = result;
    if (lease !== undefined) bucket.fill(lease, requests, askedAt + seconds * 1_000);
    // Neither a lease nor a time: the feed has not reported the cause yet.
    bucket.notBefore = performance.now() + (retryAfterMs ?? (lease === undefined ? unknownMs : 0));
  }

  /** The unused part of what has ended by then. */
  async #handBack({ bucket }: Queue, now: number): Promise<void> {
    const { leases, onFault } = this.#settings;
    await Promise.all(
      bucket.takeReturns(now).map(({ lease, unused }) => leases.handBack(lease, unused).catch(onFault)),
    );
  }
}

const keyOf = (origin: string, sink: string) => `${origin} ${sink}`;

const needsNoShare = ({ allowed, allowedrate }: Permission) => !allowed || allowedrate === '*';

function withoutShare(held: Permission): Permit | Denied {
  return held.allowed ? { ...held, allowed: true, giveBack: () => undefined } : { ...held, allowed: false };
}

function settle(queue: Queue, each: (waiter: Waiter) => void): void {
  const all = [...queue.waiting];
  queue.waiting.clear();
  all.forEach(each);
}
