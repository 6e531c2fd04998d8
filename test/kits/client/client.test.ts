import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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
  hinders = ({ method, headers, socket }, answer) => {
    if (method === 'GET') return false;
    keys.push(headers['idempotency-key']);
    // The registry gets it, and its first response is lost.
    if (keys.length === 1 || method === 'DELETE') answer.writeHead = () => (socket.destroy(), answer);
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

  const deleting = client.DELETE('/subscriptions/{id}', { params: { path: { id: data.id } } });
  expect(await failureOf(deleting)).toMatchObject({ code: 'connection_lost', status: 0 });
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
    fetch: async (request, init) => {
      if (request.method === 'PATCH' && seen === 2) await tenant.replace(id, { sink: sink('/edit'), types: ['other'] });
      return fetch(request, init);
    },
  });
  const { data: after } = await overtaken.edit('/subscriptions/{id}', { id }, ({ types = [] }) => {
    seen += 1;
    return { types: [...types, `b${seen}`] };
  });
  expect([after.types, seen]).toEqual([['other', 'b3'], 3]);
});

test('an abort ends a stream on which nothing arrives, however long it lasted', async () => {
  hinders = (_request, answer) => {
    answer.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    return true;
  };
  const client = await clientOf('assent:subscribe', { url: gateway.url });
  const stop = new AbortController();
  const headers = { Accept: 'text/event-stream' };
  const { data } = await client.GET('/changes', { headers, parseAs: 'stream', signal: stop.signal });
  const reading = (data as ReadableStream).getReader().read();
  // A Request that is collected no longer passes an abort on.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await new Promise(setImmediate);
  }
  stop.abort();
  await expect(reading).rejects.toThrow('aborted');
  hinders = () => false;
});

/** A proxy that compresses: what it makes of the ETag of a response. */
function alterTags(alter: (tag: string) => string | undefined): { asked: number } {
  const seen = { asked: 0 };
  hinders = (_request, answer) => {
    seen.asked += 1;
    const writeHead = answer.writeHead.bind(answer) as (status: number, headers: object) => ServerResponse;
    answer.writeHead = ((status: number, { etag, ...headers }: Record<string, string>) => {
      const altered = etag === undefined ? undefined : alter(etag);
      return writeHead(status, { ...headers, ...(altered !== undefined && { etag: altered }) });
    }) as typeof answer.writeHead;
    return false;
  };
  return seen;
}

test.each([
  ['nginx and HAProxy', (tag: string) => `W/${tag}`],
  ['Apache', (tag: string) => tag.replace(/"$/, '-gzip"')],
  ['both', (tag: string) => `W/${tag.replace(/"$/, '-br"')}`],
])('behind a proxy that compresses as %s does, an edit and a change with the ETag succeed', async (_, alter) => {
  const client = await clientOf('assent:subscribe', { url: gateway.url });
  const { id } = await tenant.register(sink('/compressed'), { types: ['a'] });
  alterTags(alter);
  const { data, etag } = await client.edit('/subscriptions/{id}', { id }, () => ({ types: ['b'] }));
  expect([data.types, etag]).toEqual([['b'], alter('"2"')]);
  const params = { path: { id }, header: { 'If-Match': etag } };
  await client.POST('/subscriptions/{id}/suspend', { params, body: { reason: 'Maintenance.' } });
  // Somebody else's change is still in the way.
  expect(await failureOf(client.DELETE('/subscriptions/{id}', { params }))).toMatchObject({
    code: 'precondition_failed',
  });
  hinders = () => false;
});

test('an edit ends if it reads the version that was refused, if others never stop, and without an ETag', async () => {
  const client = await clientOf('assent:subscribe', { url: gateway.url });
  const { id } = await tenant.register(sink('/ends'), { types: ['a'] });
  const edit = () => client.edit('/subscriptions/{id}', { id }, ({ types = [] }) => ({ types: [...types, 'b'] }));
  let seen = alterTags(() => '"7"');
  expect(await failureOf(edit())).toMatchObject({ code: 'precondition_failed' });
  expect(seen.asked).toBe(3);
  seen = alterTags(() => undefined);
  expect(await failureOf(edit())).toMatchObject({ code: 'unexpected_response', message: /no ETag/ });
  expect(seen.asked).toBe(1);
  let others = 0;
  seen = alterTags(() => `"1${(others += 1)}"`);
  expect(await failureOf(edit())).toMatchObject({ code: 'precondition_failed' });
  expect(seen.asked).toBe(10);
  hinders = () => false;
  const { data } = await client.GET('/subscriptions/{id}', { params: { path: { id } } });
  expect(data.types).toEqual(['a']);
});

test('what a proxy says in place of the registry is an AssentError that says so, and a restart is waited for', async () => {
  const client = await clientOf('assent:subscribe', { url: gateway.url, retries: 0 });
  const page = (status: number, head: object = {}) => {
    hinders = (_request, answer) => {
      answer.writeHead(status, { 'Content-Type': 'text/html', Server: 'nginx', ...head }).end('<html>sign in</html>');
      return true;
    };
  };
  for (const [status, hint] of [
    [200, 'sign-in page'],
    [403, 'firewall'],
    [413, 'size of requests'],
    [431, 'length of URLs and headers'],
    [502, 'no response from the registry. Server: nginx'],
  ] as const) {
    page(status);
    const error = await failureOf(client.GET('/origins'));
    expect([error.code, error.status, error.message]).toEqual([
      'unexpected_response',
      status,
      expect.stringContaining(hint),
    ]);
  }
  // The connection ends within the body.
  page(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
  const cut = hinders;
  hinders = (request, answer) => {
    answer.end = ((text: string) => (answer.write(text), setImmediate(() => answer.destroy()), answer)) as never;
    return cut(request, answer);
  };
  expect(await failureOf(client.GET('/origins'))).toMatchObject({ code: 'connection_lost', status: 0 });

  const patient = await clientOf('assent:subscribe', { url: gateway.url });
  for (const status of [502, 503, 504]) {
    let asked = 0;
    hinders = (_request, answer) => {
      asked += 1;
      if (asked === 1) answer.writeHead(status).end();
      return asked === 1;
    };
    expect([(await patient.GET('/origins')).status, asked]).toEqual([200, 2]);
    asked = 0;
    const { id } = { id: '0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e63' };
    expect(
      await failureOf(patient.PATCH('/subscriptions/{id}', { params: { path: { id } }, body: { types: ['a'] } })),
    ).toMatchObject({ status });
    expect(asked).toBe(1);
  }
  hinders = () => false;
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
