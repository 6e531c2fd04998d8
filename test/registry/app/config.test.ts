import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, settings } from '../../../src/registry/app/config.js';
import { SetupError } from '../../../src/base/errors.js';
import { createAuthority } from '../../support/certificates.js';

/** The faults of an environment, one per line; none if it is accepted. */
function faultsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(SetupError);
    return (error as Error).message.split('\n').slice(1);
  }
}

const key = (id: string) => `${id}:${randomBytes(32).toString('base64url')}`;
const issuer = { issuer: 'https://issuer.example', audience: 'assent', jwks: 'https://issuer.example/jwks' };
const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://assent:secret@db.example/assent',
  ASSENT_ISSUERS: JSON.stringify([issuer]),
  ASSENT_CREDENTIAL_KEYS: key('2026-11'),
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('an empty environment means development: loopback only, no network allowed, its own tokens', () => {
  expect(readConfig({})).toMatchObject({
    production: false,
    database: { url: undefined },
    api: { host: '127.0.0.1' },
    operations: { host: '127.0.0.1' },
    outbound: { allowedNetworks: [] },
    publicUrl: undefined,
    tokens: { developmentIssuer: true },
  });
});

test('an empty setting counts as missing', () => {
  const empty = Object.fromEntries(settings.map(({ name }) => [name, '']));
  expect(readConfig(empty)).toEqual(readConfig({}));
});

test('all faults are reported at once: wrong values, unknown names, contradictions and files', () => {
  const faults = faultsOf({
    NODE_ENV: 'production',
    ASSENT_PROT: '3000',
    ASSENT_PORT: 'eighty',
    ASSENT_ALLOWED_NETWORKS: '10.0.0.0/8,everything',
    ASSENT_PUBLIC_URL: 'http://assent.example',
    ASSENT_SINK_CA_FILE: join(folder, 'nothing.pem'),
  });
  expect(faults.map((line) => line.trim().split(' ')[0]).sort()).toEqual([
    'ASSENT_ALLOWED_NETWORKS',
    'ASSENT_CREDENTIAL_KEYS',
    'ASSENT_ISSUERS',
    'ASSENT_PORT',
    'ASSENT_PROT',
    'ASSENT_PUBLIC_URL',
    'ASSENT_SINK_CA_FILE',
    'DATABASE_URL',
  ]);
  expect(faults).toContain('  ASSENT_PROT is not a setting');
});

test('a setting that is one of each issuer now says so', () => {
  expect(faultsOf({ ASSENT_SUBSCRIBER_CLAIM: 'team' })).toEqual([
    '  ASSENT_SUBSCRIBER_CLAIM is "subscriberclaims" of an issuer in ASSENT_ISSUERS now',
  ]);
});

test('NODE_ENV is one of three values: a misspelled production must not trust development tokens', () => {
  expect(faultsOf({ NODE_ENV: 'prod' })).toEqual(['  NODE_ENV must be development, test or production']);
});

test('a fault says what is expected, and where inside a value', () => {
  const issuers = [{ issuer: '', audience: [], jwks: 'x', algorithms: ['HS256'], more: 1 }, 5, { audience: 5 }];
  expect(faultsOf({ ASSENT_LOG_LEVEL: 'loud', ASSENT_ISSUERS: JSON.stringify(issuers) })).toEqual([
    '  ASSENT_LOG_LEVEL must be debug, info, warn, error or silent',
    '  ASSENT_ISSUERS (0.issuer) must not be empty',
    '  ASSENT_ISSUERS (0.audience) must not be empty',
    '  ASSENT_ISSUERS (0.jwks) must be an http or https URL',
    expect.stringMatching(/^ {2}ASSENT_ISSUERS \(0\.algorithms\.0\) must be one of PS256, .*RS256$/),
    '  ASSENT_ISSUERS (0) has no member more',
    '  ASSENT_ISSUERS (1) must be an object with issuer, audience and jwks',
    '  ASSENT_ISSUERS (2.issuer) must be a text',
    '  ASSENT_ISSUERS (2.audience) must be a text or a list of texts',
    '  ASSENT_ISSUERS (2.jwks) must be an http or https URL',
  ]);
  expect(faultsOf({ ASSENT_ISSUERS: '{}' })).toEqual(['  ASSENT_ISSUERS must be a list of issuers']);
});

