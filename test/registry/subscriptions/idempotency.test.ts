import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

const origin = 'eventemitter.example.com';
let registry: Registry;
let admin: Client;
let subscriber: Client;
let colleague: Client;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  subscriber = await registry.as('assent:subscribe');
  colleague = await registry.as('assent:subscribe', { subscriber: 'other-system' });
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
});
afterAll(() => registry.stop());

let count = 0;
function newSink(): string {
  const path = `/i${(count += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}
const newKey = () => `key-${(count += 1)}`;
const inYears = (years: number) => new Date(Date.now() + years * 365 * 86_400_000).toISOString();

async function created(sink: string): Promise<number> {
  const [row] = await registry.sql<{ n: number }>(`select count(*)::int as n from subscription where sink = $1`, sink);
  return row?.n ?? 0;
}

describe('Idempotency-Key', () => {
  const post = (client: Client, key: string, body: object, path = '/v1/subscriptions') =>
    client.post(path).set('Idempotency-Key', key).send(body);

  test('a repeated request returns the same subscription and starts no handshake', async () => {
    const [key, sink] = [newKey(), newSink()];
    const first = await post(subscriber, key, { sink, protocol: 'HTTP' }).expect(201);
    const again = await post(subscriber, key, { sink, protocol: 'HTTP' }).expect(201);
    expect(again.body).toEqual(first.body);
    for (const name of ['Location', 'ETag']) expect(again.get(name)).toBe(first.get(name));
    expect([first.get('Idempotency-Replayed'), again.get('Idempotency-Replayed')]).toEqual([undefined, 'true']);
    expect(registry.receiver.asked.filter(({ path }) => sink.endsWith(path))).toHaveLength(1);
    expect(await created(sink)).toBe(1);
  });

  test('a repeated request may differ in the order of members and in white space, but not in content', async () => {
    const [key, sink] = [newKey(), newSink()];
    const send = (body: string) =>
      subscriber.post('/v1/subscriptions').type('json').set('Idempotency-Key', key).send(body);
    const filters = (...types: string[]) =>
      `"filters":[{"all":[{"exact":{"type":"a","subject":"b"}},${types.join()}]}]`;
    const [one, two] = ['{"suffix":{"type":"c"}}', '{"suffix":{"type":"d"}}'];
    const first = await send(`{"sink":"${sink}","protocol":"HTTP",${filters(one, two)}}`).expect(201);
    const turned = filters(one, two).replace('"type":"a","subject":"b"', '"subject" : "b", "type" : "a"');
    const again = await send(`{ ${turned},\n"protocol":"HTTP","sink":"${sink}" }`).expect(201);
    expect([again.body.id, again.get('Idempotency-Replayed')]).toEqual([first.body.id, 'true']);
    await send(`{"sink":"${sink}","protocol":"HTTP",${filters(two, one)}}`).expect(409);
    expect(await created(sink)).toBe(1);
  });

  test('the response has the current state, not the state after the first request', async () => {
    const [key, sink] = [newKey(), newSink()];
    const { body } = await post(subscriber, key, { sink, protocol: 'HTTP' }).expect(201);
    await subscriber.put(`/v1/subscriptions/${body.id}`).send({ sink, protocol: 'HTTP', source: 'urn:a' }).expect(200);
    const again = await post(subscriber, key, { sink, protocol: 'HTTP' }).expect(201);
    expect(again.body).toMatchObject({ id: body.id, source: 'urn:a' });
  });

  test('with other content it is a 409 that creates nothing', async () => {
    const [key, sink, other] = [newKey(), newSink(), newSink()];
    await post(subscriber, key, { sink, protocol: 'HTTP' }).expect(201);
    const answer = await post(subscriber, key, { sink: other, protocol: 'HTTP' }).expect(409);
    expect(answer.body).toMatchObject({
      code: 'idempotency_key_reused',
      faults: [{ pointer: 'header/idempotency-key', rule: 'key_reused' }],
    });
    expect(await created(other)).toBe(0);
  });

  test('for another operation it is a 409 too', async () => {
    const key = newKey();
    await post(admin, key, { name: `${key}.example.com` }, '/v1/origins').expect(201);
    const sink = newSink();
    await post(admin, key, { sink, protocol: 'HTTP' }).expect(409);
    expect(await created(sink)).toBe(0);
  });

  test('twenty requests at once create one subscription and one handshake', async () => {
    const [key, sink] = [newKey(), newSink()];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(subscriber, key, { sink, protocol: 'HTTP' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter((answer) => answer.get('Idempotency-Replayed') === undefined)).toHaveLength(1);
    expect(await created(sink)).toBe(1);
    expect(registry.receiver.asked.filter(({ path }) => sink.endsWith(path))).toHaveLength(1);
  });

  test('keys belong to a subscriber: the same key of another subscriber or tenant is another key', async () => {
    const [key, sink] = [newKey(), newSink()];
    const namesake = await registry.as(['assent:admin', 'assent:subscribe'], { tenant: 'provincie' });
    await namesake.post('/v1/origins').send({ name: 'provincie.example.com', isdefault: true }).expect(201);
    const ids = [];
    for (const client of [subscriber, colleague, namesake]) {
      const answer = await post(client, key, { sink, protocol: 'HTTP' }).expect(201);
      expect(answer.get('Idempotency-Replayed')).toBeUndefined();
      ids.push(answer.body.id);
    }
    expect(new Set(ids).size).toBe(3);
  });

  test('without a key every request creates', async () => {
    const sink = newSink();
    for (let i = 0; i < 2; i += 1)
      await subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' }).expect(201);
    expect(await created(sink)).toBe(2);
  });

  test('an origin is registered once, and other content with its key is a 409', async () => {
    const key = newKey();
    const name = `${key}.example.com`;
    const first = await post(admin, key, { name, requestedrate: 5 }, '/v1/origins').expect(201);
    const again = await post(admin, key, { name, requestedrate: 5 }, '/v1/origins').expect(201);
    expect([again.body, again.get('Idempotency-Replayed')]).toEqual([first.body, 'true']);
    const other = await post(admin, key, { name, requestedrate: 6 }, '/v1/origins').expect(409);
    expect(other.body.code).toBe('idempotency_key_reused');
    expect((await post(admin, newKey(), { name }, '/v1/origins').expect(409)).body.code).toBe('origin_exists');
  });

  test('an agreement is recorded once: a repeated request does not undo later changes', async () => {
    const key = newKey();
    const agreement = { origin, sink: newSink(), allowedrate: 5, expiresat: inYears(1), agreement: 'A-1' };
    const first = await post(admin, key, agreement, '/v1/grants').expect(201);
    await admin.post(`/v1/grants/${first.body.id}/revoke`).send({ reason: 'It was cancelled.' }).expect(200);
    const again = await post(admin, key, agreement, '/v1/grants').expect(201);
    expect(again.get('Idempotency-Replayed')).toBe('true');
    expect(again.body).toMatchObject({ id: first.body.id, state: 'revoked' });
    await post(admin, key, { ...agreement, allowedrate: 6 }, '/v1/grants').expect(409);
  });

  test('a repeated request for an agreement that has ended since returns it as ended', async () => {
    const record = async (ms: number) => {
      const [key, expiresat] = [newKey(), new Date(Date.now() + ms).toISOString()];
      const agreement = { origin, sink: newSink(), allowedrate: 5, expiresat, agreement: 'A-2' };
      return { key, agreement, first: await post(admin, key, agreement, '/v1/grants') };
    };
    let recorded = await record(1_000);
    // On a slow machine the end has passed when the request arrives.
    for (let ms = 2_000; recorded.first.status === 400; ms *= 2) recorded = await record(ms);
    const { key, agreement, first } = recorded;
    const { expiresat } = agreement;
    await sleep(Date.parse(expiresat) - Date.now() + 1);
    const again = await post(admin, key, agreement, '/v1/grants').expect(201);
    expect(again.get('Idempotency-Replayed')).toBe('true');
    expect(again.body).toMatchObject({ id: first.body.id, expiresat });
    await post(admin, newKey(), agreement, '/v1/grants').expect(400);
  });

  test('a handshake starts once, even for ten concurrent requests', async () => {
    const { body } = await subscriber.post('/v1/subscriptions').send({ sink: newSink(), protocol: 'HTTP' }).expect(201);
    const path = `/v1/subscriptions/${body.id}/handshakes`;
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(subscriber, key, {}, path)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(new Set(answers.map((answer) => answer.get('Location'))).size).toBe(1);
    const listed = await subscriber.get(path).expect(200);
    expect(listed.body.map(({ trigger }: { trigger: string }) => trigger)).toEqual(['request', 'registration']);
    expect(listed.body[0].id).toBe(answers[0]?.body.id);
  });

  test('a request that joined an open handshake returns that handshake every time', async () => {
    registry.receiver.on('/busy', (_request, response) => response.writeHead(503, { 'Retry-After': '600' }).end());
    const request = { sink: registry.receiver.sink('/busy'), protocol: 'HTTP' };
    const { body } = await subscriber.post('/v1/subscriptions').send(request).expect(201);
    const path = `/v1/subscriptions/${body.id}/handshakes`;
    const key = newKey();
    const first = await post(subscriber, key, {}, path).expect(201);
    expect(first.body.id).toBe(body.statusdetails.handshake);
    const again = await post(subscriber, key, {}, path).expect(201);
    expect([again.body.id, again.get('Idempotency-Replayed')]).toEqual([first.body.id, 'true']);
    expect((await subscriber.get(path)).body).toHaveLength(1);
  });
});

describe('If-Match and If-None-Match', () => {
  const mergePatch = 'application/merge-patch+json';
  const reason = 'Because of a test.';

  async function subscription() {
    const sink = newSink();
    const { body } = await subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' }).expect(201);
    const path = `/v1/subscriptions/${body.id}`;
    return { path, request: { sink, protocol: 'HTTP' } };
  }
  async function grant() {
    const agreement = { origin, sink: newSink(), allowedrate: 5, expiresat: inYears(1), agreement: 'A-1' };
    const { body } = await admin.post('/v1/grants').send(agreement).expect(201);
    return `/v1/grants/${body.id}`;
  }
  async function newOrigin() {
    const name = `${newKey()}.example.com`;
    await admin.post('/v1/origins').send({ name }).expect(201);
    return `/v1/origins/${name}`;
  }

  const changes = [
    [
      'PUT of a subscription',
      async () => {
        const { path, request } = await subscription();
        return { client: subscriber, path, send: () => subscriber.put(path).send(request) };
      },
    ],
    [
      'PATCH of a subscription',
      async () => {
        const { path } = await subscription();
        return { client: subscriber, path, send: () => subscriber.patch(path).type(mergePatch).send('{"source":"a"}') };
      },
    ],
    [
      'DELETE of a subscription',
      async () => {
        const { path } = await subscription();
        return { client: subscriber, path, send: () => subscriber.delete(path) };
      },
    ],
    [
      'suspending',
      async () => {
        const { path } = await subscription();
        return { client: subscriber, path, send: () => subscriber.post(`${path}/suspend`).send({ reason }) };
      },
    ],
    [
      'resuming',
      async () => {
        const { path } = await subscription();
        return { client: subscriber, path, send: () => subscriber.post(`${path}/resume`).send({ reason }) };
      },
    ],
    [
      'PUT of an origin',
      async () => {
        const path = await newOrigin();
        return { client: admin, path, send: () => admin.put(path).send({}) };
      },
    ],
    [
      'PATCH of an origin',
      async () => {
        const path = await newOrigin();
        return { client: admin, path, send: () => admin.patch(path).type(mergePatch).send('{"judgement":"lenient"}') };
      },
    ],
    [
      'DELETE of an origin',
      async () => {
        const path = await newOrigin();
        return { client: admin, path, send: () => admin.delete(path) };
      },
    ],
    [
      'revoking a grant',
      async () => {
        const path = await grant();
        return { client: admin, path, send: () => admin.post(`${path}/revoke`).send({ reason }) };
      },
    ],
  ] as const;

  test.each(changes)('%s for another version is 412 and changes nothing', async (_, prepare) => {
    const { client, path, send } = await prepare();
    const before = await client.get(path).expect(200);
    for (const tag of ['"2"', '1', 'W/"2"', '"2-gzip"', '"1-2"', '""', '"0", "7"']) {
      const answer = await send().set('If-Match', tag);
      expect([tag, answer.status, answer.body.code]).toEqual([tag, 412, 'precondition_failed']);
    }
    // What a proxy that compresses makes of the current version, or leaves of it, has its own name: reading again does not
    // help. If-Match compares strongly (RFC 9110 section 13.1.1).
    for (const tag of ['W/"1"', '"1-gzip"', 'W/"1-br"', '"7",W/"1"', '']) {
      const { status, body } = await send().set('If-Match', tag);
      expect([tag, status, body.code]).toEqual([tag, 412, 'etag_altered']);
      expect(body.faults).toEqual([
        { pointer: 'header/if-match', rule: 'etag_altered', detail: expect.stringContaining('Send "1", without W/') },
      ]);
    }
    // RFC 9110 section 13.1.2; the first of the two does not stand in for the second.
    for (const tag of ['*', '"1"', 'W/"1"', '"7", "1"']) {
      const answer = await send().set('If-Match', '"1"').set('If-None-Match', tag);
      expect([tag, answer.status, answer.body.code]).toEqual([tag, 412, 'precondition_failed']);
    }
    const after = await client.get(path).expect(200);
    expect([after.body, after.get('ETag')]).toEqual([before.body, before.get('ETag')]);
  });

  test.each(changes)(
    '%s for the current version, for any version, or without a condition succeeds',
    async (_, prepare) => {
      for (const tag of ['"1"', '*', '"7", "1"', undefined]) {
        const { send } = await prepare();
        const answer = await (tag === undefined ? send() : send().set('If-Match', tag));
        expect([tag, answer.status]).toEqual([tag, 200]);
        // Proxies that respect this leave the ETag as it is.
        expect(answer.get('Cache-Control')).toBe('no-store, no-transform');
      }
      const { send } = await prepare();
      expect((await send().set('If-None-Match', '"2", W/"7"')).status).toBe(200);
    },
  );

  test('of ten concurrent replacements of one version, one succeeds', async () => {
    const { path, request } = await subscription();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        subscriber
          .put(path)
          .set('If-Match', '"1"')
          .send({ ...request, source: `urn:${i}` }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)]);
    expect((await subscriber.get(path)).get('ETag')).toBe('"2"');
  });
});
