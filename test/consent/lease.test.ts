import { describe, expect, test } from '@jest/globals';
import { handBack, lease, newHolder, newPool, type Holder, type Leased, type Pool } from '../../src/consent/lease.js';

const history = 'a7c9ad7e-2fb4-4b1c-9a3e-000000000001';
const startsAt = 2_000_000_000_000;

/** A pair with its instances; times are milliseconds. */
class Pair {
  rate: number;
  burst: number | undefined;
  history = history;
  serverStartedAt = 0;
  pool: Pool | undefined;
  readonly holders = new Map<string, Holder>();

  constructor(rate: number, burst?: number) {
    this.rate = rate;
    this.burst = burst;
  }

  take(instance: string, requests: number, now: number, returns: Array<{ number: number; unused: number }> = []) {
    const { rate, burst, serverStartedAt } = this;
    const pool = this.pool ?? newPool(rate, burst, this.history, now);
    const asked = { rate, burst, requests, returns, history: this.history, serverStartedAt };
    const after = lease(pool, this.holders.get(instance) ?? newHolder, asked, now);
    this.pool = after.pool;
    this.holders.set(instance, after.holder);
    return { ...after.leased, number: after.holder.number };
  }

  handBack(instance: string, number: number, unused: number, now: number) {
    const after = handBack(this.pool as Pool, this.holders.get(instance) as Holder, number, unused, now);
    this.pool = after.pool;
    this.holders.set(instance, after.holder);
    return after.returned;
  }

  /** The requests in the window. */
  leased() {
    return this.pool?.slots.reduce((sum, count) => sum + count, 0);
  }
}

/** Pseudo-random numbers, the same in each run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Sender {
  /** How many requests it asks for at a time. */
  wants: number;
  /** When it dies, in seconds. */
  diesAt?: number;
  /** The part of a lease that it returns. */
  handsBack?: number;
  /** It does not wait for its turn. */
  pushes?: boolean;
}

function run(rate: number, senders: Sender[], seconds: number, burst?: number) {
  const random = chance(rate + senders.length);
  const pair = new Pair(rate, burst);
  /** Times of leases in seconds, with the requests that they were for, in order. */
  const leases: Array<{ at: number; sender: number; used: number }> = [];
  let calls = 0;
  const due = senders.map((_, sender) => ({
    sender,
    at: random(),
    back: [] as Array<{ number: number; unused: number }>,
  }));
  for (;;) {
    due.sort((one, other) => one.at - other.at);
    const next = due[0];
    if (next === undefined || next.at > seconds) break;
    const { wants, diesAt = Infinity, handsBack = 0, pushes = false } = senders[next.sender] as Sender;
    if (next.at > diesAt) {
      due.shift();
      continue;
    }
    const { at } = next;
    const { requests, number, retryAfterMs } = pair.take(`i${next.sender}`, wants, startsAt + at * 1_000, next.back);
    calls += 1;
    const unused = Math.floor(requests * handsBack);
    next.back = unused === 0 ? [] : [{ number, unused }];
    if (requests > unused) leases.push({ at, sender: next.sender, used: requests - unused });
    const retryAfter = retryAfterMs / 1_000;
    const pause = pushes ? 0.05 : requests < wants || unused > 0 ? retryAfter : Math.max(2, retryAfter);
    next.at = at + pause + 0.005 + 0.03 * random();
  }
  const usable = (from: number, to = seconds, of = (_: number) => true) =>
    leases.filter(({ at, sender }) => at >= from && at < to && of(sender)).reduce((sum, { used }) => sum + used, 0) /
    ((rate * (to - from)) / 60);
  return { leases, calls, usable, maxReceived: maxReceived(leases, random) };
}

/** The most that a webhook receives in 60 s, if each lease is used at any moment of its 2 s and arrives up to 1 s later. */
function maxReceived(leases: Array<{ at: number; used: number }>, random: () => number): number {
  const max = [() => 0, () => 3, () => 3 * random(), () => (random() < 0.5 ? 0 : 3)].map((late) => {
    const arrivals = leases.map(({ at, used }) => ({ at: at + late(), used })).sort((one, other) => one.at - other.at);
    let [sum, first, highest] = [0, 0, 0];
    for (const { at, used } of arrivals) {
      sum += used;
      for (; at - (arrivals[first]?.at ?? at) > 60; first += 1) sum -= arrivals[first]?.used ?? 0;
      highest = Math.max(highest, sum);
    }
    return highest;
  });
  return Math.max(...max);
}

