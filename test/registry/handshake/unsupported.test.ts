import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyOf, offeredBy } from '../../support/offer.js';
import { exhaust, passCallbacks, passGrant, reachRenewal } from '../../support/pass-time.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

const generous = 'generous.example.com';

/** A registry whose default origin grants unsupported targets nothing, and whose second one grants them a trickle. */
async function start(withoutPublicUrl: boolean): Promise<[Registry, Tenant]> {
  const registry = await startRegistry({ start: false, withoutPublicUrl });
  const tenant = await createTenant(registry);
  const policy = { name: generous, requestedrate: 120, unsupportedrate: 2 };
  await tenant.admin.post('/v1/origins').send(policy).expect(201);
  return [registry, tenant];
}

/** A webhook that returns a status and nothing else. */
function bare({ receiver }: Registry, status: number): { path: string; sink: string } {
  const path = `/bare-${status}-${receiver.asked.length}`;
  receiver.on(path, (_request, response) => void response.writeHead(status).end());
  return { path, sink: receiver.sink(path) };
}

describe('without a public URL', () => {
  let registry: Registry;
  let tenant: Tenant;
  beforeAll(async () => void ([registry, tenant] = await start(true)));
  afterAll(() => registry.stop());

  test('no callback is offered, and a response without consent is refused immediately', async () => {
    const { sink } = bare(registry, 200);
    const { id, status, statusdetails } = await tenant.register(sink);
    expect({ status, code: statusdetails.code }).toEqual({ status: 'refused', code: 'no_consent_headers' });
    expect(registry.receiver.asked.at(-1)?.headers).not.toHaveProperty('webhook-request-callback');
    const [handshake] = await tenant.handshakes(id);
    expect(handshake).toMatchObject({ state: 'refused', attempts: [{ number: 1 }] });
    // No advice mentions a callback either.
    for (const { advice } of [statusdetails, handshake, handshake.attempts[0]]) {
      expect(advice).toMatch(
        /^If this origin may send, return [^,]* in the response to OPTIONS\. A response with so few headers can be from the platform, before your code runs: Azure Functions returns 204\.$/,
      );
    }
  });

  test.each([405, 501])('%i is reported as unsupported, and grants nothing by default', async (code) => {
    const { sink } = bare(registry, code);
    const { status, statusdetails } = await tenant.register(sink);
    expect({ status, code: statusdetails.code }).toEqual({ status: 'refused', code: 'unsupported' });
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'no_grant' });
  });

  test.each([405, 501])("%i grants the trickle of the origin's policy, marked as such", async (code) => {
    const { sink } = bare(registry, code);
    const { status, statusdetails } = await tenant.register(sink, { origin: generous });
    expect({ status, code: statusdetails.code }).toEqual({ status: 'active', code: 'granted_by_policy' });
    expect(await tenant.permission(sink, generous)).toMatchObject({ allowed: true, allowedrate: 2, basis: 'policy' });
  });

  test.each([200, 403, 404])(
    '%i grants no trickle: only 405 and 501 mean that OPTIONS is not supported',
    async (code) => {
      const { sink } = bare(registry, code);
      expect(await tenant.register(sink, { origin: generous })).toMatchObject({ status: 'refused' });
      expect(await tenant.permission(sink, generous)).toMatchObject({ allowed: false });
    },
  );

  test('a trickle never replaces a live consent, and the handshake does not claim it', async () => {
    const { sink, path } = bare(registry, 405);
    registry.receiver.consent(path, { rate: '90' });
    const { id } = await tenant.register(sink, { origin: generous });
    bareAgain(path, 405);
    const { body } = await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect(body).toMatchObject({ state: 'refused', verdict: 'unsupported' });
    expect(await tenant.permission(sink, generous)).toMatchObject({ allowedrate: 90, basis: 'response' });
  });

  test.each([
    ['expired', (sink: string) => passGrant(registry, sink)],
    ['ended', (sink: string) => tenant.gone(sink, generous)],
  ])('a trickle is granted if a consent has %s', async (_title, end) => {
    const { sink, path } = bare(registry, 405);
    registry.receiver.consent(path, { rate: '90' });
    const { id } = await tenant.register(sink, { origin: generous });
    await end(sink);
    bareAgain(path, 405);
    const { body } = await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect(body).toMatchObject({ state: 'granted', verdict: 'granted_by_policy' });
    expect(await tenant.permission(sink, generous)).toMatchObject({ allowed: true, allowedrate: 2, basis: 'policy' });
  });

  test('a target that consented and no longer supports the handshake keeps its grant until it expires, without a trickle', async () => {
    const { sink, path } = bare(registry, 405);
    registry.receiver.consent(path, { rate: '90' });
    const { id } = await tenant.register(sink, { origin: generous });
    bareAgain(path, 405);
    await reachRenewal(registry, sink);
    await registry.service.sweep();
    await exhaust(registry);
    expect(await tenant.read(id)).toMatchObject({
      status: 'active',
      statusdetails: { allowedrate: 90, renewal: { outcome: 'no_response', verdict: 'unsupported' } },
    });
    await passGrant(registry, sink);
    expect(await tenant.read(id)).toMatchObject({ status: 'expired' });
    expect(await tenant.permission(sink, generous)).toMatchObject({ allowed: false, denial: 'expired' });
  });

  test('a trickle that an admin revoked is not granted again', async () => {
    const { sink } = bare(registry, 405);
    const { id } = await tenant.register(sink, { origin: generous });
    await reachRenewal(registry, sink);
    await registry.service.sweep();
    await tenant.revoke(sink);
    await exhaust(registry);
    expect(await tenant.read(id)).toMatchObject({ status: 'refused', statusdetails: { code: 'revoked' } });
  });

  function bareAgain(path: string, status: number) {
    registry.receiver.on(path, (_request, response) => void response.writeHead(status).end());
  }
});

