import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type supertest from 'supertest';
import { exhaust, passGrant } from '../../support/pass-time.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

const origin = 'eventemitter.example.com';
let registry: Registry;
let admin: Client;
let subscriber: Client;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheerder' });
  subscriber = await registry.as('assent:subscribe');
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
  await admin.post('/v1/origins').send({ name: 'second.example.com' }).expect(201);
});
afterAll(() => registry.stop());

let paths = 0;
/** A new consenting sink for each subscription. */
function newSink(): string {
  const path = `/s${(paths += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}

async function register(members: object = {}, client: Client = subscriber) {
  const request = { sink: newSink(), protocol: 'HTTP', ...members };
  const { body } = await client.post('/v1/subscriptions').send(request).expect(201);
  return { ...body, path: `/v1/subscriptions/${body.id}` };
}

const askedAt = (sink: string) => registry.receiver.asked.filter(({ path }) => sink.endsWith(path)).length;

/** Everything that a client may ask for. */
const complete = () => ({
  source: 'urn:nld:oin:00000001823288444000:systeem:BRP-component',
  types: ['nl.overheid.zaken.zaakstatus-gewijzigd', 'nl.overheid.zaken.zaak-gesloten'],
  subject: '123456789',
  filters: [
    { all: [{ prefix: { type: 'nl.overheid.' } }, { not: { suffix: { subject: '0', source: 'x' } } }] },
    { any: [{ exact: { type: 'a' } }, { exact: { type: 'b' } }] },
  ],
  sink: newSink(),
  protocol: 'HTTP',
  protocolsettings: { headers: { 'X-Kanaal': 'zaken' }, method: 'POST' },
  config: { interval: '10', nested: { empty: null, list: [1, { a: null }] } },
  origin,
  requestedrate: 30,
});

describe('create and read', () => {
  test('a subscription is stored as requested, and GET returns what POST returned', async () => {
    const request = complete();
    const created = await subscriber.post('/v1/subscriptions').send(request).expect(201);
    expect(created.body).toEqual({
      ...request,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'active',
      statusdetails: expect.objectContaining({ code: 'granted', allowedrate: 100 }),
      subscriber: 'zaaksysteem',
      suspended: false,
      createdat: expect.stringMatching(/Z$/),
      updatedat: created.body.createdat,
    });
    expect(created.get('Location')).toBe(`/v1/subscriptions/${created.body.id}`);
    const read = await subscriber.get(created.get('Location') ?? '').expect(200);
    expect(read.body).toEqual(created.body);
    expect([read.get('ETag'), created.get('ETag')]).toEqual(['"1"', '"1"']);
  });

  test('an ETag names only the version, not the status, so GET never returns 304', async () => {
    const { sink, path, status } = await register();
    expect(status).toBe('active');
    await passGrant(registry, sink);
    for (const tag of ['"1"', 'W/"1"', '*']) {
      const { body } = await subscriber.get(path).set('If-None-Match', tag).expect(200);
      expect(body.status).toBe('expired');
    }
    await subscriber.get('/v1/subscriptions').set('If-None-Match', '*').expect(200);
  });

  test('only sink and protocol are required; empty lists mean everything and are left out', async () => {
    const { body } = await subscriber
      .post('/v1/subscriptions')
      .send({ sink: newSink(), protocol: 'HTTP', types: [], filters: [] })
      .expect(201);
    expect(Object.keys(body).sort()).toEqual([
      'createdat',
      'id',
      'origin',
      'protocol',
      'sink',
      'status',
      'statusdetails',
      'subscriber',
      'suspended',
      'updatedat',
    ]);
    expect(body.origin).toBe(origin);
  });

  test('read-only members cannot be set: id, subscriber, status and times', async () => {
    const told = { subscriber: 'other', status: 'retired', statusdetails: {}, createdat: '1999-01-01T00:00:00Z' };
    const created = await register({ id: 'mine', ...told });
    expect(created.id).not.toBe('mine');
    expect(created).toMatchObject({ subscriber: 'zaaksysteem', status: 'active' });
    expect(created.suspended).toBe(false);
    expect(created).not.toHaveProperty('suspension');
    expect(Date.parse(created.createdat)).toBeGreaterThan(Date.now() - 60_000);
  });

  test('the case of an origin does not matter, and an unknown id is a 404', async () => {
    expect(await register({ origin: 'Second.Example.COM' })).toMatchObject({ origin: 'second.example.com' });
    for (const id of ['0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f', 'not-an-id', "1' or '1'='1"]) {
      const answer = await subscriber.get(`/v1/subscriptions/${encodeURIComponent(id)}`).expect(404);
      expect(answer.body.code).toBe('subscription_not_found');
    }
  });
});

describe('list', () => {
  let mine: Client;
  let ids: string[];
  let sink: string;
  const list = async (query: object) => (await mine.get('/v1/subscriptions').query(query).expect(200)).body;

  beforeAll(async () => {
    mine = await registry.as('assent:subscribe', { subscriber: 'lister' });
    sink = newSink();
    const members = [
      { source: 'urn:a', types: ['t.one', 't.two'], subject: 'é & ?' },
      { source: 'urn:b', types: ['t.two'] },
      { sink, origin: 'second.example.com' },
      {},
      {},
    ];
    ids = [];
    for (const each of members) ids.push((await register(each, mine)).id);
    await mine.post(`/v1/subscriptions/${ids[3]}/suspend`).send({ reason: 'test' }).expect(200);
  });

  test.each<[string, () => object, number[]]>([
    ['nothing', () => ({}), [0, 1, 2, 3, 4]],
    ['source', () => ({ source: 'urn:a' }), [0]],
    ['type', () => ({ type: 't.two' }), [0, 1]],
    ['part of a type', () => ({ type: 't' }), []],
    ['subject', () => ({ subject: 'é & ?' }), [0]],
    ['sink', () => ({ sink }), [2]],
    ['origin', () => ({ origin: 'SECOND.example.com' }), [2]],
    ['status', () => ({ status: 'suspended' }), [3]],
    ['another status', () => ({ status: 'retired' }), []],
    ['several at once', () => ({ type: 't.two', source: 'urn:b', status: 'active' }), [1]],
    ['subscriber', () => ({ subscriber: 'lister' }), [0, 1, 2, 3, 4]],
    ['another subscriber', () => ({ subscriber: 'zaaksysteem' }), []],
    ['a pattern of SQL', () => ({ source: '%' }), []],
  ])('by %s gives exactly those, oldest first', async (_, query, places) => {
    const found = await list(query());
    expect(found.map(({ id }: { id: string }) => id)).toEqual(places.map((place) => ids[place]));
  });

  test.each([1, 2, 5])('pages of %i lead through all of them once, and the last has no link', async (limit) => {
    const seen: string[] = [];
    let address: string | undefined = `/v1/subscriptions?limit=${limit}&origin=${origin}`;
    while (address !== undefined) {
      const page: supertest.Response = await mine.get(address).expect(200);
      expect(page.body.length).toBeLessThanOrEqual(limit);
      seen.push(...page.body.map(({ id }: { id: string }) => id));
      address = /^<(.*)>; rel="next"$/.exec(page.get('Link') ?? '')?.[1];
    }
    expect(seen).toEqual([ids[0], ids[1], ids[3], ids[4]]);
  });

  test('has no warnings of the event profile, unlike the response for one subscription', async () => {
    await admin.post('/v1/origins').send({ name: 'overheid.example.nl', profile: 'nl-gov' }).expect(201);
    const made = await register({ origin: 'overheid.example.nl', source: 'urn:nld:oin:1:systeem:BRP' });
    expect(made.warnings).toMatchObject([{ pointer: '/source', rule: 'nl-gov.source_number', level: 'SHOULD' }]);
    const { body: one } = await subscriber.get(made.path).expect(200);
    const { body: listed } = await subscriber.get('/v1/subscriptions?origin=overheid.example.nl').expect(200);
    const { warnings, ...others } = one;
    expect(warnings).toEqual(made.warnings);
    expect(listed).toEqual([others]);
    await subscriber.delete(made.path).expect(200);
  });

  test('a page keeps its filter, and continues at the same place although entries are added and removed', async () => {
    const first = await mine.get('/v1/subscriptions').query({ type: 't.two', limit: 1 }).expect(200);
    expect(first.get('Link')).toContain('type=t.two&limit=1&cursor=');
    const passing = await register({ types: ['t.two'] }, mine);
    const next = /<(.*)>/.exec(first.get('Link') ?? '')?.[1] ?? '';
    expect((await mine.get(next).expect(200)).body.map(({ id }: { id: string }) => id)).toEqual([ids[1]]);
    await mine.delete(passing.path).expect(200);
  });

  test('by status returns all subscriptions with that status, whatever caused it', async () => {
    const one = await registry.as('assent:subscribe', { subscriber: 'of every status' });
    const { receiver } = registry;
    const answering = (status: number) => {
      const to = newSink();
      receiver.on(new URL(to).pathname, (_, response) => response.writeHead(status).end());
      return to;
    };
    const refusing = newSink();
    receiver.consent(new URL(refusing).pathname, { origin: 'somebody-else.example.com' });
    const dropping = newSink();
    receiver.on(new URL(dropping).pathname, (_, response) => response.destroy());
    const [over, revoked] = [newSink(), newSink()];
    for (const to of [answering(200), answering(410), refusing, dropping, over, revoked]) {
      await register({ sink: to }, one);
    }
    await register({}, one);
    for (const { path } of [await register({}, one), await register({ sink: answering(200) }, one)]) {
      await one.post(`${path}/suspend`).send({ reason: 'test' }).expect(200);
    }
    await passGrant(registry, over);
    const [grant] = (await admin.get('/v1/grants').query({ sink: revoked }).expect(200)).body;
    await admin.post(`/v1/grants/${grant.id}/revoke`).send({ reason: 'test' }).expect(200);
    await exhaust(registry);

    type Listed = Array<{ id: string; status: string }>;
    const all = (await one.get('/v1/subscriptions').expect(200)).body as Listed;
    const statuses = ['active', 'expired', 'pending', 'refused', 'retired', 'suspended', 'unreachable'];
    expect([...new Set(all.map(({ status }) => status))].sort()).toEqual(statuses);
    for (const status of statuses) {
      const found = (await one.get('/v1/subscriptions').query({ status }).expect(200)).body as Listed;
      expect(found).toEqual(all.filter((each) => each.status === status));
    }
  });

  test("a cursor forged from another subscriber's id returns only the caller's own subscriptions", async () => {
    const other = await register();
    const cursor = Buffer.from(`/v1/subscriptions ${other.id}`).toString('base64url');
    const after = await register({}, mine);
    expect((await list({ cursor })).map(({ id }: { id: string }) => id)).toEqual([after.id]);
    await mine.delete(after.path).expect(200);
  });

  test('the cursor of another list, and an altered cursor, are refused', async () => {
    const [one, two] = [await register(), await register()];
    for (const { path } of [one, one, two]) await subscriber.post(`${path}/handshakes`).expect(201);
    const cursorAt = async (path: string) => {
      const { searchParams } = new URL(
        /<(.*)>/.exec((await admin.get(`${path}?limit=1`)).get('Link') ?? '')?.[1] ?? '',
        'http://x',
      );
      return searchParams.get('cursor') ?? '';
    };
    const at = ['/v1/subscriptions', '/v1/grants', '/v1/audit', `${one.path}/handshakes`, `${two.path}/handshakes`];
    for (const path of at) {
      const cursor = await cursorAt(path);
      await admin.get(path).query({ cursor }).expect(200);
      for (const other of at.filter((each) => each !== path)) {
        const { body } = await admin.get(other).query({ cursor }).expect(400);
        expect(body.faults).toMatchObject([{ pointer: 'query/cursor', rule: 'cursor_unknown' }]);
      }
      for (const altered of [`${cursor}A`, `${cursor}=`, ` ${cursor}`])
        await admin.get(path).query({ cursor: altered }).expect(400);
    }
  });
});

describe('replace', () => {
  test('a PUT of the GET response changes only version and time', async () => {
    const created = await subscriber.post('/v1/subscriptions').send(complete()).expect(201);
    const asked = askedAt(created.body.sink);
    const put = await subscriber.put(`/v1/subscriptions/${created.body.id}`).send(created.body).expect(200);
    expect({ ...put.body, updatedat: 0 }).toEqual({ ...created.body, updatedat: 0 });
    expect(put.get('ETag')).toBe('"2"');
    expect(askedAt(created.body.sink)).toBe(asked);
  });

  test('missing members are removed', async () => {
    const request = complete();
    const created = await register(request);
    const { body } = await subscriber.put(created.path).send({ sink: request.sink, protocol: 'HTTP' }).expect(200);
    for (const name of ['source', 'types', 'subject', 'filters', 'protocolsettings', 'config', 'requestedrate']) {
      expect(body).not.toHaveProperty(name);
    }
    expect(body.origin).toBe(origin);
  });

  test('the id of another subscription is refused, and nothing changes', async () => {
    const [one, other] = [await register(), await register()];
    const answer = await subscriber.put(one.path).send({ ...one, path: undefined, id: other.id, source: 'urn:a' });
    expect([answer.status, answer.body.faults[0]]).toMatchObject([400, { pointer: '/id', rule: 'id_changed' }]);
    expect((await subscriber.get(one.path)).body).not.toHaveProperty('source');
  });

  test('another sink gets a handshake, and the origin may no longer send to the old one', async () => {
    const created = await register();
    const sink = newSink();
    const { body } = await subscriber.put(created.path).send({ sink, protocol: 'HTTP' }).expect(200);
    expect(body).toMatchObject({ sink, status: 'active' });
    expect(askedAt(sink)).toBe(1);
    const old = await admin.get('/v1/permissions').query({ origin, sink: created.sink }).expect(200);
    expect(old.body).toMatchObject({ allowed: false, denial: 'ended' });
  });

  test('new filters apply at once and start no handshake', async () => {
    const created = await register();
    const filters = [{ prefix: { type: 'a' } }];
    const { body } = await subscriber
      .put(created.path)
      .send({ ...created, path: undefined, filters })
      .expect(200);
    expect(body).toMatchObject({ filters, status: 'active' });
    expect(askedAt(created.sink)).toBe(1);
  });
});

describe('patch', () => {
  const patch = (path: string, members: object) =>
    subscriber.patch(path).type('application/merge-patch+json').send(JSON.stringify(members));

  test('changes the members that it has, merges objects, replaces lists, and removes with null', async () => {
    const request = complete();
    const created = await register(request);
    const { body } = await patch(created.path, {
      subject: null,
      types: ['com.example.only'],
      config: { interval: null, nested: { list: [null] }, added: true },
      protocolsettings: { headers: { 'X-Kanaal': null, 'X-Other': 'a' } },
    }).expect(200);
    expect(body).toEqual({
      ...created,
      path: undefined,
      subject: undefined,
      updatedat: expect.any(String),
      types: ['com.example.only'],
      config: { nested: { empty: null, list: [null] }, added: true },
      protocolsettings: { headers: { 'X-Other': 'a' }, method: 'POST' },
    });
    expect(body).not.toHaveProperty('subject');
  });

  test('null is refused for a required member, and means the default for an origin', async () => {
    const created = await register({ origin: 'second.example.com' });
    const refused = await patch(created.path, { sink: null }).expect(400);
    expect(refused.body.faults).toMatchObject([{ pointer: '/sink', rule: 'required' }]);
    expect((await patch(created.path, { origin: null, types: null }).expect(200)).body.origin).toBe(origin);
  });

  test.each(['hasOwnProperty', 'toString', 'toJSON', 'length'])('a member named %s is only a member', async (name) => {
    const created = await register({ config: { [name]: 'a', b: 'b' } });
    const { body } = await patch(created.path, { config: { b: null, [name]: { deep: 'c' } } }).expect(200);
    expect(body.config).toEqual({ [name]: { deep: 'c' } });
  });

  test('does not change read-only members', async () => {
    const created = await register();
    const { body } = await patch(created.path, { subscriber: 'other', status: 'refused', source: 'urn:a' }).expect(200);
    expect(body).toMatchObject({ subscriber: 'zaaksysteem', status: 'active', source: 'urn:a' });
  });
});

test('DELETE returns the subscription; then GET and the list no longer have it', async () => {
  const created = await register();
  const { body } = await subscriber.delete(created.path).expect(200);
  expect(body).toEqual({ ...created, path: undefined });
  await subscriber.get(created.path).expect(404);
  await subscriber.delete(created.path).expect(404);
  expect((await subscriber.get('/v1/subscriptions').query({ sink: created.sink })).body).toEqual([]);
});

describe('suspend and resume', () => {
  const reason = 'Maintenance until Monday.';

  test('a subscriber suspends and resumes without a handshake while the grant is live', async () => {
    const created = await register();
    const suspended = await subscriber.post(`${created.path}/suspend`).send({ reason }).expect(200);
    expect(suspended.body).toMatchObject({
      status: 'suspended',
      suspended: true,
      suspension: { by: 'subscriber', reason },
    });
    expect(suspended.body.statusdetails.message).toContain(reason);
    const { body } = await subscriber.post(`${created.path}/resume`).send({ reason: 'Done.' }).expect(200);
    expect(body).toMatchObject({ status: 'active' });
    expect(body.suspended).toBe(false);
    expect(body).not.toHaveProperty('suspension');
    expect(askedAt(created.sink)).toBe(1);
  });

  test('resuming starts a handshake if the grant expired meanwhile', async () => {
    const created = await register();
    await subscriber.post(`${created.path}/suspend`).send({ reason }).expect(200);
    await passGrant(registry, created.sink);
    const { body } = await subscriber.post(`${created.path}/resume`).expect(200);
    expect(body.status).toBe('active');
    expect(askedAt(created.sink)).toBe(2);
  });

  test.each([origin, '*'])(
    'a consent for %s that ran out is said to have, and what gave it is not',
    async (allowed) => {
      const sink = newSink();
      registry.receiver.consent(new URL(sink).pathname, { origin: allowed });
      const created = await register({ sink });
      await passGrant(registry, sink);
      const { body } = await subscriber.get(created.path).expect(200);
      expect(body).toMatchObject({ status: 'expired', statusdetails: { message: 'The grant expired.' } });
    },
  );

  test('only an admin resumes what an admin suspended, and a subscriber cannot take over the suspension', async () => {
    const created = await register();
    await admin.post(`${created.path}/suspend`).send({ reason: 'Abuse.' }).expect(200);
    const again = await subscriber.post(`${created.path}/suspend`).send({ reason }).expect(200);
    expect(again.body.suspension).toMatchObject({ by: 'admin', reason: 'Abuse.' });
    const refused = await subscriber.post(`${created.path}/resume`).send({ reason }).expect(403);
    expect(refused.body.code).toBe('suspended_by_admin');
    const put = await subscriber.put(created.path).send({ sink: created.sink, protocol: 'HTTP' }).expect(200);
    expect(put.body.status).toBe('suspended');
    expect((await admin.post(`${created.path}/resume`).send({ reason }).expect(200)).body.status).toBe('active');
  });

  test('an admin takes over a suspension of the subscriber; resuming an active subscription changes nothing', async () => {
    const created = await register();
    const idle = await subscriber.post(`${created.path}/resume`).send({ reason }).expect(200);
    expect([idle.body.status, idle.get('ETag')]).toEqual(['active', '"1"']);
    await subscriber.post(`${created.path}/suspend`).send({ reason }).expect(200);
    await admin.post(`${created.path}/suspend`).send({ reason: 'Abuse.' }).expect(200);
    await subscriber.post(`${created.path}/resume`).send({ reason }).expect(403);
  });

  test.each([{}, { reason: '' }, { reason: ' ' }, { reason: 'a', until: 'b' }])(
    'a suspension needs a reason: %j is none; a resumption needs none, but takes no other',
    async (body) => {
      const created = await register();
      await subscriber.post(`${created.path}/suspend`).send(body).expect(400);
      await subscriber
        .post(`${created.path}/resume`)
        .send(body)
        .expect('reason' in body ? 400 : 200);
      expect((await subscriber.get(created.path)).body.status).toBe('active');
    },
  );
});
