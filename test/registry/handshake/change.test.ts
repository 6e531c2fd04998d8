import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { lockPairs } from '../../../src/registry/grants/write.js';
import { recordCooldowns } from '../../../src/registry/handshake/cooldown.js';
import { createGate } from '../../support/gate.js';
import { passCallbacks, passDelays, passGrant, passTurns, reachRenewal } from '../../support/pass-time.js';
import { offeredBy } from '../../support/offer.js';
import { isServer, startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** The effects of a change of a subscription, or of a requested handshake, on its handshakes and its grant. */
let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({ start: false, env: { ASSENT_HANDSHAKE_RETRY_MS: '3600000' } });
  tenant = await createTenant(registry);
});
beforeEach(() => void registry.receiver.asked.splice(0));
afterAll(() => registry.stop());

const asked = () => registry.receiver.asked.map(({ path }) => path);
const drain = () => registry.service.worker.drain();
let count = 0;
/** A webhook that consents, on its own path. */
function consenting(rate = '100') {
  const path = `/change-${(count += 1)}`;
  registry.receiver.consent(path, { rate });
  return { path, sink: registry.receiver.sink(path) };
}
/** A webhook that consents when the gate opens. */
function held() {
  const path = `/held-${(count += 1)}`;
  const [reached, released] = [createGate(), createGate()];
  const rates: unknown[] = [];
  registry.receiver.on(path, async (request, response) => {
    rates.push(request.headers['webhook-request-rate']);
    reached.open();
    await released.opened;
    response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '3' }).end();
  });
  return { path, sink: registry.receiver.sink(path), reached, released, rates };
}

describe('another sink', () => {
  test('starts a handshake, and the grant of the old one ends with its last subscription', async () => {
    const [old, next] = [consenting('100'), consenting('50')];
    const { id } = await tenant.register(old.sink);
    expect(await tenant.replace(id, { sink: next.sink })).toMatchObject({
      status: 'active',
      statusdetails: { allowedrate: 50 },
    });
    expect(asked()).toEqual([old.path, next.path]);
    expect(await tenant.permission(old.sink)).toMatchObject({ allowed: false, denial: 'ended' });
    expect(await tenant.grant(old.sink)).toMatchObject({ state: 'ended', endcode: 'no_subscription' });
  });

  test('leaves the grant of the old one to subscriptions that still use it', async () => {
    const [old, next] = [consenting(), consenting()];
    const first = await tenant.register(old.sink);
    await tenant.register(old.sink);
    await tenant.replace(first.id, { sink: next.sink });
    expect(await tenant.permission(old.sink)).toMatchObject({ allowed: true });
  });

  test('makes a later response of the old one count for nothing', async () => {
    const [old, next] = [held(), consenting('50')];
    const { id } = await tenant.register(old.sink, {}, 'respond-async');
    const work = drain();
    await old.reached.opened;
    await tenant.replace(id, { sink: next.sink });
    old.released.open();
    await work;
    expect(await tenant.permission(old.sink)).toMatchObject({ allowed: false, denial: 'no_grant' });
    expect(await tenant.read(id)).toMatchObject({ status: 'active', statusdetails: { allowedrate: 50 } });
    expect((await tenant.handshakes(id)).map(({ state }) => state)).toEqual(['granted', 'cancelled']);
  });

  test('sends no handshake while suspended, and after a resume the responses of the old sink do not count', async () => {
    const refusing = `/change-${(count += 1)}`;
    registry.receiver.on(refusing, (_request, response) => void response.writeHead(302).end());
    const next = consenting();
    await tenant.register(next.sink);
    const { id, statusdetails } = await tenant.register(registry.receiver.sink(refusing));
    await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'moving' }).expect(200);
    registry.receiver.asked.splice(0);
    await tenant.replace(id, { sink: next.sink });
    expect(asked()).toEqual([]);
    await tenant.subscriber.post(`/v1/subscriptions/${id}/resume`).send({ reason: 'moved' }).expect(200);
    const resumed = await tenant.read(id);
    expect(resumed).toMatchObject({ status: 'active' });
    expect(resumed.statusdetails.handshake).not.toBe(statusdetails.handshake);

    await passGrant(registry, next.sink);
    expect(await tenant.read(id)).toMatchObject({ status: 'expired' });
  });

  test('set while suspended is asked after a resume, even if it has consented for others', async () => {
    const [old, next] = [consenting(), consenting('50')];
    await tenant.register(next.sink);
    const { id } = await tenant.register(old.sink, { requestedrate: 10 });
    await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'moving' }).expect(200);
    await tenant.replace(id, { sink: next.sink, requestedrate: 10 });
    registry.receiver.asked.splice(0);
    for (const reason of ['moved', 'moved, I said']) {
      await tenant.subscriber.post(`/v1/subscriptions/${id}/resume`).send({ reason }).expect(200);
      expect(registry.receiver.asked).toMatchObject([{ path: next.path, headers: { 'webhook-request-rate': '10' } }]);
      await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'a pause' }).expect(200);
    }
    expect(await tenant.handshakes(id)).toMatchObject([{ sink: next.sink, state: 'granted' }, { sink: old.sink }]);
  });
});

