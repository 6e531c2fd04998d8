import type { Rate } from './rate.js';

/**
 * A rate is granted to an origin as a whole. Its instances share it with leases: a number of requests to send within two
 * seconds. The leased requests are counted in slots of half a second, in one pool for each pair of origin and sink, and
 *
 *   the sum of 127 consecutive slots (63.5 s) never exceeds the rate.
 *
 * A request is sent at most 2 s after its lease and takes at most a second to arrive. So what a webhook receives in any
 * 60 s was leased within 63 s, which touch at most 127 slots. This is true even if instances die with a lease, or if all
 * send at the last moment: a share that is not returned counts until its slot has left the window. The price is that
 * only 60/63.5 of the rate can be used (94 %).
 *
 * Within that limit, a bucket evens out the flow: it fills at that pace and has room for four seconds (two at first), or for
 * the burst that the origin allows, up to the whole rate. A large burst is paid for: what was sent at once is missing until
 * its slot leaves the window.
 * Waiting instances take turns, each for its share of two seconds. A turn that is not taken within a second is free for
 * any instance.
 *
 * Times are milliseconds since 1970, by the clock of the database.
 */
export interface Pool {
  /** Requests per minute. */
  rate: number;
  /** The latest slot: half seconds since 1970. */
  slot: number;
  /** The leased requests of the 127 slots up to the latest, each at its number modulo 127. */
  slots: readonly number[];
  /** What the bucket held at `tokensAt`. */
  tokens: number;
  tokensAt: number;
  /** The last turn that a waiting instance has. */
  lastTurn: number;
  /** Four seconds, counted since 1970; the instances that asked in them, and in the four before. */
  epoch: number;
  active: number;
  activeBefore: number;
  /** The history of the database in which this was written. */
  history: string;
}

/** A sender's instance at a pair, with its latest four leases, which it may hand back. */
export interface Holder {
  /** The number of its latest lease. */
  number: number;
  /** The slot and the requests of each lease, at its number modulo 4. */
  leaseSlots: readonly number[];
  leaseCounts: readonly number[];
  /** When it may take its share; undefined if it does not wait. */
  turn: number | undefined;
  /** The epoch in which it asked last. */
  epoch: number;
}

export interface AskedLease {
  rate: Exclude<Rate, '*'>;
  /** What the origin allows at once, if that is more than four seconds of the rate. */
  burst: number | undefined;
  requests: number;
  /** Earlier leases of this holder by number, with the requests not sent of each. Unknown ones are ignored. */
  returns: ReadonlyArray<{ number: number; unused: number }>;
  /** Of the database: a failover changes it. */
  history: string;
  /** When the database's server last started with what was on its disk. */
  serverStartedAt: number;
}

export interface Leased {
  /** 0 if nothing is available now. */
  requests: number;
  /** No instance has asked for this pair in this minute before. */
  isFirst: boolean;
  /** Milliseconds until something is available. */
  retryAfterMs: number;
}

/** How long a lease lasts. */
export const leaseMs = 2_000;
const slotMs = 500;
const slotCount = 127;
const windowMs = slotCount * slotMs;
const epochMs = 4_000;
const burstMs = 4_000;
const minuteSlots = 60_000 / slotMs;
/** A turn that nobody takes for this long is free. */
const turnMs = 1_000;
/** A clock that is behind by less counts as one that stands still. */
const maxClockSlots = 4;
/** What a slot can hold. */
const maxCount = 2_000_000_000;
const leasesKept = 4;

export const newHolder: Holder = {
  number: 0,
  leaseSlots: [0, 0, 0, 0],
  leaseCounts: [0, 0, 0, 0],
  turn: undefined,
  epoch: -1,
};

/**
 * Has half of four seconds: otherwise a webhook under steady demand from the beginning would have a hole a minute later.
 * Who allows a burst accepts that.
 */
export function newPool(rate: Exclude<Rate, '*'>, burst: number | undefined, history: string, now: number): Pool {
  const tokens = Math.max(1, Math.ceil((rate * burstMs) / 2 / windowMs), Math.min(rate, burst ?? 0));
  const none = { slot: 0, slots: emptySlots(), epoch: 0, active: 0, activeBefore: 0 };
  return { rate, tokens, tokensAt: now, lastTurn: now, history, ...none };
}

