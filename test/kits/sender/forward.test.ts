import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createWebhook, type CloudEvent } from '../../../src/kits/webhook/index.js';
import type { ForwardRequest, ForwardResult, Sender, SenderSettings } from '../../../src/kits/sender/index.js';
import { createVault } from '../../../src/registry/storage/vault.js';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { startEgressProxy } from '../../support/egress-proxy.js';
import { startHostileServer } from '../../support/hostile-server.js';
import type { Registry } from '../../support/registry.js';
import type { Relay } from '../../support/relay.js';
import { startSenders, type Senders } from '../../support/senders.js';
import type { Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

let registry: Registry;
let tenant: Tenant;
let senders: Senders;
let relay: Relay;
/** May see credentials and sign, and reaches the registry through the relay. */
let sender: Sender;

const guard = () => ({
  allowedNetworks: ['127.0.0.1/32', '127.0.0.3/32'],
  sinkPorts: [registry.receiver.port],
  sinkCa: registry.receiver.ca,
  dnsServers: [registry.dns.address],
});
const tokenWith = (...more: Array<'assent:sign' | 'assent:credentials'>) =>
  createToken(
    { tenant: 'gemeente', subscriber: 'mailroom', scopes: ['assent:deliver', ...more], minutes: 60 },
    registry.env,
  );
const start = (settings: Partial<SenderSettings> = {}) =>
  senders.startCurrent({ token: () => tokenWith('assent:credentials', 'assent:sign'), guard: guard(), ...settings });

beforeAll(async () => {
  senders = await startSenders();
  ({ registry, tenant, relay } = senders);
  sender = await start({ registry: relay.url });
});
// After a failed test, too.
afterEach(() => relay.mend());
afterAll(() => senders.stop());

interface Posted {
  rawHeaders: string[];
  headers: Record<string, string | undefined>;
  body: Buffer;
}
type Answer = [status: number, headers?: object, body?: string];

interface WebhookSettings {
  rate?: string;
  answers?: Answer[];
  host?: string;
  /** Of its subscription. */
  [member: string]: unknown;
}

let names = 0;
/** A webhook that agreed at this rate; it returns these answers, and then 204. */
async function newWebhook({ rate = '*', answers = [], host = 'localhost', ...more }: WebhookSettings = {}) {
  const path = `/forward-${(names += 1)}`;
  const posted: Posted[] = [];
  registry.receiver.consent(path, { rate });
  const sink = registry.receiver.sink(path, host);
  const { id } = await tenant.register(sink, { types: ['com.example.none-at-all'], ...more });
  registry.receiver.on(path, async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { rawHeaders, headers } = request;
    posted.push({ rawHeaders, headers: headers as Posted['headers'], body: Buffer.concat(parts) });
    const [status, answered, body] = answers.shift() ?? [204];
    response.writeHead(status, { ...answered }).end(body);
  });
  await senders.untilCurrent(sender);
  return { id: id as string, sink, path, posted };
}

const plain = (secret: string) => ({ credentialtype: 'PLAIN', identifier: 'me', secret });
const shown = (posted: Posted[]) =>
  posted.map(({ headers }) => Buffer.from(headers['authorization']?.slice(6) ?? '', 'base64').toString());
const forward = (sink: string, more: Partial<ForwardRequest> = {}, by = sender): Promise<ForwardResult> =>
  by.forward({ origin: tenant.origin, sink, headers: { 'Content-Type': 'text/plain' }, body: 'hello', ...more });
const patch = async (id: string, body: object) => {
  await tenant.subscriber
    .patch(`/v1/subscriptions/${id}`)
    .set('Content-Type', 'application/merge-patch+json')
    .send(JSON.stringify(body))
    .expect(200);
  await senders.untilCurrent(sender);
};
async function untilCounted(id: string, counts: object): Promise<void> {
  await until(async () => {
    const { body } = await tenant.admin.get(`/v1/subscriptions/${id}/deliveries`);
    return JSON.stringify(body.counts) === JSON.stringify(counts);
  });
}
const multipart = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n';

