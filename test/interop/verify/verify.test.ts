import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publicKeyOf, type PublicKey } from '../../../src/signatures/keys.js';
import { prepareSignature } from '../../../src/signatures/message-signature.js';
import {
  directoryMediaType,
  prepareDelivery,
  prepareRequest,
  type SignatureForm,
} from '../../../src/signatures/request-signature.js';
import { makeSecret, signMessage } from '../../../src/signatures/standard-webhooks.js';
import { install, type Installed, type Missing, type Tools } from '../../support/foreign-tools.js';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant } from '../../support/tenant.js';

/**
 * The code of docs/consumers/verify.md, with libraries that others wrote: it accepts what Assent signs, through rotations, and
 * refuses forgeries. A grant as a token is checked with the JWT libraries of Python and Go. With VERIFY_RUN=10000, the run
 * has that many deliveries.
 */
const page = readFileSync(fileURLToPath(new URL('../../../docs/consumers/verify.md', import.meta.url)), 'utf8');
const blocks = new Map([...page.matchAll(/^```\w+ ([\w-]+)\n([\s\S]*?)^```$/gm)].map(([, name, code]) => [name, code]));
const runLength = Number(process.env['VERIFY_RUN'] ?? 60);

interface Language extends Tools {
  shown: Record<string, string>;
  build?: string[];
  start: string[];
  checksGrants: boolean;
}

const languages: Language[] = [
  {
    name: 'Python',
    folder: 'python',
    shown: { python: 'shown.py', 'python-secret': 'secret.py' },
    tool: ['python3', '-m', 'pip', '--version'],
    install:
      'python3 -m pip install --quiet --no-compile --no-deps --only-binary :all: --target packages -r requirements.txt'.split(
        ' ',
      ),
    start: ['python3', 'main.py'],
    env: { PYTHONPATH: 'packages' },
    checksGrants: true,
  },
  {
    name: 'Go',
    folder: 'go',
    shown: { go: 'webhook.go', 'go-secret': 'secret.go' },
    tool: ['go', 'version'],
    install: ['go', 'mod', 'download'],
    build: ['go', 'build', '-o', 'verify', '.'],
    start: ['./verify'],
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
    checksGrants: true,
  },
  {
    name: 'Java',
    folder: 'java',
    shown: { java: 'Verifier.java', 'java-secret': 'SecretVerifier.java' },
    tool: ['mvn', '--version'],
    install: [
      'mvn',
      '-q',
      '-B',
      '-Dmaven.repo.local=repository',
      'dependency:copy-dependencies',
      '-DoutputDirectory=lib',
    ],
    build: ['javac', '-cp', 'lib/*', '-d', '.', 'Main.java', 'Verifier.java', 'SecretVerifier.java'],
    start: ['java', '-XX:TieredStopAtLevel=1', '-cp', 'lib/*:.', 'Main'],
    checksGrants: false,
  },
];

/** Installed and built beside each other, before the tests. */
const ready = await Promise.all(
  languages.map(async (language): Promise<{ language: Language; tools: Installed | Missing }> => {
    const tools = await install({ ...language, folder: fileURLToPath(new URL(language.folder, import.meta.url)) });
    if ('missing' in tools) return { language, tools };
    for (const [block, file] of Object.entries(language.shown)) {
      await writeFile(join(tools.folder, file), blocks.get(block) ?? '');
    }
    if (language.build) await tools.execute(language.build);
    return { language, tools };
  }),
);

interface Case {
  kind: 'signature' | 'secret' | 'grant';
  method: string;
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  secret?: string;
  token?: string;
  audience?: string;
  issuer?: string;
}

interface Key {
  public: PublicKey;
  private: KeyObject;
}

const origin = 'eventemitter.example.com';
const keysUnavailable = 'keys that can not be read';
const url = 'https://hooks.example.org/events?team=7';
const body = Buffer.from('{"specversion":"1.0","id":"1","source":"/a","type":"é","data":12345678901234567890}');
const agent = { url: `https://${origin}`, type: 'directory' } as const;
const seconds = () => Math.floor(Date.now() / 1_000);

async function newKey(): Promise<Key> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { public: (await publicKeyOf(publicKey.export({ format: 'jwk' })))!, private: privateKey };
}

interface Asked {
  key: Key;
  form?: SignatureForm;
  age?: number;
  headers?: Record<string, string>;
  type?: 'directory' | 'jwks_uri';
}

const lower = (headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));

