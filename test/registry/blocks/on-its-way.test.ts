import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { offeredBy } from '../../support/offer.js';
import { passCallbacks, passGrant, passTurns, reachRenewal } from '../../support/pass-time.js';
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
/** A webhook that does what it is told at its next request, and consents to all later ones. */
function webhook(kind: keyof typeof kinds) {
  const host = `${kind}-${(count += 1)}.hooks.test`;
  const sink = registry.receiver.sink(`/${host}`, host);
  const callbacks: string[] = [];
  let next: 'consents' | 'is silent' = 'consents';
  let during: (() => Promise<unknown>) | undefined;
  let asked = 0;
  registry.receiver.on(`/${host}`, async (request, response) => {
    asked += 1;
    callbacks.push(...offeredBy(request));
    const work = during;
    during = undefined;
    await work?.();
    response.writeHead(200, next === 'consents' ? consent : {}).end();
  });
  return {
    sink,
    block: () =>
      tenant.admin
        .post('/v1/blocks')
        .send({ kind, value: kinds[kind](host), reason: 'Incident.' })
        .expect(201),
    call: () => tenant.subscriber.post((callbacks.at(-1) ?? '').slice('https://assent.test'.length)),
    asked: () => asked,
    isSilent: () => (next = 'is silent'),
    consents: () => (next = 'consents'),
    atNextRequest: (work: () => Promise<unknown>) => (during = work),
  };
}

type Webhook = ReturnType<typeof webhook>;
const sweep = async () => {
  await registry.service.sweep();
  await registry.service.worker.drain();
};
const register = async ({ sink }: Webhook) => {
  const { id } = await tenant.register(sink, {}, 'respond-async');
  await registry.service.worker.drain();
  return id as string;
};
const registerSilent = async (hook: Webhook) => {
  hook.isSilent();
  const id = await register(hook);
  hook.consents();
  return id;
};
const refusedCall = async (hook: Webhook) => expect((await hook.call()).body.code).toBe('blocked');

/** What is on its way when a block begins, and arrives under it. Each leaves the webhook ready to consent when it is asked. */
const ways: Record<string, (hook: Webhook) => Promise<unknown>> = {
  'a response': async (hook) => {
    hook.atNextRequest(hook.block);
    await register(hook);
  },
  'a callback': async (hook) => {
    await registerSilent(hook);
    await hook.block();
    await refusedCall(hook);
  },
  'a callback before the response': async (hook) => {
    hook.isSilent();
    hook.atNextRequest(async () => {
      await hook.block();
      await refusedCall(hook);
    });
    await register(hook);
    hook.consents();
  },
  'the response to a renewal': async (hook) => {
    await register(hook);
    await reachRenewal(registry, hook.sink);
    hook.atNextRequest(hook.block);
    await sweep();
  },
  'the callback of a renewal': async (hook) => {
    await register(hook);
    await reachRenewal(registry, hook.sink);
    hook.isSilent();
    await sweep();
    hook.consents();
    await hook.block();
    await refusedCall(hook);
  },
  'an agreement': async (hook) => {
    await registerSilent(hook);
    await hook.block();
    const expiresat = new Date(Date.now() + 86_400_000).toISOString();
    const agreement = { origin: tenant.origin, sink: hook.sink, allowedrate: 5, reference: 'A 1', expiresat };
    expect((await tenant.admin.post('/v1/grants').send(agreement)).body.code).toBe('blocked');
  },
  'a registration': async (hook) => {
    await registerSilent(hook);
    await hook.block();
    const body = { sink: hook.sink, protocol: 'HTTP' };
    expect((await tenant.subscriber.post('/v1/subscriptions').send(body)).body.code).toBe('blocked');
  },
};

const table = Object.keys(kinds).flatMap((kind) =>
  Object.keys(ways).map((way) => [way, kind] as [string, keyof typeof kinds]),
);
test.each(table)('%s under a block of the kind %s grants nothing, and lifting it asks anew', async (way, kind) => {
  const hook = webhook(kind);
  const isRenewal = way.includes('renewal');
  await ways[way]?.(hook);
  const granted = async () => (await tenant.grant(hook.sink))?.grantedat;
  const before = await granted();
  const asked = hook.asked();
  // Nothing is left of the consent from before the block, nor of the time to call back.
  await passCallbacks(registry);
  if (isRenewal) await passGrant(registry, hook.sink);
  await registry.sql('update handshake set dueat = now() where dueat > now()');
  await passTurns(registry);
  await sweep();
  expect([hook.asked(), await granted()]).toEqual([asked, before]);
  expect(before !== undefined).toBe(isRenewal);

  await lift();
  expect(await tenant.permission(hook.sink)).toMatchObject({ allowed: false });
  await registry.sql('update handshake set dueat = now() where dueat > now()');
  await passTurns(registry);
  await sweep();
  expect(hook.asked()).toBeGreaterThan(asked);
  expect(await tenant.permission(hook.sink)).toMatchObject({ allowed: true });
});

test('a block of a network stops a webhook whose callback was faster than its response', async () => {
  const hook = webhook('network');
  hook.isSilent();
  hook.atNextRequest(async () => expect((await hook.call()).status).toBe(200));
  await register(hook);
  expect(await tenant.permission(hook.sink)).toMatchObject({ allowed: true });
  await hook.block();
  await registry.service.follow();
  expect(await tenant.permission(hook.sink)).toMatchObject({ allowed: false, reason: 'blocked' });
});

test('a callback before the response is accepted under a block of another network that is older', async () => {
  const hook = webhook('network');
  await tenant.admin.post('/v1/blocks').send({ kind: 'network', value: '203.0.113.0/24', reason: 'Old.' }).expect(201);
  await registry.sql(`update block set createdat = createdat - interval '2 minutes'`);
  hook.isSilent();
  hook.atNextRequest(async () => expect((await hook.call()).status).toBe(200));
  await register(hook);
  expect(await tenant.permission(hook.sink)).toMatchObject({ allowed: true });
});