test('production needs a server, issuers and a key, and uses the embedded database only on request', () => {
  expect(faultsOf(production)).toEqual([]);
  expect(faultsOf({ ...production, DATABASE_URL: '' })).toEqual([expect.stringContaining('DATABASE_URL is required')]);
  const embedded = { ...production, DATABASE_URL: '', ASSENT_EMBEDDED_DATABASE: 'true' };
  expect(faultsOf(embedded)).toEqual([]);
  expect(readConfig(embedded)).toMatchObject({
    production: true,
    database: { url: undefined },
    tokens: { developmentIssuer: false },
  });
  expect(faultsOf({ ...production, ASSENT_ISSUERS: '[]' })).toEqual([expect.stringContaining('without an issuer')]);
  expect(faultsOf({ ...production, ASSENT_CREDENTIAL_KEYS: '' })).toEqual([
    expect.stringContaining('ASSENT_CREDENTIAL_KEYS'),
  ]);
});

test('an embedded database and a server contradict each other, and so does neither of them', () => {
  const both = { DATABASE_URL: production.DATABASE_URL, ASSENT_EMBEDDED_DATABASE: 'true' };
  expect(faultsOf(both)).toEqual([expect.stringContaining('contradicts DATABASE_URL')]);
  expect(faultsOf({ ASSENT_EMBEDDED_DATABASE: 'false' })).toEqual([expect.stringContaining('no DATABASE_URL')]);
});

test('a process either writes or follows a replica; a replica is enough in production', () => {
  const replica = { ...production, DATABASE_URL: '', DATABASE_REPLICA_URL: production.DATABASE_URL };
  expect(faultsOf(replica)).toEqual([]);
  expect(readConfig(replica)).toMatchObject({
    database: { url: undefined, replicaUrl: production.DATABASE_URL },
  });
  const both = { ...replica, DATABASE_URL: production.DATABASE_URL };
  expect(faultsOf(both)).toEqual([expect.stringContaining('DATABASE_REPLICA_URL contradicts DATABASE_URL')]);
  expect(faultsOf({ ...replica, ASSENT_EMBEDDED_DATABASE: 'true' })).toEqual([
    expect.stringContaining('contradicts DATABASE_REPLICA_URL'),
  ]);
});

test('a public URL must be https in production, and must never have a query, fragment or user name', () => {
  const inProduction = (url: string) => faultsOf({ ...production, ASSENT_PUBLIC_URL: url });
  expect(inProduction('https://assent.example/')).toEqual([]);
  expect(inProduction('http://assent.example')).toEqual([expect.stringContaining('must be https')]);
  expect(faultsOf({ ASSENT_PUBLIC_URL: 'http://localhost:3000' })).toEqual([]);
  const others = ['https://a.example/?b', 'https://a.example/?', 'https://a.example/#', '/x#y'];
  for (const url of ['assent.example', 'ftp://a.example', 'https://me:pw@a.example', ...others]) {
    expect([url, faultsOf({ ASSENT_PUBLIC_URL: url }).length]).not.toEqual([url, 0]);
  }
});

test('a public URL may have a path, but none that the registry serves itself', () => {
  const faultsAt = (path: string) => faultsOf({ ASSENT_PUBLIC_URL: `https://a.example${path}` });
  for (const path of ['/assent', '/assent/', '/a/v1', '/v1x', '/consoles']) expect(faultsAt(path)).toEqual([]);
  const own = [
    '/v1',
    '/v1/',
    '/console',
    '/docs/a',
    '/guides',
    '/assets',
    '/access',
    '/.well-known/x',
    '/openapi.json',
  ];
  for (const path of [...own, '/a(b)', '/:a', '/*']) expect([path, faultsAt(path).length]).toEqual([path, 1]);
});

test('values for headers are ASCII: a public URL is converted, and a contact is checked', () => {
  const { publicUrl } = readConfig({ ASSENT_PUBLIC_URL: 'HTTPS://gemeente-münchen.example/bürger inn/' });
  expect(publicUrl).toBe('https://xn--gemeente-mnchen-8vb.example/b%C3%BCrger%20inn');
  expect(faultsOf({ ...production, ASSENT_PUBLIC_URL: 'HTTP://assent.example' })).toEqual([
    expect.stringContaining('must be https'),
  ]);
  expect(readConfig({ ASSENT_CONTACT: 'beheer@gemeente.example (service desk)' }).contact).toContain('beheer@');
  expect(readConfig({ ASSENT_OPERATOR: ' Gemeente Súdwest-Fryslân ' }).operator).toBe('Gemeente Súdwest-Fryslân');
  expect(faultsOf({ ASSENT_OPERATOR: 'x'.repeat(101) })).toEqual([expect.stringContaining('at most 100 characters')]);
  for (const contact of ['beheer — gemeente', 'one\r\nX: y']) {
    expect(faultsOf({ ASSENT_CONTACT: contact })).toEqual([expect.stringContaining('ASSENT_CONTACT must be ASCII')]);
  }
});

