import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createFeedReader, type FeedReader } from '../../support/feed-reader.js';
import { passCallbacks } from '../../support/pass-time.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

const subscribe = ['assent:subscribe' as const];
let registry: Registry;
let tenant: Tenant;
let sender: FeedReader;
/** The consumer `zaaksysteem`, which `tenant.register` registers for. */
let own: FeedReader;
let other: FeedReader;
let otherClient: Client;

beforeAll(async () => {
  registry = await startRegistry({ env: { ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  tenant = await createTenant(registry);
  sender = await createFeedReader(registry);
  own = await createFeedReader(registry, { scopes: subscribe, subscriber: 'zaaksysteem' });
  other = await createFeedReader(registry, { scopes: subscribe, subscriber: 'archief' });
  otherClient = await registry.as('assent:subscribe', { subscriber: 'archief' });
});
afterAll(() => registry.stop());

let paths = 0;
function newSink(): string {
  const path = `/c${(paths += 1)}`;
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}
const end = async (reader: FeedReader): Promise<string> => (await reader.page({ limit: 1 })).cursor;
const registerOther = async (sink: string): Promise<string> =>
  (
    await otherClient
      .post('/v1/subscriptions')
      .set('Prefer', 'wait=10')
      .send({
        sink,
        protocol: 'HTTP',
        sinkcredential: { credentialtype: 'PLAIN', identifier: 'x', secret: 'hush-hush' },
      })
      .expect(201)
  ).body.id;

describe('a consumer', () => {
  test('reads the changes of its own subscriptions on pages, each with the present status, and no others', async () => {
    const [after, afterOfOther] = [await end(own), await end(other)];
    const [sink, sinkOfOther] = [newSink(), newSink()];
    const { id } = await tenant.register(sink);
    const idOfOther = await registerOther(sinkOfOther);
    await tenant.gone(sink);
    await registry.service.follow();
    const page = await own.page({ after });
    const retired = [{ id, status: 'retired', code: 'gone' }];
    expect(page.changes).toMatchObject([
      { kind: 'subscription.created', origin: tenant.origin, sink, subscription: id, statuses: retired },
      { kind: 'grant.live', sink, statuses: retired },
      { kind: 'grant.ended', sink, cause: 'target_gone', statuses: retired },
    ]);
    expect((await own.page({ last: 3 })).changes).toEqual(page.changes);
    const active = [{ id: idOfOther, status: 'active', code: 'granted' }];
    expect((await other.page({ after: afterOfOther })).changes).toMatchObject([
      { kind: 'subscription.created', subscription: idOfOther, statuses: active },
      { kind: 'grant.live', sink: sinkOfOther, statuses: active },
    ]);
  });

  test('reads the same from the log as from memory, also behind thousands of changes of others', async () => {
    const after = await end(own);
    const { id } = await tenant.register(newSink());
    const fresh = await own.page({ after });
    expect(fresh.changes).toHaveLength(2);
    for (let i = 0; i < 4; i += 1) {
      await registry.sql(
        `select append_changes(array_fill('gemeente'::text, array[5000]), array_fill($1::text, array[5000]),
           array_fill('grant.ended'::text, array[5000]), array_fill('https://a.example/'::text, array[5000]),
           array_fill(null::uuid, array[5000]))::text`,
        tenant.origin,
      );
      await registry.service.follow();
    }
    await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
    const read = [];
    for (let [at, isMore] = [after, true]; isMore;) {
      const page = await own.page({ after: at, limit: 1 });
      read.push(...page.changes);
      [at, isMore] = [page.cursor, page.more];
    }
    expect(read.map(({ kind, revision, statuses }) => [kind, revision, statuses])).toEqual([
      ...fresh.changes.map(({ kind, revision }: { kind: string; revision: string }) => [kind, revision, []]),
      ['subscription.deleted', expect.any(String), []],
    ]);
  });

  test('is woken from a long poll and on a stream by its own changes only', async () => {
    const after = await end(own);
    const waiting = own.page({ after, wait: 30 });
    const stream = await own.stream({ after });
    await registerOther(newSink());
    const { id } = await tenant.register(newSink());
    expect((await waiting).changes[0]).toMatchObject({ kind: 'subscription.created', subscription: id });
    expect(await stream.change()).toMatchObject({
      event: 'subscription.created',
      data: { subscription: id, statuses: [{ id }] },
    });
    expect(await stream.change()).toMatchObject({ event: 'grant.live' });
    stream.close();
  });

  test('of a sink that it shares sees its own subscription only, and learns nothing of the other', async () => {
    const sink = newSink();
    const shared = { protocolsettings: { headers: { 'X-Secret': 'of-the-other' } } };
    await otherClient
      .post('/v1/subscriptions')
      .set('Prefer', 'wait=10')
      .send({ sink, protocol: 'HTTP', ...shared })
      .expect(201);
    const after = await end(own);
    const { id } = await tenant.register(sink);
    await tenant.revoke(sink);
    await registry.service.follow();
    const { changes } = await own.page({ after });
    expect(changes.at(-1)).toMatchObject({
      kind: 'grant.revoked',
      statuses: [{ id, status: 'refused', code: 'revoked' }],
    });
    const text = JSON.stringify(changes);
    for (const secret of ['archief', 'of-the-other', 'hush-hush', 'complained', 'allowedrate', '127.0.0.1']) {
      expect(text).not.toContain(secret);
    }
  });

  test.each([
    [
      'refused',
      (_: unknown, response: { writeHead(status: number): { end(): void } }) => response.writeHead(200).end(),
    ],
    [
      'retired',
      (_: unknown, response: { writeHead(status: number): { end(): void } }) => response.writeHead(410).end(),
    ],
  ])('learns that a webhook without consent is %s, and a sender has nothing to do then', async (status, answer) => {
    const [after, afterOfSender] = [await end(own), await end(sender)];
    const path = `/no-${status}`;
    registry.receiver.on(path, answer);
    const sink = registry.receiver.sink(path);
    const { id } = await tenant.register(sink, {}, 'wait=10');
    await passCallbacks(registry);
    await registry.service.sweep();
    await registry.service.follow();
    const last = (await own.page({ after })).changes.at(-1);
    expect(last).toMatchObject({ kind: `handshake.${status}`, sink, statuses: [{ id, status }] });
    expect(last.cause).toBe(last.statuses[0].code);
    const ofSender = (await sender.page({ after: afterOfSender })).changes.at(-1);
    expect(ofSender.kind).toBe(`handshake.${status}`);
    expect(ofSender).not.toHaveProperty('resource');
  });

  test('learns that an admin blocked the origin, and its subscriptions there', async () => {
    await tenant.admin.post('/v1/origins').send({ name: 'blocked.example.org' }).expect(201);
    const { id } = await tenant.register(newSink(), { origin: 'blocked.example.org' });
    const [after, afterOfOther] = [await end(own), await end(other)];
    const block = { kind: 'origin', value: 'blocked.example.org', reason: 'Test.' };
    await tenant.admin.post('/v1/blocks').send(block).expect(201);
    await registry.service.sweep();
    await registry.service.follow();
    expect((await own.page({ after })).changes).toMatchObject([
      {
        kind: 'subscription.blocked',
        subscription: id,
        statuses: [{ id, status: 'blocked', code: 'blocked' }],
      },
    ]);
    expect((await other.page({ after: afterOfOther })).changes).toEqual([]);
  });

  test('learns once that a grant is about to expire, and once that it has', async () => {
    const sink = newSink();
    const { id } = await tenant.register(sink);
    const after = await end(own);
    await registry.sql(`update "grant" set noteat = now() - interval '1 millisecond' where sink = $1`, sink);
    for (let i = 0; i < 2; i += 1) await registry.service.sweep();
    const over = `now() - interval '1 millisecond'`;
    await registry.sql(
      `update "grant" set expiresat = ${over}, noteat = ${over}, renewat = null where sink = $1`,
      sink,
    );
    for (let i = 0; i < 2; i += 1) await registry.service.sweep();
    await registry.service.follow();
    const { changes } = await own.page({ after });
    expect(changes).toMatchObject([
      { kind: 'grant.expiring', statuses: [{ id }] },
      { kind: 'grant.expired', statuses: [{ id, status: 'expired', code: 'expired' }] },
    ]);
  });
});

test('a sender that asks for it reads the present status of the subscriptions beside the resource; other senders do not, and consumers get no more of it', async () => {
  const [after, afterOfOwn] = [await end(sender), await end(own)];
  const sink = newSink();
  const { id } = await tenant.register(sink);
  const idOfOther = await registerOther(sink);
  await tenant.gone(sink);
  await registry.service.follow();
  const retired = (one: string, subscriber: string) => ({
    ...{ id: one, subscriber, origin: tenant.origin, sink, status: 'retired', code: 'gone' },
    handshake: expect.any(String),
  });
  const { changes } = await sender.page({ after, statuses: 'true' });
  const ended = changes.find(({ kind }: { kind: string }) => kind === 'grant.ended');
  expect(ended).toMatchObject({ resource: { sink, state: 'ended' } });
  expect(ended.statuses).toMatchObject(
    [retired(id, 'zaaksysteem'), retired(idOfOther, 'archief')].sort((one, two) => (one.id < two.id ? -1 : 1)),
  );
  for (const change of (await sender.page({ after })).changes) expect(change).not.toHaveProperty('statuses');
  const ofConsumer = (await own.page({ after: afterOfOwn, statuses: 'true' })).changes;
  expect(ofConsumer).toEqual((await own.page({ after: afterOfOwn })).changes);
});

test('a cursor works only for the consumer, or the senders, that it was issued to', async () => {
  const readers = { sender, own, other };
  for (const [name, reader] of Object.entries(readers)) {
    const after = await end(reader);
    for (const [to, asking] of Object.entries(readers)) {
      const { status, body } = await asking.ask('/v1/changes', { after });
      expect([name, to, status]).toEqual([name, to, name === to ? 200 : 400]);
      if (name !== to) expect(body.faults).toMatchObject([{ rule: 'cursor_unknown' }]);
    }
  }
  expect((await own.ask('/v1/snapshot')).status).toBe(403);
});

test('consumers never take the places of senders', async () => {
  const streams = await Promise.all(Array.from({ length: 4 }, async () => own.stream()));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await own.ask('/v1/changes', { wait: 1 })).toMatchObject({ status: 429, body: { code: 'too_many_readers' } });
  const ofOther = await other.stream();
  const ofSender = await sender.stream();
  expect([ofOther.status, ofSender.status]).toEqual([200, 200]);
  for (const stream of [...streams, ofOther, ofSender]) stream.close();
});
