import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { untilReady } from '../../support/process.js';
import { createTenant } from '../../support/tenant.js';

let registry: Registry;
let admin: Client;
let subscriber: Client;
let sender: Client;

const origin = 'eventemitter.example.com';
let types = 0;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  subscriber = await registry.as('assent:subscribe');
  sender = await registry.as('assent:deliver', { subscriber: 'mailroom' });
  await admin.post('/v1/origins').send({ name: origin, isdefault: true, requestedrate: 120 }).expect(201);
  await admin.post('/v1/origins').send({ name: 'overheid.example.nl', profile: 'nl-gov' }).expect(201);
});
afterAll(() => registry.stop());

/** A new type for each test, so that tests do not see each other's subscriptions. */
const newType = () => `com.example.type${(types += 1)}`;
const eventOf = (type: string, more: object = {}) => ({
  specversion: '1.0',
  id: '1',
  source: 'urn:example:cases',
  type,
  ...more,
});

let paths = 0;
interface Registered {
  id: string;
  sink: string;
}
async function register(more: object, allows = true): Promise<Registered> {
  const path = `/m${(paths += 1)}`;
  if (allows) registry.receiver.consent(path, { rate: '100' });
  const request = { sink: registry.receiver.sink(path), protocol: 'HTTP', ...more };
  return (await subscriber.post('/v1/subscriptions').send(request).expect(201)).body as Registered;
}

const ask = (body: unknown, { client = sender, query = {}, mediaType = 'application/cloudevents+json' } = {}) =>
  client.post('/v1/match').query(query).set('Content-Type', mediaType).send(JSON.stringify(body));

const settingsOf = (sink: string, { client = sender, of = origin } = {}) =>
  client.get('/v1/deliveries/settings').query({ origin: of, sink });

const subscriptionsOf = (body: { sinks: Array<{ subscriptions: string[] }> }) =>
  body.sinks.flatMap(({ subscriptions }) => subscriptions);

describe('an event goes to', () => {
  test('the sinks whose subscriptions want it and whose webhooks agreed, with their rate, and to no others', async () => {
    const type = newType();
    const wanted = await register({ types: [type] });
    await register({ types: [newType()] });
    await register({ types: [type] }, false);
    const { body } = await ask(eventOf(type)).expect(200);
    expect(body).toEqual({
      revision: expect.stringMatching(/^[1-9]\d*$/),
      origin,
      sinks: [
        {
          sink: wanted.sink,
          subscriptions: [wanted.id],
          allowedrate: 100,
          expiresat: expect.stringMatching(/Z$/),
          contentmode: 'structured',
        },
      ],
    });
  });

  test('subscriptions with an attribute of any legal name', async () => {
    const type = newType();
    const names = ['constructor', 'prototype', 'tostring', '1'];
    const exact = { type, ...Object.fromEntries(names.map((name) => [name, name])) };
    const { id } = await register({ filters: [{ exact }, { sql: "constructor = 'constructor'" }] });
    expect(subscriptionsOf((await ask(eventOf(type, exact)).expect(200)).body)).toEqual([id]);
    expect(subscriptionsOf((await ask(eventOf(type)).expect(200)).body)).toEqual([]);
    const stored = await subscriber.get(`/v1/subscriptions/${id}`).expect(200);
    expect(stored.body.filters[0]).toEqual({ exact });
  });

  test('a sink once, with all the subscriptions that want it, oldest first', async () => {
    const type = newType();
    const first = await register({ types: [type] });
    const second = await register({ sink: first.sink, filters: [{ exact: { type } }] });
    const { body } = await ask(eventOf(type)).expect(200);
    expect(body.sinks).toMatchObject([{ sink: first.sink, subscriptions: [first.id, second.id] }]);
  });

  test('subscriptions whose filters match, including CESQL and typed extension attributes', async () => {
    const type = newType();
    const big = await register({ types: [type], filters: [{ sql: 'count > 9 AND EXISTS urgent' }] });
    const exact = await register({ types: [type], filters: [{ exact: { count: '10' } }] });
    const never = await register({ types: [type], filters: [{ not: { prefix: { type: 'com.example.' } } }] });
    const { body } = await ask(eventOf(type, { count: 10, urgent: true })).expect(200);
    expect(subscriptionsOf(body).sort()).toEqual([big.id, exact.id].sort());
    expect(subscriptionsOf(body)).not.toContain(never.id);
    const small = await ask(eventOf(type, { count: 9, urgent: true })).expect(200);
    expect(subscriptionsOf(small.body)).toEqual([]);
  });

  test('no subscription that is suspended, deleted, revoked or changed, from the next response on', async () => {
    const type = newType();
    const [suspended, deleted, revoked, changed] = [
      await register({ types: [type] }),
      await register({ types: [type] }),
      await register({ types: [type] }),
      await register({ types: [type] }),
    ] as const;
    expect(subscriptionsOf((await ask(eventOf(type))).body)).toHaveLength(4);
    await subscriber.post(`/v1/subscriptions/${suspended.id}/suspend`).send({ reason: 'Test.' }).expect(200);
    expect(subscriptionsOf((await ask(eventOf(type))).body)).not.toContain(suspended.id);
    await subscriber.delete(`/v1/subscriptions/${deleted.id}`).expect(200);
    expect(subscriptionsOf((await ask(eventOf(type))).body)).not.toContain(deleted.id);
    const grants = await admin.get('/v1/grants').query({ origin, sink: revoked.sink }).expect(200);
    await admin.post(`/v1/grants/${grants.body[0].id}/revoke`).send({ reason: 'Test.' }).expect(200);
    expect(subscriptionsOf((await ask(eventOf(type))).body)).not.toContain(revoked.id);
    const patch = JSON.stringify({ types: [newType()] });
    await subscriber
      .patch(`/v1/subscriptions/${changed.id}`)
      .type('application/merge-patch+json')
      .send(patch)
      .expect(200);
    expect((await ask(eventOf(type))).body.sinks).toEqual([]);
    await subscriber.post(`/v1/subscriptions/${suspended.id}/resume`).send({ reason: 'Test.' }).expect(200);
    expect(subscriptionsOf((await ask(eventOf(type))).body)).toEqual([suspended.id]);
  });

  test('no subscription of another tenant, whose origin does not exist for the caller', async () => {
    const stranger = await registry.as(['assent:deliver'], { tenant: 'provincie', subscriber: 'vreemd' });
    const { body } = await ask(eventOf(newType()), { client: stranger, query: { origin } }).expect(404);
    expect(body.code).toBe('origin_not_found');
    await ask(eventOf(newType()), { client: stranger }).expect(409);
  });
});

