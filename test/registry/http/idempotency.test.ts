import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  documentText,
  resolve,
  type OpenApiDocument,
  type OperationObject,
} from '../../../src/base/contract/document.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

// Every POST of the contract: what writes takes an Idempotency-Key and does once what is sent twice; what reads is x-safe.

const document = JSON.parse(documentText()) as OpenApiDocument;
const posts = Object.entries(document.paths).flatMap(([path, { post, servers }]) =>
  // The callback has the key of its handshake: the first decision stands. A check of the proof stores what it finds each time.
  post === undefined || path.startsWith('/callbacks/') || path === '/origins/{name}/verify'
    ? []
    : [{ path, post, root: servers ? '' : '/v1' }],
);
const writing = posts.filter(({ post }) => post['x-safe'] !== true);
const reading = posts.filter(({ post }) => post['x-safe'] === true);

const namesOf = ({ parameters = [] }: OperationObject) => parameters.map((each) => resolve(document, each).name);
const headersOf = ({ responses }: OperationObject, status: string) =>
  Object.keys(resolve(document, responses[status] ?? { description: '' }).headers ?? {});
/** What creates something returns 200 without a key for a dry run. */
const successesOf = ({ responses }: OperationObject) => ('201' in responses ? ['201'] : ['200']);

const origin = 'eventemitter.example.com';
const event = { specversion: '1.0', id: '1', source: '/a', type: 'a' };
let registry: Registry;
let client: Client;
let sink: string;
let ids: string[];
let grants: string[];
let keys: string[];

interface Sent {
  path: string;
  body?: object;
}
/** A request of each operation, and another one that is not the same. */
const writes: Record<string, () => { one: Sent; other: Sent }> = {
  createSubscription: () => {
    const body = { sink, protocol: 'HTTP' };
    return bodies('/subscriptions', body, { ...body, source: 'urn:a' });
  },
  suspendSubscription: () => bodies(`/subscriptions/${ids[0]}/suspend`, { reason: 'a' }, { reason: 'b' }),
  resumeSubscription: () => bodies(`/subscriptions/${ids[0]}/resume`, { reason: 'a' }, {}),
  askWebhook: () => ({
    one: { path: `/subscriptions/${ids[0]}/handshakes` },
    other: { path: `/subscriptions/${ids[1]}/handshakes` },
  }),
  takeLease: () => {
    const body = { origin, sink, instance: 'one', requests: 1 };
    return bodies('/leases', body, { ...body, requests: 2 });
  },
  reportOutcomes: () =>
    bodies('/deliveries/outcomes', [{ origin, sink, statuscode: 204 }], [{ origin, sink, statuscode: 503 }]),
  createOrigin: () => bodies('/origins', { name: 'other.example.com' }, { name: 'third.example.com' }),
  createOriginKey: () => bodies(`/origins/${origin}/keys`, {}, { overlapseconds: 60 }),
  revokeOriginKey: () => ({
    one: { path: `/origins/${origin}/keys/${keys[0]}/revoke` },
    other: { path: `/origins/${origin}/keys/${keys[1]}/revoke` },
  }),
  createGrant: () => bodies('/grants', agreement('new', 60), agreement('new', 61)),
  revokeGrant: () => bodies(`/grants/${grants[0]}/revoke`, { reason: 'a' }, { reason: 'b' }),
  releaseGrant: () => ({
    one: { path: `/grants/${grants[1]}/release` },
    other: { path: `/grants/${grants[2]}/release` },
  }),
  createBlock: () => {
    const body = { kind: 'host', value: 'elsewhere.example.com', reason: 'a' };
    return bodies('/blocks', body, { ...body, reason: 'b' });
  },
};
const reads: Record<string, () => Sent> = {
  matchEvent: () => ({ path: '/match', body: event }),
  checkFilter: () => ({ path: '/filters/check', body: { event } }),
  checkEvent: () => ({ path: '/events/check', body: event }),
  checkPermissions: () => ({ path: '/permissions', body: [{ origin, sink }] }),
  checkSubscriptionRules: () => ({
    path: `/origins/${origin}/subscriptionrules/check`,
    body: {},
  }),
  evaluateAccess: () => ({ path: '/access/v1/evaluation', body: question() }),
  searchResources: () => ({ path: '/access/v1/search/resource', body: question() }),
  evaluateAccesses: () => ({ path: '/access/v1/evaluations', body: { evaluations: [question()] } }),
};

const bodies = (path: string, one: object, other: object) => ({
  one: { path, body: one },
  other: { path, body: other },
});
const expiresat = new Date(Date.now() + 86_400_000).toISOString();
const agreement = (name: string, allowedrate: number) => ({
  ...{ origin, sink: `https://${name}.hooks.test/`, allowedrate, agreement: 'agreed', expiresat },
});
const question = () => ({
  subject: { type: 'origin', id: origin },
  action: { name: 'deliver' },
  resource: { type: 'sink', id: sink },
});

