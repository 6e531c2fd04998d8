import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { keyOf, offeredBy } from '../../support/offer.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

const origin = 'eventemitter.example.com';
const reason = 'Because of a test.';
const mergePatch = 'application/merge-patch+json';
const sinkcredential = { credentialtype: 'PLAIN', identifier: 'planted-identifier', secret: 'planted-secret' };

interface Entry {
  id: string;
  at: string;
  actor: string;
  action: string;
  target: string;
  details: Record<string, unknown>;
  requestid?: string;
}

let registry: Registry;
let admin: Client;
let subscriber: Client;
let nobody: ReturnType<typeof supertest>;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  subscriber = await registry.as('assent:subscribe');
  nobody = supertest(registry.url);
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
});
afterAll(() => registry.stop());

let count = 0;
function newSink(): string {
  const path = `/a${(count += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}

async function register(sink = newSink(), members: object = {}) {
  const request = { sink, protocol: 'HTTP', ...members };
  const { body } = await subscriber.post('/v1/subscriptions').send(request).expect(201);
  return { ...body, path: `/v1/subscriptions/${body.id}` };
}

async function agree(sink = newSink()) {
  const agreement = { origin, sink, allowedrate: 5, expiresat: new Date(Date.now() + 86_400_000), agreement: 'A-1' };
  return admin.post('/v1/grants').send(agreement).expect(201);
}

const audit = async (query: object = {}): Promise<Entry[]> =>
  (
    await admin
      .get('/v1/audit')
      .query({ limit: 200, ...query })
      .expect(200)
  ).body;

/** A change: its actor, and the audit records with the id of its request. */
type Change = [string, string, () => Promise<supertest.Response>, ...Array<[string, string | RegExp]>];

const uuid = '[0-9a-f-]{36}$';
const subscription = new RegExp(`^subscription:${uuid}`);
const grant = new RegExp(`^grant:${uuid}`);

const changes: Change[] = [
  [
    'registering an origin',
    'beheer',
    () => admin.post('/v1/origins').send({ name: 'a.example.com' }),
    ['origin.created', 'origin:a.example.com'],
  ],
  [
    'replacing an origin',
    'beheer',
    () => admin.put('/v1/origins/a.example.com').send({}),
    ['origin.replaced', 'origin:a.example.com'],
  ],
  [
    'patching an origin',
    'beheer',
    () => admin.patch('/v1/origins/a.example.com').type(mergePatch).send('{"requestedrate":5}'),
    ['origin.replaced', 'origin:a.example.com'],
  ],
  [
    'removing an origin',
    'beheer',
    () => admin.delete('/v1/origins/a.example.com'),
    ['origin.removed', 'origin:a.example.com'],
  ],
  [
    'registering a subscription',
    'zaaksysteem',
    () => subscriber.post('/v1/subscriptions').send({ sink: newSink(), protocol: 'HTTP' }),
    ['subscription.created', subscription],
  ],
  [
    'replacing a subscription',
    'zaaksysteem',
    async () => {
      const { path, sink } = await register();
      return subscriber.put(path).send({ sink, protocol: 'HTTP' });
    },
    ['subscription.replaced', subscription],
  ],
  [
    'patching a subscription, by an admin',
    'beheer',
    async () =>
      admin
        .patch((await register()).path)
        .type(mergePatch)
        .send('{"source":"urn:a"}'),
    ['subscription.replaced', subscription],
  ],
  [
    'moving a subscription to another sink',
    'zaaksysteem',
    async () => subscriber.put((await register()).path).send({ sink: newSink(), protocol: 'HTTP' }),
    ['grant.ended', grant],
    ['subscription.replaced', subscription],
  ],
  [
    'suspending',
    'zaaksysteem',
    async () => subscriber.post(`${(await register()).path}/suspend`).send({ reason }),
    ['subscription.suspended', subscription],
  ],
  [
    'resuming',
    'beheer',
    async () => {
      const { path } = await register();
      await subscriber.post(`${path}/suspend`).send({ reason }).expect(200);
      return admin.post(`${path}/resume`).send({ reason });
    },
    ['subscription.resumed', subscription],
  ],
  [
    'deleting',
    'zaaksysteem',
    async () => subscriber.delete((await register()).path),
    ['grant.ended', grant],
    ['subscription.deleted', subscription],
  ],
  [
    'another handshake',
    'zaaksysteem',
    async () => subscriber.post(`${(await register()).path}/handshakes`),
    ['handshake.requested', subscription],
  ],
  ['recording an agreement', 'beheer', () => agree(), ['grant.live', grant]],
  [
    'revoking a grant',
    'beheer',
    async () => admin.post(`/v1/grants/${(await agree()).body.id}/revoke`).send({ reason }),
    ['grant.revoked', grant],
  ],
  [
    'granting with the callback',
    'callback',
    async () => {
      const path = `/a${(count += 1)}`;
      registry.receiver.on(path, (_request, response) => response.writeHead(200).end());
      await register(registry.receiver.sink(path));
      const offered = registry.receiver.asked.find((asked) => asked.path === path);
      const callback = new URL(String(offered?.headers['webhook-request-callback']));
      return nobody.post(callback.pathname + callback.search);
    },
    ['grant.live', grant],
    ['handshake.granted', subscription],
  ],
];

describe('every change writes an audit record', () => {
  test.each(changes)('%s: with the actor, the time and the request id', async (_, actor, change, ...expected) => {
    const before = Date.now();
    const answer = await change();
    expect([200, 201]).toContain(answer.status);
    const entries = (await audit({ requestid: answer.get('X-Request-Id') })).reverse();
    expect(entries.map(({ action }) => action)).toEqual(expected.map(([action]) => action));
    for (const [i, entry] of entries.entries()) {
      expect(entry.target).toEqual(expect.stringMatching(expected[i]?.[1] ?? ''));
      expect(entry.actor).toBe(actor);
      expect(Date.parse(entry.at)).toBeGreaterThan(before - 60_000);
      expect(Date.parse(entry.at)).toBeLessThan(Date.now() + 60_000);
      expect(Object.keys(entry.details).filter((name) => /[^a-z]/.test(name))).toEqual([]);
    }
  });

  test('changes of the service itself are recorded too, under its own name', async () => {
    const { id } = await register();
    const [entry] = (await audit({ target: `subscription:${id}` })).filter(
      ({ action }) => action === 'handshake.granted',
    );
    expect(entry).toMatchObject({ actor: 'assent', details: { verdict: 'granted' } });
    expect(entry).not.toHaveProperty('requestid');
  });

  test('the entry contains the given reason', async () => {
    const { path, id } = await register();
    await subscriber.post(`${path}/suspend`).send({ reason }).expect(200);
    expect((await audit({ target: `subscription:${id}` }))[0]).toMatchObject({
      action: 'subscription.suspended',
      details: { reason },
    });
  });

  test('a request that changes nothing writes no entry: a read, a refusal, a repeated key', async () => {
    const { path, sink } = await register();
    const revoked = (await agree()).body.id;
    await admin.post(`/v1/grants/${revoked}/revoke`).send({ reason }).expect(200);
    const key = ['Idempotency-Key', 'audited'] as const;
    await subscriber
      .post('/v1/subscriptions')
      .set(...key)
      .send({ sink, protocol: 'HTTP' })
      .expect(201);
    const before = await audit();
    await subscriber.get(path).expect(200);
    await subscriber.put(path).send({ sink, protocol: 'FTP' }).expect(400);
    await subscriber.put(path).set('If-Match', '"7"').send({ sink, protocol: 'HTTP' }).expect(412);
    await subscriber.post(`${path}/resume`).send({ reason }).expect(200);
    await subscriber
      .post('/v1/subscriptions')
      .set(...key)
      .send({ sink, protocol: 'HTTP' })
      .expect(201);
    await subscriber.delete('/v1/origins/eventemitter.example.com').expect(403);
    await admin.delete('/v1/origins/eventemitter.example.com').expect(409);
    await admin.post(`/v1/grants/${revoked}/revoke`).send({ reason }).expect(200);
    expect(await audit()).toEqual(before);
  });
});

describe('the audit record', () => {
  test('is for admins only, and of their own tenant only', async () => {
    await subscriber.get('/v1/audit').expect(403);
    await (await registry.as('assent:deliver')).get('/v1/audit').expect(403);
    await nobody.get('/v1/audit').expect(401);
    const strange = await registry.as('assent:admin', { tenant: 'provincie' });
    expect((await strange.get('/v1/audit').expect(200)).body).toEqual([]);
  });

  test('lists newest first, in pages that contain each entry once', async () => {
    const { path, id, sink } = await register();
    for (let i = 0; i < 4; i += 1)
      await subscriber
        .put(path)
        .send({ sink, protocol: 'HTTP', source: `urn:${i}` })
        .expect(200);
    const target = `subscription:${id}`;
    const all = await audit({ target });
    expect(all.map(({ action }) => action)).toEqual([
      ...Array<string>(4).fill('subscription.replaced'),
      'handshake.granted',
      'subscription.created',
    ]);
    const seen: Entry[] = [];
    let address: string | undefined = `/v1/audit?target=${target}&limit=4`;
    while (address !== undefined) {
      const page: supertest.Response = await admin.get(address).expect(200);
      expect(page.body.length).toBeLessThanOrEqual(4);
      seen.push(...(page.body as Entry[]));
      address = /^<(.*)>; rel="next"$/.exec(page.get('Link') ?? '')?.[1];
    }
    expect(seen).toEqual(all);
    await admin.get('/v1/audit?cursor=forged').expect(400);
  });

  test('can be filtered by actor', async () => {
    await register();
    const actors = new Set((await audit({ actor: 'zaaksysteem' })).map(({ actor }) => actor));
    expect([...actors]).toEqual(['zaaksysteem']);
    expect(await audit({ actor: 'zaak' })).toEqual([]);
  });

  test('contains no credential, no callback key and no token', async () => {
    const { path, sink } = await register(newSink(), { sinkcredential });
    const changed = { ...sinkcredential, secret: 'planted-second' };
    await subscriber.put(path).send({ sink, protocol: 'HTTP', sinkcredential: changed }).expect(200);
    await subscriber.delete(path).expect(200);
    const keys = registry.receiver.asked.flatMap(offeredBy).map(keyOf);
    expect(keys.length).toBeGreaterThan(5);
    const text = JSON.stringify(await registry.sql('select to_jsonb(audit)::text as row from audit'));
    expect(text).toContain(sink);
    for (const secret of [...keys, 'planted-', 'Bearer ', 'eyJ']) expect(text).not.toContain(secret);
  });
});
