import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { JWTPayload } from 'jose';
import { pino } from 'pino';
import { readConfig } from '../../../src/registry/app/config.js';
import { openIssuers, type Issuers } from '../../../src/registry/tokens/issuers.js';
import { until } from '../../support/until.js';
import { newSigningKey, signed, startJwksServer, type JwksServer, type SigningKey } from '../../support/jwks-server.js';

/**
 * Tokens with the claims that each product writes (their own documentation has them), signed by a key of the test, with the
 * settings of docs/operate/tokens.md.
 */
interface Shape {
  header: { typ?: string | undefined };
  claims: JWTPayload;
}

const now = Math.floor(Date.now() / 1_000);
const times = { iat: now - 60, nbf: now - 60, exp: now + 3_000 };
const [api, browser, program] = [
  '00001111-aaaa-2222-bbbb-3333cccc4444',
  '11112222-bbbb-3333-cccc-4444dddd5555',
  '22223333-cccc-4444-dddd-5555eeee6666',
];
const directory = 'aaaabbbb-0000-cccc-1111-dddd2222eeee';
const oid = '6e8a9b40-1b2c-4d5e-8f60-718293a4b5c6';
const admin = new Set(['assent:admin']);
const deliver = new Set(['assent:deliver']);

const entra = {
  header: { typ: 'JWT' },
  claims: {
    ...times,
    aud: api,
    iss: `https://login.microsoftonline.com/${directory}/v2.0`,
    aio: 'opaque',
    rh: 'opaque',
    tid: directory,
    uti: 'KX7d',
    ver: '2.0',
  },
};
const keycloak = {
  header: { typ: 'JWT' },
  claims: {
    ...times,
    jti: 'onrtac:d58f5dc8',
    iss: 'https://keycloak.example.com/realms/gemeente',
    aud: ['assent', 'account'],
    sub: '36fa0f91-f94d-4a0c-afed-6b7d952e47da',
    typ: 'Bearer',
    acr: '1',
    realm_access: { roles: ['offline_access', 'uma_authorization'] },
    scope: 'email profile',
  },
};
const ofKeycloak = (...roles: string[]) => ({
  resource_access: { assent: { roles }, account: { roles: ['view-profile'] } },
});
const auth0 = {
  header: { typ: 'JWT' },
  claims: { ...times, iss: 'https://example.eu.auth0.com/', aud: 'https://assent.example.com' },
};
const okta = {
  header: { typ: undefined },
  claims: {
    ...times,
    ver: 1,
    jti: 'AT.xtjhr8FeMkyMfgLiFzVYOYPbgqWdd6ONULT3ffeK7d4',
    iss: 'https://example.okta.com/oauth2/default',
    aud: 'api://assent',
  },
};
const cognito = {
  header: { typ: undefined },
  claims: {
    ...times,
    iss: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Example',
    version: 2,
    token_use: 'access',
    auth_time: now - 60,
    jti: 'd49208e7',
  },
};

const shape = ({ header, claims }: Shape, more: JWTPayload): Shape => ({ header, claims: { ...claims, ...more } });

interface Expected {
  subscriber: string;
  client: string;
  person?: object;
  scopes: ReadonlySet<string>;
}

