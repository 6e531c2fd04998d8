import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import supertest from 'supertest';
import { createSender, type Sender } from '../../../src/kits/sender/index.js';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { createAuthority } from '../../support/certificates.js';
import { sha256, startEgress, type RunningEgress } from '../../support/egress.js';
import { passDelays, reachRenewal } from '../../support/pass-time.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

// A registry whose database was filled by another key. Nothing that needs a secret may go on as if there were none.

const key = (id: string) => `${id}:${randomBytes(32).toString('base64url')}`;
const [right, wrong] = [key('right'), key('wrong')];
const withCertificate = 'shown.example.com';
const scopes = ['assent:deliver', 'assent:credentials', 'assent:sign', 'assent:admin'] as const;
const secretOfCaller = 'the-secret-of-the-shop';

/** What fills the database, with the right key. */
let first: Registry;
/** Of the process that lacks the key, and later of one that has both. */
let registry: Registry;
let tenant: Tenant;
let client: Client;
let sender: Sender;
let egress: RunningEgress;
/** Bodies of responses are checked against the contract. */
const ids: Record<string, string> = {};
const paths = ['plain', 'credential', 'secret', 'certificate'] as const;
const sinkOf = (path: string) => first.receiver.sink(`/${path}`);
const originOf = (path: string) => (path === 'certificate' ? withCertificate : tenant.origin);
const posted = () => first.receiver.asked.filter(({ method }) => method === 'POST');
const eventOf = (path: string) => ({ specversion: '1.0', id: '1', source: 'urn:example:a', type: path });
const match = (path: string, query = {}) =>
  client
    .post('/v1/match')
    .query({ origin: originOf(path), ...query })
    .type('application/cloudevents+json')
    .send(JSON.stringify(eventOf(path)));
const settingsOf = (path: string) =>
  client.get('/v1/deliveries/settings').query({ origin: originOf(path), sink: sinkOf(path) });

