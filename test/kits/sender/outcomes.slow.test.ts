import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClock } from '../../support/clock.js';
import { startGateway } from '../../support/gateway.js';
import type { Registry } from '../../support/registry.js';
import type { Relay } from '../../support/relay.js';
import { startSenders, type Senders } from '../../support/senders.js';
import type { Tenant } from '../../support/tenant.js';
import { startAhead } from '../../support/turn-clock.js';

let registry: Registry;
let tenant: Tenant;
let senders: Senders;
let relay: Relay;

beforeAll(async () => {
  senders = await startSenders();
  ({ registry, tenant, relay } = senders);
});
afterAll(() => senders.stop());

let paths = 0;
async function newSink(): Promise<{ id: string; sink: string }> {
  const path = `/o${(paths += 1)}`;
  registry.receiver.consent(path, { rate: '*' });
  const sink = registry.receiver.sink(path);
  const { id } = await tenant.register(sink);
  return { id, sink };
}

async function countsOf(id: string): Promise<Record<string, number>> {
  const { body } = await tenant.admin.get(`/v1/subscriptions/${id}/deliveries`).expect(200);
  return body.counts;
}

test('a hold starts immediately in the sender that got the response, and in the others when the feed reports it', async () => {
  const { sink } = await newSink();
  const [one, two] = [await senders.startCurrent(), await senders.startCurrent()];
  one.report({ origin: tenant.origin, sink, statusCode: 429, retryAfter: '120' });
  expect(await one.acquire(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'held' });
  // The same answer as the registry gives, also while only this sender knows of the hold.
  expect(one.permission(tenant.origin, sink).allowed).toBe(true);
  for (;;) {
    const permit = await two.acquire(tenant.origin, sink);
    if (!permit.allowed) {
      expect(permit).toEqual(await tenant.permission(sink));
      expect(Date.parse(permit.helduntil ?? '')).toBeGreaterThan(Date.now() + 60_000);
      break;
    }
    await two.ready(0);
  }
  await Promise.all([one.close(), two.close()]);
});

test('after a 410 the sender that got it sends nothing, before and after the feed reports the end of the grant', async () => {
  const { sink } = await newSink();
  const sender = await senders.startCurrent({ registry: relay.url });
  relay.cut();
  sender.report({ origin: tenant.origin, sink, statusCode: 410 });
  expect(await sender.acquire(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'held' });
  relay.mend();
  while (sender.permission(tenant.origin, sink).allowed) await sender.ready(0);
  expect(await sender.acquire(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'ended' });
  await sender.close();
});

test('a hold that an admin releases also ends in the sender that reported it', async () => {
  const { sink } = await newSink();
  const sender = await senders.startCurrent();
  sender.report({ origin: tenant.origin, sink, statusCode: 429, retryAfter: '45' });
  while (sender.permission(tenant.origin, sink).allowed) await sender.ready(0);
  const { id } = await tenant.grant(sink);
  await tenant.admin.post(`/v1/grants/${id}/release`).set('If-Match', '*').expect(200);
  await senders.untilCurrent(sender);
  expect(await sender.acquire(tenant.origin, sink)).toMatchObject({ allowed: true });
  await sender.close();
});

test.each([
  ['kept to its end while the registry is away', ['3600']],
  ['not shortened by the answer to another delivery while the registry is away', ['3600', '1']],
])('a hold is %s', async (_, answers) => {
  const { sink } = await newSink();
  const sender = await senders.startCurrent({ registry: relay.url });
  relay.cut();
  for (const retryAfter of answers) sender.report({ origin: tenant.origin, sink, statusCode: 429, retryAfter });
  const permit = await sender.acquire(tenant.origin, sink);
  expect(permit).toMatchObject({ allowed: false, denial: 'held' });
  expect(Date.parse(permit.helduntil ?? '')).toBeGreaterThan(Date.now() + 3_000_000);
  relay.mend();
  await sender.close();
});

test.each([
  [429, undefined, false],
  [429, 'later', false],
  [503, undefined, true],
  [503, 'later', true],
  [500, '60', true],
])(
  'after a %i with Retry-After %s, sending while the registry is unreachable is allowed: %s',
  async (status, retryAfter, allowed) => {
    const { sink } = await newSink();
    const sender = await senders.startCurrent({ registry: relay.url });
    relay.cut();
    sender.report({ origin: tenant.origin, sink, statusCode: status, retryAfter });
    const permit = await sender.acquire(tenant.origin, sink);
    expect(permit.allowed).toBe(allowed);
    if (!allowed) expect(Date.parse(permit.helduntil ?? '')).toBeLessThan(Date.now() + 10_500);
    relay.mend();
    await sender.close();
  },
);

test('a hold that the feed does not report within a minute ends in the sender that reported it', async () => {
  const clock = createClock();
  const gateway = await startGateway(registry.url, ({ url }, answer) => {
    if (url !== '/v1/deliveries/outcomes') return false;
    answer.end('[]');
    return true;
  });
  const { sink } = await newSink();
  const sender = await senders.startCurrent({ registry: gateway.url });
  sender.report({ origin: tenant.origin, sink, statusCode: 429, retryAfter: '3600' });
  expect(await sender.acquire(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'held' });
  clock.pass(2);
  await sender.ready(0);
  expect(await sender.acquire(tenant.origin, sink)).toMatchObject({ allowed: true });
  await sender.close();
  await gateway.stop();
  clock.restore();
});