const accepted: Array<[string, Shape, Expected]> = [
  [
    'Entra: a person',
    shape(entra, {
      azp: browser,
      azpacr: '0',
      name: 'Ans de Vries',
      oid,
      preferred_username: 'ans@gemeente.example',
      roles: ['assent:admin'],
      scp: 'access',
      sub: 'pairwise-AAAA',
    }),
    { subscriber: browser, client: browser, person: { id: oid, name: 'Ans de Vries' }, scopes: admin },
  ],
  [
    'Entra: an application alone',
    shape(entra, { azp: program, azpacr: '1', oid, roles: ['assent:deliver'], sub: oid }),
    { subscriber: program, client: program, scopes: deliver },
  ],
  [
    'Entra: an application alone, at its own registration',
    shape(entra, { azp: api, azpacr: '2', idtyp: 'app', oid, roles: ['assent:deliver'], sub: oid }),
    { subscriber: api, client: api, scopes: deliver },
  ],
  [
    'Entra, version 1: a person',
    shape(entra, {
      aud: `api://${api}`,
      iss: `https://sts.windows.net/${directory}/`,
      ver: '1.0',
      appid: browser,
      appidacr: '0',
      acr: '1',
      amr: ['pwd'],
      oid,
      roles: ['assent:admin'],
      scp: 'access',
      sub: 'pairwise-BBBB',
      unique_name: 'ans@gemeente.example',
      upn: 'ans@gemeente.example',
    }),
    { subscriber: browser, client: browser, person: { id: oid, name: 'ans@gemeente.example' }, scopes: admin },
  ],
  [
    'Entra, version 1: an application alone',
    shape(entra, {
      aud: `api://${api}`,
      iss: `https://sts.windows.net/${directory}/`,
      ver: '1.0',
      appid: program,
      appidacr: '1',
      oid,
      roles: ['assent:deliver'],
      sub: oid,
    }),
    { subscriber: program, client: program, scopes: deliver },
  ],
  [
    'Keycloak: a person of a team, with the nonce that older versions add',
    shape(keycloak, {
      azp: 'assent-console',
      sid: '2a88c258',
      nonce: 'n-0S6',
      'allowed-origins': ['https://assent.example.com'],
      ...ofKeycloak('assent:admin'),
      email_verified: true,
      name: 'Ans de Vries',
      preferred_username: 'ans',
      team: 'burgerzaken',
    }),
    {
      subscriber: 'burgerzaken',
      client: 'assent-console',
      person: { id: keycloak.claims.sub, name: 'Ans de Vries' },
      scopes: admin,
    },
  ],
  [
    'Keycloak: a service account',
    shape(keycloak, {
      azp: 'Mailroom',
      clientHost: '192.0.2.1',
      clientAddress: '192.0.2.1',
      client_id: 'Mailroom',
      email_verified: false,
      preferred_username: 'service-account-mailroom',
      ...ofKeycloak('assent:deliver'),
    }),
    { subscriber: 'Mailroom', client: 'Mailroom', scopes: deliver },
  ],
  [
    'Auth0: a person',
    shape(auth0, {
      sub: 'auth0|123456',
      aud: ['https://assent.example.com', 'https://example.eu.auth0.com/userinfo'],
      azp: 'my_client_id',
      scope: 'openid profile assent:admin',
      permissions: ['assent:admin'],
      'https://assent.example.com/name': 'Ans de Vries',
    }),
    {
      subscriber: 'my_client_id',
      client: 'my_client_id',
      person: { id: 'auth0|123456', name: 'Ans de Vries' },
      scopes: admin,
    },
  ],
  [
    'Auth0 with the profile of RFC 9068: a person',
    {
      ...shape(auth0, {
        sub: 'auth0|123456',
        client_id: 'my_client_id',
        jti: '73WakrfVbNJBaAmhQtEeDv',
        scope: 'assent:admin',
      }),
      header: { typ: 'at+jwt' },
    },
    { subscriber: 'my_client_id', client: 'my_client_id', person: { id: 'auth0|123456' }, scopes: admin },
  ],
  [
    'Auth0: a program',
    shape(auth0, { sub: 'OOZH6s5s@clients', azp: 'OOZH6s5s', gty: 'client-credentials', scope: 'assent:deliver' }),
    { subscriber: 'OOZH6s5s', client: 'OOZH6s5s', scopes: deliver },
  ],
  [
    'Okta: a person',
    shape(okta, {
      cid: '0oaosna3ilNxgPTmk0h7',
      uid: '00uixa271s6x7qt8I0h7',
      scp: ['openid', 'assent:admin'],
      auth_time: now - 60,
      sub: 'ans@gemeente.example',
    }),
    {
      subscriber: '0oaosna3ilNxgPTmk0h7',
      client: '0oaosna3ilNxgPTmk0h7',
      person: { id: '00uixa271s6x7qt8I0h7', name: 'ans@gemeente.example' },
      scopes: admin,
    },
  ],
  [
    'Okta: a program',
    shape(okta, { cid: '0oa8acv8gbBPRCZ7I5d7', scp: ['assent:deliver'], sub: '0oa8acv8gbBPRCZ7I5d7' }),
    { subscriber: '0oa8acv8gbBPRCZ7I5d7', client: '0oa8acv8gbBPRCZ7I5d7', scopes: deliver },
  ],
  [
    'Cognito: a person',
    shape(cognito, {
      sub: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      'cognito:groups': ['assent:admin'],
      client_id: '1example23456789',
      origin_jti: 'c3b7',
      event_id: '64f5',
      scope: 'openid',
      username: 'ans',
    }),
    {
      subscriber: '1example23456789',
      client: '1example23456789',
      person: { id: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', name: 'ans' },
      scopes: admin,
    },
  ],
  [
    'Cognito: a program',
    shape(cognito, { sub: '2example23456789', client_id: '2example23456789', scope: 'assent/assent:deliver' }),
    { subscriber: '2example23456789', client: '2example23456789', scopes: deliver },
  ],
];

const logoutEvent = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } };

