import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { AssentError, createClient, type Client, type ClientSettings } from '../../../src/kits/client/index.js';
import { applyBatches } from '../../../src/kits/client/follow-changes.js';
import type { Scope } from '../../../src/base/contract/principal.js';
import { startGateway, type Gateway } from '../../support/gateway.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

let registry: Registry;
let tenant: Tenant;
let gateway: Gateway;
/** What stands in the way of the requests that the client sends through the gateway. */
let hinders: (request: IncomingMessage, answer: ServerResponse) => boolean = () => false;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  gateway = await startGateway(registry.url, (request, answer) => hinders(request, answer));
});
afterAll(async () => {
  await gateway?.stop();
  await registry?.stop();
});

const tokenOf = (scope: Scope, subscriber: string) =>
  createToken({ tenant: 'gemeente', subscriber, scopes: [scope], minutes: 60 }, registry.env);

async function clientOf(scope: Scope, settings: Partial<ClientSettings> = {}): Promise<Client> {
  const token = await tokenOf(scope, scope === 'assent:subscribe' ? 'zaaksysteem' : 'beheer');
  return createClient({ url: registry.url, token, ...settings });
}

const failureOf = (work: Promise<unknown>): Promise<AssentError> =>
  work.then(
    () => Promise.reject(new Error('It succeeded.')),
    (error: unknown) => (error instanceof AssentError ? error : Promise.reject(error as Error)),
  );

/** A webhook that consents. */
function sink(path: string): string {
  registry.receiver.consent(path);
  return registry.receiver.sink(path);
}

test('an operation returns its data with the version, and its problem is thrown with every fault', async () => {
  const client = await clientOf('assent:subscribe');
  const body = { sink: sink('/data'), protocol: 'HTTP', types: ['a'] };
  const { data, etag, status } = await client.POST('/subscriptions', { body });
  expect([data.status, status, typeof etag]).toEqual(['active', 201, 'string']);

  const error = await failureOf(client.POST('/subscriptions', { body: { ...body, sink: 'http://a', types: [''] } }));
  expect(error).toMatchObject({ name: 'AssentError', code: 'invalid_subscription', status: 400 });
  expect(error.faults.map(({ pointer }) => pointer)).toEqual(expect.arrayContaining(['/sink', '/types/0']));
  expect(error.requestid).not.toBe('');

  const dutch = await clientOf('assent:subscribe', { language: 'nl', url: `${registry.url}/v1/` });
  const path = { id: 'nothing' };
  expect((await failureOf(dutch.GET('/subscriptions/{id}', { params: { path } }))).message).toMatch(/abonnement/);
});

test('a lost response does not create a second subscription, and a change without a key is not repeated', async () => {
  const client = await clientOf('assent:subscribe', { url: gateway.url });
  const keys: unknown[] = [];
  hinders = ({ method, headers, socket, url }, answer) => {
    if (method !== 'POST') return false;
    keys.push(headers['idempotency-key']);
    // The registry gets it, and its first response is lost.
    if (keys.length === 1 || url?.endsWith('suspend')) answer.writeHead = () => (socket.destroy(), answer);
    return false;
  };
  const { data, headers } = await client.POST('/subscriptions', {
    body: { sink: sink('/lost'), protocol: 'HTTP' },
  });
  expect([new Set(keys).size, keys.length, headers.get('Idempotency-Replayed')]).toEqual([1, 2, 'true']);
  const query = { sink: sink('/lost') };
  const found = [];
  for await (const { id } of client.list('/subscriptions', { params: { query } })) found.push(id);
  expect(found).toEqual([data.id]);

  const suspending = client.POST('/subscriptions/{id}/suspend', {
    params: { path: { id: data.id } },
    body: { reason: 'Maintenance.' },
  });
  expect(await failureOf(suspending)).toMatchObject({ code: 'connection_lost', status: 0 });
  expect(keys).toHaveLength(3);
  hinders = () => false;
});

test('a request waits as long as Retry-After says, with a fresh token for each attempt, and gives up after the last', async () => {
  const tokens = ['expired', await tokenOf('assent:subscribe', 'zaaksysteem')];
  const seen: unknown[] = [];
  const client = createClient({ url: gateway.url, token: async () => tokens[seen.length], retries: 1 });
  hinders = ({ headers }, answer) => {
    seen.push(headers.authorization);
    if (seen.length > 1) return false;
    answer.writeHead(503, { 'Retry-After': '0' }).end();
    return true;
  };
  expect((await client.GET('/origins')).status).toBe(200);
  expect(seen).toEqual(tokens.map((token) => `Bearer ${token}`));

  hinders = (_request, answer) => (answer.writeHead(429, { 'Retry-After': '0' }).end('<p>busy</p>'), true);
  expect(await failureOf(client.GET('/origins'))).toMatchObject({ code: 'unexpected_response', status: 429 });
  // Longer than a caller would wait.
  hinders = (_request, answer) => (answer.writeHead(429, { 'Retry-After': '3600' }).end(), true);
  expect(await failureOf((await clientOf('assent:admin', { url: gateway.url })).GET('/origins'))).toMatchObject({
    status: 429,
  });
  hinders = () => false;
});

