import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

let paths = 0;
function newSink(): string {
  const path = `/draft${(paths += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}
const askedAt = (sink: string) => registry.receiver.asked.filter(({ path }) => sink.endsWith(path)).length;
const pathOf = ({ id }: { id: string }) => `/v1/subscriptions/${id}`;
const resume = async (draft: { id: string }) =>
  (
    await tenant.subscriber
      .post(`${pathOf(draft)}/resume`)
      .send({ reason: 'Ready.' })
      .expect(200)
  ).body;

describe('a subscription that is registered as suspended', () => {
  test('is stored, and its webhook is not asked, not even when it is changed', async () => {
    const sink = newSink();
    const draft = await tenant.register(sink, { suspended: true });
    expect(draft).toMatchObject({
      status: 'suspended',
      statusdetails: {
        reason: 'suspended',
        message: 'The subscriber registered this subscription as suspended. Assent has not asked the webhook.',
      },
      suspended: { by: 'subscriber', reason: 'The subscription was registered as suspended.' },
    });
    expect(draft.statusdetails).not.toHaveProperty('handshake');
    await tenant.replace(draft.id, { sink, requestedrate: 7 });
    await registry.service.sweep();
    await registry.service.worker.drain();
    expect(askedAt(sink)).toBe(0);
    expect(await tenant.handshakes(draft.id)).toEqual([]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, reason: 'no_grant' });
  });

  test('says so in Dutch', async () => {
    const draft = await tenant.register(newSink(), { suspended: true });
    const { body } = await tenant.subscriber.get(pathOf(draft)).set('Accept-Language', 'nl').expect(200);
    expect(body.suspended.reason).toBe('Het abonnement is onderbroken aangemaakt.');
    expect(body.statusdetails.message).toMatch(/^De abonnee heeft dit abonnement onderbroken aangemaakt\./);
  });

  test('is checked as any other', async () => {
    const { body } = await tenant.subscriber
      .post('/v1/subscriptions')
      .send({ sink: newSink(), protocol: 'AMQP', suspended: true })
      .expect(400);
    expect(body.faults).toMatchObject([{ pointer: '/protocol' }]);
  });

  test('asks its webhook when it is resumed', async () => {
    const sink = newSink();
    const draft = await tenant.register(sink, { suspended: true });
    const resumed = await resume(draft);
    expect(resumed).toMatchObject({ status: 'active', statusdetails: { reason: 'granted' } });
    expect(resumed).not.toHaveProperty('suspended');
    expect(askedAt(sink)).toBe(1);
  });

  test('asks when it is resumed even if another subscription already has the grant of its sink', async () => {
    const sink = newSink();
    await tenant.register(sink);
    const draft = await tenant.register(sink, { suspended: true });
    expect(draft.status).toBe('suspended');
    expect((await resume(draft)).status).toBe('active');
    expect(askedAt(sink)).toBe(2);
  });

  test('is the same after a repeated request, and gets the reason of a later suspension', async () => {
    const sink = newSink();
    const send = async () =>
      tenant.subscriber
        .post('/v1/subscriptions')
        .set('Idempotency-Key', 'draft')
        .send({ sink, protocol: 'HTTP', suspended: true })
        .expect(201);
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual(first.body);
    const { body } = await tenant.subscriber
      .post(`${pathOf(first.body)}/suspend`)
      .send({ reason: 'Not before June.' })
      .expect(200);
    expect(body.suspended).toMatchObject({ by: 'subscriber', reason: 'Not before June.' });
  });
});

test('suspended: false registers an active subscription, and only a boolean is accepted', async () => {
  expect((await tenant.register(newSink(), { suspended: false })).status).toBe('active');
  const { body } = await tenant.subscriber
    .post('/v1/subscriptions')
    .send({ sink: newSink(), protocol: 'HTTP', suspended: { by: 'subscriber' } })
    .expect(400);
  expect(body.faults).toMatchObject([{ pointer: '/suspended', rule: 'type' }]);
});

test('PUT and PATCH ignore suspended, whatever it is', async () => {
  const sink = newSink();
  const active = await tenant.register(sink);
  expect((await tenant.replace(active.id, { sink, suspended: true })).status).toBe('active');
  const patched = await tenant.subscriber
    .patch(pathOf(active))
    .set('Content-Type', 'application/merge-patch+json')
    .send({ suspended: true })
    .expect(200);
  expect(patched.body.status).toBe('active');
  const draft = await tenant.register(newSink(), { suspended: true });
  const put = await tenant.subscriber
    .put(pathOf(draft))
    .send({ ...draft, suspended: false })
    .expect(200);
  expect(put.body).toMatchObject({ status: 'suspended', suspended: draft.suspended });
});
