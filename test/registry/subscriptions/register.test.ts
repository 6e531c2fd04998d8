import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exhaust } from '../../support/pass-time.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

let registry: Registry;
let admin: Client;
let subscriber: Client;
let sender: Client;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin');
  subscriber = await registry.as('assent:subscribe');
  sender = await registry.as('assent:deliver', { subscriber: 'mailroom' });
  await admin
    .post('/v1/origins')
    .send({ name: 'eventemitter.example.com', isdefault: true, requestedrate: 120 })
    .expect(201);
});
afterAll(() => registry.stop());

test('a webhook that consents makes the subscription active in one request, and its sender may send', async () => {
  registry.receiver.consent('/events', { rate: '100' });
  const sink = registry.receiver.sink('/events');
  const created = await subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' }).expect(201);
  expect(created.body).toMatchObject({ status: 'active', statusdetails: { code: 'granted', allowedrate: 100 } });
  expect(registry.receiver.asked).toHaveLength(1);
  expect(registry.receiver.asked[0]).toMatchObject({
    method: 'OPTIONS',
    path: '/events',
    headers: { 'webhook-request-origin': 'eventemitter.example.com', 'webhook-request-rate': '120' },
  });

  const permission = await sender
    .get('/v1/permissions')
    .query({ origin: 'eventemitter.example.com', sink })
    .expect(200);
  expect(permission.body).toMatchObject({ allowed: true, allowedrate: 100, basis: 'response' });
});

test('the trace of the caller is sent with the handshake and its retries', async () => {
  const path = '/traced';
  registry.receiver.on(path, (_request, response) => response.destroy());
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const sink = registry.receiver.sink(path);
  const { body } = await subscriber
    .post('/v1/subscriptions')
    .set({ traceparent, Prefer: 'respond-async' })
    .send({ sink, protocol: 'HTTP' })
    .expect(201);
  const traces = () =>
    registry.receiver.asked.flatMap((asked) => (asked.path === path ? asked.headers.traceparent : []));
  await exhaust(registry);
  expect(traces()).toEqual([traceparent, traceparent, traceparent]);

  registry.receiver.consent(path);
  await subscriber.post(`/v1/subscriptions/${body.id}/handshakes`).set('Prefer', 'wait=10').expect(201);
  expect(traces()).toEqual([traceparent, traceparent, traceparent, undefined]);
});

test('a tenant cannot exceed its quota of subscriptions, which includes suspended ones', async () => {
  const small = await startRegistry({ env: { ASSENT_SUBSCRIPTIONS_PER_TENANT: '2' } });
  try {
    const tenants = await Promise.all(
      ['gemeente', 'provincie'].map((tenant) => small.as(['assent:admin', 'assent:subscribe'], { tenant })),
    );
    const [ours, theirs] = tenants as [Client, Client];
    for (const [place, tenant] of tenants.entries()) {
      await tenant
        .post('/v1/origins')
        .send({ name: `events${place}.example.com`, isdefault: true })
        .expect(201);
    }
    const register = (tenant: Client, key: string) =>
      tenant
        .post('/v1/subscriptions')
        .set({ 'Idempotency-Key': key, Prefer: 'respond-async' })
        .send({ sink: small.receiver.sink(`/${key}`), protocol: 'HTTP' });
    const first = await register(ours, 'first').expect(201);
    await ours.post(`/v1/subscriptions/${first.body.id}/suspend`).send({ reason: 'Too much.' }).expect(200);
    await register(ours, 'second').expect(201);

    const refused = await register(ours, 'third').expect(403);
    expect(refused.body).toMatchObject({ code: 'quota_exceeded', detail: expect.stringContaining(' 2 ') });
    expect((await ours.get('/v1/subscriptions').expect(200)).body).toHaveLength(2);
    expect((await register(ours, 'first').expect(201)).body.id).toBe(first.body.id);
    await register(theirs, 'third').expect(201);

    await ours.delete(`/v1/subscriptions/${first.body.id}`).expect(200);
    await register(ours, 'third').expect(201);
  } finally {
    await small.stop();
  }
});

