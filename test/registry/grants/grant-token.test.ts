import { createPrivateKey, randomUUID, sign, type JsonWebKey } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { createAuthenticate } from '../../../src/registry/tokens/authenticate.js';
import { resealSecrets } from '../../../src/registry/storage/reseal.js';
import { createVault, openDevelopmentKeys } from '../../../src/registry/storage/vault.js';
import { isServer, startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

let registry: Registry;
let tenant: Tenant;
let beside: Registry | undefined;
let sink: string;
let id: string;
const iss = 'https://assent.test';
const typ = 'assent-grant+jwt';

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  for (const path of ['/token', '/over']) registry.receiver.consent(path);
  sink = registry.receiver.sink('/token');
  await tenant.register(sink, { types: ['com.example.token'] });
  id = (await tenant.grant(sink)).id;
  if (isServer()) beside = await startRegistry({ beside: registry });
});
afterAll(async () => {
  await beside?.stop();
  await registry.stop();
});

const ask = (client: Client, of = id) => client.get(`/v1/grants/${of}`).set('Accept', 'application/jwt');
const tokenOf = async (client: Client, of = id) => (await ask(client, of).expect(200)).text;
const keySet = () => createRemoteJWKSet(new URL('/.well-known/jwks.json', registry.url));
const verify = (token: string, audience = sink) =>
  jwtVerify(token, keySet(), { issuer: iss, audience, typ, algorithms: ['EdDSA'] });
const published = async (of = registry) =>
  ((await (await fetch(new URL('/.well-known/jwks.json', of.url))).json()) as { keys: JsonWebKey[] }).keys;
const match = (client: Client, query: object, type = 'com.example.token') =>
  client
    .post('/v1/match')
    .query(query)
    .set('Content-Type', 'application/cloudevents+json')
    .send(JSON.stringify({ specversion: '1.0', id: '1', source: '/s', type }));

test('one key is made, however many processes need it at once', async () => {
  const clients = [registry, ...(beside ? [beside] : [])].map((each) => each.as('assent:deliver'));
  const tokens = await Promise.all((await Promise.all(clients)).flatMap((one) => [tokenOf(one), tokenOf(one)]));
  const [first] = tokens;
  const { kid } = decodeProtectedHeader(first ?? '');
  expect(tokens.map((token) => decodeProtectedHeader(token))).toEqual(tokens.map(() => ({ alg: 'EdDSA', typ, kid })));
  expect(await registry.sql('select id from registry_key')).toHaveLength(1);
});

test('a receiver verifies a grant with the published keys, and it says what the grant says and no more', async () => {
  const answer = await ask(tenant.sender).expect(200);
  expect([answer.type, answer.get('Vary'), answer.get('ETag')]).toEqual(['application/jwt', 'Accept', undefined]);
  const { payload } = await verify(answer.text);
  const grant = await tenant.grant(sink);
  const seconds = (time: string) => Math.floor(Date.parse(time) / 1_000);
  expect(payload).toEqual({
    iss,
    sub: tenant.origin,
    aud: sink,
    jti: id,
    iat: expect.any(Number),
    nbf: seconds(grant.grantedat),
    exp: seconds(grant.expiresat),
    allowedrate: grant.allowedrate,
    basis: 'response',
  });
  const asJson = await tenant.admin.get(`/v1/grants/${id}`).expect(200);
  expect([asJson.type, asJson.get('Vary')]).toEqual(['application/json', 'Accept, Accept-Language']);
  for (const key of await published()) expect(Object.keys(key)).not.toContain('d');
});

