import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { offer, offeredBy } from '../../support/offer.js';
import { exhaust, passCallbacks } from '../../support/pass-time.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** The callback and the response to OPTIONS, in any order. */
let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({
    reachable: true,
    env: { ASSENT_HANDSHAKE_RETRY_MS: '3600000', ASSENT_HANDSHAKE_DEADLINE_MS: '60000' },
  });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

const consent = { 'WebHook-Allowed-Origin': 'eventemitter.example.com', 'WebHook-Allowed-Rate': '55' };
const refusal = { 'WebHook-Allowed-Origin': 'eventgrid.azure.net' };

/** Calls back during the OPTIONS request, and then ends it in some way. */
function callFirst(path: string, end: (response: ServerResponse) => void, count = { asked: 0 }) {
  registry.receiver.on(path, async (request, response) => {
    count.asked += 1;
    const called = await fetch(String(request.headers['webhook-request-callback']), {
      headers: { 'WebHook-Allowed-Rate': '7' },
    });
    expect(called.status).toBe(200);
    end(response);
  });
  return registry.receiver.sink(path);
}

test.each([
  ['a refusal', '/late-refusal', (response) => response.writeHead(200, refusal).end()],
  ['410 Gone', '/late-410', (response) => response.writeHead(410).end()],
  ['503', '/late-503', (response) => response.writeHead(503).end()],
  ['a broken connection', '/late-broken', (response) => response.destroy()],
  ['a consent at another rate', '/late-consent', (response) => response.writeHead(200, consent).end()],
] satisfies Array<[string, string, (response: ServerResponse) => unknown]>)(
  'a grant by callback is not undone by %s that arrives later, and the webhook is not asked again',
  async (_title, path, end) => {
    const count = { asked: 0 };
    const sink = callFirst(path, end, count);
    const { id } = await tenant.register(sink);
    await exhaust(registry);
    expect(await tenant.read(id)).toMatchObject({ status: 'active', statusdetails: { code: 'callback_granted' } });
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 7, basis: 'callback' });
    expect(count.asked).toBe(1);
    // The second one is where the webhook is.
    expect(await tenant.changes(sink)).toEqual(['subscription.created', 'grant.live', 'grant.live']);
  },
);

test('the subscriber does not wait for the response to OPTIONS once the callback has granted', async () => {
  const waiting: ServerResponse[] = [];
  const sink = callFirst('/never-answers', (response) => void waiting.push(response));
  const { status } = await tenant.register(sink, {}, 'wait=30');
  expect(status).toBe('active');
  expect(waiting.map(({ destroyed }) => destroyed)).toEqual([false]);
  for (const response of waiting) response.writeHead(200).end();
});

test('an attempt whose process died is shown as interrupted, even if a callback granted and no attempt follows', async () => {
  const ends: Array<() => void> = [];
  const sink = callFirst('/died', (response) => void ends.push(() => response.writeHead(200).end()));
  const { id } = await tenant.register(sink);
  const attempt = async () => (await tenant.handshakes(id))[0].attempts[0];
  expect(await attempt()).not.toHaveProperty('verdict');
  await registry.sql(`update attempt set startedat = startedat - interval '1 hour' where finishedat is null`);
  expect(await attempt()).toMatchObject({ verdict: 'interrupted', finishedat: expect.any(String) });
  for (const end of ends) end();
});

test('a callback between two attempts grants, and the second attempt is not sent', async () => {
  const callbacks: string[] = [];
  registry.receiver.on('/between', (request, response) => {
    callbacks.push(...offeredBy(request));
    response.destroy();
  });
  const { id } = await tenant.register(registry.receiver.sink('/between'));
  expect((await fetch(callbacks[0] ?? '')).status).toBe(200);
  await exhaust(registry);
  expect(await tenant.read(id)).toMatchObject({ status: 'active' });
  expect(callbacks).toHaveLength(1);
});

test('every offered key grants until it expires, not only that of the last attempt', async () => {
  const callbacks: string[] = [];
  registry.receiver.on('/keys', (request, response) => {
    callbacks.push(...offeredBy(request));
    if (callbacks.length < 2) response.destroy();
    else response.writeHead(200).end();
  });
  const { id } = await tenant.register(registry.receiver.sink('/keys'));
  await exhaust(registry);
  expect(new Set(callbacks).size).toBe(2);
  expect((await fetch(callbacks[0] ?? '')).status).toBe(200);
  expect((await fetch(callbacks[1] ?? '')).status).toBe(200);
  expect(await tenant.read(id)).toMatchObject({ status: 'active' });
});

test.each([
  ['a refusal', '/refused-first', (response) => response.writeHead(200, refusal).end(), 'refused'],
  ['410 Gone', '/gone-first', (response) => response.writeHead(410).end(), 'retired'],
] satisfies Array<[string, string, (response: ServerResponse) => unknown, string]>)(
  'a callback after %s grants',
  async (_title, path, end, before) => {
    let callback = '';
    registry.receiver.on(path, (request, response) => {
      callback = offeredBy(request)[0] ?? callback;
      end(response);
    });
    const { id, status } = await tenant.register(registry.receiver.sink(path));
    expect(status).toBe(before);
    expect((await fetch(callback)).status).toBe(200);
    expect(await tenant.read(id)).toMatchObject({ status: 'active', statusdetails: { code: 'callback_granted' } });
  },
);

test('a grant by response is not changed by a later callback, malformed or not', async () => {
  let callback = '';
  registry.receiver.on('/answer-first', (request, response) => {
    callback = offeredBy(request)[0] ?? callback;
    response.writeHead(200, consent).end();
  });
  const sink = registry.receiver.sink('/answer-first');
  await tenant.register(sink);
  expect((await fetch(callback, { headers: { 'WebHook-Allowed-Rate': 'many' } })).status).toBe(400);
  const later = await fetch(callback, { headers: { 'WebHook-Allowed-Rate': '7' } });
  expect([later.status, ((await later.json()) as { allowedrate: number }).allowedrate]).toEqual([200, 55]);
  expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 55, basis: 'response' });
});

test('a callback that is not called in time counts as refused, with advice', async () => {
  const { id, callback } = await offer(registry, tenant);
  await passCallbacks(registry);
  await registry.service.sweep();
  expect(await tenant.read(id)).toMatchObject({ status: 'refused', statusdetails: { code: 'callback_expired' } });
  expect((await fetch(callback)).status).toBe(404);
});

test('a new handshake has its own key, and the old one still grants', async () => {
  const { id, callbacks } = await offer(registry, tenant);
  await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
  expect(new Set(callbacks).size).toBe(2);
  expect((await fetch(callbacks[0] ?? '')).status).toBe(200);
  expect(await tenant.read(id)).toMatchObject({ status: 'active' });
});
