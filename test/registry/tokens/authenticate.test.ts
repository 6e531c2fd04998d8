import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { exportSPKI, importJWK, SignJWT, UnsecuredJWT, type CryptoKey, type JWTPayload } from 'jose';
import { pino } from 'pino';
import { readConfig } from '../../../src/registry/app/config.js';
import {
  acceptedAlgorithms,
  createAuthenticate,
  type AuthenticateSettings,
  type TokenIssuer,
} from '../../../src/registry/tokens/authenticate.js';
import { openIssuers } from '../../../src/registry/tokens/issuers.js';
import { createRemoteKeySource } from '../../../src/registry/tokens/keys.js';
import { createClock } from '../../support/clock.js';
import { newSigningKey, signed, startJwksServer, type JwksServer, type SigningKey } from '../../support/jwks-server.js';

const issuer = 'https://login.example.com';
const audience = 'https://assent.example.com';
const nowSeconds = 1_800_000_000;

let es256: SigningKey;
let ps256: SigningKey;
let rs256: SigningKey;
let server: JwksServer;
let keysNow: number;

beforeAll(async () => {
  [es256, ps256, rs256] = await Promise.all([
    newSigningKey('es'),
    newSigningKey('ps', 'PS256'),
    newSigningKey('rs', 'RS256'),
  ]);
});

beforeEach(async () => {
  server = await startJwksServer();
  server.publishes(es256.publicJwk, ps256.publicJwk, rs256.publicJwk);
  keysNow = 0;
});

afterEach(() => server.stop());

const allButRs256 = acceptedAlgorithms.filter((algorithm) => algorithm !== 'RS256');

/** With one issuer, or as the settings say. */
function authenticator(settings: Partial<AuthenticateSettings> = {}, rules: Partial<TokenIssuer> = {}) {
  const keys = createRemoteKeySource({ url: server.url, clock: () => keysNow });
  return createAuthenticate({
    issuers: [{ issuer, audience: [audience], algorithms: allButRs256, keys, ...rules }],
    clock: () => nowSeconds * 1000,
    ...settings,
  });
}

function claims(changes: Record<string, unknown> = {}): JWTPayload {
  return {
    iss: issuer,
    aud: audience,
    iat: nowSeconds - 60,
    exp: nowSeconds + 540,
    tenant: 'gemeente-utrecht',
    client_id: 'zaaksysteem',
    sub: 'user-7',
    scope: 'openid assent:subscribe assent:deliver',
    ...changes,
  };
}

/** The rule that refused the token, or the tenant of an accepted one. */
function verdict(token: string, authenticate = authenticator()): Promise<string> {
  return authenticate(`Bearer ${token}`).then(
    ({ tenant }) => tenant,
    (error) => (error.code === 'unauthenticated' ? error.faults[0].rule : error.code),
  );
}

test('a valid token gives its tenant, client, person, known scopes and expiry', async () => {
  expect(await authenticator()(`bEARER  ${await signed(es256, claims())}`)).toEqual({
    tenant: 'gemeente-utrecht',
    subscriber: 'zaaksysteem',
    client: 'zaaksysteem',
    issuer: 'https://login.example.com',
    person: { id: 'user-7' },
    scopes: new Set(['assent:subscribe', 'assent:deliver']),
    tokenExpiresAt: (nowSeconds + 540) * 1000,
    claims: expect.any(Function),
  });
});

test('a PS256 token is accepted', async () => {
  expect(await verdict(await signed(ps256, claims()))).toBe('gemeente-utrecht');
});

/** The names of every tenant, of the service and of callbacks, in all spellings that look like them. */
const reservedNames = [
  '*',
  'a*',
  '\uff0a',
  '\u2217',
  'assent',
  'Assent',
  '\uff41ssent',
  'as\u00adsent',
  'callback',
  'CALLBACK',
];
/** Of `gemeente utrecht`: two tenants would look the same. */
const sameLooks = [
  ...[
    ' gemeente',
    'gemeente ',
    'gemeente  utrecht',
    'gemeente\u00a0utrecht',
    'gemeente\u3000utrecht',
    '\u2800',
    '\u3164',
  ],
  ...['geme\u0301ente', '\ufb01n', 'gemeente\ufe0f', 'gemeente\u200b', 'gemeente\u2066', '\u{e0001}gemeente', ' '],
];