test.each<[string, string | Uint8Array, Record<string, string>]>([
  ['text', 'héllo', { 'content-type': 'text/plain; charset=utf-8' }],
  ['bytes', randomBytes(70_000), { 'Content-Type': 'application/octet-stream', 'Content-Encoding': 'br' }],
  ['a form', multipart, { 'Content-Type': 'multipart/form-data; boundary=x' }],
  ['nothing', '', {}],
])(
  '%s reaches the webhook as it is, with what its subscription asks for, and is reported',
  async (_, body, headers) => {
    const settings = { headers: { 'X-Team': 'orders', 'User-Agent': 'Orders' } };
    const { id, sink, posted } = await newWebhook({ protocolsettings: settings, sinkcredential: plain('a-secret') });
    const ofCaller = { authorization: 'Bearer mine', 'x-team': 'mine', 'X-Trace': '7', 'WebHook-Request-Rate': '9' };
    const ofConnection = {
      Host: 'egress',
      Connection: 'close, X-Hop',
      'X-Hop': '1',
      'Content-Length': '3',
      TE: 'trailers',
    };
    const sent = { headers: { ...headers, ...ofCaller, ...ofConnection }, body };
    expect(await forward(sink, sent)).toEqual({
      kind: 'answered',
      status: 204,
      headers: expect.any(Array),
      body: Buffer.alloc(0),
    });
    const [got] = posted as [Posted];
    expect(got.body.equals(Buffer.from(body))).toBe(true);
    expect(shown(posted)).toEqual(['me:a-secret']);
    for (const [name, value] of Object.entries(headers)) expect(got.headers[name.toLowerCase()]).toBe(value);
    expect(got.headers).toMatchObject({
      host: new URL(sink).host,
      'user-agent': 'Orders',
      'x-team': 'orders',
      'x-trace': '7',
    });
    expect(got.headers).toMatchObject({ 'webhook-request-origin': tenant.origin });
    for (const name of ['x-hop', 'te', 'webhook-request-rate']) expect(got.headers).not.toHaveProperty([name]);
    const lines = got.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    expect(new Set(lines).size).toBe(lines.length);
    await untilCounted(id, { delivered: 1 });
  },
);

test('the response is returned as it came; a body that is too long is left out', async () => {
  const headers = { 'Set-Cookie': ['a=1', 'b=2'], 'Content-Type': 'text/plain' };
  const { sink, posted } = await newWebhook({ answers: Array<Answer>(2).fill([422, headers, 'wróng']) });
  const short = await forward(sink, { headers: { Authorization: 'Bearer mine' } });
  expect(short).toMatchObject({ kind: 'answered', status: 422, body: Buffer.from('wróng') });
  const cookies = short.kind === 'answered' && short.headers.filter(([name]) => name === 'Set-Cookie');
  expect(cookies).toEqual([
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
  ]);
  expect(await forward(sink, { maxResponseBytes: 5 })).toMatchObject({ status: 422, body: undefined });
  // Without a credential of its subscription, the sender may authenticate itself.
  expect(posted.map((each) => each.headers['authorization'])).toEqual(['Bearer mine', undefined]);
});

test('without consent nothing is sent; after a 410 the grant has ended; a hold says for how long', async () => {
  expect(await forward('https://nobody.example.com/')).toEqual({
    kind: 'denied',
    denial: 'no_grant',
    message: expect.any(String),
  });
  const gone = await newWebhook({ answers: [[410]] });
  expect(await forward(gone.sink)).toMatchObject({ kind: 'answered', status: 410 });
  await until(async () => (await tenant.permission(gone.sink)).denial === 'ended');
  await senders.untilCurrent(sender);
  expect(await forward(gone.sink)).toMatchObject({ kind: 'denied', denial: 'ended' });
  const tired = await newWebhook({ answers: [[429, { 'Retry-After': '600' }]] });
  expect(await forward(tired.sink)).toMatchObject({ kind: 'answered', status: 429 });
  const held = await forward(tired.sink);
  expect(held).toMatchObject({ kind: 'denied', denial: 'held', helduntil: expect.any(String) });
  expect(held.kind === 'denied' && Math.round(held.retryAfterSeconds ?? 0)).toBeGreaterThan(590);
  expect([gone.posted.length, tired.posted.length]).toEqual([1, 1]);
  await untilCounted(tired.id, { throttled: 1 });
});

