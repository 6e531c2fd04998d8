import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { IncomingHttpHeaders } from 'node:http';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import type { MatchResult, Sender } from '../../../src/kits/sender/index.js';
import { startEgressProxy } from '../../support/egress-proxy.js';
import { startHostileServer } from '../../support/hostile-server.js';
import type { Registry } from '../../support/registry.js';
import { startSenders, type Senders } from '../../support/senders.js';
import type { Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

let registry: Registry;
let tenant: Tenant;
let senders: Senders;
/** May see credentials. */
let sender: Sender;
const guard = () => ({
  allowedNetworks: ['127.0.0.1/32'],
  sinkPorts: [registry.receiver.port],
  sinkCa: registry.receiver.ca,
  dnsServers: [registry.dns.address],
});

beforeAll(async () => {
  senders = await startSenders();
  ({ registry, tenant } = senders);
  const scopes = ['assent:deliver' as const, 'assent:credentials' as const];
  const token = () => createToken({ tenant: 'gemeente', subscriber: 'mailroom', scopes, minutes: 60 }, registry.env);
  sender = await senders.start({ token, guard: guard() });
});
afterAll(() => senders.stop());

interface Posted {
  headers: IncomingHttpHeaders;
  body: string;
}

const eventOf = (type: string) => ({ specversion: '1.0', id: '1', source: 'urn:example:a', type, data: { a: 'é' } });

/** A webhook that agreed to get events of this type; it answers 204 once these answers are given. */
async function newWebhook(name: string, more: object = {}, answers: Array<[number, object?]> = [], host?: string) {
  const posted: Posted[] = [];
  registry.receiver.consent(`/${name}`, { rate: '*' });
  const sink = registry.receiver.sink(`/${name}`, host);
  const { id } = await tenant.register(sink, { types: [name], ...more });
  registry.receiver.on(`/${name}`, async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    posted.push({ headers: request.headers, body });
    const [status, headers] = answers.shift() ?? [204];
    response.writeHead(status, { ...headers }).end();
  });
  await senders.untilCurrent(sender);
  return { id: id as string, sink, posted, event: eventOf(name) };
}

async function untilCounted(id: string, counts: object): Promise<void> {
  await until(async () => {
    const { body } = await tenant.admin.get(`/v1/subscriptions/${id}/deliveries`);
    return JSON.stringify(body.counts) === JSON.stringify(counts);
  });
}

test('a delivery has the content mode, the headers and the credential of the match, and is reported', async () => {
  const protocolsettings = { contentmode: 'binary', headers: { 'X-Team': 'orders' } };
  const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'a-secret' };
  const { id, sink, posted, event } = await newWebhook('com.example.whole', { protocolsettings, sinkcredential });
  const match = await sender.matchWithCredentials(event);
  expect(await sender.deliver(event, match)).toEqual([{ sink, outcome: 'delivered', statusCode: 204, attempts: 1 }]);
  const authorization = `Basic ${Buffer.from('me:a-secret').toString('base64')}`;
  expect(posted).toMatchObject([
    {
      headers: {
        authorization,
        'webhook-request-origin': tenant.origin,
        'ce-type': event.type,
        'content-type': 'application/json',
        'x-team': 'orders',
      },
      body: '{"a":"é"}',
    },
  ]);
  await untilCounted(id, { delivered: 1 });
});

test('a webhook whose credential the sender may not read gets nothing, and the host is informed once', async () => {
  const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'a-secret' };
  const { sink, posted, event } = await newWebhook('com.example.secret', { sinkcredential });
  const told = await tenant.sender.post('/v1/match').set('Content-Type', 'application/cloudevents+json').send(event);
  expect(told.body.sinks).toMatchObject([{ sink, hascredential: true }]);
  const untrusted = await senders.startCurrent({ guard: guard() });
  for (const match of [untrusted.match(event), await untrusted.matchWithCredentials(event), told.body as MatchResult]) {
    expect(match.sinks).toMatchObject([{ sink, hascredential: true }]);
    expect(match.sinks[0]).not.toHaveProperty('sinkcredential');
    expect(await untrusted.deliver(event, match)).toMatchObject([{ sink, outcome: 'withheld', attempts: 0 }]);
  }
  expect(senders.faults.filter((fault) => String(fault).includes(sink))).toHaveLength(1);
  expect(posted).toEqual([]);
});

test("a host name that resolves into the sender's own network after the consent is not connected to", async () => {
  const name = 'rebinding.hooks.test';
  const inside = await startHostileServer({ host: '127.0.0.2', port: registry.receiver.port });
  const { sink, posted, event } = await newWebhook('com.example.rebinding', {}, [], name);
  registry.dns.zone[name] = ['127.0.0.2'];
  const [result] = await sender.deliver(event, sender.match(event));
  expect(result).toMatchObject({ sink, outcome: 'blocked', attempts: 0 });
  expect([posted.length, inside.connections]).toEqual([0, 0]);
  registry.dns.zone[name] = ['127.0.0.1'];
  expect(await sender.deliver(event, sender.match(event))).toMatchObject([{ outcome: 'delivered' }]);
  await inside.stop();
});

