import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createGate } from '../../support/gate.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({ env: { ASSENT_HANDSHAKES_PER_HOST: '3' } });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());
let hosts = 0;
let host: string;
/** A domain has twice the budget of a host. */
const freeBudgets = () => registry.sql('truncate rate_window');
beforeEach(async () => {
  host = `h${(hosts += 1)}.hooks.test`;
  await freeBudgets();
});

const noId = '00000000-0000-0000-0000-000000000000';
const sinkAt = (path: string) => registry.receiver.sink(path, host);
const askedOn = (path: string) => registry.receiver.asked.filter((asked) => asked.path === path);
const rehearse = (sink: string, query: object = { dryrun: true, ask: true }, more: object = {}) =>
  tenant.subscriber
    .post('/v1/subscriptions')
    .query(query)
    .send({ sink, protocol: 'HTTP', ...more });

/** The rows of every table, as one text each. */
async function stored(): Promise<Record<string, string>> {
  const tables = await registry.sql<{ name: string }>(
    `select c.relname as name from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace`,
  );
  expect(tables.length).toBeGreaterThan(15);
  const entries = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await registry.sql<{ rows: string }>(
        `select coalesce(string_agg(t::text, E'\\n' order by t::text), '') as rows from "${name}" t`,
      );
      return [name, row!.rows] as const;
    }),
  );
  return Object.fromEntries(entries);
}
/** The tables that differ. Statistics are written every few seconds, with what earlier tests did. */
async function changedBy(work: () => Promise<unknown>): Promise<string[]> {
  const before = await stored();
  await work();
  const after = await stored();
  return Object.keys(after).filter((name) => !name.endsWith('statistic') && after[name] !== before[name]);
}

test('a dry run says what a registration would say, and stores nothing in any table', async () => {
  const changed = await changedBy(async () => {
    const { status, body, headers } = await rehearse(sinkAt('/quiet'), { dryrun: true });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        id: noId,
        dryrun: true,
        status: 'pending',
        origin: tenant.origin,
        statusdetails: { message: expect.anything() },
      },
    });
    expect(body.statusdetails).not.toHaveProperty('handshake');
    expect(headers).not.toHaveProperty('location');
    expect(headers).not.toHaveProperty('etag');
    const suspended = await rehearse(sinkAt('/quiet'), { dryrun: true, ask: true }, { suspended: true });
    expect(suspended.body).toMatchObject({ status: 'suspended', dryrun: true });
    expect((await tenant.subscriber.get('/v1/subscriptions').expect(200)).body).toEqual([]);
    await tenant.subscriber.get(`/v1/subscriptions/${noId}`).expect(404);
  });
  expect(changed).toEqual([]);
  expect(askedOn('/quiet')).toEqual([]);
});

test('with ask=true the webhook is asked once without a callback, and only a budget and an audit record remain', async () => {
  registry.receiver.consent('/yes', { rate: '60' });
  const changed = await changedBy(async () => {
    const { status, body } = await rehearse(sinkAt('/yes'));
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        id: noId,
        dryrun: true,
        status: 'active',
        statusdetails: { allowedrate: 60 },
        attempt: {
          verdict: 'granted',
          request: expect.arrayContaining([{ name: 'WebHook-Request-Origin', value: tenant.origin }]),
          response: expect.arrayContaining([{ name: 'WebHook-Allowed-Rate', value: '60' }]),
        },
      },
    });
  });
  expect(changed.sort()).toEqual(['audit', 'rate_window']);
  expect(askedOn('/yes')).toHaveLength(1);
  expect(askedOn('/yes')[0]!.headers).toMatchObject({
    'webhook-request-origin': tenant.origin,
    'webhook-request-rate': '120',
  });
  expect(askedOn('/yes')[0]!.headers).not.toHaveProperty('webhook-request-callback');
  const { body } = await tenant.admin.get('/v1/audit').query({ action: 'webhook.asked' }).expect(200);
  expect(body[0]).toMatchObject({
    target: `origin:${tenant.origin}`,
    details: { origin: tenant.origin, sink: sinkAt('/yes'), dryrun: true },
  });
  expect((await tenant.permission(sinkAt('/yes'))).allowed).toBe(false);
});

test('the attempt of a dry run lasts from the request to its response', async () => {
  registry.receiver.consent('/timed');
  const { body } = await tenant.admin
    .post('/v1/subscriptions?dryrun=true&ask=true')
    .send({ sink: sinkAt('/timed'), protocol: 'HTTP' })
    .expect(200);
  const { startedat, finishedat, timing } = body.attempt;
  // Times have milliseconds.
  expect(Date.parse(finishedat) - Date.parse(startedat)).toBeGreaterThanOrEqual(timing.totalms - 1);
});