/** A share of the rate for one holder. */
export function lease(
  before: Pool,
  known: Holder,
  asked: AskedLease,
  now: number,
): { pool: Pool; holder: Holder; leased: Leased } {
  const rate = Math.min(asked.rate, maxCount);
  const requestsIn = (ms: number) => (rate * ms) / windowMs;
  const msOf = (requests: number) => (requests * windowMs) / rate;
  const burst = Math.max(1, Math.ceil(requestsIn(burstMs)), Math.min(rate, asked.burst ?? 0));

  const pool = atTime(before, now);
  const isFirst = Math.floor(pool.slot / minuteSlots) > Math.floor(before.slot / minuteSlots);
  const isLost =
    asked.history !== pool.history || asked.serverStartedAt > Math.max(pool.tokensAt, now - windowMs - slotMs);
  if (isLost) {
    // A crash loses less than a second of leases, which it counts as if all that was possible had been leased.
    add(pool, pool.slot, Math.min(rate, burst + Math.ceil(requestsIn(1_000))));
    Object.assign(pool, { tokens: 0, tokensAt: now, history: asked.history });
  }

  const holder = { ...known, leaseSlots: [...known.leaseSlots], leaseCounts: [...known.leaseCounts] };
  let returned = 0;
  for (const { number, unused } of asked.returns) returned += takeBack(pool, holder, number, unused, pool.slot);
  // Turns that were given at another pace do not hold any more.
  if (pool.rate !== rate) Object.assign(pool, { rate, lastTurn: now });
  pool.lastTurn -= msOf(returned);
  const fullAt = pool.tokensAt + msOf(Math.max(0, burst - pool.tokens));
  const filled = Math.min(burst, pool.tokens + requestsIn(Math.max(0, now - pool.tokensAt)));
  const tokens = Math.min(burst, filled + returned);
  const room = rate - sumOf(pool.slots);

  const sharers = countSharers(pool, holder, now);
  // Where nobody was a while ago, others may be about to come.
  const divisor = pool.activeBefore === 0 ? Math.max(8, sharers) : sharers;
  const share = Math.min(asked.requests, Math.max(1, Math.ceil(requestsIn(leaseMs) / divisor)));

  if (fullAt < now - turnMs) pool.lastTurn = Math.min(pool.lastTurn, now);
  const isItsTurn = holder.turn !== undefined && holder.turn <= now;
  let requests = 0;
  if (pool.lastTurn <= now || isItsTurn || returned > 0) {
    const wanted = Math.min(asked.requests, Math.max(share, Math.ceil(tokens / sharers)));
    requests = Math.max(0, Math.min(wanted, Math.floor(tokens + 1e-6), room));
  }
  if (requests > 0 || returned > 0) Object.assign(pool, { tokens: tokens - requests, tokensAt: now });
  if (requests > 0) {
    holder.number += 1;
    holder.leaseSlots[holder.number % leasesKept] = pool.slot;
    holder.leaseCounts[holder.number % leasesKept] = requests;
    add(pool, pool.slot, requests);
  }

  const tokensLeft = tokens - requests;
  const roomLeft = room - requests;
  const hasNext = tokensLeft >= share && roomLeft >= share;
  const waitMs = Math.max(0, msOf(share - tokensLeft), roomLeft < 1 ? roomAt(pool, roomLeft) - now : 0);
  let retryAfterMs: number;
  if (requests === 0 && holder.turn !== undefined && holder.turn > now) {
    // It keeps its turn.
    retryAfterMs = Math.min(holder.turn - now, Math.max(waitMs, 60_000));
  } else if (requests === asked.requests || (requests > 0 && hasNext)) {
    holder.turn = undefined;
    retryAfterMs = hasNext ? 0 : Math.max(waitMs, pool.lastTurn - now);
  } else if (requests === 0 && isItsTurn && (room >= 1 || msOf(share) > slotMs)) {
    // Its turn came too early. Where many have turns within one slot that is full, they line up anew instead.
    holder.turn = now + waitMs;
    retryAfterMs = waitMs;
  } else {
    holder.turn = Math.max(pool.lastTurn + msOf(share), now + waitMs);
    pool.lastTurn = holder.turn;
    retryAfterMs = Math.min(holder.turn - now, Math.max(waitMs, 60_000));
  }
  return { pool, holder, leased: { requests, isFirst, retryAfterMs: Math.ceil(retryAfterMs) } };
}

