import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createGate } from '../../support/gate.js';
import { exhaust, passCallbacks, passCooldowns, passDelays, passGrant, reachRenewal } from '../../support/pass-time.js';
import { offeredBy } from '../../support/offer.js';
import { isServer, startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

const grantSeconds = 36_000;
let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({ start: false, env: { ASSENT_HANDSHAKE_RETRY_MS: '3600000' } });
  tenant = await createTenant(registry, { grantseconds: grantSeconds });
});
afterAll(() => registry.stop());

let count = 0;
/** A webhook that consented, and whose grant is due for renewal. */
async function granted() {
  const path = `/renewal-${(count += 1)}`;
  const sink = registry.receiver.sink(path);
  registry.receiver.consent(path, { rate: '100' });
  const { id, status } = await tenant.register(sink);
  expect(status).toBe('active');
  return { path, sink, id };
}
async function startRenewal(sink: string) {
  await reachRenewal(registry, sink);
  await registry.service.sweep();
}
const drain = () => registry.service.worker.drain();
const renewals = async (id: string) => (await tenant.handshakes(id)).filter(({ trigger }) => trigger === 'renewal');

describe('renewal', () => {
  test('a grant is renewed between the half and 85 % of its lifetime, at random', async () => {
    const { sink } = await granted();
    const { grantedat, renewat, expiresat } = await tenant.grant(sink);
    expect(Date.parse(expiresat) - Date.parse(grantedat)).toBe(grantSeconds * 1_000);
    const share = (Date.parse(renewat) - Date.parse(grantedat)) / (grantSeconds * 1_000);
    expect(share).toBeGreaterThanOrEqual(0.499);
    expect(share).toBeLessThanOrEqual(0.851);
    await registry.service.sweep();
    expect(await registry.sql(`select 1 from handshake where sink = $1 and trigger = 'renewal'`, sink)).toEqual([]);
  });

  test('the old grant stays valid until the response arrives, which sets rate and expiry', async () => {
    const { id, sink, path } = await granted();
    const [reached, released] = [createGate(), createGate()];
    registry.receiver.on(path, async (_request, response) => {
      reached.open();
      await released.opened;
      response.writeHead(200, { 'WebHook-Allowed-Origin': tenant.origin, 'WebHook-Allowed-Rate': '33' }).end();
    });
    const before = await tenant.permission(sink);
    await startRenewal(sink);
    await registry.service.sweep();
    const [{ state, nextat }] = await renewals(id);
    expect(state).toBe('due');
    const renewed = { next: 'Assent renews the grant with another handshake.', nextat };
    expect(await tenant.read(id)).toMatchObject({ statusdetails: renewed });
    const work = drain();
    await reached.opened;
    expect(await tenant.permission(sink)).toEqual(before);
    const next = 'Assent is asking the webhook to renew the grant.';
    expect(await tenant.read(id)).toMatchObject({ status: 'active', statusdetails: { next } });
    released.open();
    await work;
    const after = await tenant.permission(sink);
    expect(after).toMatchObject({ allowed: true, allowedrate: 33 });
    expect(Date.parse(after.expiresat)).toBeGreaterThan(Date.parse(before.expiresat));
    expect((await tenant.grant(sink)).renewat).toEqual(expect.any(String));
    expect(await renewals(id)).toMatchObject([{ state: 'granted' }]);
  });

  test.each([
    ['another origin', 200, { 'WebHook-Allowed-Origin': 'other.example.com' }, 'refused', 'renewal_refused'],
    ['410', 410, {}, 'retired', 'target_gone'],
  ])('a renewal that gets %s ends the grant', async (_title, status, headers, standing, endcode) => {
    const { id, sink, path } = await granted();
    registry.receiver.on(path, (_request, response) => void response.writeHead(status, headers).end());
    await startRenewal(sink);
    await drain();
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
    expect(await tenant.grant(sink)).toMatchObject({ state: 'ended', endcode });
    expect(await tenant.read(id)).toMatchObject({ status: standing });
    expect(await tenant.changes(sink)).toEqual(['subscription.created', 'grant.live', 'grant.ended']);
  });

  test('a renewal without a response that counts is shown with the time left, and retried', async () => {
    const { id, sink, path } = await granted();
    registry.receiver.on(path, (_request, response) => void response.writeHead(404).end());
    await startRenewal(sink);
    await drain();
    const [{ state, nextat, attempts }] = await renewals(id);
    expect(state).toBe('due');
    expect(attempts).toHaveLength(2);
    const { expiresat } = await tenant.grant(sink);
    const { status, statusdetails } = await tenant.read(id);
    const next = 'Assent asks the webhook again to renew the grant.';
    expect({ status, statusdetails }).toMatchObject({
      status: 'active',
      statusdetails: {
        code: 'granted',
        next,
        nextat,
        grantexpiresat: expiresat,
        renewal: { outcome: 'no_response' },
      },
    });
    const { renewal } = statusdetails;
    expect(renewal).toMatchObject({ verdict: 'not_found_at_target', advice: expect.any(String) });
    expect(renewal.secondsleft).toBeGreaterThan(grantSeconds - 600);
    expect(renewal.secondsleft).toBeLessThanOrEqual(grantSeconds);

    registry.receiver.consent(path, { rate: '55' });
    await exhaust(registry);
    const renewed = await tenant.read(id);
    expect(renewed).toMatchObject({ status: 'active', statusdetails: { allowedrate: 55 } });
    expect(renewed.statusdetails).not.toHaveProperty('renewal');
  });

  test('a renewal is retried until the grant expires, then given up', async () => {
    const { id, sink, path } = await granted();
    registry.receiver.on(path, (_request, response) => void response.writeHead(502).end());
    await startRenewal(sink);
    const left = (interval: string) =>
      registry.sql(`update "grant" set expiresat = now() + $2::interval where sink = $1`, sink, interval);
    await left('3 hours');
    await drain();
    const [{ nextat }] = await renewals(id);
    expect(Date.parse(nextat)).toBeLessThan(Date.now() + 2.3 * 3_600_000);
    expect(Date.parse(nextat)).toBeGreaterThan(Date.now() + 0.4 * 3_600_000);
    await left('5 minutes');
    await passDelays(registry);
    await drain();
    expect(await renewals(id)).toMatchObject([{ state: 'unreachable', verdict: 'server_error' }]);
    expect(await tenant.read(id)).toMatchObject({ status: 'active', statusdetails: { next: 'The grant expires.' } });
    await passGrant(registry, sink);
    const { status, statusdetails } = await tenant.read(id);
    expect({ status, code: statusdetails.code }).toEqual({ status: 'expired', code: 'expired' });
    expect(statusdetails.message).toContain('The last attempt: The webhook, or a proxy in front of it, failed');
    expect(await tenant.changes(sink)).not.toContain('grant.ended');
  });

  test('many refused renewals end together, each with its change', async () => {
    const pairs = [await granted(), await granted(), await granted()];
    for (const { sink, path } of pairs) {
      registry.receiver.consent(path, { origin: 'other.example.com' });
      await startRenewal(sink);
    }
    await drain();
    for (const { id, sink } of pairs) {
      expect(await tenant.grant(sink)).toMatchObject({
        state: 'ended',
        endcode: 'renewal_refused',
        endedby: 'assent',
      });
      expect(await tenant.read(id)).toMatchObject({ status: 'refused' });
      expect(await tenant.changes(sink)).toEqual(['subscription.created', 'grant.live', 'grant.ended']);
    }
  });

  (isServer() ? test : test.skip)(
    'renewals that end beside a report of the same webhooks wait for no one in a circle',
    async () => {
      for (let round = 0; round < 2; round += 1) {
        const pairs: Array<{ sink: string; path: string }> = [];
        while (pairs.length < 8) pairs.push(await granted());
        for (const { sink, path } of pairs) {
          registry.receiver.consent(path, { origin: 'other.example.com' });
          await reachRenewal(registry, sink);
        }
        await registry.service.sweep();
        const entries = pairs.map(({ sink }) => ({ origin: tenant.origin, sink, statuscode: 410 }));
        await Promise.all([drain(), tenant.sender.post('/v1/deliveries/outcomes').send(entries).expect(200)]);
        for (const { sink } of pairs) {
          expect(await tenant.changes(sink)).toEqual(['subscription.created', 'grant.live', 'grant.ended']);
        }
      }
      const [found] = await registry.sql<{ deadlocks: number }>(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      );
      expect(found?.deadlocks).toBe(0);
    },
  );

  test('a consent that arrived during a renewal stays valid if the renewal fails', async () => {
    const { id, sink, path } = await granted();
    registry.receiver.on(path, (_request, response) => void response.writeHead(200).end());
    await startRenewal(sink);
    await drain();
    registry.receiver.consent(path, { rate: '44' });
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    await passCallbacks(registry);
    await registry.service.sweep();
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 44 });
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
  });

  test('a renewal that is retried after a consent to another rate requests that rate', async () => {
    const { id, sink, path } = await granted();
    const rates: unknown[] = [];
    registry.receiver.on(path, (request, response) => {
      const rate = String(request.headers['webhook-request-rate']);
      rates.push(rate);
      if (rates.length === 1) response.writeHead(503, { 'Retry-After': '60' }).end();
      else response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': rate }).end();
    });
    await startRenewal(sink);
    await drain();
    await passCooldowns(registry);
    await tenant.register(sink, { requestedrate: 5 });
    await exhaust(registry);
    expect(rates).toEqual(['120', '5', '5']);
    expect(await renewals(id)).toMatchObject([{ state: 'granted', requestedrate: 5 }]);
    expect(await tenant.grant(sink)).toMatchObject({ allowedrate: 5, requestedrate: 5 });
  });

  test('a callback without a rate grants the rate of its own attempt, not that of a later one', async () => {
    const { id, sink, path } = await granted();
    const asked: Array<{ rate: string; callback: URL }> = [];
    registry.receiver.on(path, ({ headers }, response) => {
      const rate = String(headers['webhook-request-rate']);
      asked.push({ rate, callback: new URL(String(headers['webhook-request-callback'])) });
      if (rate === '120') response.writeHead(503).end();
      else response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '7' }).end();
    });
    await startRenewal(sink);
    await drain();
    await tenant.register(sink, { requestedrate: 500 });
    registry.receiver.on(path, (_request, response) => response.writeHead(503).end());
    await exhaust(registry);
    expect(await renewals(id)).toMatchObject([{ state: 'unreachable', requestedrate: 500 }]);
    expect(asked.map(({ rate }) => rate)).toEqual(['120', '500']);
    const { pathname, search } = asked[0]?.callback ?? new URL(sink);
    const { body } = await tenant.sender.post(`${pathname}${search}`).expect(200);
    expect(body).toMatchObject({ granted: true, allowedrate: 120 });
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 120 });
  });

  test.each([
    ['got no response that counts', 200, {}, 'cancelled', 404],
    ['was postponed for a day', 503, { 'Retry-After': '86400' }, 'cancelled', 404],
  ])(
    'a renewal that %s does not prevent the renewal of a later consent',
    async (_title, status, headers, state, called) => {
      const { id, sink, path } = await granted();
      const callbacks: URL[] = [];
      registry.receiver.on(path, (request, response) => {
        callbacks.push(...offeredBy(request).map((callback) => new URL(callback)));
        response.writeHead(status, headers).end();
      });
      await startRenewal(sink);
      await drain();
      registry.receiver.consent(path, { rate: '30' });
      await passCooldowns(registry);
      await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
      const { expiresat } = await tenant.grant(sink);

      await startRenewal(sink);
      expect(await renewals(id)).toMatchObject([{ state: 'due' }, { state }]);
      await drain();
      const renewed = await tenant.grant(sink);
      expect(renewed).toMatchObject({ state: 'live', renewat: expect.any(String) });
      expect(Date.parse(renewed.expiresat)).toBeGreaterThan(Date.parse(expiresat));
      expect((await tenant.sender.get(`${callbacks[0]?.pathname}${callbacks[0]?.search}`)).status).toBe(called);
    },
  );

  test('is not sent before the Retry-After that a subscription of the pair got', async () => {
    const { id, sink, path } = await granted();
    registry.receiver.on(path, (_request, response) => response.writeHead(429, { 'Retry-After': '600' }).end());
    const { statusdetails } = await tenant.register(sink);
    const asked = registry.receiver.asked.length;
    await startRenewal(sink);
    await drain();
    expect(registry.receiver.asked).toHaveLength(asked);
    expect(statusdetails).toMatchObject({ code: 'granted' });
    const [renewal] = await renewals(id);
    expect(renewal).toMatchObject({ state: 'due', attempts: [] });
    expect(Date.parse(renewal.nextat)).toBeGreaterThan(Date.now() + 590_000);
    registry.receiver.consent(path);
    await exhaust(registry);
    expect(await renewals(id)).toMatchObject([{ state: 'granted' }]);
  });

  test('a renewal that gets no response ends nothing, and is retried until the grant expires', async () => {
    const { id, sink, path } = await granted();
    registry.receiver.on(path, (_request, response) => response.destroy());
    const grant = `/v1/grants/${(await tenant.grant(sink)).id}`;
    const tag = async () => (await tenant.admin.get(grant).expect(200)).headers['etag'];
    const seen = [await tag()];
    await startRenewal(sink);
    seen.push(await tag());
    await exhaust(registry);
    // Without and with its `renewat`.
    expect(new Set([...seen, await tag()]).size).toBe(3);
    expect(await renewals(id)).toMatchObject([{ state: 'unreachable' }]);
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
    const { renewat, expiresat } = await tenant.grant(sink);
    expect(Date.parse(renewat)).toBeLessThan(Date.parse(expiresat));
    expect(Date.parse(renewat)).toBeGreaterThan(Date.now() + 60_000);

    registry.receiver.consent(path, { rate: '66' });
    await startRenewal(sink);
    await drain();
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 66 });
    expect(await renewals(id)).toHaveLength(2);
  });

  test.each([
    [
      'in the last minutes of the grant',
      (sink: string) =>
        registry.sql(`update "grant" set expiresat = now() + interval '5 minutes' where sink = $1`, sink),
    ],
    ['for a grant that ended meanwhile', (sink: string) => tenant.gone(sink)],
  ])('a renewal that gets no response %s is not retried', async (_title, meanwhile) => {
    const { id, sink, path } = await granted();
    registry.receiver.on(path, (_request, response) => response.destroy());
    await startRenewal(sink);
    await meanwhile(sink);
    await exhaust(registry);
    expect(await renewals(id)).toMatchObject([{ state: 'unreachable' }]);
    expect(await tenant.grant(sink)).not.toHaveProperty('renewat');
  });

  test('a renewal that gets no response does not move the renewal of a consent that arrived meanwhile', async () => {
    const { id, sink, path } = await granted();
    await startRenewal(sink);
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    const renewed = await tenant.grant(sink);
    registry.receiver.on(path, (_request, response) => response.destroy());
    await exhaust(registry);
    expect(await renewals(id)).toMatchObject([{ state: 'unreachable' }]);
    expect(await tenant.grant(sink)).toEqual(renewed);
  });

  test('a grant that was not renewed in time is expired and allows nothing', async () => {
    const { id, sink } = await granted();
    await passGrant(registry, sink);
    await startRenewal(sink);
    expect(await renewals(id)).toEqual([]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'expired' });
    expect(await tenant.read(id)).toMatchObject({ status: 'expired', statusdetails: { code: 'expired' } });
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
  });

  test('no renewal is sent while all subscriptions are suspended, and one is sent after a resume', async () => {
    const { id, sink } = await granted();
    await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'holiday' }).expect(200);
    await startRenewal(sink);
    expect(await renewals(id)).toEqual([]);
    await tenant.subscriber.post(`/v1/subscriptions/${id}/resume`).send({ reason: 'back' }).expect(200);
    const { renewat, expiresat } = await tenant.grant(sink);
    expect(Date.parse(renewat)).toBeLessThan(Date.parse(expiresat));
    await startRenewal(sink);
    await drain();
    expect(await renewals(id)).toMatchObject([{ state: 'granted' }]);
  });

  test('one renewal serves all subscriptions of the pair, and all of them see it', async () => {
    const { id, sink, path } = await granted();
    const second = await tenant.register(sink);
    const asked = registry.receiver.asked.length;
    registry.receiver.consent(path, { rate: '77' });
    await startRenewal(sink);
    await drain();
    expect(registry.receiver.asked.length - asked).toBe(1);
    for (const one of [id, second.id]) {
      expect(await tenant.read(one)).toMatchObject({ status: 'active', statusdetails: { allowedrate: 77 } });
      expect(await renewals(one)).toHaveLength(1);
    }
  });

  test('a renewal in flight when the last subscription is deleted revives nothing', async () => {
    const { id, sink, path } = await granted();
    const [reached, released] = [createGate(), createGate()];
    registry.receiver.on(path, async (_request, response) => {
      reached.open();
      await released.opened;
      response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '*' }).end();
    });
    await startRenewal(sink);
    const work = drain();
    await reached.opened;
    await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
    released.open();
    await work;
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
  });

  test('an agreement has its own expiry: it is not renewed, and a refusal does not end it', async () => {
    const { id, sink, path } = await granted();
    const agreement = { origin: tenant.origin, sink, allowedrate: 9, agreement: 'Z-2026-1' };
    const expiresat = new Date(Date.now() + 3_600_000).toISOString();
    await tenant.admin
      .post('/v1/grants')
      .send({ ...agreement, expiresat })
      .expect(201);
    await startRenewal(sink);
    expect(await renewals(id)).toEqual([]);
    registry.receiver.on(path, (_request, response) => void response.writeHead(302).end());
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 9, basis: 'agreement' });
  });

  test('a renewal that gets no response schedules no renewal of an agreement recorded meanwhile', async () => {
    const { id, sink, path } = await granted();
    registry.receiver.on(path, (_request, response) => response.destroy());
    await startRenewal(sink);
    const expiresat = new Date(Date.now() + 3_600_000).toISOString();
    const agreement = { origin: tenant.origin, sink, allowedrate: 9, agreement: 'Z-2026-2', expiresat };
    await tenant.admin.post('/v1/grants').send(agreement).expect(201);
    await exhaust(registry);
    expect(await renewals(id)).toMatchObject([{ state: 'unreachable' }]);
    expect(await tenant.grant(sink)).not.toHaveProperty('renewat');
    expect(await tenant.read(id)).toMatchObject({ statusdetails: { next: 'The grant expires.', nextat: expiresat } });
  });
});