test('a dry run has the status of a registration of the same webhook', async () => {
  const webhooks: Record<string, (response: ServerResponse) => unknown> = {
    '/same/other-origin': (response) =>
      response.writeHead(200, { 'WebHook-Allowed-Origin': 'other.example.com', 'WebHook-Allowed-Rate': '1' }).end(),
    '/same/redirect': (response) => response.writeHead(302, { Location: '/elsewhere' }).end(),
    '/same/gone': (response) => response.writeHead(410).end(),
    '/same/silent': (response) => response.writeHead(200).end(),
    '/same/failing': (response) => response.writeHead(500).end(),
    '/same/closed': (response) => response.destroy(),
  };
  for (const [place, [path, respond]] of Object.entries(webhooks).entries()) {
    host = `same${place}.hooks.test`;
    await freeBudgets();
    registry.receiver.on(path, (_request, response) => void respond(response));
    const more = { callback: 'never' };
    const { body: preview } = await rehearse(sinkAt(path), undefined, more).expect(200);
    const real = await tenant.register(sinkAt(path), more);
    const told = ({ status, statusdetails: { code, message, advice, fixedby } }: typeof real) => ({
      ...{ status, code, message, advice, fixedby },
    });
    expect(told(preview)).toEqual(told(real));
    // What a registration can do next, nobody can do with what is not stored.
    expect(preview.statusdetails.next ?? '').not.toContain('POST /subscriptions/');
    await tenant.subscriber.delete(`/v1/subscriptions/${real.id}`).expect(200);
  }
});

test('a dry run is refused with the problem of a registration, and then asks nobody', async () => {
  const block = { kind: 'host', value: 'blocked.hooks.test', reason: 'Abuse.' };
  await tenant.admin.post('/v1/blocks').send(block).expect(201);
  host = 'blocked.hooks.test';
  const refused: Array<[object, string]> = [
    [{}, 'blocked'],
    [{ origin: 'unknown.example.com' }, 'origin_not_found'],
    [{ filters: [{ unknown: {} }] }, 'invalid_subscription'],
    [{ expiresat: '2001-01-01T00:00:00Z' }, 'invalid_subscription'],
    [{ sinkcredential: { credentialtype: 'PLAIN' } }, 'invalid_subscription'],
  ];
  for (const [more, code] of refused) {
    const real = await rehearse(sinkAt('/refused'), {}, more);
    const dry = await rehearse(sinkAt('/refused'), undefined, more);
    expect(dry.body.code).toBe(code);
    const { requestid: _one, ...problem } = real.body;
    expect(dry.body).toMatchObject(problem);
  }
  expect(askedOn('/refused')).toEqual([]);
  await rehearse(sinkAt('/refused'), { ask: true }).expect(400);
});

test('dry runs and handshakes share the budget of a host; over it, nobody is asked', async () => {
  registry.receiver.consent('/budget');
  for (let time = 0; time < 2; time += 1) await rehearse(sinkAt('/budget')).expect(200);
  expect(await tenant.register(sinkAt('/budget'))).toMatchObject({ status: 'active' });
  const { body } = await rehearse(registry.receiver.sink('/budget?other', host)).expect(200);
  expect(JSON.stringify(body.statusdetails)).toContain('held_by_budget');
  expect(body).toMatchObject({ status: 'pending', statusdetails: { nextat: expect.anything() } });
  expect(askedOn('/budget')).toHaveLength(3);
  expect(askedOn('/budget?other')).toEqual([]);
});

test('a webhook that says Retry-After to a dry run is left alone by handshakes and dry runs', async () => {
  registry.receiver.on('/busy', (_request, response) => void response.writeHead(429, { 'Retry-After': '600' }).end());
  const changed = await changedBy(() => rehearse(sinkAt('/busy')).expect(200));
  expect(changed.sort()).toEqual(['audit', 'cooldown', 'rate_window']);
  await rehearse(sinkAt('/busy')).expect(200);
  await tenant.register(sinkAt('/busy'));
  expect(askedOn('/busy')).toHaveLength(1);
});

test('dry runs take the places of a host, so that no more are in flight than handshakes may be', async () => {
  const released = createGate();
  const arrived = createGate();
  let inFlight = 0;
  registry.receiver.on('/slow', async (_request, response) => {
    inFlight += 1;
    if (inFlight === 2) arrived.open();
    await released.opened;
    response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '*' }).end();
  });
  const slow = [1, 2].map((place) =>
    rehearse(registry.receiver.sink(`/slow?${place}`, host))
      .expect(200)
      .then(),
  );
  await arrived.opened;
  const { body } = await rehearse(registry.receiver.sink('/slow?3', host)).expect(200);
  expect(JSON.stringify(body.statusdetails)).toContain('held_by_budget');
  expect(inFlight).toBe(2);
  released.open();
  for (const { body: done } of await Promise.all(slow)) expect(done.status).toBe('active');
});

test('an Idempotency-Key of a dry run is free for the registration', async () => {
  registry.receiver.consent('/key');
  const key = { 'Idempotency-Key': 'dry-then-real' };
  await rehearse(sinkAt('/key'), { dryrun: true }).set(key).expect(200);
  await rehearse(sinkAt('/key'), {}).set(key).expect(201);
});