const hungry = (count: number): Sender[] => Array.from({ length: count }, () => ({ wants: 1_000_000 }));
/** Two windows after the first; at a low rate senders need more. */
const lengthFor = (rate: number) => (rate < 10 ? 127 + 600 : 127 + 120);

describe.each([1, 2, 5, 10, 60, 600, 6_000, 100_000])('a rate of %i a minute', (rate) => {
  test.each([1, 4, 16])('is never exceeded, and nine tenths of it can be used, by %i instances', (count) => {
    const seconds = lengthFor(rate);
    const { maxReceived, usable, calls } = run(rate, hungry(count), seconds);
    expect(maxReceived).toBeLessThanOrEqual(rate);
    expect(usable(127)).toBeGreaterThan(0.9);
    expect(calls / seconds).toBeLessThan(20);
  });

  test('is never exceeded if instances die with their leases, return shares or ignore their turns', () => {
    const senders: Sender[] = Array.from({ length: 16 }, (_, each) => ({
      wants: [1, 3, 50, 1_000_000][each % 4] ?? 1,
      ...(each % 5 === 0 ? { diesAt: 10 * each } : {}),
      ...(each % 3 === 0 ? { handsBack: 0.5 } : {}),
      ...(each === 7 ? { pushes: true } : {}),
    }));
    expect(run(rate, senders, 180).maxReceived).toBeLessThanOrEqual(rate);
  });
});

describe('a burst that the origin allows', () => {
  test.each([
    [1, 10],
    [10, 10],
    [60, 20],
    [60, 1_000],
    [120, 60],
    [600, 600],
    [6_000, 3],
  ])(
    'at %i a minute and a burst of %i, the rate is never exceeded, and nine tenths of it can be used',
    (rate, burst) => {
      for (const count of [1, 16]) {
        const { maxReceived, usable } = run(rate, hungry(count), lengthFor(rate), burst);
        expect(maxReceived).toBeLessThanOrEqual(rate);
        expect(usable(127)).toBeGreaterThan(0.9);
      }
    },
  );

  test.each<[rate: number, burst: number | undefined, first: number, later: number]>([
    [120, undefined, 4, 8],
    [120, 3, 4, 8],
    [120, 30, 30, 30],
    [120, 120, 120, 120],
    [60, 1_000, 60, 60],
  ])('at %i a minute and a burst of %s, %i are there at once, and %i after a pause', (rate, burst, first, later) => {
    const pair = new Pair(rate, burst);
    expect(pair.take('one', 1_000, startsAt).requests).toBe(first);
    expect(pair.take('one', 1_000, startsAt + 150_000).requests).toBe(later);
    // The whole rate was used: nothing more until its slot leaves the window.
    if (later < rate) return;
    expect(pair.take('one', 1_000, startsAt + 150_000 + 63_000)).toMatchObject({ requests: 0 });
    expect(pair.take('one', 1_000, startsAt + 150_000 + 63_500).requests).toBe(later);
  });
});

