import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { passGrant } from '../../support/pass-time.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

const origin = 'eventemitter.example.com';
const reason = "The webhook's owner complained.";

let registry: Registry;
let admin: Client;
let subscriber: Client;
let sender: Client;
let strangeSender: Client;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  subscriber = await registry.as('assent:subscribe');
  sender = await registry.as('assent:deliver', { subscriber: 'mailroom' });
  strangeSender = await registry.as('assent:deliver', { tenant: 'provincie' });
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
});
afterAll(() => registry.stop());

let count = 0;
function newSink(): string {
  const path = `/g${(count += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}

async function register(sink = newSink()) {
  const { body } = await subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' }).expect(201);
  return { ...body, path: `/v1/subscriptions/${body.id}` };
}

const permission = async (sink: string, client = sender) =>
  (await client.get('/v1/permissions').query({ origin, sink }).expect(200)).body;
const grantOf = async (sink: string) => (await admin.get('/v1/grants').query({ origin, sink }).expect(200)).body[0];
const askedAt = (sink: string) => registry.receiver.asked.filter(({ path }) => sink.endsWith(path)).length;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const agreement = (members: object = {}) => ({
  origin,
  sink: newSink(),
  allowedrate: 300,
  expiresat: inDays(30),
  agreement: 'Agreement 2026-0815',
  ...members,
});
const revoke = async (sink: string) =>
  admin
    .post(`/v1/grants/${(await grantOf(sink)).id}/revoke`)
    .send({ reason })
    .expect(200);

describe('permission', () => {
  test('a live grant allows sending at its rate until it expires, in any case of the origin', async () => {
    const { sink } = await register();
    const { id, expiresat } = await grantOf(sink);
    const allowed = { origin, sink, allowed: true, allowedrate: 100, expiresat, basis: 'response', grant: id };
    expect(await permission(sink)).toEqual(allowed);
    const shouted = await sender.get('/v1/permissions').query({ origin: origin.toUpperCase(), sink }).expect(200);
    expect(shouted.body).toEqual(allowed);
  });

  test('a sink that was never asked, or is spelled differently, has no_grant', async () => {
    const { sink } = await register();
    for (const other of [newSink(), `${sink}/`, `${sink}?a=1`]) {
      expect(await permission(other)).toMatchObject({ allowed: false, denial: 'no_grant' });
    }
  });

  test('an invalid pair is a 400; in a batch it has no_grant and does not affect the others', async () => {
    const { sink } = await register();
    const wrong = { origin: `https://${origin}`, sink: sink.replace('https', 'HTTPS') };
    const { body } = await sender.get('/v1/permissions').query(wrong).expect(400);
    expect(body).toMatchObject({
      code: 'invalid_request',
      faults: [
        { pointer: 'query/origin', rule: 'origin_scheme' },
        { pointer: 'query/sink', rule: 'not_canonical' },
      ],
    });
    const batch = await sender.post('/v1/permissions').send([wrong, { origin, sink }]).expect(200);
    expect(batch.body).toMatchObject([{ allowed: false, denial: 'no_grant' }, { allowed: true }]);
  });

  test('deleting the last subscription ends the grant, deleting an earlier one does not', async () => {
    const sink = newSink();
    const [one, two] = [await register(sink), await register(sink)];
    await subscriber.delete(one.path).expect(200);
    expect(await permission(sink)).toMatchObject({ allowed: true });
    await subscriber.delete(two.path).expect(200);
    expect(await permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
    expect(await grantOf(sink)).toMatchObject({ state: 'ended', endcode: 'no_subscription', endedby: 'zaaksysteem' });
  });

  test('it is suspended only if every subscription to the sink is', async () => {
    const sink = newSink();
    const [one, two] = [await register(sink), await register(sink)];
    await subscriber.post(`${one.path}/suspend`).send({ reason }).expect(200);
    expect(await permission(sink)).toMatchObject({ allowed: true });
    await subscriber.post(`${two.path}/suspend`).send({ reason }).expect(200);
    expect(await permission(sink)).toMatchObject({ allowed: false, denial: 'suspended' });
    await subscriber.post(`${one.path}/resume`).send({ reason }).expect(200);
    expect(await permission(sink)).toMatchObject({ allowed: true });
  });

  test('it returns 304 for its ETag until the response changes', async () => {
    const { sink } = await register();
    const ask = (tag: string) => sender.get('/v1/permissions').query({ origin, sink }).set('If-None-Match', tag);
    const first = await ask('"other"').expect(200);
    const tag = first.get('ETag') ?? '';
    expect(tag).toMatch(/^"[!#-~]+"$/);
    expect(first.headers).toMatchObject({ 'cache-control': 'private, no-cache, no-transform', vary: 'Authorization' });
    for (const known of [tag, `W/${tag}`, `"a", ${tag}`, '*']) {
      const same = await ask(known).expect(304);
      expect([same.text, same.get('ETag')]).toEqual(['', tag]);
    }
    await revoke(sink);
    expect((await ask(tag).expect(200)).body).toMatchObject({ allowed: false, denial: 'revoked' });
  });

  test('a batch returns each pair in order, with the same content as a single request', async () => {
    const [live, over] = [(await register()).sink, (await register()).sink];
    await revoke(over);
    const sinks = [over, newSink(), live, live];
    const { body } = await sender
      .post('/v1/permissions')
      .send(sinks.map((sink) => ({ origin, sink })))
      .expect(200);
    expect(body).toEqual(await Promise.all(sinks.map((sink) => permission(sink))));
    expect(body.map(({ allowed }: { allowed: boolean }) => allowed)).toEqual([false, false, true, true]);
    const strange = await strangeSender
      .post('/v1/permissions')
      .send([{ origin, sink: live }])
      .expect(200);
    expect(strange.body).toMatchObject([{ allowed: false, denial: 'no_grant' }]);
  });

  test('a batch accepts at most a thousand pairs, of any length', async () => {
    const { sink } = await register();
    const pairs = Array.from({ length: 1_000 }, (_, i) => ({
      origin,
      sink: `https://a.example.com/${i}`.padEnd(2_048, 'x'),
    }));
    pairs[997] = { origin, sink };
    const { body } = await sender.post('/v1/permissions').send(pairs).expect(200);
    expect(body.map((each: { sink: string }) => each.sink)).toEqual(pairs.map((pair) => pair.sink));
    expect(body.filter(({ allowed }: { allowed: boolean }) => allowed)).toEqual([body[997]]);
    const more = await sender
      .post('/v1/permissions')
      .send([...pairs, pairs[0]])
      .expect(400);
    expect(more.body.faults).toMatchObject([{ pointer: '', rule: 'length_wrong' }]);
    await sender.post('/v1/permissions').send([]).expect(400);
  });

  test('a long text in a large body is read correctly', async () => {
    const body = JSON.stringify([{ origin, sink: 'a'.repeat(2_600_000) }]);
    const answer = await sender.post('/v1/permissions').type('json').send(body).expect(400);
    expect(answer.body.faults).toMatchObject([{ pointer: '/0/sink', rule: 'length_wrong' }]);
    await sender.post('/v1/permissions').type('json').send(body.padEnd(2_621_441)).expect(413);
  });
});