beforeAll(async () => {
  registry = await startRegistry();
  client = await registry.as(['assent:admin', 'assent:subscribe', 'assent:deliver']);
  await client.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
  registry.receiver.consent('/hook');
  sink = registry.receiver.sink('/hook');
  const made = (path: string, body: object) => client.post(path).send(body).expect(201);
  ids = [];
  for (let i = 0; i < 2; i += 1) ids.push((await made('/v1/subscriptions', { sink, protocol: 'HTTP' })).body.id);
  grants = [];
  for (const name of ['a', 'b', 'c']) grants.push((await made('/v1/grants', agreement(name, 60))).body.id);
  keys = [];
  for (let i = 0; i < 2; i += 1) keys.push((await made(`/v1/origins/${origin}/keys`, {})).body.id);
  await registry.service.follow();
});
afterAll(() => registry.stop());

const send = (root: string, { path, body }: Sent, key: string) => {
  const request = client.post(`${root}${path}`).set('Idempotency-Key', key).set('Prefer', 'wait=10');
  const isEvent = body === event;
  return body === undefined
    ? request
    : request.set('Content-Type', `application/${isEvent ? 'cloudevents+' : ''}json`).send(JSON.stringify(body));
};

/** Without what goes on: less is left of a lease, and consumers are told of a block. */
const lasting = ({ seconds: _, announcement: __, ...rest }: Record<string, unknown>) => rest;

/** Everything that is written down, but keys, leases, and what consumers are told of a block afterwards. */
async function written(): Promise<unknown> {
  const isTold = `not like '%announced'`;
  const tables = [
    'subscription',
    'handshake',
    'origin',
    'origin_key',
    '"grant"',
    'block',
    `audit where action ${isTold}`,
  ];
  const counts = tables.map((table, place) => `(select count(*)::int from ${table}) as n${place}`).join();
  const [row] = await registry.sql(
    `select ${counts}, (select coalesce(sum(delivered), 0)::int from delivery) as delivered`,
  );
  return row;
}

describe('a POST that writes', () => {
  test.each(writing)('$path takes an Idempotency-Key, as the contract says', ({ post }) => {
    expect(namesOf(post)).toContain('Idempotency-Key');
    expect(Object.keys(post.responses)).toContain('409');
    for (const status of successesOf(post)) expect(headersOf(post, status)).toContain('Idempotency-Replayed');
  });

  test.each(writing)(
    '$path with the same key does it once, and another request with that key is a 409',
    async (each) => {
      const { one, other } = (writes[each.post.operationId] as (typeof writes)[string])();
      const key = `key of ${each.post.operationId}`.replaceAll(' ', '-');
      const first = await send(each.root, one, key);
      expect([first.status, first.get('Idempotency-Replayed')]).toEqual([expect.any(Number), undefined]);
      expect(String(first.status)).toMatch(/^20[01]$/);
      if (each.post.operationId === 'reportOutcomes') expect(first.body).toEqual([{ accepted: true }]);
      const before = await written();
      const again = await send(each.root, one, key);
      expect([again.status, again.get('Idempotency-Replayed')]).toEqual([first.status, 'true']);
      expect(lasting(again.body)).toEqual(lasting(first.body));
      expect([again.get('Location'), again.get('ETag')]).toEqual([first.get('Location'), first.get('ETag')]);
      const refused = await send(each.root, other, key).expect(409);
      expect(refused.body.code).toBe('idempotency_key_reused');
      expect(await written()).toEqual(before);
    },
  );
});

describe('a POST that reads', () => {
  test.each(reading)('$path is x-safe: it has no key, writes nothing and answers anew', async (each) => {
    expect(namesOf(each.post)).not.toContain('Idempotency-Key');
    const question = (reads[each.post.operationId] as (typeof reads)[string])();
    const before = await written();
    for (let i = 0; i < 2; i += 1) {
      const answer = await send(each.root, question, 'key').expect(200);
      expect(answer.get('Idempotency-Replayed')).toBeUndefined();
    }
    expect(await written()).toEqual(before);
  });
});

describe('a block that equals one in force', () => {
  const post = (body: object) => client.post('/v1/blocks').send({ kind: 'host', value: 'twice.hooks.test', ...body });
  const all = async () => (await client.get('/v1/blocks').query({ value: 'twice.hooks.test' }).expect(200)).body;

  test('is that block, with 200 and its Location: lifting it leaves none', async () => {
    const first = await post({ reason: 'Complaint 1' }).expect(201);
    const before = await written();
    const again = await post({ reason: 'Complaint 2', value: 'TWICE.hooks.test' }).expect(200);
    const { id, reason } = again.body;
    expect([id, reason, again.get('Location')]).toEqual([first.body.id, 'Complaint 1', first.get('Location')]);
    expect(await written()).toEqual(before);
    await client.delete(`/v1/blocks/${id}`).expect(200);
    expect(await all()).toEqual([]);
    await post({ reason: 'Complaint 3' }).expect(201);
  });

  test('ten at once are one block, and one with another end is another block', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => post({ reason: 'a', expiresat })));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await all()).toHaveLength(2);
  });
});
