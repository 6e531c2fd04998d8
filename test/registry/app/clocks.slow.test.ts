import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { startRegistryProcess, type RunningRegistry } from '../../support/process.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { startAhead } from '../../support/turn-clock.js';

/** A process whose clock is minutes ahead, next to one whose clock is right. */

let registry: Registry;
let ahead: RunningRegistry;
let tenant: Tenant;
let sink: string;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  registry.receiver.consent('/events');
  sink = registry.receiver.sink('/events');
  ahead = await startRegistryProcess({ env: { ...registry.env, NODE_OPTIONS: startAhead(240_000) } });
});
afterAll(async () => {
  ahead.child.kill('SIGKILL');
  await ahead.ended;
  await registry.stop();
});

async function ask(method: string, path: string, body?: object, type = 'application/json') {
  const scopes = ['assent:admin', 'assent:subscribe', 'assent:deliver'] as const;
  const who = { tenant: 'gemeente', subscriber: 'zaaksysteem', scopes: [...scopes], minutes: 30 };
  const headers = { Authorization: `Bearer ${await createToken(who, registry.env)}`, 'Content-Type': type };
  const answer = await fetch(`${ahead.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: (await answer.json()) as { updatedat: string } };
}
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const secondsUntil = (time: string) => (Date.parse(time) - Date.now()) / 1_000;

test('a hold lasts as long as the webhook asked for, whichever process records it', async () => {
  await tenant.register(sink);
  const outcome = { origin: tenant.origin, sink, statuscode: 429, retryafter: '60', at: inMs(0) };
  expect((await ask('POST', '/v1/deliveries/outcomes', [outcome])).body).toEqual([{ accepted: true }]);
  const { body } = await tenant.admin.get('/v1/grants').query({ sink }).expect(200);
  expect(secondsUntil(body[0].helduntil)).toBeGreaterThan(50);
});

test('an agreement that ends in minutes can be recorded by any process', async () => {
  const agreement = { origin: tenant.origin, allowedrate: 5, agreement: 'A-1', expiresat: inMs(120_000) };
  const { status } = await ask('POST', '/v1/grants', { ...agreement, sink: registry.receiver.sink('/agreed') });
  expect(status).toBe(201);
});

test('the time of a change is the database time, whichever process makes it', async () => {
  const patch = 'application/merge-patch+json';
  const { id } = await tenant.register(sink);
  const subscription = await ask('PATCH', `/v1/subscriptions/${id}`, { types: ['com.example.a'] }, patch);
  const origin = await ask('PATCH', `/v1/origins/${tenant.origin}`, { defaultrate: 7 }, patch);
  for (const { status, body } of [subscription, origin]) {
    expect([status, Math.round(secondsUntil(body.updatedat) / 60)]).toEqual([200, expect.closeTo(0)]);
  }
});

test('every process reports a handshake in progress as in progress', async () => {
  let answer = () => {};
  const isAsked = new Promise<void>((resolve) => {
    registry.receiver.on('/held', (_request, response) => {
      answer = () => response.writeHead(404).end();
      resolve();
    });
  });
  const { id } = await tenant.register(registry.receiver.sink('/held'), {}, 'respond-async');
  await isAsked;
  const { body } = await ask('GET', `/v1/subscriptions/${id}/handshakes`);
  answer();
  const [handshake] = body as unknown as Array<{ attempts: object[] }>;
  expect(handshake).toMatchObject({ state: 'asking', attempts: [{ number: 1 }] });
  expect(handshake?.attempts[0]).not.toHaveProperty('verdict');
});