describe('with a public URL', () => {
  let registry: Registry;
  let tenant: Tenant;
  beforeAll(async () => void ([registry, tenant] = await start(false)));
  afterAll(() => registry.stop());

  const callBack = (callback: string) =>
    tenant.sender.get(`/v1/callbacks/${callback.split('/').at(-1)?.split('?')[0]}`).query({ key: keyOf(callback) });
  const lastCallback = () => registry.receiver.asked.flatMap(offeredBy).at(-1) ?? '';

  test('an unsupported target can still use the callback, and is refused if it does not', async () => {
    const { sink } = bare(registry, 405);
    const { id, status, statusdetails } = await tenant.register(sink);
    expect({ status, code: statusdetails.code }).toEqual({ status: 'pending', code: 'unsupported' });
    await passCallbacks(registry);
    await registry.service.sweep();
    expect(await tenant.read(id)).toMatchObject({ status: 'refused', statusdetails: { code: 'callback_expired' } });
  });

  test('it has the trickle meanwhile, and the callback raises the rate', async () => {
    const { sink } = bare(registry, 501);
    expect(await tenant.register(sink, { origin: generous })).toMatchObject({
      status: 'active',
      statusdetails: { code: 'granted_by_policy', allowedrate: 2 },
    });
    await callBack(lastCallback()).expect(200);
    expect(await tenant.permission(sink, generous)).toMatchObject({ allowedrate: 120, basis: 'callback' });
  });

  test('the trickle is renewed again before the callback of its last renewal expires', async () => {
    const { sink, path } = bare(registry, 405);
    const { id } = await tenant.register(sink, { origin: generous });
    for (const times of [4, 6]) {
      await reachRenewal(registry, sink);
      await registry.service.sweep();
      await exhaust(registry);
      expect(registry.receiver.asked.filter((asked) => asked.path === path)).toHaveLength(times);
      expect(await tenant.read(id)).toMatchObject({ status: 'active', statusdetails: { allowedrate: 2 } });
    }
  });

  test('it keeps the trickle if the callback is not called, across renewals too', async () => {
    const { sink } = bare(registry, 405);
    const { id } = await tenant.register(sink, { origin: generous });
    for (const round of ['registration', 'renewal']) {
      if (round === 'renewal') await reachRenewal(registry, sink);
      await registry.service.sweep();
      await exhaust(registry);
      await passCallbacks(registry);
      await registry.service.sweep();
      expect(await tenant.read(id)).toMatchObject({ status: 'active', statusdetails: { allowedrate: 2 } });
    }
    expect((await tenant.grant(sink)).renewat).toEqual(expect.any(String));
  });
});