beforeAll(async () => {
  first = await startRegistry({ env: { ASSENT_CREDENTIAL_KEYS: right, ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  tenant = await createTenant(first);
  const policy = { name: withCertificate, signatures: 'off', callback: 'never' };
  await tenant.admin.post('/v1/origins').send(policy).expect(201);
  const [made] = (await tenant.admin.get(`/v1/origins/${withCertificate}/keys`).expect(200)).body;
  await tenant.admin.post(`/v1/origins/${withCertificate}/keys/${made.id}/revoke`).expect(200);
  const { cert: certificate, key: privatekey } = await (await createAuthority()).issueClient(withCertificate);
  const shown = { certificate, privatekey };
  await tenant.admin.put(`/v1/origins/${withCertificate}/client-certificate`).send(shown).expect(200);
  await first.sql('update origin set verifiedby = $1 where name = $2', 'dns', tenant.origin);
  const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'planted' };
  const signingsecret = { secret: `whsec_${randomBytes(32).toString('base64')}` };
  const more: Record<string, object> = { credential: { sinkcredential }, secret: { signingsecret } };
  for (const path of paths) {
    first.receiver.consent(`/${path}`, { rate: '*' });
    const request = { origin: originOf(path), types: [path], ...more[path] };
    ids[path] = (await tenant.register(sinkOf(path), request)).id;
  }
  const { id } = await tenant.grant(sinkOf('plain'));
  ids['grant'] = id;
  await tenant.sender.get(`/v1/grants/${id}`).set('Accept', 'application/jwt').expect(200);
  await first.stopService();
  await startWith(`${wrong},right:lost`);
});
afterAll(async () => {
  await sender.close();
  await egress.stop();
  await registry.stop();
  await first.stop();
});

async function startWith(keys: string): Promise<void> {
  registry = await startRegistry({ beside: first, env: { ASSENT_CREDENTIAL_KEYS: keys } });
  client = await registry.as([...scopes], { subscriber: 'mailroom' });
  const who = { tenant: 'gemeente', subscriber: 'mailroom', scopes: [...scopes], minutes: 60 };
  const token = () => createToken(who, registry.env);
  const { receiver, url } = registry;
  const guard = { allowedNetworks: ['127.0.0.1/32'], sinkPorts: [receiver.port], sinkCa: receiver.ca };
  sender = await createSender({ registry: url, token, guard });
  await sender.ready(0);
  const origins = [tenant.origin, withCertificate];
  egress = await startEgress(registry, { callers: [{ name: 'shop', origins, secret: sha256(secretOfCaller) }] });
  await until(async () => (await fetch(`${egress.operationsUrl}/readyz`)).ok);
}
const forward = (path: string) =>
  egress.post(sinkOf(path), { secret: secretOfCaller, headers: { 'WebHook-Request-Origin': originOf(path) } });
async function metrics(): Promise<Record<string, number>> {
  const text = await (await fetch(`${registry.operationsUrl}/metrics`)).text();
  const found = text.matchAll(/^assent_secrets\{kind="(\w+)",key="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, kind, by, count]) => [`${kind} ${by}`, Number(count)]));
}

describe('a process that lacks the key of a secret', () => {
  test.each<[kind: string, ask: () => supertest.Test]>([
    ['private keys of an origin', () => client.get(`/v1/origins/${tenant.origin}/private-keys`)],
    ['a client certificate', () => client.get(`/v1/origins/${withCertificate}/private-keys`)],
    ['the credential of a sink', () => settingsOf('credential')],
    ['the signing secret of a sink', () => settingsOf('secret')],
    ['the key that signs grants', () => client.get(`/v1/grants/${ids['grant']}`).set('Accept', 'application/jwt')],
    ['the key that signs grants, for a match', () => match('plain', { grantTokens: true })],
    [
      'the keys that sign a directory',
      () => supertest(registry.url).get('/.well-known/http-message-signatures-directory').set('Host', tenant.origin),
    ],
  ])('answers 503 secret_unavailable for %s, and nothing that looks like none', async (_kind, ask) => {
    const { body } = await ask().expect(503).expect('Retry-After', '60');
    expect(body).toMatchObject({ code: 'secret_unavailable' });
    expect(body).not.toHaveProperty('keys');
  });

  test.each(['credential', 'secret'])('withholds the webhook with a %s from a match', async (path) => {
    const { body } = await match(path).expect(200);
    expect(body).toMatchObject({ sinks: [], withheld: [{ sink: sinkOf(path) }] });
  });

  test.each(paths)('has kit and egress withhold a delivery (%s), and say that it may be sent later', async (path) => {
    const before = posted().length;
    const found = await sender.matchWithCredentials(eventOf(path), { origin: originOf(path) });
    const [result] = await sender.deliver(eventOf(path), found, { attempts: 1 });
    expect(result).toMatchObject({ outcome: 'withheld', code: 'secret_unavailable', attempts: 0 });
    const { status, code, headers } = await forward(path);
    expect([status, code, Number(headers['retry-after']) > 0]).toEqual([503, 'secret_unavailable', true]);
    expect(posted()).toHaveLength(before);
  });

  test.each(['plain', 'certificate'])(
    'sends no handshake without what it should have (%s); it waits, nobody has refused, and no lease ends',
    async (path) => {
      const asked = first.receiver.asked.length;
      const fresh = { sink: sinkOf(`new-${path}`), origin: originOf(path), types: ['none'], protocol: 'HTTP' };
      first.receiver.consent(`/new-${path}`);
      const consumer = await registry.as('assent:subscribe');
      const created = await consumer.post('/v1/subscriptions').set('Prefer', 'wait=1').send(fresh).expect(201);
      ids[`new-${path}`] = created.body.id;
      const dry = { ...fresh, sink: sinkOf(`dry-${path}`) };
      const dryRun = await consumer.post('/v1/subscriptions?dryrun=true&ask=true').send(dry).expect(200);
      for (const { body } of [created, dryRun]) {
        expect(body).toMatchObject({ status: 'pending', statusdetails: { code: 'secret_unavailable' } });
        expect(Date.parse(body.statusdetails.nextat)).toBeGreaterThan(Date.now());
      }
      // A renewal is asked by itself.
      await reachRenewal(registry, sinkOf(path));
      await registry.service.sweep();
      await registry.service.worker.drain();
      const handshakes = (await consumer.get(`/v1/subscriptions/${ids[path]}/handshakes`).expect(200)).body;
      expect(handshakes[0]).toMatchObject({ trigger: 'renewal', state: 'due', verdict: 'secret_unavailable' });
      const { body } = await consumer.get(`/v1/subscriptions/${ids[path]}`).expect(200);
      expect(body.status).toBe('active');
      expect(first.receiver.asked).toHaveLength(asked);
    },
  );

  test('is ready with a warning that says which kinds and how many, in the metrics and the log, too', async () => {
    const { body } = await supertest(registry.operationsUrl).get('/readyz').expect(200);
    const counts = ['1 sink credentials', '1 signing secrets', '1 private keys of origins'];
    const others = ['1 keys of client certificates', 'and 1 keys that sign grants'];
    const expected = `No key in ASSENT_CREDENTIAL_KEYS decrypts ${[...counts, ...others].join(', ')}`;
    expect(body).toMatchObject({ status: 'ready', warnings: [expect.stringContaining(expected)] });
    expect(await metrics()).toMatchObject({
      'origin_key missing': 1,
      'origin_key current': 0,
      'registry_key missing': 1,
    });
    const logged = registry.logs.map((line) => JSON.parse(line) as { msg: string; owner?: string; keys?: string[] });
    expect(logged.find(({ msg }) => msg.includes(expected))?.keys).toEqual(['right']);
    const owners = logged.filter(({ msg }) => msg === 'no key decrypts this secret').map(({ owner }) => owner);
    expect(owners.filter((owner) => owner === `subscription:${ids['credential']}`)).toHaveLength(1);
  });

  test('does not start at all, unless the operator says that the key is lost', async () => {
    await sender.close();
    await egress.stop();
    await registry.stopService();
    await expect(startRegistry({ beside: first, env: { ASSENT_CREDENTIAL_KEYS: wrong } })).rejects.toThrow(
      /^ASSENT_CREDENTIAL_KEYS: no key here decrypts a secret .* Add the key "right"/,
    );
  });
});

test('with the key again, everything goes on where it waited, and the warning is gone', async () => {
  await startWith(`${wrong},${right}`);
  await client.get(`/v1/origins/${tenant.origin}/private-keys`).expect(200);
  await passDelays(registry);
  await registry.service.worker.drain();
  const consumer = await registry.as('assent:subscribe');
  for (const path of ['new-plain', 'new-certificate', ...paths]) {
    const { body } = await consumer.get(`/v1/subscriptions/${ids[path]}`).expect(200);
    expect([path, body.status, body.statusdetails.code]).toEqual([path, 'active', 'granted']);
  }
  for (const path of paths) {
    const found = await sender.matchWithCredentials(eventOf(path), { origin: originOf(path) });
    expect(await sender.deliver(eventOf(path), found)).toMatchObject([{ outcome: 'delivered' }]);
    expect((await forward(path)).code).toBe('delivered');
  }
  const ofPlain = posted().filter(({ path }) => path === '/plain');
  expect(ofPlain.map(({ headers }) => headers['signature'] !== undefined)).toEqual([true, true]);
  const { body } = await supertest(registry.operationsUrl).get('/readyz').expect(200);
  expect(body).not.toHaveProperty('warnings');
  expect(await metrics()).toMatchObject({ 'origin_key missing': 0, 'origin_key older': 1 });
});