const refused: Array<[string, Shape, rule?: string]> = [
  // One registration is the API and the console: the audience is right, and the roles are there.
  ['an ID token of Entra', shape(entra, { name: 'Ans', nonce: 'n', oid, roles: ['assent:admin'], sub: 'AAAA' })],
  ['an ID token of Entra without a nonce', shape(entra, { name: 'Ans', oid, roles: ['assent:admin'], sub: 'AAAA' })],
  [
    'an ID token of Keycloak',
    shape(keycloak, { typ: 'ID', azp: 'assent', nonce: 'n', at_hash: 'h', ...ofKeycloak('assent:admin') }),
  ],
  ['a refresh token of Keycloak', shape(keycloak, { typ: 'Refresh', azp: 'assent', ...ofKeycloak('assent:admin') })],
  ['an offline token of Keycloak', shape(keycloak, { typ: 'Offline', azp: 'assent', ...ofKeycloak('assent:admin') })],
  ['a logout token of Keycloak', shape(keycloak, { typ: 'Logout', azp: 'assent', ...logoutEvent })],
  ['an ID token of Auth0', shape(auth0, { sub: 'auth0|1', nonce: 'n', scope: 'assent:admin', azp: 'my_client_id' })],
  ['an ID token of Auth0 with a hash', shape(auth0, { sub: 'auth0|1', c_hash: 'h', azp: 'my_client_id' })],
  [
    'an ID token whose client is its audience',
    shape(auth0, { sub: 'auth0|1', azp: 'https://assent.example.com', permissions: ['assent:admin'] }),
  ],
  ['an ID token of Okta', shape(okta, { sub: '00u', jti: 'ID.x', amr: ['pwd'], idp: '00o', scp: ['assent:admin'] })],
  ['an ID token of Okta with a hash', shape(okta, { sub: '00u', cid: '0oa', at_hash: 'h', scp: ['assent:admin'] })],
  [
    'an ID token of Cognito',
    shape(cognito, {
      token_use: 'id',
      aud: '1example23456789',
      client_id: '1example23456789',
      sub: 'a',
      'cognito:groups': ['assent:admin'],
    }),
  ],
  [
    'a logout token with the type of an access token',
    { ...shape(auth0, { sub: 'a', client_id: 'b', ...logoutEvent }), header: { typ: 'at+jwt' } },
  ],
  ...[
    { cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' }, typ: 'DPoP' },
    { cnf: { 'x5t#S256': 'bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2' } },
    { typ: 'DPoP' },
  ].map((bound): [string, Shape, string] => [
    `a token of Keycloak that is bound to its client by ${Object.keys(bound.cnf ?? bound).join()}`,
    shape(keycloak, { azp: 'assent', typ: 'Bearer', ...ofKeycloak('assent:admin'), ...bound }),
    'token_cnf',
  ]),
  ['a token of Cognito for another client', shape(cognito, { client_id: '3example', sub: 'a' }), 'token_client_id'],
  [
    'a token of Entra for another API',
    shape(entra, { aud: browser, azp: program, azpacr: '1', oid, sub: oid }),
    'token_aud',
  ],
];

/** The settings of the page, with the keys of the test. Entra's stand for both of its versions. */
function documented(keys: string): Array<Record<string, unknown>> {
  const page = readFileSync('docs/operate/tokens.md', 'utf8');
  const section = page.slice(page.indexOf('## Ready settings'), page.indexOf('\n## Scopes'));
  const blocks = [...section.matchAll(/```json\n(.+?)```/gs)].flatMap(
    ([, text = '']) => JSON.parse(text) as Array<Record<string, unknown>>,
  );
  expect(blocks).toHaveLength(5);
  const first = { ...blocks[0], issuer: `https://sts.windows.net/${directory}/`, audience: `api://${api}` };
  return [first, ...blocks].map((entry) => ({ ...entry, jwks: keys }));
}

let key: SigningKey;
let server: JwksServer;
const lines: string[] = [];

beforeAll(async () => {
  [key, server] = await Promise.all([newSigningKey('rs', 'RS256'), startJwksServer()]);
  server.publishes(key.publicJwk);
});
afterAll(() => server.stop());

async function open(entries: Array<Record<string, unknown>>): Promise<Issuers> {
  const { tokens, dataFolder } = readConfig({
    ASSENT_DEVELOPMENT_ISSUER: 'false',
    ASSENT_ISSUERS: JSON.stringify(entries),
  });
  lines.splice(0);
  return openIssuers({ ...tokens, dataFolder }, pino({ level: 'info' }, { write: (line) => void lines.push(line) }));
}

const tokenOf = ({ header, claims }: Shape, by = key) => signed(by, claims, { typ: header.typ });

const ruleOf = (issuers: Issuers, token: string) =>
  Promise.resolve(issuers.tokens.authenticate(`Bearer ${token}`)).then(
    () => 'accepted',
    (error) => error.faults?.[0].rule ?? error,
  );

test.each(accepted)('%s is read with the settings of the guide', async (_, given, expected) => {
  const { tokens } = await open(documented(server.url));
  const { subscriber, client, person, scopes, tenant } = await tokens.authenticate(`Bearer ${await tokenOf(given)}`);
  expect({ subscriber, client, scopes, tenant, ...(person && { person }) }).toEqual({
    ...expected,
    tenant: 'gemeente',
  });
  expect(lines).toEqual([]);
});

test.each(refused)('%s is refused', async (_, given, rule = 'token_typ') => {
  expect(await ruleOf(await open(documented(server.url)), await tokenOf(given))).toBe(rule);
});

const settled = {
  aud: 'assent',
  iss: 'https://login.example.com',
  ...times,
  tenant: 'gemeente',
  client_id: 'c',
  sub: 'c',
};
const plain = { issuer: settled.iss, audience: 'assent', algorithms: ['RS256'], tokentypes: ['JWT'] };
const misfits: Array<[setting: string, entry: object, claims: object, advice: string, rule: string]> = [
  ['algorithms', { algorithms: ['PS256'] }, {}, 'set "algorithms": ["PS256","RS256"]', 'token_alg'],
  ['tokentypes', { tokentypes: ['at+jwt'] }, {}, 'set "tokentypes": ["at+jwt","JWT"]', 'token_typ'],
  ['audience', { audience: 'other' }, {}, '"audience" lacks "assent"', 'token_aud'],
  ['audienceclaims', {}, { aud: undefined }, 'set "audienceclaims"', 'token_aud'],
  ['tenantclaims', { tenantclaims: ['tid'] }, {}, 'set "tenant", or "tenantclaims"', 'token_tid'],
  ['tenants', { tenants: ['other'] }, {}, 'add "gemeente" to "tenants"', 'token_tenant'],
  ['subscriberclaims', { subscriberclaims: ['team'] }, {}, 'set "subscriberclaims"', 'token_team'],
  ['scopeclaims', {}, { a: { b: ['assent:admin'] } }, 'add "a.b" to "scopeclaims"', 'accepted'],
  ['scopeprefix', {}, { scope: 'x openid api/assent:admin' }, 'set "scopeprefix": "api/"', 'accepted'],
  ['issuer', { issuer: 'https://login.example.com/' }, {}, 'no entry of ASSENT_ISSUERS', 'token_iss'],
];

test.each(misfits)(
  'a token that %s would accept is a line in the log with that setting, once, and no more to its caller',
  async (_, entry, claims, advice, rule) => {
    const issuers = await open([{ ...plain, ...entry, jwks: server.url }]);
    for (const jti of ['a', 'b']) {
      const token = await signed(key, { ...settled, ...claims, jti }, { typ: 'JWT' });
      expect(await ruleOf(issuers, token)).toBe(rule);
    }
    await until(() => lines.length > 0);
    const [line, ...others] = lines.map((each) => JSON.parse(each) as Record<string, unknown>);
    expect(line).toMatchObject({
      issuer: settled.iss,
      rule: rule === 'accepted' ? 'token_scope' : rule,
      advice: expect.stringContaining(advice),
    });
    expect(others).toEqual([]);
  },
);

test('a token that the issuer did not sign says nothing in the log, whatever it claims', async () => {
  const issuers = await open([{ ...plain, algorithms: ['PS256'], jwks: server.url }]);
  const forged = { ...(await newSigningKey('rs', 'RS256')), kid: key.kid };
  expect(await ruleOf(issuers, await signed(forged, settled, { typ: 'JWT' }))).toBe('token_alg');
  const typed = await open([{ ...plain, tokentypes: ['at+jwt'], jwks: server.url }]);
  expect(await ruleOf(typed, await signed(forged, settled, { typ: 'JWT' }))).toBe('token_signature');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(lines).toEqual([]);
});
