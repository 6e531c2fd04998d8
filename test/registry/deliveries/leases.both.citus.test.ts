import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isServer, startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

let count = 0;
/** A sink that consented, with its subscription. */
async function newSink(rate = '600') {
  const path = `/l${(count += 1)}`;
  registry.receiver.consent(path, { rate });
  const sink = registry.receiver.sink(path);
  const { id } = await tenant.register(sink);
  return { sink, id, path };
}

const ask = (sink: string, more: object = {}, client: Client = tenant.sender) =>
  client.post('/v1/leases').send({ origin: tenant.origin, sink, instance: 'one', requests: 1_000, ...more });

describe('a lease', () => {
  test('is a share of the rate for two seconds, with the time to ask for more', async () => {
    const { sink } = await newSink();
    const before = Date.now();
    const taken = await ask(sink).expect(201);
    const { lease, until } = taken.body;
    expect(taken.body).toEqual({
      origin: tenant.origin,
      sink,
      allowedrate: 600,
      seconds: 2,
      // Two seconds at the rate, at first.
      requests: 19,
      lease: expect.stringMatching(/^[0-9a-f-]{36}\.1$/),
      until: expect.any(String),
      waitseconds: expect.any(Number),
    });
    expect(taken.get('Location')).toBe(`/v1/leases/${lease}`);
    expect(Date.parse(until)).toBeGreaterThan(before + 1_900);
    expect(Date.parse(until)).toBeLessThan(Date.now() + 2_100);
    expect(taken.body.waitseconds).toBeGreaterThan(0);
    expect(taken.body.waitseconds).toBeLessThan(2.1);
  });

  test('is never larger than requested, in any case of the origin', async () => {
    const { sink } = await newSink();
    const { body } = await ask(sink, { requests: 3, origin: tenant.origin.toUpperCase() }).expect(201);
    expect(body).toMatchObject({ origin: tenant.origin, requests: 3, waitseconds: 0 });
  });

  test('is the same if the request is repeated with its key, with what is left of its time', async () => {
    const { sink } = await newSink();
    const take = () => ask(sink, { requests: 5 }).set('Idempotency-Key', sink);
    const { body: first } = await take().expect(201);
    const again = await take().expect(201);
    expect(again.body).toEqual({ ...first, seconds: expect.any(Number) });
    expect(again.body.seconds).toBeLessThan(first.seconds);
    expect([again.get('Idempotency-Replayed'), again.get('Location')]).toEqual(['true', `/v1/leases/${first.lease}`]);
    const { body } = await tenant.sender.delete(`/v1/leases/${first.lease}`).query({ unused: 5 }).expect(200);
    expect(body.returned).toBe(5);
    // A refused request keeps no key: a webhook that consents later gets its lease.
    const nobody = registry.receiver.sink('/nobody');
    for (let i = 0; i < 2; i += 1) await ask(nobody).set('Idempotency-Key', nobody).expect(403);
  });

  test('is empty if nothing is left, and the response says when to ask again', async () => {
    const { sink } = await newSink('2');
    expect((await ask(sink).expect(201)).body.requests).toBe(1);
    const { body } = await ask(sink, { instance: 'two' }).expect(200);
    expect(body).toEqual({
      origin: tenant.origin,
      sink,
      requests: 0,
      allowedrate: 2,
      waitseconds: expect.any(Number),
    });
    expect(body.waitseconds).toBeGreaterThan(2.1);
  });

  test('is not needed for a rate without limit, and nothing is counted', async () => {
    const { sink } = await newSink('*');
    const [{ books }] = (await registry.sql<{ books: bigint }>('select count(*) as books from lease_pool')) as [never];
    const { body } = await ask(sink).expect(200);
    expect(body).toEqual({ origin: tenant.origin, sink, requests: 1_000, allowedrate: '*', unlimited: true });
    expect(await registry.sql('select count(*) as books from lease_pool')).toEqual([{ books }]);
  });

  test('follows a changed rate immediately', async () => {
    const { sink, id, path } = await newSink('600');
    expect((await ask(sink).expect(201)).body.requests).toBe(19);
    registry.receiver.consent(path, { rate: '30' });
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'wait=10').expect(201);
    const { body } = await ask(sink);
    expect(body.allowedrate).toBe(30);
    expect(body.requests).toBeLessThanOrEqual(30 - 19);
    registry.receiver.consent(path, { rate: '6000' });
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'wait=10').expect(201);
    expect((await ask(sink, { instance: 'two' }).expect(201)).body).toMatchObject({ allowedrate: 6_000 });
  });

  test('is empty during a hold', async () => {
    const { sink } = await newSink();
    await registry.sql(`update "grant" set helduntil = now() + interval '90 seconds' where sink = $1`, sink);
    const { body } = await ask(sink).expect(200);
    expect(body).toMatchObject({ requests: 0, allowedrate: 600, helduntil: expect.any(String) });
    expect(body.waitseconds).toBeGreaterThan(10);
    await registry.sql(`update "grant" set helduntil = now() where sink = $1`, sink);
    await ask(sink).expect(201);
  });
});

