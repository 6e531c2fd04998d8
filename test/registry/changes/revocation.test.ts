import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { startSilentProxy, type SilentProxy } from '../../support/silent-proxy.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** Three services on one database: one that writes, one that listens, one that receives no notifications. */
/** Long enough that a change known within a third of it must have arrived by notification. */
const longPollMs = 60_000;
const pollMs = 500;
let registry: Registry;
let listening: Registry;
let polling: Registry;
let proxy: SilentProxy;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  const env = { ASSENT_POLL_MS: String(longPollMs) };
  listening = await startRegistry({ beside: registry, env });
  proxy = await startSilentProxy(registry.env['DATABASE_URL'] ?? '');
  polling = await startRegistry({ beside: registry, env: { ASSENT_POLL_MS: String(pollMs), DATABASE_URL: proxy.url } });
});
afterAll(async () => {
  await Promise.all([listening?.stop(), polling?.stop()]);
  await proxy?.stop();
  await registry?.stop();
});

/** Polls until the sender is not allowed to send; returns the denial. */
async function untilRefused(sender: Client, sink: string): Promise<string> {
  for (;;) {
    const { body } = await sender.get('/v1/permissions').query({ origin: tenant.origin, sink }).expect(200);
    if (!body.allowed) return body.denial as string;
    await sleep(10);
  }
}

/** A grant that every process knows, and a client for each of the other two. */
async function granted(path: string) {
  registry.receiver.consent(path);
  const sink = registry.receiver.sink(path);
  await tenant.register(sink);
  await Promise.all([listening.service.follow(), polling.service.follow()]);
  const senders = await Promise.all([listening.as('assent:deliver'), polling.as('assent:deliver')]);
  for (const sender of senders) {
    const { body } = await sender.get('/v1/permissions').query({ origin: tenant.origin, sink }).expect(200);
    expect(body.allowed).toBe(true);
  }
  return { sink, senders };
}

test.each([
  ['an admin revokes', 'revoked', async (sink: string) => tenant.revoke(sink)],
  [
    'a refused renewal ends',
    'renewal_refused',
    async (sink: string) => {
      registry.receiver.consent(new URL(sink).pathname, { origin: 'somebody-else.example.com' });
      await registry.sql('update "grant" set renewat = now() where sink = $1', sink);
      await registry.service.sweep();
      await registry.service.worker.drain();
    },
  ],
  [
    'a webhook ends by responding 410 to a delivery',
    'target_gone',
    async (sink: string) => {
      const gone = [{ origin: tenant.origin, sink, statuscode: 410 }];
      await tenant.sender.post('/v1/deliveries/outcomes').send(gone).expect(200);
    },
  ],
])(
  'a grant that %s is refused without a poll by a process that listens, and at the next poll by one that cannot',
  async (_what, denial, takeAway) => {
    const { sink, senders } = await granted(`/${denial}`);
    const keptBefore = proxy.kept();
    await takeAway(sink);
    const takenAt = performance.now();
    const denials = await Promise.all(senders.map((sender) => untilRefused(sender, sink)));
    expect(performance.now() - takenAt).toBeLessThan(longPollMs / 3);
    expect(proxy.kept()).toBeGreaterThan(keptBefore);
    const told = await tenant.permission(sink);
    expect(denials).toEqual([told.denial, told.denial]);
  },
);
