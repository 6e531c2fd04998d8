import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

// What a client written for the CloudEvents Subscriptions API (OpenAPI document, 0.2-WIP) sends and may rely on.
let registry: Registry;
let tenant: Tenant;
let client: Client;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  client = tenant.subscriber;
  registry.receiver.consent('/webhook');
});
afterAll(() => registry.stop());

const request = (members: object = {}) => ({ sink: registry.receiver.sink('/webhook'), protocol: 'HTTP', ...members });
const leaf = { type: 'com.example.created', subject: '1', comexampleextension: 'a' };
const token = { accesstoken: 'mF_9.B5f-4.1JqM', accesstokenexpiresutc: '2027-11-20T12:00:00Z' };
const refresh = { refreshtoken: 'tGzv3JOkF0XG5Qx2TlKWIA', refreshtokenendpoint: 'https://auth.example.com/token' };

const accepted: Array<[string, object]> = [
  ['SubscriptionRequest with the two required members', {}],
  ['SubscriptionRequest with a source', { source: '/relative/reference?a=b#c' }],
  ['SubscriptionRequest with types', { types: ['com.example.created', 'com.example.deleted'] }],
  ['SubscriptionRequest with config', { config: { bucket: 'a', 'x-y': '' } }],
  ['Subscription, with an id, where a SubscriptionRequest is due', { id: '1119920371' }],
  ['ProtocolSettings without members', { protocolsettings: {} }],
  ['HTTPSettings', { protocolsettings: { headers: { 'X-Tenant': 'a' }, method: 'POST' } }],
  ['PlainCredential', { sinkcredential: { credentialtype: 'PLAIN', identifier: 'a', secret: 'b' } }],
  ['AccessTokenCredential', { sinkcredential: { credentialtype: 'ACCESSTOKEN', ...token } }],
  [
    'AccessTokenCredential with its type',
    { sinkcredential: { credentialtype: 'ACCESSTOKEN', ...token, accesstokentype: 'DPoP' } },
  ],
  ['RefreshTokenCredential', { sinkcredential: { credentialtype: 'REFRESHTOKEN', ...token, ...refresh } }],
  ['ExactFilter', { filters: [{ exact: leaf }] }],
  ['PrefixFilter', { filters: [{ prefix: leaf }] }],
  ['SuffixFilter', { filters: [{ suffix: leaf }] }],
  ['AllFilter', { filters: [{ all: [{ exact: leaf }, { any: [{ prefix: leaf }] }] }] }],
  ['AnyFilter', { filters: [{ any: [{ exact: leaf }, { not: { suffix: leaf } }] }] }],
  ['NotFilter', { filters: [{ not: { all: [{ exact: leaf }] } }] }],
  ['several filters', { filters: [{ exact: { type: 'a' } }, { prefix: { source: 'b' } }] }],
];

test.each(accepted)('%s: create, read, list, update and delete', async (_, members) => {
  const {
    id: ignored,
    sinkcredential: _credential,
    ...asked
  } = request(members) as { id?: string; sinkcredential?: object };
  const created = await client.post('/v1/subscriptions').send(request(members)).expect(201);
  expect(created.type).toBe('application/json');
  const { id } = created.body as { id: string };
  expect(id).not.toBe(ignored);
  expect(created.body).toMatchObject(asked);
  expect(JSON.stringify(created.body.sinkcredential ?? {})).not.toMatch(/identifier|secret|token"/);

  const location = new URL(created.get('Location') ?? '', registry.url);
  const path = `/v1/subscriptions/${id}`;
  expect(location.pathname).toBe(path);
  expect((await client.get(path).expect(200)).body).toEqual(created.body);
  const list = await client.get('/v1/subscriptions').expect(200);
  const { warnings: _warnings, ...listed } = created.body;
  expect(list.body).toEqual([listed]);

  // As read, and as the client stores it: the request with its new id.
  await client.put(path).send(created.body).expect(200);
  const updated = await client
    .put(path)
    .send({ ...request(members), id })
    .expect(200);
  expect({ ...updated.body, updatedat: 0 }).toEqual({ ...created.body, updatedat: 0 });

  await client.delete(path).expect(200);
  await client.get(path).expect(404);
  await client
    .put(path)
    .send({ ...request(members), id })
    .expect(404);
  await client.delete(path).expect(404);
});

describe('features of the draft that a webhook registry lacks get a clear refusal', () => {
  test.each(['MQTT3', 'MQTT5', 'AMQP', 'NATS', 'KAFKA'])('protocol %s', async (protocol) => {
    const answer = await client.post('/v1/subscriptions').send(request({ protocol })).expect(400);
    expect(answer.body.faults).toMatchObject([{ pointer: '/protocol', rule: 'protocol_not_supported' }]);
  });

  test('a method besides POST', async () => {
    const members = { protocolsettings: { method: 'PUT' } };
    const answer = await client.post('/v1/subscriptions').send(request(members)).expect(400);
    expect(answer.body.faults).toMatchObject([{ pointer: '/protocolsettings/method', rule: 'method_not_post' }]);
  });
});

test('OPTIONS returns 200 with at least the methods of the draft', async () => {
  const allowed = async (path: string) =>
    (await supertest(registry.url).options(path).expect(200)).get('Allow')?.split(', ');
  expect(await allowed('/v1/subscriptions')).toEqual(expect.arrayContaining(['GET', 'POST', 'OPTIONS']));
  expect(await allowed('/v1/subscriptions/1')).toEqual(expect.arrayContaining(['GET', 'PUT', 'DELETE', 'OPTIONS']));
});

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
        code: 'suspended',
        message: 'The subscriber registered this subscription as suspended. Assent has not asked the webhook.',
      },
      suspended: true,
      suspension: { by: 'subscriber', reason: 'The subscription was registered as suspended.' },
    });
    expect(draft.statusdetails).not.toHaveProperty('handshake');
    await tenant.replace(draft.id, { sink, requestedrate: 7 });
    await registry.service.sweep();
    await registry.service.worker.drain();
    expect(askedAt(sink)).toBe(0);
    expect(await tenant.handshakes(draft.id)).toEqual([]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'no_grant' });
  });

  test('says so in Dutch', async () => {
    const draft = await tenant.register(newSink(), { suspended: true });
    const { body } = await tenant.subscriber.get(pathOf(draft)).set('Accept-Language', 'nl').expect(200);
    expect(body.suspension.reason).toBe('Het abonnement is onderbroken aangemaakt.');
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
    expect(resumed).toMatchObject({ status: 'active', statusdetails: { code: 'granted' } });
    expect(resumed.suspended).toBe(false);
    expect(resumed).not.toHaveProperty('suspension');
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
    expect(body.suspension).toMatchObject({ by: 'subscriber', reason: 'Not before June.' });
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

test('PUT and PATCH ignore suspended and suspension', async () => {
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
  expect(put.body).toMatchObject({ status: 'suspended', suspended: true, suspension: draft.suspension });
});