/** Ends a lease. `returned` is 0 if it had ended or it is too late; undefined if there is no such lease. */
export function handBack(
  before: Pool,
  { leaseSlots, leaseCounts, ...rest }: Holder,
  number: number,
  unused: number,
  now: number,
): { pool: Pool; holder: Holder; returned: number | undefined } {
  const pool = { ...before, slots: [...before.slots] };
  const holder = { ...rest, leaseSlots, leaseCounts: [...leaseCounts] };
  if (number < 1 || number > holder.number) return { pool, holder, returned: undefined };
  const returned = takeBack(pool, holder, number, unused, Math.max(pool.slot, slotOf(now)));
  pool.tokens += returned;
  pool.lastTurn -= (returned * windowMs) / pool.rate;
  return { pool, holder, returned };
}

type Mutable = Pool & { slots: number[] };

const emptySlots = () => new Array<number>(slotCount).fill(0);
const slotOf = (at: number) => Math.floor(at / slotMs);
const sumOf = (slots: readonly number[]) => slots.reduce((sum, count) => sum + count, 0);

function add(pool: Mutable, slot: number, requests: number): void {
  const place = slot % slotCount;
  pool.slots[place] = Math.min(maxCount, (pool.slots[place] as number) + requests);
}

/** With the slots of the window that ends now. */
function atTime(pool: Pool, now: number): Mutable {
  const present = slotOf(now);
  const slot = Math.max(present, pool.slot);
  if (present < pool.slot - maxClockSlots) {
    // The clock was set back. What is in the window stays there, as if it were leased now.
    const moved: Mutable = { ...pool, slot: present, slots: emptySlots(), tokensAt: now, lastTurn: now };
    add(moved, present, sumOf(pool.slots));
    return moved;
  }
  if (slot >= pool.slot + slotCount) return { ...pool, slot, slots: emptySlots() };
  const slots = [...pool.slots];
  for (let passed = pool.slot + 1; passed <= slot; passed += 1) slots[passed % slotCount] = 0;
  return { ...pool, slot, slots };
}

/** Frees what was not sent of a lease that is still in the window, once. Returns how much that is. */
function takeBack(
  pool: Mutable,
  holder: Holder & { leaseCounts: number[] },
  number: number,
  unused: number,
  present: number,
): number {
  const place = number % leasesKept;
  const slot = holder.leaseSlots[place] as number;
  if (number > holder.number || number <= holder.number - leasesKept || slot <= present - slotCount) return 0;
  const back = Math.min(unused, holder.leaseCounts[place] as number);
  holder.leaseCounts[place] = 0;
  add(pool, slot, -back);
  return back;
}

/** How many instances asked within some seconds, this one included. */
function countSharers(pool: Pool, holder: Holder, now: number): number {
  const epoch = Math.floor(now / epochMs);
  if (pool.epoch !== epoch) {
    pool.activeBefore = pool.epoch === epoch - 1 ? pool.active : 0;
    pool.active = 0;
    pool.epoch = epoch;
  }
  if (holder.epoch !== epoch) {
    holder.epoch = epoch;
    pool.active += 1;
  }
  return Math.max(pool.active, pool.activeBefore);
}

/** When so many slots have left the window that there is room for a request; now if that is never. */
function roomAt(pool: Pool, room: number): number {
  let left = room;
  for (let slot = pool.slot + 1; slot <= pool.slot + slotCount; slot += 1) {
    left += pool.slots[slot % slotCount] as number;
    if (left >= 1) return slot * slotMs;
  }
  return 0;
}
