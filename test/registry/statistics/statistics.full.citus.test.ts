import { afterAll, beforeAll, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { offeredBy } from '../../support/offer.js';
import { passCallbacks } from '../../support/pass-time.js';
import { isServer, startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

interface Series {
  kind: string;
  code: string;
  outcome?: string;
  total: number;
  values: number[];
}

const read = async (query: Record<string, string> = {}, client: Client = tenant.admin) =>
  (await client.get('/v1/statistics').query(query).expect(200)).body as {
    since: string;
    until: string;
    series: Series[];
  };
const totals = async (query: Record<string, string> = {}) =>
  Object.fromEntries((await read(query)).series.map(({ kind, code, total }) => [`${kind} ${code}`, total]));
const report = (entries: object[]) =>
  tenant.sender
    .post('/v1/deliveries/outcomes')
    .send(entries.map((entry) => ({ origin: tenant.origin, ...entry })))
    .expect(200);
const lease = (sink: string, requests: number) =>
  tenant.sender.post('/v1/leases').send({ origin: tenant.origin, sink, instance: 'one', requests });

test('the counts are what happened: handshakes by verdict, deliveries by outcome, requests leased and allowed', async () => {
  const { receiver } = registry;
  receiver.consent('/yes', { rate: '600' });
  receiver.on('/no', (_request, response) => response.writeHead(404).end());
  const sink = receiver.sink('/yes');
  await tenant.register(sink);
  await tenant.register(receiver.sink('/no'));
  receiver.on('/other', (_request, response) => response.writeHead(200, { 'WebHook-Allowed-Origin': 'other' }).end());
  await tenant.register(receiver.sink('/other'));
  await report([
    { sink, statuscode: 204, count: 40 },
    { sink, statuscode: 500, count: 2 },
    { sink: receiver.sink('/unknown'), statuscode: 204, count: 9 },
  ]);
  await report([{ sink, statuscode: 204 }]);
  const leased = (await lease(sink, 7).expect(201)).body.requests;
  expect(leased).toBe(7);

  expect(await totals()).toMatchObject({
    'attempt granted': 1,
    // With the callback, and without it.
    'attempt not_found_at_target': 2,
    'handshake granted': 1,
    'handshake waiting': 1,
    'delivery delivered': 41,
    'delivery failed': 2,
    'lease leased': 7,
    'lease allowed': 600,
  });
  const { series, since, until } = await read();
  expect((Date.parse(until) - Date.parse(since)) / 3_600_000).toBe(24);
  for (const { values, total } of series) {
    expect(values).toHaveLength(24);
    expect(values.reduce((sum, each) => sum + each, 0)).toBe(total);
  }
  expect(series.find(({ kind, code }) => `${kind} ${code}` === 'handshake granted')).toMatchObject({
    outcome: 'granted',
  });

  for (const step of ['minute', 'day']) {
    expect(await totals({ step, kind: 'delivery' })).toEqual({ 'delivery delivered': 41, 'delivery failed': 2 });
  }
  expect(await totals({ kind: 'delivery', origin: tenant.origin.toUpperCase() })).toHaveProperty([
    'delivery delivered',
  ]);
  expect(await totals({ origin: 'other.example.com' })).toEqual({});
});

test('a webhook that waits for its callback counts as waiting, once, and as refused only if its owner refuses', async () => {
  const { receiver } = registry;
  const outcomes = async () => {
    const { series } = await read({ kind: 'handshake' });
    const of = (wanted: string) =>
      series.filter(({ outcome }) => outcome === wanted).reduce((sum, { total }) => sum + total, 0);
    const host = new URL(receiver.sink('/thinks')).hostname;
    return {
      waiting: of('waiting'),
      refused: of('refused'),
      no_response: of('no_response'),
      ranked: (await totalsBy('host', { name: host })).entries[0]?.['refusalcount' as never],
    };
  };
  const before = await outcomes();
  let callback = '';
  receiver.on('/thinks', (request, response) => {
    callback = offeredBy(request)[0] ?? callback;
    response.writeHead(204).end();
  });
  for (const place of [1, 2]) {
    const { status } = await tenant.register(receiver.sink(`/thinks?${place}`));
    expect(status).toBe('pending');
  }
  const waiting = { ...before, waiting: before.waiting + 2 };
  expect(await outcomes()).toEqual(waiting);

  const path = callback.slice(callback.indexOf('/v1/'));
  const page = supertest(registry.url).post(path).set('Accept', 'text/html').type('form');
  await page.send({ decision: 'refuse' }).expect(200);
  const refused = { ...waiting, refused: before.refused + 1, ranked: Number(before.ranked ?? 0) + 1 };
  expect(await outcomes()).toEqual(refused);

  const open = await registry.sql<{ count: number }>(
    `select count(*)::int as count from handshake where state = 'waiting'`,
  );
  await passCallbacks(registry);
  await registry.service.sweep();
  expect(await outcomes()).toEqual({ ...refused, no_response: refused.no_response + open[0]!.count });
});

test('a decision by callback counts once, however often the URL is called', async () => {
  const { receiver } = registry;
  let callback = '';
  receiver.on('/calls-back', (request, response) => {
    callback = offeredBy(request)[0] ?? callback;
    response.writeHead(200).end();
  });
  await tenant.register(receiver.sink('/calls-back'), {}, 'wait=1');
  const path = callback.slice(callback.indexOf('/v1/'));
  for (let call = 0; call < 3; call += 1) await supertest(registry.url).post(path).expect(200);
  expect(await totals({ kind: 'handshake' })).toMatchObject({ 'handshake callback_granted': 1 });
});

// Two processes cannot share an embedded database.
(isServer() ? test : test.skip)('a stop writes the last counts', async () => {
  const other = await startRegistry({ beside: registry });
  const { sink } = (await tenant.admin.get('/v1/grants?state=live&limit=1').expect(200)).body[0];
  const sender = await other.as('assent:deliver', { subscriber: 'mailroom' });
  await sender
    .post('/v1/deliveries/outcomes')
    .send([{ origin: tenant.origin, sink, statuscode: 301, count: 17 }])
    .expect(200);
  await other.stopService();
  expect(await totals({ kind: 'delivery' })).toMatchObject({ 'delivery redirected': 17 });
});

test('the rate of a webhook counts once for each minute, however many leases there are', async () => {
  registry.receiver.consent('/often', { rate: '300' });
  const sink = registry.receiver.sink('/often');
  await tenant.register(sink);
  const before = (await totals({ kind: 'lease' }))['lease allowed'] ?? 0;
  const minutes = new Set<number>();
  for (let round = 0; round < 4; round += 1) {
    minutes.add(Math.floor(Date.now() / 60_000));
    await lease(sink, 1);
    minutes.add(Math.floor(Date.now() / 60_000));
  }
  const allowed = ((await totals({ kind: 'lease' }))['lease allowed'] ?? 0) - before;
  expect(allowed).toBeGreaterThanOrEqual(300);
  expect(allowed).toBeLessThanOrEqual(300 * minutes.size);
});

interface Totals {
  entries: Array<{ name: string; blocked: boolean; [number: string]: unknown }>;
  more: boolean;
}
const totalsBy = async (by: string, query: Record<string, string> = {}, client: Client = tenant.admin) =>
  (
    await client
      .get('/v1/statistics/totals')
      .query({ by, ...query })
      .expect(200)
  ).body as Totals;

test('the totals of an origin and of a host are what happened there, and a block on it shows', async () => {
  const [origin] = (await totalsBy('origin', { name: tenant.origin.toUpperCase() })).entries;
  const host = new URL(registry.receiver.sink('/yes')).hostname;
  const [ofHost] = (await totalsBy('host', { name: host })).entries;
  const series = (await read()).series;
  const sum = (is: (each: Series) => boolean) => series.filter(is).reduce((all, { total }) => all + total, 0);
  const expected = {
    deliverycount: sum(({ kind }) => kind === 'delivery'),
    failurecount: sum(({ kind, code }) => kind === 'delivery' && code !== 'delivered'),
    throttledcount: sum(({ kind, code }) => kind === 'delivery' && code === 'throttled'),
    gonecount: sum(({ kind, code }) => kind === 'delivery' && code === 'gone'),
    refusalcount: sum(({ kind, outcome }) => kind === 'handshake' && outcome === 'refused'),
    usedcount: sum(({ code }) => code === 'leased'),
    allowedcount: sum(({ code }) => code === 'allowed'),
    blocked: false,
  };
  const { deliverycount, failurecount, refusalcount, usedcount } = expected;
  expect(Math.min(deliverycount, failurecount, refusalcount, usedcount)).toBeGreaterThan(0);
  expect(origin).toEqual({ name: tenant.origin, ...expected });
  // Of both processes, added up.
  expect(ofHost).toEqual({ name: host, ...expected });

  const blocks = [
    { kind: 'origin', value: tenant.origin },
    { kind: 'domain', value: host },
    { kind: 'network', value: '127.0.0.0/8' },
  ];
  for (const { kind, value } of blocks) {
    const { body } = await tenant.admin.post('/v1/blocks').send({ kind, value, reason: 'test' }).expect(201);
    const marked = async (by: string, name: string) => (await totalsBy(by, { name })).entries[0]?.blocked;
    expect([kind, await marked('origin', tenant.origin), await marked('host', host)]).toEqual([
      kind,
      kind === 'origin',
      kind !== 'origin',
    ]);
    await tenant.admin.delete(`/v1/blocks/${body.id}`).expect(200);
  }
});

test('the first hosts of ten thousand come in the order of any number, and those of yesterday are left out', async () => {
  const admin = await registry.as('assent:admin', { tenant: 'drukte', subscriber: 'beheer' });
  // The number of a host is how often it failed; its 429s go the other way, and the first one used all of its rate.
  await registry.sql(
    `insert into host_statistic (tenant, startsat, host, delivered, throttled, failed, leased, allowed)
     select 'drukte', date_trunc('hour', now()) - hour * interval '1 hour', 'h' || n || '.example.org',
       case n when 7 then 50 else 0 end, 10001 - n, n, case n when 1 then 100 else 10 end, 100
     from generate_series(1, 10000) n, generate_series(0, 1) hour
     union all
     select 'drukte', date_trunc('hour', now()) - interval '24 hours', 'old.example.org', 0, 0, 999999, 0, 0`,
  );
  await admin.get('/v1/statistics/totals').expect(400);
  const first = async (sort?: string) => {
    const { entries, more } = await totalsBy('host', { limit: '2', ...(sort && { sort }) }, admin);
    return [...entries.map(({ name }) => name.split('.')[0]), more];
  };
  expect(await first('-throttled')).toEqual(['h1', 'h2', true]);
  expect(await first('-deliveries')).toEqual(['h7', 'h1', true]);
  expect(await first('-used')).toEqual(['h1', 'h10', true]);
  // All fail as often, so their names decide.
  expect(await first()).toEqual(['h1', 'h10', true]);
  await registry.sql(
    `update host_statistic set failed = failed + 1 where tenant = 'drukte' and host = 'h42.example.org'`,
  );
  expect(await first('-failures')).toEqual(['h42', 'h1', true]);
});

test('a tenant sees only its own, and only as an admin', async () => {
  const other = await registry.as('assent:admin', { tenant: 'provincie', subscriber: 'beheer' });
  expect((await read({}, other)).series).toEqual([]);
  expect((await totalsBy('origin', {}, other)).entries).toEqual([]);
  expect((await totalsBy('host', {}, other)).entries).toEqual([]);
  await tenant.sender.get('/v1/statistics/totals?by=host').expect(403);
  await tenant.subscriber.get('/v1/statistics').expect(403);
  await tenant.sender.get('/v1/health').expect(403);
});

test('minutes and hosts are kept for a day, hours and days of origins for a year', async () => {
  const rows = [
    ['minute', '24 hours'],
    ['minute', '26 hours'],
    ['hour', '364 days'],
    ['day', '366 days'],
    ['hour', '368 days'],
  ];
  for (const [step, age] of rows) {
    await registry.sql(
      `insert into statistic (tenant, origin, step, startsat, kind, code, count)
       values ('gemeente', $3, $1, date_trunc($1, now() - $2::interval), 'delivery', 'gone', 1)`,
      step,
      age,
      `${age!.replace(' ', '-')}.example.com`,
    );
  }
  for (const age of ['24 hours', '27 hours']) {
    await registry.sql(
      `insert into host_statistic (tenant, startsat, host) values ('gemeente', date_trunc('hour', now() - $1::interval), $2)`,
      age,
      `${age.replace(' ', '-')}.example.com`,
    );
  }
  await registry.service.forget();
  const hosts = await registry.sql(`select host from host_statistic where host like '%-hours.example.com'`);
  expect(hosts).toEqual([{ host: '24-hours.example.com' }]);
  const left = await registry.sql<{ origin: string }>(`select origin from statistic where code = 'gone' order by 1`);
  expect(left.map(({ origin }) => origin)).toEqual([
    '24-hours.example.com',
    '364-days.example.com',
    '366-days.example.com',
  ]);
});

test('a span that cannot be drawn is refused at its place', async () => {
  const refused = async (query: object) =>
    (await tenant.admin.get('/v1/statistics').query(query).expect(400)).body.faults;
  const fault = { pointer: 'query/since', rule: 'time_out_of_range' };
  expect(await refused({ step: 'minute', since: '2026-01-01T00:00:00Z', until: '2026-01-03T00:00:00Z' })).toEqual([
    expect.objectContaining(fault),
  ]);
  expect(await refused({ since: '2026-01-03T00:00:00Z', until: '2026-01-01T00:00:00Z' })).toEqual([
    expect.objectContaining(fault),
  ]);
});

test('health says how current the process is and whether it can write', async () => {
  const { body } = await tenant.admin.get('/v1/health').expect(200);
  expect(body).toEqual({
    version: expect.any(String),
    revision: expect.stringMatching(/^\d+$/),
    secondsbehind: expect.any(Number),
    secondslate: expect.any(Number),
    writable: true,
  });
});

test('grants that will not be renewed, and grants on hold, can be found', async () => {
  const { receiver, service } = registry;
  receiver.consent('/held');
  const held = receiver.sink('/held');
  await tenant.register(held);
  await report([{ sink: held, statuscode: 429, retryafter: 600 }]);
  const agreed = receiver.sink('/agreed');
  const expiresat = new Date(Date.now() + 86_400_000).toISOString();
  const agreement = { origin: tenant.origin, sink: agreed, allowedrate: 10, agreement: 'contract 7', expiresat };
  await tenant.admin.post('/v1/grants').send(agreement).expect(201);
  await service.follow();
  const sinks = async (query: object) =>
    ((await tenant.admin.get('/v1/grants').query(query).expect(200)).body as Array<{ sink: string }>).map(
      ({ sink }) => sink,
    );
  expect(await sinks({ held: true })).toEqual([held]);
  expect(await sinks({ held: false })).not.toContain(held);
  expect(await sinks({ renews: false, state: 'live' })).toEqual([agreed]);
  expect(await sinks({ renews: true })).toContain(held);
});