test('a rate that is used up is a denial with the seconds to wait, at once, and every share is used', async () => {
  const { sink, posted } = await newWebhook({ rate: '6' });
  const results = await Promise.all(Array.from({ length: 20 }, () => forward(sink)));
  const sent = results.filter(({ kind }) => kind === 'answered').length;
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThanOrEqual(6);
  expect(posted).toHaveLength(sent);
  for (const result of results.filter(({ kind }) => kind !== 'answered')) {
    expect(result).toMatchObject({
      kind: 'denied',
      denial: 'rate_used_up',
      message: expect.stringContaining('6 requests'),
    });
    expect(result.kind === 'denied' && result.retryAfterSeconds).toBeGreaterThan(0);
  }
  expect(await sender.tryAcquire(tenant.origin, sink)).toMatchObject({ allowed: false, denial: 'rate_used_up' });
  // A caller that waits comes first.
  const over = new AbortController();
  const waiting = sender.acquire(tenant.origin, sink, over.signal);
  expect(await sender.tryAcquire(tenant.origin, sink)).toMatchObject({ denial: 'rate_used_up' });
  over.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

test('the share of a request that was not sent is used by the next one', async () => {
  const host = 'forwarded.hooks.test';
  const { id, sink, posted } = await newWebhook({ rate: '1', host });
  const inside = await startHostileServer({ host: '127.0.0.2', port: registry.receiver.port });
  registry.dns.zone[host] = ['127.0.0.2'];
  // A name that rebinds to an internal address.
  expect(await forward(sink)).toMatchObject({ kind: 'blocked', code: 'address_not_allowed' });
  expect(inside.connections).toBe(0);
  const stalling = await startHostileServer({ host: '127.0.0.3', port: registry.receiver.port });
  registry.dns.zone[host] = ['127.0.0.3'];
  const over = new AbortController();
  const waiting = forward(sink, { signal: over.signal });
  await stalling.reached;
  over.abort(new Error('no longer wanted'));
  await expect(waiting).rejects.toThrow('no longer wanted');
  registry.dns.zone[host] = ['127.0.0.1'];
  await expect(forward(sink, { headers: { 'X-Bad': 'a\nb' } })).rejects.toThrow('invalid X-Bad header');
  expect(await forward(sink)).toMatchObject({ kind: 'answered', status: 204 });
  expect(await forward(sink)).toMatchObject({ kind: 'denied', denial: 'rate_used_up' });
  expect(posted).toHaveLength(1);
  await untilCounted(id, { delivered: 1, no_response: 1 });
  await Promise.all([inside.stop(), stalling.stop()]);
});

test('a fault of the own proxy is no outcome of the webhook', async () => {
  let answer: ((socket: Socket) => void) | undefined = (socket) => void socket.end('HTTP/1.1 407 Who\r\n\r\n');
  const proxy = await startEgressProxy({ intercept: () => answer });
  const host = 'forwarded-by-proxy.hooks.test';
  const { id, sink } = await newWebhook({ rate: '1', host });
  registry.dns.zone[host] = ['93.184.216.34'];
  const settings = { ...guard(), proxy: { url: `http://127.0.0.1:${proxy.port}`, noProxy: guard().allowedNetworks } };
  const proxied = await start({ guard: settings });
  const failed = { kind: 'unanswered', code: 'proxy_authentication', reported: false };
  expect(await forward(sink, {}, proxied)).toMatchObject(failed);
  answer = undefined;
  expect(await forward(sink, {}, proxied)).toMatchObject({ kind: 'answered', status: 204 });
  await untilCounted(id, { delivered: 1 });
  await proxied.close();
  await proxy.stop();
});

test('without the registry, what was leased and what is known is enough, and everything else says so', async () => {
  const [unlimited, rated] = [await newWebhook(), await newWebhook({ rate: '60' })];
  const secret = await newWebhook({ sinkcredential: plain('a-secret') });
  const unknown = await newWebhook({ sinkcredential: plain('a-secret') });
  expect(await forward(secret.sink)).toMatchObject({ kind: 'answered' });
  const permit = await sender.tryAcquire(tenant.origin, rated.sink);
  if (permit.allowed === true) permit.giveBack();
  relay.cut();
  for (const { sink } of [unlimited, secret, secret, rated]) {
    expect(await forward(sink)).toMatchObject({ kind: 'answered', status: 204 });
  }
  await expect(forward(unknown.sink)).rejects.toMatchObject({ name: 'AssentError', code: 'connection_lost' });
  const refused = { name: 'AssentError', code: 'connection_lost' };
  const idle = await newWebhookBehind('60');
  await expect(forward(idle)).rejects.toMatchObject(refused);
  // At once, while it waits for the next attempt.
  await expect(sender.tryAcquire(tenant.origin, idle)).rejects.toMatchObject(refused);
  relay.mend();
  await until(async () => (await forward(idle).catch(() => undefined))?.kind === 'answered');
});

/** A pair that the sender knows, with no share of its rate. */
async function newWebhookBehind(rate: string): Promise<string> {
  relay.mend();
  const { sink } = await newWebhook({ rate });
  relay.cut();
  return sink;
}

test('a changed credential reaches a sender by the feed; one that is behind gets the other one of an overlap', async () => {
  const { id, sink, posted } = await newWebhook({ sinkcredential: plain('first') });
  await forward(sink);
  await patch(id, { sinkcredential: plain('second') });
  await forward(sink);
  await patch(id, { sinkcredential: { ...plain('third'), overlapseconds: 600 } });
  registry.receiver.on(new URL(sink).pathname, (request, response) => {
    const got = { rawHeaders: [], headers: request.headers as Posted['headers'], body: Buffer.alloc(0) };
    posted.push(got);
    response.writeHead(shown([got])[0] === 'me:second' ? 204 : 401).end();
  });
  const both = () => Promise.all([forward(sink), forward(sink)]);
  expect(await both()).toMatchObject([{ status: 401 }, { status: 401 }]);
  expect(await both()).toMatchObject([{ status: 204 }, { status: 204 }]);
  await patch(id, { protocolsettings: { headers: { 'X-New': '1' } }, sinkcredential: null });
  await forward(sink);
  expect(shown(posted)).toEqual(['me:first', 'me:second', 'me:third', 'me:third', 'me:second', 'me:second', '']);
  expect(posted.at(-1)?.headers['x-new']).toBe('1');
});

test('a subscription that moves to another sink leaves no credential and no header at the old one', async () => {
  const { id, sink, posted } = await newWebhook({
    sinkcredential: plain('a-secret'),
    protocolsettings: { headers: { 'X-Team': 'orders' } },
  });
  await tenant.register(sink, { types: ['com.example.stays'] });
  const { sink: other } = await newWebhook();
  posted.length = 0;
  await forward(sink);
  await patch(id, { sink: other, sinkcredential: plain('a-secret') });
  await forward(sink);
  expect(shown(posted)).toEqual(['me:a-secret', '']);
  expect(posted.at(-1)?.headers).not.toHaveProperty('x-team');
});

test('a response counts, even if the caller leaves while its body is read', async () => {
  const { id, sink } = await newWebhook();
  let left: AbortController;
  let ms = 50;
  registry.receiver.on(new URL(sink).pathname, (_, response) => {
    response.writeHead(410, { 'Content-Length': '5' }).write('g');
    setTimeout(() => left.abort(new Error('left')), ms);
  });
  // A caller that leaves before the head arrives gets nothing, and waits longer the next time.
  await until(async () => {
    [left, ms] = [new AbortController(), ms * 2];
    return (await forward(sink, { signal: left.signal }).catch(() => undefined))?.kind === 'answered';
  });
  await untilCounted(id, { gone: 1 });
});

test('a sink whose secret may not be seen or cannot be decrypted gets nothing', async () => {
  const { id, sink, posted } = await newWebhook({ sinkcredential: plain('a-secret') });
  const untrusted = await start({ token: () => tokenWith() });
  expect(await forward(sink, {}, untrusted)).toMatchObject({
    kind: 'withheld',
    detail: expect.stringContaining('assent:credentials'),
  });
  const vault = createVault([{ id: 'lost', key: randomBytes(32) }]);
  const sealed = await vault.seal(plain('lost'), { tenant: 'gemeente', owner: `subscription:${id}` });
  await registry.sql('update subscription set sinkcredential = $1 where id = $2::uuid', sealed, id);
  expect(await forward(sink)).toMatchObject({ kind: 'withheld', detail: expect.stringContaining('cannot decrypt') });
  await expect(sender.sinkOf(tenant.origin, sink)).rejects.toThrow('cannot decrypt');
  expect(posted).toEqual([]);
});

test('the settings of a sink are those of a match, and kept until they change', async () => {
  const type = 'com.example.settings';
  const { id, sink } = await newWebhook({ types: [type], sinkcredential: plain('a-secret') });
  await tenant.register(sink, { types: [type], protocolsettings: { contentmode: 'binary' } });
  await senders.untilCurrent(sender);
  const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type };
  const [matched] = (await sender.matchWithCredentials(event)).sinks;
  expect(await sender.sinkOf(tenant.origin, sink)).toEqual(matched);
  relay.cut();
  expect(await sender.sinkOf(tenant.origin.toUpperCase(), sink)).toEqual(matched);
  relay.mend();
  await sender.ready(0);
  await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
  await senders.untilCurrent(sender);
  const left = await sender.sinkOf(tenant.origin, sink);
  expect(left.subscriptions).toHaveLength(1);
  expect(left).not.toHaveProperty('sinkcredential');
  await tenant.revoke(sink);
  await senders.untilCurrent(sender);
  await expect(sender.sinkOf(tenant.origin, sink)).rejects.toMatchObject({
    code: 'not_permitted',
    faults: [{ rule: 'revoked' }],
  });
});

test("a webhook of the receivers' kit takes it as signed by the origin and with its secret", async () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const { sink, path } = await newWebhook({ signingsecret: { secret } });
  const signer = await registry.as(['assent:deliver', 'assent:sign'], { subscriber: 'mailroom' });
  const { keys } = (await signer.get(`/v1/origins/${tenant.origin}/private-keys`).expect(200)).body;
  const received: CloudEvent[] = [];
  const webhook = createWebhook({
    origins: [tenant.origin],
    rate: '*',
    receive: (events) => void received.push(...events),
    verify: {
      url: sink,
      secrets: [secret],
      keys: { keys: keys.map(({ jwk: { d: _, ...jwk } }: { jwk: { d: string } }) => jwk) },
    },
  });
  registry.receiver.on(path, (request, response) => webhook.node(request, response));
  const event = { specversion: '1.0', id: 'one', source: 'urn:example:a', type: 'com.example.a', data: 'é' };
  const forms = [
    { headers: { 'content-type': 'application/cloudevents+json' }, body: JSON.stringify(event) },
    {
      headers: {
        'CE-specversion': '1.0',
        'ce-id': 'two',
        'ce-source': 'urn:example:a',
        'ce-type': 'a',
        'Content-Type': 'text/plain',
      },
      body: Buffer.from('é'),
    },
  ];
  for (const form of forms) expect(await forward(sink, form)).toMatchObject({ kind: 'answered', status: 204 });
  expect(received).toMatchObject([{ id: 'one' }, { id: 'two' }]);
  const unsigned = await start({ signing: false });
  expect(await forward(sink, forms[0], unsigned)).toMatchObject({ kind: 'answered', status: 401 });
  webhook.close();
});