const refusedClaims: Array<[string, Record<string, unknown>, string]> = [
  ['without exp', { exp: undefined }, 'token_exp'],
  ['without aud', { aud: undefined }, 'token_aud'],
  ['without iss', { iss: undefined }, 'token_iss'],
  ['without iat', { iat: undefined }, 'token_iat'],
  ['with an exp that is a string', { exp: '2100-01-01' }, 'token_exp'],
  ['for another audience', { aud: 'https://other.example.com' }, 'token_aud'],
  ['from an issuer that is not configured', { iss: 'https://evil.example.com' }, 'token_iss'],
  ['whose issuer has an extra slash', { iss: `${issuer}/` }, 'token_iss'],
  ['issued in the future', { iat: nowSeconds + 6 }, 'token_iat'],
  ['that is not valid yet', { nbf: nowSeconds + 6 }, 'token_nbf'],
  ['that expired exactly as long ago as the tolerance', { exp: nowSeconds - 5 }, 'token_expired'],
  ['issued more than a day ago', { iat: nowSeconds - 86_406 }, 'token_too_old'],
  ['without a tenant', { tenant: undefined }, 'token_tenant'],
  ['with an empty tenant', { tenant: '' }, 'token_tenant'],
  ['with a tenant that is a list', { tenant: ['a'] }, 'token_tenant'],
  ['with a tenant of 201 characters', { tenant: 'a'.repeat(201) }, 'token_tenant'],
  ['with a newline in its tenant', { tenant: 'a\nb' }, 'token_tenant'],
  ['with NUL in its tenant', { tenant: 'a\u0000' }, 'token_tenant'],
  ['with half a surrogate pair in its tenant', { tenant: 'a\ud800' }, 'token_tenant'],
  ['with a bidirectional control character in its tenant', { tenant: 'a\u202eb' }, 'token_tenant'],
  ['with a client that is empty, whatever its sub', { client_id: '' }, 'token_client_id'],
  ['with a client that is null, whatever its sub', { client_id: null }, 'token_client_id'],
  ...['tenant', 'client_id'].flatMap((claim) =>
    [...reservedNames, ...sameLooks].map((name): [string, Record<string, unknown>, string] => [
      `with ${JSON.stringify(name)} as its ${claim}`,
      { [claim]: name },
      `token_${claim}`,
    ]),
  ),
  ['with neither client nor sub', { client_id: undefined, sub: undefined }, 'token_sub'],
];

test.each(refusedClaims)('a token %s is refused, and the fault names the check', async (_, changes, rule) => {
  expect(await verdict(await signed(es256, claims(changes)))).toBe(rule);
});

const acceptedClaims: Array<[string, Record<string, unknown>]> = [
  ['that expired within the tolerance', { exp: nowSeconds - 4 }],
  ['issued in the future within the tolerance', { iat: nowSeconds + 5 }],
  ['with the right audience among others', { aud: ['https://other.example.com', audience] }],
  ['issued a day ago', { iat: nowSeconds - 86_400 }],
];

test.each(acceptedClaims)('a token %s is accepted', async (_, changes) => {
  expect(await verdict(await signed(es256, claims(changes)))).toBe('gemeente-utrecht');
});

test('a tenant of 200 characters beyond ASCII is accepted', async () => {
  const tenant = 'é'.repeat(200);
  expect(await verdict(await signed(es256, claims({ tenant })))).toBe(tenant);
});

test.each([['JWT'], ['dpop+jwt'], [undefined]])('a token of the type %s is refused', async (typ) => {
  expect(await verdict(await signed(es256, claims(), { typ }))).toBe('token_typ');
});

test('the long form of the type is the same type, and others are accepted from issuers that are configured so', async () => {
  expect(await verdict(await signed(es256, claims(), { typ: 'application/AT+jwt' }))).toBe('gemeente-utrecht');
  const untyped = authenticator({}, { tokentypes: ['JWT'] });
  for (const typ of ['JWT', 'application/jwt', undefined]) {
    expect(await verdict(await signed(es256, claims(), { typ }), untyped)).toBe('gemeente-utrecht');
  }
  expect(await verdict(await signed(es256, claims()), untyped)).toBe('token_typ');
});

test('an unsigned token is refused', async () => {
  const unsigned = new UnsecuredJWT(claims()).encode();
  expect(await verdict(unsigned)).toBe('token_alg');
  expect(await verdict(unsigned, authenticator({}, { tokentypes: ['JWT'] }))).toBe('token_alg');
});

test('an HS256 token with the public key as its secret is refused', async () => {
  const pem = await exportSPKI((await importJWK(rs256.publicJwk, 'RS256', { extractable: true })) as CryptoKey);
  const header = { alg: 'HS256', typ: 'at+jwt', kid: rs256.kid };
  const forged = await new SignJWT(claims()).setProtectedHeader(header).sign(new TextEncoder().encode(pem));
  expect(await verdict(forged)).toBe('token_alg');
});

test('RS256 is refused unless it is configured for the issuer', async () => {
  const token = await signed(rs256, claims());
  expect(await verdict(token)).toBe('token_alg');
  expect(await verdict(token, authenticator({}, { algorithms: ['RS256'] }))).toBe('gemeente-utrecht');
});

