import { setMaxListeners } from 'node:events';
import type { LeaseClient, Share } from './leases.js';
import { atHand, createPair, leasedMs, recentOf, type Pair, type Waiter } from './pair.js';
import type { Denied, Permission, Permit } from './permit.js';
import { isFinal } from './registry-client.js';

/**
 * Hands out, one request after the other, what this instance has leased of a pair's rate: first come, first served.
 *
 *   idle      nobody waits, and what was leased is enough for about a second at the pace of the last ones
 *   asking    one request for a lease is on its way
 *   resting   the registry, or a failure, has told when to ask again
 *
 * A share counts from before it was asked for, and by a clock that only goes forward, so that it ends here before it
 * ends there. Without the registry there are no new shares: who sends stops when the last one is used up.
 */
export interface Permits {
  /** Rejects with the reason of the signal, when the kit is closed, and when the registry refuses us for good. */
  acquire(origin: string, sink: string, signal: AbortSignal | undefined): Promise<Permit | Denied>;
  /** Something else may hold for this pair now; for all of an origin, or for all, if no more is told. */
  recheck(origin?: string, sink?: string): void;
  /** Hands back what was not used. */
  close(): Promise<void>;
}

export interface PermitSettings {
  /** What holds now. */
  permission: (origin: string, sink: string) => Permission;
  leases: LeaseClient;
  onFault: (error: unknown) => void;
  random: () => number;
}

const firstDelayMs = 100;
/** Half as much again at the most, so that who waits goes on within five seconds. */
const longestDelayMs = 3_000;
const unknownMs = 1_000;
const longestLookMs = 1_000;

