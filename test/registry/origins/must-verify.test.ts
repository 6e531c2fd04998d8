import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** An operator that demands the proof of names. */
let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({ start: false, env: { ASSENT_REQUIRE_VERIFIED_ORIGINS: 'true' } });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

test('an unverified origin takes no subscriptions and no changes of what they receive; all else goes on', async () => {
  const path = `/v1/origins/${tenant.origin}`;
  const { body: origin } = await tenant.subscriber.get(path).expect(200);
  expect(origin).toMatchObject({ mustverify: true, verification: { state: 'unverified' } });
  const { record } = origin.verification;
  registry.receiver.consent('/needs-proof');
  const request = { sink: registry.receiver.sink('/needs-proof'), protocol: 'HTTP' };
  const register = (more: object = {}) => tenant.subscriber.post('/v1/subscriptions').send({ ...request, ...more });
  for (const more of [{}, { suspended: true }]) {
    const { body } = await register(more).expect(409);
    expect([body.code, body.detail.includes(record)]).toEqual(['origin_not_verified', true]);
  }

  registry.dns.zone[`_assent.${tenant.origin}`] = [String(/"(.+)"/.exec(record)?.[1])];
  await tenant.admin.post(`${path}/verify`).expect(200);
  const { id } = await tenant.register(request.sink);
  await registry.service.worker.drain();
  await registry.sql('update origin set verifiedby = null, verifiedkey = null, verifiedat = null');

  const replace = (more: object) => tenant.subscriber.put(`/v1/subscriptions/${id}`).send({ ...request, ...more });
  expect((await replace({ types: ['t'] }).expect(409)).body.code).toBe('origin_not_verified');
  await replace({ sinkcredential: { credentialtype: 'PLAIN', identifier: 'a', secret: 'b' } }).expect(200);
  await registry.service.follow();
  expect(await tenant.permission(request.sink)).toMatchObject({ allowed: true });
  await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
});