test('modified claims and a foreign signature are refused', async () => {
  const [header, , signature] = (await signed(es256, claims())).split('.');
  const [, altered] = (await signed(es256, claims({ tenant: 'other' }))).split('.');
  expect(await verdict(`${header}.${altered}.${signature}`)).toBe('token_signature');
  const foreign = { ...(await newSigningKey('es')), kid: es256.kid };
  expect(await verdict(await signed(foreign, claims()))).toBe('token_signature');
});

test('a token of one issuer is not verified with the keys of another', async () => {
  const other = await startJwksServer();
  const otherKey = await newSigningKey(es256.kid);
  other.publishes(otherKey.publicJwk);
  const algorithms = ['ES256'];
  const authenticate = createAuthenticate({
    issuers: [
      { issuer, audience: [audience], algorithms, keys: createRemoteKeySource({ url: server.url }) },
      { issuer: 'https://b.example', audience: ['b'], algorithms, keys: createRemoteKeySource({ url: other.url }) },
    ],
    clock: () => nowSeconds * 1000,
  });
  const b = claims({ iss: 'https://b.example', aud: 'b' });
  expect(await verdict(await signed(otherKey, b), authenticate)).toBe('gemeente-utrecht');
  expect(await verdict(await signed(otherKey, claims()), authenticate)).toBe('token_signature');
  expect(await verdict(await signed(otherKey, { ...b, aud: audience }), authenticate)).toBe('token_aud');
  await other.stop();
});

test.each([
  ['no header', undefined, 'token_missing'],
  ['an empty header', '', 'token_missing'],
  ['another scheme', 'Basic YTpi', 'token_missing'],
  ['the scheme alone', 'Bearer ', 'token_malformed'],
  ['two tokens in one line', 'Bearer a.b.c, Bearer a.b.c', 'token_malformed'],
  ['something that is not a JWT', 'Bearer abc', 'token_malformed'],
  ['an encrypted token', 'Bearer e30.e30.e30.e30.e30', 'token_malformed'],
])('%s is refused without a fetch', async (_, authorization, rule) => {
  await expect(authenticator()(authorization)).rejects.toMatchObject({
    code: 'unauthenticated',
    faults: [{ pointer: 'header/authorization', rule }],
  });
  expect(server.fetches()).toBe(0);
});

test('a valid token of more than 8 KiB is refused', async () => {
  const base = (await signed(es256, claims({ pad: '' }))).length;
  const padding = Math.floor(((8_192 - base) * 3) / 4);
  expect(await verdict(await signed(es256, claims({ pad: 'x'.repeat(padding - 3) })))).toBe('gemeente-utrecht');
  expect(await verdict(await signed(es256, claims({ pad: 'x'.repeat(padding + 3) })))).toBe('token_too_long');
});

test('no error message repeats the token or its claims', async () => {
  const token = await signed(es256, claims({ aud: 'planted-audience', tenant: 'planted-tenant' }));
  const error = await authenticator()(`Bearer ${token}`).catch((reason) => reason);
  expect(error.message).toBe('The token is not meant for this service (aud).');
  expect(JSON.stringify([error, error.message, error.cause])).not.toMatch(/planted|eyJ/);
});

test('during an outage tokens with a known key are accepted, and others get keys_unavailable instead of a refusal', async () => {
  const authenticate = authenticator();
  const known = await signed(es256, claims());
  const unknown = await signed(await newSigningKey('rotated'), claims());
  await verdict(known, authenticate);
  keysNow = 30_000;
  expect(await verdict(unknown, authenticate)).toBe('token_kid');
  server.breaks();
  keysNow = 60_000;
  expect(await verdict(unknown, authenticate)).toBe('keys_unavailable');
  expect(await verdict(known, authenticate)).toBe('gemeente-utrecht');
});

test('an issuer can be limited to one tenant or to a list of tenants', async () => {
  const confined = (limits: { tenant?: string; tenants?: string[] }) => authenticator({}, limits);
  const token = (tenant: string | undefined) => signed(es256, claims({ tenant }));
  const listed = confined({ tenants: ['gemeente-utrecht', 'gemeente-zeist'] });
  expect(await verdict(await token('gemeente-zeist'), listed)).toBe('gemeente-zeist');
  expect(await verdict(await token('rijk'), listed)).toBe('token_tenant');
  expect(await verdict(await token(undefined), listed)).toBe('token_tenant');
  const fixed = confined({ tenant: 'gemeente-zeist' });
  for (const claimed of ['rijk', undefined]) expect(await verdict(await token(claimed), fixed)).toBe('gemeente-zeist');
});