describe('a lease is denied', () => {
  test('to another tenant, which cannot return one either', async () => {
    const { sink } = await newSink();
    const { lease } = (await ask(sink).expect(201)).body;
    const stranger = await registry.as('assent:deliver', { tenant: 'provincie' });
    const { body } = await ask(sink, {}, stranger).expect(403);
    expect(body).toMatchObject({ code: 'not_permitted', faults: [{ pointer: '/sink', rule: 'no_grant' }] });
    await stranger.delete(`/v1/leases/${lease}`).query({ unused: 1 }).expect(404);
    expect((await tenant.sender.delete(`/v1/leases/${lease}`).query({ unused: 1 }).expect(200)).body.returned).toBe(1);
  });

  test('without the scope, or with a request that breaks the contract', async () => {
    const { sink } = await newSink();
    await ask(sink, {}, tenant.subscriber).expect(403);
    await ask(sink, {}, tenant.admin).expect(403);
    for (const wrong of [{ requests: 0 }, { requests: 1.5 }, { instance: '' }, { other: 1 }, { returns: [{}] }]) {
      expect((await ask(sink, wrong).expect(400)).body.code).toBe('invalid_request');
    }
  });
});

describe('a returned share', () => {
  const back = async (lease: string, unused: number) =>
    (await tenant.sender.delete(`/v1/leases/${lease}`).query({ unused }).expect(200)).body.returned;

  test('is free for others, but never more of it than was leased', async () => {
    const { sink } = await newSink('60');
    const { lease, requests } = (await ask(sink).expect(201)).body;
    expect(requests).toBe(2);
    expect(await back(lease, 100)).toBe(2);
    expect((await ask(sink, { instance: 'two' }).expect(201)).body.requests).toBeGreaterThan(0);
  });

  test('counts once, even if it is returned again because the response was lost', async () => {
    const { sink } = await newSink('60');
    const { lease } = (await ask(sink).expect(201)).body;
    expect(await back(lease, 1)).toBe(1);
    expect(await back(lease, 1)).toBe(0);
    const other = (await ask((await newSink('1')).sink).expect(201)).body;
    const returns = [{ lease: other.lease, unused: 1 }];
    expect((await ask(other.sink, { returns, requests: 1 }).expect(201)).body.requests).toBe(1);
    expect((await ask(other.sink, { returns, requests: 1 }).expect(200)).body.requests).toBe(0);
  });

  test('can be part of the next request, and unknown leases are ignored', async () => {
    const { sink } = await newSink('60');
    const { lease } = (await ask(sink).expect(201)).body;
    const returns = (...leases: string[]) => ({ returns: leases.map((each) => ({ lease: each, unused: 3 })) });
    const passed = returns(lease, `${randomUUID()}.1`, 'nonsense', `${lease}0`);
    expect((await ask(sink, { instance: 'two', ...passed }).expect(200)).body.requests).toBe(0);
    expect((await ask(sink, { ...returns(lease, lease, `${lease}0`) }).expect(201)).body.requests).toBeGreaterThan(0);
    const rest = await tenant.sender.delete(`/v1/leases/${lease}`).query({ unused: 4 }).expect(200);
    expect(rest.body.returned).toBe(0);
  });

  test.each(['nonsense', `${randomUUID()}.1`])('is 404 for a lease that does not exist: %s', async (lease) => {
    const { body } = await tenant.sender.delete(`/v1/leases/${lease}`).query({ unused: 1 }).expect(404);
    expect(body.code).toBe('lease_not_found');
  });

  test('unused pools and holders are removed, and a later lease starts anew', async () => {
    const { sink } = await newSink();
    await ask(sink).expect(201);
    await registry.sql(`update lease_pool set tokensat = now() - interval '2 hours'`);
    await registry.sql(`update lease_holder set askedat = now() - interval '2 hours'`);
    await registry.service.forget();
    expect(await registry.sql('select pair from lease_pool union select pair from lease_holder')).toEqual([]);
    expect((await ask(sink).expect(201)).body.lease).toMatch(/\.1$/);
  });
});

