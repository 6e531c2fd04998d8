import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { noticeOrigin, subscribeToNotices } from '../../support/notices.js';
import { startProgram, type Program } from '../../support/process.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

const kills = 10;

let registry: Registry;
let tenant: Tenant;
let program: Program | undefined;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  await tenant.admin.post('/v1/origins').send({ name: noticeOrigin }).expect(201);
});
afterAll(async () => {
  program?.child.kill('SIGKILL');
  await program?.ended;
  await registry.stop();
});

function start(): Program {
  const shared = [
    'ASSENT_DATA',
    'ASSENT_ALLOWED_NETWORKS',
    'ASSENT_SINK_PORTS',
    'ASSENT_SINK_CA_FILE',
    'ASSENT_DNS_SERVERS',
  ];
  const env = Object.fromEntries(shared.map((name) => [name, registry.env[name]]));
  const args = ['notify', '--origin', noticeOrigin, '--registry', registry.url, '--tenant', 'gemeente'];
  return startProgram('tools/cli/assent.js', { env: { ...env, ASSENT_LOG_LEVEL: 'error' }, args });
}

test(`over ${kills} kills of the notifying process, each webhook hears of each status of its own at least once and in order`, async () => {
  const other = await registry.as('assent:subscribe', { subscriber: 'archief' });
  // Slow, and busy from time to time.
  const respond = async () => {
    await sleep(randomInt(20));
    return randomInt(10) === 0 ? 503 : 204;
  };
  const webhooks = [
    await subscribeToNotices(registry, tenant.subscriber, '/kill-own', {}, respond),
    await subscribeToNotices(registry, other, '/kill-other', { filters: [{ sql: 'TRUE' }] }, respond),
  ] as const;
  const subscriptions = await Promise.all(
    Array.from({ length: 6 }, async (_, place) => {
      const client = place % 2 === 0 ? tenant.subscriber : other;
      const path = `/kill-${place}`;
      registry.receiver.consent(path);
      const sink = registry.receiver.sink(path);
      const { body } = await client
        .post('/v1/subscriptions')
        .set('Prefer', 'wait=10')
        .send({ sink, protocol: 'HTTP' })
        .expect(201);
      return { id: body.id as string, sink, client, place: place % 2, expected: [] as string[] };
    }),
  );
  program = start();
  // Only what changes after its first snapshot is reported. This subscription does not count.
  registry.receiver.consent('/kill-warm-up');
  const warm = await tenant.register(registry.receiver.sink('/kill-warm-up'));
  await until(async () => {
    await tenant.subscriber.post(`/v1/subscriptions/${warm.id}/suspend`).send({ reason: 'Warm-up.' }).expect(200);
    await tenant.subscriber.post(`/v1/subscriptions/${warm.id}/resume`).send({ reason: 'Warm-up.' }).expect(200);
    return webhooks[0].about(warm.id).length > 0;
  });

  let isOver = false;
  // Each status lasts until it was reported: what flips twice between two reads is one notice.
  const change = async ({ id, sink, client, place, expected }: (typeof subscriptions)[0]) => {
    const steps: Array<[string, () => Promise<unknown>]> = [
      [
        'subscription.suspended suspended',
        () => client.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Test.' }).expect(200),
      ],
      [
        'subscription.active granted',
        () => client.post(`/v1/subscriptions/${id}/resume`).send({ reason: 'Test.' }).expect(200),
      ],
      ['subscription.retired gone', () => tenant.gone(sink)],
      [
        'subscription.active granted',
        () => client.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'wait=10').expect(201),
      ],
    ];
    while (!isOver) {
      for (const [notice, step] of steps) {
        await step();
        expected.push(notice);
        await webhooks[place as 0 | 1].until(id, expected.length);
      }
      await sleep(randomInt(200));
    }
  };
  const changing = subscriptions.map(change);
  for (let kill = 0; kill < kills; kill += 1) {
    await sleep(200 + randomInt(1_800));
    program.child.kill('SIGKILL');
    await program.ended;
    await sleep(randomInt(300));
    program = start();
  }
  isOver = true;
  await Promise.all(changing);
  for (const { id, place, expected } of subscriptions) {
    const webhook = webhooks[place as 0 | 1];
    await webhook.until(id, expected.length);
    expect(webhook.about(id)).toEqual(expected);
    expect(webhooks[place === 0 ? 1 : 0].about(id)).toEqual([]);
  }
  const changes = subscriptions.reduce((sum, { expected }) => sum + expected.length, 0);
  const received = webhooks[0].received.length + webhooks[1].received.length;
  process.stdout.write(`${JSON.stringify({ kills, changes, received })}\n`);
  expect(program.child.exitCode).toBeNull();
}, 600_000);