test('a list is read page by page, and no page is read that nobody asks for', async () => {
  const client = await clientOf('assent:subscribe');
  const names = ['/page/1', '/page/2', '/page/3'].map(sink);
  for (const each of names) await tenant.register(each, { types: ['paged'] });
  const init = { params: { query: { type: 'paged', limit: 2 } } };
  const sizes = [];
  for await (const { data } of client.pages('/subscriptions', init)) sizes.push(data.length);
  expect(sizes).toEqual([2, 1]);
  const sinks = [];
  for await (const subscription of client.list('/subscriptions', init)) sinks.push(subscription.sink);
  expect(sinks).toEqual(names);
});

test('an edit that another one overtakes is made again on what the other one left', async () => {
  const client = await clientOf('assent:subscribe');
  const { id } = await tenant.register(sink('/edit'), { types: ['a'] });
  let seen = 0;
  const { data } = await client.edit('/subscriptions/{id}', { id }, ({ types = [] }) => {
    seen += 1;
    return { types: [...types, `b${seen}`] };
  });
  expect(data.types).toEqual(['a', 'b1']);
  const overtaken = await clientOf('assent:subscribe', {
    fetch: async (request) => {
      if (request.method === 'PATCH' && seen === 2) await tenant.replace(id, { sink: sink('/edit'), types: ['other'] });
      return fetch(request);
    },
  });
  const { data: after } = await overtaken.edit('/subscriptions/{id}', { id }, ({ types = [] }) => {
    seen += 1;
    return { types: [...types, `b${seen}`] };
  });
  expect([after.types, seen]).toEqual([['other', 'b3'], 3]);
});

test('the feed is followed over lost connections without a gap, until the signal fires', async () => {
  const client = await clientOf('assent:subscribe', { url: gateway.url });
  const stop = new AbortController();
  const states: string[] = [];
  const kinds: string[] = [];
  let open: IncomingMessage | undefined;
  hinders = (request) => ((open = request), false);
  const reading = (async () => {
    const onConnection = (state: string) => states.push(state);
    for await (const { kind } of client.changes({ signal: stop.signal, onConnection })) kinds.push(kind);
  })();
  // The first heartbeat says where the feed begins.
  await until(() => states.includes('live'));
  const { id } = await tenant.register(sink('/feed'));
  await until(() => kinds.includes('grant.live'));
  open?.socket.destroy();
  await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Maintenance.' }).expect(200);
  await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
  await until(() => kinds.includes('subscription.deleted'));
  stop.abort();
  await reading;
  const changed = kinds.filter((kind) => kind.startsWith('subscription.'));
  expect(changed).toEqual(['subscription.created', 'subscription.suspended', 'subscription.deleted']);
  expect(states).toContain('lost');
  hinders = () => false;
});

test('what waiting does not solve ends the feed: a cursor that is unknown, a token without the scope', async () => {
  const read = async (client: Client, after?: string) => {
    for await (const { kind } of client.changes({ after })) throw new Error(kind);
  };
  expect(await failureOf(read(await clientOf('assent:subscribe'), 'nonsense'))).toMatchObject({ status: 400 });
  expect(await failureOf(read(await clientOf('assent:audit')))).toMatchObject({ code: 'scope_missing' });
});

test('a subscription is waited for until its webhook decides', async () => {
  const client = await clientOf('assent:subscribe');
  registry.receiver.on('/later', (_request, answer) => answer.writeHead(200).end());
  const { id } = await tenant.register(registry.receiver.sink('/later'), {}, 'respond-async');
  const waiting = client.waitUntilDecided(id);
  const callback = () =>
    registry.receiver.asked
      .filter(({ path }) => path === '/later')
      .map(({ headers }) => headers['webhook-request-callback'])
      .find((url) => url !== undefined);
  await until(() => callback() !== undefined);
  const { pathname, search } = new URL(String(callback()));
  const granted = await fetch(`${registry.url}${pathname}${search}`, {
    method: 'POST',
    headers: { 'WebHook-Allowed-Rate': '30' },
  });
  expect(granted.ok).toBe(true);
  expect(await waiting).toMatchObject({ id, status: 'active', statusdetails: { allowedrate: 30 } });

  const gone = await tenant.register(sink('/gone'));
  await client.DELETE('/subscriptions/{id}', { params: { path: { id: gone.id } } });
  expect(await failureOf(client.waitUntilDecided(gone.id))).toMatchObject({ code: 'subscription_not_found' });
});

test('changes that the caller could not apply are reported and come again, from where it says', async () => {
  const client = await clientOf('assent:subscribe');
  const { data } = await client.GET('/changes', { params: { query: { limit: 1 } } });
  const stop = new AbortController();
  const faults: unknown[] = [];
  const applied: string[] = [];
  const full = new Error('The disk is full.');
  let refused = 0;
  let after = data.cursor;
  const options = { after: () => after, signal: stop.signal, onFault: (error: unknown) => void faults.push(error) };
  const following = applyBatches(client.GET, options, ({ changes, cursor }) => {
    if (changes.length > 0 && (refused += 1) <= 2) throw full;
    applied.push(...changes.map(({ kind }) => kind));
    after = cursor;
    return false;
  });
  await tenant.register(sink('/applied'));
  await until(() => applied.includes('grant.live'));
  stop.abort();
  await following;
  expect(applied).toEqual(['subscription.created', 'grant.live']);
  expect(faults).toEqual([full, full]);
});
