import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { SetupError } from '../../../src/base/errors.js';
import { loadContract } from '../../../src/base/contract/contract.js';
import { runNotifier, type NotifierSettings } from '../../../src/tools/notify/notifier.js';
import { noticeOrigin, subscribeToNotices, type NoticeWebhook } from '../../support/notices.js';
import { passCallbacks } from '../../support/pass-time.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

const { document } = loadContract();
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, 'contract');
/** Whether an event is what the contract says of notices. */
const described = ajv.compile({
  $ref: 'contract#/webhooks/notice/post/requestBody/content/application~1cloudevents+json/schema',
});
let registry: Registry;
let tenant: Tenant;
let other: Client;
let folder: string;
let own: NoticeWebhook;
const faults: unknown[] = [];
const dropped: string[] = [];

beforeAll(async () => {
  registry = await startRegistry({ env: { ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  tenant = await createTenant(registry);
  await tenant.admin.post('/v1/origins').send({ name: noticeOrigin }).expect(201);
  other = await registry.as('assent:subscribe', { subscriber: 'archief' });
  folder = await mkdtemp(join(tmpdir(), 'assent-notify-'));
  own = await subscribeToNotices(registry, tenant.subscriber, '/own');
});
afterAll(async () => {
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
});

function settings(name: string): NotifierSettings {
  const who = { tenant: 'gemeente', subscriber: 'notifier', scopes: ['assent:deliver' as const], minutes: 60 };
  return {
    registry: [new URL(`${registry.url}/`)],
    token: () => createToken(who, registry.env),
    origin: noticeOrigin,
    source: 'https://assent.example.org',
    typePrefix: '',
    language: 'en',
    folder: join(folder, name),
    ca: undefined,
    guard: {
      allowedNetworks: ['127.0.0.1/32'],
      sinkPorts: [registry.receiver.port],
      sinkCa: registry.receiver.ca,
      dnsServers: [registry.dns.address],
    },
    keepMs: 3_600_000,
    firstDelayMs: 50,
    onDelivered: () => undefined,
    onDropped: (entry, why) => void dropped.push(`${(entry.event as { subject: string }).subject} ${why}`),
    onFault: (error) => void faults.push(error),
  };
}

/** Runs a notifier on its folder during the work. */
async function during<T>(name: string, work: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const running = runNotifier(settings(name), stop.signal);
  try {
    return await Promise.race([work(), running.then(() => Promise.reject(new Error('The notifier ended.')))]);
  } finally {
    stop.abort(new Error('over'));
    await running;
  }
}

/** Resolves when the notifier follows: then it reports what changes. */
async function warmUp(): Promise<void> {
  const { id } = await registerOwn();
  // Only a change that comes after its first snapshot causes a notice.
  await until(async () => {
    await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Warm-up.' }).expect(200);
    await tenant.subscriber.post(`/v1/subscriptions/${id}/resume`).send({ reason: 'Warm-up.' }).expect(200);
    return own.about(id).length > 0;
  });
}

let paths = 0;
async function registerOwn(client: Tenant['register'] = tenant.register): Promise<{ id: string; sink: string }> {
  const path = `/n${(paths += 1)}`;
  registry.receiver.consent(path);
  const sink = registry.receiver.sink(path);
  const { id } = await client(sink);
  return { id, sink };
}

const over = `now() - interval '1 millisecond'`;
async function expire(sink: string): Promise<void> {
  await registry.sql(`update "grant" set expiresat = ${over}, noteat = ${over}, renewat = null where sink = $1`, sink);
  await registry.service.sweep();
}
async function askAgain(id: string): Promise<void> {
  await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'wait=10').expect(201);
}

test("a subscriber's webhook hears of its own subscriptions in order, and that of another hears nothing of it", async () => {
  const hostile = [
    await subscribeToNotices(registry, other, '/hostile-all'),
    await subscribeToNotices(registry, other, '/hostile-types', {
      types: ['subscription.active', 'subscription.retired'],
    }),
    await subscribeToNotices(registry, other, '/hostile-sql', { filters: [{ sql: 'TRUE' }] }),
    await subscribeToNotices(registry, other, '/hostile-prefix', { filters: [{ prefix: { type: 'subscription.' } }] }),
    await subscribeToNotices(registry, other, '/hostile-source', { source: 'https://assent.example.org' }),
  ];
  await during('order', async () => {
    await warmUp();
    const { id, sink } = await registerOwn();
    hostile.push(await subscribeToNotices(registry, other, '/hostile-subject', { subject: id }));
    hostile.push(
      await subscribeToNotices(registry, other, '/hostile-data', {
        filters: [{ sql: `subject LIKE '${id.slice(0, 8)}%'` }],
      }),
    );
    const ofOne = await subscribeToNotices(registry, tenant.subscriber, '/of-one', { subject: id });
    // An ordinary one of the same webhook: nothing about it for others either.
    await tenant.sender
      .post('/v1/deliveries/outcomes')
      .send([{ origin: tenant.origin, sink, statuscode: 429, retryafter: '600' }])
      .expect(200);
    await own.until(id, 2);
    await registry.sql(`update "grant" set noteat = ${over} where sink = $1`, sink);
    await registry.service.sweep();
    // A status that lasts until it was read is reported.
    const steps: Array<() => Promise<unknown>> = [
      () => expire(sink),
      () => askAgain(id),
      () => tenant.gone(sink),
      () => askAgain(id),
      () => tenant.revoke(sink),
      () => tenant.admin.delete(`/v1/subscriptions/${id}`).expect(200),
    ];
    for (const [place, step] of steps.entries()) {
      await own.until(id, 3 + place);
      await step();
    }
    expect(await own.until(id, 9)).toEqual([
      'subscription.active granted',
      'grant.held granted',
      'subscription.expiring granted',
      'subscription.expired expired',
      'subscription.active granted',
      'subscription.retired gone',
      'subscription.active granted',
      'subscription.refused revoked',
      'subscription.deleted deleted',
    ]);

    await until(async () => ofOne.about(id).includes('subscription.deleted deleted'));
    expect(ofOne.about(id).slice(-8)).toEqual(own.about(id).slice(-8));
    const silent = registry.receiver.sink('/silent');
    registry.receiver.on('/silent', (_, response) => response.writeHead(200).end());
    const { id: refused } = await tenant.register(silent);
    await passCallbacks(registry);
    await registry.service.sweep();
    expect(await own.until(refused, 1)).toEqual(['subscription.refused callback_expired']);

    const ofOther = await other
      .post('/v1/subscriptions')
      .set('Prefer', 'wait=10')
      .send({ sink, protocol: 'HTTP' })
      .expect(201);
    const [everything] = hostile as [NoticeWebhook];
    await everything.until(ofOther.body.id, 1);
    for (const { received } of hostile) {
      expect(received.filter(({ subject }) => subject !== ofOther.body.id)).toEqual([]);
    }
    expect(own.about(ofOther.body.id)).toEqual([]);
    // With the id of a subscription as subject, of that one only.
    expect(ofOne.received.filter(({ subject }) => subject !== id)).toEqual([]);
    // Subscriptions to notices cause no notices.
    expect(own.about(own.subscription)).toEqual([]);
    for (const event of own.received) {
      const { body } = await tenant.sender
        .post('/v1/events/check')
        .set('Content-Type', 'application/cloudevents+json')
        .send(JSON.stringify(event));
      expect(body).toMatchObject({ valid: true });
      expect([event, described(event)]).toEqual([event, true]);
    }
  });
  expect(faults).toEqual([]);
});

test('blocks are reported when they begin and when they are lifted, whatever they stop', async () => {
  await during('blocks', async () => {
    await warmUp();
    const { id, sink } = await registerOwn();
    await own.until(id, 1);
    // Not one of the webhook for notices.
    await tenant.admin.post('/v1/origins').send({ name: 'blocked.example.org' }).expect(201);
    const { id: elsewhere } = await tenant.register(sink, { origin: 'blocked.example.org' });
    await own.until(elsewhere, 1);
    for (const block of [
      { kind: 'sink', value: sink },
      { kind: 'origin', value: 'blocked.example.org' },
    ]) {
      const before = own.about(elsewhere).length;
      const { body } = await tenant.admin
        .post('/v1/blocks')
        .send({ ...block, reason: 'Test.' })
        .expect(201);
      await own.until(elsewhere, before + 1);
      await tenant.admin.delete(`/v1/blocks/${body.id}`).expect(200);
      await own.until(elsewhere, before + 2);
    }
    const block = ['subscription.blocked blocked', 'subscription.active granted'];
    expect(own.about(elsewhere)).toEqual(['subscription.active granted', ...block, ...block]);
    expect(own.about(id)).toEqual(['subscription.active granted', ...block]);
  });
});

test('a webhook that is away holds back no other, gets everything once it is back, and what it rejects is dropped', async () => {
  let status = 500;
  const away = await subscribeToNotices(registry, other, '/away', {}, () => status);
  await during('away', async () => {
    await warmUp();
    const sink = registry.receiver.sink('/shared-by-both');
    registry.receiver.consent('/shared-by-both');
    const { body } = await other
      .post('/v1/subscriptions')
      .set('Prefer', 'wait=10')
      .send({ sink, protocol: 'HTTP' })
      .expect(201);
    const { id } = await tenant.register(sink);
    await own.until(id, 1);
    await tenant.gone(sink);
    await own.until(id, 2);
    expect(away.about(body.id)).toEqual([]);
    status = 204;
    expect(await away.until(body.id, 2)).toEqual(['subscription.active granted', 'subscription.retired gone']);
    status = 400;
    await other.delete(`/v1/subscriptions/${body.id}`).expect(200);
    await until(async () => dropped.includes(`${body.id} rejected`));
  });
});

test('what differs after a stop is reported once, with the present status; also after a cursor that is too old', async () => {
  const { id } = await during('stopped', async () => {
    await warmUp();
    const registered = await registerOwn();
    await own.until(registered.id, 1);
    return registered;
  });
  const suspend = () =>
    tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Later.' }).expect(200);
  const resume = () => tenant.subscriber.post(`/v1/subscriptions/${id}/resume`).send({ reason: 'Now.' }).expect(200);
  await suspend();
  await resume();
  await suspend();
  await during('stopped', () => own.until(id, 2));
  expect(own.about(id).slice(1)).toEqual(['subscription.suspended suspended']);
  await resume();
  await suspend();
  await resume();
  await registry.sql('update feed_state set horizon = (select max(position) from change)');
  await registry.sql('delete from change where position < (select max(position) from change)');
  await registry.service.follow();
  const { id: fresh } = await during('stopped', async () => {
    await own.until(id, 3);
    const registered = await registerOwn();
    await own.until(registered.id, 1);
    return registered;
  });
  expect(own.about(id).slice(2)).toEqual(['subscription.active granted']);
  expect(own.about(fresh)).toEqual(['subscription.active granted']);
});

test('an origin that does not exist, or whose profile its events do not keep, is refused at the start', async () => {
  const start = (origin: string) =>
    runNotifier({ ...settings(origin), origin }, new AbortController().signal).catch((error: unknown) => error);
  await tenant.admin.post('/v1/origins').send({ name: 'strict.example.org', profile: 'nl-gov' }).expect(201);
  expect(await start('nothing.example.org')).toBeInstanceOf(SetupError);
  const refused = await start('strict.example.org');
  expect(refused).toBeInstanceOf(SetupError);
  expect(String(refused)).toContain('/type');
  const named = { source: 'urn:nld:oin:00000001823288444000:systeem:assent', typePrefix: 'nl.example.' };
  const stop = new AbortController();
  const running = runNotifier({ ...settings('named'), ...named, origin: 'strict.example.org' }, stop.signal);
  await expect(Promise.race([running, sleep(1_000, 'runs')])).resolves.toBe('runs');
  stop.abort();
  await running;
});
