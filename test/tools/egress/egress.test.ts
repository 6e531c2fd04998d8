import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent } from 'undici';
import { readEvents } from '../../../src/events/read-events.js';
import { startEgress, sha256, type RunningEgress } from '../../support/egress.js';
import { asHost, forbidden, inIpv6 } from '../../support/hostile-addresses.js';
import { startHostileServer } from '../../support/hostile-server.js';
import { newSigningKey, signed, startJwksServer, type JwksServer, type SigningKey } from '../../support/jwks-server.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

// A real registry, real webhooks, and `assent egress` in its own process.

const other = 'other.example.com';
const secrets = {
  shop: 'the-secret-of-the-shop',
  both: 'the-secret-of-both-origins',
  far: 'a-secret-from-far-away',
  forge: 'the-secret-of-the-forge',
  alerts: 'the-secret-of-the-alerts',
};
let registry: Registry;
let tenant: Tenant;
let egress: RunningEgress;
let jwks: JwksServer;
let key: SigningKey;

beforeAll(async () => {
  registry = await startRegistry({ env: { ASSENT_FEED_HEARTBEAT_SECONDS: '1' } });
  tenant = await createTenant(registry, { signatures: 'dictionary' });
  await tenant.admin.post('/v1/origins').send({ name: other }).expect(201);
  jwks = await startJwksServer();
  key = await newSigningKey('one');
  jwks.publishes(key.publicJwk);
  egress = await startEgress(registry, {
    callers: [
      { name: 'shop', origins: [tenant.origin], secret: sha256(secrets.shop) },
      { name: 'both', origins: [tenant.origin, other], secret: [sha256('the-older-secret'), sha256(secrets.both)] },
      { name: 'far', origins: [tenant.origin], secret: sha256(secrets.far), networks: ['10.0.0.0/8'] },
      {
        name: 'forge',
        origins: [tenant.origin],
        secret: sha256(secrets.forge),
        headers: ['X-GitHub-Event', 'X-Team', 'user-agent'],
      },
      {
        name: 'alerts',
        origins: [tenant.origin],
        secret: sha256(secrets.alerts),
        event: { source: '/alerts?a=%20', type: 'com.example.alarm é', idheader: 'X-Delivery' },
      },
      { name: 'local', origins: [tenant.origin], networks: ['127.0.0.2/32'] },
    ],
    env: {
      ASSENT_ISSUERS: JSON.stringify([
        { issuer: 'https://id.test', audience: 'urn:egress', jwks: jwks.url, algorithms: ['ES256'] },
      ]),
    },
    args: ['--max-body', '100000', '--in-flight', '16'],
  });
});
afterAll(async () => {
  await egress?.stop();
  await jwks.stop();
  await registry.stop();
});

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}
type Respond = (response: ServerResponse) => void;
const accept: Respond = (response) => void response.writeHead(202).end();

/** A webhook that consents, and that the egress knows. Other requests than POST are not recorded. */
async function newWebhook(
  name: string,
  more: { rate?: string; host?: string; origin?: string } & Record<string, unknown> = {},
) {
  const { rate = '*', host, origin, ...subscription } = more;
  const path = `/${name.split('?')[0]}`;
  const webhook = {
    sink: registry.receiver.sink(`/${name}`, host),
    id: '',
    received: [] as Received[],
    respond: accept,
    counts: async (): Promise<Record<string, number>> =>
      (await tenant.admin.get(`/v1/subscriptions/${webhook.id}/deliveries`)).body.counts,
  };
  registry.receiver.consent(path, { rate });
  const request = { ...subscription, ...(origin !== undefined && { origin }) };
  webhook.id = (await tenant.register(webhook.sink, request)).id;
  registry.receiver.on(path, async (incoming, response) => {
    // A kept connection would stay with its address when the name moves.
    if (host !== undefined) response.setHeader('Connection', 'close');
    let body = '';
    for await (const chunk of incoming.setEncoding('latin1')) body += chunk;
    if (incoming.method === 'POST') webhook.received.push({ headers: incoming.headers, body });
    webhook.respond(response);
  });
  // The process follows the feed: it may learn of this consent in a moment.
  await egress.postUntil(({ denial }) => denial !== 'no_grant', webhook.sink, {
    secret: secrets.both,
    headers: { 'WebHook-Request-Origin': origin ?? tenant.origin },
  });
  webhook.received.length = 0;
  return webhook;
}

