import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startRegistry, type Client, type Registry } from '../support/registry.js';

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
  expect(created.body).toMatchObject({ status: 'active', statusdetails: { reason: 'granted', allowedrate: 100 } });
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