test('a pair has at most a thousand recent instances', async () => {
  const { sink } = await newSink();
  await ask(sink, { requests: 1 }).expect(201);
  await registry.sql(
    `insert into lease_holder select gen_random_uuid(), pair, 'many' || each, 0, leaseslots, leasecounts, null, -1, askedat
     from (select * from lease_holder order by askedat desc limit 1) one, generate_series(1, 999) each`,
  );
  const late = { requests: 1, instance: 'late' };
  expect((await ask(sink, late).expect(200)).body).toMatchObject({ requests: 0, waitseconds: 60 });
  await ask(sink, { requests: 1 }).expect(201);
  await ask(sink, { requests: 1, instance: 'many7' }).expect(201);
  await registry.sql(`update lease_holder set askedat = now() - interval '6 minutes' where instance = 'many8'`);
  await ask(sink, late).expect(201);
  expect((await ask(sink, { ...late, instance: 'later' }).expect(200)).body.requests).toBe(0);
});

describe('a lease that the database may have lost', () => {
  /** Nothing is available until the rate of 600 a minute has refilled the bucket; then it flows as before. */
  const isChargedOnce = async (lose: (sink: string) => Promise<unknown>) => {
    const { sink } = await newSink();
    expect((await ask(sink, { requests: 1 }).expect(201)).body.waitseconds).toBe(0);
    const sumOf = async () => {
      const sql =
        'select (select sum(each) from unnest(slots) each) as sum from lease_pool order by tokensat desc limit 1';
      return Number((await registry.sql<{ sum: bigint }>(sql))[0]?.sum);
    };
    expect(await sumOf()).toBe(1);
    await lose(sink);
    await ask(sink, { requests: 1 });
    // Four seconds of the rate, and one more.
    expect([48, 49]).toContain(await sumOf().then((sum) => sum - 1));
    await sleep(200);
    expect((await ask(sink, { requests: 1 }).expect(201)).body.requests).toBe(1);
    expect(await sumOf()).toBeLessThan(55);
  };

  test('in a failover is charged once', () =>
    isChargedOnce(() => registry.sql('update feed_state set epoch = $1::uuid', randomUUID())));

  // The server is shared with the tests of other files.
  (isServer() ? test.skip : test)('in a crash that the server came back from by itself is charged once', () =>
    isChargedOnce(() => registry.sql(`select pg_stat_reset_shared('wal')::text`)),
  );
});

(isServer() ? test : test.skip)('instances at two services share one rate, and none is left out', async () => {
  const { sink } = await newSink('600');
  const beside = await startRegistry({ beside: registry });
  const scope = 'assent:deliver';
  const clients = [await registry.as(scope), await beside.as(scope)];
  const got = Array.from({ length: 8 }, () => 0);
  const startedAt = performance.now();
  const isOver = () => performance.now() > startedAt + 6_000 && !got.includes(0);
  await Promise.all(
    got.map(async (_, instance) => {
      while (!isOver()) {
        const { body } = await ask(sink, { instance: `i${instance}` }, clients[instance % 2]);
        got[instance] = (got[instance] ?? 0) + body.requests;
        await sleep(body.waitseconds * 1_000);
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  await beside.stop();
  const sum = got.reduce((all, each) => all + each, 0);
  // The bucket of four seconds, and what it gained meanwhile.
  expect(sum).toBeLessThanOrEqual(38 + Math.ceil((600 / 63.5) * (seconds + 1)));
  expect(sum).toBeGreaterThan(40);
});
