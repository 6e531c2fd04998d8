import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest, { type Response } from 'supertest';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { createLog } from '../../../src/registry/http/log.js';
import { createVault, registryTenant } from '../../../src/registry/storage/vault.js';
import { startRegistryProcess } from '../../support/process.js';
import { copyDatabase, startRegistry, type Client, type Registry } from '../../support/registry.js';

/** Each is planted once. Callback keys and tokens are added when they are created. */
const credentialKey = randomBytes(32);
const secrets: Record<string, string> = {
  credential: 'canary-credential-51c8',
  signingSecret: `whsec_${Buffer.from('canary-signing-secret-07ab-3').toString('base64')}`,
  queryOfSink: 'canary-query-90ab',
  headerOfDelivery: 'canary-header-77de',
  authorization: 'canary-authorization-13f0',
  databasePassword: 'canary-password-62b4',
  credentialKey: credentialKey.toString('base64url'),
  credentialKeyInHex: credentialKey.toString('hex'),
};
/** Those that requests may not see again: the other ones are in sinks, headers and settings. */
const visible = new Set(['queryOfSink', 'headerOfDelivery', 'token']);
const bidi = '\u202Egpj.exe\u2066';

let registry: Registry;
let admin: Client;
let subscriber: Client;
let sender: Client;
/** Sees credentials and signing secrets in matches, and reads the private keys of origins. */
let trusted: Client;
let folder: string;
let database: Awaited<ReturnType<typeof copyDatabase>>;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-logs-'));
  database = await copyDatabase(folder);
  const url = database.url === undefined ? undefined : new URL(database.url);
  if (url) url.password = secrets['databasePassword'] ?? '';
  env = {
    ASSENT_DATA: folder,
    ASSENT_CREDENTIAL_KEYS: `canary:${secrets['credentialKey']}`,
    ...(url ? { DATABASE_URL: url.href } : {}),
  };
  registry = await startRegistry({ env });
  [admin, subscriber, sender, trusted] = await Promise.all([
    registry.as('assent:admin'),
    registry.as('assent:subscribe'),
    registry.as('assent:deliver'),
    registry.as(['assent:deliver', 'assent:credentials', 'assent:sign']),
  ]);
  const who = { tenant: 'gemeente', subscriber: 'zaaksysteem', minutes: 60 };
  secrets['token'] = await createToken({ ...who, scopes: ['assent:subscribe'] }, registry.env);
  await admin.post('/v1/origins').send({ name: 'eventemitter.example.com', isdefault: true }).expect(201);
});
afterAll(async () => {
  await registry.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const code = () => secrets['queryOfSink'] ?? '';
const sinkOf = (path: string, host?: string) => `${registry.receiver.sink(path, host)}?code=${code()}`;
const full = (path: string, host?: string) => ({
  sink: sinkOf(path, host),
  protocol: 'HTTP',
  subject: bidi,
  sinkcredential: { credentialtype: 'PLAIN', identifier: 'me', secret: secrets['credential'] },
  signingsecret: { secret: secrets['signingSecret'] },
  protocolsettings: { headers: { 'X-Api-Key': secrets['headerOfDelivery'] } },
});
const named = (response: { body: { id: string } }) => `/v1/subscriptions/${response.body.id}`;
const registered = async (path: string) => named(await subscriber.post('/v1/subscriptions').send(full(path)));

interface LogLine {
  level: string;
  msg: string;
  requestid?: string;
  status?: number;
  operation?: string;
  handshake?: string;
  err?: { message: string };
}
const lines = () => registry.logs.map((line) => JSON.parse(line) as LogLine);

/** Successes: each kind of request, with every secret in it. */
async function succeed(): Promise<void> {
  registry.receiver.consent('/yes');
  const yes = await registered('/yes');
  await subscriber.put(yes).send(full('/yes')).expect(200);
  await subscriber.get(yes).expect(200);
  await subscriber.get('/v1/subscriptions').query({ sink: sinkOf('/yes') });
  await sender.get('/v1/permissions').query({ origin: 'eventemitter.example.com', sink: sinkOf('/yes') });
  await subscriber.post(`${yes}/handshakes`).expect(201);

  registry.receiver.on('/callback', (_request, response) => response.writeHead(200).end());
  await registered('/callback');
  const callbacks = registry.receiver.asked.flatMap(({ headers }) => headers['webhook-request-callback'] ?? []);
  const [address = ''] = callbacks.slice(-1);
  for (const url of callbacks) secrets[`key of ${url}`] = new URL(String(url)).searchParams.get('key') ?? '';
  const { pathname, search } = new URL(String(address));
  await supertest(registry.url)
    .get(pathname + search)
    .set('Accept', 'text/html')
    .expect(200);
  await supertest(registry.url)
    .post(pathname + search)
    .expect(200);
  await subscriber.delete(yes).expect(200);
}

const origin = '/v1/origins/eventemitter.example.com';
const event = JSON.stringify({ specversion: '1.0', id: '1', source: 'urn:a', type: 'com.example.a', subject: bidi });

/** The secrets that the registry makes: signing secrets, the keys of origins, and its own. Returns every other answer. */
async function make(): Promise<Response[]> {
  registry.receiver.consent('/made');
  const kept = await registered('/made');
  const rotation = JSON.stringify({ signingsecret: { make: true, overlapseconds: 60 } });
  const rotate = () => subscriber.patch(kept).type('application/merge-patch+json').send(rotation).expect(200);
  for (const name of ['made', 'made next']) secrets[name] = (await rotate()).body.signingsecret.secret;
  await admin.post(`${origin}/keys`).send({}).expect(201);
  await registry.service.follow();
  const match = (client: Client) =>
    client.post('/v1/match').type('application/cloudevents+json').send(event).expect(200);

  // The three ways that secrets leave: the response that makes one, matches, and the keys of an origin.
  const { sinks } = (await match(trusted)).body;
  const sink = sinks.find((each: { sink: string }) => each.sink === sinkOf('/made'));
  expect([sink.sinkcredential.secret, sink.signingsecrets]).toEqual([
    secrets['credential'],
    [secrets['made next'], secrets['made']],
  ]);
  const { keys } = (await trusted.get(`${origin}/private-keys`).expect(200)).body;
  for (const { keyid, jwk } of keys) secrets[`private key ${keyid}`] = jwk.d;

  const grants = await subscriber.get(kept).expect(200);
  const [grant] = (await sender.get('/v1/grants').query({ sink: grants.body.sink }).expect(200)).body;
  const token = await sender.get(`/v1/grants/${grant.id}`).set('Accept', 'application/jwt').expect(200);
  const vault = createVault([{ id: 'canary', key: credentialKey }]);
  const own = await registry.sql<{ id: string; privatekey: string }>('select id::text, privatekey from registry_key');
  for (const { id, privatekey } of own) {
    const opened = await vault.open(privatekey, { tenant: registryTenant, owner: `registry_key:${id}` });
    secrets[`registry key ${id}`] = (opened as { d: string }).d;
  }
  const paths = [
    ...['/v1/subscriptions', kept, `${kept}/handshakes`, '/v1/handshakes', '/v1/grants', '/v1/audit?limit=200'],
    ...['/v1/origins', origin, `${origin}/keys`, '/.well-known/jwks.json'],
  ];
  const feed = ['/v1/snapshot', '/v1/changes'];
  return [
    token,
    grants,
    await match(sender),
    ...(await Promise.all(paths.map((path) => admin.get(path).expect(200)))),
    ...(await Promise.all(feed.map((path) => trusted.get(path).expect(200)))),
  ];
}

/** Faults of the client, with a secret in every place that a message might repeat. */
async function failAsClient(): Promise<Response[]> {
  const anybody = supertest(registry.url);
  const { credential = '', authorization = '', token = '' } = secrets;
  const post = (body: object) => subscriber.post('/v1/subscriptions').send(body);
  const json = { 'Content-Type': 'application/json' };
  const base = full('/no');
  return Promise.all([
    anybody.get('/v1/subscriptions').set('Authorization', `Bearer ${authorization}`),
    anybody.get('/v1/subscriptions').set('Authorization', `Basic ${authorization}`),
    anybody.get('/v1/subscriptions').set('Authorization', `Bearer ${token.slice(0, -8)}AAAAAAAA`),
    anybody.get('/v1/subscriptions').query({ access_token: token }),
    anybody.get(`/v1/${authorization}/%E2%80%AE`),
    anybody.get(`/v1/callbacks/${authorization}`).query({ key: authorization }),
    subscriber.get('/v1/subscriptions').query({ cursor: credential, limit: authorization }),
    subscriber.get(`/v1/subscriptions/${credential}`),
    subscriber.post('/v1/subscriptions').set(json).send(`{"sinkcredential":{"secret":"${credential}`),
    subscriber.post('/v1/subscriptions').set(json).send(`{"sinkcredential":${credential}}`),
    post({ ...base, sink: `${sinkOf('/no')}#fragment` }),
    post({ ...base, sink: `http://me:${credential}@hooks.test/?code=${code()}` }),
    post({ ...base, sink: `https://hooks.test:1/?code=${code()}` }),
    post({ ...base, sink: `https://10.0.0.1/?code=${code()}` }),
    post({ ...base, protocolsettings: { headers: { 'X-Api-Key': `${secrets['headerOfDelivery']}\n` } } }),
    post({ ...base, protocolsettings: { headers: { Authorization: authorization } } }),
    post({ ...base, sinkcredential: { credentialtype: credential, secret: credential } }),
    post({ ...base, sinkcredential: { credentialtype: 'PLAIN', identifier: 'me', secret: `${credential}\r\n` } }),
    post({ ...base, sinkcredential: { credentialtype: 'ACCESSTOKEN', accesstoken: `${credential} x` } }),
    post({ ...base, source: [credential] }),
    post({ ...base, signingsecret: { secret: `${secrets['signingSecret']}!` } }),
    post({ ...base, signingsecret: { secret: [secrets['signingSecret']], make: secrets['signingSecret'] } }),
    admin.post(`${origin}/keys`).send({ publickey: { kty: 'OKP', crv: 'Ed25519', x: credential, d: credential } }),
    admin.get(`${origin}/private-keys`),
  ]);
}

/** Unexpected errors of the database: a constraint, a type, a missing table. */
async function failAsDatabase(): Promise<Response[]> {
  await registry.sql(`alter table subscription add constraint canary check (sink not like '%/constrained%')`);
  const constrained = await subscriber.post('/v1/subscriptions').send(full('/constrained'));
  await registry.sql(`alter table subscription drop constraint canary`);

  await registry.sql(`create function refuse() returns trigger language plpgsql as
    $$ begin perform new.sink::uuid; return new; end $$`);
  await registry.sql(`create trigger refuse before insert on subscription for each row execute function refuse()`);
  const mistyped = await subscriber.post('/v1/subscriptions').send(full('/mistyped'));
  await registry.sql(`drop trigger refuse on subscription`);

  await registry.sql(`alter table audit rename to hidden`);
  const missing = await subscriber.post('/v1/subscriptions').send(full('/missing'));
  await registry.sql(`alter table hidden rename to audit`);
  return [constrained, mistyped, missing];
}

/** Webhooks fail in several ways, and once the registry itself fails during a handshake. */
async function failAsHandshake(): Promise<void> {
  registry.receiver.on('/hangup', (request) => request.socket.destroy());
  registry.receiver.on('/echo', (request, response) => {
    response
      .writeHead(401, { 'WebHook-Allowed-Origin': 'other.example', 'WebHook-Allowed-Rate': 'x' })
      .end(request.url);
  });
  for (const path of ['/hangup', '/echo', '/not-found']) await registered(path);
  await subscriber.post('/v1/subscriptions').send({ ...full('/'), sink: `https://nowhere.example/?code=${code()}` });

  // Removed during the handshake, so that its outcome cannot be written.
  registry.receiver.on('/fault', (_request, response) => {
    void registry.sql(`alter table audit rename to hidden`).then(() => response.writeHead(302).end());
  });
  await subscriber.post('/v1/subscriptions').set('Prefer', 'wait=1').send(full('/fault', 'fault.hooks.test'));
  await registry.service.worker.drain();
  await registry.sql(`alter table hidden rename to audit`);
}

describe('secrets', () => {
  const problems: Response[] = [];
  let answers: Response[];
  beforeAll(async () => {
    await succeed();
    answers = await make();
    problems.push(...(await failAsClient()), ...(await failAsDatabase()));
    await failAsHandshake();
  });

  /** Names of the secrets that a text contains. */
  const told = (text: string) => Object.entries(secrets).flatMap(([name, value]) => (text.includes(value) ? name : []));

  test('every intended failure happened', () => {
    expect(problems.map(({ status }) => status)).not.toContain(201);
    expect(problems.filter(({ status }) => status === 500)).toHaveLength(3);
    const messages = lines().map(({ msg }) => msg);
    expect(messages).toEqual(expect.arrayContaining(['request', 'handshake', 'fault', 'handshake fault']));
    const kinds = new Set(Object.keys(secrets).map((name) => name.replace(/ \S+$/, '')));
    for (const kind of ['made', 'private key', 'registry key', 'key of']) expect(kinds).toContain(kind);
  });

  test('appear in no log line', () => {
    expect(registry.logs.flatMap((line) => told(line).map((name) => `${name} in ${line}`))).toEqual([]);
  });

  test('appear in no problem', () => {
    const found = problems.flatMap(({ text, headers }) => told(`${text} ${JSON.stringify(headers)}`));
    expect(found).toEqual([]);
  });

  test('appear in no answer but the ways that are theirs, and in no line of the feed', () => {
    expect(answers.map(({ text }) => text).join()).toContain('"hassigningsecret":true');
    const found = answers.flatMap(({ text, request }) => told(text).map((name) => `${name} in ${request.url}`));
    expect(found.filter((each) => !visible.has(each.split(' ')[0]!))).toEqual([]);
  });

  test('are in no row of any table, in no form that can be read', async () => {
    const tables = await registry.sql<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    const rows = await Promise.all(
      tables.map(({ name }) => registry.sql(`select to_jsonb(t)::text as row from "${name}" t`)),
    );
    const text = JSON.stringify(rows);
    for (const told of ['privatekey', 'previoussigningsecret', 'sinkcredential']) expect(text).toContain(told);
    const found = Object.entries(secrets).flatMap(([name, value]) => {
      const bytes = [value, value.replace('whsec_', '')].flatMap((each) => [
        Buffer.from(each),
        Buffer.from(each, 'base64url'),
      ]);
      const forms = bytes.flatMap((each) =>
        (['hex', 'base64', 'base64url'] as const).map((form) => each.toString(form)),
      );
      return [value, ...forms].some((form) => text.includes(form)) ? name : [];
    });
    expect(found.filter((name) => !visible.has(name))).toEqual([]);
  });

  test('appear in no metric', async () => {
    expect(told((await supertest(registry.operationsUrl).get('/metrics')).text)).toEqual([]);
  });

  test('appear in no audit record, and neither do the hashes and ciphertexts that the database keeps', async () => {
    const { text } = await admin.get('/v1/audit').query({ limit: 200 }).expect(200);
    expect(text).toContain('subscription.created');
    expect(told(text)).toEqual([]);
    const kept = await registry.sql(
      `select to_jsonb(audit) from audit union all select to_jsonb(attempt) from attempt`,
    );
    expect(told(JSON.stringify(kept))).toEqual([]);
  });

  test('every character of every log line is visible, whatever was sent', () => {
    const invisible = registry.logs.filter((line) => /[\p{C}\p{Zl}\p{Zp}]/u.test(line.replace(/\n$/, '')));
    expect(invisible).toEqual([]);
  });
});

test('every request has one line with its outcome, and an internal error one more with its cause', async () => {
  const good = await subscriber.get('/v1/subscriptions').expect(200);
  const bad = await subscriber.get('/v1/nothing').expect(404);
  await registry.sql(`alter table audit rename to hidden`);
  const broken = await admin.get('/v1/audit').expect(500);
  await registry.sql(`alter table hidden rename to audit`);
  const told = [good, bad, broken].map(({ headers }) =>
    lines()
      .filter(({ requestid }) => requestid === headers['x-request-id'])
      .map(({ level, msg, status }) => [level, msg, status]),
  );
  expect(told).toEqual([
    [['info', 'request', 200]],
    [['info', 'request', 404]],
    [
      ['error', 'fault', undefined],
      ['info', 'request', 500],
    ],
  ]);
});

test.each([
  ['before its body arrived', 'createSubscription', (token: string) => posted('subscriptions', token, 9)],
  [
    'while it waited behind another request',
    'createOrigin',
    (token: string) =>
      `GET /v1/changes?wait=60 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n${posted('origins', token, 1)}`,
  ],
])('a request whose client disconnected %s has its line too', async (_, operation, textWith) => {
  const who = { tenant: 'waterschap', subscriber: 'me', minutes: 60 };
  const scopes = ['assent:subscribe', 'assent:admin', 'assent:deliver'];
  const text = textWith(await createToken({ ...who, scopes }, registry.env));
  const socket = connect(Number(new URL(registry.url).port), '127.0.0.1', () => {
    socket.write(text, () => socket.destroy());
  });
  const told = () => lines().filter((line) => line.operation === operation && line.status === 499);
  while (told().length === 0) await sleep(10);
  expect(told()).toMatchObject([{ msg: 'request' }]);
});

/** A request that announces this many bytes and sends one. */
function posted(path: string, token: string, bytes: number): string {
  const headers = `Host: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`;
  return `POST /v1/${path} HTTP/1.1\r\n${headers}\r\nContent-Length: ${bytes}\r\n\r\n{`;
}

test('every handshake attempt has one line with its verdict', async () => {
  registry.receiver.on('/thrice', (request) => request.socket.destroy());
  const { body } = await subscriber.post('/v1/subscriptions').send(full('/thrice')).expect(201);
  const [{ id }] = (await registry.sql(`select id::text from handshake where subscription = '${body.id}'`)) as [
    { id: string },
  ];
  const open = `select 1 from handshake where id = '${id}' and state in ('due', 'asking')`;
  while ((await registry.sql(open)).length > 0) await registry.service.worker.drain();
  const own = lines().filter(({ handshake }) => handshake === id);
  expect(own.map(({ msg }) => msg)).toEqual(['handshake', 'handshake', 'handshake']);
});

test('an error cannot forge a log line or disguise its text, wherever it contains outside input', () => {
  const written: string[] = [];
  const log = createLog('info', { write: (line: string) => void written.push(line) });
  const forged = `x\r\n{"level":"info","msg":"request"}\u2028${bidi}\u0000\u001b[2J\u200b\nat ${bidi}`;
  log.error({ err: new Error(forged, { cause: new TypeError(forged) }) }, 'fault');
  log.error({ err: forged }, 'fault');
  expect(written).toHaveLength(2);
  for (const line of written) expect(line.slice(0, -1)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  expect(written[0]).toContain('\\\\u{202e}gpj.exe');
});

test('a separate process reveals no secret either, on stdout or stderr, from its start to its end', async () => {
  const own = await mkdtemp(join(tmpdir(), 'assent-logs-own-'));
  const copy = await copyDatabase(own);
  const url = copy.url === undefined ? undefined : new URL(copy.url);
  if (url) url.password = secrets['databasePassword'] ?? '';
  const settings = {
    ASSENT_PORT: '0',
    ASSENT_OPERATIONS_PORT: '0',
    ASSENT_LOG_LEVEL: 'debug',
    // Without this, names that end in .test are not resolved.
    ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
    ASSENT_DATA: own,
    ASSENT_CREDENTIAL_KEYS: env['ASSENT_CREDENTIAL_KEYS'] ?? '',
    ...(url ? { DATABASE_URL: url.href } : {}),
  };
  const started = await startRegistryProcess({ env: settings });
  const who = { tenant: 'gemeente', subscriber: 'a', minutes: 5 };
  const scopes = ['assent:subscribe', 'assent:admin'];
  const token = await createToken({ ...who, scopes }, settings);
  const client = supertest.agent(started.url).set('Authorization', `Bearer ${token}`);
  await client.post('/v1/origins').send({ name: 'other.example.com', isdefault: true }).expect(201);
  const sink = `https://nowhere.test/?code=${code()}`;
  await client
    .post('/v1/subscriptions')
    .set('Prefer', 'wait=1')
    .send({ ...full('/'), sink })
    .expect(201);
  await client
    .post('/v1/subscriptions')
    .send({ ...full('/'), sink: `${sink}#a` })
    .expect(400);
  started.child.kill('SIGTERM');
  expect(await started.ended).toBe(0);
  await copy.drop();
  await rm(own, { recursive: true });
  const said = started.stdout + started.stderr;
  expect(said).toContain('"operation":"createSubscription"');
  expect(Object.values({ ...secrets, token }).filter((secret) => said.includes(secret))).toEqual([]);
});