describe('agreement', () => {
  test('an admin records it, and it allows sending without a handshake or a subscription', async () => {
    const request = agreement();
    const created = await admin
      .post('/v1/grants')
      .send({ ...request, origin: origin.toUpperCase() })
      .expect(201);
    expect(created.body).toMatchObject({ ...request, basis: 'agreement', state: 'live', recordedby: 'beheer' });
    expect((await admin.get(created.get('Location') ?? '').expect(200)).body).toEqual(created.body);
    expect(created.get('ETag')).toBe('"1"');
    expect(await permission(request.sink)).toMatchObject({ allowed: true, allowedrate: 300, basis: 'agreement' });
    expect(askedAt(request.sink)).toBe(0);
  });

  test('it survives the last subscription, and a consent beside it sets the rate but not its expiry', async () => {
    const request = agreement();
    await admin.post('/v1/grants').send(request).expect(201);
    const { path } = await register(request.sink);
    expect(await grantOf(request.sink)).toMatchObject({
      basis: 'agreement',
      allowedrate: 100,
      expiresat: request.expiresat,
    });
    await subscriber.delete(path).expect(200);
    expect(await permission(request.sink)).toMatchObject({ allowed: true, basis: 'agreement' });
  });

  test.each([
    ['expired', (sink: string) => passGrant(registry, sink)],
    [
      'was ended by a 410',
      (sink: string) =>
        sender
          .post('/v1/deliveries/outcomes')
          .send([{ origin, sink, statuscode: 410 }])
          .expect(200),
    ],
  ])('after it %s, a new consent has its own basis and expiry', async (_title, end) => {
    const request = agreement();
    await admin.post('/v1/grants').send(request).expect(201);
    await end(request.sink);
    expect(await permission(request.sink)).toMatchObject({ allowed: false });
    await register(request.sink);
    const grant = await grantOf(request.sink);
    expect(grant).toMatchObject({ state: 'live', basis: 'response', allowedrate: 100, renewat: expect.any(String) });
    expect(grant).not.toHaveProperty('agreement');
    expect(await permission(request.sink)).toMatchObject({ allowed: true, basis: 'response' });
  });

  test('it does not override its subscribers: nothing may be sent while all of them are suspended', async () => {
    const request = agreement();
    await admin.post('/v1/grants').send(request).expect(201);
    const { path } = await register(request.sink);
    await subscriber.post(`${path}/suspend`).send({ reason }).expect(200);
    expect(await permission(request.sink)).toMatchObject({ allowed: false, denial: 'suspended' });
  });

  test('it replaces a revoked grant', async () => {
    const { sink, path } = await register();
    await revoke(sink);
    await admin
      .post('/v1/grants')
      .send(agreement({ sink, allowedrate: '*' }))
      .expect(201);
    expect(await permission(sink)).toMatchObject({ allowed: true, allowedrate: '*' });
    expect((await subscriber.get(path)).body.status).toBe('active');
    expect(await grantOf(sink)).not.toHaveProperty('endcode');
  });

  test.each<[string, () => object, string[]]>([
    ['in the past', () => ({ expiresat: inDays(-1) }), ['/expiresat time_out_of_range']],
    ['more than five years away', () => ({ expiresat: inDays(1_831) }), ['/expiresat time_out_of_range']],
    ['without a rate', () => ({ allowedrate: undefined }), ['/allowedrate required']],
    ['at a rate of zero', () => ({ allowedrate: 0 }), ['/allowedrate value_not_allowed']],
    ['at a rate in words', () => ({ allowedrate: '10' }), ['/allowedrate value_not_allowed']],
    ['without an agreement', () => ({ agreement: '' }), ['/agreement length_wrong']],
    ['to a sink without https', () => ({ sink: 'http://a.example.com/' }), ['/sink not_https']],
    [
      'with two faults',
      () => ({ sink: 'http://a.example.com/', expiresat: inDays(-1) }),
      ['/sink not_https', '/expiresat time_out_of_range'],
    ],
  ])('one %s is rejected with a pointer, and nothing is stored', async (_, members, places) => {
    const before = await registry.sql(`select * from "grant" order by id`);
    const answer = await admin.post('/v1/grants').send(agreement(members())).expect(400);
    expect(answer.body.faults.map((each: { pointer: string; rule: string }) => `${each.pointer} ${each.rule}`)).toEqual(
      places,
    );
    expect(await registry.sql(`select * from "grant" order by id`)).toEqual(before);
  });

  test('one for an unknown origin is a 404', async () => {
    const answer = await admin
      .post('/v1/grants')
      .send(agreement({ origin: 'other.example.com' }))
      .expect(404);
    expect(answer.body.code).toBe('origin_not_found');
  });
});

