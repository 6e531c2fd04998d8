import { leaseMs } from './lease.js';

/** The registry accepts returns of the latest leases of an instance only. */
export const maxReturns = 4;

/** What is left of a lease until it ends. */
export interface Share {
  lease: string;
  left: number;
  endsAt: number;
}

/** A request takes time to reach the webhook, and must arrive before its lease ends. */
const wayMs = 250;

/**
 * What one process holds of the rate of a pair: leases fill it, and each request takes one out. Who uses it keeps the
 * queue, the timers and the clock: times are monotonic milliseconds.
 */
export class Bucket {
  /** When to ask for a lease again, at the earliest. */
  notBefore = 0;
  #shares: Share[] = [];
  /** The unused part of shares that ended, by lease. */
  readonly #returns = new Map<string, number>();
  /** A decaying count of requests, over about the duration of a lease. */
  #recent = 0;
  #recentAt = 0;

  /** `until` counts from before the request for the lease, so that the share ends here before it ends at the registry. */
  fill(lease: string, requests: number, until: number): void {
    this.#shares.push({ lease, left: requests, endsAt: until - wayMs });
  }

  /** One request; undefined if nothing is left. */
  take(now: number): Share | undefined {
    this.#end(now);
    const share = this.#shares.find(({ left }) => left > 0);
    if (share === undefined) return undefined;
    share.left -= 1;
    this.#recent = this.recent(now) + 1;
    this.#recentAt = now;
    return share;
  }

  /** A request that was not sent. Its share may have ended. */
  giveBack(share: Share): void {
    if (this.#shares.includes(share)) share.left += 1;
    else this.#returns.set(share.lease, (this.#returns.get(share.lease) ?? 0) + 1);
  }

  /** How many requests may be sent now. */
  available(now: number): number {
    this.#end(now);
    return this.#shares.reduce((sum, { left }) => sum + left, 0);
  }

  /** How many were taken lately. */
  recent(now: number): number {
    return this.#recent * Math.exp((this.#recentAt - now) / leaseMs);
  }

  /**
   * How many requests to ask for; 0 if nobody waits and what is left lasts for about a second at the recent pace. `rate`
   * is undefined if it is not known.
   */
  wanted(waiting: number, rate: number | undefined, now: number): number {
    const left = this.available(now);
    const recent = Math.floor(this.recent(now));
    if (waiting === 0 && left >= recent / 2) return 0;
    const max = rate === undefined ? 1 : Math.ceil((rate * leaseMs) / 60_000);
    return Math.max(0, Math.min(waiting + recent - left, max));
  }

  /** The shares that ended with something left, to hand back: the latest `max`. Each is returned once. */
  takeReturns(now: number, max = Infinity): Array<{ lease: string; unused: number }> {
    this.#end(now);
    const returns = [...this.#returns].map(([lease, unused]) => ({ lease, unused }));
    this.#returns.clear();
    return returns.slice(-max);
  }

  /** When a share ends next; undefined if there is none. */
  nextEnd(now: number): number | undefined {
    this.#end(now);
    return this.#shares.length === 0 ? undefined : Math.min(...this.#shares.map(({ endsAt }) => endsAt));
  }

  #end(now: number): void {
    if (this.#shares.every(({ endsAt }) => endsAt > now)) return;
    this.#shares = this.#shares.filter((share) => {
      if (share.endsAt > now) return true;
      if (share.left > 0) this.#returns.set(share.lease, share.left);
      return false;
    });
  }
}