describe('fairness', () => {
  const sharesOf = (rate: number, senders: Sender[], from = 64, to = 250) => {
    const { leases } = run(rate, senders, to);
    return senders.map((_, each) =>
      leases.filter(({ at, sender }) => at > from && sender === each).reduce((sum, { used }) => sum + used, 0),
    );
  };

  test.each([60, 600, 6_000])('of %i a minute is shared about equally by sixteen busy instances', (rate) => {
    const shares = sharesOf(rate, hungry(16));
    expect(Math.max(...shares) / Math.min(...shares)).toBeLessThan(1.6);
  });

  test('an instance that needs little gets that, and busy ones share the rest', () => {
    const [one = 0, two = 0, ...modest] = sharesOf(600, [...hungry(2), { wants: 1 }, { wants: 1 }]);
    // One every two seconds and the wait for it, for 186 s.
    for (const each of modest) expect(each).toBeGreaterThan(45);
    expect(one / two).toBeGreaterThan(0.8);
    expect(one / two).toBeLessThan(1.25);
    expect((one + two + modest.reduce((sum, each) => sum + each)) / (600 * 3.1)).toBeGreaterThan(0.9);
  });

  test('an instance that asks all the time gets no more than one that waits for its turn', () => {
    const shares = sharesOf(600, [{ wants: 1_000, pushes: true }, ...hungry(7)]);
    const [pushing = 0, ...waiting] = shares;
    expect(pushing).toBeLessThan(1.5 * Math.min(...waiting));
  });

  test.each([10, 600])('at %i a minute live instances use the shares of dead ones', (rate) => {
    const dead: Sender[] = Array.from({ length: 12 }, () => ({ wants: 1_000_000, diesAt: 30 }));
    const { usable, maxReceived } = run(rate, [...dead, ...hungry(4)], 280);
    expect(usable(127)).toBeGreaterThan(0.9);
    expect(maxReceived).toBeLessThanOrEqual(rate);
  });
});

describe('a share that is returned too late frees nothing', () => {
  test('after its slot left the window and another lease uses its place', () => {
    const pair = new Pair(600);
    const { number } = pair.take('one', 10, startsAt);
    const left = startsAt + 63_500;
    expect(pair.handBack('one', number, 10, left)).toBe(0);
    expect(pair.take('two', 10, left).requests).toBe(10);
    // Even with a clock that is behind.
    for (const at of [left, left - 500]) expect(pair.handBack('one', number, 10, at)).toBe(0);
    expect(pair.take('one', 1, left, [{ number, unused: 10 }]).requests).toBe(1);
    expect(pair.leased()).toBe(11);
  });

  test('after four other leases of the instance', () => {
    const pair = new Pair(600);
    for (let at = 0; at < 5_000; at += 1_000) pair.take('one', 2, startsAt + at);
    expect(pair.leased()).toBe(10);
    expect(pair.handBack('one', 1, 2, startsAt + 5_000)).toBe(0);
    expect(pair.take('one', 2, startsAt + 5_000, [{ number: 1, unused: 2 }]).requests).toBe(2);
    expect(pair.leased()).toBe(12);
  });
});

describe('the flow', () => {
  test('starts with four seconds in one burst and is even after that', () => {
    const { leases } = run(600, hungry(4), 300);
    const inSeconds = (from: number, length: number) =>
      leases.filter(({ at }) => at >= from && at < from + length).reduce((sum, { used }) => sum + used, 0);
    expect(inSeconds(0, 2)).toBeLessThanOrEqual(38 + 19);
    for (let from = 2; from < 290; from += 10) {
      expect(inSeconds(from, 10)).toBeGreaterThan(600 / 6 / 3);
      expect(inSeconds(from, 10)).toBeLessThan((600 / 6) * 1.6);
    }
  });

  test('continues by the new clock after the clock was set back, which frees nothing', () => {
    const pair = new Pair(600);
    const drain = (from: number, seconds: number) => {
      let sum = 0;
      for (let at = from; at < from + seconds; at += 0.5)
        sum += pair.take('one', 1_000, startsAt + at * 1_000).requests;
      return sum;
    };
    expect(drain(0, 70)).toBeGreaterThan(600);
    expect(drain(-600, 60)).toBeLessThan(40);
    expect(drain(-540, 70)).toBeGreaterThan(550);
  });

  test.each([
    ['a restart of the database', (pair: Pair) => (pair.serverStartedAt = startsAt + 2_000)],
    ['a failover', (pair: Pair) => (pair.history = 'b')],
  ])('counts what %s may have lost as leased, once', (_, lose) => {
    const pair = new Pair(600);
    expect(pair.take('one', 10, startsAt).requests).toBe(10);
    lose(pair);
    expect(pair.take('one', 10, startsAt + 3_000).requests).toBe(0);
    // Four seconds of the rate, and one more.
    expect(pair.leased()).toBe(10 + 38 + 10);
    expect(pair.take('one', 10, startsAt + 6_000).requests).toBe(10);
    expect(pair.leased()).toBe(20 + 38 + 10);
  });

  test('a lowered rate gives nothing until what was sent is no more than it', () => {
    const pair = new Pair(600);
    let sum = 0;
    for (let at = 0; at < 30_000; at += 500) sum += pair.take('one', 1_000, startsAt + at).requests;
    pair.rate = 60;
    for (let at = 30_000; at < 60_000; at += 500) expect(pair.take('one', 1_000, startsAt + at).requests).toBe(0);
    expect(sum).toBeGreaterThan(250);
    let later = 0;
    for (let at = 95_000; at < 155_000; at += 500) later += pair.take('one', 1_000, startsAt + at).requests;
    expect(later).toBeGreaterThan(54);
    expect(later).toBeLessThanOrEqual(60);
  });
});

