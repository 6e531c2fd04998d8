import { afterAll, beforeAll, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { newSigningKey, signed, startJwksServer, type JwksServer, type SigningKey } from '../../support/jwks-server.js';
import { startRegistry, type Registry } from '../../support/registry.js';

const [ours, theirs] = ['https://login.gemeente.example', 'https://login.partner.example'];
const origin = 'eventemitter.example.com';
let key: SigningKey;
let issuer: JwksServer;
let registry: Registry;

beforeAll(async () => {
  key = await newSigningKey('one');
  issuer = await startJwksServer();
  issuer.publishes(key.publicJwk);
  const entry = { audience: 'assent', jwks: issuer.url, tenant: 'gemeente', algorithms: ['ES256'] };
  const issuers = [
    { ...entry, issuer: ours },
    { ...entry, issuer: theirs, clientprefix: 'partner:' },
  ];
  registry = await startRegistry({ start: false, env: { ASSENT_ISSUERS: JSON.stringify(issuers) } });
  const admin = await registry.as('assent:admin');
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
});
afterAll(async () => {
  await registry.stop();
  await issuer.stop();
});

/** The same client, as each issuer names it. */
async function clientOf(iss: string, claims: object = {}) {
  const now = Math.floor(Date.now() / 1_000);
  const named = { client_id: 'zaaksysteem', sub: 'zaaksysteem', scope: 'assent:subscribe', ...claims };
  const token = await signed(key, { iss, aud: 'assent', iat: now, exp: now + 600, ...named });
  return supertest.agent(registry.service.listener).set('Authorization', `Bearer ${token}`);
}

test('with a prefix, the clients of two issuers of one tenant are two owners; each audit record names the issuer', async () => {
  const [own, other] = [await clientOf(ours), await clientOf(theirs)];
  expect((await own.get('/v1/whoami')).body).toMatchObject({ client: 'zaaksysteem', subscriber: 'zaaksysteem' });
  expect((await other.get('/v1/whoami')).body).toMatchObject({
    client: 'partner:zaaksysteem',
    subscriber: 'partner:zaaksysteem',
    scopes: ['assent:subscribe'],
  });
  const sink = registry.receiver.sink('/same-client');
  const made = await own.post('/v1/subscriptions').send({ sink, protocol: 'HTTP', origin }).expect(201);
  await other.get(`/v1/subscriptions/${made.body.id}`).expect(404);
  expect((await other.get('/v1/subscriptions')).body).toEqual([]);
  await other.post('/v1/subscriptions').send({ sink, protocol: 'HTTP', origin }).expect(201);

  const admin = await registry.as('assent:admin');
  const entries = (await admin.get('/v1/audit?action=subscription.created').expect(200)).body as object[];
  expect(entries).toMatchObject([
    { actor: 'partner:zaaksysteem', subscriber: 'partner:zaaksysteem', issuer: theirs },
    { actor: 'zaaksysteem', subscriber: 'zaaksysteem', issuer: ours },
  ]);
  const csv = await admin.get('/v1/audit?action=subscription.created').set('Accept', 'text/csv').expect(200);
  expect(csv.text).toContain(`,zaaksysteem,,,${ours},subscription.created,`);
});

test('a prefix makes no name longer than a name may be, and a program stays a program', async () => {
  const long = await clientOf(theirs, { client_id: 'z'.repeat(195), sub: 'z'.repeat(195) });
  expect((await long.get('/v1/whoami').expect(401)).body.faults).toMatchObject([{ rule: 'token_client_id' }]);
  expect((await (await clientOf(theirs)).get('/v1/whoami')).body).not.toHaveProperty('person');
  const person = await clientOf(theirs, { sub: 'ans' });
  expect((await person.get('/v1/whoami')).body).toMatchObject({ client: 'partner:zaaksysteem', person: { id: 'ans' } });
});
