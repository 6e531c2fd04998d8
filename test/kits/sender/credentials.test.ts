import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import type { BatchResult, MatchResult, Sender } from '../../../src/kits/sender/index.js';
import { createVault } from '../../../src/registry/storage/vault.js';
import { createClock } from '../../support/clock.js';
import type { Registry } from '../../support/registry.js';
import type { Relay } from '../../support/relay.js';
import { startSenders, type Senders } from '../../support/senders.js';
import { until } from '../../support/until.js';
import type { Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;
let senders: Senders;
let relay: Relay;
let folder: string;
/** May see credentials, and reaches the registry through the relay. */
let trusted: Sender;

beforeAll(async () => {
  senders = await startSenders();
  ({ registry, tenant, relay } = senders);
  folder = await mkdtemp(join(tmpdir(), 'assent-credentials-'));
  const scopes = ['assent:deliver' as const, 'assent:credentials' as const];
  const token = () => createToken({ tenant: 'gemeente', subscriber: 'mailroom', scopes, minutes: 60 }, registry.env);
  trusted = await senders.start({ registry: relay.url, token, folder });
  await trusted.ready();
});
// After a failed test, too: otherwise later ones wait for a registry that is cut off. The clock is restored by Jest.
afterEach(() => relay.mend());
afterAll(async () => {
  await senders.stop();
  await rm(folder, { recursive: true, force: true });
});

const plain = (secret: string) => ({ credentialtype: 'PLAIN', identifier: 'me', secret });
const eventOf = (type: string) => ({ specversion: '1.0', id: '1', source: 'urn:example:a', type });

async function newWebhook(type: string, secret: string): Promise<string> {
  const path = `/${type}`;
  registry.receiver.consent(path, { rate: '*' });
  const more = { types: [type], sinkcredential: plain(secret) };
  const { id } = await tenant.register(registry.receiver.sink(path), more);
  await senders.untilCurrent(trusted);
  return id as string;
}

test('a match returns the credentials of its sinks in the form of the message: one event, a batch or a request', async () => {
  await newWebhook('com.example.a', 'secret-a');
  const one: MatchResult = await trusted.matchWithCredentials(eventOf('com.example.a'));
  expect(one.sinks).toMatchObject([{ sinkcredential: plain('secret-a') }]);
  const both: BatchResult = await trusted.matchWithCredentials([eventOf('com.example.a'), eventOf('com.example.x')]);
  expect(both.events).toMatchObject([{ sinks: [{ sinkcredential: plain('secret-a') }] }, { sinks: [] }]);
  const headers = { 'content-type': 'application/cloudevents+json' };
  const message = { headers, body: JSON.stringify(eventOf('com.example.a')) };
  expect(await trusted.matchWithCredentials(message)).toEqual(one);
});

test('known credentials are returned while the registry is unreachable; an unknown one is an error, never left out', async () => {
  await newWebhook('com.example.known', 'secret-known');
  await newWebhook('com.example.unknown', 'secret-unknown');
  const known = await trusted.matchWithCredentials(eventOf('com.example.known'));
  relay.cut();
  expect(await trusted.matchWithCredentials(eventOf('com.example.known'))).toEqual(known);
  await expect(trusted.matchWithCredentials(eventOf('com.example.unknown'))).rejects.toThrow();
  relay.mend();
  await trusted.ready(0);
});

test('a changed credential is fetched again, and a removed one is no longer returned', async () => {
  const id = await newWebhook('com.example.changed', 'secret-before');
  const told = async () =>
    (await trusted.matchWithCredentials(eventOf('com.example.changed'))).sinks[0]?.sinkcredential;
  expect(await told()).toEqual(plain('secret-before'));
  for (const sinkcredential of [plain('secret-after'), null]) {
    await tenant.subscriber
      .patch(`/v1/subscriptions/${id}`)
      .set('Content-Type', 'application/merge-patch+json')
      .send(JSON.stringify({ sinkcredential }))
      .expect(200);
    await senders.untilCurrent(trusted);
    expect(await told()).toEqual(sinkcredential ?? undefined);
  }
});

test('a rotated credential is returned with the previous one until the overlap ends, also while the registry is down', async () => {
  const type = 'com.example.overlap';
  const id = await newWebhook(type, 'secret-old');
  const rotate = async (sinkcredential: object) => {
    await tenant.subscriber
      .patch(`/v1/subscriptions/${id}`)
      .set('Content-Type', 'application/merge-patch+json')
      .send(JSON.stringify({ sinkcredential }))
      .expect(200);
    await senders.untilCurrent(trusted);
  };
  const told = async () => (await trusted.matchWithCredentials(eventOf(type))).sinks[0];
  await rotate({ ...plain('secret-new'), overlapseconds: 3_600 });
  expect(await told()).toMatchObject({
    sinkcredential: plain('secret-new'),
    previouscredential: { sinkcredential: plain('secret-old') },
  });
  await rotate({ overlapseconds: 1 });
  await told();
  relay.cut();
  await until(async () => (await told())?.previouscredential === undefined);
  expect(await told()).toMatchObject({ sinkcredential: plain('secret-new') });
  relay.mend();
  await trusted.ready(0);
});

test('if the registry is ahead of the replica, a new sink gets its credential and a removed sink is left out', async () => {
  const type = 'com.example.ahead';
  const id = await newWebhook(type, 'secret-ahead');
  const sink = registry.receiver.sink(`/${type}`);
  relay.holdStreams();
  const { id: later } = await tenant.register(sink, { types: [type] });
  const [told] = (await trusted.matchWithCredentials(eventOf(type))).sinks;
  expect(told).toMatchObject({ sink, subscriptions: [id], sinkcredential: plain('secret-ahead') });
  for (const each of [id, later]) await tenant.subscriber.delete(`/v1/subscriptions/${each}`).expect(200);
  expect(trusted.match(eventOf(type)).sinks).toHaveLength(1);
  expect((await trusted.matchWithCredentials(eventOf(type))).sinks).toEqual([]);
  relay.mend();
  await senders.untilCurrent(trusted);
});

test('a sink whose credential the registry cannot decrypt is withheld, reported to the host, and fetched again later', async () => {
  const type = 'com.example.lost';
  const id = await newWebhook(type, 'secret-lost');
  const sink = registry.receiver.sink(`/${type}`);
  registry.receiver.consent('/other', { rate: '*' });
  const other = registry.receiver.sink('/other');
  await tenant.register(other, { types: [type], sinkcredential: plain('secret-other') });
  await senders.untilCurrent(trusted);
  const [row] = await registry.sql<{ text: string }>(
    'select sinkcredential as text from subscription where id = $1::uuid',
    id,
  );
  const write = (text: string | undefined) =>
    registry.sql('update subscription set sinkcredential = $1 where id = $2::uuid', text, id);
  const vault = createVault([{ id: 'lost', key: randomBytes(32) }]);
  await write(await vault.seal(plain('secret-lost'), { tenant: 'gemeente', owner: `subscription:${id}` }));
  const complaints = () => senders.faults.map(String).filter((text) => text.includes(`decrypt a secret of ${sink}:`));

  const told = await trusted.matchWithCredentials(eventOf(type));
  expect(told).toMatchObject({
    sinks: [{ sink: other, sinkcredential: plain('secret-other') }],
    withheld: [{ sink, subscriptions: [id] }],
  });
  relay.cut();
  expect(await trusted.matchWithCredentials([eventOf(type)])).toMatchObject({
    events: [{ sinks: told.sinks, withheld: told.withheld }],
  });
  expect(complaints()).toHaveLength(1);
  relay.mend();

  const clock = createClock();
  clock.pass(1.1);
  expect(await trusted.matchWithCredentials(eventOf(type))).toMatchObject({ withheld: told.withheld });
  expect(complaints()).toHaveLength(2);
  // The registry has its key again.
  await write(row?.text);
  clock.pass(1.1);
  const again = await trusted.matchWithCredentials(eventOf(type));
  expect(again.sinks).toHaveLength(2);
  expect(again).not.toHaveProperty('withheld');
  expect(complaints()).toHaveLength(2);
});

test('each event of a batch gets the credential of its own subscriptions, even if they share a sink with others', async () => {
  const sink = registry.receiver.sink('/shared');
  registry.receiver.consent('/shared', { rate: '*' });
  const [all, one, other] = ['com.example.s', 'com.example.s.one', 'com.example.s.other'] as const;
  await tenant.register(sink, { types: [all, one, other] });
  await tenant.register(sink, { types: [one], sinkcredential: plain('secret-one') });
  await tenant.register(sink, { types: [other], sinkcredential: plain('secret-other') });
  await senders.untilCurrent(trusted);
  const { events } = await trusted.matchWithCredentials([all, one, other].map(eventOf));
  expect(events.map(({ sinks = [] }) => sinks.map(({ sinkcredential }) => sinkcredential))).toEqual([
    [undefined],
    [plain('secret-one')],
    [plain('secret-other')],
  ]);
});

test('the cache is bounded, even if different subscriptions to one sink match each time', async () => {
  const type = 'com.example.many';
  await newWebhook(type, 'secret-many');
  const numbers = Array.from({ length: 52 }, (_, number) => String(number));
  for (const number of numbers) {
    const filters = [{ not: { any: [{ exact: { one: number } }, { exact: { other: number } }] } }];
    await tenant.register(registry.receiver.sink(`/${type}`), { types: [type], filters });
  }
  await senders.untilCurrent(trusted);
  // Each is wanted by all but another two of them.
  const events = numbers.flatMap((one, place) =>
    numbers.slice(0, place).map((other) => ({ ...eventOf(type), one, other })),
  );
  const batches = [];
  while (events.length > 0) batches.push(events.splice(0, 100));
  for (const batch of batches) await trusted.matchWithCredentials(batch);
  relay.cut();
  expect((await trusted.matchWithCredentials(batches.at(-1) ?? [])).events[0]?.sinks).toMatchObject([
    { sinkcredential: plain('secret-many'), subscriptions: { length: 51 } },
  ]);
  await expect(trusted.matchWithCredentials(batches[0] ?? [])).rejects.toThrow();
  relay.mend();
  await trusted.ready(0);
});

test('no credential is written to disk or given to a sender whose token may not read it', async () => {
  await newWebhook('com.example.private', 'secret-private');
  await trusted.matchWithCredentials(eventOf('com.example.private'));
  const other = await senders.startCurrent();
  const { sinks } = await other.matchWithCredentials(eventOf('com.example.private'));
  expect(sinks).toHaveLength(1);
  expect(sinks[0]).not.toHaveProperty('sinkcredential');
  await trusted.close();
  expect(await readFile(join(folder, 'replica.jsonl'), 'utf8')).not.toContain('secret-');
});