test('a delivery reaches the webhook as the subscription and the origin say, and the response comes back as it came', async () => {
  const webhook = await newWebhook('whole', {
    protocolsettings: { headers: { 'X-Team': 'orders' } },
    sinkcredential: { credentialtype: 'PLAIN', identifier: 'me', secret: 'a-secret' },
  });
  const bytes = Buffer.from([0, 255, 10, 13, 128]);
  webhook.respond = (response) => {
    const lines = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Note', 'one', 'X-Note', 'two', 'Retry-After', '7'];
    response.writeHead(207, [
      ...lines,
      'Content-Type',
      'image/png',
      'Assent-Outcome',
      'forged',
      'Connection',
      'X-Hop',
      'X-Hop',
      '1',
    ]);
    response.write(bytes.subarray(0, 2));
    response.end(bytes.subarray(2));
  };
  const posted = await egress.post(webhook.sink, {
    secret: secrets.shop,
    headers: {
      'Content-Type': 'application/octet-stream',
      'ce-specversion': '1.0',
      'ce-id': '7',
      'ce-source': 'urn:example:shop',
      'ce-type': 'com.example.sold',
      Signature: 'sig=:AAAA:',
      'Signature-Input': 'sig=()',
      'Content-Digest': 'sha-256=:AAAA:',
    },
    body: bytes,
  });
  expect(posted).toMatchObject({
    status: 207,
    body: bytes,
    code: 'delivered',
    headers: {
      'set-cookie': ['a=1', 'b=2'],
      'x-note': ['one', 'two'],
      'retry-after': '7',
      'content-type': 'image/png',
    },
  });
  expect(posted.headers).not.toHaveProperty('x-hop');
  const [{ headers, body } = { headers: {} as IncomingHttpHeaders, body: '' }] = webhook.received;
  expect(webhook.received).toHaveLength(1);
  expect(Buffer.from(body, 'latin1')).toEqual(bytes);
  expect(headers).toMatchObject({
    'webhook-request-origin': tenant.origin,
    authorization: `Basic ${Buffer.from('me:a-secret').toString('base64')}`,
    'x-team': 'orders',
    'content-type': 'application/octet-stream',
    'ce-id': '7',
    host: new URL(webhook.sink).host,
    'content-digest': `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`,
    'signature-input': expect.stringContaining('created='),
  });
  expect(headers.signature).not.toContain('AAAA');
  await until(async () => (await webhook.counts())['delivered'] === 2);
});

/** What everyone answers who is asked whether the origin may send to this sink now. */
async function answersFor(sink: string) {
  const { sender, origin } = tenant;
  const pair = { origin, sink };
  const [subject, action] = [{ type: 'origin', id: origin }, { name: 'deliver' }];
  const found = await sender
    .post('/access/v1/search/resource')
    .send({ subject, action, resource: { type: 'sink' }, page: { limit: 1_000 } });
  const evaluated = await sender
    .post('/access/v1/evaluation')
    .send({ subject, action, resource: { type: 'sink', id: sink } });
  const authorized = await sender
    .get('/v1/authorize')
    .query({ hosts: new URL(sink).host })
    .set({ 'WebHook-Request-Origin': origin, 'X-Original-URL': sink });
  const settings = await sender.get('/v1/deliveries/settings').query(pair);
  const lease = await sender.post('/v1/leases').send({ ...pair, instance: 'one', requests: 1 });
  return {
    permission: (await sender.get('/v1/permissions').query(pair)).body.allowed,
    permissions: (await sender.post('/v1/permissions').send([pair])).body[0]?.allowed,
    lease: lease.status === 201,
    settings: settings.status === 200,
    gateway: authorized.status === 204,
    evaluation: evaluated.body.decision,
    search: found.body.results.some(({ id }: { id: string }) => id === sink),
  };
}

