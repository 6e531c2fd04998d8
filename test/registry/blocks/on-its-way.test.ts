import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createGate } from '../../support/gate.js';
import { offeredBy } from '../../support/offer.js';
import { passCallbacks, passGrant, passTurns, reachRenewal } from '../../support/pass-time.js';
import { until } from '../../support/until.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

// No loop runs in this registry, so a handshake is sent when a test drains the worker.

let registry: Registry;
let tenant: Tenant;
beforeAll(async () => {
  registry = await startRegistry({ start: false });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

const lift = async () => {
  for (const { id } of (await tenant.admin.get('/v1/blocks').expect(200)).body) {
    await tenant.admin.delete(`/v1/blocks/${id}`).expect(200);
  }
};
/** A failed test must not stop the next ones. */
afterEach(lift);

const kinds = {
  origin: () => tenant.origin,
  sink: (host: string) => registry.receiver.sink(`/${host}`, host),
  host: (host: string) => host,
  domain: () => 'hooks.test',
  // Another process may reach the webhook at another address of the network.
  network: () => '127.0.0.0/8',
  subscriber: () => 'zaaksysteem',
  tenant: () => 'gemeente',
};
const consent = { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '5' };

let count = 0;
/** A webhook that does what it is told, in the order of its requests. */
function webhook(kind: keyof typeof kinds) {
  const host = `${kind}-${(count += 1)}.hooks.test`;
  const sink = registry.receiver.sink(`/${host}`, host);
  const callbacks: string[] = [];
  const hook = {
    sink,
    asked: 0,
    consents: true,
    /** The value of its block. */
    blocked: kinds[kind](host),
    /** Before each response. */
    during: async (): Promise<unknown> => undefined,
    block: () => tenant.admin.post('/v1/blocks').send({ kind, value: hook.blocked, reason: 'Incident.' }).expect(201),
    call: () => tenant.subscriber.post((callbacks.at(-1) ?? '').slice('https://assent.test'.length)),
  };
  registry.receiver.on(`/${host}`, async (request, response) => {
    hook.asked += 1;
    callbacks.push(...offeredBy(request));
    const headers = hook.consents ? consent : {};
    await hook.during();
    response.writeHead(200, headers).end();
  });
  return hook;
}

type Webhook = ReturnType<typeof webhook>;
const sweep = async () => {
  await registry.service.sweep();
  await registry.service.worker.drain();
};
const register = ({ sink }: Webhook) => tenant.register(sink, {}, 'respond-async');
const codeOf = async (answer: PromiseLike<{ body: { code?: string } }>) => (await answer).body.code;

/** What is on its way when a block begins: what the webhook had returned before, and what arrives under the block. */
interface Way {
  /** What it returns to the first question; undefined if that is still on its way. */
  first?: 'consents' | 'is silent';
  /** It is being renewed, and consents or is silent. */
  renewal?: 'consents' | 'is silent';
  /** Its response arrives under the block. */
  isHeld?: boolean;
  arrives?: (hook: Webhook) => Promise<unknown>;
}
const calls = (hook: Webhook) => codeOf(hook.call());
const ways: Record<string, Way> = {
  'a response': { isHeld: true },
  'a callback': { first: 'is silent', arrives: calls },
  'a callback before the response': { isHeld: true, arrives: calls },
  'the response to a renewal': { first: 'consents', renewal: 'consents', isHeld: true },
  'the callback of a renewal': { first: 'consents', renewal: 'is silent', arrives: calls },
  'an agreement': {
    first: 'is silent',
    arrives: ({ sink }) => {
      const expiresat = new Date(Date.now() + 86_400_000).toISOString();
      const agreement = { origin: tenant.origin, sink, allowedrate: 5, agreement: 'A 1', expiresat };
      return codeOf(tenant.admin.post('/v1/grants').send(agreement));
    },
  },
  'a registration': {
    first: 'is silent',
    arrives: ({ sink }) => codeOf(tenant.subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' })),
  },
};

test.each(Object.keys(kinds) as Array<keyof typeof kinds>)(
  'what is on its way under a block of the kind %s grants nothing, and lifting it asks anew',
  async (kind) => {
    const all = Object.entries(ways).map(([name, way]) => ({ name, way, hook: webhook(kind) }));
    const seen = async <Fact>(factOf: (each: (typeof all)[number]) => Promise<Fact>) =>
      Object.fromEntries(await Promise.all(all.map(async (each) => [each.name, await factOf(each)] as const)));
    const asked = all.filter(({ way }) => way.first !== undefined);
    for (const { hook, way } of asked) {
      hook.consents = way.first === 'consents';
      await register(hook);
    }
    await registry.service.worker.drain();
    const gate = createGate();
    for (const { hook, way } of all) {
      if (way.isHeld) hook.during = () => gate.opened;
      hook.consents = way.renewal !== 'is silent' && way.arrives !== calls;
      if (way.first === undefined) await register(hook);
      if (way.renewal !== undefined) await reachRenewal(registry, hook.sink);
    }
    const before = await seen(async ({ hook }) => (await tenant.grant(hook.sink))?.grantedat);
    const running = sweep();
    const expected = ({ first, renewal, isHeld }: Way) =>
      (first === undefined ? 0 : first === 'consents' ? 1 : 2) + (isHeld ? 1 : 0) + (renewal === 'is silent' ? 2 : 0);
    await until(() => all.every(({ hook, way }) => hook.asked === expected(way)));

    // Most kinds have one value for all of them, and so one block.
    for (const hook of new Map(all.map(({ hook: each }) => [each.blocked, each])).values()) await hook.block();
    for (const { hook } of all) hook.consents = true;
    const codes = await seen(async ({ hook, way }) => way.arrives?.(hook));
    expect(codes).toEqual(await seen(async ({ way }) => way.arrives && 'blocked'));
    gate.open();
    await running;
    // Nothing is left of the consent from before the block, nor of the time to call back.
    await passCallbacks(registry);
    for (const { hook, way } of all) if (way.renewal !== undefined) await passGrant(registry, hook.sink);
    await registry.sql('update handshake set dueat = now() where dueat > now()');
    await passTurns(registry);
    await sweep();
    expect(await seen(async ({ hook }) => (await tenant.grant(hook.sink))?.grantedat)).toEqual(before);
    expect(await seen(async ({ hook }) => hook.asked)).toEqual(await seen(async ({ way }) => expected(way)));

    await lift();
    const allowed = () => seen(async ({ hook }) => (await tenant.permission(hook.sink)).allowed);
    expect(await allowed()).toEqual(await seen(async () => false));
    await registry.sql('update handshake set dueat = now() where dueat > now()');
    await passTurns(registry);
    await sweep();
    expect(await seen(async ({ hook, way }) => hook.asked > expected(way))).toEqual(await seen(async () => true));
    expect(await allowed()).toEqual(await seen(async () => true));
  },
);

/** Under which a callback is faster than the response. */
async function callFirst(hook: Webhook): Promise<void> {
  hook.consents = false;
  hook.during = async () => {
    hook.during = async () => undefined;
    expect((await hook.call()).status).toBe(200);
  };
  await register(hook);
  await registry.service.worker.drain();
  expect(await tenant.permission(hook.sink)).toMatchObject({ allowed: true });
}

test('a block of a network stops a webhook whose callback was faster than its response', async () => {
  const hook = webhook('network');
  await callFirst(hook);
  await hook.block();
  await registry.service.follow();
  expect(await tenant.permission(hook.sink)).toMatchObject({ allowed: false, denial: 'blocked' });
});

test('a callback before the response is accepted under a block of another network that is older', async () => {
  await tenant.admin.post('/v1/blocks').send({ kind: 'network', value: '203.0.113.0/24', reason: 'Old.' }).expect(201);
  await registry.sql(`update block set createdat = createdat - interval '2 minutes'`);
  await callFirst(webhook('network'));
});