test.each(['10/8', '010.0.0.0/8', '10.0.0.0/33', '::/129', '::ffff:10.0.0.0/104', 'fe80::%eth0/64', 'localhost', '*'])(
  'the network %s is refused in the list of allowed and of denied networks',
  (network) => {
    for (const name of ['ASSENT_ALLOWED_NETWORKS', 'ASSENT_DENIED_NETWORKS']) {
      const faults = faultsOf({ [name]: `192.168.0.0/16, ${network}` });
      expect(faults).toEqual([expect.stringMatching(`${name} \\(1\\) must be networks`)]);
    }
  },
);

test.each([' ', '0x50', '1e3', '80.5', '-1', '65536', '٣٠٠٠'])('the port "%s" is refused', (port) => {
  for (const name of ['ASSENT_PORT', 'ASSENT_OPERATIONS_PORT']) {
    expect(faultsOf({ [name]: port })).toEqual([`  ${name} must be a whole number from 0 to 65535`]);
  }
  expect(faultsOf({ ASSENT_SINK_PORTS: `443,${port === ' ' ? 'x' : port}` })).toEqual([
    '  ASSENT_SINK_PORTS (1) must be localhost:* or a whole number from 1 to 65535',
  ]);
});

test('two listeners on one port are refused before they start', () => {
  expect(faultsOf({ ASSENT_PORT: '3001' })).toEqual(['  ASSENT_OPERATIONS_PORT is the same as ASSENT_PORT']);
  expect(faultsOf({ ASSENT_PORT: '0', ASSENT_OPERATIONS_PORT: '0' })).toEqual([]);
});

test('PORT is the port of the API unless ASSENT_PORT is set', () => {
  expect(readConfig({ PORT: '8080' }).api.port).toBe(8080);
  expect(readConfig({ PORT: '8080', ASSENT_PORT: '3000' }).api.port).toBe(3000);
  expect(faultsOf({ PORT: '3001' })).toEqual(['  ASSENT_OPERATIONS_PORT is the same as PORT']);
  expect(faultsOf({ PORT: 'http' })).toEqual(['  PORT must be a whole number from 0 to 65535']);
});

test.each(['security@example.com', 'http://example.com/', 'mailto:', 'mailto:a@b.example\nExpires: never'])(
  'the security contact %j is refused: security.txt needs URIs',
  (contact) => {
    expect(faultsOf({ ASSENT_SECURITY_CONTACT: contact })).toEqual([
      expect.stringContaining('must be URIs like mailto:'),
    ]);
  },
);

test('name servers are addresses with a valid port: port 0 would crash the resolver of Node', () => {
  expect(faultsOf({ ASSENT_DNS_SERVERS: '192.0.2.1, 192.0.2.1:5353, 2001:db8::1, [2001:db8::1]:53' })).toEqual([]);
  for (const server of ['192.0.2.1:0', '192.0.2.1:65536', '192.0.2.1:', 'dns.example', '[192.0.2.1]:53', '[::1']) {
    expect(faultsOf({ ASSENT_DNS_SERVERS: server })).toEqual([expect.stringContaining('must be addresses')]);
  }
});

test.each([
  ['text', 'https://issuer.example'],
  ['half a document', '[{"issuer":'],
  ['one object', JSON.stringify(issuer)],
  ['an issuer without audience', JSON.stringify([{ issuer: 'a', jwks: issuer.jwks }])],
  ['an issuer with an unknown member', JSON.stringify([{ ...issuer, audiences: ['b'] }])],
  ['a symmetric algorithm', JSON.stringify([{ ...issuer, algorithms: ['HS256'] }])],
  ['no algorithm', JSON.stringify([{ ...issuer, algorithms: [] }])],
  ['a key set that is not an http URL', JSON.stringify([{ ...issuer, jwks: 'file:///etc/passwd' }])],
  ['a tenant and tenants', JSON.stringify([{ ...issuer, tenant: 'a', tenants: ['b'] }])],
  ['no tenant', JSON.stringify([{ ...issuer, tenants: [] }])],
  ['a tenant that no token can have', JSON.stringify([{ ...issuer, tenant: 'a\nb' }])],
  ...['*', '', 'assent', 'a*', ' a', 'geme\u0301ente'].map((name) => [
    `the tenant ${JSON.stringify(name)}`,
    JSON.stringify([{ ...issuer, tenants: ['gemeente', name] }]),
  ]),
  ['one issuer twice', JSON.stringify([issuer, { ...issuer, audience: 'other' }])],
])('issuers: %s is refused', (_title, value) => {
  expect(faultsOf({ ASSENT_ISSUERS: value })).toEqual([expect.stringContaining('ASSENT_ISSUERS')]);
});