describe('list', () => {
  test('by origin, sink and state, in pages that contain each grant once', async () => {
    const sinks = { live: newSink(), expired: newSink(), ended: newSink(), revoked: newSink() };
    const name = 'listed.example.com';
    await admin.post('/v1/origins').send({ name }).expect(201);
    const ids: Record<string, string> = {};
    for (const [state, sink] of Object.entries(sinks)) {
      const request = { sink, protocol: 'HTTP', origin: name };
      const { body } = await subscriber.post('/v1/subscriptions').send(request).expect(201);
      const [grant] = (await admin.get('/v1/grants').query({ sink })).body;
      ids[state] = grant.id;
      if (state === 'expired') await passGrant(registry, sink);
      if (state === 'ended') await subscriber.delete(`/v1/subscriptions/${body.id}`).expect(200);
      if (state === 'revoked') await admin.post(`/v1/grants/${grant.id}/revoke`).send({ reason }).expect(200);
    }
    const list = async (query: object) =>
      (
        await sender
          .get('/v1/grants')
          .query({ origin: name, ...query })
          .expect(200)
      ).body.map(({ id }: { id: string }) => id);
    expect(await list({})).toEqual(Object.values(ids));
    expect(await list({ origin: name.toUpperCase() })).toEqual(Object.values(ids));
    for (const [state, id] of Object.entries(ids)) expect(await list({ state })).toEqual([id]);
    expect(await list({ sink: sinks.ended })).toEqual([ids['ended']]);
    expect(await list({ sink: sinks.ended, state: 'live' })).toEqual([]);

    const seen: string[] = [];
    let address: string | undefined = `/v1/grants?origin=${name}&limit=3`;
    while (address !== undefined) {
      const page: supertest.Response = await sender.get(address).expect(200);
      seen.push(...page.body.map(({ id }: { id: string }) => id));
      address = /^<(.*)>; rel="next"$/.exec(page.get('Link') ?? '')?.[1];
    }
    expect(seen).toEqual(Object.values(ids));
    await sender.get('/v1/grants?cursor=forged').expect(400);
    await sender.get('/v1/grants/not-an-id').expect(404);
  });
});

