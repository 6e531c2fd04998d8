import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { authzenRoutes } from '../../../src/registry/gateways/authzen-routes.js';
import { countBuffers } from '../../support/buffers.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/**
 * OpenID AuthZEN Authorization API 1.0. The cases have the shapes of its certification scenario (levels Basic, Batch and
 * Discovery), with an origin in place of its users and sinks in place of its records.
 */
let registry: Registry;
let tenant: Tenant;
let allowed: { type: string; id: string };
let other: { type: string; id: string };
const subject = { type: 'origin', id: 'eventemitter.example.com' };
const action = { name: 'deliver' };

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  registry.receiver.consent('/events', { rate: '100' });
  await tenant.register(registry.receiver.sink('/events'));
  allowed = { type: 'sink', id: registry.receiver.sink('/events') };
  other = { type: 'sink', id: registry.receiver.sink('/other') };
});
afterAll(() => registry.stop());

const evaluate = (body: object | string) => tenant.sender.post('/access/v1/evaluation').type('json').send(body);
const evaluateAll = (body: object) => tenant.sender.post('/access/v1/evaluations').send(body);
const decisionsOf = async (body: object): Promise<boolean[]> =>
  (await evaluateAll(body).expect(200)).body.evaluations.map(({ decision }: { decision: boolean }) => decision);

