import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type supertest from 'supertest';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

let registry: Registry;
let admin: Client;
let subscriber: Client;
let sender: Client;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  subscriber = await registry.as('assent:subscribe');
  sender = await registry.as('assent:deliver');
  // The first one would be the default.
  await create('first.example.com', { isdefault: false }).expect(201);
});
afterAll(() => registry.stop());

let count = 0;
const newName = () => `origin-${(count += 1)}.example.com`;
function newSink(headers?: Record<string, string>, status = 200): string {
  const path = `/o${(count += 1)}`;
  if (headers === undefined) registry.receiver.consent(path);
  else registry.receiver.on(path, (_request, response) => response.writeHead(status, headers).end());
  return registry.receiver.sink(path);
}
const create = (name: string, settings: object = {}) => admin.post('/v1/origins').send({ name, ...settings });
const patch = (name: string, settings: object) =>
  admin.patch(`/v1/origins/${name}`).type('application/merge-patch+json').send(JSON.stringify(settings));
const register = (origin: string | undefined, sink: string) =>
  subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP', ...(origin ? { origin } : {}) });
const askedAt = (sink: string) => registry.receiver.asked.filter(({ path }) => sink.endsWith(path));

const defaults = {
  isdefault: false,
  defaultrate: 60,
  judgement: 'strict',
  callback: 'offer',
  signatures: 'dictionary',
  directory: expect.any(String),
  grantseconds: 864_000,
  profile: 'cloudevents',
  goneafter: 1,
  verification: { state: 'unverified', record: expect.any(String), directory: expect.any(String) },
  createdat: expect.any(String),
  updatedat: expect.any(String),
};
const settings = {
  description: 'Orders of the web shop.',
  requestedrate: 120,
  defaultrate: '*',
  burst: 30,
  judgement: 'lenient',
  callback: 'never',
  signatures: 'string',
  unsupportedrate: 6,
  grantseconds: 3_600,
  profile: 'nl-gov',
};

describe('register and read', () => {
  test('a consumer finds the origin that notices come from, and no other', async () => {
    const name = newName();
    const found = async () =>
      (await subscriber.get('/v1/origins?notices=true').expect(200)).body.map(
        (origin: { name: string }) => origin.name,
      );
    expect(await found()).toEqual([]);
    expect((await create(name, { notices: true }).expect(201)).body.notices).toBe(true);
    expect(await found()).toEqual([name]);
    expect((await patch(name, { notices: null }).expect(200)).body).not.toHaveProperty('notices');
    expect(await found()).toEqual([]);
  });

  test('only the name is required; everything else has the defaults of the contract', async () => {
    const name = newName();
    const created = await create(name.toUpperCase()).expect(201);
    expect(created.body).toEqual({ name, ...defaults });
    expect([created.get('Location'), created.get('ETag')]).toEqual([`/v1/origins/${name}`, '"1"']);
    for (const client of [admin, subscriber, sender]) {
      const read = await client.get(`/v1/origins/${name.toUpperCase()}`).expect(200);
      expect([read.body, read.get('ETag')]).toEqual([created.body, '"1"']);
    }
  });

  test('every setting is kept as it was given', async () => {
    const name = newName();
    expect((await create(name, settings).expect(201)).body).toEqual({ ...defaults, name, ...settings });
  });

  test.each<[string, object, string]>([
    ['no name', { name: undefined }, '/name required'],
    ['an address', { name: '192.0.2.1' }, '/name origin_address'],
    ['a scheme', { name: 'https://a.example.com' }, '/name origin_scheme'],
    ['a port', { name: 'a.example.com:443' }, '/name origin_port'],
    ['an asterisk', { name: '*.example.com' }, '/name origin_wildcard'],
    ['an empty name', { name: '' }, '/name origin_empty'],
    ['a line end', { name: 'a.example.com\r\n' }, '/name origin_not_ascii'],
    ['a rate of zero', { defaultrate: 0 }, '/defaultrate value_not_allowed'],
    ['a requested rate without a limit', { requestedrate: '*' }, '/requestedrate type'],
    ['a burst of none', { burst: 0 }, '/burst value_out_of_range'],
    ['a lifetime of a second', { grantseconds: 1 }, '/grantseconds value_out_of_range'],
    ['a lifetime of two years', { grantseconds: 63_072_000 }, '/grantseconds value_out_of_range'],
    ['an unknown judgement', { judgement: 'kind' }, '/judgement value_not_allowed'],
    ['an unknown profile', { profile: 'nlgov' }, '/profile value_not_allowed'],
    ['a tenant', { tenant: 'provincie' }, '/tenant member_unknown'],
  ])('%s is refused with its place, and nothing is stored', async (_, members, place) => {
    const before = await registry.sql('select * from origin order by name');
    const { body } = await create(newName(), members).expect(400);
    expect(body.faults.map(({ pointer, rule }: { pointer: string; rule: string }) => `${pointer} ${rule}`)).toEqual([
      place,
    ]);
    expect(await registry.sql('select * from origin order by name')).toEqual(before);
  });

  test('a name is registered once', async () => {
    const name = newName();
    await create(name).expect(201);
    expect((await create(name, settings).expect(409)).body).toMatchObject({
      code: 'origin_exists',
      detail: `${name} is already registered.`,
      faults: [{ pointer: '/name' }],
    });
    expect((await admin.get(`/v1/origins/${name}`)).body).toMatchObject(defaults);
  });

  test.each(['unknown.example.com', 'not a name', '%2e%2e', '*'])('%s is a 404', async (name) => {
    const answer = await admin.get(`/v1/origins/${encodeURIComponent(name)}`).expect(404);
    expect(answer.body.code).toBe('origin_not_found');
  });

  test('the list is sorted by name, in pages that have each origin once', async () => {
    const lister = await registry.as('assent:admin', { tenant: 'waterschap' });
    // The longest name still fits into a cursor.
    const longest = ['x'.repeat(63), 'x'.repeat(63), 'x'.repeat(63), 'x'.repeat(61)].join('.');
    const names = ['c.water.example', 'a.water.example', 'b.water.example', 'a-b.water.example', longest, 'y.example'];
    for (const name of names) await lister.post('/v1/origins').send({ name }).expect(201);
    const seen: string[] = [];
    let address: string | undefined = '/v1/origins?limit=1';
    while (address !== undefined) {
      const page: supertest.Response = await lister.get(address).expect(200);
      seen.push(...page.body.map(({ name }: { name: string }) => name));
      address = /^<(.*)>; rel="next"$/.exec(page.get('Link') ?? '')?.[1];
    }
    expect([...seen].sort()).toEqual([...names].sort());
    expect((await lister.get('/v1/origins')).body.map(({ name }: { name: string }) => name)).toEqual(seen);
    await lister.get('/v1/origins?cursor=forged!').expect(400);
  });
});

