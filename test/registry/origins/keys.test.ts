import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { Signers, type Signer } from '../../../src/registry/origins/keys.js';
import { createVault, openDevelopmentKeys } from '../../../src/registry/storage/vault.js';
import { isDigestOf } from '../../../src/signatures/content-digest.js';
import { isSignedBy, keysOf as keysOfSet, publicKeyOf, thumbprintOf } from '../../../src/signatures/keys.js';
import { readSignatures } from '../../../src/signatures/message-signature.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- responses are checked against the contract
type Body = any;

let registry: Registry;
let admin: Client;
let signer: Client;

beforeAll(async () => {
  registry = await startRegistry();
  admin = await registry.as('assent:admin', { subscriber: 'beheer' });
  signer = await registry.as(['assent:deliver', 'assent:sign'], { subscriber: 'mailroom' });
});
afterAll(() => registry.stop());

/** Of small order: y is 0. */
const weakKey = { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) };
let count = 0;
/** The name of a new origin. */
async function newOrigin(policy: object = {}): Promise<string> {
  const name = `keys-${(count += 1)}.example.com`;
  await admin
    .post('/v1/origins')
    .send({ name, isdefault: false, ...policy })
    .expect(201);
  return name;
}
/** Of another process. */
async function openSigners(): Promise<Signers> {
  const vault = createVault(await openDevelopmentKeys(registry.env.ASSENT_DATA!));
  return new Signers({ vault, publicUrl: 'https://assent.test' });
}
const signerIn = async (signers: Signers, name: string): Promise<Signer | undefined> =>
  (await signers.of(registry.service.database.sql, [{ tenant: 'gemeente', origin: name }])).get(name) as
    Signer | undefined;
const signerOf = async (name: string) => signerIn(await openSigners(), name);
const privateKeys = async (name: string) => (await signer.get(`/v1/origins/${name}/private-keys`).expect(200)).body;

test('a new origin has a key that signs, which leaves only to tokens that may sign, and in the audit record', async () => {
  const name = await newOrigin();
  const answer = await signer.get(`/v1/origins/${name.toUpperCase()}/private-keys`).expect(200);
  expect(answer.get('Cache-Control')).toBe('no-store');
  const { directory } = (await admin.get(`/v1/origins/${name}`).expect(200)).body;
  expect(answer.body).toMatchObject({
    origin: name,
    signatures: 'dictionary',
    agent: { url: `https://assent.test/v1/directories/${directory}`, type: 'jwks_uri' },
    keys: [{ keyid: await thumbprintOf(answer.body.keys[0].jwk), startsat: expect.any(String) }],
  });
  // What the registry signs with is this key.
  const { sign, keyid } = (await signerOf(name))!;
  const { jwk: privatekey, keyid: named } = answer.body.keys[0];
  const base = Buffer.from('what is signed');
  const publicKey = createPublicKey(createPrivateKey({ key: privatekey, format: 'jwk' }));
  expect([keyid, verify(null, base, publicKey, sign(base))]).toEqual([named, true]);
  const [entry] = (await admin.get('/v1/audit').query({ action: 'origin.keys_read' }).expect(200)).body;
  expect(entry).toMatchObject({ actor: 'mailroom', target: `origin:${name}`, details: { keyids: [named] } });
  const stranger = await registry.as(['assent:deliver', 'assent:sign'], { tenant: 'other' });
  await stranger.get(`/v1/origins/${name}/private-keys`).expect(404);
});