describe('an evaluation', () => {
  test('of a pair with a grant is true, with the rate and the end', async () => {
    const { allowedrate, expiresat, basis, grant } = await tenant.permission(allowed.id);
    const answer = await evaluate({ subject, action, resource: allowed }).expect(200);
    expect(answer.type).toBe('application/json');
    expect(answer.body).toEqual({ decision: true, context: { allowedrate, expiresat, basis, grant } });
  });

  test('of a pair without one is false, with the denial', async () => {
    const { denial, message } = await tenant.permission(other.id);
    const { body } = await evaluate({ subject, action, resource: other }).expect(200);
    expect(body).toEqual({ decision: false, context: { denial, message } });
  });

  test.each<[string, (request: Record<string, unknown>) => unknown]>([
    ['its members in another order', ({ resource }) => ({ resource, action, subject })],
    ['the order of the examples', ({ resource }) => ({ subject, resource, action })],
    ['an origin in capitals', (request) => ({ ...request, subject: { ...subject, id: subject.id.toUpperCase() } })],
    ['white space', (request) => JSON.stringify(request, undefined, 2)],
    ['a context', (request) => ({ ...request, context: { time: '2025-06-27T18:03-07:00', ip: '192.168.1.1' } })],
    ['properties', (request) => ({ ...request, action: { ...action, properties: { method: 'POST' } } })],
    ['members that nobody knows', (request) => ({ ...request, foo: 'bar', futureField: { nested: true } })],
  ])('with %s is the same', async (_, make) => {
    const sent = make({ subject, action, resource: allowed });
    expect((await evaluate(sent as object).expect(200)).body.decision).toBe(true);
  });

  test.each<[string, object]>([
    ['subject_type_unknown', { subject: { type: 'user', id: 'alice@example.com' } }],
    ['action_unknown', { action: { name: 'can_read' } }],
    ['resource_type_unknown', { resource: { type: 'todo', id: '1' } }],
    ['no_grant', { subject: { type: 'origin', id: 'not a name' } }],
    ['no_grant', { resource: { type: 'sink', id: 'http://not/canonical/../' } }],
  ])('is false with the denial %s, not an error', async (denial, part) => {
    const { body } = await evaluate({ subject, action, resource: allowed, ...part }).expect(200);
    expect(body).toMatchObject({ decision: false, context: { denial } });
  });

  /** Two requests as the interoperability scenarios send them: a to-do application, and an API gateway. */
  test.each([
    {
      subject: { type: 'user', id: 'CiRmZDA2MTRkMw', identity: 'CiRmZDA2MTRkMw' },
      action: { name: 'can_update_todo' },
      resource: { type: 'todo', id: 'todo-1', properties: { ownerID: 'rick@example.com' } },
    },
    {
      subject: { type: 'identity', id: 'CiRmZDA2MTRkMw' },
      action: { name: 'POST' },
      resource: {
        type: 'route',
        id: '/todos',
        properties: { uri: 'https://gateway.example.com/todos', schema: 'https' },
      },
      context: { protocol: 'HTTP/1.1', ip: '192.0.2.1' },
    },
  ])('of another application is false: $subject.type', async (request) => {
    const { body } = await evaluate(request).expect(200);
    expect(body).toMatchObject({ decision: false, context: { denial: 'subject_type_unknown' } });
    const { evaluations } = (await evaluateAll({ evaluations: [request, request] }).expect(200)).body;
    expect(evaluations).toEqual([body, body]);
  });

  const without = (name: string) => () =>
    Object.fromEntries(Object.entries({ subject, action, resource: allowed }).filter(([key]) => key !== name));
  test.each<[string, () => object | string]>([
    ['no subject', without('subject')],
    ['no action', without('action')],
    ['no resource', without('resource')],
    ['a subject without a type', () => ({ subject: { id: 'a' }, action, resource: allowed })],
    ['a subject without an id', () => ({ subject: { type: 'origin' }, action, resource: allowed })],
    ['an action without a name', () => ({ subject, action: {}, resource: allowed })],
    ['a resource without a type', () => ({ subject, action, resource: { id: 'a' } })],
    ['a resource without an id', () => ({ subject, action, resource: { type: 'sink' } })],
    ['a subject that is text', () => ({ subject: 'alice', action, resource: allowed })],
    ['an action that is a number', () => ({ subject, action: { name: 123 }, resource: allowed })],
    ['a member twice', () => `{"subject":{},"subject":${JSON.stringify(subject)}}`],
    ['a list', () => [subject]],
    ['broken JSON', () => '{"subject":'],
    ['nothing', () => ''],
  ])('with %s is a 400', async (_, make) => {
    expect((await evaluate(make()).expect(400)).body.code).toBe('invalid_request');
  });

  test('of another media type is a 400, because AuthZEN has no 415', async () => {
    const text = JSON.stringify({ subject, action, resource: allowed });
    await tenant.sender.post('/access/v1/evaluation').type('text/plain').send(text).expect(400);
    await tenant.sender.post('/access/v1/evaluations').type('text/plain').send(text).expect(400);
  });

  test('gives the same decision each time', async () => {
    for (let i = 0; i < 5; i += 1) {
      expect((await evaluate({ subject, action, resource: allowed }).expect(200)).body.decision).toBe(true);
    }
  });

  test('has the X-Request-ID of its request, as it was sent, and Assent’s own without one', async () => {
    for (const id of ['bfe9eb29-ab87-4ca3-be83-a1d5d8305716', 'a b "c"', 'x'.repeat(300)]) {
      const good = await evaluate({ subject, action, resource: allowed }).set('X-Request-ID', id).expect(200);
      const bad = await evaluate({}).set('X-Request-ID', id).expect(400);
      expect([good.get('X-Request-Id'), bad.get('X-Request-Id')]).toEqual([id, id]);
      expect(bad.body.requestid).not.toBe(id);
    }
    expect((await evaluate({ subject, action, resource: allowed })).get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('is the decision of the tenant of the token', async () => {
    const foreign = await registry.as('assent:deliver', { tenant: 'provincie' });
    const { body } = await foreign
      .post('/access/v1/evaluation')
      .send({ subject, action, resource: allowed })
      .expect(200);
    expect(body).toMatchObject({ decision: false, context: { denial: 'no_grant' } });
  });
});

describe('evaluations', () => {
  test('have one decision for each entry, in order, with defaults from the top', async () => {
    expect(
      await decisionsOf({
        subject,
        action,
        evaluations: [{ resource: allowed }, { resource: other }, { resource: allowed }],
      }),
    ).toEqual([true, false, true]);
    expect(
      await decisionsOf({ subject, resource: allowed, evaluations: [{ action }, { action: { name: 'read' } }] }),
    ).toEqual([true, false]);
    expect(await decisionsOf({ evaluations: [{ subject, action, resource: allowed }] })).toEqual([true]);
  });

  test('inherit a default as a whole, and replace it as a whole', async () => {
    const evaluations = [{}, { resource: other }, { resource: { id: allowed.id } }];
    expect(await decisionsOf({ subject, action, resource: allowed, evaluations })).toEqual([true, false, false]);
  });

  test.each([
    ['execute_all', [true, false, true]],
    ['deny_on_first_deny', [true, false]],
    ['permit_on_first_permit', [true]],
  ])('with %s end where it says', async (evaluations_semantic, decisions) => {
    const evaluations = [{ resource: allowed }, { resource: other }, { resource: allowed }];
    const options = { evaluations_semantic, another_option: 'value' };
    expect(await decisionsOf({ subject, action, options, evaluations })).toEqual(decisions);
  });

  test('deny an entry that lacks a member, and decide the others', async () => {
    const evaluations = [{ resource: allowed }, {}, { resource: 'text' }];
    const { body } = await evaluateAll({ subject, action, evaluations }).expect(200);
    expect(body.evaluations).toMatchObject([
      { decision: true },
      { decision: false, context: { denial: 'request_invalid', error: { status: 400 } } },
      { decision: false, context: { denial: 'request_invalid', error: { status: 400 } } },
    ]);
    expect(
      await decisionsOf({ subject, action, evaluations, options: { evaluations_semantic: 'deny_on_first_deny' } }),
    ).toEqual([true, false]);
  });

  test.each([[{}], [{ evaluations: [] }]])('without entries are one evaluation: %j', async (more) => {
    const { body } = await evaluateAll({ subject, action, resource: allowed, ...more }).expect(200);
    expect(body).toMatchObject({ decision: true, context: { allowedrate: 100 } });
    await evaluateAll({ subject, action, ...more }).expect(400);
  });

  test.each<[string, object]>([
    ['an entry that is no object', { evaluations: [5] }],
    ['entries that are no list', { evaluations: {} }],
    ['more than a thousand entries', { evaluations: Array(1_001).fill({}) }],
    ['an unknown semantic', { evaluations: [{}], options: { evaluations_semantic: 'first' } }],
    ['a default that is text', { subject: 'alice', evaluations: [{}] }],
  ])('with %s are a 400', async (_, part) => {
    await evaluateAll({ subject, action, resource: allowed, ...part }).expect(400);
  });
});

describe('a resource search', () => {
  const sinks = ['/s/a', '/s/b', '/s/c', '/s/d', '/s/e'].map((path) => () => registry.receiver.sink(path));
  const search = (page?: object, more: object = {}) =>
    tenant.sender
      .post('/access/v1/search/resource')
      .send({ subject, action, resource: { type: 'sink' }, page, ...more });
  /** All pages, each with at most so many. */
  async function pages(limit: number): Promise<string[][]> {
    const found: string[][] = [];
    let token = '';
    do {
      const { results, page } = (await search({ limit, token }).expect(200)).body;
      found.push(results.map(({ id }: { id: string }) => id));
      token = page.next_token;
    } while (token !== '');
    return found;
  }

  beforeAll(async () => {
    for (const sink of sinks) {
      registry.receiver.consent(new URL(sink()).pathname, { rate: '60' });
      await tenant.register(sink());
    }
    // The second is revoked, the third is on hold, and the fourth blocked.
    await tenant.revoke(sinks[1]?.() ?? '');
    await tenant.sender
      .post('/v1/deliveries/outcomes')
      .send([{ origin: tenant.origin, sink: sinks[2]?.(), statuscode: 429, retryafter: '600' }])
      .expect(200);
    await tenant.admin.post('/v1/blocks').send({ kind: 'sink', value: sinks[3]?.(), reason: 'a' }).expect(201);
  });
  const live = () => [allowed.id, sinks[0]?.(), sinks[4]?.()];
  const made = (position: unknown[]) => Buffer.from(JSON.stringify(position)).toString('base64url');

  test('finds the sinks of which the permission is a yes, with its members, and no other', async () => {
    const { body } = await search().expect(200);
    expect(Object.keys(body)).toEqual(['page', 'results']);
    expect(body.page).toEqual({ next_token: '', count: 3 });
    expect(body.results.map(({ id }: { id: string }) => id)).toEqual(live());
    for (const { type, id, properties } of body.results) {
      const permission = await tenant.permission(id);
      expect({ origin: tenant.origin, sink: id, allowed: true, ...properties }).toEqual(permission);
      const { body: evaluated } = await evaluate({ subject, action, resource: { type, id } }).expect(200);
      expect(evaluated.decision).toBe(true);
    }
    const all = [allowed, other, ...sinks.map((sink) => ({ id: sink() }))].map(({ id }) => id);
    for (const id of all) {
      expect([id, (await tenant.permission(id)).allowed]).toEqual([id, live().includes(id)]);
    }
  });

  test.each([1, 2, 5, 1_000_000])('has the same results in pages of %i', async (limit) => {
    const found = await pages(limit);
    expect(found.flat()).toEqual(live());
    expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(limit);
  });

  test('continues with the token alone, as in the examples, and a page of none is the last one', async () => {
    const first = (await search({ limit: 1 }).expect(200)).body;
    const second = (await search({ token: first.page.next_token }).expect(200)).body;
    expect([first.results.length, second.page.count <= 1]).toEqual([1, true]);
    const none = (await search({ limit: 0 }).expect(200)).body;
    expect(none).toEqual({ page: { next_token: '', count: 0 }, results: [] });
  });

  test.each<[string, (token: string) => [object, object?]]>([
    ['another limit', (token) => [{ token, limit: 2 }]],
    ['another subject', (token) => [{ token }, { subject: { ...subject, id: 'other.example.com' } }]],
    ['a changed token', (token) => [{ token: `${token}A` }]],
    ['a made token', () => [{ token: made([]) }]],
    ['a made token that no sink could have', () => [{ token: made([subject.id, 1, 'a\0']) }]],
    ['a made token of a page of none', () => [{ token: made([subject.id, 0, '']) }]],
    ['a negative limit', () => [{ limit: -1 }]],
    ['a fraction', () => [{ limit: 1.5 }]],
    ['a page that is text', () => ['1' as unknown as object]],
    ['no subject', () => [{}, { subject: undefined }]],
    ['no id of the subject', () => [{}, { subject: { type: 'origin' } }]],
    ['no action', () => [{}, { action: undefined }]],
    ['no resource', () => [{}, { resource: undefined }]],
    ['no type of the resource', () => [{}, { resource: { id: 'a' } }]],
  ])('with %s is a 400', async (_, make) => {
    const { page } = (await search({ limit: 1 }).expect(200)).body;
    const answer = await search(...make(page.next_token)).expect(400);
    expect([answer.type, answer.body.code]).toEqual(['application/problem+json', 'invalid_request']);
  });

  test.each<[string, () => object]>([
    ['an id of the resource', () => ({ resource: { type: 'sink', id: other.id } })],
    ['an id that is no text', () => ({ resource: { type: 'sink', id: 5 } })],
    [
      'a context, properties and unknown members',
      () => ({ context: { a: 1 }, resource: { type: 'sink', properties: { a: 1 } }, b: 1 }),
    ],
    ['an origin in capitals', () => ({ subject: { ...subject, id: subject.id.toUpperCase() } })],
  ])('ignores %s', async (_, more) => {
    expect((await search({}, more()).expect(200)).body.page.count).toBe(3);
  });

  test.each<[string, object]>([
    ['subject_type_unknown', { subject: { type: 'user', id: 'alice' } }],
    ['action_unknown', { action: { name: 'read' } }],
    ['resource_type_unknown', { resource: { type: 'record' } }],
  ])('finds nothing for %s, and says why', async (denial, more) => {
    const { body } = await search({}, more).expect(200);
    expect(body).toMatchObject({ page: { next_token: '', count: 0 }, context: { denial }, results: [] });
  });

  test('finds nothing of another tenant, and needs assent:deliver or assent:admin', async () => {
    const request = { subject, action, resource: { type: 'sink' }, page: { limit: 1 } };
    const foreign = await registry.as('assent:deliver', { tenant: 'provincie' });
    const { body } = await foreign.post('/access/v1/search/resource').send(request).expect(200);
    expect(body).toEqual({ page: { next_token: '', count: 0 }, results: [] });
    // Not by a token of ours either.
    const { page } = (await search({ limit: 1 }).expect(200)).body;
    const next = { ...request, page: { token: page.next_token } };
    expect((await foreign.post('/access/v1/search/resource').send(next).expect(200)).body.results).toEqual([]);
    await tenant.admin.post('/access/v1/search/resource').send(request).expect(200);
    await tenant.subscriber.post('/access/v1/search/resource').send(request).expect(403);
  });

  test('costs its page, and next to nothing for an origin of another tenant', async () => {
    // Both have many, so that Postgres has no reason to begin with the tenant.
    for (const owner of ['large', 'foreign']) {
      await registry.sql(
        `insert into origin (name, tenant, defaultrate, judgement, callback, grantseconds, profile)
         values ($1 || '.example.com', $1, '60', 'strict', 'offer', 864000, 'cloudevents')`,
        owner,
      );
      await registry.sql(
        `insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat)
         select $1 || '.example.com', 'https://large.example.org/' || n, gen_random_uuid(), $1, 'live', 'response', '100',
           'test', now(), now() + interval '1 day'
         from generate_series(1, 5000) n`,
        owner,
      );
    }
    const buffers = await countBuffers(registry.env['DATABASE_URL']);
    await buffers.execute('vacuum analyze origin, "grant"');
    const replica = { permission: () => ({ allowed: false }) };
    const { searchResources } = authzenRoutes({
      database: { sql: buffers.sql },
      follower: { replica: () => replica },
      freshness: { age: () => 0 },
    } as never);
    const body = {
      subject: { type: 'origin', id: 'large.example.com' },
      action,
      resource: { type: 'sink' },
      page: { limit: 10 },
    };
    const touched = (asking: string) =>
      buffers.of(async () => searchResources({ body, principal: { tenant: asking } } as never));
    try {
      expect(await touched('foreign')).toBeLessThan(5);
      expect(await touched('large')).toBeLessThan(30);
    } finally {
      await buffers.end();
    }
  });

  test('has the X-Request-ID of its request, and a 400 for another media type', async () => {
    expect((await search().set('X-Request-ID', 'a b')).get('X-Request-Id')).toBe('a b');
    await tenant.sender.post('/access/v1/search/resource').type('text/plain').send('{}').expect(400);
  });
});

describe('the metadata', () => {
  const path = '/.well-known/authzen-configuration';
  const addressesAt = (base: string) => ({
    policy_decision_point: base,
    access_evaluation_endpoint: `${base}/access/v1/evaluation`,
    access_evaluations_endpoint: `${base}/access/v1/evaluations`,
    search_resource_endpoint: `${base}/access/v1/search/resource`,
  });

  test('names the addresses with the public URL, whatever Host says', async () => {
    for (const host of ['assent.test', 'localhost:3000', 'elsewhere.example.com']) {
      const answer = await tenant.sender.get(path).set('Host', host).expect(200);
      expect(answer.type).toBe('application/json');
      expect(answer.body).toEqual(addressesAt('https://assent.test'));
    }
  });

  test('without one, is there in development only, for this machine', async () => {
    const alone = await startRegistry({ beside: registry, env: { ASSENT_PUBLIC_URL: '' }, start: false });
    const client = await alone.as('assent:deliver');
    for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'localhost']) {
      expect((await client.get(path).set('Host', host).expect(200)).body).toEqual(addressesAt(`http://${host}`));
    }
    const elsewhere = ['assent.test', 'localhost.example.com', 'localhost:3000@example.com', 'localhost:3000/a', ''];
    for (const host of elsewhere) await client.get(path).set('Host', host).expect(404);
    await alone.stop();
    const env = { ASSENT_PUBLIC_URL: '', ASSENT_DEVELOPMENT_ISSUER: 'false' };
    const strict = await startRegistry({ beside: registry, env, start: false });
    await supertest(strict.service.listener).get(path).set('Host', 'localhost:3000').expect(404);
    await strict.stop();
  });
});