export function createPermits({ permission, leases, onFault, random }: PermitSettings): Permits {
  const pairs = new Map<string, Pair>();
  let isClosed = false;

  function pairOf(origin: string, sink: string): Pair {
    const key = `${origin} ${sink}`;
    let pair = pairs.get(key);
    if (pair === undefined) pairs.set(key, (pair = createPair(origin, sink)));
    return pair;
  }

  /** Undefined if a share is needed and there is none. */
  function tryTake(pair: Pair): Permit | Denied | undefined {
    const held = permission(pair.origin, pair.sink);
    if (!held.allowed) return { ...held, allowed: false };
    if (held.allowedrate === '*') return { ...held, allowed: true, giveBack: () => undefined };
    const now = performance.now();
    if (atHand(pair, now) === 0) return undefined;
    const share = pair.shares.find(({ left }) => left > 0) as Share;
    share.left -= 1;
    recentOf(pair, now);
    pair.recent += 1;
    let isOpen = true;
    const giveBack = () => {
      if (!isOpen) return;
      isOpen = false;
      // The pair may have ended with its last share, and begun anew since.
      const present = pairOf(pair.origin, pair.sink);
      if (present.shares.includes(share)) share.left += 1;
      else present.returns.set(share.lease, (present.returns.get(share.lease) ?? 0) + 1);
      serve(present);
    };
    return { ...held, allowed: true, giveBack };
  }

  function serve(pair: Pair): void {
    for (const waiter of pair.waiting) {
      const outcome = tryTake(pair);
      if (outcome === undefined) break;
      pair.waiting.delete(waiter);
      waiter.give(outcome);
    }
    proceed(pair);
  }

  /** Asks for more if more is needed, and else sees to what is left over. */
  function proceed(pair: Pair): void {
    if (isClosed || pair.asking !== undefined) return;
    clearTimeout(pair.timer);
    const now = performance.now();
    const left = atHand(pair, now);
    const recent = Math.floor(recentOf(pair, now));
    const { allowed, allowedrate } = permission(pair.origin, pair.sink);
    // When to ask again was told of the rate that held then.
    if (allowedrate !== pair.rate) pair.notBefore = 0;
    pair.rate = allowedrate;
    const wanted = allowed ? pair.waiting.size + recent - left : 0;
    if (wanted > 0 && (pair.waiting.size > 0 || left < recent / 2)) {
      if (now >= pair.notBefore) ask(pair, wanted);
      else wake(pair, pair.notBefore - now);
      return;
    }
    const nextEnd = Math.min(...pair.shares.map(({ endsAt }) => endsAt));
    if (pair.shares.length > 0) return wake(pair, nextEnd - now);
    for (const [lease, unused] of pair.returns) void leases.handBack(lease, unused).catch(onFault);
    pair.returns.clear();
    if (now < pair.notBefore) wake(pair, pair.notBefore - now);
    else if (pair.waiting.size === 0) pairs.delete(`${pair.origin} ${pair.sink}`);
  }

  function wake(pair: Pair, milliseconds: number): void {
    const isWaitedFor = pair.waiting.size > 0;
    // That a consent has run out is told by no feed.
    const delayMs = Math.min(milliseconds, isWaitedFor ? longestLookMs : Infinity);
    pair.timer = setTimeout(() => serve(pair), Math.ceil(delayMs));
    // Only who waits may keep a process from its end.
    if (!isWaitedFor) pair.timer.unref();
  }

  function ask(pair: Pair, wanted: number): void {
    const most = typeof pair.rate === 'number' ? Math.ceil((pair.rate * leasedMs) / 60_000) : 1;
    // Of older ones the registry takes nothing back, and what may have come back is not handed back again.
    const returns = [...pair.returns].slice(-4).map(([lease, unused]) => ({ lease, unused }));
    pair.returns.clear();
    pair.asking = leases
      .take({ origin: pair.origin, sink: pair.sink, requests: Math.min(wanted, most), returns })
      .then(
        (taken) => {
          pair.failures = 0;
          if ('denied' in taken) {
            // The feed will tell the same in a moment.
            pair.notBefore = performance.now() + unknownMs;
            const { origin, sink } = pair;
            settle(pair, ({ give }) => give({ origin, sink, allowed: false, ...taken.denied }));
            return;
          }
          const { share, retryAfterMs } = taken;
          if (share !== undefined) pair.shares.push(share);
          // Without a share and without a time there is something that the feed has yet to tell.
          pair.notBefore = performance.now() + (retryAfterMs ?? (share === undefined ? unknownMs : 0));
        },
        (error: unknown) => {
          const delayMs = Math.min(firstDelayMs * 2 ** pair.failures, longestDelayMs) * (0.5 + random());
          pair.failures += 1;
          pair.notBefore = performance.now() + delayMs;
          onFault(error);
          if (isFinal(error)) settle(pair, ({ refuse }) => refuse(error));
        },
      )
      .then(() => {
        pair.asking = undefined;
        serve(pair);
      });
  }

  function settle(pair: Pair, each: (waiter: Waiter) => void): void {
    const all = [...pair.waiting];
    pair.waiting.clear();
    all.forEach(each);
  }

  return {
    async acquire(origin, sink, signal) {
      signal?.throwIfAborted();
      if (isClosed) throw new Error('The sender is closed.');
      const pair = pairOf(origin, sink);
      // Nobody passes those who wait.
      const outcome = pair.waiting.size === 0 ? tryTake(pair) : undefined;
      if (outcome !== undefined) {
        proceed(pair);
        return outcome;
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          pair.waiting.delete(waiter);
          reject(signal?.reason as Error);
        };
        const settled = <T>(settle: (value: T) => void) => {
          return (value: T) => {
            signal?.removeEventListener('abort', leave);
            settle(value);
          };
        };
        const waiter: Waiter = { give: settled(resolve), refuse: settled(reject) };
        // Hundreds may wait on one signal, and that is no leak.
        if (signal !== undefined) setMaxListeners(0, signal);
        signal?.addEventListener('abort', leave, { once: true });
        pair.waiting.add(waiter);
        serve(pair);
      });
    },

    recheck(origin, sink) {
      if (origin !== undefined && sink !== undefined) {
        const pair = pairs.get(`${origin} ${sink}`);
        if (pair !== undefined) serve(pair);
        return;
      }
      for (const pair of [...pairs.values()]) if (origin === undefined || origin === pair.origin) serve(pair);
    },

    async close() {
      isClosed = true;
      const closed = new Error('The sender is closed.');
      const all = [...pairs.values()];
      for (const pair of all) {
        clearTimeout(pair.timer);
        settle(pair, ({ refuse }) => refuse(closed));
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