test('private keys are sealed at rest, and in no table, log or other response', async () => {
  const name = await newOrigin();
  await make(name, { overlapseconds: 600 });
  const { keys } = await privateKeys(name);
  const ofRow = `select string_agg(query_to_xml(format('select * from %I', table_name), true, true, '')::text, '') as text
    from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`;
  const [tables] = await registry.sql<{ text: string }>(ofRow);
  const sender = await registry.as(['assent:deliver', 'assent:admin', 'assent:credentials']);
  const paths = [`/v1/origins/${name}`, `/v1/origins/${name}/keys`, '/v1/audit', '/v1/snapshot'];
  const texts = await Promise.all(paths.map(async (path) => (await sender.get(path).buffer(true).expect(200)).text));
  const all = JSON.stringify([tables, registry.logs, texts]);
  expect(all).toContain(keys[1].jwk.x);
  for (const { jwk } of keys) expect(all).not.toContain(jwk.d);
  expect(keys).toHaveLength(2);
});

test('Signature-Agent is the origin itself for the form string, and for a verified name that serves its keys', async () => {
  const name = await newOrigin({ signatures: 'string' });
  const own = { url: `https://${name}`, type: 'directory' };
  expect((await privateKeys(name)).agent).toEqual(own);
  expect(await signerOf(name)).toMatchObject({ form: 'string', agent: own });
  await patch(name, { signatures: null });
  expect((await signerOf(name))?.agent.type).toBe('jwks_uri');
  await registry.sql(`update origin set verifiedby = 'dns', serveskeys = true where name = $1`, name);
  expect((await signerOf(name))?.agent).toEqual(own);
  await patch(name, { signatures: 'off' });
  expect(await signerOf(name)).toBeUndefined();
});

describe('rotation', () => {
  test('a new key is found at once and signs ten minutes later; the old one ends after the overlap, and the feed says all of it', async () => {
    const name = await newOrigin();
    const [old] = await keysOf(name);
    const made = await make(name, { overlapseconds: 600 });
    expect(Date.parse(made.startsat) - Date.parse(made.createdat)).toBeCloseTo(600_000, -3);
    expect(await statesOf(name)).toEqual({ [old.keyid]: 'signing', [made.keyid]: 'waiting' });
    const ofOld = (await keysOf(name)).find(({ id }) => id === old.id);
    expect(Date.parse(ofOld.endsat) - Date.parse(made.startsat)).toBe(600_000);
    expect((await signerOf(name))?.keyid).toBe(old.keyid);
    expect([...(await directoryOf(name))].sort()).toEqual([old.keyid, made.keyid].sort());
    expect((await privateKeys(name)).keys.map(({ keyid }: Body) => keyid)).toEqual([old.keyid, made.keyid]);

    await pass(name, 601);
    expect(await statesOf(name)).toEqual({ [old.keyid]: 'published', [made.keyid]: 'signing' });
    expect((await signerOf(name))?.keyid).toBe(made.keyid);
    await pass(name, 600);
    expect(await statesOf(name)).toEqual({ [old.keyid]: 'ended', [made.keyid]: 'signing' });
    expect(await directoryOf(name)).toEqual([made.keyid]);

    // Made with the origin; the new one; its start; the end of the old one.
    const states = await feedOf(name);
    expect(states.map(({ keys }) => keys.map(({ keyid }: Body) => keyid))).toEqual([
      [old.keyid],
      [old.keyid, made.keyid],
      [old.keyid, made.keyid],
      [made.keyid],
    ]);
    expect(states[1]).toMatchObject({
      signatures: 'dictionary',
      verified: false,
      keys: [{ endsat: ofOld.endsat }, {}],
    });
    await registry.service.sweep();
    expect(await feedOf(name)).toHaveLength(4);
    const actions = await audited(name);
    expect(actions).toEqual(['origin.created', 'origin.key_made', 'origin.key_ended']);
    expect(
      await registry.sql('select from origin_key where id = $1::uuid and privatekey is null', old.id),
    ).toHaveLength(1);
  });

  test('a key whose time has come signs at once, and the last of two that start together wins', async () => {
    const name = await newOrigin();
    const startsat = '2000-01-01T00:00:00Z';
    const first = await make(name, { startsat });
    expect((await signerOf(name))?.keyid).toBe(first.keyid);
    const second = await make(name, { startsat, endsat: inSeconds(3_600) });
    expect(await statesOf(name)).toMatchObject({ [first.keyid]: 'published', [second.keyid]: 'signing' });
  });
});

