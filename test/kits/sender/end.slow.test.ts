import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { createSender, type Sender } from '../../../src/kits/sender/index.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

let registry: Registry;
let tenant: Tenant;
let folder: string;
const senders: Sender[] = [];

beforeAll(async () => {
  // The sweep runs at the start, and then after two minutes.
  registry = await startRegistry({ env: { ASSENT_POLL_MS: '60000', ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  tenant = await createTenant(registry);
  folder = await mkdtemp(join(tmpdir(), 'assent-sender-'));
});
afterAll(async () => {
  await Promise.all(senders.map((sender) => sender.close()));
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<Sender> {
  const who = { tenant: 'gemeente', subscriber: 'mailroom', scopes: ['assent:deliver' as const], minutes: 60 };
  const token = () => createToken(who, registry.env);
  const sender = await createSender({ registry: registry.url, token, onFault: () => undefined });
  senders.push(sender);
  await sender.ready(0);
  return sender;
}

test('a sender stops at the end of a subscription, without a change from the registry, and starts after an extension', async () => {
  registry.receiver.consent('/ending', { rate: '*' });
  const sink = registry.receiver.sink('/ending');
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const { id } = await tenant.register(sink, { types: ['com.example.ending'], expiresat: inMs(86_400_000) });
  const follower = await start();
  const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.ending' };
  const sinks = (sender: Sender) => {
    const answer = sender.match(event);
    return 'sinks' in answer ? answer.sinks.map((each) => each.sink) : [];
  };
  expect(sinks(follower)).toEqual([sink]);
  expect(follower.permission(tenant.origin, sink)).toMatchObject({ allowed: true });
  /** Ahead when the request arrives, however slow the machine is. */
  const endSoon = async (ms: number): Promise<string> => {
    const expiresat = inMs(ms);
    const patch = tenant.subscriber
      .patch(`/v1/subscriptions/${id}`)
      .set('Content-Type', 'application/merge-patch+json');
    return (await patch.send({ expiresat })).status === 200 ? expiresat : endSoon(2 * ms);
  };
  const end = await endSoon(1_000);
  await follower.ready(0);
  // The clock of the registry, as the sender knows it, may be late by a second.
  await sleep(Date.parse(end) - Date.now() + 1_100);
  expect(sinks(follower)).toEqual([]);
  expect(follower.permission(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'ended' });
  expect(await tenant.changes(sink)).not.toContain('subscription.expired');
  const late = await start();
  expect(sinks(late)).toEqual([]);

  await tenant.subscriber
    .patch(`/v1/subscriptions/${id}`)
    .set('Content-Type', 'application/merge-patch+json')
    .send({ expiresat: null })
    .expect(200);
  await until(() => sinks(follower).length === 1 && sinks(late).length === 1);

  await registry.sql(`update subscription set endsat = now() - interval '1 millisecond' where id = $1::uuid`, id);
  await registry.service.sweep();
  await until(() => sinks(follower).length === 0);
  expect(sinks(await start())).toEqual([]);
});