describe('a revoked grant', () => {
  test('shows who revoked it and why, and revoking it again changes nothing', async () => {
    const { sink, path } = await register();
    const { body } = await revoke(sink);
    expect(body).toMatchObject({ state: 'revoked', endcode: 'revoked', endreason: reason, endedby: 'beheer' });
    expect(body).not.toHaveProperty('renewat');
    const again = await admin.post(`/v1/grants/${body.id}/revoke`).send({ reason: 'Another one.' }).expect(200);
    expect(again.body).toEqual(body);
    expect(await permission(sink)).toMatchObject({ allowed: false, denial: 'revoked' });
    const read = await subscriber.get(path).expect(200);
    expect(read.body).toMatchObject({ status: 'refused', statusdetails: { code: 'revoked' } });
  });

  test('is not revived by any action of a subscriber or a webhook', async () => {
    const { sink, path } = await register();
    const offered = registry.receiver.asked.find((asked) => sink.endsWith(asked.path));
    const callback = new URL(String(offered?.headers['webhook-request-callback']));
    await revoke(sink);
    const asked = askedAt(sink);

    expect(await register(sink)).toMatchObject({ status: 'refused', statusdetails: { code: 'revoked' } });
    const refused = await subscriber.post(`${path}/handshakes`).expect(403);
    expect(refused.body.code).toBe('grant_revoked');
    for (const target of [newSink(), sink]) {
      await subscriber.put(path).send({ sink: target, protocol: 'HTTP', requestedrate: 5 }).expect(200);
    }
    await subscriber.post(`${path}/suspend`).send({ reason }).expect(200);
    await subscriber.post(`${path}/resume`).send({ reason }).expect(200);
    for (const { id } of (await subscriber.get('/v1/subscriptions').query({ sink })).body) {
      await subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
    }
    await register(sink);
    const nobody = supertest(registry.url);
    for (const method of ['get', 'post'] as const) {
      const answer = await nobody[method](callback.pathname + callback.search).expect(404);
      expect(answer.body.code).toBe('callback_unknown');
    }
    expect(await permission(sink)).toMatchObject({ allowed: false, denial: 'revoked' });
    expect(askedAt(sink)).toBe(asked);
  });

  test("is reopened by an admin's handshake, but not granted if the webhook refuses", async () => {
    const sink = newSink();
    const { path } = await register(sink);
    await revoke(sink);
    registry.receiver.on(new URL(sink).pathname, (_request, response) => response.writeHead(410).end());
    const retired = await admin.post(`${path}/handshakes`).expect(201);
    expect(retired.body.state).toBe('retired');
    expect(await permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });

    registry.receiver.consent(new URL(sink).pathname, { rate: '7' });
    const { body } = await admin.post(`${path}/handshakes`).expect(201);
    expect(body.state).toBe('granted');
    expect(await permission(sink)).toMatchObject({ allowed: true, allowedrate: 7 });
    expect((await subscriber.get(path)).body.status).toBe('active');
  });
});