describe('replace, patch and remove', () => {
  test('a PUT of the GET response changes only version and time; missing settings get their defaults', async () => {
    const name = newName();
    const { body } = await create(name, settings).expect(201);
    const same = await admin.put(`/v1/origins/${name}`).send(body).expect(200);
    expect([{ ...same.body, updatedat: 0 }, same.get('ETag')]).toEqual([{ ...body, updatedat: 0 }, '"2"']);
    expect((await admin.put(`/v1/origins/${name}`).send({}).expect(200)).body).toEqual({ name, ...defaults });
  });

  test('PATCH changes the settings that it has, and null means the default', async () => {
    const name = newName();
    await create(name, settings).expect(201);
    const { body } = await patch(name, { unsupportedrate: null, judgement: null, grantseconds: 60 }).expect(200);
    const { unsupportedrate: _, ...rest } = settings;
    expect(body).toEqual({ ...defaults, name, ...rest, judgement: 'strict', grantseconds: 60 });
  });

  test('an origin keeps its name', async () => {
    const name = newName();
    await create(name).expect(201);
    const answers = [
      await admin.put(`/v1/origins/${name}`).send({ name: newName() }).expect(400),
      await patch(name, { name: newName() }).expect(400),
    ];
    for (const { body } of answers) expect(body.faults).toMatchObject([{ pointer: '/name', rule: 'name_changed' }]);
    await patch(name, { name: name.toUpperCase(), judgement: 'lenient' }).expect(200);
  });

  test('a patch is checked against the contract', async () => {
    const name = newName();
    await create(name).expect(201);
    const { body } = await patch(name, { grantseconds: 1, colour: 'red' }).expect(400);
    expect(body.faults.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(['/colour', '/grantseconds']);
  });

  test('an origin in use cannot be deleted; afterwards it is deleted with its grants', async () => {
    const name = newName();
    const sink = newSink();
    await create(name).expect(201);
    const { body } = await register(name, sink).expect(201);
    expect((await admin.delete(`/v1/origins/${name}`).expect(409)).body.code).toBe('origin_in_use');
    await subscriber.delete(`/v1/subscriptions/${body.id}`).expect(200);
    const agreement = {
      origin: name,
      sink,
      allowedrate: 5,
      expiresat: new Date(Date.now() + 86_400_000),
      agreement: 'A',
    };
    await admin.post('/v1/grants').send(agreement).expect(201);

    expect((await admin.delete(`/v1/origins/${name}`).expect(200)).body.name).toBe(name);
    await admin.get(`/v1/origins/${name}`).expect(404);
    const permission = await sender.get('/v1/permissions').query({ origin: name, sink }).expect(200);
    expect(permission.body).toMatchObject({ allowed: false, denial: 'no_grant' });
    expect((await admin.get('/v1/grants').query({ origin: name })).body).toEqual([]);
  });

  test('a deleted name may be registered again, without its former grants', async () => {
    const name = newName();
    const sink = newSink();
    const agreement = {
      origin: name,
      sink,
      allowedrate: 5,
      expiresat: new Date(Date.now() + 86_400_000),
      agreement: 'A',
    };
    await create(name).expect(201);
    await admin.post('/v1/grants').send(agreement).expect(201);
    const second = { ...agreement, sink: newSink() };
    await admin.post('/v1/grants').send(second).expect(201);
    await admin.delete(`/v1/origins/${name}`).expect(200);
    const told = await registry.sql('select kind, sink from change where origin = $1 order by position offset 3', name);
    expect(told).toEqual([
      ...[sink, second.sink].sort().map((each) => ({ kind: 'grant.ended', sink: each })),
      { kind: 'origin.changed', sink: '' },
    ]);
    const other = await registry.as(['assent:admin', 'assent:deliver'], { tenant: 'provincie' });
    await other.post('/v1/origins').send({ name }).expect(201);
    const permission = await other.get('/v1/permissions').query({ origin: name, sink }).expect(200);
    expect(permission.body).toMatchObject({ allowed: false, denial: 'no_grant' });
  });

  test('the feed has each grant that is deleted with its origin, also one that was over', async () => {
    const name = newName();
    await create(name).expect(201);
    const [live, revoked] = [newSink(), newSink()];
    const expiresat = new Date(Date.now() + 86_400_000);
    const agreement = { origin: name, allowedrate: 5, expiresat, agreement: 'A' };
    await admin
      .post('/v1/grants')
      .send({ ...agreement, sink: live })
      .expect(201);
    const { body: grant } = await admin
      .post('/v1/grants')
      .send({ ...agreement, sink: revoked })
      .expect(201);
    await admin.post(`/v1/grants/${grant.id}/revoke`).send({ reason: 'The owner complained.' }).expect(200);
    const { cursor } = (await admin.get('/v1/changes').expect(200)).body;
    await admin.delete(`/v1/origins/${name}`).expect(200);
    const { changes } = (await admin.get('/v1/changes').query({ after: cursor }).expect(200)).body;
    const told = changes.map(({ kind, sink, resource }: { kind: string; sink?: string; resource?: object }) => ({
      kind,
      sink,
      resource,
    }));
    expect(told).toEqual([
      { kind: 'grant.ended', sink: live, resource: undefined },
      { kind: 'grant.ended', sink: revoked, resource: undefined },
      { kind: 'origin.changed', sink: undefined, resource: undefined },
    ]);
    const { body: entries } = await admin.get('/v1/audit').query({ target: `grant:${grant.id}` });
    expect(entries.map(({ action }: { action: string }) => action)).toEqual(['grant.revoked', 'grant.live']);
  });
});

describe('the default origin', () => {
  test('is the origin of subscriptions that name none; without a default they must name one', async () => {
    const answer = await register(undefined, newSink()).expect(409);
    expect(answer.body).toMatchObject({
      code: 'no_default_origin',
      faults: [{ pointer: '/origin', rule: 'origin_missing' }],
    });
    const name = newName();
    await create(name, { isdefault: true }).expect(201);
    expect((await register(undefined, newSink()).expect(201)).body.origin).toBe(name);

    const second = newName();
    await create(second, { isdefault: true }).expect(201);
    expect((await register(undefined, newSink()).expect(201)).body.origin).toBe(second);
  });

  test('moves in one transaction, whose changes and audit records name both origins', async () => {
    const [first, second] = [newName(), newName()];
    await create(first, { isdefault: true }).expect(201);
    const tag = (await admin.get(`/v1/origins/${first}`).expect(200)).get('ETag')!;
    const { body: from } = await admin.get('/v1/changes').expect(200);
    const moved = await create(second, { isdefault: true }).expect(201);
    const { body: after } = await admin.get('/v1/changes').query({ after: from.cursor }).expect(200);
    expect(after.changes.map(({ kind, origin }: { kind: string; origin: string }) => [kind, origin])).toEqual([
      ['origin.changed', second],
      ['origin.changed', first],
    ]);
    const entryOf = async (name: string) => (await admin.get('/v1/audit').query({ target: `origin:${name}` })).body[0];
    const request = { requestid: moved.get('X-Request-Id') };
    expect(await entryOf(second)).toMatchObject({ ...request, action: 'origin.created', details: { isdefault: true } });
    expect(await entryOf(first)).toMatchObject({
      ...request,
      action: 'origin.replaced',
      changed: { isdefault: { before: true, after: false } },
    });
    await patch(first, { description: 'Old.' }).set('If-Match', tag).expect(412);

    await patch(first, { isdefault: true }).expect(200);
    expect((await admin.get(`/v1/origins/${second}`).expect(200)).body.isdefault).toBe(false);
    await patch(first, { isdefault: true }).expect(200);
    await patch(first, { isdefault: false }).expect(200);
    await register(undefined, newSink()).expect(409);
  });

  test('is exactly one, however many are made the default at once', async () => {
    const crowded = await registry.as('assent:admin', { tenant: 'drukte' });
    const names = Array.from({ length: 6 }, newName);
    for (const name of names) await crowded.post('/v1/origins').send({ name }).expect(201);
    const others = Array.from({ length: 6 }, newName);
    const made = await Promise.all([
      ...others.map((name) => crowded.post('/v1/origins').send({ name, isdefault: true })),
      ...names.map((name) =>
        crowded.patch(`/v1/origins/${name}`).type('application/merge-patch+json').send('{"isdefault":true}'),
      ),
      ...names.map((name) => crowded.put(`/v1/origins/${name}`).send({ isdefault: true })),
    ]);
    expect(made.map(({ status }) => status)).toEqual([
      ...others.map(() => 201),
      ...Array.from({ length: 12 }, () => 200),
    ]);
    const { body } = await crowded.get('/v1/origins').expect(200);
    expect(body.filter(({ isdefault }: { isdefault: boolean }) => isdefault)).toHaveLength(1);
  });

  test('is the first of the tenant, unless the request says otherwise', async () => {
    const another = await registry.as('assent:admin', { tenant: 'veiligheidsregio' });
    const first = async (...settings: object[]) => {
      const requests = settings.map((each) => another.post('/v1/origins').send({ name: newName(), ...each }));
      const bodies = (await Promise.all(requests)).map(({ body }) => body);
      const names = bodies.map(({ name }) => name as string);
      const audited = await Promise.all(
        names.map((name) => another.get('/v1/audit').query({ target: `origin:${name}` })),
      );
      for (const name of names) await another.delete(`/v1/origins/${name}`).expect(200);
      expect(audited.map(({ body }) => body[0].details.isdefault)).toEqual(bodies.map(({ isdefault }) => isdefault));
      return bodies.map(({ isdefault }) => isdefault).sort();
    };
    expect(await first({})).toEqual([true]);
    expect(await first({ isdefault: false })).toEqual([false]);
    // At once, and again after the first one was deleted.
    expect(await first({}, {}, {}, {})).toEqual([false, false, false, true]);
    await another.post('/v1/origins').send({ name: newName(), isdefault: false }).expect(201);
    expect(await first({})).toEqual([false]);
  });
});

describe('the policy applies to handshakes from now on', () => {
  test('the requested rate: none, the one of the origin, or the one of the subscription', async () => {
    const name = newName();
    await create(name).expect(201);
    const rateAsked = async (more: object = {}) => {
      const sink = newSink();
      await subscriber
        .post('/v1/subscriptions')
        .send({ sink, protocol: 'HTTP', origin: name, ...more })
        .expect(201);
      return askedAt(sink)[0]?.headers['webhook-request-rate'];
    };
    expect(await rateAsked()).toBeUndefined();
    await patch(name, { requestedrate: 120 }).expect(200);
    expect(await rateAsked()).toBe('120');
    expect(await rateAsked({ requestedrate: 7 })).toBe('7');
  });

  test('the default rate applies if neither the request nor the response has a rate', async () => {
    const name = newName();
    await create(name, { defaultrate: 42 }).expect(201);
    const { body } = await register(name, newSink({ 'WebHook-Allowed-Origin': name })).expect(201);
    expect(body).toMatchObject({ status: 'active', statusdetails: { allowedrate: 42 } });
  });

  test('lenient accepts responses that strict refuses, and live grants do not change', async () => {
    const name = newName();
    await create(name, { requestedrate: 9 }).expect(201);
    const sink = newSink({ 'WebHook-Allowed-Origin': `other.example.com, ${name}` });
    const strict = await register(name, sink).expect(201);
    expect(strict.body.status).not.toBe('active');
    const stands = (await register(name, newSink()).expect(201)).body;
    await patch(name, { judgement: 'lenient', grantseconds: 60 }).expect(200);
    const lenient = await register(name, sink).expect(201);
    expect(lenient.body).toMatchObject({ status: 'active', statusdetails: { allowedrate: 9 } });
    expect(lenient.body.statusdetails.tolerated.length).toBeGreaterThan(0);
    expect(Date.parse(lenient.body.statusdetails.grantexpiresat)).toBeLessThan(Date.now() + 120_000);
    expect((await subscriber.get(`/v1/subscriptions/${stands.id}`)).body).toEqual(stands);
  });
});
