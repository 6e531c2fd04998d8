import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

const origin = 'eventemitter.example.com';
const secrets = { identifier: 'planted-identifier-5d1c', secret: 'planted-secret-9f2e' };
const sinkcredential = { credentialtype: 'PLAIN', ...secrets };
const reason = 'Because of a test.';

let registry: Registry;
let admin: Client;
let subscriber: Client;
let colleague: Client;
let sender: Client;
/** A client of another tenant, with all scopes. */
let stranger: Client;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  subscriber = await registry.as('assent:subscribe');
  colleague = await registry.as('assent:subscribe', { subscriber: 'other-system' });
  sender = await registry.as('assent:deliver', { subscriber: 'mailroom' });
  stranger = await registry.as(['assent:admin', 'assent:subscribe', 'assent:deliver'], {
    tenant: 'provincie',
    subscriber: 'vreemd',
  });
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
  await stranger.post('/v1/origins').send({ name: 'provincie.example.com', isdefault: true }).expect(201);
});
afterAll(() => registry.stop());

let paths = 0;
function newSink(): string {
  const path = `/t${(paths += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}

async function register(client: Client = subscriber, members: object = {}) {
  const { body } = await client
    .post('/v1/subscriptions')
    .send({ sink: newSink(), protocol: 'HTTP', ...members })
    .expect(201);
  return { ...body, path: `/v1/subscriptions/${body.id}` };
}

/** Everything that can be done to a subscription and its handshakes. */
const onSubscription = (
  path: string,
  handshake: string,
): Array<[string, (client: Client) => PromiseLike<{ status: number }>]> => [
  ['read', (client) => client.get(path)],
  ['replace', (client) => client.put(path).send({ sink: registry.receiver.sink('/t1'), protocol: 'HTTP' })],
  ['patch', (client) => client.patch(path).type('application/merge-patch+json').send('{"source":"urn:taken"}')],
  ['suspend', (client) => client.post(`${path}/suspend`).send({ reason })],
  ['resume', (client) => client.post(`${path}/resume`).send({ reason })],
  ['ask again', (client) => client.post(`${path}/handshakes`)],
  ['list handshakes', (client) => client.get(`${path}/handshakes`)],
  ['read a handshake', (client) => client.get(`${path}/handshakes/${handshake}`)],
  ['delete', (client) => client.delete(path)],
];

describe('another tenant', () => {
  test('finds no handshake of ours under a subscription of its own', async () => {
    const [ours, theirs] = [await register(), await register(stranger)];
    await stranger.get(`${theirs.path}/handshakes/${theirs.statusdetails.handshake}`).expect(200);
    await stranger.get(`${theirs.path}/handshakes/${ours.statusdetails.handshake}`).expect(404);
  });

  test('that registers an origin name that we removed finds no renewal of ours', async () => {
    const name = 'passing.example.com';
    await admin.post('/v1/origins').send({ name }).expect(201);
    const ours = await register(subscriber, { origin: name });
    await registry.sql(`update "grant" set renewat = now() - interval '1 millisecond' where origin = $1`, name);
    await registry.service.sweep();
    await registry.service.worker.drain();
    const list = async (client: Client, path: string) => (await client.get(`${path}/handshakes`).expect(200)).body;
    const [renewal] = await list(admin, ours.path);
    expect(renewal).toMatchObject({ trigger: 'renewal', state: 'granted' });
    await admin.delete(ours.path).expect(200);
    await admin.delete(`/v1/origins/${name}`).expect(200);

    await stranger.post('/v1/origins').send({ name }).expect(201);
    const { body } = await stranger
      .post('/v1/subscriptions')
      .send({ sink: ours.sink, protocol: 'HTTP', origin: name })
      .expect(201);
    const path = `/v1/subscriptions/${body.id}`;
    expect(await list(stranger, path)).toMatchObject([{ trigger: 'registration' }]);
    await stranger.get(`${path}/handshakes/${renewal.id}`).expect(404);
    await stranger.delete(path).expect(200);
    await stranger.delete(`/v1/origins/${name}`).expect(200);
  });

  test('cannot register a subscription for our origin, nor the name of our origin', async () => {
    const request = { sink: newSink(), protocol: 'HTTP', origin };
    const answer = await stranger.post('/v1/subscriptions').send(request).expect(404);
    expect(answer.body.code).toBe('origin_not_found');
    expect(answer.body.faults).toMatchObject([{ pointer: '/origin', rule: 'origin_unknown' }]);
    await stranger.post('/v1/origins').send({ name: origin.toUpperCase() }).expect(409);
  });

  test('with the same sink has a grant of its own, and gets no permission by ours', async () => {
    const { sink } = await register();
    const query = { origin, sink };
    expect((await sender.get('/v1/permissions').query(query)).body).toMatchObject({ allowed: true });
    const answer = await stranger.get('/v1/permissions').query(query).expect(200);
    expect(answer.body).toMatchObject({ allowed: false, denial: 'no_grant' });
    expect(answer.body).not.toHaveProperty('grant');
    expect((await stranger.post('/v1/permissions').send([query])).body).toEqual([answer.body]);
  });

  test('of the same client name shares nothing: a name counts within its tenant', async () => {
    const { path } = await register();
    const namesake = await registry.as('assent:subscribe', { tenant: 'provincie', subscriber: 'zaaksysteem' });
    await namesake.get(path).expect(404);
    expect((await namesake.get('/v1/subscriptions').expect(200)).body).toEqual([]);
  });
});

describe('within a tenant', () => {
  test('a subscriber finds nothing of another subscriber, and changes nothing', async () => {
    const { path, statusdetails, source } = await register();
    for (const [what, attempt] of onSubscription(path, statusdetails.handshake)) {
      expect([what, (await attempt(colleague)).status]).toEqual([what, 404]);
    }
    expect((await colleague.get('/v1/subscriptions').query({ subscriber: 'zaaksysteem' })).body).toEqual([]);
    expect((await subscriber.get(path).expect(200)).body.source).toEqual(source);
  });

  test('an admin sees and changes the subscriptions of any subscriber, and they stay theirs', async () => {
    const { path, sink, id } = await register(colleague);
    const listed = await admin.get('/v1/subscriptions').query({ subscriber: 'other-system', limit: 200 }).expect(200);
    expect(listed.body.map((each: { id: string }) => each.id)).toContain(id);
    const { body } = await admin.put(path).send({ sink, protocol: 'HTTP', source: 'urn:a' }).expect(200);
    expect(body).toMatchObject({ subscriber: 'other-system', source: 'urn:a' });
    await colleague.get(path).expect(200);
    await admin.delete(path).expect(200);
    await colleague.get(path).expect(404);
  });

  test('a delivery system reads no subscription, no handshake and no audit, and changes nothing', async () => {
    const { path, statusdetails } = await register();
    for (const [what, attempt] of onSubscription(path, statusdetails.handshake)) {
      expect([what, (await attempt(sender)).status]).toEqual([what, 403]);
    }
    await sender.get('/v1/subscriptions').expect(403);
    await sender.get('/v1/audit').expect(403);
    await sender.post('/v1/origins').send({ name: 'a.example.com' }).expect(403);
    await sender.get('/v1/grants').expect(200);
    await sender.get('/v1/origins').expect(200);
  });

  test('a subscriber reads no grants, permissions and audit, and manages no origins', async () => {
    for (const path of ['/v1/grants', '/v1/audit', '/v1/permissions?origin=a.example.com&sink=a']) {
      await subscriber.get(path).expect(403);
    }
    await subscriber.post('/v1/origins').send({ name: 'a.example.com' }).expect(403);
    await subscriber.delete(`/v1/origins/${origin}`).expect(403);
  });
});

describe('a credential', () => {
  const stored = async (id: string) =>
    (
      await registry.sql<{ sinkcredential: string | null }>(
        `select sinkcredential from subscription where id::text = $1`,
        id,
      )
    )[0]?.sinkcredential;
  const request = (sink: string, more: object = {}) => ({ sink, protocol: 'HTTP', ...more });

  test('is in no response, list, handshake, audit record or log line', async () => {
    const { path } = await register(subscriber, { sinkcredential });
    const addresses = [path, '/v1/subscriptions?limit=200', `${path}/handshakes`, '/v1/audit?limit=200', '/v1/grants'];
    const answers = await Promise.all(addresses.map((address) => admin.get(address).expect(200)));
    const own = await subscriber.get(path).expect(200);
    expect(own.body.sinkcredential).toEqual({
      credentialtype: 'PLAIN',
      setat: expect.stringMatching(/^\d{4}-.*Z$/),
      fingerprint: expect.stringMatching(/^[\w-]{16}$/),
    });
    const texts = [...answers, own].map(({ text }) => text).concat(registry.logs);
    for (const secret of Object.values(secrets)) expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  });

  test('in an invalid request is not in the response or the log', async () => {
    const faulty = { credentialtype: 'PLAIN', identifier: `${secrets.identifier}\n`, secret: 1, [secrets.secret]: 1 };
    const answer = await subscriber.post('/v1/subscriptions').send(request(newSink(), { sinkcredential: faulty }));
    expect([answer.status, answer.body.faults.length]).toEqual([400, 2]);
    expect(answer.text).not.toContain(secrets.identifier);
    expect(registry.logs.join()).not.toMatch(/planted-/);
  });

  test('stays if only its type is sent, is replaced by another one, and is removed when it is left out', async () => {
    const { id, path, sink } = await register(subscriber, { sinkcredential });
    const first = await stored(id);
    const put = (more: object) => subscriber.put(path).send(request(sink, more)).expect(200);
    await put({ sinkcredential: { credentialtype: 'PLAIN' }, source: 'urn:a' });
    expect(await stored(id)).toBe(first);
    await subscriber.patch(path).type('application/merge-patch+json').send('{"source":"urn:b"}').expect(200);
    expect(await stored(id)).toBe(first);

    await put({ sinkcredential: { ...sinkcredential, secret: 'another' } });
    const second = await stored(id);
    expect(second).not.toBe(first);
    const token = { credentialtype: 'ACCESSTOKEN', accesstoken: 'a', accesstokenexpiresutc: '2027-01-01T00:00:00Z' };
    const merge = { sinkcredential: token };
    const patched = await subscriber
      .patch(path)
      .type('application/merge-patch+json')
      .send(JSON.stringify(merge))
      .expect(200);
    const told = { credentialtype: 'ACCESSTOKEN', expiresat: '2027-01-01T00:00:00.000Z' };
    expect(patched.body.sinkcredential).toMatchObject(told);
    expect(patched.body.sinkcredential).not.toHaveProperty('previous');
    expect([first, second]).not.toContain(await stored(id));

    expect((await put({})).body).not.toHaveProperty('sinkcredential');
    expect(await stored(id)).toBeNull();
  });

  test('does not follow the subscription to another host, where an admin could read it, unless it is given again', async () => {
    const { id, path } = await register(subscriber, { sinkcredential });
    const first = await stored(id);
    const sink = registry.receiver.sink('/t1', 'elsewhere.hooks.test');
    for (const other of [sink, 'https://localhost/t1']) {
      const kept = await admin.put(path).send(request(other, { sinkcredential: { credentialtype: 'PLAIN' } }));
      expect([kept.status, kept.body.faults]).toMatchObject([400, [{ rule: 'secret_for_other_host' }]]);
      const merge = JSON.stringify({ sink: other });
      const patched = await admin.patch(path).type('application/merge-patch+json').send(merge);
      expect([patched.status, patched.body.faults]).toMatchObject([400, [{ rule: 'secret_for_other_host' }]]);
    }
    expect(await stored(id)).toBe(first);
    await subscriber.put(path).send(request(sink, { sinkcredential })).expect(200);
  });

  test('has a fingerprint that distinguishes it from the next, and reveals nothing of another subscription', async () => {
    const one = await register(subscriber, { sinkcredential });
    const other = await register(subscriber, { sinkcredential });
    const prints = new Set([one.sinkcredential.fingerprint, other.sinkcredential.fingerprint]);
    const put = async (secret: string) => {
      const body = request(one.sink, { sinkcredential: { ...sinkcredential, secret } });
      return (await subscriber.put(one.path).send(body).expect(200)).body.sinkcredential;
    };
    prints.add((await put('another')).fingerprint);
    expect(prints.size).toBe(3);
    expect((await put(secrets.secret)).fingerprint).toBe(one.sinkcredential.fingerprint);
  });

  test('that is replaced stays with senders for as long as was asked, and no longer', async () => {
    const type = 'com.example.rotated';
    const trusted = await registry.as(['assent:deliver', 'assent:credentials'], { subscriber: 'mailroom' });
    const { id, path, sink } = await register(subscriber, { types: [type], sinkcredential });
    const matched = async () => {
      const event = { specversion: '1.0', id: '1', source: 'urn:a', type };
      await registry.service.follow();
      const { body } = await trusted.post('/v1/match').type('application/cloudevents+json').send(JSON.stringify(event));
      return body.sinks[0];
    };
    const patch = async (more: object, status = 200) => {
      const merge = JSON.stringify({ sinkcredential: more });
      return (await subscriber.patch(path).type('application/merge-patch+json').send(merge).expect(status)).body;
    };
    const next = { ...sinkcredential, secret: 'next' };
    const rotated = await patch({ ...next, overlapseconds: 3_600 });
    const { previous } = rotated.sinkcredential;
    expect(previous).toMatchObject({ credentialtype: 'PLAIN', fingerprint: expect.any(String) });
    expect(Date.parse(previous.until) - Date.parse(rotated.sinkcredential.setat)).toBe(3_600_000);
    expect(await matched()).toMatchObject({
      sinkcredential: next,
      previouscredential: { until: previous.until, sinkcredential },
    });
    // The subscription as read, and the same rotation again, because its response was lost.
    await subscriber.put(path).send(rotated).expect(200);
    expect((await patch(next)).sinkcredential).toEqual(rotated.sinkcredential);
    expect(await matched()).toHaveProperty('previouscredential.sinkcredential', sinkcredential);
    // Neither of them moves to another host.
    const elsewhere = registry.receiver.sink('/rotated', 'elsewhere.hooks.test');
    const moved = request(elsewhere, { sinkcredential: { ...sinkcredential, secret: 'third', overlapseconds: 60 } });
    expect((await subscriber.put(path).send(moved).expect(400)).body.faults).toMatchObject([
      { pointer: '/sinkcredential/overlapseconds', rule: 'secret_for_other_host' },
    ]);

    await registry.sql(
      `update subscription set previousuntil = now() - interval '1 millisecond' where id::text = $1`,
      id,
    );
    expect(await matched()).not.toHaveProperty('previouscredential');
    expect((await subscriber.get(path)).body.sinkcredential).not.toHaveProperty('previous');
    await registry.service.forget();
    expect(
      await registry.sql('select previouscredential, previousinfo from subscription where id::text = $1', id),
    ).toEqual([{ previouscredential: null, previousinfo: null }]);

    await patch({ ...sinkcredential, secret: 'third', overlapseconds: 60 });
    expect(await matched()).toHaveProperty('previouscredential.sinkcredential.secret', 'next');
    await patch({ overlapseconds: 0 });
    expect(await matched()).not.toHaveProperty('previouscredential');
    await patch({ ...sinkcredential, secret: 'fourth', overlapseconds: 60 });
    await subscriber
      .put(path)
      .send(request(sink, { types: [type], sinkcredential }))
      .expect(200);
    expect(await matched()).not.toHaveProperty('previouscredential');
  });

  test('leaves no trace among the idempotency keys by which it could be guessed', async () => {
    const sink = newSink();
    const send = (secret: string) =>
      subscriber
        .post('/v1/subscriptions')
        .set('Idempotency-Key', 'guess')
        .send(request(sink, { sinkcredential: { ...sinkcredential, secret } }));
    const first = await send('one').expect(201);
    const second = await send('two').expect(201);
    expect(second.body.id).toBe(first.body.id);
  });

  test('of another type than the stored one is not there to be kept', async () => {
    const { id, path, sink } = await register(subscriber, { sinkcredential });
    const first = await stored(id);
    const answer = await subscriber
      .put(path)
      .send(request(sink, { sinkcredential: { credentialtype: 'ACCESSTOKEN' } }));
    expect([answer.status, answer.body.faults]).toMatchObject([400, [{ rule: 'nothing_to_keep' }]]);
    expect(await stored(id)).toBe(first);
  });

  test('keys of the service are in files that only their owner reads', async () => {
    const folder = registry.env['ASSENT_DATA'] ?? '';
    expect(await readdir(folder)).toContain('credential-keys.json');
    const { keys } = JSON.parse(await readFile(join(folder, 'credential-keys.json'), 'utf8')) as {
      keys: Array<{ key: string }>;
    };
    expect(registry.logs.join()).not.toContain(keys[0]?.key);
  });
});

describe('a signing secret', () => {
  const own = (letter: string) => `whsec_${Buffer.alloc(24, letter).toString('base64')}`;
  const request = (sink: string, more: object = {}) => ({ sink, protocol: 'HTTP', ...more });
  let trusted: Client;
  beforeAll(async () => {
    trusted = await registry.as(['assent:deliver', 'assent:credentials'], { subscriber: 'mailroom' });
  });

  /** Other subscriptions match the event, too. */
  const matchAs = async (client: Client, type: string, to: string) => {
    const event = { specversion: '1.0', id: '1', source: 'urn:a', type };
    await registry.service.follow();
    const sent = client.post('/v1/match').type('application/cloudevents+json').send(JSON.stringify(event));
    const { sinks, withheld = [] } = (await sent.expect(200)).body;
    const ofSink = (list: Array<{ sink: string }>) => list.find(({ sink }) => sink === to);
    return { found: ofSink(sinks), withheld: ofSink(withheld) };
  };
  const patch = async (path: string, signingsecret: unknown, status = 200) => {
    const merge = JSON.stringify({ signingsecret });
    return (await subscriber.patch(path).type('application/merge-patch+json').send(merge).expect(status)).body;
  };

  test('that Assent makes is shown by the response of that request alone, and reaches senders with the scope', async () => {
    const type = 'com.example.signed';
    const asked = request(newSink(), { types: [type], signingsecret: { make: true } });
    const create = () => subscriber.post('/v1/subscriptions').set('Idempotency-Key', 'made').send(asked).expect(201);
    const { body } = await create();
    const { secret, ...kept } = body.signingsecret;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(kept).toEqual({
      setat: expect.stringMatching(/^\d{4}-.*Z$/),
      fingerprint: expect.stringMatching(/^[\w-]{16}$/),
    });
    const path = `/v1/subscriptions/${body.id}`;
    const repeated = await create();
    expect(repeated.headers['idempotency-replayed']).toBe('true');
    const rehearsed = await subscriber.post('/v1/subscriptions?dryrun=true').send(asked).expect(200);
    expect(Object.keys(rehearsed.body.signingsecret)).toEqual(['setat', 'fingerprint']);
    for (const answer of [repeated, await subscriber.get(path), await admin.get(path)])
      expect(answer.body.signingsecret).toEqual(kept);
    // What a client read and sends back keeps it, even the response that shows it.
    for (const sent of [body, repeated.body])
      expect((await subscriber.put(path).send(sent).expect(200)).body.signingsecret).toEqual(kept);

    const matched = await matchAs(trusted, type, asked.sink);
    expect(matched.found).toMatchObject({ hassigningsecret: true, signingsecrets: [secret] });
    const { found: flagged } = await matchAs(sender, type, asked.sink);
    expect(flagged).toMatchObject({ hassigningsecret: true });
    expect(flagged).not.toHaveProperty('signingsecrets');
    const snapshot = await sender.get('/v1/snapshot').expect(200);
    expect(snapshot.text).toContain('"hassigningsecret":true');
    expect(snapshot.text).not.toContain('"hassigningsecret":false');

    await registry.sql(`update subscription set signingsecret = 'damaged' where id = $1::uuid`, body.id);
    expect(await matchAs(trusted, type, asked.sink)).toEqual({
      found: undefined,
      withheld: expect.objectContaining({ hassigningsecret: true }),
    });
  });

  test('that is replaced stays with senders for as long as was asked, and no longer', async () => {
    const type = 'com.example.signed.rotated';
    const { id, path, sink, ...first } = await register(subscriber, {
      types: [type],
      signingsecret: { secret: own('a') },
    });
    const matched = async () => (await matchAs(trusted, type, sink)).found;
    expect(first.signingsecret).not.toHaveProperty('secret');

    const rotated = await patch(path, { make: true, overlapseconds: 3_600 });
    const { secret, setat, previous } = rotated.signingsecret;
    expect(previous.fingerprint).toBe(first.signingsecret.fingerprint);
    expect(Date.parse(previous.until) - Date.parse(setat)).toBe(3_600_000);
    const both = { signingsecrets: [secret, own('a')], signingoverlapuntil: previous.until };
    expect(await matched()).toMatchObject(both);
    await patch(path, {});
    expect(await matched()).toMatchObject(both);
    const ended = await patch(path, { overlapseconds: 0 });
    expect(ended.signingsecret).toEqual({ setat, fingerprint: rotated.signingsecret.fingerprint });
    expect(await matched()).toMatchObject({ signingsecrets: [secret] });
    expect(await matched()).not.toHaveProperty('signingoverlapuntil');

    // The overlap ends by itself, and the secret is deleted.
    await patch(path, { secret: own('b'), overlapseconds: 60 });
    expect(await matched()).toHaveProperty('signingsecrets', [own('b'), secret]);
    await registry.sql(
      `update subscription set previoussigninguntil = now() - interval '1 millisecond' where id = $1::uuid`,
      id,
    );
    expect(await matched()).toHaveProperty('signingsecrets', [own('b')]);
    expect((await subscriber.get(path)).body.signingsecret).not.toHaveProperty('previous');
    await registry.service.forget();
    const columns = 'previoussigningsecret as secret, previoussigninginfo as info, previoussigninguntil as until';
    expect(await registry.sql(`select ${columns} from subscription where id = $1::uuid`, id)).toEqual([
      { secret: null, info: null, until: null },
    ]);

    // It does not move to another host unless it is given again, and the previous one never does.
    const elsewhere = registry.receiver.sink('/signed', 'elsewhere.hooks.test');
    for (const [signingsecret, pointer] of [
      [{}, '/signingsecret'],
      [{ make: true, overlapseconds: 60 }, '/signingsecret/overlapseconds'],
    ] as const) {
      const moved = await subscriber.put(path).send(request(elsewhere, { signingsecret })).expect(400);
      expect(moved.body.faults).toMatchObject([{ pointer, rule: 'secret_for_other_host' }]);
    }

    expect(await patch(path, null)).not.toHaveProperty('signingsecret');
    expect(await matched()).not.toHaveProperty('hassigningsecret');
    expect((await patch(path, {}, 400)).faults).toMatchObject([{ pointer: '/signingsecret', rule: 'nothing_to_keep' }]);
    await patch(path, { secret: own('c') });
    const removed = await subscriber
      .put(path)
      .send(request(sink, { types: [type] }))
      .expect(200);
    expect(removed.body).not.toHaveProperty('signingsecret');

    // Audit records tell them apart, and have nothing else of them.
    const { body: audit } = await admin
      .get('/v1/audit')
      .query({ target: `subscription:${id}`, limit: 200 })
      .expect(200);
    const changes = audit.flatMap(({ changed }: { changed?: object }) =>
      changed && 'signingsecret' in changed ? [changed.signingsecret] : [],
    );
    expect(changes).toHaveLength(7);
    const { fingerprint } = first.signingsecret;
    expect(changes.at(-1)).toEqual({ before: null, after: { fingerprint } });
    expect(changes.at(-2)).toEqual({
      before: { fingerprint },
      after: { fingerprint: rotated.signingsecret.fingerprint, previous: { fingerprint, until: previous.until } },
    });
  });

  test('is of the oldest subscription of the webhook that has one', async () => {
    const type = 'com.example.signed.shared';
    const { sink } = await register(subscriber, { types: [type], sinkcredential });
    for (const letter of ['d', 'e']) {
      await register(subscriber, { sink, types: [type], signingsecret: { secret: own(letter) } });
    }
    const { found } = await matchAs(trusted, type, sink);
    expect(found).toMatchObject({ sinkcredential, signingsecrets: [own('d')] });
  });
});