test('webhook-id is the same for each attempt: of the sender, of the event, or of the bytes', async () => {
  const { sink, posted } = await newWebhook({ signingsecret: { make: true } });
  const event = { specversion: '1.0', id: 'one', source: 'urn:example:a', type: 'com.example.a', data: 1 };
  const structured = { headers: { 'Content-Type': 'application/cloudevents+json' }, body: JSON.stringify(event) };
  const binary = {
    headers: {
      'Content-Type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': 'one',
      'ce-source': event.source,
      'ce-type': event.type,
    },
    body: '1',
  };
  await sender.deliver(event, { origin: tenant.origin, sinks: [await sender.sinkOf(tenant.origin, sink)] });
  for (const each of [structured, binary, { body: 'a' }, { body: 'a' }, { body: 'b' }]) await forward(sink, each);
  for (const id of ['msg_1', 'no.stop']) await forward(sink, { headers: { 'Webhook-Id': id }, body: 'a' });
  const ids = posted.map(({ headers }) => headers['webhook-id']);
  const [ofEvent, , , ofBytes] = ids;
  const other = expect.not.stringMatching(`${ofEvent}|${ofBytes}`);
  expect(ids).toEqual([ofEvent, ofEvent, ofEvent, ofBytes, ofBytes, other, 'msg_1', ofBytes]);
  expect(ofEvent).not.toBe(ofBytes);
  expect(posted.every(({ rawHeaders }) => rawHeaders.filter((name) => /^webhook-id$/i.test(name)).length === 1)).toBe(
    true,
  );
});

test('a closed sender and a signal that has fired send nothing', async () => {
  const { sink, posted } = await newWebhook();
  const closed = await start();
  await closed.close();
  await expect(forward(sink, {}, closed)).rejects.toThrow('closed');
  await expect(forward(sink, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late');
  expect(posted).toEqual([]);
});