test('a token that names no key is refused if several keys fit, and accepted if only one does', async () => {
  const token = await signed(es256, claims(), { kid: undefined });
  expect(await verdict(token)).toBe('gemeente-utrecht');
  server.publishes(es256.publicJwk, (await newSigningKey('second')).publicJwk);
  expect(await verdict(token)).toBe('token_kid');
});

test.each([
  ['a list in scope', { scope: ['assent:admin'] }, ['assent:admin']],
  ['scp beside an empty scope', { scope: '', scp: 'assent:deliver' }, ['assent:deliver']],
  ['words in scp', { scope: undefined, scp: 'assent:admin assent:deliver' }, ['assent:admin', 'assent:deliver']],
  ['a list in scp', { scope: undefined, scp: ['assent:deliver'] }, ['assent:deliver']],
  ['a name that only starts like a scope', { scope: 'assent:admin2 ASSENT:ADMIN' }, []],
  ['an object', { scope: { 'assent:admin': true } }, []],
  ['nothing', { scope: undefined }, []],
])('scopes are read from %s', async (_, changes, expected) => {
  const { scopes } = await authenticator()(`Bearer ${await signed(es256, claims(changes))}`);
  expect([...scopes]).toEqual(expected);
});

test('a token that becomes too old before it expires ends at that moment', async () => {
  const token = await signed(es256, claims({ exp: nowSeconds + 1_000_000_000 }));
  const principal = await authenticator()(`Bearer ${token}`);
  expect(principal.tokenExpiresAt).toBe((nowSeconds - 60 + 86_400) * 1000);
});

test('the names of the claims are configurable, also as paths, and the first that the token has counts', async () => {
  const authenticate = authenticator(
    {},
    {
      tenantclaims: ['https://example.com/org', 'org'],
      clientclaims: ['azp'],
      subscriberclaims: ['groups.team', 'azp'],
      scopeclaims: ['scp', 'resource_access.as.sent.roles'],
      scopeprefix: 'api/',
    },
  );
  const others = {
    azp: 'browser',
    resource_access: { 'as.sent': { roles: ['assent:deliver'] } },
    scp: ['api/assent:admin'],
  };
  const of = async (more: object) => authenticate(`Bearer ${await signed(es256, claims({ ...others, ...more }))}`);
  expect(await of({ 'https://example.com/org': 'oin-1', org: 'oin-2', groups: { team: 'team-1' } })).toMatchObject({
    tenant: 'oin-1',
    subscriber: 'team-1',
    client: 'browser',
    scopes: new Set(['assent:admin', 'assent:deliver']),
  });
  expect(await of({ org: 'oin-2' })).toMatchObject({ tenant: 'oin-2', subscriber: 'browser' });
});

test('without a claim that names the client, sub does', async () => {
  const token = await signed(es256, claims({ client_id: undefined }));
  const { subscriber, client, person } = await authenticator()(`Bearer ${token}`);
  expect([subscriber, client, person]).toEqual(['user-7', 'user-7', undefined]);
});

test.each([['none'], ['HS256'], ['RS512'], ['dir'], ['']])('the algorithm "%s" cannot be configured', (algorithm) => {
  expect(() => authenticator({}, { algorithms: ['PS256', algorithm] })).toThrow('Algorithms not accepted');
});

test('an issuer without algorithms, audience or name cannot be configured, nor can one issuer twice', () => {
  const entry = {
    issuer,
    audience: [audience],
    algorithms: ['ES256'],
    keys: createRemoteKeySource({ url: server.url }),
  };
  const configured = (...issuers: (typeof entry)[]) => createAuthenticate.bind(null, { issuers });
  expect(configured(entry)).not.toThrow();
  expect(configured({ ...entry, algorithms: [] })).toThrow('No algorithm');
  expect(configured({ ...entry, audience: [] })).toThrow('No audience');
  expect(configured({ ...entry, issuer: '' })).toThrow('without a name');
  expect(configured(entry, entry)).toThrow('twice');
});

test('an accepted token is refused after its issuer has withdrawn the key', async () => {
  const clock = createClock();
  const { tokens: settings, dataFolder } = readConfig({
    ASSENT_DEVELOPMENT_ISSUER: 'false',
    ASSENT_ISSUERS: JSON.stringify([{ issuer, audience, jwks: server.url }]),
  });
  const { tokens } = await openIssuers({ ...settings, dataFolder }, pino({ level: 'silent' }));
  const come = async (token: string) => tokens.authenticate(`Bearer ${token}`);
  const iat = Math.floor(Date.now() / 1_000);
  const [old, other] = await Promise.all([es256, ps256].map((key) => signed(key, claims({ iat, exp: iat + 600 }))));
  await come(old ?? '');
  server.publishes(ps256.publicJwk);
  clock.pass(25);
  await come(other ?? '');
  await expect(come(old ?? '')).rejects.toMatchObject({ faults: [{ rule: 'token_kid' }] });
  clock.restore();
});