test('a changed token, and one for another sink or registry, is refused', async () => {
  const token = await tokenOf(tenant.sender);
  const [header, , signature] = token.split('.');
  const claims = { ...decodeJwt(token), allowedrate: '*' };
  const changed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
  await expect(verify(changed)).rejects.toMatchObject({ code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' });
  await expect(verify(token, `${sink}/other`)).rejects.toMatchObject({ claim: 'aud' });
  await expect(jwtVerify(token, keySet(), { issuer: 'https://other.test' })).rejects.toMatchObject({ claim: 'iss' });
});

test('a grant that allows nothing now gets no token, and the problem says why', async () => {
  const other = registry.receiver.sink('/over');
  await tenant.register(other, { types: ['com.example.over'] });
  const grant = await tenant.grant(other);
  const denied = async () => {
    const answer = await ask(tenant.sender, grant.id).expect(403);
    expect(answer.type).toBe('application/problem+json');
    expect(answer.body.code).toBe('not_permitted');
    return [answer.body.faults[0].pointer, answer.body.faults[0].rule, Number(answer.get('Retry-After') ?? 0) > 0];
  };
  await registry.sql(`update "grant" set helduntil = now() + interval '1 hour' where id = $1::uuid`, grant.id);
  expect(await denied()).toEqual(['path/id', 'held', true]);
  // The memory of the registry does not know yet what the database knows.
  const [held] = (await match(tenant.sender, { grantTokens: true }, 'com.example.over').expect(200)).body.sinks;
  expect(held).toMatchObject({ sink: other, granttokendenial: 'held' });
  expect(held).not.toHaveProperty('granttoken');
  await registry.sql('update "grant" set helduntil = null where id = $1::uuid', grant.id);
  await tokenOf(tenant.sender, grant.id);

  const { body: block } = await tenant.admin
    .post('/v1/blocks')
    .send({ kind: 'sink', value: other, reason: 'An incident' })
    .expect(201);
  expect(await denied()).toEqual(['path/id', 'blocked', false]);
  await tenant.admin.delete(`/v1/blocks/${block.id}`).expect(200);
  await tokenOf(tenant.sender, grant.id);
  await tenant.revoke(other);
  expect(await denied()).toEqual(['path/id', 'revoked', false]);
});

test('a match has a token for each sink only when asked', async () => {
  const [without] = (await match(tenant.sender, {}).expect(200)).body.sinks;
  expect(without).toMatchObject({ sink });
  expect(without).not.toHaveProperty('granttoken');
  const [found] = (await match(tenant.sender, { grantTokens: true }).expect(200)).body.sinks;
  expect((await verify(found.granttoken)).payload).toMatchObject({ jti: id, sub: tenant.origin });
  // Consumers see no sinks, so no tokens.
  const { body } = await match(tenant.subscriber, { grantTokens: true, explain: true }).expect(200);
  expect(JSON.stringify(body)).not.toMatch(/granttoken/);
});

test('a grant of another tenant has no token, and a consumer gets none', async () => {
  const other = await registry.as('assent:deliver', { tenant: 'provincie' });
  expect((await ask(other).expect(404)).body.code).toBe('grant_not_found');
  expect((await ask(tenant.subscriber).expect(403)).body.code).toBe('scope_missing');
});

async function openKey() {
  const [row] = await registry.sql<{ id: string; privatekey: string }>('select id::text, privatekey from registry_key');
  const vault = createVault(await openDevelopmentKeys(registry.env['ASSENT_DATA'] ?? ''));
  const context = { tenant: '', owner: `registry_key:${row?.id}` };
  return { vault, context, jwk: (await vault.open(row?.privatekey ?? '', context)) as JsonWebKey, row };
}

test('nothing that a registry key signs is a token for the API', async () => {
  const grantToken = await tokenOf(tenant.sender);
  const { kid } = decodeProtectedHeader(grantToken);
  const { jwk } = await openKey();
  const now = Math.floor(Date.now() / 1_000);
  const signed = (header: object, claims: object) => {
    const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${sign(null, Buffer.from(text), createPrivateKey({ key: jwk, format: 'jwk' })).toString('base64url')}`;
  };
  const claims = { aud: 'assent', sub: 'a', client_id: 'a', tenant: 'gemeente', scope: 'assent:admin', iat: now };
  const access = { ...claims, exp: now + 600, jti: randomUUID() };
  // For real, what the registry itself would accept but for the key.
  const forged = ['EdDSA', 'Ed25519', 'ES256'].flatMap((alg) =>
    ['urn:assent:development', iss].map((issuer) => signed({ alg, typ: 'at+jwt', kid }, { ...access, iss: issuer })),
  );
  for (const token of [grantToken, ...forged]) {
    const answer = await fetch(new URL('/v1/grants', registry.url), { headers: { Authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(401);
  }
  // Even if an operator lists the registry as an issuer of tokens, a grant is none.
  const authenticate = createAuthenticate({
    issuers: [{ issuer: iss, audience: ['assent', sink], algorithms: ['EdDSA'], keys: keySet(), tenant: 'gemeente' }],
  });
  const refused = await authenticate(`Bearer ${grantToken}`).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'unauthenticated', faults: [{ rule: 'token_typ' }] });
});

test('the private part is sealed for its row, and resealed with the other secrets', async () => {
  const { row, jwk, context } = await openKey();
  expect(row?.privatekey).not.toContain(jwk.d);
  const [old = { id: '', key: new Uint8Array() }] = await openDevelopmentKeys(registry.env['ASSENT_DATA'] ?? '');
  const next = createVault([{ id: 'next', key: Buffer.alloc(32, 1) }, old]);
  expect(await resealSecrets(registry.service.database, next)).toBeGreaterThan(0);
  const [resealed] = await registry.sql<{ privatekey: string }>('select privatekey from registry_key');
  expect(resealed?.privatekey.startsWith(next.beginnings[0])).toBe(true);
  await resealSecrets(registry.service.database, createVault([old, { id: 'next', key: Buffer.alloc(32, 1) }]));
  expect((await openKey()).context).toEqual(context);
});

test('after 180 days there is another key, a day before it signs; the old one is published until its last grant is over', async () => {
  const { forget } = registry.service;
  const kidOf = async () => {
    await forget();
    await registry.sql('update "grant" set version = version + 1');
    return decodeProtectedHeader(await tokenOf(tenant.sender)).kid;
  };
  const pass = (days: number) =>
    registry.sql(`update registry_key set createdat = createdat - make_interval(days => ${days})`);
  const kids = async () => (await published()).filter(({ kty }) => kty === 'OKP').map(({ kid }) => kid as string);
  const rows = () =>
    registry.sql<{ has: boolean }>('select privatekey is not null as has from registry_key order by createdat');
  const token = await tokenOf(tenant.sender);
  const first = await kidOf();
  expect(await kids()).toEqual([first]);

  await pass(180);
  expect([await kidOf(), await kidOf()]).toEqual([first, first]);
  const [, second] = await kids();
  expect(await kids()).toEqual([first, second]);

  await pass(1);
  expect(await kidOf()).toBe(second);
  expect(await rows()).toEqual([{ has: true }, { has: true }]);
  await pass(2);
  expect(await kidOf()).toBe(second);
  expect(await rows()).toEqual([{ has: false }, { has: true }]);
  await verify(token);

  await registry.sql(`update registry_key set createdat = now() - interval '5 years 10 days' where privatekey is null`);
  await registry.sql(
    `update registry_key set createdat = now() - interval '5 years 7 days' where privatekey is not null`,
  );
  await forget();
  const last = await kids();
  expect(last).toHaveLength(2);
  expect(last[0]).toBe(second);
});

test('a registry without a public URL issues no token, and the problem names the setting', async () => {
  const bare = await startRegistry({ start: false, withoutPublicUrl: true });
  try {
    const other = await createTenant(bare);
    const name = bare.receiver.sink('/bare');
    const request = { origin: other.origin, sink: name, allowedrate: 5, agreement: 'A' };
    const expiresat = new Date(Date.now() + 86_400_000).toISOString();
    const grant = (
      await other.admin
        .post('/v1/grants')
        .send({ ...request, expiresat })
        .expect(201)
    ).body;
    for (const answer of [await ask(other.sender, grant.id), await match(other.sender, { grantTokens: true })]) {
      expect([answer.status, answer.body.code]).toEqual([409, 'public_url_missing']);
      expect(answer.body.detail).toMatch(/ASSENT_PUBLIC_URL/);
    }
  } finally {
    await bare.stop();
  }
});