describe('revocation', () => {
  test('ends signing at once in every process, and takes the key out of directory, feed and private keys', async () => {
    const name = await newOrigin();
    const [first] = await keysOf(name);
    const second = await make(name, { startsat: inSeconds(-1) });
    // Processes that have opened the key.
    const [one, other] = [await openSigners(), await openSigners()];
    for (const each of [one, other]) expect((await signerIn(each, name))?.keyid).toBe(second.keyid);
    const revoked = (await revoke(name, second.id).expect(200)).body;
    expect(revoked).toMatchObject({ state: 'revoked', revokedat: expect.any(String) });
    expect(revoked).not.toHaveProperty('nothingsigns');
    for (const each of [one, other]) expect((await signerIn(each, name))?.keyid).toBe(first.keyid);
    expect(await directoryOf(name)).toEqual([first.keyid]);
    expect((await privateKeys(name)).keys.map(({ keyid }: Body) => keyid)).toEqual([first.keyid]);
    expect((await feedOf(name)).at(-1)?.keys).toEqual([{ keyid: first.keyid, startsat: first.startsat }]);

    expect((await revoke(name, first.id).expect(200)).body.nothingsigns).toBe(true);
    for (const each of [one, other]) expect(await signerIn(each, name)).toBeUndefined();
    expect(await audited(name)).toEqual([
      'origin.created',
      'origin.key_made',
      'origin.key_revoked',
      'origin.key_revoked',
    ]);
    // Repeated, it changes nothing.
    expect((await revoke(name, first.id).expect(200)).body).toMatchObject({ state: 'revoked' });
    expect(await audited(name)).toHaveLength(4);
  });

  test('is for good: the key cannot be brought again, and no set brings it back', async () => {
    const name = await newOrigin();
    const publickey = await newPublicKey();
    const brought = await make(name, { publickey });
    expect(brought).toMatchObject({ kind: 'brought', state: 'published', keyid: publickey.kid });
    const set = await serveSet([publickey]);
    await make(name, { jwksuri: set.url });
    expect(await directoryOf(name)).toContain(publickey.kid);
    await revoke(name, brought.id).expect(200);
    expect(await directoryOf(name)).not.toContain(publickey.kid);
    const again = await add(name, { publickey }).expect(409);
    expect(again.body).toMatchObject({ code: 'key_exists', faults: [{ pointer: '/publickey', rule: 'key_exists' }] });
  });
});

describe('a set', () => {
  test('is read at once and each day; one that cannot be read keeps its keys and is tried again', async () => {
    const name = await newOrigin();
    const [first, second] = [await newPublicKey(), await newPublicKey()];
    const set = await serveSet([first]);
    const { id, ...made } = await make(name, { jwksuri: set.url });
    expect(made).toMatchObject({ kind: 'jwks', state: 'published', keys: [first], readat: expect.any(String) });

    const read = async () => {
      await registry.sql(`update origin_key set readdueat = now() where id = $1::uuid`, id);
      await registry.service.sweep();
      return (await admin.get(`/v1/origins/${name}/keys/${id}`).expect(200)).body;
    };
    const before = (await feedOf(name)).length;
    expect((await read()).keys).toEqual([first]);
    expect(await feedOf(name)).toHaveLength(before);
    set.keys = [second];
    expect((await read()).keys).toEqual([second]);
    expect((await feedOf(name)).at(-1)?.keys.map(({ keyid }: Body) => keyid)).toContain(second.kid);
    set.keys = undefined;
    expect(await read()).toMatchObject({ keys: [second], readcode: 'status_not_200' });
    const [due] = await registry.sql<{ minutes: number }>(
      `select (extract(epoch from readdueat - now()) / 60)::int as minutes from origin_key where id = $1::uuid`,
      id,
    );
    expect(due?.minutes).toBe(15);
  });
});