describe('another origin', () => {
  test('starts a handshake, and has its own grant', async () => {
    const name = 'second.example.com';
    await tenant.admin.post('/v1/origins').send({ name, requestedrate: 10 }).expect(201);
    const { sink, path } = consenting();
    const { id } = await tenant.register(sink);
    expect(await tenant.replace(id, { sink, origin: name })).toMatchObject({ status: 'active', origin: name });
    expect(registry.receiver.asked.map(({ headers }) => headers['webhook-request-origin'])).toEqual([
      tenant.origin,
      name,
    ]);
    expect(asked()).toEqual([path, path]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
    expect(await tenant.permission(sink, name)).toMatchObject({ allowed: true });
  });
});

describe('changed filters, types or subject', () => {
  test('need no handshake: the consent is about the sink', async () => {
    const { sink, path } = consenting();
    const { id } = await tenant.register(sink);
    const before = await tenant.grant(sink);
    await tenant.replace(id, { sink, filters: [{ prefix: { type: 'nl.zaken.' } }], types: ['nl.zaken.aangemaakt'] });
    await tenant.subscriber
      .patch(`/v1/subscriptions/${id}`)
      .set('Content-Type', 'application/merge-patch+json')
      .send({ subject: 'zaak-1' })
      .expect(200);
    await drain();
    expect(asked()).toEqual([path]);
    expect(await tenant.grant(sink)).toEqual(before);
    expect(await tenant.read(id)).toMatchObject({ status: 'active', subject: 'zaak-1' });
  });
});

describe('another requested rate', () => {
  test('is requested', async () => {
    const { sink } = consenting();
    const { id } = await tenant.register(sink, { requestedrate: 10 });
    await tenant.replace(id, { sink, requestedrate: 20 });
    expect(registry.receiver.asked.map(({ headers }) => headers['webhook-request-rate'])).toEqual(['10', '20']);
  });

  test('is requested even if a handshake with the old one is in flight', async () => {
    const { sink, reached, released, rates } = held();
    const { id } = await tenant.register(sink, { requestedrate: 10 }, 'respond-async');
    const work = drain();
    await reached.opened;
    await tenant.subscriber
      .put(`/v1/subscriptions/${id}`)
      .set('Prefer', 'respond-async')
      .send({ protocol: 'HTTP', sink, requestedrate: 20 })
      .expect(200);
    released.open();
    await work;
    await drain();
    expect(rates).toEqual(['10', '20']);
    expect(await tenant.read(id)).toMatchObject({ status: 'active', requestedrate: 20 });
    expect(await tenant.grant(sink)).toMatchObject({ requestedrate: 20 });
  });

  test.each([
    [503, 10, 5_000],
    [200, 5_000, 10],
    [302, 5_000, 10],
    [410, 5_000, 10],
  ])('is not granted by the callback of a request with the old one that got %i', async (status, before, after) => {
    const path = `/change-${(count += 1)}`;
    const callbacks: URL[] = [];
    registry.receiver.on(path, (request, response) => {
      callbacks.push(...offeredBy(request).map((callback) => new URL(callback)));
      response.writeHead(status).end();
    });
    const sink = registry.receiver.sink(path);
    const { id } = await tenant.register(sink, { requestedrate: before });
    await tenant.replace(id, { sink, requestedrate: after });
    const call = async (callback?: URL) =>
      (await tenant.sender.post(`${callback?.pathname}${callback?.search}`)).status;
    expect(await call(callbacks[0])).toBe(404);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
    expect(await call(callbacks[1])).toBe(200);
    expect(await call(callbacks[0])).toBe(404);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: after });
  });

  (isServer() ? test : test.skip).each([['registration'], ['renewal']])(
    'cancels a %s with the old one that is being claimed at that moment',
    async (trigger) => {
      const { sink } = consenting();
      const { id } = await tenant.register(sink, { requestedrate: 100 }, 'respond-async');
      if (trigger === 'renewal') {
        await drain();
        await reachRenewal(registry, sink);
        await registry.service.sweep();
      }
      const waits = `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      const untilWaiting = async (many: number, unless = () => false) => {
        while (!unless() && ((await registry.sql<{ count: number }>(waits))[0]?.count ?? 0) < many);
      };
      let work: Promise<void> | undefined;
      let replacing: Promise<unknown> | undefined;
      await registry.service.database.write(async ({ sql }) => {
        await sql.$executeRaw`lock table rate_window in share mode`;
        // The claim has locked the handshake, and waits.
        work = drain();
        await untilWaiting(1);
        let isOver = false;
        replacing = tenant.replace(id, { sink, requestedrate: 5 }, 'respond-async').then(() => (isOver = true));
        await untilWaiting(2, () => isOver);
      });
      await Promise.all([replacing, work]);
      await drain();
      const handshakes = await tenant.handshakes(id);
      expect(handshakes.find((each) => each.trigger === trigger)).toMatchObject({
        state: 'cancelled',
        requestedrate: 100,
      });
      expect(handshakes[0]).toMatchObject({ state: 'granted', requestedrate: 5 });
      expect(await tenant.grant(sink)).toMatchObject({ requestedrate: 5 });
    },
  );

  test('is not undone by a renewal with the old one that is in flight', async () => {
    const { path, sink } = consenting();
    const { id } = await tenant.register(sink, { requestedrate: 100 });
    const [reached, released] = [createGate(), createGate()];
    const rates: unknown[] = [];
    registry.receiver.on(path, async ({ headers }, response) => {
      const rate = String(headers['webhook-request-rate']);
      if (rates.push(rate) === 1) {
        reached.open();
        await released.opened;
      }
      response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': rate }).end();
    });
    await reachRenewal(registry, sink);
    await registry.service.sweep();
    const work = drain();
    await reached.opened;
    await tenant.replace(id, { sink, requestedrate: 5 });
    released.open();
    await work;
    await registry.service.sweep();
    await drain();
    expect(rates).toEqual(['100', '5']);
    expect(await tenant.grant(sink)).toMatchObject({ state: 'live', allowedrate: 5, requestedrate: 5 });
  });

  test.each([
    ['was not sent yet', false],
    ['is due for a retry', true],
  ])('is not undone by a renewal with the old one that %s', async (_, fails) => {
    const { path, sink } = consenting();
    const { id } = await tenant.register(sink, { requestedrate: 100 });
    registry.receiver.on(path, (_request, response) => response.destroy());
    await reachRenewal(registry, sink);
    await registry.service.sweep();
    if (fails) await drain();
    await passDelays(registry);

    const agreed = createGate();
    const rates: string[] = [];
    registry.receiver.on(path, async ({ headers }, response) => {
      const rate = String(headers['webhook-request-rate']);
      rates.push(rate);
      if (rate === '100') await agreed.opened;
      response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': rate }).end();
    });
    await tenant.replace(id, { sink, requestedrate: 5 }, 'respond-async');
    const work = drain();
    while ((await tenant.grant(sink)).allowedrate !== 5);
    agreed.open();
    await work;
    expect(await tenant.grant(sink)).toMatchObject({ state: 'live', allowedrate: 5, requestedrate: 5 });

    await passDelays(registry);
    await drain();
    // A renewal that was sent with the old rate is cancelled; one that was not sent yet requests the new rate.
    expect(rates).toEqual(fails ? ['5'] : ['5', '5']);
  });

  test.each([
    ['closes', false],
    ['closes, even if set while suspended,', true],
  ])('%s the callback of a renewal with the old one, and the live grant is renewed later', async (_, isSuspended) => {
    const { path, sink } = consenting();
    const { id } = await tenant.register(sink, { requestedrate: 100 });
    const callbacks: URL[] = [];
    registry.receiver.on(path, ({ headers }, response) => {
      callbacks.push(...offeredBy({ headers }).map((callback) => new URL(callback)));
      response.writeHead(200).end();
    });
    await reachRenewal(registry, sink);
    await registry.service.sweep();
    await drain();
    const say = (what: string) =>
      tenant.subscriber.post(`/v1/subscriptions/${id}/${what}`).send({ reason: 'too much' }).expect(200);
    if (isSuspended) await say('suspend');
    await tenant.replace(id, { sink, requestedrate: 5 });
    if (isSuspended) await say('resume');
    const call = async (callback?: URL) =>
      (await tenant.sender.post(`${callback?.pathname}${callback?.search}`)).status;
    expect(await call(callbacks[0])).toBe(404);
    const { renewat, expiresat, ...grant } = await tenant.grant(sink);
    expect(grant).toMatchObject({ state: 'live', allowedrate: 100 });
    expect(Date.parse(renewat)).toBeGreaterThan(Date.now());
    expect(Date.parse(renewat)).toBeLessThan(Date.parse(expiresat));
    expect(await call(callbacks[1])).toBe(200);
    expect(await tenant.grant(sink)).toMatchObject({ allowedrate: 5, requestedrate: 5 });
  });

  test('does not invalidate a callback that has granted at the old one', async () => {
    const path = `/change-${(count += 1)}`;
    const callbacks: URL[] = [];
    registry.receiver.on(path, (request, response) => {
      callbacks.push(...offeredBy(request).map((callback) => new URL(callback)));
      response.writeHead(200).end();
    });
    const sink = registry.receiver.sink(path);
    const { id } = await tenant.register(sink, { requestedrate: 10 });
    const call = () => tenant.sender.post(`${callbacks[0]?.pathname}${callbacks[0]?.search}`).expect(200);
    await call();
    await tenant.replace(id, { sink, requestedrate: 20 });
    expect(callbacks).toHaveLength(2);
    expect((await call()).body).toMatchObject({ granted: true, allowedrate: 10 });
  });

  test('schedules no renewal of an agreement', async () => {
    const { sink, path } = consenting();
    const { id } = await tenant.register(sink, { requestedrate: 10 });
    const expiresat = new Date(Date.now() + 3_600_000).toISOString();
    const agreement = { origin: tenant.origin, sink, allowedrate: 9, agreement: 'Z-2026-3', expiresat };
    await tenant.admin.post('/v1/grants').send(agreement).expect(201);
    registry.receiver.on(path, (_request, response) => response.destroy());
    await tenant.replace(id, { sink, requestedrate: 20 });
    expect(await tenant.grant(sink)).not.toHaveProperty('renewat');
    await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
  });

  test('does not affect a renewal with the rate that another subscription of the pair requests', async () => {
    const { path, sink } = consenting();
    const { id } = await tenant.register(sink, { requestedrate: 50 });
    const other = await tenant.register(sink, { requestedrate: 100 });
    registry.receiver.on(path, (_request, response) => void response.writeHead(200).end());
    await reachRenewal(registry, sink);
    await registry.service.sweep();
    await drain();
    await tenant.replace(id, { sink, requestedrate: 5 });
    const renewals = (await tenant.handshakes(id)).filter(({ trigger }) => trigger === 'renewal');
    expect(renewals).toMatchObject([{ state: 'due', requestedrate: 100 }]);
    for (const one of [id, other.id]) await tenant.subscriber.delete(`/v1/subscriptions/${one}`).expect(200);
  });

  test('set while suspended is requested when the subscription is resumed', async () => {
    const { sink } = consenting();
    const { id } = await tenant.register(sink, { requestedrate: 10 });
    await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'too much' }).expect(200);
    await tenant.replace(id, { sink, requestedrate: 5 });
    await tenant.subscriber.post(`/v1/subscriptions/${id}/resume`).send({ reason: 'less' }).expect(200);
    expect(registry.receiver.asked.map(({ headers }) => headers['webhook-request-rate'])).toEqual(['10', '5']);
    expect(await tenant.grant(sink)).toMatchObject({ requestedrate: 5 });

    await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'a pause' }).expect(200);
    await tenant.subscriber.post(`/v1/subscriptions/${id}/resume`).send({ reason: 'its end' }).expect(200);
    expect(registry.receiver.asked).toHaveLength(2);
  });
});

describe('a suspended subscription', () => {
  const move = (step: 'suspend' | 'resume', id: string) =>
    tenant.subscriber.post(`/v1/subscriptions/${id}/${step}`).send({ reason: 'a pause' }).expect(200);

  test('sends nothing that is due until it is resumed', async () => {
    const { sink, path } = consenting();
    const fresh = await tenant.register(sink, {}, 'respond-async');
    registry.receiver.on(path, (_request, response) => response.destroy());
    const failing = await tenant.register(sink);
    for (const { id } of [fresh, failing]) await move('suspend', id);
    registry.receiver.asked.splice(0);
    registry.receiver.consent(path);
    const again = await tenant.subscriber.post(`/v1/subscriptions/${failing.id}/handshakes`).expect(201);
    expect(again.body).toMatchObject({ id: failing.statusdetails.handshake, state: 'due' });
    expect(again.body).not.toHaveProperty('nextat');
    await passDelays(registry);
    await drain();
    expect(asked()).toEqual([]);

    await move('resume', fresh.id);
    expect(asked()).toEqual([path]);
    expect(await tenant.read(fresh.id)).toMatchObject({ status: 'active' });
    // It is active by the consent of the other one, although its own handshake was not sent yet.
    await move('resume', failing.id);
    await drain();
    expect(asked()).toEqual([path, path]);
    for (const { id } of [fresh, failing]) {
      expect(await tenant.handshakes(id)).toMatchObject([{ state: 'granted', trigger: 'registration' }]);
    }
  });

  test('keeps a response that arrives during the suspension, and does not retry a failure', async () => {
    for (const [status, state] of [
      [200, 'granted'],
      [503, 'due'],
    ] as const) {
      const path = `/change-${(count += 1)}`;
      const [reached, released] = [createGate(), createGate()];
      registry.receiver.on(path, async (_request, response) => {
        reached.open();
        await released.opened;
        response.writeHead(status, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '3' }).end();
      });
      const { id } = await tenant.register(registry.receiver.sink(path), {}, 'respond-async');
      const work = drain();
      await reached.opened;
      await move('suspend', id);
      released.open();
      await work;
      await passDelays(registry);
      await drain();
      expect(await tenant.handshakes(id)).toMatchObject([{ state, attempts: [{}] }]);
      expect(asked().filter((each) => each === path)).toHaveLength(1);
    }
  });

  test('whose process died during a handshake is not retried by another one, and does not count as late', async () => {
    const { sink, path } = consenting();
    const { id } = await tenant.register(sink, {}, 'respond-async');
    const died = `update handshake set state = 'asking', claimid = gen_random_uuid(), claimeduntil = now() - interval '1 hour'
      where subscription = $1::uuid`;
    await registry.sql(died, id);
    await move('suspend', id);
    await drain();
    expect(asked()).toEqual([]);
    const { text } = await supertest(registry.service.operations).get('/metrics').expect(200);
    expect(text).toMatch(/assent_handshake_lag_seconds 0\n/);
    await move('resume', id);
    expect(asked()).toEqual([path]);
  });

  test('gets no renewal while all of its pair are suspended, even if one is due', async () => {
    const { sink, path } = consenting();
    const [one, other] = [await tenant.register(sink), await tenant.register(sink)];
    await reachRenewal(registry, sink);
    await registry.service.sweep();
    registry.receiver.asked.splice(0);
    for (const { id } of [one, other]) await move('suspend', id);
    await drain();
    expect(asked()).toEqual([]);
    await move('resume', other.id);
    await drain();
    expect(asked()).toEqual([path]);
    expect((await tenant.handshakes(other.id))[0]).toMatchObject({ trigger: 'renewal', state: 'granted' });
  });

  test.each([
    ['expired', (sink: string) => passGrant(registry, sink)],
    ['ended', (sink: string) => tenant.gone(sink)],
  ])('starts one handshake when it is resumed after the grant due for renewal %s', async (_title, end) => {
    const { sink, path } = consenting();
    const { id } = await tenant.register(sink);
    await reachRenewal(registry, sink);
    await registry.service.sweep();
    await move('suspend', id);
    await end(sink);
    registry.receiver.asked.splice(0);
    await move('resume', id);
    await drain();
    expect(asked()).toEqual([path]);
    expect(await tenant.handshakes(id)).toMatchObject([
      { trigger: 'request', state: 'granted' },
      { trigger: 'renewal', state: 'cancelled' },
      { trigger: 'registration' },
    ]);
  });
});

describe('POST to the handshakes of a subscription', () => {
  test('starts a handshake, and the newest consent sets the rate', async () => {
    const { sink, path } = consenting('100');
    const { id } = await tenant.register(sink);
    registry.receiver.consent(path, { rate: '5' });
    const { body } = await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect(body).toMatchObject({ trigger: 'request', state: 'granted', attempts: [{ number: 1 }] });
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 5 });
  });

  test('ends no grant if the webhook refuses', async () => {
    const { sink, path } = consenting('100');
    const { id } = await tenant.register(sink);
    registry.receiver.on(path, (_request, response) => void response.writeHead(302).end());
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 100 });
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
  });

  test('brings forward a handshake that waits for a retry, and adds no second one', async () => {
    const { sink, path } = consenting();
    registry.receiver.on(path, (_request, response) => response.destroy());
    const { id, statusdetails } = await tenant.register(sink);
    registry.receiver.consent(path);
    const { body } = await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect(body).toMatchObject({ id: statusdetails.handshake, state: 'granted' });
    expect(await tenant.handshakes(id)).toHaveLength(1);
  });

  test.each([429, 503])(
    'a %i with Retry-After is respected, even after another request or another rate',
    async (status) => {
      const { sink, path } = consenting();
      registry.receiver.on(path, (_request, response) => response.writeHead(status, { 'Retry-After': '600' }).end());
      const { id, statusdetails } = await tenant.register(sink);
      const { nextat } = statusdetails;
      const again = await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
      expect(again.body).toMatchObject({ id: statusdetails.handshake, state: 'due' });
      for (const requestedrate of [20, 30]) {
        const { body } = await tenant.subscriber
          .put(`/v1/subscriptions/${id}`)
          .send({ protocol: 'HTTP', sink, requestedrate })
          .expect(200);
        const next = Date.parse(body.statusdetails.nextat);
        expect(next).toBeGreaterThan(Date.now() + 590_000);
        expect(next).toBeLessThanOrEqual(Date.parse(nextat));
      }
      await drain();
      expect(asked()).toEqual([path]);

      registry.receiver.consent(path);
      await passDelays(registry);
      await drain();
      expect(await tenant.handshakes(id)).toMatchObject([
        { state: 'granted', requestedrate: 30 },
        { state: 'cancelled' },
      ]);
      // What it returned before it consented does not count any more.
      await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
      expect(asked()).toHaveLength(3);
    },
  );

  test.each([429, 503])('a %i with Retry-After is respected for every subscription of the pair', async (status) => {
    const name = `busy-${status}.example.com`;
    await tenant.admin.post('/v1/origins').send({ name, requestedrate: 10 }).expect(201);
    const { sink, path } = consenting();
    const moving = await tenant.register(consenting().sink);
    const waiting = await tenant.register(sink, {}, 'respond-async');
    registry.receiver.asked.splice(0);
    registry.receiver.on(path, (_request, response) => response.writeHead(status, { 'Retry-After': '600' }).end());
    const { statusdetails } = await tenant.register(sink);
    expect(asked()).toEqual([path]);
    const [one, other] = await Promise.all([tenant.register(sink), tenant.register(sink, { requestedrate: 7 })]);
    await tenant.replace(moving.id, { sink });
    await tenant.subscriber.post(`/v1/subscriptions/${one.id}/handshakes`).expect(201);
    for (const { id } of [waiting, one, other, moving]) {
      const { status: standing, statusdetails: details } = await tenant.read(id);
      expect(standing).toBe('pending');
      const fromFirstMs = Date.parse(details.nextat) - Date.parse(statusdetails.nextat);
      expect(Date.parse(details.nextat)).toBeGreaterThan(Date.now() + 590_000);
      expect(fromFirstMs).toBeLessThanOrEqual(0);
    }
    await drain();
    expect(asked()).toEqual([path]);

    // Another origin is another pair.
    registry.receiver.consent(path);
    await tenant.register(sink, { origin: name });
    await tenant.register(consenting().sink);
    expect(asked()).toHaveLength(3);
    await passDelays(registry);
    await drain();
    for (const { id } of [waiting, one, other, moving])
      expect(await tenant.read(id)).toMatchObject({ status: 'active' });
    await tenant.register(sink);
    expect(asked()).toHaveLength(9);
  });

  test.each([
    ['a consent', 200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '9' }, true],
    ['a refusal', 302, { Location: 'https://localhost/' }, true],
    ['a shorter cool-down', 429, { 'Retry-After': '0' }, true],
    ['a longer cool-down', 429, { 'Retry-After': '7200' }, false],
  ])('of two responses that cross, the latest counts: %s', async (_title, status, headers, isAsked) => {
    const path = `/crossing-${(count += 1)}`;
    const sink = registry.receiver.sink(path);
    const [reached, released] = [createGate(), createGate()];
    registry.receiver.on(path, async (_request, response) => {
      reached.open();
      await released.opened;
      response.writeHead(status, headers).end();
    });
    await tenant.register(sink, {}, 'respond-async');
    const work = drain();
    await reached.opened;
    registry.receiver.on(path, (_request, response) => response.writeHead(503, { 'Retry-After': '3600' }).end());
    await tenant.register(sink);
    released.open();
    await work;
    registry.receiver.asked.splice(0);
    registry.receiver.consent(path);
    const { id } = await tenant.register(sink);
    expect(asked()).toEqual(isAsked ? [path] : []);
    const [handshake] = await tenant.handshakes(id);
    if (!isAsked) expect(Date.parse(handshake.nextat)).toBeGreaterThan(Date.now() + 7_100_000);
  });

  test('an attempt without a response, and one whose process died, respect a cool-down that began meanwhile', async () => {
    const path = `/silent-${(count += 1)}`;
    const sink = registry.receiver.sink(path);
    const [reached, released] = [createGate(), createGate()];
    registry.receiver.on(path, async (_request, response) => {
      reached.open();
      await released.opened;
      response.destroy();
    });
    const { id } = await tenant.register(sink, {}, 'respond-async');
    const work = drain();
    await reached.opened;
    registry.receiver.on(path, (_request, response) => response.writeHead(503, { 'Retry-After': '7200' }).end());
    const { id: other } = await tenant.register(sink);
    released.open();
    await work;
    const [handshake] = await tenant.handshakes(id);
    expect(handshake).toMatchObject({ state: 'due', attempts: [{ verdict: expect.any(String) }] });
    expect(Date.parse(handshake.nextat)).toBeGreaterThan(Date.now() + 7_100_000);

    registry.receiver.asked.splice(0);
    registry.receiver.consent(path);
    await registry.sql(`update handshake set dueat = now() - interval '1 second' where subscription = $1::uuid`, id);
    await passTurns(registry);
    const died = `update handshake set state = 'asking', claimid = gen_random_uuid(), claimeduntil = now() - interval '1 hour'
      where subscription = $1::uuid`;
    await registry.sql(died, other);
    await drain();
    expect(asked()).toEqual([]);
    await passDelays(registry);
    await drain();
    expect(asked().filter((each) => each === path)).toHaveLength(2);
  });

  // The embedded database has one connection.
  (isServer() ? test : test.skip)(
    'a question that is put while a cool-down is being written is due after it',
    async () => {
      const path = `/change-${(count += 1)}`;
      const sink = registry.receiver.sink(path);
      registry.receiver.on(path, (_request, response) => response.destroy());
      const { id } = await tenant.register(sink);
      let asking: Promise<unknown> | undefined;
      await registry.service.database.write(async ({ sql }) => {
        await lockPairs(sql, [{ origin: tenant.origin, sink }]);
        await recordCooldowns(sql, [{ tenant: 'gemeente', origin: tenant.origin, sink, ms: 7_200_000 }], new Date());
        let isOver = false;
        asking = tenant.subscriber
          .post(`/v1/subscriptions/${id}/handshakes`)
          .set('Prefer', 'respond-async')
          .expect(201)
          .then(() => (isOver = true));
        const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        while (!isOver && (await registry.sql(waits)).length === 0);
      });
      await asking;
      const [handshake] = await tenant.handshakes(id);
      expect(Date.parse(handshake.nextat)).toBeGreaterThan(Date.now() + 7_100_000);
    },
  );

  test('starts no second handshake while one is in flight', async () => {
    const { sink, reached, released, rates } = held();
    const { id } = await tenant.register(sink, {}, 'respond-async');
    const work = drain();
    await reached.opened;
    for (let times = 0; times < 3; times += 1) {
      await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'wait=0').expect(201);
    }
    released.open();
    await work;
    await drain();
    expect(rates).toHaveLength(1);
  });

  test('is only for admins after a revocation, and then the webhook decides', async () => {
    const { sink, path } = consenting();
    const { id } = await tenant.register(sink);
    await tenant.revoke(sink);
    expect(await tenant.read(id)).toMatchObject({ status: 'refused', statusdetails: { code: 'revoked' } });
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(403);
    const again = await tenant.register(sink);
    expect(again).toMatchObject({ status: 'refused', statusdetails: { code: 'revoked' } });
    expect(asked()).toEqual([path]);
    await tenant.admin.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    expect(await tenant.changes(sink)).toEqual([
      'subscription.created',
      'grant.live',
      'grant.revoked',
      'subscription.created',
      'grant.ended',
      'grant.live',
    ]);
  });

  test('a revocation during a handshake is not undone by its consent', async () => {
    const { sink, path } = consenting();
    const { id } = await tenant.register(sink);
    const [reached, released] = [createGate(), createGate()];
    registry.receiver.on(path, async (_request, response) => {
      reached.open();
      await released.opened;
      response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '*' }).end();
    });
    await reachRenewal(registry, sink);
    await registry.service.sweep();
    const work = drain();
    await reached.opened;
    await tenant.revoke(sink);
    released.open();
    await work;
    await passDelays(registry);
    await passCallbacks(registry);
    await registry.service.sweep();
    await drain();
    expect(await tenant.read(id)).toMatchObject({ status: 'refused', statusdetails: { code: 'revoked' } });
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'revoked' });
  });
});