describe('an event arrives', () => {
  test('in binary mode, with percent-encoded headers and any data', async () => {
    const type = newType();
    const wanted = await register({ types: [type], subject: 'Zaak 7 €' });
    const answer = await sender
      .post('/v1/match')
      .set({
        'ce-specversion': '1.0',
        'ce-id': '1',
        'ce-source': 'urn:example:cases',
        'ce-type': type,
        'ce-subject': 'Zaak 7 %E2%82%AC',
      })
      .set('Content-Type', 'text/plain')
      .send('data')
      .expect(200);
    expect(subscriptionsOf(answer.body)).toEqual([wanted.id]);
  });

  test('in a batch, with one result for each in order, and an invalid one does not affect the others', async () => {
    const type = newType();
    const wanted = await register({ types: [type] });
    const batch = [eventOf(type), { ...eventOf(type), id: '' }, eventOf(newType())];
    const { body } = await ask(batch, { mediaType: 'application/cloudevents-batch+json' }).expect(200);
    expect(body.events).toMatchObject([
      { sinks: [{ subscriptions: [wanted.id] }] },
      { faults: [{ pointer: '/1/id', level: 'MUST' }] },
      { sinks: [] },
    ]);
    for (const mediaType of ['', '; charset=utf-8', '; charset=UTF-8', ';charset="utf-8"']) {
      const empty = await ask([], { mediaType: `application/cloudevents-batch+json${mediaType}` }).expect(200);
      expect(empty.body.events).toEqual([]);
      await ask(eventOf(type), { mediaType: `application/cloudevents+json${mediaType}` }).expect(200);
    }
  });

  test('with faults, and is refused with all of them', async () => {
    const { body } = await ask({ specversion: '1.1', id: '', source: '/a', Type: 'x' }).expect(400);
    expect(body.code).toBe('invalid_event');
    expect(body.faults.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(
      expect.arrayContaining(['/Type', '/id', '/specversion']),
    );
  });

  test('at an origin with a profile, with the faults of the profile in the readable parts, alone and in a batch', async () => {
    const query = { origin: 'overheid.example.nl' };
    const event = { ...eventOf('zaak'), id: undefined, sequencetype: 'Integer' };
    const pointers = ({ faults }: { faults: Array<{ pointer: string }> }) => faults.map(({ pointer }) => pointer);
    const { body } = await ask(event, { query }).expect(400);
    expect(pointers(body)).toEqual(['/id', '/type', '/sequence']);
    const batch = await ask([event], { query, mediaType: 'application/cloudevents-batch+json' }).expect(200);
    expect(pointers(batch.body.events[0])).toEqual(['/0/id', '/0/type', '/0/sequence']);
  });

  test('too large, too many or in another format, and is refused with the reason', async () => {
    const batch = Array.from({ length: 101 }, () => eventOf('com.example.a'));
    expect((await ask(batch, { mediaType: 'application/cloudevents-batch+json' }).expect(413)).body.code).toBe(
      'body_too_large',
    );
    expect((await ask({ ...eventOf('com.example.a'), data: 'x'.repeat(1_048_576) }).expect(413)).body.code).toBe(
      'body_too_large',
    );
    expect(
      (await ask(eventOf('com.example.a'), { mediaType: 'application/cloudevents+avro' }).expect(415)).body.code,
    ).toBe('media_type_unsupported');
  });

  test('larger than the registry is configured to accept, and is refused with the reason', async () => {
    const small = await startRegistry({ env: { ASSENT_MESSAGE_BYTES: '65536', ASSENT_MESSAGE_EVENTS: '2' } });
    await untilReady(small.operationsUrl);
    const client = await small.as('assent:deliver');
    await (
      await small.as('assent:admin')
    )
      .post('/v1/origins')
      .send({ name: 'a.example.com', isdefault: true })
      .expect(201);
    const event = eventOf('com.example.a');
    const batch = (count: number) =>
      ask(
        Array.from({ length: count }, () => event),
        { client, mediaType: 'application/cloudevents-batch+json' },
      );
    await batch(2).expect(200);
    expect((await batch(3).expect(413)).body.faults).toMatchObject([{ rule: 'too_many_events' }]);
    const large = { ...event, data: 'x'.repeat(65_536) };
    await ask(large).expect(200);
    await ask(large, { client }).expect(413);
    const validate = (body: object) =>
      client.post('/v1/events/check').set('Content-Type', 'application/cloudevents+json').send(JSON.stringify(body));
    await validate(event).expect(200);
    await validate(large).expect(413);
    await small.stop();
  });

  test('in a batch larger than its profile has it: 413 for its size, a warning for its number of events', async () => {
    const large = await startRegistry({ env: { ASSENT_MESSAGE_BYTES: '4194304', ASSENT_MESSAGE_EVENTS: '200' } });
    await untilReady(large.operationsUrl);
    const client = await large.as('assent:deliver');
    const origins = (await large.as('assent:admin')).post('/v1/origins');
    await origins.send({ name: 'intg.example.com', isdefault: true, profile: 'intg-std-015' }).expect(201);
    const event = eventOf('com.example.orders.order.created', { datacontenttype: 'text/plain' });
    const batch = (count: number, data: string) =>
      ask(
        Array.from({ length: count }, () => ({ ...event, data })),
        { client, mediaType: 'application/cloudevents-batch+json' },
      );
    const { body } = await batch(6, 'x'.repeat(200 * 1024)).expect(413);
    expect([body.code, body.faults]).toMatchObject(['body_too_large', [{ rule: 'intg-std-015.batch_size' }]]);
    const rulesOf = async (count: number): Promise<string[][]> => {
      const { events } = (await batch(count, 'x').expect(200)).body as { events: { warnings: { rule: string }[] }[] };
      return events.map(({ warnings }) => warnings.map(({ rule }) => rule));
    };
    for (const rules of await rulesOf(101)) expect(rules).toContain('intg-std-015.batch_count');
    for (const rules of await rulesOf(100)) expect(rules).not.toContain('intg-std-015.batch_count');
    await large.stop();
  });

  test('larger than the profile of its origin allows, and gets 413 with the rule', async () => {
    await admin.post('/v1/origins').send({ name: 'intg.example.com', profile: 'intg-std-015' }).expect(201);
    const event = { ...eventOf('com.example.orders.order.created.v1'), data: 'x'.repeat(256 * 1024) };
    const { body } = await ask(event, { query: { origin: 'intg.example.com' } }).expect(413);
    expect(body.code).toBe('event_too_large');
    expect(body.faults).toEqual(expect.arrayContaining([expect.objectContaining({ rule: 'intg-std-015.size' })]));
    const many = (name: string) =>
      Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${name}${index}`, 'a']));
    for (const faults of [many('A'), many('1'), { ...many('A'), ...many('1') }]) {
      const worse = await ask({ ...faults, ...event }, { query: { origin: 'intg.example.com' } }).expect(413);
      expect(worse.body.faults.map(({ rule }: { rule: string }) => rule)).toContain('intg-std-015.size');
      expect(worse.body.faults).toHaveLength(50);
    }
  });

  test('at an origin with a profile, which refuses a broken MUST and warns of a broken SHOULD', async () => {
    const query = { origin: 'overheid.example.nl' };
    const refused = await ask(eventOf('zaak'), { query }).expect(400);
    expect(refused.body.faults).toMatchObject([{ pointer: '/type', rule: expect.stringMatching(/^nl-gov\./) }]);
    const warned = await ask(eventOf('nl.overheid.zaken.gewijzigd'), { query }).expect(200);
    expect(warned.body.warnings).toMatchObject([{ level: 'SHOULD', pointer: '/source' }]);
  });
});

describe('a response', () => {
  test('waits for the requested revision, and fails with a code if it does not arrive', async () => {
    const { body } = await ask(eventOf(newType())).expect(200);
    await ask(eventOf(newType()), { query: { minRevision: body.revision } }).expect(200);
    const later = await ask(eventOf(newType()), { query: { minRevision: '999999999' } }).expect(503);
    expect([later.body.code, later.headers['retry-after']]).toEqual(['revision_not_reached', '1']);
  });

  test('explains to admins why each subscription did or did not match, and to subscribers only their own', async () => {
    const type = newType();
    const other = await registry.as('assent:subscribe', { subscriber: 'other-system' });
    const matched = await register({ types: [type] });
    const filtered = await register({ types: [type], filters: [{ exact: { type } }, { suffix: { subject: '7' } }] });
    const waiting = await register({ types: [type] }, false);
    const ofOrigin = (body: { explanations: Array<{ subscription: string }> }) =>
      body.explanations.filter(({ subscription }) => [matched.id, filtered.id, waiting.id].includes(subscription));
    const { body } = await ask(eventOf(type), { client: admin, query: { explain: true } }).expect(200);
    expect(ofOrigin(body)).toMatchObject([
      { subscription: matched.id, matched: true, code: 'matched' },
      {
        ...{ subscription: filtered.id, subscriber: 'zaaksysteem', matched: false },
        ...{ code: 'filter', pointer: '/filters/1/suffix/subject', part: '7' },
      },
      { subscription: waiting.id, matched: false, code: 'no_grant' },
    ]);
    const own = await ask(eventOf(type), { client: subscriber, query: { explain: true } }).expect(200);
    expect([own.body.sinks, ofOrigin(own.body).length]).toEqual([[], 3]);
    const others = await ask(eventOf(type), { client: other, query: { explain: true } }).expect(200);
    expect(others.body.explanations).toEqual([]);
    await ask(eventOf(type), { client: subscriber }).expect(403);
    const sender = await registry.as('assent:deliver');
    const refused = await ask(eventOf(type), { client: sender, query: { explain: true } }).expect(403);
    expect(refused.body.detail).toBe('An explanation needs the scope assent:admin or assent:subscribe.');
  });

  test('has at most a thousand explanations, which the events of a batch share; an event at fault has none', async () => {
    const name = 'explained.example.com';
    await admin.post('/v1/origins').send({ name }).expect(201);
    await registry.sql(
      `insert into subscription (id, tenant, subscriber, origin, sink, protocol)
       select gen_random_uuid(), 'gemeente', 'crowd', $1, 'https://a.example.com/' || n, 'HTTP'
       from generate_series(1, 1001) n`,
      name,
    );
    const query = { explain: true, origin: name };
    const { body } = await ask(eventOf('a.b'), { client: admin, query }).expect(200);
    expect(new Set(body.explanations.map(({ sink }: { sink: string }) => sink)).size).toBe(1_000);
    const batch = [eventOf('a.b'), { ...eventOf('a.b'), id: '' }, eventOf('a.b'), eventOf('a.b')];
    const mediaType = 'application/cloudevents-batch+json';
    const { events } = (await ask(batch, { client: admin, query, mediaType }).expect(200)).body;
    expect(events.map(({ explanations }: { explanations?: unknown[] }) => explanations?.length)).toEqual([
      333,
      undefined,
      333,
      333,
    ]);
  });

  test('names the content mode that the subscription asks for', async () => {
    const type = newType();
    await register({ types: [type], protocolsettings: { contentmode: 'binary' } });
    expect((await ask(eventOf(type)).expect(200)).body.sinks).toMatchObject([{ contentmode: 'binary' }]);
  });

  test('has the protocol settings of the oldest subscription that has any, even after one without or with empty ones', async () => {
    const type = newType();
    const path = `/m${(paths += 1)}`;
    registry.receiver.consent(path, { rate: '100' });
    const more = [
      {},
      { protocolsettings: {} },
      { protocolsettings: { headers: {} } },
      { protocolsettings: { contentmode: 'binary', headers: { 'X-Tenant': '7' } } },
      { protocolsettings: { headers: { 'X-Tenant': '8' } } },
    ];
    const ids: string[] = [];
    for (const each of more) {
      const request = { sink: registry.receiver.sink(path), protocol: 'HTTP', types: [type], ...each };
      ids.push(((await subscriber.post('/v1/subscriptions').send(request).expect(201)).body as Registered).id);
    }
    expect((await ask(eventOf(type)).expect(200)).body.sinks).toMatchObject([
      { subscriptions: ids, contentmode: 'binary', protocolsettings: more[3]?.protocolsettings },
    ]);
  });

  test('has sink credentials and protocol settings for tokens that may see them', async () => {
    const type = newType();
    const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'planted-secret' };
    await register({ types: [type], sinkcredential, protocolsettings: { headers: { 'X-Tenant': '7' } } });
    const plain = await ask(eventOf(type)).expect(200);
    expect(plain.text).not.toContain('planted');
    expect(plain.body.sinks).toMatchObject([{ protocolsettings: { headers: { 'X-Tenant': '7' } } }]);
    const trusted = await registry.as(['assent:deliver', 'assent:credentials'], { subscriber: 'mailroom' });
    const answer = await ask(eventOf(type), { client: trusted }).expect(200);
    expect(answer.body.sinks).toMatchObject([{ sinkcredential }]);
  });

  test('has no sink credentials for an admin who does not deliver, whatever other scopes the token has', async () => {
    const type = newType();
    const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'planted-secret' };
    const { sink } = await register({ types: [type], sinkcredential });
    const curious = await registry.as(['assent:admin', 'assent:credentials'], { subscriber: 'beheer' });
    const answer = await ask(eventOf(type), { client: curious }).expect(200);
    expect(answer.body.sinks).toMatchObject([{ sink }]);
    expect(answer.text).not.toContain('planted');
  });

  test('has no sink credential for a former sink of the subscription, if the index is behind', async () => {
    const type = newType();
    const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'planted-secret' };
    const { id, sink } = await register({ types: [type], sinkcredential });
    const trusted = await registry.as(['assent:deliver', 'assent:credentials'], { subscriber: 'mailroom' });
    const elsewhere = registry.receiver.sink('/elsewhere');
    // Another process wrote it, and this one has not read it yet.
    await registry.sql('update subscription set sink = $1 where id = $2::uuid', elsewhere, id);
    const answer = await ask(eventOf(type), { client: trusted }).expect(200);
    expect(answer.body.sinks).toMatchObject([{ sink, subscriptions: [id] }]);
    expect(answer.text).not.toContain('planted');
    await registry.sql('update subscription set sink = $1 where id = $2::uuid', sink, id);
    const again = await ask(eventOf(type), { client: trusted }).expect(200);
    expect(again.body.sinks).toMatchObject([{ sinkcredential }]);
  });

  test('withholds sinks whose credential no key opens, and logs each of them once', async () => {
    const key = (id: string) => `${id}:${randomBytes(32).toString('base64url')}`;
    const [lost, kept] = [key('lost'), key('kept')];
    const before = await startRegistry({ env: { ASSENT_CREDENTIAL_KEYS: lost } });
    // No key of the origin is missing.
    const { origin, register } = await createTenant(before, { signatures: 'off' });
    const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'planted-secret' };
    const [a, b] = ['/a', '/b'].map((path) => before.receiver.sink(path)) as [string, string];
    for (const path of ['/a', '/b', '/c']) before.receiver.consent(path, { rate: '*' });
    const type = newType();
    const { id } = await register(a, { types: [type], sinkcredential });
    await register(before.receiver.sink('/c'), { types: [type] });
    await before.stopService();

    const after = await startRegistry({ beside: before, env: { ASSENT_CREDENTIAL_KEYS: `${kept},lost:lost` } });
    const client = await after.as('assent:subscribe');
    await client.post('/v1/subscriptions').send({ sink: b, protocol: 'HTTP', types: [type], sinkcredential });
    await client.post('/v1/subscriptions').send({ sink: a, protocol: 'HTTP', types: [type], sinkcredential });
    const trusted = await after.as(['assent:deliver', 'assent:credentials'], { subscriber: 'mailroom' });
    const mediaType = 'application/cloudevents-batch+json';
    for (let time = 0; time < 2; time += 1) {
      const one = (await ask(eventOf(type), { client: trusted }).expect(200)).body;
      expect(one).toMatchObject({ origin, withheld: [{ sink: a, subscriptions: [id, expect.any(String)] }] });
      expect(one.withheld[0]).not.toHaveProperty('sinkcredential');
      const told = one.sinks.map((to: { sink: string; sinkcredential?: object }) => [to.sink, to.sinkcredential]);
      expect(new Map(told)).toEqual(
        new Map([
          [b, sinkcredential],
          [before.receiver.sink('/c'), undefined],
        ]),
      );
      const { body } = await ask([eventOf(type), eventOf(newType())], { client: trusted, mediaType }).expect(200);
      expect(body.events).toEqual([{ sinks: one.sinks, withheld: one.withheld }, { sinks: [] }]);
    }
    const lines = after.logs
      .map((line) => JSON.parse(line))
      .filter(({ msg, owner }) => msg === 'no key decrypts this secret' && owner.startsWith('subscription:'));
    expect(lines).toMatchObject([
      { level: 'error', owner: `subscription:${id}`, err: { message: expect.stringContaining('"lost"') } },
    ]);
    await settingsOf(a, { client: trusted, of: origin }).expect(503);
    // A token that may not see credentials gets the usual response.
    const sender = await after.as('assent:deliver', { subscriber: 'mailroom' });
    const { body } = await ask(eventOf(type), { client: sender }).expect(200);
    expect(body.sinks).toHaveLength(3);
    expect(body).not.toHaveProperty('withheld');
    await after.stop();
    await before.stop();
  });

  test('has the revision of its sinks, although an explanation takes longer', async () => {
    const type = newType();
    await admin.post('/v1/origins').send({ name: 'busy.example.nl' }).expect(201);
    const { id } = await register({ origin: 'busy.example.nl', types: [type] });
    const sql = Array.from({ length: 50 }, (_, i) => `(a = 'x${i}' AND b = 'y${i}')`).join(' OR ');
    await registry.sql(
      `insert into subscription select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(),
        'filters', jsonb_build_array(jsonb_build_object('sql', $1::text))))).*
        from subscription s, generate_series(1, 999) where s.id = $2::uuid`,
      sql,
      id,
    );
    const query = { origin: 'busy.example.nl' };
    const before = await ask(eventOf(type), { query }).expect(200);
    const client = await registry.as(['assent:deliver', 'assent:subscribe']);
    const explained = ask(eventOf(type), { client, query: { ...query, explain: true } })
      .expect(200)
      .then(({ body }) => body as { explanations: unknown[] });
    await sleep(250);
    await subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Enough.' }).expect(200);
    const body = await explained;
    expect(body.explanations).toHaveLength(1_000);
    expect({ ...body, explanations: undefined }).toEqual(before.body);
  });
});

describe('without storing anything', () => {
  test('a filter, or a stored subscription of one’s own, is tested with an event', async () => {
    const event = eventOf('com.example.case', { subject: 'abc' });
    const test = (body: object) => subscriber.post('/v1/filters/check').send(body);
    expect((await test({ event, filters: [{ prefix: { type: 'com.' } }] }).expect(200)).body).toEqual({
      matched: true,
      parts: [{ pointer: '/filters/0/prefix/type', matched: true }],
    });
    const failed = await test({ event, source: 'urn:example:cases', filters: [{ exact: { subject: 'x' } }] }).expect(
      200,
    );
    expect(failed.body).toEqual({
      matched: false,
      pointer: '/filters/0/exact/subject',
      parts: [
        { pointer: '/source', matched: true },
        { pointer: '/filters/0/exact/subject', matched: false },
      ],
    });
    const groups = [
      { any: [{ exact: { subject: 'x' } }, { prefix: { subject: 'a' } }] },
      { not: { sql: 'EXISTS type' } },
    ];
    expect((await test({ event, filters: groups }).expect(200)).body).toEqual({
      matched: false,
      pointer: '/filters/1/not',
      parts: [
        { pointer: '/filters/0/any', matched: true },
        { pointer: '/filters/0/any/0/exact/subject', matched: false },
        { pointer: '/filters/0/any/1/prefix/subject', matched: true },
        { pointer: '/filters/1/not', matched: false },
        { pointer: '/filters/1/not/sql', matched: true },
      ],
    });
    const { id } = await register({ types: ['com.example.other'] });
    expect((await test({ event, subscription: id }).expect(200)).body).toMatchObject({
      matched: false,
      pointer: '/types',
    });
    const both = await test({ event, subscription: id, types: ['com.example.case'], filters: [] }).expect(400);
    expect(both.body.faults).toMatchObject([{ pointer: '/types' }, { pointer: '/filters' }]);
    const empty = await test({ event, source: '', types: [''], subject: '' }).expect(400);
    expect(empty.body.faults).toMatchObject([{ pointer: '/source' }, { pointer: '/types/0' }, { pointer: '/subject' }]);
    const stranger = await registry.as('assent:subscribe', { subscriber: 'other-system' });
    await stranger.post('/v1/filters/check').send({ event, subscription: id }).expect(404);
    const faulty = await test({ event: { ...event, id: '' }, filters: [{ sql: 'type =' }] }).expect(400);
    expect(faulty.body.faults).toMatchObject([{ pointer: '/event/id' }, { pointer: '/filters/0/sql' }]);
  });

  test('the test accepts the events that a match accepts, and refuses the others in the same way', async () => {
    const event = (more: string) => `{"specversion":"1.0","id":"1","source":"/a","type":"t",${more}}`;
    const send = (path: string, mediaType: string, body: string) =>
      subscriber.post(path).set('Content-Type', mediaType).send(body);
    for (const data of ['{"a":"\\u0000"}', '{"a":1,"a":2}', '{"constructor":1}', '['.repeat(200) + ']'.repeat(200)]) {
      const taken = event(`"data":${data}`);
      const valid = await send('/v1/events/check', 'application/cloudevents+json', taken).expect(200);
      expect(valid.body.valid).toBe(true);
      const tried = await send('/v1/filters/check', 'application/json', `{"types":["t"],"event":${taken}}`).expect(200);
      expect(tried.body).toMatchObject({ matched: true });
    }
    for (const more of ['"x":1.0', '"x":1,"x":1', '"x":"\\u0000"']) {
      const valid = await send('/v1/events/check', 'application/cloudevents+json', event(more)).expect(200);
      const tried = await send('/v1/filters/check', 'application/json', `{"event":${event(more)}}`).expect(400);
      const [{ pointer, rule }] = valid.body.events[0].faults;
      expect(tried.body.faults).toEqual([expect.objectContaining({ pointer: `/event${pointer}`, rule })]);
    }
    const beside = `{"event":${event('"x":"\\u0000"')},"event":{},"source":"\\u0000","a":{"__proto__":1}}`;
    const told = await send('/v1/filters/check', 'application/json', beside).expect(400);
    expect(told.body.faults).toEqual([
      expect.objectContaining({ pointer: '/event', rule: 'name_repeated' }),
      expect.objectContaining({ pointer: '/source', rule: 'text_nul' }),
      expect.objectContaining({ pointer: '/a/__proto__', rule: 'name_forbidden' }),
      expect.objectContaining({ pointer: '/a', rule: 'member_unknown' }),
    ]);
  });

  test('an event of 64 KiB is tested with filters of nearly the same size', async () => {
    const least = JSON.stringify(eventOf('com.example.case', { data: '' })).length;
    const event = eventOf('com.example.case', { data: 'x'.repeat(65_536 - least) });
    const filters = [{ not: { exact: { subject: 'x'.repeat(60_000) } } }];
    const { body } = await subscriber.post('/v1/filters/check').send({ event, filters }).expect(200);
    expect(body).toMatchObject({ matched: true });
  });

  test('the test of a filter that does not match names the innermost part, and the missing attribute', async () => {
    const event = eventOf('com.example.case', { subject: 'abc', count: 5 });
    const failure = async (filter: object) => {
      const { body } = await subscriber
        .post('/v1/filters/check')
        .send({ event, filters: [{ prefix: { type: 'com.' } }, filter] })
        .expect(200);
      return [body.matched, body.pointer?.replace('/filters/1/', ''), body.detail];
    };
    const [type, subject, nothing] = [
      { prefix: { type: 'com.' } },
      { exact: { subject: 'x' } },
      { suffix: { a: 'x' } },
    ];
    const lacking = 'The event does not have this attribute.';
    expect(await failure({ all: [type, { all: [type, subject] }] })).toEqual([
      false,
      'all/1/all/1/exact/subject',
      undefined,
    ]);
    expect(await failure({ prefix: { type: 'com.', count: '6' } })).toEqual([false, 'prefix/count', undefined]);
    expect(await failure({ all: [type, nothing] })).toEqual([false, 'all/1/suffix/a', lacking]);
    expect(await failure({ any: [subject, nothing] })).toEqual([false, 'any', undefined]);
    expect(await failure({ not: { any: [nothing, type] } })).toEqual([false, 'not', undefined]);
    expect(await failure({ sql: 'count = 6' })).toEqual([false, 'sql', undefined]);
    expect(await failure({ sql: "a = 'x'" })).toEqual([false, 'sql', expect.stringContaining('lacks an attribute')]);
    expect(await failure({ sql: '1 / 0 = 1' })).toEqual([false, 'sql', expect.stringContaining('divided by zero')]);
    expect(await failure({ sql: 'subject > 1' })).toEqual([false, 'sql', expect.stringContaining('type')]);
    expect(await failure({ not: { sql: "a = 'x'" } })).toEqual([true, undefined, undefined]);
  });

  test('the reason of a failure and its refusal are in the language of the client', async () => {
    const event = eventOf('com.example.case', { subject: 'abc' });
    const send = (body: object) => subscriber.post('/v1/filters/check').set('Accept-Language', 'nl').send(body);
    const failed = await send({ event, filters: [{ sql: '1 / 0 = 1' }] }).expect(200);
    expect(failed.get('Content-Language')).toBe('nl');
    expect(failed.body).toMatchObject({
      matched: false,
      pointer: '/filters/0/sql',
      detail: 'Een getal valt buiten het bereik van een Integer, of wordt gedeeld door nul.',
    });
    const refused = await send({ event, filters: [{ sql: 'a =' }] }).expect(400);
    expect(refused.get('Content-Language')).toBe('nl');
    expect(refused.body).toMatchObject({
      detail: 'De gebeurtenis of de filters zijn ongeldig. Bij faults staat waar, en waarom.',
      faults: [{ detail: expect.stringMatching(/^Bij teken 4: Hier wordt een waarde, /) }],
    });
  });

  test('an event is validated against a profile', async () => {
    const answer = await subscriber
      .post('/v1/events/check')
      .query({ profile: 'belgif' })
      .set('Content-Type', 'application/cloudevents+json')
      .send(JSON.stringify(eventOf('a')))
      .expect(200);
    expect(answer.body).toMatchObject({ profile: 'belgif', valid: false });
    expect(answer.body.events[0].faults.length).toBeGreaterThan(0);
  });

  test('an event of the maximum size of a match is validated against a profile, and a larger one is refused', async () => {
    const text = (length: number) => JSON.stringify(eventOf('com.example.a', { data: 'x'.repeat(length) }));
    const validate = (body: string) =>
      subscriber.post('/v1/events/check').set('Content-Type', 'application/cloudevents+json').send(body);
    const maxText = 1_048_576 - text(0).length;
    const { body } = await validate(text(maxText)).expect(200);
    expect(body.events).toMatchObject([{ valid: true, warnings: [{ rule: 'cloudevents.size' }] }]);
    expect((await validate(text(maxText + 1)).expect(413)).body.code).toBe('body_too_large');
  });

  test('a subscription for an origin with a profile is refused an impossible type and warned of an unlikely source', async () => {
    const sink = registry.receiver.sink('/later');
    const request = { sink, protocol: 'HTTP', origin: 'overheid.example.nl', source: '/zaken' };
    const refused = await subscriber
      .post('/v1/subscriptions')
      .send({ ...request, types: ['zaak'] })
      .expect(400);
    expect(refused.body.faults).toMatchObject([{ pointer: '/types/0' }]);
    const created = await subscriber
      .post('/v1/subscriptions')
      .send({ ...request, types: ['nl.overheid.zaak.v1'] })
      .expect(201);
    expect(created.body.warnings).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ pointer: '/source' })]),
    );
  });
});

describe('the settings of a sink', () => {
  const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'planted-secret' };
  const patch = (id: string, body: object) =>
    subscriber
      .patch(`/v1/subscriptions/${id}`)
      .set('Content-Type', 'application/merge-patch+json')
      .send(JSON.stringify(body))
      .expect(200);

  test('are what a match returns for an event that matches every active subscription of the pair', async () => {
    const type = newType();
    const trusted = await registry.as(['assent:deliver', 'assent:credentials'], { subscriber: 'mailroom' });
    const { sink, id } = await register({ types: [type] });
    const others = [
      { protocolsettings: { contentmode: 'binary', headers: { 'X-Tenant': '7' } } },
      { sinkcredential, signingsecret: { make: true } },
      { protocolsettings: { headers: { 'X-Tenant': '8' } } },
    ];
    const ids = [id];
    const isSame = async () => {
      for (const client of [sender, trusted]) {
        const matched = await ask(eventOf(type), { client }).expect(200);
        const { body, text } = await settingsOf(sink, { client }).expect(200);
        // The log goes on, whether or not it is about this sink.
        expect(body).toEqual({ ...matched.body, revision: expect.any(String) });
        expect(text.includes('planted')).toBe(client === trusted && body.sinks[0].hascredential === true);
      }
      return (await settingsOf(sink, { client: trusted }).expect(200)).body.sinks[0];
    };
    await isSame();
    for (const more of others) {
      const request = { sink, protocol: 'HTTP', types: [type], ...more };
      ids.push(((await subscriber.post('/v1/subscriptions').send(request).expect(201)).body as Registered).id);
      await isSame();
    }
    expect(await isSame()).toMatchObject({ subscriptions: ids, contentmode: 'binary', sinkcredential });
    await patch(ids[2]!, { sinkcredential: { ...sinkcredential, secret: 'planted-later', overlapseconds: 600 } });
    expect(await isSame()).toMatchObject({ previouscredential: { sinkcredential } });
    await subscriber.post(`/v1/subscriptions/${ids[1]}/suspend`).send({ reason: 'Later.' }).expect(200);
    const end = Date.now() + 3_000;
    await patch(ids[0]!, { expiresat: new Date(end).toISOString() });
    await sleep(end - Date.now() + 100);
    expect(await isSame()).toMatchObject({
      subscriptions: ids.slice(2),
      protocolsettings: others[2]!.protocolsettings,
    });
    const report = [{ origin, sink, statuscode: 429, retryafter: '600' }];
    await sender.post('/v1/deliveries/outcomes').send(report).expect(200);
    await registry.service.follow();
    expect(await isSame()).toMatchObject({ helduntil: expect.any(String) });
  });

  test('of a pair with an agreement and no subscription are those of the grant', async () => {
    const sink = registry.receiver.sink('/agreed');
    const agreement = { origin, sink, allowedrate: 60, agreement: 'contract 7', expiresat: new Date(Date.now() + 1e8) };
    await admin.post('/v1/grants').send(agreement).expect(201);
    await registry.service.follow();
    expect((await settingsOf(sink).expect(200)).body.sinks).toMatchObject([
      { sink, subscriptions: [], allowedrate: 60 },
    ]);
  });

  test('are refused with the denial without consent, and to another tenant as if there were none', async () => {
    const { sink, id } = await register({ types: [newType()], sinkcredential });
    const refused = async (rule: string, ...of: Parameters<typeof settingsOf>) => {
      const { body, text } = await settingsOf(...of).expect(403);
      expect(body).toMatchObject({ code: 'not_permitted', faults: [{ pointer: 'query/sink', rule }] });
      expect(text).not.toContain('planted');
    };
    const foreign = await registry.as(['assent:deliver', 'assent:credentials'], { tenant: 'provincie' });
    await settingsOf(sink).expect(200);
    await refused('no_grant', sink, { client: foreign });
    await refused('no_grant', `${sink}/other`);
    await refused('no_grant', sink, { of: 'nobody.example.com' });
    await subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Later.' }).expect(200);
    await registry.service.follow();
    await refused('suspended', sink);
    const { body } = await settingsOf('http://plain.example.com/', { of: 'a b' }).expect(400);
    expect(body.faults).toMatchObject([{ pointer: 'query/origin' }, { pointer: 'query/sink' }]);
  });
});
