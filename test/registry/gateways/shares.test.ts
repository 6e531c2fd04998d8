import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Leases, type LeaseRequest } from '../../../src/registry/deliveries/lease.js';
import { Shares, type RatedPair } from '../../../src/registry/gateways/shares.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** The part of a rate that a process hands out to its gateways, on real leases. */
let registry: Registry;
let tenant: Tenant;
let number = 0;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

/** What was asked of the database, and the shares of one process. */
function process(): Shares & { asked: LeaseRequest[]; returned: number[] } {
  const leases = new Leases(registry.service.database);
  const asked: LeaseRequest[] = [];
  const returned: number[] = [];
  const observed: Pick<Leases, 'take' | 'handBack'> = {
    take: (request) => {
      asked.push(request);
      return leases.take(request);
    },
    handBack: (...call) => {
      returned.push(call[2]);
      return leases.handBack(...call);
    },
  };
  const shares = new Shares({
    leases: observed,
    instance: `process-${(number += 1)}`,
    onLease: () => undefined,
    onFault: (error) => {
      throw error;
    },
  });
  return Object.assign(shares, { asked, returned });
}

async function pairOf(rate: number): Promise<RatedPair> {
  const path = `/rate-${rate}-${(number += 1)}`;
  registry.receiver.consent(path, { rate: String(rate) });
  const sink = registry.receiver.sink(path);
  await tenant.register(sink);
  return { tenant: 'gemeente', origin: tenant.origin, sink, rate };
}

/** The requests of a pair that count as leased now. */
const leased = async ({ origin, sink }: RatedPair) =>
  (
    await registry.sql<{ sum: number }>(
      `select (select sum(each) from unnest(slots) each)::int as sum from lease_pool
       where pair = encode(substr(sha256(convert_to($1 || ' ' || $2, 'UTF8')), 1, 16), 'hex')::uuid`,
      origin,
      sink,
    )
  )[0]?.sum ?? 0;

test.each([1, 60, 6_000])('three processes never hand out more of %i a minute than they leased', async (rate) => {
  const pair = await pairOf(rate);
  const processes = [process(), process(), process()];
  let passed = 0;
  for (let round = 0; round < 30; round += 1) {
    const each = processes.flatMap((one) => Array.from({ length: 10 }, async () => one.take(pair)));
    passed += (await Promise.all(each)).filter(({ kind }) => kind === 'taken').length;
    const counted = await leased(pair);
    expect(passed).toBeLessThanOrEqual(counted);
    expect(counted).toBeLessThanOrEqual(rate);
  }
  expect(passed).toBeGreaterThan(0);
  await Promise.all(processes.map((one) => one.close()));
  // What was not handed out is free again.
  expect(await leased(pair)).toBe(passed);
});

test('one request at a time goes to the database, and none while a share lasts or nothing can be free', async () => {
  const pair = await pairOf(6_000);
  const one = process();
  await Promise.all(Array.from({ length: 20 }, async () => one.take(pair)));
  const { length } = one.asked;
  expect(length).toBeLessThanOrEqual(3);
  const low = await pairOf(1);
  const first = await Promise.all(Array.from({ length: 20 }, async () => one.take(low)));
  expect(first.filter(({ kind }) => kind === 'taken').length).toBeLessThanOrEqual(1);
  const asked = one.asked.length;
  for (let i = 0; i < 20; i += 1) expect(one.take(low)).toMatchObject({ kind: 'empty' });
  expect(one.asked.length).toBe(asked);
  await one.close();
});

test('a share is not used after the time that its lease leaves for the way, and goes back', async () => {
  const pair = await pairOf(6_000);
  const one = process();
  const now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(now);
  for (let i = 0; i < 50; i += 1) await one.take(pair);
  const left = (await leased(pair)) - 50;
  const { length } = one.asked;
  clock.mockReturnValue(now + 1_750);
  await one.take(pair);
  expect(one.asked.length).toBe(length + 1);
  expect(one.asked.at(-1)?.returns.map(({ unused }) => unused)).toEqual(left === 0 ? [] : [left]);
  jest.restoreAllMocks();
  await one.close();
});

test('a revoked grant leaves nothing to hand out, and no database is no yes', async () => {
  const pair = await pairOf(1);
  await tenant.revoke(pair.sink);
  expect(await process().take(pair)).toEqual({ kind: 'denied', denial: 'revoked' });
  const take = async () => Promise.reject(new Error('The database is away.'));
  const settings = { instance: 'a', onLease: () => undefined, onFault: () => undefined };
  const cutOff = new Shares({ leases: { take, handBack: async () => 0 }, ...settings });
  const all = await Promise.allSettled([1, 2, 3].map(async () => cutOff.take(pair)));
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
});
