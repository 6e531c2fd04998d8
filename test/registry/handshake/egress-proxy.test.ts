import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startEgressProxy, type EgressProxy } from '../../support/egress-proxy.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** A registry whose only way to webhooks is a proxy: their names lead to an address that only the proxy reaches. */
const secret = 'canary-7f3a';
let proxy: EgressProxy;
let answer: ((socket: Socket) => void) | undefined;
let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  proxy = await startEgressProxy({ intercept: () => answer });
  registry = await startRegistry({
    start: false,
    env: {
      ASSENT_EGRESS_NO_PROXY: '127.0.0.0/8',
      ASSENT_EGRESS_PROXY: `http://assent:${secret}@127.0.0.1:${proxy.port}`,
      ASSENT_HANDSHAKE_RETRY_MS: '3600000',
    },
  });
  registry.dns.fallback = () => ['93.184.216.34'];
  tenant = await createTenant(registry);
});
afterAll(async () => {
  await registry.stop();
  await proxy.stop();
});

test('webhooks are asked through the proxy, by their checked address', async () => {
  registry.receiver.consent('/outside', { rate: '*' });
  const { id, status } = await tenant.register(registry.receiver.sink('/outside', 'outside.hooks.test'));
  expect(status).toBe('active');
  const [{ attempts }] = await tenant.handshakes(id, tenant.admin);
  expect(attempts[0]).toMatchObject({ verdict: 'granted', address: '93.184.216.34' });
  expect(proxy.heads.join()).toContain(`CONNECT 93.184.216.34:${registry.receiver.port} HTTP/1.1\r\n`);
  expect(proxy.heads.join()).not.toContain('hooks.test');
});

test.each([
  ['HTTP/1.1 407 Who\r\n\r\n', 'proxy_authentication', '407', 'nobody'],
  ['HTTP/1.1 403 No\r\n\r\n', 'proxy_refused', '403', 'nobody'],
  ['HTTP/1.1 504 Late\r\n\r\n', 'proxy_no_connection', '504', 'network'],
])('a failure of the proxy (%j) has a verdict of its own, and is retried', async (said, verdict, evidence, fixedby) => {
  answer = (socket) => void socket.end(said);
  const sink = registry.receiver.sink(`/${evidence}`, 'outside.hooks.test');
  const { id, status, statusdetails } = await tenant.register(sink);
  answer = undefined;
  expect([status, statusdetails.code, statusdetails.fixedby]).toEqual(['pending', verdict, fixedby]);
  const [seen] = await tenant.handshakes(id, tenant.admin);
  expect([seen.state, seen.attempts[0].verdict, seen.attempts[0].evidence]).toEqual(['due', verdict, evidence]);
  expect(JSON.stringify(await tenant.handshakes(id))).not.toContain(`"${evidence}"`);
  expect(registry.logs.find((line) => line.includes(seen.id))).toContain(`"evidence":"${evidence}"`);
});

test('the log names the proxy, and neither it nor a response has its credentials', async () => {
  const basic = Buffer.from(`assent:${secret}`).toString('base64');
  expect(proxy.heads[0]).toContain(`Proxy-Authorization: Basic ${basic}`);
  const logs = registry.logs.join('');
  expect(logs).toContain(`"proxy":"http://127.0.0.1:${proxy.port}"`);
  const { text } = await tenant.admin.get('/v1/subscriptions').expect(200);
  for (const told of [logs, text]) {
    expect(told).not.toContain(secret);
    expect(told).not.toContain(basic);
  }
});