async function request(
  method: 'POST' | 'OPTIONS',
  { key, form = 'dictionary', age = 0, headers = {}, type = 'directory' }: Asked,
): Promise<Case> {
  const plain = {
    'WebHook-Request-Origin': origin,
    ...(method === 'POST'
      ? { 'Content-Type': 'application/cloudevents+json; charset=utf-8' }
      : {
          'WebHook-Request-Callback': 'https://assent.example.com/v1/callbacks/1?key=2',
          'WebHook-Request-Rate': '120',
        }),
    ...headers,
  };
  const settings = {
    keyid: key.public.kid,
    form,
    agent: { ...agent, type },
    now: seconds() - age,
    nonce: randomUUID(),
  };
  const prepared =
    method === 'POST'
      ? await prepareDelivery({ method, url, headers: plain, body }, settings)
      : prepareRequest({ method, url, headers: plain }, settings);
  const fields = prepared.fields(sign(null, prepared.base, key.private));
  const sent = method === 'POST' ? body : Buffer.alloc(0);
  return { kind: 'signature', method, url, headers: lower({ ...plain, ...fields }), body: sent };
}

/** Signed by the key of the origin, over these components alone. */
async function covering(key: Key, names: readonly string[]): Promise<Case> {
  const whole = await request('POST', { key });
  const parameters = {
    created: seconds(),
    expires: seconds() + 60,
    keyid: key.public.kid,
    alg: 'ed25519',
    nonce: randomUUID(),
    tag: 'web-bot-auth',
  };
  const components = names.map((name) => ({ name }));
  const prepared = prepareSignature('sig1', components, parameters, {
    method: 'POST',
    url,
    fieldOf: (name) => whole.headers[name],
  });
  return { ...whole, headers: { ...whole.headers, ...lower(prepared.fields(sign(null, prepared.base, key.private))) } };
}

async function withSecret(signedWith: string[], secret: string, more: Partial<Case> = {}, age = 0): Promise<Case> {
  const headers = await signMessage({ id: randomUUID(), timestamp: seconds() - age, body }, signedWith);
  return { kind: 'secret', method: 'POST', url, headers, body, secret, ...more };
}

let registry: Registry;
let server: Server;
let keys: Key[];
const good: Case[] = [];
const forged = new Map<string, Case>();
const goodGrants: Case[] = [];
const forgedGrants = new Map<string, Case>();

