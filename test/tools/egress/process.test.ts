import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startEgress, sha256, type EgressStart, type RunningEgress } from '../../support/egress.js';
import { runCommand } from '../../support/command.js';
import { newSigningKey, signed, startJwksServer } from '../../support/jwks-server.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { startRelay, type Relay } from '../../support/relay.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

// The process: its limits, its health, its settings, and its end.

const secret = 'the-secret-of-the-shop';
let registry: Registry;
let tenant: Tenant;
let relay: Relay;

beforeAll(async () => {
  registry = await startRegistry({ env: { ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  tenant = await createTenant(registry);
  relay = await startRelay(registry.url);
});
afterAll(async () => {
  await relay.stop();
  await registry.stop();
});

const start = (settings: EgressStart = {}) =>
  startEgress(registry, { callers: [{ name: 'shop', origins: [tenant.origin], secret: sha256(secret) }], ...settings });

/** A webhook whose responses wait until they are given. */
async function newWebhook(egress: RunningEgress, name: string, rate = '*') {
  const sink = registry.receiver.sink(`/${name}`);
  registry.receiver.consent(`/${name}`, { rate });
  const { id } = await tenant.register(sink);
  const waiting: ServerResponse[] = [];
  await egress.postUntil(({ denial }) => denial !== 'no_grant', sink, { secret });
  registry.receiver.on(`/${name}`, (_request, response) => void waiting.push(response));
  const counts = async () => (await tenant.admin.get(`/v1/subscriptions/${id}/deliveries`)).body.counts;
  return { sink, waiting, counts };
}

async function metric(egress: RunningEgress, line: string): Promise<number> {
  const text = await (await fetch(`${egress.operationsUrl}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(`${line} `))
      ?.split(' ')
      .at(-1) ?? NaN,
  );
}

const accept = (response: ServerResponse | undefined) => void response?.writeHead(204).end();
const outcomeOf = (egress: RunningEgress, outcome: string) =>
  metric(egress, `assent_egress_request_duration_seconds_count{outcome="${outcome}"}`);
const isIdle = async (egress: RunningEgress) => (await metric(egress, 'assent_egress_in_flight')) === 0;

test('the limits hold: bytes, deliveries in progress, a slow webhook, and a caller that leaves', async () => {
  const egress = await start({ args: ['--max-body', '1000', '--in-flight', '4'] });
  const { sink, waiting } = await newWebhook(egress, 'limits');
  const post = (body = 'event', signal?: AbortSignal) => egress.post(sink, { secret, body, ...(signal && { signal }) });
  expect(await post('x'.repeat(1_001))).toMatchObject({ status: 413, code: 'body_too_large' });
  expect(waiting).toEqual([]);

  // One webhook has half of the places. The third gets none, until one is given back.
  const slow = [post(), post()];
  await until(() => waiting.length === 2);
  const full = await post();
  expect(full).toMatchObject({ status: 503, code: 'egress_full', headers: { 'retry-after': '1' } });
  expect(await metric(egress, 'assent_egress_in_flight')).toBe(2);
  waiting.forEach(accept);
  for (const each of slow) expect(await each).toMatchObject({ status: 204 });

  const leaving = new AbortController();
  const left = post('x'.repeat(1_000), leaving.signal).catch(() => 'left');
  await until(() => waiting.length === 3);
  const closed = once(waiting[2]!, 'close');
  leaving.abort();
  expect(await left).toBe('left');
  await closed;
  await until(() => isIdle(egress));
  const outcomes = ['body_too_large', 'egress_full', 'caller_left'];
  expect(await Promise.all(outcomes.map((one) => outcomeOf(egress, one)))).toEqual([1, 1, 1]);
  expect(await egress.stop()).toBe(0);
});

test('a webhook that does not respond in time: 504, and the place is free again', async () => {
  const egress = await start({ args: ['--deadline', '1'] });
  const { sink, waiting } = await newWebhook(egress, 'late');
  expect(await egress.post(sink, { secret })).toMatchObject({ status: 504, code: 'no_response_in_time' });
  expect(waiting).toHaveLength(1);
  expect(await isIdle(egress)).toBe(true);
  expect(await egress.stop()).toBe(0);
});

/** A request whose body does not end. */
function startPost(egress: RunningEgress, sink: string, authorization: string) {
  const socket = connect(Number(new URL(egress.url).port), '127.0.0.1').on('error', () => undefined);
  const head = `POST /${sink.replace('://', '/')} HTTP/1.1\r\nHost: egress\r\nAuthorization: Bearer ${authorization}`;
  socket.write(`${head}\r\nContent-Type: application/cloudevents+json\r\nContent-Length: 100\r\n\r\nbegin`);
  return socket;
}

test('one caller leaves room for the others, whatever it does', async () => {
  await tenant.admin.post('/v1/origins').send({ name: 'busy.example.com' }).expect(201);
  const busy = 'the-secret-of-the-busy-one';
  const callers = [
    { name: 'shop', origins: [tenant.origin], secret: sha256(secret) },
    { name: 'busy', origins: ['busy.example.com', tenant.origin], secret: sha256(busy) },
  ];
  const egress = await start({ callers, args: ['--in-flight', '4'] });
  const { sink, waiting } = await newWebhook(egress, 'shared');
  const { sink: second } = await newWebhook(egress, 'second');
  const asOrigin = (origin: string) => `${busy}\r\nWebHook-Request-Origin: ${origin}`;
  // Without consent: no place at all.
  const refused = startPost(egress, sink, asOrigin('busy.example.com'));
  const [said] = (await once(refused, 'data')) as [Buffer];
  expect(said.toString()).toMatch(/^HTTP\/1\.1 403 [^]*Assent-Denial: no_grant/i);
  expect(await isIdle(egress)).toBe(true);
  const mismatched = await egress.post(sink, { secret, headers: { 'WebHook-Request-Origin': 'busy.example.com' } });
  expect(mismatched).toMatchObject({ status: 403, denial: 'origin_mismatch' });
  expect(await metric(egress, 'assent_egress_denials_total{denial="origin_mismatch"}')).toBe(1);
  // With consent: half of the places, and half of those to one webhook.
  const open = [startPost(egress, sink, asOrigin(tenant.origin))];
  await until(async () => (await metric(egress, 'assent_egress_in_flight')) === 1);
  const asBusy = { secret: busy, headers: { 'WebHook-Request-Origin': tenant.origin } };
  expect(await egress.post(sink, asBusy)).toMatchObject({ status: 503, code: 'egress_full' });
  open.push(startPost(egress, second, asOrigin(tenant.origin)));
  await until(async () => (await metric(egress, 'assent_egress_in_flight')) === 2);
  const { sink: third } = await newWebhook(egress, 'third');
  expect(await egress.post(third, asBusy)).toMatchObject({ status: 503, code: 'egress_full' });

  const delivered = egress.post(sink, { secret });
  await until(() => waiting.length === 1);
  accept(waiting[0]);
  expect(await delivered).toMatchObject({ status: 204, code: 'delivered' });
  for (const each of [refused, ...open]) each.destroy();
  await until(() => isIdle(egress));
  expect(await egress.stop()).toBe(0);
});

test('a caller that leaves while its token is verified gives its place back', async () => {
  const jwks = await startJwksServer();
  const key = await newSigningKey('one');
  const asked: ServerResponse[] = [];
  jwks.answers((_request, response) => void asked.push(response));
  const issuer = { issuer: 'https://id.test', audience: 'urn:egress', jwks: jwks.url, algorithms: ['ES256'] };
  const callers = [{ name: 'shop', origins: [tenant.origin], secret: sha256(secret) }];
  const egress = await start({ callers, env: { ASSENT_ISSUERS: JSON.stringify([issuer]) } });
  const { sink } = await newWebhook(egress, 'verified');
  const now = Math.floor(Date.now() / 1_000);
  const who = { tenant: 'gemeente', client_id: 'broker', scope: 'assent:deliver', origin: tenant.origin };
  const token = await signed(key, { iss: issuer.issuer, aud: issuer.audience, iat: now, exp: now + 60, ...who });
  const socket = startPost(egress, sink, token);
  await until(() => asked.length > 0);
  socket.destroy();
  await once(socket, 'close');
  // The process has seen that, as it responds to what came later.
  await isIdle(egress);
  for (const response of asked) response.end(JSON.stringify({ keys: [key.publicJwk] }));
  await until(async () => (await outcomeOf(egress, 'caller_left')) === 1);
  expect(await isIdle(egress)).toBe(true);
  expect(await egress.stop()).toBe(0);
  await jwks.stop();
});

test('while the registry is away, what may be sent is sent, and no rate is exceeded; health says so', async () => {
  const egress = await start({ args: ['--registry', relay.url] });
  const free = await newWebhook(egress, 'free');
  const rated = await newWebhook(egress, 'rated', '60');
  for (const path of ['/free', '/rated']) registry.receiver.on(path, (_, response) => response.writeHead(204).end());
  relay.cut();
  expect(await egress.post(free.sink, { secret })).toMatchObject({ status: 204 });
  const refused = await egress.postUntil(({ status }) => status !== 204, rated.sink, { secret });
  expect(refused.status === 429 || refused.status === 503).toBe(true);
  const away = await egress.postUntil(({ status }) => status === 503, rated.sink, { secret });
  expect(away).toMatchObject({ code: 'registry_unavailable', headers: { 'retry-after': '5' } });
  for (const path of ['/livez', '/readyz/reads']) expect((await fetch(egress.operationsUrl + path)).status).toBe(200);
  relay.mend();
  expect(await egress.postUntil(({ status }) => status === 204, rated.sink, { secret })).toMatchObject({ status: 204 });
  expect(await egress.stop()).toBe(0);
});

test('SIGTERM: deliveries in progress end, shares are handed back, outcomes are reported, and no secret is in the log', async () => {
  const egress = await start();
  const { sink, waiting, counts } = await newWebhook(egress, 'stop', '600');
  const last = egress.post(sink, { secret, headers: { Cookie: 'a-private-cookie' }, body: 'a-private-body' });
  await until(() => waiting.length === 1);
  const ended = egress.stop();
  await until(async () => (await fetch(`${egress.operationsUrl}/readyz`)).status === 503);
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        const { port } = new URL(egress.url);
        const socket = connect(Number(port), '127.0.0.1', () => resolve(false)).once('error', () => resolve(true));
        socket.once('connect', () => socket.destroy());
      }),
  );
  waiting[0]!.writeHead(204).end();
  expect(await last).toMatchObject({ status: 204, code: 'delivered', headers: { connection: 'close' } });
  expect(await ended).toBe(0);
  expect(await counts()).toMatchObject({ delivered: 2 });
  // Of the shares that it had, two were used: the first one to learn that it has consent.
  const used =
    'select (select sum(each) from unnest(slots) each)::int as used from lease_pool order by tokensat desc limit 1';
  expect(await registry.sql(used)).toEqual([{ used: 2 }]);
  for (const text of [secret, sha256(secret), 'a-private', 'eyJ']) {
    expect([text, `${egress.stdout}${egress.stderr}`.includes(text)]).toEqual([text, false]);
  }
});

test('every fault of the settings is in one message', async () => {
  const callers = [
    { name: 'a', origins: ['a.example.com'], secret: 'plain' },
    { name: 'b', origins: ['*'], secret: sha256('') },
    { name: 'c', origins: ['a.example.com'], password: 'x', headers: ['X_Team', 'Webhook-Id', 'assent-authorization'] },
    { name: 'd', origins: [], networks: ['10.0.0.0/33'], secretfile: '/nothing/here' },
    { name: 'e', origins: ['e.example.com'], event: { source: 'a b', type: '', idheader: 'Authorization' } },
    { name: 'f', origins: ['f.example.com'], event: { subject: 'a' } },
  ];
  const env = {
    NODE_ENV: 'production',
    EGRESS_CALLERS: JSON.stringify(callers),
    EGRESS_CALLERS_FILE: '/nothing/here',
    EGRESS_TOKEN_URL: 'issuer.example.com',
    EGRESS_CALLER: '[]',
    EGRESS_REGISTRY_CA_FILE: '/nothing/here',
    ASSENT_ALLOWED_NETWORKS: 'everything',
    EGRESS_SERVICE_HOST: '10.0.0.1',
  };
  const { code, stderr } = await runCommand(['egress', '--registry', 'https://assent.example.org'], { env });
  expect(code).toBe(1);
  for (const part of [
    'ASSENT_ALLOWED_NETWORKS (0) must be networks',
    'EGRESS_CALLER is not a setting',
    'EGRESS_CALLERS (0.secret) must be the SHA-256',
    'EGRESS_CALLERS (1.origins.0) is no origin',
    'EGRESS_CALLERS (1.secret) is the SHA-256 of an empty text',
    'EGRESS_CALLERS (2) has no member password',
    'EGRESS_CALLERS (2.headers.0) must be the name of a header',
    'EGRESS_CALLERS (2.headers.1) is a header that the event, the connection or the egress sets',
    'EGRESS_CALLERS (2.headers.2) is a header that the event, the connection or the egress sets',
    'EGRESS_CALLERS (3.origins) must not be empty',
    'EGRESS_CALLERS (3.networks.0) must be a network',
    'EGRESS_CALLERS (3.secretfile) cannot be read: ENOENT',
    'EGRESS_CALLERS (4.event.source) must be a URI reference',
    'EGRESS_CALLERS (4.event.type) must be a text without',
    'EGRESS_CALLERS (4.event.idheader) is a header that',
    'EGRESS_CALLERS (5.event) has no member subject',
    'EGRESS_CALLERS_FILE contradicts EGRESS_CALLERS',
    'EGRESS_TOKEN_URL must be an http or https URL',
    'EGRESS_TOKEN_URL needs EGRESS_CLIENT_ID',
    'EGRESS_REGISTRY_CA_FILE cannot be read',
  ]) {
    expect(stderr).toContain(part);
  }
  expect(stderr).not.toContain('EGRESS_SERVICE_HOST');
});

test.each<[callers: object[] | undefined, message: string]>([
  [undefined, 'EGRESS_CALLERS is required'],
  [[], 'EGRESS_CALLERS must not be empty'],
  [[{ name: 'a', origins: ['a.example.com'] }], '(a) needs a secret or networks'],
  [[{ name: 'a', origins: ['a.example.com', 'b.example.com'], networks: ['10.0.0.0/8'] }], '(a) has several origins'],
  [[{ name: 'a', origins: ['a.example.com'], networks: ['0.0.0.0/0'] }], '(a) is every address'],
  [
    [
      { name: 'a', origins: ['a.example.com'], networks: ['10.0.0.0/8'] },
      { name: 'b', origins: ['b.example.com'], networks: ['10.1.0.0/16'] },
    ],
    '(a, b) have networks in common',
  ],
  [
    [
      { name: 'a', origins: ['a.example.com'], secret: sha256('one') },
      { name: 'a', origins: ['b.example.com'], secret: sha256('one') },
    ],
    '(a, a) have the same secret',
  ],
])('it does not start with callers that are not safe: %j', async (callers, message) => {
  const env = callers === undefined ? {} : { EGRESS_CALLERS: JSON.stringify(callers) };
  const { code, stderr } = await runCommand(['egress', '--registry', 'https://assent.example.org'], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
});

test.each([
  [['--listen', '3080'], '--listen must be an address and a port'],
  [['--deadline', '13'], '--deadline must not be longer than ASSENT_STOP_SECONDS (12)'],
  [['--in-flight', '0'], '--in-flight must be a whole number from 1'],
  [['--registry', 'ftp://x'], '--registry must be an http or https URL'],
])('a wrong option is a usage error: %j', async (args, message) => {
  const env = { EGRESS_CALLERS: JSON.stringify([{ name: 'a', origins: ['a.example.com'], secret: sha256(secret) }]) };
  const { code, stderr } = await runCommand(['egress', '--registry', 'https://assent.example.org', ...args], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