test('keys are 32 bytes, each with its own id', () => {
  expect(readConfig({ ASSENT_CREDENTIAL_KEYS: `${key('new')},${key('old')}` }).credentialKeys).toHaveLength(2);
  expect(faultsOf({ ASSENT_CREDENTIAL_KEYS: `${key('a')},${key('a')}` })).toEqual([expect.stringContaining('twice')]);
  for (const wrong of [`a:${randomBytes(31).toString('base64url')}`, randomBytes(32).toString('base64url'), 'a:']) {
    expect(faultsOf({ ASSENT_CREDENTIAL_KEYS: wrong })).toEqual([expect.stringContaining('32 bytes in base64url')]);
  }
});

test('an unreadable authority file, or one without a certificate, is refused at startup and not at each handshake', async () => {
  const { cert } = await createAuthority();
  const files = {
    good: cert,
    empty: '',
    text: 'not a certificate',
    broken: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  };
  const found = await Promise.all(
    Object.entries(files).map(async ([name, content]) => {
      const path = join(folder, name);
      await writeFile(path, content);
      return [name, faultsOf({ ASSENT_SINK_CA_FILE: path }).length];
    }),
  );
  expect(found).toEqual(Object.entries({ good: 0, empty: 1, text: 1, broken: 1 }));
  expect(faultsOf({ ASSENT_SINK_CA_FILE: folder })).toEqual([expect.stringContaining('EISDIR')]);
});

test('an egress proxy gets public addresses only: each allowed network needs a way around it', () => {
  const proxy = { ASSENT_EGRESS_PROXY: 'http://proxy.example:3128' };
  expect(readConfig(proxy).outbound.proxy).toEqual({ url: proxy.ASSENT_EGRESS_PROXY, ca: undefined, noProxy: [] });
  expect(readConfig({}).outbound.proxy).toBeUndefined();
  const inside = { ...proxy, ASSENT_ALLOWED_NETWORKS: '10.20.0.0/16,127.0.0.1' };
  expect(faultsOf(inside)).toEqual([expect.stringContaining('must have 10.20.0.0/16, 127.0.0.1 of ASSENT_ALLOWED')]);
  for (const way of ['10.20.1.0/24,127.0.0.1', '10.20.0.0/16']) {
    expect([way, faultsOf({ ...inside, ASSENT_EGRESS_NO_PROXY: way }).length]).toEqual([way, 1]);
  }
  expect(faultsOf({ ...inside, ASSENT_EGRESS_NO_PROXY: '10.0.0.0/8,127.0.0.0/8' })).toEqual([]);
  expect(faultsOf({ ASSENT_EGRESS_NO_PROXY: '10.0.0.0/8' })).toEqual([expect.stringContaining('without')]);
  for (const url of ['proxy.example:3128', 'socks5://p:1080', 'http://p:3128/x', 'http://p?x', 'http://a%zz@p']) {
    expect([url, faultsOf({ ASSENT_EGRESS_PROXY: url }).length]).toEqual([url, 1]);
  }
});

test('an authority of the proxy is for an https proxy', async () => {
  const ASSENT_EGRESS_PROXY_CA_FILE = join(folder, 'proxy.pem');
  await writeFile(ASSENT_EGRESS_PROXY_CA_FILE, (await createAuthority()).cert);
  expect(faultsOf({ ASSENT_EGRESS_PROXY: 'https://p:3129', ASSENT_EGRESS_PROXY_CA_FILE })).toEqual([]);
  for (const ASSENT_EGRESS_PROXY of ['', 'http://p:3128']) {
    expect(faultsOf({ ASSENT_EGRESS_PROXY, ASSENT_EGRESS_PROXY_CA_FILE })).toHaveLength(1);
  }
});

test('no message repeats a value that may be secret', () => {
  const secret = 'canary7f3a';
  const faults = faultsOf({
    DATABASE_URL: `postgres//u:${secret}@db.example/assent`,
    ASSENT_PUBLIC_URL: `https://u:${secret}@assent.example`,
    ASSENT_CREDENTIAL_KEYS: `2026:${secret},${secret}`,
    ASSENT_ISSUERS: `[{"issuer":"${secret}","jwks":"${secret}","algorithms":["${secret}"]}]`,
    ASSENT_DNS_SERVERS: secret,
    ASSENT_ALLOWED_NETWORKS: secret,
    ASSENT_SINK_PORTS: secret,
    ASSENT_LOG_LEVEL: secret,
    ASSENT_EGRESS_PROXY: `http://u:${secret}@proxy.example/${secret}`,
    ASSENT_EMBEDDED_DATABASE: secret,
    ASSENT_POLL_MS: secret,
  });
  expect(faults.length).toBeGreaterThanOrEqual(10);
  expect(faults.join('\n')).not.toContain(secret);
  expect(faultsOf({ ASSENT_ISSUERS: `{"${secret}` }).join('\n')).not.toContain(secret);
});
