import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import supertest from 'supertest';
import { createSender, type Sender } from '../../../src/kits/sender/index.js';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { startRegistryProcess, untilReady, type RunningRegistry } from '../../support/process.js';
import { isServer, startRegistry, type Registry } from '../../support/registry.js';
import { createTenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

// Two processes at once need a server.
const onServer = isServer() ? test : test.skip;
const key = (id: string) => `${id}:${randomBytes(32).toString('base64url')}`;
const [before, after] = [key('2025'), key('2026')];
/** The database, the webhooks and the clients. Its own process ends before the others start. */
let registry: Registry;
const running: RunningRegistry[] = [];
const senders: Sender[] = [];

beforeAll(async () => {
  registry = await startRegistry({ env: { ASSENT_CREDENTIAL_KEYS: before, ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  // Its default origin has a key.
  await createTenant(registry);
  await registry.stopService();
});
afterAll(async () => {
  await Promise.all(senders.map((sender) => sender.close()));
  await Promise.all(running.map((each) => end(each)));
  await registry.stop();
});

async function start(...keys: string[]): Promise<RunningRegistry> {
  const env = { ...registry.env, ASSENT_CREDENTIAL_KEYS: keys.join() };
  const program = await startRegistryProcess({ env });
  running.push(program);
  await untilReady(program.operationsUrl);
  return program;
}
async function end({ child, ended }: RunningRegistry): Promise<void> {
  child.kill('SIGTERM');
  await ended;
}
const tokenOf = (scopes: Array<'assent:admin' | 'assent:subscribe' | 'assent:deliver' | 'assent:sign'>) =>
  createToken({ tenant: 'gemeente', subscriber: 'zaaksysteem', scopes, minutes: 60 }, registry.env);
async function at({ url }: RunningRegistry) {
  return supertest.agent(url).set('Authorization', `Bearer ${await tokenOf(['assent:admin', 'assent:subscribe'])}`);
}
async function senderAt({ url }: RunningRegistry): Promise<Sender> {
  const { receiver } = registry;
  const guard = { allowedNetworks: ['127.0.0.1/32'], sinkPorts: [receiver.port], sinkCa: receiver.ca };
  const sender = await createSender({ registry: url, token: () => tokenOf(['assent:deliver', 'assent:sign']), guard });
  senders.push(sender);
  await sender.ready(0);
  return sender;
}
const warningsOf = async ({ operationsUrl }: RunningRegistry): Promise<string[]> =>
  ((await (await fetch(`${operationsUrl}/readyz`)).json()) as { warnings?: string[] }).warnings ?? [];

onServer(
  'a key that encrypts before all processes have it: the other process sends nothing unsigned, loses nothing, and goes on once it has it',
  async () => {
    const old = await start(before);
    // The second step of a rotation before the first one.
    const both = await start(after, before);
    const origin = 'rotated.example.com';
    const newer = await at(both);
    await newer.post('/v1/origins').send({ name: origin }).expect(201);
    const sink = registry.receiver.sink('/rotated');
    registry.receiver.consent('/rotated', { rate: '*' });
    const request = { sink, origin, types: ['a'], protocol: 'HTTP' };
    const posted = () => registry.receiver.asked.filter(({ path }) => path === '/rotated');

    // The process with both keys may ask the webhook; the one with the old key may not.
    const subscribed = await newer.post('/v1/subscriptions').set('Prefer', 'wait=10').send(request).expect(201);
    await until(async () => {
      await newer.post(`/v1/subscriptions/${subscribed.body.id}/handshakes`).set('Prefer', 'wait=2');
      return (await newer.get(`/v1/subscriptions/${subscribed.body.id}`)).body.status === 'active';
    });
    const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'a' };
    const stuck = await senderAt(old);
    const found = stuck.match(event, { origin });
    expect(found.sinks).toHaveLength(1);
    const waiting = await stuck.deliver(event, found, { attempts: 1 });
    expect(waiting).toMatchObject([{ outcome: 'withheld', code: 'secret_unavailable', attempts: 0 }]);
    const refused = await supertest(old.url)
      .get(`/v1/origins/${origin}/private-keys`)
      .set('Authorization', `Bearer ${await tokenOf(['assent:deliver', 'assent:sign'])}`);
    expect([refused.status, refused.body.code]).toEqual([503, 'secret_unavailable']);
    expect(old.stdout).toContain('"owner":"origin_key:');

    // The old key is removed too early: a process with only the new one starts, and says what it lacks.
    await end(both);
    const early = await start(after);
    expect(await warningsOf(early)).toEqual([expect.stringContaining('private keys of origins')]);
    expect(early.stdout).toContain('"keys":["2025"]');
    await end(early);
    await end(old);

    // The right step, late: every process has both.
    const mended = await start(before, after);
    expect(await warningsOf(mended)).toEqual([]);
    const sender = await senderAt(mended);
    expect(await sender.deliver(event, sender.match(event, { origin }))).toMatchObject([{ outcome: 'delivered' }]);
    const again = await (await at(mended)).get(`/v1/subscriptions/${subscribed.body.id}`).expect(200);
    expect(again.body.status).toBe('active');
    expect(posted().map(({ headers }) => headers['signature'] !== undefined)).not.toContain(false);
    expect(posted().filter(({ method }) => method === 'POST')).toHaveLength(1);
  },
);

onServer('a process with no key of the database does not start, and names the key that it needs', async () => {
  const started = start(key('2027'));
  await expect(started).rejects.toThrow(/it ended with 1: .*no key here decrypts a secret[^]*"2025"/);
});
