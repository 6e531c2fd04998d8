import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Denied, Permit, Sender } from '../../../src/kits/sender/index.js';
import type { Registry } from '../../support/registry.js';
import { startGateway } from '../../support/gateway.js';
import type { Relay } from '../../support/relay.js';
import { startSenders, type Senders } from '../../support/senders.js';
import type { Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

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
/** A sink that allows this rate, and counts what is sent to it. */
async function newSink(rate: string): Promise<{ sink: string; received: number[] }> {
  const path = `/p${(paths += 1)}`;
  const received: number[] = [];
  registry.receiver.consent(path, { rate });
  const sink = registry.receiver.sink(path);
  await tenant.register(sink, { types: ['com.example.none-at-all'] });
  return { sink, received };
}

const within = (seconds: number) => AbortSignal.timeout(seconds * 1_000);

/** Takes permits one after the other, `lanes` at a time, until the signal fires or one is denied. */
async function take(sender: Sender, sink: string, lanes: number, signal: AbortSignal) {
  const permits: number[] = [];
  let denied: Denied | undefined;
  const lane = async () => {
    while (denied === undefined) {
      const outcome: Permit | Denied | undefined = await sender
        .acquire(tenant.origin, sink, signal)
        .catch(() => undefined);
      if (outcome === undefined) return;
      if (outcome.allowed) permits.push(performance.now());
      else denied ??= outcome;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { permits, denied };
}

test('two instances share one rate: together they get what it allows, and each gets a part', async () => {
  const { sink } = await newSink('240');
  const [one, two] = [await senders.startCurrent(), await senders.startCurrent()];
  const startedAt = performance.now();
  const signal = within(6);
  const [first, second] = await Promise.all([take(one, sink, 20, signal), take(two, sink, 20, signal)]);
  const all = first.permits.length + second.permits.length;
  // Each second's part of the rate, and what is given at once at the beginning.
  const seconds = (performance.now() - startedAt) / 1_000;
  expect(all).toBeGreaterThan(15);
  expect(all).toBeLessThanOrEqual(seconds * 4 + 2 * 16);
  expect(Math.min(first.permits.length, second.permits.length)).toBeGreaterThan(0);
  await Promise.all([one.close(), two.close()]);
});

test('a sink without a limit needs no lease and keeps working while the registry is unreachable', async () => {
  const { sink } = await newSink('*');
  const sender = await senders.startCurrent({ registry: relay.url });
  relay.cut();
  for (let turn = 0; turn < 1_000; turn += 1) {
    expect(await sender.acquire(tenant.origin, sink)).toMatchObject({ allowed: true, allowedrate: '*' });
  }
  relay.mend();
  await sender.close();
});

test('a denial is returned immediately with its reason and without a permit', async () => {
  const { sink } = await newSink('60');
  const sender = await senders.startCurrent();
  expect(await sender.acquire(tenant.origin, 'https://nobody.example.com/')).toEqual(
    await tenant.permission('https://nobody.example.com/'),
  );
  await tenant.revoke(sink);
  await senders.untilCurrent(sender);
  expect(await sender.acquire(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'revoked' });
  await sender.close();
});

test('a caller waiting for a permit learns of a revocation as soon as the feed reports it', async () => {
  const { sink } = await newSink('6');
  const sender = await senders.startCurrent();
  const waiting = take(sender, sink, 30, within(60));
  await sender.ready(0);
  await tenant.revoke(sink);
  const { permits, denied } = await waiting;
  expect(denied).toMatchObject({ allowed: false, denial: 'revoked', sink });
  expect(permits.length).toBeLessThanOrEqual(6);
  await sender.close();
});

test('a caller waiting at a low rate continues when the rate is raised', async () => {
  const sink = registry.receiver.sink('/raised');
  registry.receiver.consent('/raised', { rate: '1' });
  const { id } = await tenant.register(sink, { types: ['com.example.none-at-all'] });
  const sender = await senders.startCurrent();
  await sender.acquire(tenant.origin, sink, within(60));
  const waiting = sender.acquire(tenant.origin, sink, within(60));
  registry.receiver.consent('/raised', { rate: '600' });
  await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).set('Prefer', 'wait=10').expect(201);
  expect(await waiting).toMatchObject({ allowed: true, allowedrate: 600 });
  await sender.close();
});

test('a lease response reports a hold before the feed does, and the hold ends when an admin releases it', async () => {
  const { sink } = await newSink('600');
  const sender = await senders.startCurrent({ registry: relay.url });
  relay.holdStreams();
  const outcome = { origin: tenant.origin, sink, statuscode: 429, retryafter: 3600 };
  const { body } = await tenant.sender.post('/v1/deliveries/outcomes').send([outcome]).expect(200);
  expect(body).toEqual([{ accepted: true }]);
  const { helduntil } = await tenant.permission(sink);
  const denied = { origin: tenant.origin, sink, allowed: false, denial: 'held', helduntil };
  expect(await sender.acquire(tenant.origin, sink, within(60))).toMatchObject(denied);
  const { id } = await tenant.grant(sink);
  await tenant.admin.post(`/v1/grants/${id}/release`).set('If-Match', '*').expect(200);
  relay.mend();
  await senders.untilCurrent(sender);
  expect((await sender.acquire(tenant.origin, sink, within(60))).allowed).toBe(true);
  await sender.close();
});

test('a caller waiting for a permit learns that the grant expired', async () => {
  const sender = await senders.startCurrent();
  /** With an end that is ahead when the first permit is taken, however slow the machine is. */
  const agree = async (seconds: number): Promise<{ sink: string; expiresat: string }> => {
    const sink = `https://agreed${seconds}.example.com/events`;
    const expiresat = new Date(Date.now() + seconds * 1_000).toISOString();
    const grant = { origin: tenant.origin, sink, allowedrate: 1, expiresat, agreement: 'agreed' };
    await tenant.admin.post('/v1/grants').send(grant);
    await senders.untilCurrent(sender);
    return (await sender.acquire(tenant.origin, sink)).allowed ? { sink, expiresat } : agree(2 * seconds);
  };
  const { sink, expiresat } = await agree(2);
  expect(await sender.acquire(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'expired' });
  // The next permit would come a minute after the first.
  expect(Date.now() - Date.parse(expiresat)).toBeLessThan(50_000);
  await sender.close();
});

test('while the registry is unreachable only the current share is used; sending continues when it is back', async () => {
  const { sink } = await newSink('600');
  const sender = await senders.startCurrent({ registry: relay.url });
  expect((await sender.acquire(tenant.origin, sink)).allowed).toBe(true);
  relay.cut();
  const { permits, denied } = await take(sender, sink, 50, within(3));
  expect(denied).toBeUndefined();
  // Never more than was leased for two seconds, though fifty wait.
  expect(permits.length).toBeLessThanOrEqual(40);
  expect(permits.every((at) => performance.now() - at > 500)).toBe(true);
  expect(sender.permission(tenant.origin, sink).allowed).toBe(true);
  relay.mend();
  expect((await sender.acquire(tenant.origin, sink, within(60))).allowed).toBe(true);
  await sender.close();
});

test('a caller waiting for a permit continues after a long outage', async () => {
  const { sink } = await newSink('600');
  // Pauses are next to none, so that failures as of hours come together; the last one is as long as it can be.
  const chance = jest.spyOn(Math, 'random').mockReturnValue(-0.4999);
  const sender = await senders.startCurrent({ registry: relay.url });
  const failed = async (times: number) => {
    for (const before = senders.faults.length; senders.faults.length < before + times;) await sleep(5);
  };
  relay.cut();
  const waiting = sender.acquire(tenant.origin, sink);
  await failed(50);
  chance.mockReturnValue(0.999);
  // That of the feed, and that of the lease.
  await failed(2);
  relay.mend();
  expect((await waiting).allowed).toBe(true);
  chance.mockRestore();
  await sender.close();
});

test('no permit comes from a lease that ended in the meantime', async () => {
  const { sink } = await newSink('600');
  const sender = await senders.startCurrent({ registry: relay.url });
  /** Whether the share still has a permit without the registry. On a slow machine the lease may have ended. */
  const hasShare = async () => {
    // Ten at once, so that more than one is leased; nine are given back and stay in the share.
    const some = await Promise.all(Array.from({ length: 10 }, () => sender.acquire(tenant.origin, sink, within(60))));
    for (const permit of some.slice(1)) if (permit.allowed) permit.giveBack();
    relay.cut();
    const outcome = await sender.acquire(tenant.origin, sink, within(0.3)).catch(() => undefined);
    if (outcome?.allowed !== true) relay.mend();
    return outcome?.allowed === true;
  };
  await until(hasShare);
  await sleep(2_100);
  await expect(sender.acquire(tenant.origin, sink, within(0.3))).rejects.toThrow('timeout');
  relay.mend();
  await sender.close();
});

/** How many requests count against the rate. */
async function counted(sink: string): Promise<number> {
  const [row] = await registry.sql<{ sum: string }>(
    `select coalesce(sum(c), 0)::text as sum from lease_pool, unnest(slots) c where pair =
     (select encode(substr(sha256(convert_to($1 || ' ' || $2, 'UTF8')), 1, 16), 'hex')::uuid)`,
    tenant.origin,
    sink,
  );
  return Number(row?.sum);
}

test('closing returns unused leases, and others can use them immediately', async () => {
  const { sink } = await newSink('600');
  const sender = await senders.startCurrent();
  const some = await Promise.all(Array.from({ length: 12 }, () => sender.acquire(tenant.origin, sink, within(60))));
  for (const permit of some.slice(2)) if (permit.allowed) permit.giveBack();
  expect(await counted(sink)).toBeGreaterThanOrEqual(12);
  await sender.close();
  expect(await counted(sink)).toBe(2);
  await expect(sender.acquire(tenant.origin, sink)).rejects.toThrow('closed');
});

test('a closing sender gives no more permits, even if no lease is needed', async () => {
  const { sink } = await newSink('*');
  const sender = await senders.startCurrent();
  const closing = sender.close();
  await expect(sender.acquire(tenant.origin, sink)).rejects.toThrow('closed');
  await closing;
});

test("a waiting caller is rejected with the signal's reason, and when the sender is closed", async () => {
  const { sink } = await newSink('1');
  const sender = await senders.startCurrent();
  await sender.acquire(tenant.origin, sink, within(60));
  await expect(sender.acquire(tenant.origin, sink, within(0.2))).rejects.toThrow('timeout');
  const late = sender.acquire(tenant.origin, sink);
  await Promise.all([expect(late).rejects.toThrow('closed'), sender.close()]);
});

test('a permit given back after its lease ended does not drop a caller that waits', async () => {
  const { sink } = await newSink('600');
  const sender = await senders.startCurrent({ registry: relay.url });
  const take = () => sender.acquire(tenant.origin, sink, within(60));
  const [early, unused] = await Promise.all([take(), take()]);
  if (unused.allowed) unused.giveBack();
  // It goes back to the registry when the lease has ended and nobody has asked for more.
  while ((await counted(sink)) > 1) await sleep(20);
  relay.cut();
  const late = sender.acquire(tenant.origin, sink);
  if (early.allowed) early.giveBack();
  const outcome = Promise.race([late, sleep(60_000, 'still waiting', { ref: false })]);
  await Promise.all([expect(outcome).rejects.toThrow('closed'), sender.close()]);
  relay.mend();
});

test('sent requests still count if the response to a return is lost', async () => {
  const { sink } = await newSink('600');
  const leased = async () => {
    const metrics = await (await fetch(`${registry.operationsUrl}/metrics`)).text();
    return Number(/^assent_leased_requests_total (\d+)/m.exec(metrics)?.[1]);
  };
  /** Requests that the sender knows it has leased; and questions whose response it does not get, until it can ask no more. */
  let [known, lost, loses] = [0, 0, false];
  const gateway = await startGateway(registry.url, (request, answer) => {
    if (!request.url?.startsWith('/v1/leases')) return false;
    if (lost === 3) answer.destroy();
    else void passOn(request, answer);
    return true;
  });
  const passOn = async (request: IncomingMessage, answer: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const { authorization = '', 'content-type': type = '' } = headers;
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    const init = { method, headers: { authorization, 'content-type': type }, ...(body.length > 0 && { body }) };
    const response = await fetch(new URL(url, registry.url), init);
    const text = await response.text();
    lost += loses ? 1 : 0;
    if (loses) return void answer.destroy();
    known += (JSON.parse(text || '{}') as { requests?: number }).requests ?? 0;
    answer.writeHead(response.status, { 'Content-Type': 'application/json' }).end(text);
  };

  const before = await leased();
  const sender = await senders.startCurrent({ registry: gateway.url });
  const some = await Promise.all(Array.from({ length: 12 }, () => sender.acquire(tenant.origin, sink, within(60))));
  loses = true;
  for (const permit of some.slice(6)) if (permit.allowed) permit.giveBack();
  // What is left goes back with the next question, which comes when the lease ends and is asked again and again.
  await until(() => lost === 3);
  expect((await leased()) - before - (await counted(sink))).toBe(known - 6);
  await sender.close();
  await gateway.stop();
});