beforeAll(async () => {
  keys = await Promise.all(Array.from({ length: 4 }, newKey));
  const [first, second] = keys as [Key, Key];
  const directory = JSON.stringify({ keys: keys.map((key) => key.public) });
  server = createServer(({ url: path }, response) => {
    if (path === '/down') response.writeHead(503).end('{"keys":[]}');
    else response.setHeader('Content-Type', directoryMediaType).end(directory);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  // Three rotations. Each delivery is one of another form.
  for (let at = 0; at < runLength; at += 1) {
    const key = keys[Math.floor((at * keys.length) / runLength)] as Key;
    const form = at % 3 === 0 ? 'string' : 'dictionary';
    const headers: Record<string, string> =
      at % 5 === 0 ? { 'Content-Type': 'application/json', 'ce-id': '1', 'ce-type': 'a.b', 'ce-source': '/a' } : {};
    good.push(
      await request('POST', {
        key,
        form,
        headers,
        type: at % 2 === 0 && form === 'dictionary' ? 'jwks_uri' : 'directory',
      }),
    );
    if (at % 10 === 0) good.push(await request('OPTIONS', { key, form }));
  }
  const secrets = Array.from({ length: 4 }, makeSecret);
  for (let at = 1; at < secrets.length; at += 1) {
    const [before, after] = [secrets[at - 1], secrets[at]] as [string, string];
    for (const secret of [before, after]) good.push(await withSecret([after, before], secret));
  }

  const changed = async (method: 'POST' | 'OPTIONS', headers: Record<string, string>, more: Partial<Case> = {}) => {
    const whole = await request(method, { key: first });
    return { ...whole, ...more, headers: { ...whole.headers, ...headers } };
  };
  const all = ['@method', '@authority', '@target-uri', 'content-type', 'content-digest', 'webhook-request-origin'];
  const repeated = await request('POST', { key: first });
  const { signature: _, 'signature-input': __, ...unsigned } = repeated.headers;
  good.push(repeated, await covering(first, all));
  const binary = await request('POST', { key: first, headers: { 'ce-type': 'a' } });
  const entries: Array<[string, Case]> = [
    ['no signature', { ...repeated, headers: unsigned }],
    ['a repetition', repeated],
    ['a changed body', await changed('POST', {}, { body: Buffer.from('{}') })],
    [
      'a changed body with its digest',
      await changed(
        'POST',
        { 'content-digest': 'sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:' },
        { body: Buffer.from('{}') },
      ),
    ],
    ['another origin', await changed('POST', { 'webhook-request-origin': 'other.example.com' })],
    ['another rate', await changed('OPTIONS', { 'webhook-request-rate': '9999' })],
    ['another callback', await changed('OPTIONS', { 'webhook-request-callback': 'https://evil.example/' })],
    ['another method', await changed('OPTIONS', {}, { method: 'DELETE' })],
    ['another path', await changed('POST', {}, { url: url.replace('/events', '/admin') })],
    ['another query', await changed('POST', {}, { url: url.replace('team=7', 'team=8') })],
    ['another host', await changed('POST', {}, { url: url.replace('hooks', 'other') })],
    ['another media type', await changed('POST', { 'content-type': 'text/plain' })],
    ['another attribute', { ...binary, headers: { ...binary.headers, 'ce-type': 'b' } }],
    ['an attribute that was added', await changed('POST', { 'ce-subject': 'b' })],
    ['a rate that was added', await changed('POST', { 'webhook-request-rate': '5' })],
    ['an old signature', await request('POST', { key: first, age: 400 })],
    ['one of the future', await request('POST', { key: first, age: -600 })],
    ['a foreign key', await request('POST', { key: await newKey() })],
    [
      'a foreign key with the id of another',
      await request('POST', { key: { public: first.public, private: (await newKey()).private } }),
    ],
    [
      'a key of the origin, named by the id of another',
      await request('POST', { key: { public: first.public, private: second.private } }),
    ],
    ...(await Promise.all(
      ['@method', '@target-uri', 'content-type', 'content-digest', 'webhook-request-origin'].map(
        async (name): Promise<[string, Case]> => [
          `one that does not cover ${name}`,
          await covering(
            first,
            all.filter((each) => each !== name),
          ),
        ],
      ),
    )),
    [keysUnavailable, await request('POST', { key: first, headers: { 'WebHook-Request-Origin': 'down.example.com' } })],
    ['another secret', await withSecret([secrets[0]!], secrets[3]!)],
    ['a changed body with a secret', await withSecret([secrets[0]!], secrets[0]!, { body: Buffer.from('{}') })],
    ['an old delivery with a secret', await withSecret([secrets[0]!], secrets[0]!, {}, 400)],
  ];
  for (const [name, each] of entries) forged.set(name, each);

  registry = await startRegistry();
  const tenant = await createTenant(registry);
  const sink = registry.receiver.sink('/granted');
  registry.receiver.consent('/granted');
  await tenant.register(sink);
  const { id } = await tenant.grant(sink);
  const token = (await tenant.sender.get(`/v1/grants/${id}`).set('Accept', 'application/jwt').expect(200)).text;
  const access = await createToken(
    { tenant: 'gemeente', subscriber: 'mailroom', scopes: ['assent:deliver'], minutes: 5 },
    registry.env,
  );
  const grant = {
    kind: 'grant' as const,
    method: '',
    url: '',
    headers: {},
    body,
    token,
    audience: sink,
    issuer: 'https://assent.test',
  };
  goodGrants.push(grant);
  const [head, claims, signature] = token.split('.') as [string, string, string];
  const wider = { ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as object), allowedrate: '*' };
  forgedGrants.set('a changed claim', {
    ...grant,
    token: `${head}.${Buffer.from(JSON.stringify(wider)).toString('base64url')}.${signature}`,
  });
  forgedGrants.set('another sink', { ...grant, audience: `${sink}/2` });
  forgedGrants.set('another registry', { ...grant, issuer: 'https://other.test' });
  forgedGrants.set('a token for the API', { ...grant, token: access });
});
afterAll(async () => {
  for (const { tools } of ready) if ('remove' in tools) await tools.remove();
  server.close();
  await registry.stop();
});

describe.each(ready)('$language.name', ({ language, tools }) => {
  if ('missing' in tools) {
    test.skip(`not run: ${tools.missing}`, () => undefined);
    return;
  }
  const { checksGrants, start } = language;
  let results: string[];
  const names = () => [...forged.keys(), ...(checksGrants ? forgedGrants.keys() : [])];
  const isGood = () => [...good, ...(checksGrants ? goodGrants : [])];

  beforeAll(async () => {
    const cases = [...isGood(), ...forged.values(), ...(checksGrants ? forgedGrants.values() : [])];
    const lines = cases.map((each) => JSON.stringify({ ...each, body: each.body.toString('base64') }));
    await writeFile(join(tools.folder, 'cases.jsonl'), lines.join('\n'));
    const { port } = server.address() as AddressInfo;
    const env = {
      DIRECTORY: `http://127.0.0.1:${port}/`,
      KEYS: new URL('/.well-known/jwks.json', registry.url).href,
    };
    results = (await tools.execute([...start, 'cases.jsonl'], env)).trim().split('\n');
    expect(results).toHaveLength(cases.length);
  });

  test('it accepts each handshake and delivery, through rotations of keys and secrets', () => {
    expect(results.slice(0, isGood().length).filter((each) => each !== 'ok')).toEqual([]);
  });

  test('it refuses each forgery', () => {
    const accepted = names().filter((_, place) => results[isGood().length + place] === 'ok');
    expect(accepted).toEqual([]);
  });

  test('it tells keys that can not be read from a forgery', () => {
    const unavailable = names().filter((_, place) => results[isGood().length + place] === 'unavailable');
    expect(unavailable).toEqual([keysUnavailable]);
  });
});
