import { connect, type Socket } from 'node:net';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { markOf } from '../../../src/registry/origins/check-proof.js';
import { thumbprintOf } from '../../../src/signatures/keys.js';
import { startEgressProxy, type EgressProxy } from '../../support/egress-proxy.js';
import { forbidden } from '../../support/hostile-addresses.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

/**
 * Whether the owner of a name publishes a key of an origin: real DNS, and a real web server behind a proxy, because names are
 * asked at port 443 only.
 */
let registry: Registry;
let admin: Client;
let subscriber: Client;
let proxy: EgressProxy;
let web: Server;
/** The host of each request for a directory. */
const asked: string[] = [];
type Serve = (response: ServerResponse, request: IncomingMessage) => unknown;
const directories = new Map<string, Serve>();

beforeAll(async () => {
  const toWeb = (socket: Socket) => {
    const target = connect((web.address() as AddressInfo).port, '127.0.0.1');
    target.on('error', () => socket.destroy()).once('close', () => socket.destroy());
    socket.once('close', () => target.destroy());
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(target).pipe(socket);
  };
  proxy = await startEgressProxy({ intercept: () => toWeb });
  registry = await startRegistry({
    start: false,
    env: {
      ASSENT_EGRESS_PROXY: `http://127.0.0.1:${proxy.port}`,
      ASSENT_EGRESS_NO_PROXY: '127.0.0.0/8',
      ASSENT_HANDSHAKE_DEADLINE_MS: '1000',
    },
  });
  web = createServer({ ...registry.receiver.certificate }, (request, response) => {
    const { host = '' } = request.headers;
    asked.push(host);
    const serve = directories.get(host);
    if (request.url === '/.well-known/http-message-signatures-directory' && serve) serve(response, request);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  registry.dns.fallback = (name) =>
    name.endsWith('.hooks.test') && !name.startsWith('_') ? ['93.184.216.34'] : undefined;
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  subscriber = await registry.as('assent:subscribe');
});
afterAll(async () => {
  await registry.stop();
  web.closeAllConnections();
  web.close();
  await proxy.stop();
});

let count = 0;
const newName = () => `sender-${(count += 1)}.hooks.test`;

/** An origin, with the key that the registry made for it. */
async function newOrigin(name = newName(), client = admin) {
  const { body } = await client.post('/v1/origins').send({ name }).expect(201);
  const keyid = String(/keyid=([^"]+)"$/.exec(body.verification.record)?.[1]);
  const [{ x }] = (await registry.sql<{ x: string }>(
    `select publickey ->> 'x' as x from origin_key where origin = $1`,
    name,
  )) as [{ x: string }];
  return { name, keyid, jwk: { kty: 'OKP', crv: 'Ed25519', x, kid: keyid } };
}
/** A public key, which nobody has the private part of. */
async function newKey() {
  const x = Buffer.from(Array.from({ length: 32 }, () => Math.floor(Math.random() * 256))).toString('base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid: await thumbprintOf({ kty: 'OKP', crv: 'Ed25519', x }) } as const;
}
const verify = async (name: string, client = admin) =>
  (await client.post(`/v1/origins/${name}/verify`).expect(200)).body.verification;
const read = async (name: string, client = admin) =>
  (await client.get(`/v1/origins/${name}`).expect(200)).body.verification;
const publish = (name: string, ...texts: string[]) => void (registry.dns.zone[`_assent.${name}`] = texts);
const serve = (name: string, ...keys: unknown[]) =>
  void directories.set(name, (response) => response.writeHead(200).end(JSON.stringify({ keys })));
/** The daily check of an origin. */
async function passDay(name: string, days = 1): Promise<void> {
  await registry.sql(
    `update origin set checkdueat = now(), checkedat = checkedat - make_interval(days => $2::int),
       provedat = provedat - make_interval(days => $2::int) where name = $1`,
    name,
    days,
  );
  await registry.service.sweep();
}
const audits = async (name: string) =>
  (
    await registry.sql<{ action: string; reason: string | null }>(
      `select action, details ->> 'reason' as reason from audit where target = $1 and action like 'origin.%verified' order by id`,
      `origin:${name}`,
    )
  ).map(({ action, reason }) => (reason === null ? action : `${action} ${reason}`));

test('a TXT record that names one of its keys verifies an origin; several records, and several strings, are read', async () => {
  const { name, keyid } = await newOrigin();
  expect((await read(name)).state).toBe('unverified');
  publish(name, 'v=spf1 -all', `keyid=${keyid.slice(0, 20)}\n${keyid.slice(20)}`);
  expect(await verify(name)).toEqual({
    state: 'verified',
    by: 'dns',
    keyid,
    verifiedat: expect.any(String),
    checkedat: expect.any(String),
    record: `_assent.${name}. TXT "keyid=${keyid}"`,
    directory: `https://${name}/.well-known/http-message-signatures-directory`,
  });
  expect(await audits(name)).toEqual(['origin.verified']);
  const [change] = await registry.sql<{ kind: string; resource: object }>(
    'select kind, resource from change where origin = $1 order by position desc limit 1',
    name,
  );
  expect(change).toMatchObject({ kind: 'origin.changed', resource: { name, verified: true } });
});

test('a directory at the name with one of its keys verifies an origin', async () => {
  const { name, keyid, jwk } = await newOrigin();
  serve(name, await newKey(), jwk);
  expect(await verify(name)).toMatchObject({ state: 'verified', by: 'directory', keyid });
});

test('a directory that this registry serves proves nothing to it; verifiers are sent there once DNS proves the name', async () => {
  const { name, keyid, jwk } = await newOrigin();
  const mark = await markOf(registry.service.database.sql);
  const own = (response: ServerResponse) =>
    response.writeHead(200, { 'Assent-Registry': mark }).end(JSON.stringify({ keys: [jwk] }));
  directories.set(name, own);
  expect(await verify(name)).toMatchObject({ state: 'unverified', code: 'directory_of_registry' });
  publish(name, `keyid=${keyid}`);
  expect(await verify(name)).toMatchObject({ state: 'verified', by: 'dns' });
  const [served] = await registry.sql('select serveskeys from origin where name = $1', name);
  expect(served).toEqual({ serveskeys: true });
  publish(name);
  for (let day = 0; day < 3; day += 1) await passDay(name);
  expect(await read(name)).toMatchObject({ state: 'unverified' });
});

test('checks that somebody asks for postpone no daily check, which alone ends a verification', async () => {
  const { name, keyid } = await newOrigin();
  publish(name, `keyid=${keyid}`);
  await verify(name);
  publish(name);
  const due = () => registry.sql('select checkdueat from origin where name = $1', name);
  const before = await due();
  expect(await verify(name)).toMatchObject({ state: 'failing' });
  expect(await due()).toEqual(before);
});

test.each<[string, string, (name: string, jwk: object) => unknown]>([
  ['nothing is published', 'record_missing', () => undefined],
  ['the record names another key', 'record_without_key', (name) => publish(name, `keyid=${'A'.repeat(43)}`)],
  ['the record says more than the key', 'record_without_key', (name) => publish(name, 'keyid=x, or any other')],
  ['the name servers fail', 'record_unread', (name) => (registry.dns.zone[`_assent.${name}`] = 'servfail')],
  ['the directory has other keys', 'directory_without_key', async (name) => serve(name, await newKey())],
  ['the directory is no JWK Set', 'directory_malformed', (name) => directories.set(name, (r) => r.end('<html>'))],
  [
    'the directory is too long',
    'directory_malformed',
    (name, jwk) => directories.set(name, (r) => r.end(JSON.stringify({ keys: [jwk], padding: 'x'.repeat(70_000) }))),
  ],
  [
    'the directory redirects to one with the key',
    'directory_redirected',
    (name, jwk) => {
      serve('elsewhere.hooks.test', jwk);
      const location = 'https://elsewhere.hooks.test/.well-known/http-message-signatures-directory';
      directories.set(name, (r) => r.writeHead(302, { Location: location }).end());
    },
  ],
  [
    'the right directory comes with another status',
    'record_missing',
    (name, jwk) => directories.set(name, (r) => r.writeHead(203).end(JSON.stringify({ keys: [jwk] }))),
  ],
  ['the server of the name fails', 'directory_unread', (name) => directories.set(name, (r) => r.writeHead(503).end())],
])('if %s, an origin stays unverified, and its admin reads what to do', async (_, code, arrange) => {
  const { name, keyid, jwk } = await newOrigin();
  await arrange(name, jwk);
  const verification = await verify(name);
  expect(verification).toMatchObject({ state: 'unverified', code });
  expect(verification.detail).toContain(`publish this in DNS: _assent.${name}. TXT "keyid=${keyid}"`);
  const dutch = (await admin.get(`/v1/origins/${name}`).set('Accept-Language', 'nl').expect(200)).body.verification;
  expect(dutch.detail).toContain('Publiceer dit in DNS');
  expect(await read(name, subscriber)).not.toHaveProperty('detail');
  expect(asked).not.toContain('elsewhere.hooks.test');
});

test('the directory of another host proves nothing', async () => {
  const { name, jwk } = await newOrigin();
  serve('other.hooks.test', jwk);
  expect(await verify(name)).toMatchObject({ state: 'unverified' });
});

test('no hostile address is asked for a directory', async () => {
  const before = [proxy.connections(), asked.length];
  for (const address of forbidden.filter((each) => !each.startsWith('127.'))) {
    const { name, jwk } = await newOrigin();
    registry.dns.zone[name] = [address, '93.184.216.34'];
    serve(name, jwk);
    expect(await verify(name)).toMatchObject({ state: 'unverified', code: 'directory_not_allowed' });
  }
  expect([proxy.connections(), asked.length]).toEqual(before);
});

test('three daily checks in a row that say clearly no end a verification; one, or any that is asked for, does not', async () => {
  const { name, keyid } = await newOrigin();
  publish(name, `keyid=${keyid}`);
  await verify(name);
  publish(name, 'keyid=none');
  for (let times = 0; times < 4; times += 1) expect(await verify(name)).toMatchObject({ state: 'failing', by: 'dns' });
  await passDay(name);
  await passDay(name);
  expect(await read(name)).toMatchObject({ state: 'failing', code: 'record_without_key', keyid });
  publish(name, `keyid=${keyid}`);
  await passDay(name);
  expect(await read(name)).toMatchObject({ state: 'verified' });
  publish(name);
  for (let times = 0; times < 3; times += 1) {
    expect((await read(name)).state).not.toBe('unverified');
    await passDay(name);
  }
  expect(await read(name)).toMatchObject({ state: 'unverified', code: 'record_missing' });
  expect(await audits(name)).toEqual(['origin.verified', 'origin.unverified record_missing']);
});

test('an outage ends a verification after seven days, and not before', async () => {
  const { name, keyid } = await newOrigin();
  publish(name, `keyid=${keyid}`);
  await verify(name);
  registry.dns.zone[`_assent.${name}`] = 'servfail';
  await passDay(name, 3);
  await passDay(name, 3);
  expect(await read(name)).toMatchObject({ state: 'failing', code: 'record_unread' });
  await passDay(name);
  expect(await read(name)).toMatchObject({ state: 'unverified', code: 'record_unread' });
});

test('a check that is late, or finds a key that was revoked meanwhile, changes nothing', async () => {
  const { name, jwk } = await newOrigin();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  directories.set(name, (response) => void held.then(() => response.end(JSON.stringify({ keys: [jwk] }))));
  const checking = verify(name);
  while (!asked.includes(name)) await new Promise((resolve) => setTimeout(resolve, 5));
  await registry.sql('update origin_key set revokedat = now() where origin = $1', name);
  release();
  expect(await checking).toMatchObject({ state: 'unverified' });
  expect(await audits(name)).toEqual([]);
});

test('checks use the budgets of handshakes', async () => {
  const { name } = await newOrigin();
  await registry.sql(
    `insert into rate_window (key, taken, until) values ('host:' || $1, jsonb_build_object(
       floor(extract(epoch from now()) / 5)::text, 100000), now() + interval '1 minute')`,
    name,
  );
  const { body, headers } = await admin.post(`/v1/origins/${name}/verify`).expect(429);
  expect([body.code, Number(headers['retry-after']) > 0]).toEqual(['too_many_checks', true]);
  expect(asked).not.toContain(name);
});

describe('names', () => {
  let other: Client;
  let third: Client;
  let otherSubscriber: Client;
  let otherSender: Client;
  beforeAll(async () => {
    other = await registry.as('assent:admin', { tenant: 'provincie', subscriber: 'beheer' });
    third = await registry.as('assent:admin', { tenant: 'waterschap', subscriber: 'beheer' });
    otherSubscriber = await registry.as('assent:subscribe', { tenant: 'provincie' });
    otherSender = await registry.as('assent:deliver', { tenant: 'provincie' });
  });
  const claim = (name: string, client = admin) => client.post('/v1/origins').send({ name });
  /** The TXT record that gives a name to the tenant of a client. */
  const recordFor = async (name: string, client = admin) => {
    const { body } = await claim(name, client).expect(409);
    expect(body.code).toBe('origin_exists');
    return String(/TXT "(tenant=[\w-]{43})"$/.exec(body.detail)?.[1]);
  };
  const subscribe = (origin: string, path: string) =>
    otherSubscriber
      .post('/v1/subscriptions')
      .set('Prefer', 'wait=5')
      .send({ origin, sink: registry.receiver.sink(path), protocol: 'HTTP' });

  test('who proves that an unverified name is its own gets it, and all that the other tenant had on it is gone', async () => {
    const { name } = await newOrigin(newName(), other);
    registry.receiver.consent('/squatted');
    const { body: subscription } = await subscribe(name, '/squatted').expect(201);
    const record = await recordFor(name);
    publish(name, await recordFor(name, third), 'tenant=gemeente');
    expect(await recordFor(name)).toBe(record);
    expect((await read(name, other)).state).toBe('unverified');

    publish(name, record);
    const { body: taken } = await claim(name).expect(201);
    expect(taken.verification).toMatchObject({ state: 'verified', by: 'dns' });
    await other.get(`/v1/origins/${name}`).expect(404);
    await otherSubscriber.get(`/v1/subscriptions/${subscription.id}`).expect(404);
    const sink = registry.receiver.sink('/squatted');
    const permission = await otherSender.get('/v1/permissions').query({ origin: name, sink }).expect(200);
    expect(permission.body).toMatchObject({ allowed: false });
    expect(await registry.sql('select 1 from "grant" where origin = $1', name)).toEqual([]);
    const changes = await registry.sql<{ tenant: string; kind: string; resource: object | null }>(
      'select tenant, kind, resource from change where origin = $1 order by position desc limit 5',
      name,
    );
    expect(changes.map(({ tenant, kind, resource }) => [tenant, kind, resource !== null])).toEqual([
      ['gemeente', 'origin.changed', true],
      ['gemeente', 'origin.changed', true],
      ['provincie', 'origin.changed', false],
      ['provincie', 'grant.ended', false],
      ['provincie', 'subscription.deleted', false],
    ]);
    const told = await registry.sql<{ tenant: string; action: string }>(
      `select tenant, action from audit where target = $1 and (tenant = 'gemeente' or action = 'origin.lost') order by id`,
      `origin:${name}`,
    );
    expect(told.map(({ tenant, action }) => `${tenant} ${action}`)).toEqual([
      'provincie origin.lost',
      'gemeente origin.created',
      'gemeente origin.verified',
    ]);
    await other.delete(`/v1/origins/${name}`).expect(404);
  });

  test('a verified name can not be taken', async () => {
    const { name, keyid } = await newOrigin(newName(), other);
    publish(name, await recordFor(name), `keyid=${keyid}`);
    await verify(name, other);
    expect((await claim(name).expect(409)).body).toMatchObject({ detail: `${name} is already registered.` });
    expect((await read(name, other)).state).toBe('verified');
  });

  test('the record of a tenant proves an origin that it has, whatever its keys are', async () => {
    const { name } = await newOrigin(newName(), other);
    const record = await recordFor(name);
    await other.delete(`/v1/origins/${name}`).expect(200);
    await newOrigin(name);
    publish(name, record);
    const verification = await verify(name);
    expect(verification).toMatchObject({ state: 'verified', by: 'dns' });
    expect(verification).not.toHaveProperty('keyid');
  });

  test('the public key of somebody else proves nothing, wherever its owner publishes it', async () => {
    const { name } = await newOrigin(newName(), other);
    const theirs = await newKey();
    const { x, kty, crv } = theirs;
    await other.post(`/v1/origins/${name}/keys`).send({ publickey: { kty, crv, x } }).expect(201);
    publish(name, `keyid=${theirs.kid}`);
    serve(name, theirs);
    expect(await verify(name, other)).toMatchObject({ state: 'unverified', code: 'record_without_key' });
    await recordFor(name);
  });

  test('of two claims, of a claim and a verification, and of a claim and a registration, one wins, and nothing is left', async () => {
    registry.receiver.consent('/raced');
    for (let round = 0; round < 6; round += 1) {
      const { name, keyid } = await newOrigin(newName(), other);
      publish(name, `keyid=${keyid}`, await recordFor(name), await recordFor(name, third));
      const [first, second, , registered] = await Promise.all([
        claim(name),
        claim(name, third),
        round % 2 === 0 ? other.post(`/v1/origins/${name}/verify`) : undefined,
        subscribe(name, '/raced'),
      ]);
      const [{ tenant, verifiedby }] = (await registry.sql(
        'select tenant, verifiedby from origin where name = $1',
        name,
      )) as [{ tenant: string; verifiedby: string | null }];
      expect(verifiedby).toBe('dns');
      const won = [first.status, second.status].filter((status) => status === 201).length;
      expect(won).toBe(tenant === 'provincie' ? 0 : 1);
      expect([201, 404]).toContain(registered.status);
      await registry.service.worker.drain();
      const left = await registry.sql<{ tenant: string }>(
        'select tenant from subscription where origin = $1 union all select tenant from "grant" where origin = $1',
        name,
      );
      if (tenant !== 'provincie') expect(left).toEqual([]);
    }
  });
});

test('a match says that its origin is verified', async () => {
  const { name, keyid } = await newOrigin();
  const sender = await registry.as('assent:deliver', { subscriber: 'mailroom' });
  const event = { specversion: '1.0', id: '1', source: '/s', type: 't' };
  const match = async (body: object, type: string) =>
    (await sender.post('/v1/match').query({ origin: name }).type(type).send(JSON.stringify(body)).expect(200)).body;
  await registry.service.follow();
  expect(await match(event, 'application/cloudevents+json')).not.toHaveProperty('verified');
  publish(name, `keyid=${keyid}`);
  await verify(name);
  await registry.service.follow();
  expect(await match(event, 'application/cloudevents+json')).toMatchObject({ origin: name, verified: true });
  expect(await match([event], 'application/cloudevents-batch+json')).toMatchObject({ origin: name, verified: true });
});