test.each<[string, object | (() => Promise<object>), string, string]>([
  ['a private member', { publickey: { ...weakKey, d: 'secret' } }, '/publickey/d', 'private_member'],
  [
    'another kind of key',
    { publickey: { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' } },
    '/publickey',
    'key_not_supported',
  ],
  ['a key for which anyone can sign', { publickey: weakKey }, '/publickey', 'key_not_supported'],
  [
    'a set of such keys alone',
    async () => ({ jwksuri: (await serveSet([weakKey])).url }),
    '/jwksuri',
    'key_set_unusable',
  ],
  [
    'an end before the start',
    { startsat: '2090-01-02T00:00:00Z', endsat: '2090-01-01T00:00:00Z' },
    '/endsat',
    'time_out_of_range',
  ],
  ['an end in the past', { endsat: '2020-01-01T00:00:00Z' }, '/endsat', 'time_out_of_range'],
  ['a key and a set', { publickey: {}, jwksuri: 'https://keys.example.com/' }, '/jwksuri', 'value_not_allowed'],
  ['a set over http', { jwksuri: 'http://keys.example.com/' }, '/jwksuri', 'not_https'],
  ['a set inside', { jwksuri: 'https://10.0.0.1/' }, '/jwksuri', 'ip_literal'],
  ['a set of the registry itself', { jwksuri: 'https://assent.test/v1/directories/1' }, '/jwksuri', 'own_host'],
  ['a set without a usable key', async () => ({ jwksuri: (await serveSet([])).url }), '/jwksuri', 'key_set_unusable'],
])('refuses %s', async (_, body, pointer, rule) => {
  const name = await newOrigin();
  const response = await add(name, typeof body === 'function' ? await body() : body).expect(400);
  expect(response.body.faults).toMatchObject([{ pointer, rule }]);
  expect(response.text).not.toContain('secret');
  expect(await keysOf(name)).toHaveLength(1);
});

test('an origin has at most 20 keys that have not ended, and a repeated request makes one', async () => {
  const name = await newOrigin();
  const once = () => add(name, {}).set('Idempotency-Key', 'rotate-1').expect(201);
  const [first, second] = [await once(), await once()];
  expect([second.body.id, second.get('Idempotency-Replayed')]).toEqual([first.body.id, 'true']);
  for (let keys = 2; keys < 20; keys += 1) await make(name, {});
  expect((await add(name, {}).expect(403)).body.code).toBe('quota_exceeded');
  await revoke(name, first.body.id).expect(200);
  await make(name, {});
});

test('keys belong to the tenant of their origin', async () => {
  const name = await newOrigin();
  const [{ id }] = await keysOf(name);
  const other = await registry.as(['assent:admin', 'assent:deliver', 'assent:sign'], { tenant: 'other' });
  const at = `/v1/origins/${name}/keys`;
  for (const request of [
    other.get(at),
    other.get(`${at}/${id}`),
    other.post(at).send({}),
    other.post(`${at}/${id}/revoke`),
  ])
    expect((await request).body.code).toBe('origin_not_found');
  const own = await newOrigin();
  expect((await admin.get(`/v1/origins/${own}/keys/${id}`).expect(404)).body.code).toBe('key_not_found');
});

test('keys that ended are forgotten after the retention time, and revoked ones never: they do not come back', async () => {
  const name = await newOrigin();
  const [revoked, ended, kept] = [await make(name, {}), await make(name, {}), await make(name, {})];
  await revoke(name, revoked.id).expect(200);
  await registry.sql(`update origin_key set revokedat = now() - interval '91 days' where id = $1::uuid`, revoked.id);
  await registry.sql(`update origin_key set endsat = now() - interval '91 days' where id = $1::uuid`, ended.id);
  await registry.service.forget();
  expect((await keysOf(name)).map(({ id }) => id)).toEqual([expect.any(String), revoked.id, kept.id]);
});

describe('the directory', () => {
  const path = '/.well-known/http-message-signatures-directory';
  const prove = (...names: string[]) =>
    registry.sql(`update origin set verifiedby = 'dns' where name = any ($1::text[])`, names);
  const get = (host: string) => supertest(registry.url).get(path).set('Host', host);

  test('a header that tells browsers what to do with a whole host is sent under the host of the public URL only', async () => {
    const name = await newOrigin();
    await make(name, {});
    await prove(name);
    const own = new URL(registry.env['ASSENT_PUBLIC_URL']!).host;
    const deliver = await registry.as('assent:deliver');
    const admin = await registry.as('assent:admin');
    const strictAt = async (host: string) => {
      const asked = [
        supertest(registry.url).get(path),
        // The documents, the pages, a problem, the fast path, Express, a stream.
        ...['/openapi.json', '/', '/console', '/nothing'].map((each) => supertest(registry.url).get(each)),
        deliver.get('/v1/permissions').query({ origin: name, sink: 'https://a.example.com/' }),
        ...['/v1/origins', '/v1/snapshot'].map((each) => admin.get(each)),
      ];
      const answers = await Promise.all(asked.map((each) => each.set('Host', host)));
      return answers.map(({ headers }) => headers['strict-transport-security']);
    };
    const strict = 'max-age=31536000';
    for (const host of [own, `${own.toUpperCase()}:443`]) {
      expect(await strictAt(host)).toEqual(Array.from({ length: 8 }, () => strict));
    }
    for (const host of [name, `${name}:443`, `sub.${own}`, '127.0.0.1:3000']) {
      expect(await strictAt(host)).toEqual(Array.from({ length: 8 }, () => undefined));
    }
  });

  test('is served to anyone for the name in Host, with a signature of each key that the registry has', async () => {
    const name = await newOrigin();
    const brought = await make(name, { publickey: await newPublicKey() });
    await make(name, {});
    // A name that leads here proves nothing by itself: anyone could have registered it.
    await get(name).expect(404);
    await prove(name);
    const answer = await get(name).buffer(true).expect(200);
    expect(answer.get('Content-Type')).toBe('application/http-message-signatures-directory+json');
    expect(answer.get('Cache-Control')).toBe('public, max-age=300');
    const body = Buffer.from(JSON.stringify(answer.body));
    const keys = await keysOfSet(answer.body);
    expect(keys.map(({ kid }) => kid).sort()).toEqual((await keysOf(name)).map(({ keyid }) => keyid).sort());
    expect(answer.body.keys[0]).toMatchObject({ use: 'sig', nbf: expect.any(Number) });
    const fieldOf = (field: string) => answer.get(field);
    expect(await isDigestOf(answer.get('Content-Digest')!, body)).toBe(true);
    const request = { method: 'GET', url: `https://${name}${path}`, fieldOf: () => undefined };
    const signatures = readSignatures(fieldOf);
    expect(signatures).toHaveLength(2);
    for (const { parameters, signature, base } of signatures) {
      expect(parameters).toMatchObject({ tag: 'http-message-signatures-directory', keyid: expect.any(String) });
      expect(parameters.expires! - parameters.created!).toBe(300);
      expect(parameters.keyid).not.toBe(brought.keyid);
      const key = keys.find(({ kid }) => kid === parameters.keyid)!;
      expect(await isSignedBy(key, signature, base({ status: 200, fieldOf, request }))).toBe(true);
      const elsewhere = { ...request, url: `https://other.example.com${path}` };
      expect(await isSignedBy(key, signature, base({ status: 200, fieldOf, request: elsewhere }))).toBe(false);
    }
    const { directory } = (await admin.get(`/v1/origins/${name}`)).body;
    const byId = await supertest(registry.url).get(`/v1/directories/${directory}`).expect(200);
    expect([byId.body, byId.get('Cache-Control')]).toEqual([answer.body, 'public, max-age=300']);
    await get(`${name}:443`).expect(200);
  });

  test('does not tell an origin that signs nothing from one that does not exist, or from the name of the registry', async () => {
    const [off, withoutKey] = [await newOrigin({ signatures: 'off' }), await newOrigin()];
    const [key] = await keysOf(withoutKey);
    await revoke(withoutKey, key.id).expect(200);
    await prove(off, withoutKey);
    const answers = await Promise.all(
      [off, withoutKey, 'unknown.example.com', 'assent.test', '127.0.0.1'].map((host) => get(host)),
    );
    const shown = answers.map(({ status, text, headers }) => {
      // The last one only under the name of the registry, which the caller has typed.
      const {
        date: _,
        'x-request-id': id,
        'strict-transport-security': _ofHost,
        ...others
      } = headers as Record<string, string>;
      return { status, text: text.replaceAll(id!, ''), others };
    });
    for (const each of shown) expect(each).toEqual({ ...shown[0], status: 404 });
    const { directory } = (await admin.get(`/v1/origins/${off}`)).body;
    for (const id of [directory, '3f1c6a52-8f0e-4b7d-9a1e-5c2d7e9b4a10', 'x'])
      await supertest(registry.url).get(`/v1/directories/${id}`).expect(404);
  });
});

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
const add = (name: string, body: object) => admin.post(`/v1/origins/${name}/keys`).send(body);
const make = async (name: string, body: object): Promise<Body> => (await add(name, body).expect(201)).body;
const revoke = (name: string, id: string) => admin.post(`/v1/origins/${name}/keys/${id}/revoke`);
const keysOf = async (name: string): Promise<Body[]> => (await admin.get(`/v1/origins/${name}/keys`).expect(200)).body;
const statesOf = async (name: string) =>
  Object.fromEntries((await keysOf(name)).map(({ keyid, state }) => [keyid, state]));
const audited = async (name: string): Promise<string[]> =>
  (await registry.sql<{ action: string }>('select action from audit where target = $1 order by id', `origin:${name}`))
    .map(({ action }) => action)
    .filter((action) => action !== 'origin.keys_read');
const feedOf = async (name: string): Promise<Body[]> =>
  (await registry.sql<{ resource: Body }>(`select resource from change where origin = $1 order by position`, name)).map(
    ({ resource }) => resource,
  );
const directoryOf = async (name: string): Promise<string[]> => {
  const { directory } = (await admin.get(`/v1/origins/${name}`)).body;
  const answer = await supertest(registry.url).get(`/v1/directories/${directory}`).expect(200);
  return answer.body.keys.map(({ kid }: Body) => kid);
};

/** As if all keys of the origin were so much older. */
async function pass(name: string, seconds: number): Promise<void> {
  await registry.sql(
    `update origin_key set startsat = startsat - s.s, endsat = endsat - s.s, changedueat = changedueat - s.s
     from (select make_interval(secs => $2::int) as s) s where origin = $1`,
    name,
    seconds,
  );
  await registry.service.sweep();
}

async function newPublicKey() {
  const { publicKey } = generateKeyPairSync('ed25519');
  return (await publicKeyOf(publicKey.export({ format: 'jwk' })))!;
}

/** A set at a webhook's address; without keys it is gone. */
async function serveSet(keys: object[]) {
  const path = `/jwks-${(count += 1)}`;
  const set: { url: string; keys: object[] | undefined } = { url: registry.receiver.sink(path), keys };
  registry.receiver.on(path, (_request, response) =>
    set.keys === undefined ? response.writeHead(404).end() : response.end(JSON.stringify({ keys: set.keys })),
  );
  return set;
}

const patch = (name: string, policy: object) =>
  admin.patch(`/v1/origins/${name}`).type('application/merge-patch+json').send(JSON.stringify(policy)).expect(200);
