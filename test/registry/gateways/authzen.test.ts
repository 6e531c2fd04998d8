import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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

test('the metadata names the addresses with the public URL, and without one there is none', async () => {
  const answer = await tenant.sender.get('/.well-known/authzen-configuration').expect(200);
  expect(answer.type).toBe('application/json');
  expect(answer.body).toEqual({
    policy_decision_point: 'https://assent.test',
    access_evaluation_endpoint: 'https://assent.test/access/v1/evaluation',
    access_evaluations_endpoint: 'https://assent.test/access/v1/evaluations',
  });
  const alone = await startRegistry({ beside: registry, env: { ASSENT_PUBLIC_URL: '' }, start: false });
  const client = await alone.as('assent:deliver');
  await client.get('/.well-known/authzen-configuration').expect(404);
  await alone.stop();
});