test('150 registrations at once, at two processes of which one loads its replica, never exceed the quota', async () => {
  const small = await startRegistry({ env: { ASSENT_SUBSCRIPTIONS_PER_TENANT: '20' } });
  const loading = await startRegistry({ beside: small, start: false, unloaded: true });
  try {
    const places = [await small.as('assent:admin'), await loading.as('assent:admin')] as const;
    await places[0].post('/v1/origins').send({ name: 'events.example.com', isdefault: true }).expect(201);
    const register = (place: number) =>
      places[place % 2]!.post('/v1/subscriptions')
        .set('Prefer', 'respond-async')
        .send({ sink: small.receiver.sink(`/${place}`), protocol: 'HTTP', suspended: true });
    const all = await Promise.all(Array.from({ length: 150 }, (_, place) => register(place)));
    const codes = all.map(({ status, body }) => (status === 201 ? 'registered' : body.code));
    expect(codes.filter((code) => code === 'registered')).toHaveLength(20);
    expect(codes.filter((code) => code === 'quota_exceeded')).toHaveLength(130);

    // A place that becomes free is taken once.
    await places[0].delete(`/v1/subscriptions/${all.find(({ status }) => status === 201)!.body.id}`).expect(200);
    const again = await Promise.all([0, 1, 2, 3].map(register));
    expect(again.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403]);
  } finally {
    await loading.stop();
    await small.stop();
  }
});

test('expensive filters are limited for each subscriber and each tenant, and a refusal explains the price', async () => {
  const env = { ASSENT_PRICE_PER_SUBSCRIBER: '40000', ASSENT_PRICE_PER_TENANT: '60000' };
  const small = await startRegistry({ env });
  try {
    const admin = await small.as('assent:admin');
    await admin.post('/v1/origins').send({ name: 'events.example.com', isdefault: true }).expect(201);
    const [one, other] = [
      await small.as('assent:subscribe', { subscriber: 'one' }),
      await small.as('assent:subscribe', { subscriber: 'other' }),
    ];
    const sql = Array.from({ length: 30 }, (_, i) => `subject LIKE '%a%a%a%b${i}%'`).join(' OR ');
    const request = (more: object) => ({ sink: small.receiver.sink('/priced'), protocol: 'HTTP', ...more });
    const register = (client: Client, more: object) =>
      client.post('/v1/subscriptions').set('Prefer', 'respond-async').send(request(more));
    const expensive = { filters: [{ not: { exact: { type: 'a' } } }, { sql }] };

    // Concurrent: the second one of the subscriber fits, the third does not.
    const all = await Promise.all([1, 2, 3].map(() => register(one, expensive)));
    expect(all.map(({ status }) => status).sort()).toEqual([201, 201, 403]);
    const stored = all.find(({ status }) => status === 201)!.body;
    expect(stored.price).toBe(15_736);
    expect(all.find(({ status }) => status === 403)!.body).toMatchObject({
      code: 'filters_too_expensive',
      detail: expect.stringMatching(/15,736.* 256 .*every event.*subscriber.* 31,472\..* 40,000/),
      faults: [
        { pointer: '/filters/1', rule: 'too_expensive', detail: expect.stringContaining('15,716 of the 15,736') },
        { pointer: '/filters/0', rule: 'too_expensive' },
      ],
    });
    await register(other, expensive).expect(201);
    const refused = await register(other, expensive).expect(403);
    expect(refused.body.detail).toMatch(/tenant.* 47,208\..* 60,000/);
    // Free filters are always accepted.
    const free = await register(other, { types: ['a'] }).expect(201);
    expect(free.body).not.toHaveProperty('price');
    const patch = (id: string, body: object, client = other) =>
      client.patch(`/v1/subscriptions/${id}`).type('application/merge-patch+json').send(JSON.stringify(body));
    expect((await patch(free.body.id, expensive).expect(403)).body.code).toBe('filters_too_expensive');
    expect((await patch(free.body.id, { types: [], ...expensive }).expect(403)).body.code).toBe(
      'filters_too_expensive',
    );
    // A change at the same price is accepted, and a lower price makes room.
    await patch(stored.id, { config: {} }, one).expect(200);
    await patch(stored.id, { filters: null }, one).expect(200);
    await register(other, expensive).expect(201);
  } finally {
    await small.stop();
  }
});
