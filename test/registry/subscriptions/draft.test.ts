import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

// What a client written for the CloudEvents Subscriptions API (OpenAPI document, 0.2-WIP) sends and may rely on.
let registry: Registry;
let client: Client;

beforeAll(async () => {
  registry = await startRegistry();
  client = await registry.as('assent:subscribe');
  const admin = await registry.as('assent:admin');
  await admin.post('/v1/origins').send({ name: 'eventemitter.example.com', isdefault: true }).expect(201);
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

  test.each<[string, object, string, string]>([
    ['a method besides POST', { protocolsettings: { method: 'PUT' } }, '/protocolsettings/method', 'method_not_post'],
  ])('%s', async (_, members, pointer, rule) => {
    const answer = await client.post('/v1/subscriptions').send(request(members)).expect(400);
    expect(answer.body.faults).toMatchObject([{ pointer, rule }]);
  });
});

test('OPTIONS returns 200 with at least the methods of the draft', async () => {
  const allowed = async (path: string) =>
    (await supertest(registry.url).options(path).expect(200)).get('Allow')?.split(', ');
  expect(await allowed('/v1/subscriptions')).toEqual(expect.arrayContaining(['GET', 'POST', 'OPTIONS']));
  expect(await allowed('/v1/subscriptions/1')).toEqual(expect.arrayContaining(['GET', 'PUT', 'DELETE', 'OPTIONS']));
});