test('goes through the proxy of the settings; what fails in the proxy is no failure of the webhook', async () => {
  let answer: ((socket: Socket) => void) | undefined = (socket) => void socket.end('HTTP/1.1 407 Who\r\n\r\n');
  const proxy = await startEgressProxy({ intercept: () => answer });
  const name = 'behind-a-proxy.hooks.test';
  const { id, sink, posted, event } = await newWebhook('com.example.proxied', {}, [], name);
  registry.dns.zone[name] = ['93.184.216.34'];
  const { allowedNetworks: noProxy } = guard();
  const settings = { ...guard(), proxy: { url: `http://127.0.0.1:${proxy.port}`, noProxy } };
  const proxied = await senders.startCurrent({ guard: settings });
  const [failed] = await proxied.deliver(event, proxied.match(event), { attempts: 1 });
  expect(failed).toMatchObject({ sink, outcome: 'no_response', code: 'proxy_authentication', attempts: 1 });
  expect(senders.faults.filter((fault) => String(fault).includes('egress proxy'))).toHaveLength(1);
  answer = undefined;
  expect(await proxied.deliver(event, proxied.match(event))).toMatchObject([{ outcome: 'delivered' }]);
  expect(posted).toHaveLength(1);
  await untilCounted(id, { delivered: 1 });
  await proxied.close();
  await proxy.stop();
});

test.each<[string, number, object]>([
  ['gone', 410, {}],
  ['redirected', 307, { Location: 'https://localhost/other' }],
  ['mediarefused', 415, {}],
  ['rejected', 400, {}],
])('%s is reported and not retried', async (outcome, status, headers) => {
  const { id, posted, event } = await newWebhook(`com.example.${outcome}`, {}, [[status, headers]]);
  expect(await sender.deliver(event, sender.match(event))).toMatchObject([
    { outcome, statusCode: status, attempts: 1 },
  ]);
  expect(posted).toHaveLength(1);
  await untilCounted(id, { [outcome]: 1 });
});

test('a failed delivery is retried, and one that was asked to hold is retried when the hold ends', async () => {
  const failing = await newWebhook('com.example.failing', {}, [[500]]);
  const tired = await newWebhook('com.example.tired', {}, [[429, { 'Retry-After': '2' }]]);
  const startedAt = Date.now();
  const deliveries = [failing, tired].map(({ event }) => sender.deliver(event, sender.match(event)));
  const delivered = { outcome: 'delivered', attempts: 2 };
  expect((await Promise.all(deliveries)).flat()).toMatchObject([delivered, delivered]);
  expect(Date.now() - startedAt).toBeGreaterThan(1_900);
  await untilCounted(tired.id, { delivered: 1, throttled: 1 });
});

test('a sender with its own queue learns when a hold ends, and sends nothing before that', async () => {
  const { posted, event } = await newWebhook('com.example.queue', {}, [[429, { 'Retry-After': '600' }]]);
  const match = sender.match(event);
  const helduntil = expect.any(String);
  expect(await sender.deliver(event, match, { attempts: 1 })).toMatchObject([{ outcome: 'throttled', helduntil }]);
  expect(await sender.deliver(event, match, { attempts: 1 })).toMatchObject([{ outcome: 'denied', helduntil }]);
  expect(posted).toHaveLength(1);
  const over = new AbortController();
  const waiting = sender.deliver(event, match, { signal: over.signal });
  over.abort(new Error('no longer wanted'));
  await expect(waiting).rejects.toThrow('no longer wanted');
});

test('a webhook that does not know a new credential yet gets the previous one', async () => {
  const plain = (secret: string) => ({ credentialtype: 'PLAIN', identifier: 'me', secret });
  const { id, posted, event } = await newWebhook('com.example.rotated', { sinkcredential: plain('old') }, [[401]]);
  await tenant.subscriber
    .patch(`/v1/subscriptions/${id}`)
    .set('Content-Type', 'application/merge-patch+json')
    .send(JSON.stringify({ sinkcredential: { ...plain('new'), overlapseconds: 600 } }))
    .expect(200);
  await senders.untilCurrent(sender);
  const match = await sender.matchWithCredentials(event);
  expect(await sender.deliver(event, match, { attempts: 1 })).toMatchObject([{ outcome: 'delivered', attempts: 2 }]);
  const shown = posted.map(({ headers }) => Buffer.from(headers.authorization?.slice(6) ?? '', 'base64').toString());
  expect(shown).toEqual(['me:new', 'me:old']);
});

test('without consent nothing is sent, and anything but one event is refused', async () => {
  const { sink, posted, event } = await newWebhook('com.example.revoked');
  const match = sender.match(event);
  await tenant.revoke(sink);
  await senders.untilCurrent(sender);
  expect(await sender.deliver(event, match)).toMatchObject([{ sink, outcome: 'denied', attempts: 0 }]);
  expect(posted).toEqual([]);
  await expect(sender.deliver([event], match)).rejects.toThrow(TypeError);
});