test('outcomes are reported once each when the registry is back, and the queue is flushed on close', async () => {
  const { id, sink } = await newSink();
  const sender = await senders.startCurrent({ registry: relay.url });
  relay.cut();
  for (let number = 0; number < 30; number += 1) sender.report({ origin: tenant.origin, sink, statusCode: 204 });
  sender.report({ origin: tenant.origin, sink, statusCode: 500 });
  sender.report({ origin: tenant.origin, sink, statusCode: undefined });
  expect(await countsOf(id)).toEqual({});
  relay.mend();
  while (Object.keys(await countsOf(id)).length === 0) await sender.ready(0);
  sender.report({ origin: tenant.origin, sink, statusCode: 204 });
  await sender.close();
  expect(await countsOf(id)).toEqual({ delivered: 31, failed: 1, no_response: 1 });
});

test('a rejected outcome is reported to the host and does not affect the others', async () => {
  const { id, sink } = await newSink();
  const sender = await senders.startCurrent();
  senders.faults.length = 0;
  sender.report({ origin: tenant.origin, sink: 'https://nobody.example.com/', statusCode: 204 });
  sender.report({ origin: tenant.origin, sink, statusCode: 204 });
  await sender.close();
  expect(await countsOf(id)).toEqual({ delivered: 1 });
  expect(String(senders.faults[0])).toContain('nobody.example.com');
});

test('a 429 counts and starts a hold, whatever its Retry-After contains', async () => {
  const { id, sink } = await newSink();
  const sender = await senders.startCurrent();
  sender.report({ origin: tenant.origin, sink, statusCode: 429, retryAfter: 'later '.repeat(30) });
  await sender.close();
  expect(await countsOf(id)).toEqual({ throttled: 1 });
  expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'held' });
});

test('a sender whose clock is an hour slow does not shorten a hold', async () => {
  const { sink } = await newSink();
  const program = `
    const { KIT, REGISTRY, TOKEN, OUTCOME } = process.env;
    const { createSender } = await import(KIT);
    const sender = await createSender({ registry: REGISTRY, token: () => TOKEN });
    await sender.ready();
    sender.report(JSON.parse(OUTCOME));
    await sender.close();`;
  const kit = new URL('../../../dist/kits/sender/index.js', import.meta.url).href;
  const token = senders.reader.headers['Authorization']?.slice('Bearer '.length) ?? '';
  const outcome = JSON.stringify({ origin: tenant.origin, sink, statusCode: 429, retryAfter: '60' });
  const child = spawn(process.execPath, [startAhead(-3_600_000), '--input-type=module', '-e', program], {
    env: { KIT: kit, REGISTRY: registry.url, TOKEN: token, OUTCOME: outcome },
    stdio: 'inherit',
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
  const { allowed, helduntil } = await tenant.permission(sink);
  expect(allowed).toBe(false);
  expect(Date.parse(helduntil)).toBeGreaterThan(Date.now() + 30_000);
});

test('more equal deliveries than one entry can count are all counted', async () => {
  const { id, sink } = await newSink();
  const sender = await senders.startCurrent({ registry: relay.url });
  relay.cut();
  const many = 1_000_003;
  for (let turn = 0; turn < many; turn += 1) sender.report({ origin: tenant.origin, sink, statusCode: 204 });
  relay.mend();
  await sender.close();
  expect(await countsOf(id)).toEqual({ delivered: many });
});

/** A sender before whose registry a gateway takes no outcomes until `mend`, and then sees to them itself. */
async function startCutOff() {
  let isCut = true;
  const told: Array<{ sink: string; count: number }> = [];
  const faults: string[] = [];
  const gateway = await startGateway(registry.url, (request, answer) => {
    if (request.url !== '/v1/deliveries/outcomes') return false;
    if (isCut) answer.writeHead(503).end();
    else {
      void json(request).then((entries) => {
        told.push(...(entries as typeof told));
        answer.end(JSON.stringify((entries as typeof told).map(() => ({ accepted: true }))));
      });
    }
    return true;
  });
  const onFault = (fault: unknown) => void faults.push(String(fault));
  const sender = await senders.startCurrent({ registry: gateway.url, onFault });
  return { sender, told, faults, mend: () => void (isCut = false), stop: () => gateway.stop() };
}

test('equal queued outcomes are one entry, however often the registry is tried in the meantime', async () => {
  const { sender, told, faults, mend, stop } = await startCutOff();
  const sink = 'https://a.example.com/';
  for (let round = 0; round < 4; round += 1) {
    sender.report({ origin: tenant.origin, sink, statusCode: 204 });
    while (faults.length <= round) await sleep(5);
  }
  mend();
  await sender.close();
  expect(told).toMatchObject([
    { sink, count: 1 },
    { sink, count: 3 },
  ]);
  await stop();
});

test('when the queue is full the oldest outcomes are dropped, and the host is informed once', async () => {
  const { sender, told, faults, mend, stop } = await startCutOff();
  const report = (sink: string) => sender.report({ origin: tenant.origin, sink, statusCode: 204 });
  for (let number = 0; number < 10_000; number += 1) report(`https://${number}.example.com/`);
  const sinks = ['https://a.example.com/', 'https://b.example.com/'];
  for (let turn = 0; turn < 6; turn += 1) sinks.forEach(report);
  mend();
  await sender.close();
  expect(told.slice(0, 1)).toMatchObject([{ sink: 'https://2.example.com/' }]);
  expect(told.slice(-2)).toMatchObject(sinks.map((sink) => ({ sink, count: 6 })));
  expect(faults.filter((fault) => fault.includes('dropped'))).toHaveLength(1);
  await stop();
});
