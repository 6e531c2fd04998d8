import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Database } from '../../../src/registry/storage/database.js';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { copyDatabase, isServer } from '../../support/registry.js';

/** The function that grants leases, with a simulated clock: minutes of traffic in moments. */
const origin = 'a.example.com';
let folder: string;
let copy: Awaited<ReturnType<typeof copyDatabase>>;
let database: Database;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-rate-'));
  copy = await copyDatabase(folder);
  database = await openDatabase({ databaseUrl: copy.url, dataFolder: folder });
});
afterAll(async () => {
  await database.close();
  await copy.drop();
  await rm(folder, { recursive: true });
});

let number = 0;
async function newPair(rate: number): Promise<string> {
  const sink = `https://webhook.example.com/${(number += 1)}`;
  await database.query(
    `insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat)
     values ($1, $2, gen_random_uuid(), 't', 'live', 'agreement', $3, 'x', now(), now() + interval '9000 days')`,
    [origin, sink, String(rate)],
  );
  return sink;
}

interface Taken {
  granted: number;
  lease: string | null;
  retryafter: number;
}

/** `at` in seconds since 1970. */
async function take(sink: string, instance: string, wanted: number, at: number, back: Array<[string, number]> = []) {
  const rows = await database.query<Taken>(
    `select granted, lease, retryafter from take_lease('t', $1, $2, $3, $4::integer, $5::text[], $6::integer[], to_timestamp($7::float8))`,
    [origin, sink, instance, wanted, back.map(([lease]) => lease), back.map(([, unused]) => unused), at],
  );
  return rows[0] as Taken;
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

const startsAt = 2_000_000_000;

async function run(rate: number, senders: Sender[], seconds: number, random = chance(rate + senders.length)) {
  const sink = await newPair(rate);
  /** Times of leases with the requests that they were for, in order. */
  const leases: Array<{ at: number; sender: number; used: number }> = [];
  let calls = 0;
  const due = senders.map((_, sender) => ({ sender, at: random(), back: [] as Array<[string, number]> }));
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
    const { granted, lease, retryafter } = await take(sink, `i${next.sender}`, wants, startsAt + at, next.back);
    calls += 1;
    const unused = Math.floor(granted * handsBack);
    next.back = lease === null || unused === 0 ? [] : [[lease, unused]];
    if (granted > unused) leases.push({ at, sender: next.sender, used: granted - unused });
    const pause = pushes ? 0.05 : granted < wants || unused > 0 ? retryafter : Math.max(2, retryafter);
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

/** The function is the same on both databases: on the embedded one, a usual rate. */
const rates = isServer() ? [1, 10, 600, 100_000] : [600];
const describeOnServer = isServer() ? describe : describe.skip;

describe.each(rates)('a rate of %i a minute', (rate) => {
  test.each([1, 16])('is never exceeded, and nine tenths of it can be used, by %i instances', async (count) => {
    const seconds = lengthFor(rate);
    const { maxReceived, usable, calls } = await run(rate, hungry(count), seconds);
    expect(maxReceived).toBeLessThanOrEqual(rate);
    expect(usable(127)).toBeGreaterThan(0.9);
    expect(calls / seconds).toBeLessThan(20);
  });

  test('is never exceeded if instances die with their leases, return shares or ignore their turns', async () => {
    const senders: Sender[] = Array.from({ length: 16 }, (_, each) => ({
      wants: [1, 3, 50, 1_000_000][each % 4] ?? 1,
      ...(each % 5 === 0 ? { diesAt: 10 * each } : {}),
      ...(each % 3 === 0 ? { handsBack: 0.5 } : {}),
      ...(each === 7 ? { pushes: true } : {}),
    }));
    expect((await run(rate, senders, 180)).maxReceived).toBeLessThanOrEqual(rate);
  });
});

describeOnServer('fairness', () => {
  const sharesOf = async (rate: number, senders: Sender[], from = 64, to = 250) => {
    const { leases } = await run(rate, senders, to);
    return senders.map((_, each) =>
      leases.filter(({ at, sender }) => at > from && sender === each).reduce((sum, { used }) => sum + used, 0),
    );
  };

  test.each([60, 6_000])('of %i a minute is shared about equally by sixteen busy instances', async (rate) => {
    const shares = await sharesOf(rate, hungry(16));
    expect(Math.max(...shares) / Math.min(...shares)).toBeLessThan(1.6);
  });

  test('an instance that needs little gets that, and busy ones share the rest', async () => {
    const [one = 0, two = 0, ...modest] = await sharesOf(600, [...hungry(2), { wants: 1 }, { wants: 1 }]);
    // One every two seconds and the wait for it, for 186 s.
    for (const each of modest) expect(each).toBeGreaterThan(45);
    expect(one / two).toBeGreaterThan(0.8);
    expect(one / two).toBeLessThan(1.25);
    expect((one + two + modest.reduce((sum, each) => sum + each)) / (600 * 3.1)).toBeGreaterThan(0.9);
  });

  test('an instance that asks all the time gets no more than one that waits for its turn', async () => {
    const shares = await sharesOf(600, [{ wants: 1_000, pushes: true }, ...hungry(7)]);
    const [pushing = 0, ...waiting] = shares;
    expect(pushing).toBeLessThan(1.5 * Math.min(...waiting));
  });

  test.each([10, 600])('at %i a minute live instances use the shares of dead ones', async (rate) => {
    const dead: Sender[] = Array.from({ length: 12 }, () => ({ wants: 1_000_000, diesAt: 30 }));
    const { usable, maxReceived } = await run(rate, [...dead, ...hungry(4)], 280);
    expect(usable(127)).toBeGreaterThan(0.9);
    expect(maxReceived).toBeLessThanOrEqual(rate);
  });
});

describe('a share that is returned too late frees nothing', () => {
  const handBack = async (lease: string | null, unused: number, at: number) =>
    (
      await database.query<{ back: number | null }>(
        `select hand_back_lease('t', $1, $2::integer, to_timestamp($3::float8)) as back`,
        [lease, unused, at],
      )
    )[0]?.back;
  /** The content of the window of a pair. */
  const leased = async (sink: string) =>
    (
      await database.query<{ sum: number }>(
        `select (select sum(each) from unnest(slots) each)::int as sum from lease_pool
         where pair = encode(substr(sha256(convert_to($1 || ' ' || $2, 'UTF8')), 1, 16), 'hex')::uuid`,
        [origin, sink],
      )
    )[0]?.sum;

  test('after its slot left the window and another lease uses its place', async () => {
    const sink = await newPair(600);
    const { lease } = await take(sink, 'one', 10, startsAt);
    const left = startsAt + 63.5;
    expect(await handBack(lease, 10, left)).toBe(0);
    expect((await take(sink, 'two', 10, left)).granted).toBe(10);
    // Even with a clock that is behind.
    for (const at of [left, left - 0.5]) expect(await handBack(lease, 10, at)).toBe(0);
    expect((await take(sink, 'one', 1, left, [[lease ?? '', 10]])).granted).toBe(1);
    expect(await leased(sink)).toBe(11);
  });

  test('after four other leases of the instance', async () => {
    const sink = await newPair(600);
    const leases: Array<string | null> = [];
    for (let at = 0; at < 5; at += 1) leases.push((await take(sink, 'one', 2, startsAt + at)).lease);
    expect(await leased(sink)).toBe(10);
    const [first = null] = leases;
    expect(await handBack(first, 2, startsAt + 5)).toBe(0);
    expect((await take(sink, 'one', 2, startsAt + 5, [[first ?? '', 2]])).granted).toBe(2);
    expect(await leased(sink)).toBe(12);
  });
});

describe('the flow', () => {
  test('starts with four seconds in one burst and is even after that', async () => {
    const { leases } = await run(600, hungry(4), 300);
    const inSeconds = (from: number, length: number) =>
      leases.filter(({ at }) => at >= from && at < from + length).reduce((sum, { used }) => sum + used, 0);
    expect(inSeconds(0, 2)).toBeLessThanOrEqual(38 + 19);
    for (let from = 2; from < 290; from += 10) {
      expect(inSeconds(from, 10)).toBeGreaterThan(600 / 6 / 3);
      expect(inSeconds(from, 10)).toBeLessThan((600 / 6) * 1.6);
    }
  });

  test('continues by the new clock after the clock was set back, which frees nothing', async () => {
    const sink = await newPair(600);
    const drain = async (from: number, seconds: number) => {
      let sum = 0;
      for (let at = from; at < from + seconds; at += 0.5) sum += (await take(sink, 'one', 1_000, at)).granted;
      return sum;
    };
    expect(await drain(startsAt, 70)).toBeGreaterThan(600);
    expect(await drain(startsAt - 600, 60)).toBeLessThan(40);
    expect(await drain(startsAt - 540, 70)).toBeGreaterThan(550);
  });

  test('counts what a restart of the database may have lost as leased', async () => {
    const sink = await newPair(600);
    const [server] = await database.query<{ startedat: number }>(
      'select extract(epoch from pg_postmaster_start_time())::float8 as startedat',
    );
    const startedAt = server?.startedat ?? 0;
    const roomOf = async () =>
      (
        await database.query<{ room: number }>(
          'select 600 - (select sum(each) from unnest(slots) each)::int as room from lease_pool order by tokensat limit 1',
        )
      )[0]?.room;
    expect((await take(sink, 'one', 10, startedAt - 2)).granted).toBe(10);
    expect(await roomOf()).toBe(590);
    expect(await take(sink, 'one', 10, startedAt + 1)).toMatchObject({ granted: 0 });
    // Four seconds of the rate, and one more.
    expect(await roomOf()).toBe(590 - 38 - 10);
    expect((await take(sink, 'one', 10, startedAt + 4)).granted).toBe(10);
    expect(await roomOf()).toBe(590 - 38 - 20);
  });

  test('a lowered rate gives nothing until what was sent is no more than it', async () => {
    const sink = await newPair(600);
    let sum = 0;
    for (let at = 0; at < 30; at += 0.5) sum += (await take(sink, 'one', 1_000, startsAt + at)).granted;
    await database.query(`update "grant" set allowedrate = '60' where sink = $1`, [sink]);
    for (let at = 30; at < 60; at += 0.5) expect((await take(sink, 'one', 1_000, startsAt + at)).granted).toBe(0);
    expect(sum).toBeGreaterThan(250);
    let later = 0;
    for (let at = 95; at < 155; at += 0.5) later += (await take(sink, 'one', 1_000, startsAt + at)).granted;
    expect(later).toBeGreaterThan(54);
    expect(later).toBeLessThanOrEqual(60);
  });
});
