import { afterAll, beforeAll, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { createAuditReader } from '../../../src/registry/changes/read-audit.js';
import { countBuffers } from '../../support/buffers.js';
import { newSigningKey, signed, startJwksServer, type JwksServer, type SigningKey } from '../../support/jwks-server.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

const origin = 'eventemitter.example.com';
const reason = 'Because of a test.';
const ans = { id: 'u-1', name: 'Ans de Vries' };
const bob = { id: 'u-2', name: 'Bob Smit' };

let issuer: JwksServer;
let key: SigningKey;
let registry: Registry;
/** Both sign in to the same client, as everyone who uses the console does. */
let ansAsAdmin: Client;
let bobAsAdmin: Client;
let ansOfTeam: Client;
/** The program of the same team. */
let mailroom: Client;
let sender: Client;

async function as(scope: string, client: string, person: { id: string; name?: string } | undefined, team?: string) {
  const now = Math.floor(Date.now() / 1_000);
  const times = { iss: 'https://login.example.com', aud: 'assent', iat: now, exp: now + 3_000 };
  const who = { tenant: 'gemeente', client_id: client, sub: person?.id ?? client, name: person?.name, team, scope };
  return supertest.agent(registry.url).set('Authorization', `Bearer ${await signed(key, { ...times, ...who })}`);
}

beforeAll(async () => {
  [issuer, key] = await Promise.all([startJwksServer(), newSigningKey('one')]);
  issuer.publishes(key.publicJwk);
  const entry = { issuer: 'https://login.example.com', audience: 'assent', jwks: issuer.url };
  const teams = { ...entry, subscriberclaims: ['team', 'client_id'] };
  registry = await startRegistry({ env: { ASSENT_ISSUERS: JSON.stringify([teams]) } });
  ansAsAdmin = await as('assent:admin', 'assent-console', ans);
  bobAsAdmin = await as('assent:admin', 'assent-console', bob);
  ansOfTeam = await as('assent:subscribe', 'assent-console', ans, 'burgerzaken');
  mailroom = await as('assent:subscribe', 'mailroom', undefined, 'burgerzaken');
  sender = await as('assent:deliver', 'sender', undefined);
  await ansAsAdmin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
});
afterAll(async () => {
  await registry?.stop();
  await issuer?.stop();
});

let paths = 0;
async function register(client: Client) {
  const path = `/p${(paths += 1)}`;
  registry.receiver.consent(path);
  const { body } = await client
    .post('/v1/subscriptions')
    .send({ sink: registry.receiver.sink(path), protocol: 'HTTP' })
    .expect(201);
  return { ...body, path: `/v1/subscriptions/${body.id}` };
}

const audit = async (query: object) => (await bobAsAdmin.get('/v1/audit').query(query).expect(200)).body;

test('two people who use one client are told apart in the audit record, in pages and in exports', async () => {
  await bobAsAdmin.post('/v1/origins').send({ name: 'bob.example.com' }).expect(201);
  const created = { action: 'origin.created', actor: 'assent-console' };
  expect(await audit({ target: 'origin:bob.example.com' })).toMatchObject([{ ...created, person: bob }]);
  expect(await audit({ target: `origin:${origin}` })).toMatchObject([{ ...created, person: ans }]);
  const csv = await bobAsAdmin.get('/v1/audit').query({ person: 'u-2' }).set('Accept', 'text/csv').expect(200);
  expect(csv.text).toContain(
    ',assent-console,u-2,Bob Smit,https://login.example.com,origin.created,origin:bob.example.com,',
  );
});

test('the audit record finds a person by id and by name, beside every other filter', async () => {
  // The same name, and another person.
  const other = await as('assent:admin', 'assent-console', { id: 'u-3', name: ans.name });
  await other.post('/v1/origins').send({ name: 'other.example.com' }).expect(201);
  const targets = async (query: object) =>
    (await audit(query))
      .map(({ target }: { target: string }) => target)
      .filter((each: string) => each.startsWith('origin'));
  expect(await targets({ person: 'u-1' })).toEqual([`origin:${origin}`]);
  expect(await targets({ person: ans.name })).toEqual(['origin:other.example.com', `origin:${origin}`]);
  expect(await targets({ person: ans.name, target: `origin:${origin}` })).toEqual([`origin:${origin}`]);
  expect(await targets({ person: ans.name, action: 'origin.', actor: 'assent-console' })).toHaveLength(2);
  expect(await targets({ person: ans.name, action: 'origin.removed' })).toEqual([]);
  expect(await targets({ person: 'Ans' })).toEqual([]);
  const auditor = await as('assent:audit', 'auditor', undefined);
  const everywhere = await auditor.get('/v1/audit').query({ person: ans.name, action: 'origin.created' }).expect(200);
  expect(everywhere.body.map(({ person }: { person: object }) => person)).toEqual([{ id: 'u-3', name: ans.name }, ans]);
});

test('what people did is found without what programs and Assent did, however much that is', async () => {
  const { path } = await register(mailroom);
  await ansOfTeam.post(`${path}/suspend`).send({ reason }).expect(200);
  const found = await audit({ people: true, limit: 200 });
  expect(found.filter(({ person }: { person?: object }) => person === undefined)).toEqual([]);
  expect(found[0]).toMatchObject({ action: 'subscription.suspended', person: ans });
  const whole = await audit({ limit: 200, action: 'subscription.created', actor: 'mailroom' });
  expect(whole.length).toBeGreaterThan(0);
  expect(await audit({ people: true, action: 'subscription.created', actor: 'mailroom' })).toEqual([]);

  const buffers = await countBuffers(registry.env['DATABASE_URL']);
  try {
    const reader = createAuditReader({ sql: buffers.sql });
    const touched = async (each: number) => {
      await registry.sql(
        `insert into audit (id, at, tenant, actor, person, action, target, subscriber)
         select gen_random_uuid(), now() - ago, 'drukte', 'assent-console', person || n % 9, 'subscription.created', 's:' || n, 'burgerzaken'
         from generate_series(1, ${each}) n, (values ('u-', interval '1 day'), (null, '0')) who (person, ago)`,
      );
      await buffers.execute('vacuum analyze audit');
      const pages = [{}, { action: 'subscription.' }, { actor: 'assent-console' }, { subscriber: 'burgerzaken' }];
      const touchedBy = pages.map(
        (filter) => () => reader.read({ tenants: ['drukte'], people: true, ...filter }, undefined, 50),
      );
      let sum = 0;
      for (const read of touchedBy) sum += await buffers.of(read);
      return sum;
    };
    const few = await touched(5_000);
    expect(await touched(15_000)).toBeLessThan(1.5 * few);
  } finally {
    await buffers.end();
  }
});

test('the team owns what one of its people or programs registers; a program has no person', async () => {
  const [byAns, byProgram] = [await register(ansOfTeam), await register(mailroom)];
  expect([byAns.subscriber, byProgram.subscriber]).toEqual(['burgerzaken', 'burgerzaken']);
  await mailroom.get(byAns.path).expect(200);
  await ansOfTeam.get(byProgram.path).expect(200);
  const [ofAns] = await audit({ target: `subscription:${byAns.id}`, action: 'subscription.created' });
  expect(ofAns).toMatchObject({ actor: 'assent-console', person: ans, subscriber: 'burgerzaken' });
  const [ofProgram] = await audit({ target: `subscription:${byProgram.id}`, action: 'subscription.created' });
  expect(ofProgram).toMatchObject({ actor: 'mailroom', subscriber: 'burgerzaken' });
  expect(ofProgram).not.toHaveProperty('person');
});

test('a repeated request is one of the team, whoever of it sends it', async () => {
  const path = '/repeated';
  registry.receiver.consent(path);
  const send = (client: Client) =>
    client
      .post('/v1/subscriptions')
      .set('Idempotency-Key', 'of-the-team')
      .send({ sink: registry.receiver.sink(path), protocol: 'HTTP' })
      .expect(201);
  expect((await send(mailroom)).body.id).toBe((await send(ansOfTeam)).body.id);
});

test('a suspension says which person it was; subscribers do not see which one of the admins', async () => {
  const { path } = await register(mailroom);
  const suspension = async (client: Client) => (await client.get(path).expect(200)).body.suspension;
  await ansOfTeam.post(`${path}/suspend`).send({ reason }).expect(200);
  expect(await suspension(mailroom)).toMatchObject({ by: 'subscriber', person: ans });
  await bobAsAdmin.post(`${path}/suspend`).send({ reason }).expect(200);
  expect(await suspension(ansAsAdmin)).toMatchObject({ by: 'admin', person: bob });
  expect(await suspension(mailroom)).toEqual({ at: expect.any(String), by: 'admin', reason });
  // It stays the admin's.
  await ansOfTeam.post(`${path}/suspend`).send({ reason }).expect(200);
  expect(await suspension(ansAsAdmin)).toMatchObject({ by: 'admin', person: bob });
  await bobAsAdmin.post(`${path}/resume`).send({ reason }).expect(200);
  await mailroom.post(`${path}/suspend`).send({ reason }).expect(200);
  expect(await suspension(ansAsAdmin)).toEqual({ at: expect.any(String), by: 'subscriber', reason });
});

test('a block and an agreement say which person made them; senders do not see it', async () => {
  const block = { kind: 'host', value: 'stopped.example.com', reason };
  const { body: created } = await ansAsAdmin.post('/v1/blocks').send(block).expect(201);
  expect(created).toMatchObject({ createdby: 'assent-console', createdbyperson: ans });
  expect((await bobAsAdmin.get(`/v1/blocks/${created.id}`).expect(200)).body).toMatchObject({ createdbyperson: ans });

  const agreement = { origin, sink: registry.receiver.sink('/agreed'), allowedrate: 60, agreement: '2026-1' };
  const expiresat = new Date(Date.now() + 86_400_000).toISOString();
  const { body: grant } = await ansAsAdmin
    .post('/v1/grants')
    .send({ ...agreement, expiresat })
    .expect(201);
  expect(grant).toMatchObject({ recordedby: 'assent-console', recordedbyperson: ans });
  const { body: revoked } = await bobAsAdmin.post(`/v1/grants/${grant.id}/revoke`).send({ reason }).expect(200);
  expect(revoked).toMatchObject({ recordedbyperson: ans, endedby: 'assent-console', endedbyperson: bob });
  const seen = (await sender.get(`/v1/grants/${grant.id}`).expect(200)).body;
  expect(seen).toMatchObject({ recordedby: 'assent-console' });
  expect(JSON.stringify(seen)).not.toMatch(/person|u-1|Ans/);
  const again = await ansAsAdmin
    .post('/v1/grants')
    .send({ ...agreement, expiresat })
    .expect(201);
  expect(again.body).not.toHaveProperty('endedbyperson');
});

test('/whoami returns what the registry reads in a token, whatever its scope', async () => {
  const { body } = await ansOfTeam.get('/v1/whoami').expect(200);
  expect(body).toEqual({
    ...{ tenant: 'gemeente', subscriber: 'burgerzaken', client: 'assent-console', person: ans },
    ...{ scopes: ['assent:subscribe'], expiresat: expect.stringMatching(/Z$/) },
  });
  expect((await mailroom.get('/v1/whoami').expect(200)).body).not.toHaveProperty('person');
});

test('no person is in the log', () => {
  expect(registry.logs.join()).toContain('assent-console');
  expect(registry.logs.join()).not.toMatch(/Ans de Vries|Bob Smit|u-1"/);
});