test('an agreement is one answer for all: with a subscription, without one, after the last one, until it is revoked', async () => {
  const sink = registry.receiver.sink('/agreed');
  registry.receiver.on('/agreed', (incoming, response) => {
    incoming.resume();
    response.writeHead(incoming.method === 'POST' ? 202 : 503).end();
  });
  const expiresat = new Date(Date.now() + 86_400_000).toISOString();
  const agreement = { origin: tenant.origin, sink, allowedrate: 600, agreement: 'contract 7', expiresat };
  const all = async (isAllowed: boolean, isMatched: boolean) => {
    // The process learns of a change in a moment.
    const posted = await egress.postUntil(({ status }) => (status === 202) === isAllowed, sink, {
      secret: secrets.shop,
    });
    const answers = await answersFor(sink);
    const names = Object.keys(answers);
    expect({ egress: posted.status === 202, ...answers }).toEqual(
      Object.fromEntries(['egress', ...names].map((name) => [name, isAllowed])),
    );
    const { body } = await tenant.sender
      .post('/v1/match')
      .set('Content-Type', 'application/cloudevents+json')
      .send(JSON.stringify({ specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.agreed' }))
      .expect(200);
    expect(body.sinks.some((each: { sink: string }) => each.sink === sink)).toBe(isMatched);
  };
  await all(false, false);
  const { id } = (await tenant.admin.post('/v1/grants').send(agreement).expect(201)).body;
  await all(true, false);
  const subscription = await tenant.register(sink, { types: ['com.example.agreed'] }, 'respond-async');
  await all(true, true);
  const of = `/v1/subscriptions/${subscription.id}`;
  await tenant.subscriber.post(`${of}/suspend`).send({ reason: 'Too much.' }).expect(200);
  await all(false, false);
  await tenant.subscriber.delete(of).expect(200);
  await all(true, false);
  await tenant.admin.post(`/v1/grants/${id}/revoke`).send({ reason: 'It is over.' }).expect(200);
  await all(false, false);
});

test('a webhook that continues unasked consents, and a delivery to it counts as received', async () => {
  const sink = registry.receiver.sink('/continues');
  registry.receiver.on('/continues', (incoming, response) => {
    response.writeContinue();
    const rate = { 'WebHook-Allowed-Origin': tenant.origin, 'WebHook-Allowed-Rate': '*' };
    response.writeHead(incoming.method === 'OPTIONS' ? 200 : 202, rate).end();
  });
  const { id } = await tenant.register(sink);
  await until(async () => (await tenant.read(id)).status === 'active');
  const posted = await egress.postUntil(({ denial }) => denial !== 'no_grant', sink, { secret: secrets.shop });
  expect(posted).toMatchObject({ status: 202, code: 'delivered' });
});

test('a webhook gets what an event needs and what the settings of the caller name, and nothing else of the caller', async () => {
  const { sink, received } = await newWebhook('inside', { protocolsettings: { headers: { 'X-Team': 'orders' } } });
  const event = {
    'Content-Type': 'application/json',
    'Content-Encoding': 'identity',
    'Content-Language': 'nl',
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': 'urn:example:shop',
    'ce-type': 'com.example.sold',
    'CE-Ordernumber': '7',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    tracestate: 'a=1',
  };
  const others = [
    'baggage b3 X-B3-TraceId sentry-trace newrelic X-Amzn-Trace-Id X-Cloud-Trace-Context X-Request-Id X-HTTP-Method',
    'X-HTTP-Method-Override X-Method-Override X-Rewrite-URL Webhook-Id webhook-signature webhook-timestamp Forwarded Via',
    'X-Forwarded-For X-Forwarded-Client-Cert X-Real-IP True-Client-IP CF-Connecting-IP X-Envoy-Internal Cookie Referer',
    'From Accept Accept-Language Date Server Api-Key X-Api-Key X-Gitlab-Token X_Team X_Forwarded_Host X.Team ce-',
    'x.forwarded.for ce-order-number ce-order.number Content-Location Content-MD5 HTTP2-Settings',
  ].flatMap((names) => names.split(' '));
  const sent = { ...event, ...Object.fromEntries(others.map((name) => [name, 'inside'])) };
  const named = { 'X-GitHub-Event': 'push', 'x-team': 'forged', 'User-Agent': 'Forge/1' };
  for (const secret of [secrets.shop, secrets.forge]) {
    expect(await egress.post(sink, { secret, headers: { ...sent, ...named } })).toMatchObject({ status: 202 });
  }
  const hops = {
    ...event,
    'X-GitHub-Event': 'push',
    'Content-Length': '0',
    Connection: 'close, tracestate, X-GitHub-Event',
  };
  const head = Object.entries({ Host: 'egress', Authorization: `Bearer ${secrets.forge}`, ...hops });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  await egress.raw(`POST /${sink.replace('://', '/')} HTTP/1.1\r\n${lines}\r\n`);
  const added = 'connection content-digest content-length host signature signature-agent signature-input user-agent';
  const own = [...added.split(' '), 'webhook-request-origin', 'x-team'];
  const ofEvent = Object.keys(event).map((name) => name.toLowerCase());
  expect(received.map(({ headers }) => Object.keys(headers).sort())).toEqual([
    [...own, ...ofEvent].sort(),
    [...own, ...ofEvent, 'x-github-event'].sort(),
    [...own, ...ofEvent].filter((name) => name !== 'tracestate').sort(),
  ]);
  expect(received.map(({ headers }) => headers['x-team'])).toEqual(['orders', 'orders', 'orders']);
  const agents = ['Assent egress', 'Forge/1', 'Assent egress'];
  expect(received.map(({ headers }) => headers['user-agent'])).toEqual(agents);
});

const binary = {
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': 'urn:example:shop',
  'ce-type': 'com.example.sold',
};

test('what is no event does not reach a webhook: 415, with what is accepted', async () => {
  const { sink, received } = await newWebhook('events-only');
  const none = [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; a=cloudevents',
    '',
  ];
  for (const type of none) {
    const headers = { 'Content-Type': type, 'X-Event': 'ce-id', cee: '1' };
    const posted = await egress.post(sink, { secret: secrets.shop, headers, body: '{"id":"1"}' });
    expect(posted).toMatchObject({ status: 415, code: 'media_type_unsupported' });
    expect(posted.headers['accept']).toBe('application/cloudevents+json, application/cloudevents-batch+json');
    expect(JSON.parse(posted.body.toString()).faults).toMatchObject([
      { pointer: 'header/content-type', rule: 'not_an_event' },
    ]);
  }
  expect(received).toEqual([]);
  const events = ['', '-batch'].map((batch) => ({
    'content-type': `Application/CloudEvents${batch}+JSON; charset=UTF-8`,
  }));
  for (const headers of [...events, { 'content-type': 'application/cloudevents+avro' }, binary]) {
    expect(await egress.post(sink, { secret: secrets.shop, headers })).toMatchObject({ status: 202 });
  }
  expect(received).toHaveLength(4);
});

test('each request of a caller with `event` becomes a valid event, which has the same id in each attempt', async () => {
  const { sink, received } = await newWebhook('made');
  const post = (body: string, headers: Record<string, string> = {}) =>
    egress.post(sink, { secret: secrets.alerts, body, headers: { 'Content-Type': 'application/json', ...headers } });
  const [one, two] = ['{"alarm":1}', '{"alarm":2}'];
  const ids = ['7b-1', 'a "quoted" 100%'];
  const posts: Array<[body: string, headers?: Record<string, string>]> = [
    [one],
    [one, { 'X-Delivery': '' }],
    [two, { 'X-Other': '1' }],
    ...ids.map((id): [string, Record<string, string>] => [one, { 'X-Delivery': id }]),
  ];
  for (const [body, headers] of posts) expect(await post(body, headers)).toMatchObject({ status: 202 });
  const made = received.map(({ headers, body }) => {
    const read = readEvents({ headers: Object.entries(headers).flat() as string[], body: Buffer.from(body) });
    const [event] = 'mode' in read ? read.events : [];
    if (!event || !('event' in event)) throw new Error(JSON.stringify(event));
    return { attributes: Object.fromEntries(event.event.attributes), body };
  });
  const hash = (body: string) => createHash('sha256').update(body).digest('base64url');
  expect(made.map(({ attributes, body }) => [attributes['id'], body])).toEqual([
    [hash(one), one],
    [hash(one), one],
    [hash(two), two],
    ...ids.map((id) => [id, one]),
  ]);
  for (const { attributes } of made) {
    expect(attributes).toMatchObject({
      source: '/alerts?a=%20',
      type: 'com.example.alarm é',
      datacontenttype: 'application/json',
    });
    expect(Math.abs(Date.parse(String(attributes['time'])) - Date.now())).toBeLessThan(60_000);
  }

  // What is an event stays as it is, and data without a media type become none.
  received.length = 0;
  expect(await post('{}', { 'Content-Type': 'application/cloudevents+json', 'X-Delivery': '3' })).toMatchObject({
    status: 202,
  });
  expect(await post('{}', { ...binary, 'X-Delivery': '3' })).toMatchObject({ status: 202 });
  expect(received.map(({ headers }) => [headers['ce-id'], headers['ce-time']])).toEqual([
    [undefined, undefined],
    ['1', undefined],
  ]);
  const { host, pathname } = new URL(sink);
  const head = `POST /https/${host}${pathname} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secrets.alerts}\r\n`;
  expect(await egress.raw(`${head}Connection: close\r\nContent-Length: 2\r\n\r\n{}`)).toMatch(/^HTTP\/1\.1 415 /);
  expect(received).toHaveLength(2);
});

test('the URL is in the path, or in X-Original-URL, with every character; the port 443 may be written', async () => {
  const { sink, received } = await newWebhook('place?a=%2F&b=c,d;e=~');
  expect(
    await egress.post('', {
      path: '/any/path',
      secret: secrets.shop,
      headers: { 'X-Original-URL': sink },
    }),
  ).toMatchObject({ code: 'delivered' });
  expect(await egress.post(sink, { secret: secrets.shop, headers: { 'X-Original-URL': sink } })).toMatchObject({
    code: 'delivered',
  });
  expect(received).toHaveLength(2);
  const named = await egress.post('https://localhost:443/nothing', { secret: secrets.shop });
  expect(named).toMatchObject({ status: 403, denial: 'no_grant' });
});

test('a 410 ends the grant: the next request is refused, and not sent', async () => {
  const webhook = await newWebhook('gone');
  webhook.respond = (response) => void response.writeHead(410, { 'X-Why': 'moved' }).end('bye');
  const last = await egress.post(webhook.sink, { secret: secrets.shop });
  expect(last).toMatchObject({ status: 410, code: 'gone', headers: { 'x-why': 'moved' } });
  expect(last.body.toString()).toBe('bye');
  const refused = await egress.postUntil(({ denial }) => denial === 'ended', webhook.sink, { secret: secrets.shop });
  expect(refused).toMatchObject({ status: 403, code: 'not_permitted' });
  expect(webhook.received).toHaveLength(1);
});

test('no redirect counts as success: a 3xx becomes a 502 without Location, with the status of the webhook in a header', async () => {
  const webhook = await newWebhook('redirecting');
  const statuses = [300, 301, 302, 303, 304, 305, 307, 308, 399];
  for (const status of statuses) {
    webhook.respond = (response) => {
      response
        .writeHead(status, { Location: 'https://127.0.0.2/', 'Assent-Status-Code': '204', 'X-Why': 'moved' })
        .end();
    };
    const { headers, ...posted } = await egress.post(webhook.sink, { secret: secrets.shop });
    expect(posted).toMatchObject({ status: 502, code: 'redirected' });
    expect(headers).toMatchObject({ 'assent-status-code': String(status), 'x-why': 'moved' });
    expect(headers).not.toHaveProperty('location');
  }
  expect(webhook.received).toHaveLength(statuses.length);
  await until(async () => (await webhook.counts())['redirected'] === statuses.length);
});

test('any other status is that of the webhook, as a response that clients read as it is meant', async () => {
  const webhook = await newWebhook('statuses');
  const statuses = [200, 201, 204, 205, 206, 226, 299, 400, 407, 408, 415, 418, 421, 425, 426, 500, 502, 504, 511, 599];
  for (const status of statuses) {
    webhook.respond = (response) => {
      const elsewhere = {
        'Alt-Svc': 'h2="127.0.0.2:443"',
        'Strict-Transport-Security': 'max-age=31536000',
        'Clear-Site-Data': '"*"',
      };
      response.writeHead(status, { Location: '/made', 'Content-Type': 'text/plain', ...elsewhere }).end('text');
    };
    const { headers, body, ...posted } = await egress.post(webhook.sink, { secret: secrets.shop });
    expect([status, posted.status, headers.location]).toEqual([status, status, '/made']);
    expect([status, body.toString()]).toEqual([status, [204, 205].includes(status) ? '' : 'text']);
    for (const name of ['alt-svc', 'strict-transport-security', 'clear-site-data', 'assent-status-code'])
      expect(headers).not.toHaveProperty(name);
  }
});

test('the rate is kept: beyond it 429 with Retry-After, as gateways get it; what was not sent costs nothing', async () => {
  const name = 'rated.hooks.test';
  const webhook = await newWebhook('rated', { rate: '60', host: name });
  registry.dns.zone[name] = ['127.0.0.2'];
  // More than the rate. A share that ends is asked for again, which may take a moment.
  for (let count = 0; count < 70; count += 1) {
    const wait = ({ status }: { status: number }) => status !== 429;
    const blocked = await egress.postUntil(wait, webhook.sink, { secret: secrets.shop });
    expect(blocked).toMatchObject({ status: 403, code: 'not_permitted', denial: 'address_not_allowed' });
  }
  const leased =
    'select (select sum(each) from unnest(slots) each)::int as sum from lease_pool order by tokensat desc limit 1';
  expect((await registry.sql<{ sum: number }>(leased))[0]?.sum).toBeLessThan(35);
  registry.dns.zone[name] = ['127.0.0.1'];
  const statuses: number[] = [];
  const refused = await egress.postUntil(
    (posted) => statuses.push(posted.status) > 0 && posted.status === 429,
    webhook.sink,
    { secret: secrets.shop },
  );
  expect(refused).toMatchObject({ code: 'rate_used_up', denial: 'rate_used_up' });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(webhook.received).toHaveLength(statuses.length - 1);
});

test('a webhook that asks to wait gets nothing until then, and senders learn how long', async () => {
  const webhook = await newWebhook('held');
  webhook.respond = (response) => void response.writeHead(429, { 'Retry-After': '600' }).end();
  const asked = await egress.post(webhook.sink, { secret: secrets.shop });
  expect(asked).toMatchObject({ status: 429, code: 'throttled', headers: { 'retry-after': '600' } });
  const refused = await egress.post(webhook.sink, { secret: secrets.shop });
  expect(refused).toMatchObject({ status: 429, code: 'sink_held', denial: 'held' });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(500);
  expect(webhook.received).toHaveLength(1);
});

test('with a token of its own for the egress, the Authorization of the sender is for the webhook, unless the subscription has a credential', async () => {
  const plain = await newWebhook('own');
  const sinkcredential = {
    credentialtype: 'ACCESSTOKEN',
    accesstoken: 'of-the-subscription',
    accesstokentype: 'bearer',
  };
  const registered = await newWebhook('registered', {
    sinkcredential: { ...sinkcredential, accesstokenexpiresutc: '2099-01-01T00:00:00Z' },
  });
  const headers = { 'Assent-Authorization': `Bearer ${secrets.shop}`, Authorization: 'Bearer of-the-sender' };
  for (const { sink } of [plain, registered])
    expect(await egress.post(sink, { headers })).toMatchObject({ code: 'delivered' });
  expect(plain.received[0]?.headers).toMatchObject({ authorization: 'Bearer of-the-sender' });
  expect(registered.received[0]?.headers).toMatchObject({ authorization: 'Bearer of-the-subscription' });
  expect(Object.keys(plain.received[0]?.headers ?? {}).filter((name) => name.startsWith('assent'))).toEqual([]);
});

describe('callers', () => {
  const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const claims = (more: object = {}) => {
    const now = Math.floor(Date.now() / 1_000);
    const who = { tenant: 'gemeente', client_id: 'broker', scope: 'assent:deliver', origin: tenant.origin };
    return { iss: 'https://id.test', aud: 'urn:egress', iat: now, exp: now + 60, ...who, ...more };
  };
  const token = async (more: object = {}) => `Bearer ${await signed(key, claims(more))}`;
  let sink: string;
  let ofOther: string;
  beforeAll(async () => {
    ({ sink } = await newWebhook('callers'));
    ({ sink: ofOther } = await newWebhook('callers-other', { origin: other }));
  });

  type Case = [
    what: string,
    headers: () => Record<string, string> | Promise<Record<string, string>>,
    status: number,
    code: string,
    to?: 'other',
  ];
  const origin = (name: string) => ({ 'WebHook-Request-Origin': name });
  const cases: Case[] = [
    ['a secret', () => ({ Authorization: `Bearer ${secrets.shop}` }), 202, 'delivered'],
    ['a secret in another header', () => ({ 'Assent-Authorization': `bearer ${secrets.shop}` }), 202, 'delivered'],
    ['a secret as the password of any user', () => ({ Authorization: basic('any', secrets.shop) }), 202, 'delivered'],
    [
      'an older secret',
      () => ({ Authorization: 'Bearer the-older-secret', ...origin('eventemitter.example.com') }),
      202,
      'delivered',
    ],
    [
      'its own origin, in capitals',
      () => ({ Authorization: `Bearer ${secrets.shop}`, ...origin('EventEmitter.example.com') }),
      202,
      'delivered',
    ],
    [
      'one of its origins',
      () => ({ Authorization: `Bearer ${secrets.both}`, ...origin(other) }),
      202,
      'delivered',
      'other',
    ],
    [
      'the origin of the other webhook',
      () => ({ Authorization: `Bearer ${secrets.both}`, ...origin(other) }),
      403,
      'not_permitted',
    ],
    ['several origins and names none', () => ({ Authorization: `Bearer ${secrets.both}` }), 400, 'invalid_request'],
    ["another's origin", () => ({ Authorization: `Bearer ${secrets.shop}`, ...origin(other) }), 403, 'not_permitted'],
    ['a token', async () => ({ Authorization: await token() }), 202, 'delivered'],
    [
      'a token for several origins',
      async () => ({ Authorization: await token({ origin: [other, tenant.origin] }), ...origin(other) }),
      202,
      'delivered',
      'other',
    ],
    [
      'a token without an origin',
      async () => ({ Authorization: await token({ origin: undefined }) }),
      403,
      'scope_missing',
    ],
    [
      'a token for other work',
      async () => ({ Authorization: await token({ scope: 'assent:subscribe' }) }),
      403,
      'scope_missing',
    ],
    [
      'a token of another tenant',
      async () => ({ Authorization: await token({ tenant: 'else' }) }),
      403,
      'scope_missing',
    ],
    ['a token that expired', async () => ({ Authorization: await token({ exp: 1_000 }) }), 401, 'unauthenticated'],
    [
      'a token of another issuer',
      async () => ({ Authorization: await token({ iss: 'https://else.test' }) }),
      401,
      'unauthenticated',
    ],
    [
      'a token that another key signed',
      async () => ({ Authorization: `Bearer ${await signed(await newSigningKey('one'), claims())}` }),
      401,
      'unauthenticated',
    ],
    ['nothing', () => ({}), 401, 'unauthenticated'],
    ['a wrong secret', () => ({ Authorization: 'Bearer wrong' }), 401, 'unauthenticated'],
    ['an empty password', () => ({ Authorization: basic('shop', '') }), 401, 'unauthenticated'],
    ['the SHA-256 of a secret', () => ({ Authorization: `Bearer ${sha256(secrets.shop)}` }), 401, 'unauthenticated'],
    ['another scheme', () => ({ Authorization: `Digest ${secrets.shop}` }), 401, 'unauthenticated'],
    ['a secret of another network', () => ({ Authorization: `Bearer ${secrets.far}` }), 401, 'unauthenticated'],
    [
      'that secret, and claims to be there',
      () => ({
        Authorization: `Bearer ${secrets.far}`,
        'X-Forwarded-For': '10.0.0.1',
        Forwarded: 'for=10.0.0.1',
        'X-Real-IP': '10.0.0.1',
      }),
      401,
      'unauthenticated',
    ],
  ];
  test.each(cases)('%s', async (_what, headersOf, status, code, to: string = '') => {
    const posted = await egress.post(to === 'other' ? ofOther : sink, { headers: await headersOf() });
    expect([posted.status, posted.code]).toEqual([status, code]);
    if (status === 401) expect(String(posted.headers['www-authenticate'])).toMatch(/Bearer .*Basic /);
  });

  test('a caller without a secret is known by its address, and a browser there is not', async () => {
    const dispatcher = new Agent({ localAddress: '127.0.0.2' });
    const from = (headers: Record<string, string> = {}) => egress.post(sink, { dispatcher, headers });
    expect(await from()).toMatchObject({ status: 202 });
    expect(await from({ Authorization: 'Bearer wrong' })).toMatchObject({ status: 401 });
    expect(await from({ Origin: 'https://evil.example.com' })).toMatchObject({ status: 401 });
    expect(await from({ 'Sec-Fetch-Site': 'cross-site' })).toMatchObject({ status: 401 });
    await dispatcher.close();
  });
});

describe('it is no proxy, and passes nothing on that can be read in two ways', () => {
  const authorization = `Authorization: Bearer ${secrets.shop}`;
  const own = `Host: egress\r\n${authorization}\r\nContent-Length: 1\r\nConnection: close\r\n`;
  const cases: Array<[request: (sink: string) => string, status: number, place?: string]> = [
    [() => `CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n${authorization}\r\n\r\n`, 405],
    [(sink) => `POST ${sink} HTTP/1.1\r\n${own}\r\n1`, 400, 'path'],
    [() => `POST http://egress/https/localhost/ HTTP/1.1\r\n${own}\r\n1`, 400, 'path'],
    [() => `OPTIONS * HTTP/1.1\r\n${own}\r\n1`, 405],
    ...['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'HEAD', 'TRACE'].map((method): [() => string, number] => [
      () => `${method} /https/localhost/ HTTP/1.1\r\n${own}\r\n1`,
      405,
    ]),
    ...[
      '/http/localhost/',
      '/HTTP/localhost/',
      '/https/localhost',
      '/https/LOCALHOST/',
      '/https/user:password@localhost/',
      '/https/localhost:0443/',
      '/https/localhost/../a',
      '/https/localhost/%2e%2e/a',
      '/https/localhost\\@else.example.com/',
      '/https//localhost/',
      '/https/localhost/?access_token=1',
      '/https/localhost/a"b',
    ].map((path): [() => string, number, string] => [() => `POST ${path} HTTP/1.1\r\n${own}\r\n1`, 400, 'path']),
    // Its chunks are gone, and the rest of the coding would arrive as if it were the event.
    [
      (sink) =>
        `POST /${sink.replace('://', '/')} HTTP/1.1\r\n${own.replace('Content-Length: 1', 'Transfer-Encoding: gzip, chunked')}\r\n1\r\na\r\n0\r\n\r\n`,
      501,
    ],
    [() => `POST / HTTP/1.1\r\n${own}\r\n1`, 404],
    [() => `POST //https/localhost/ HTTP/1.1\r\n${own}\r\n1`, 404],
    [() => `POST /ftp/localhost/ HTTP/1.1\r\n${own}\r\n1`, 404],
    [() => `POST / HTTP/1.1\r\n${own}X-Original-URL: http://localhost/\r\n\r\n1`, 400, 'header/x-original-url'],
    [() => `POST / HTTP/1.1\r\n${own}X-Original-URL: localhost/\r\n\r\n1`, 400, 'header/x-original-url'],
    [
      (sink) => `POST / HTTP/1.1\r\n${own}X-Original-URL: ${sink}\r\nX-Original-URL: ${sink}\r\n\r\n1`,
      400,
      'header/x-original-url',
    ],
    [
      (sink) => `POST /https/localhost/ HTTP/1.1\r\n${own}X-Original-URL: ${sink}\r\n\r\n1`,
      400,
      'header/x-original-url',
    ],
    [
      (sink) => `POST /${sink.replace('://', '/')} HTTP/1.1\r\n${own}X_Original_URL: ${sink}\r\n\r\n1`,
      400,
      'header/x-original-url',
    ],
    ...[
      'WebHook-Request-Origin: eventemitter.example.com',
      authorization,
      'Host: egress',
      'Content-Type: a/b',
      'ce-id: 1',
      'Assent-Authorization: Bearer x',
    ].map((line): [(sink: string) => string, number, string] => [
      (sink) => `POST /${sink.replace('://', '/')} HTTP/1.1\r\n${own}${line}\r\n${line}\r\n\r\n1`,
      400,
      `header/${line.split(':')[0]?.toLowerCase()}`,
    ]),
    ...['WebHook_Request_Origin', 'Assent_Authorization', 'Content_Type', 'ce_id'].map(
      (name): [(sink: string) => string, number, string] => [
        (sink) => `POST /${sink.replace('://', '/')} HTTP/1.1\r\n${own}${name}: eventemitter.example.com\r\n\r\n1`,
        400,
        `header/${name.toLowerCase().replaceAll('_', '-')}`,
      ],
    ),
    // Two programs in a row could disagree where this request ends.
    ...[
      'Transfer-Encoding: chunked',
      'Transfer-Encoding : chunked',
      'Transfer-Encoding: xchunked',
      'Content-Length: 2',
      'Content-Length: +1',
      ' folded: 1',
    ].map((line): [(sink: string) => string, number] => [
      (sink) => `POST /${sink.replace('://', '/')} HTTP/1.1\r\n${own}${line}\r\n\r\n1`,
      400,
    ]),
    [
      (sink) =>
        `POST /${sink.replace('://', '/')} HTTP/1.1\r\n${authorization}\r\nContent-Length: 1\r\nConnection: close\r\n\r\n1`,
      400,
      'header/host',
    ],
    [() => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    [(sink) => `POST /${sink.replace('://', '/')} HTTP/1.1\r\n${own}X-Long: ${'a'.repeat(20_000)}\r\n\r\n1`, 431],
  ];

  test('with the place', async () => {
    const { sink, received } = await newWebhook('table');
    const found = await Promise.all(
      cases.map(async ([requestOf]) => {
        const said = await egress.raw(requestOf(sink));
        const [head = '', body = ''] = said.split('\r\n\r\n');
        const faults = /"pointer":"([^"]*)"/.exec(body);
        return [
          requestOf(sink),
          Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
          faults?.[1],
          /assent-outcome/i.test(head),
        ];
      }),
    );
    expect(found).toEqual(cases.map(([requestOf, status, place]) => [requestOf(sink), status, place, false]));
    expect(received).toEqual([]);
  });
});

test('no address of the list of hostile ones is reached, whatever is registered, resolved or asked for', async () => {
  // Consent came from a public address each time; then the name moves.
  const inside = await startHostileServer({ host: '127.0.0.2', port: registry.receiver.port });
  const answers = forbidden
    .filter((address) => address !== '127.0.0.1')
    .flatMap((address) => [address, ...inIpv6(address)]);
  const name = 'moves.hooks.test';
  const { sink, received } = await newWebhook('moves', { host: name });
  const sets = [
    ...answers.map((address) => [address]),
    ['127.0.0.1', '127.0.0.2'],
    ['127.0.0.1', '10.0.0.1', '::1'],
    [],
  ];
  const passed: string[] = [];
  for (const set of sets) {
    registry.dns.zone[name] = set;
    const posted = await egress.post(sink, { secret: secrets.shop });
    if (posted.status !== (set.length === 0 ? 502 : 403)) passed.push(`${set.join()} ${posted.status}`);
  }
  // Not even as what is asked for.
  for (const literal of forbidden.flatMap(asHost)) {
    const url = `https://${literal}:${inside.port}/`;
    const posted = await egress.post('', {
      path: '/any/path',
      secret: secrets.shop,
      headers: { 'X-Original-URL': encodeURI(url) },
    });
    if (posted.status !== 400 && posted.denial !== 'no_grant') passed.push(`${literal} ${posted.status}`);
  }
  expect(passed).toEqual([]);
  expect([inside.connections, received]).toEqual([0, []]);
  registry.dns.zone[name] = ['127.0.0.1'];
  expect(await egress.post(sink, { secret: secrets.shop })).toMatchObject({ code: 'delivered' });
  await inside.stop();
});