describe('one request', () => {
  type Row = [string, Partial<Pool>, Partial<Holder>, { rate?: number; requests?: number }, Partial<Leased>];
  const slot = startsAt / 500;
  const filled = (...counts: Array<[at: number, count: number]>) => {
    const slots = new Array<number>(127).fill(0);
    for (const [at, count] of counts) slots[(slot + at) % 127] = count;
    return slots;
  };
  const epoch = startsAt / 4_000;
  const after = (ms: number) => startsAt + ms;

  // A pool of 635 a minute (ten a second), in use by one instance, with a bucket of forty that is full.
  test.each<Row>([
    ['gets all that it wants of a full bucket', {}, {}, {}, { requests: 10, retryAfterMs: 0 }],
    [
      'gets at most the bucket, and returns for two seconds of the rate',
      {},
      {},
      { requests: 99 },
      { requests: 40, retryAfterMs: 2_000 },
    ],
    ['waits until the bucket has its share', { tokens: 0 }, {}, {}, { requests: 0, retryAfterMs: 1_000 }],
    ['takes what flowed in since', { tokens: 0, tokensAt: after(-1_000) }, {}, {}, { requests: 10 }],
    [
      'shares the bucket with those that asked lately',
      { active: 1, activeBefore: 4 },
      {},
      { requests: 99 },
      { requests: 10 },
    ],
    [
      'leaves room where it is alone for the first time',
      { activeBefore: 0, tokens: 20 },
      {},
      { requests: 99 },
      { requests: 20 },
    ],
    [
      'stands behind those that wait',
      { lastTurn: after(500), tokensAt: after(0), tokens: 30 },
      {},
      {},
      { requests: 0, retryAfterMs: 1_500 },
    ],
    [
      'takes its turn before those behind it',
      { lastTurn: after(500), tokens: 30 },
      { turn: after(0) },
      {},
      { requests: 10 },
    ],
    [
      'keeps its turn if it asks early',
      { lastTurn: after(500), tokens: 30 },
      { turn: after(300) },
      {},
      { requests: 0, retryAfterMs: 300 },
    ],
    [
      'takes a turn that nobody took',
      { lastTurn: after(500), tokensAt: after(-1_001), tokens: 40 },
      {},
      {},
      { requests: 10 },
    ],
    [
      'gets nothing of a full window, until its oldest slot leaves',
      { slots: filled([-126, 35], [0, 600]) },
      {},
      {},
      { requests: 0, retryAfterMs: 1_000 },
    ],
    ['gets what is left of the window', { slots: filled([0, 632]) }, {}, {}, { requests: 3 }],
    ['is the first of its minute', { slot: slot - 120 }, {}, {}, { isFirst: true }],
    ['has a window of its own after 63.5 s', { slot: slot - 127, slots: filled([0, 635]) }, {}, {}, { requests: 10 }],
  ])('%s', (_, pool, holder, asked, expected) => {
    const present = {
      slot,
      slots: filled(),
      tokens: 40,
      tokensAt: after(0),
      lastTurn: after(0),
      epoch,
      active: 1,
      activeBefore: 1,
    };
    const { leased } = lease(
      { rate: 635, history, ...present, ...pool },
      { ...newHolder, epoch, ...holder },
      { rate: 635, burst: undefined, requests: 10, returns: [], history, serverStartedAt: 0, ...asked },
      startsAt,
    );
    expect(leased).toMatchObject(expected);
  });
});
