import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCallbackGuard } from '../../../src/kits/webhook/callback-url.js';
import { createWebhook as createForWeb } from '../../../src/kits/webhook/web.js';
import {
  createWebhook,
  type CallbackStatus,
  type CallbackSettings,
  type Pending,
  type PendingRequest,
  type PendingStore,
} from '../../../src/kits/webhook/index.js';
import { asHost, forbidden, inIpv6 } from '../../support/hostile-addresses.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import { origin, serve, type Served } from './serve.js';

/** The registry whose callback URLs are called. */
let registry: Receiver;
let calls = 0;
const running: Served[] = [];

beforeAll(async () => {
  registry = await startReceiver();
});
beforeEach(() => {
  calls = 0;
  registry.asked.splice(0);
});
afterEach(async () => {
  for (const served of running.splice(0)) await served.stop();
});
afterAll(() => registry.stop());

/** The path returns these statuses, the last one for good. */
function answering(...answers: Array<[number, Record<string, string>?]>): string {
  const path = `/confirm/${(calls += 1)}-${answers.length}`;
  registry.on(path, (_request, response: ServerResponse) => {
    const [status, headers = {}] = answers.length > 1 ? answers.shift()! : answers[0]!;
    response.writeHead(status, headers).end('{"granted":true}');
  });
  return path;
}

/** A webhook that decides later, and may call the registry on this machine. */
async function deciding(callbacks: CallbackSettings = {}) {
  const requests: Pending[] = [];
  const waiting: Array<(outcome: CallbackStatus) => void> = [];
  const served = await serve({
    origins: (name) => (name === origin ? 'later' : name === 'yes.example.com' ? 60 : false),
    callbacks: {
      hosts: [`localhost:${registry.port}`],
      networks: ['127.0.0.0/8', '::1/128'],
      ca: registry.ca,
      onRequest: (request) => void requests.push(request),
      onOutcome: (_request, outcome) => waiting.shift()?.(outcome),
      ...callbacks,
    },
  });
  running.push(served);
  return {
    ...served,
    requests,
    outcome: () => new Promise<CallbackStatus>((resolve) => waiting.push(resolve)),
    offer: (callback: string, name = origin, more: Record<string, string> = {}) =>
      served.ask('OPTIONS', { 'WebHook-Request-Origin': name, 'WebHook-Request-Callback': callback, ...more }),
  };
}

test('consent that is decided later is one POST to exactly the given URL, with the rate', async () => {
  const { offer, requests, outcome, webhook } = await deciding();
  const path = `${answering([200])}?id=a%2Fb+c&key=%7e/?:@&key=`;
  const reply = await offer(registry.sink(path), origin, { 'WebHook-Request-Rate': '120' });
  expect(reply.status).toBe(200);
  expect(reply.headers).not.toHaveProperty('webhook-allowed-origin');
  expect(registry.asked).toEqual([]);

  const [request] = requests as [Pending];
  const at = expect.stringMatching(/^\d{4}-.*Z$/);
  const shown = { id: expect.any(String), origin, requestedrate: 120, requestedat: at, expiresat: at };
  expect(JSON.parse(JSON.stringify(request))).toEqual(shown);
  expect(JSON.parse(JSON.stringify(await webhook.pending()))).toEqual([shown]);

  const done = outcome();
  await request.allow(60);
  await request.allow(70);
  expect(await done).toBe('confirmed');
  await request.allow(80);
  await offer(registry.sink(path));
  expect(await webhook.pending()).toEqual([]);
  expect(requests).toHaveLength(1);
  expect(registry.asked).toMatchObject([
    {
      method: 'POST',
      path,
      headers: { 'webhook-allowed-rate': '60', 'webhook-allowed-origin': origin, 'content-length': '0' },
    },
  ]);
});

test('a callback URL is called again until it returns 2xx, and then never again', async () => {
  const { offer, requests, outcome, faults } = await deciding();
  const path = answering([503, { 'Retry-After': '0' }], [429], [204], [500]);
  await offer(registry.sink(path));
  const done = outcome();
  await requests[0]!.allow('*');
  expect(await done).toBe('confirmed');
  expect(registry.asked).toHaveLength(3);
  expect(faults).toEqual([]);
});

test.each<[number, Record<string, string>]>([
  [404, {}],
  [400, {}],
  [307, { Location: '/elsewhere' }],
])('%i ends the calls, and is reported without the URL', async (status, headers) => {
  const { offer, requests, outcome, faults, webhook } = await deciding();
  const path = answering([status, headers]);
  await offer(registry.sink(path));
  const done = outcome();
  await requests[0]!.allow(1);
  expect(await done).toBe('rejected');
  expect(registry.asked.map((asked) => asked.path)).toEqual([path]);
  expect(String(faults)).toBe(`Error: The callback URL of ${origin} got no consent: it returned ${status}.`);
  expect(await webhook.pending()).toEqual([]);
});

test('the calls end when the URL expires', async () => {
  const { offer, requests, outcome, webhook } = await deciding({ lifetimeSeconds: 1 });
  await offer(registry.sink(answering([503])));
  const done = outcome();
  await requests[0]!.allow(1);
  expect(await done).toBe('expired');
  expect(await webhook.pending()).toEqual([]);
});

test('a host that does not respond delays neither the handshake nor the application', async () => {
  const { offer, requests, outcome, faults } = await deciding({
    lifetimeSeconds: 0.4,
    deadlineMs: 100,
    async onRequest(request) {
      requests.push(request);
      await request.allow(1);
    },
  });
  registry.on('/silent', () => undefined);
  const done = outcome();
  expect((await offer(registry.sink('/silent'))).status).toBe(200);
  expect(await done).toBe('expired');
  expect(String(faults)).toContain('within 100 ms');
});

test('nothing of the response but its head is read', async () => {
  const { offer, requests, outcome } = await deciding();
  const closed = new Promise<void>((resolve) => {
    registry.on('/endless', (_request, response: ServerResponse) => {
      response.writeHead(200).write('x');
      void once(response, 'close').then(() => resolve());
    });
  });
  await offer(registry.sink('/endless'));
  const done = outcome();
  await requests[0]!.allow(1);
  expect(await done).toBe('confirmed');
  await closed;
});

test('no callback is kept for an origin that is denied, or that is allowed right away', async () => {
  const { offer, requests, webhook } = await deciding();
  for (const name of ['no.example.com', 'yes.example.com', `${origin}.attacker.example`]) {
    await offer(registry.sink(answering([200])), name);
  }
  expect([requests, await webhook.pending(), registry.asked]).toEqual([[], [], []]);
});

test('a request that is refused is forgotten, and never called', async () => {
  const { offer, requests, webhook } = await deciding();
  await offer(registry.sink(answering([200])));
  await requests[0]!.refuse();
  await requests[0]!.allow(1);
  expect([await webhook.pending(), registry.asked]).toEqual([[], []]);
});

test('a decision survives a restart in the store, and so does a request without one', async () => {
  const rows = new Map<string, PendingRequest>();
  const store: PendingStore = {
    save: async (request) => void rows.set(request.id, structuredClone(request)),
    remove: async (id) => void rows.delete(id),
    list: async () => [...rows.values()],
  };
  const before = await deciding({ store });
  const path = answering([503]);
  const called = new Promise<void>((resolve) => {
    registry.on(path, (_request, response: ServerResponse) => void response.writeHead(503).end(() => resolve()));
  });
  await before.offer(registry.sink(path));
  await before.offer(registry.sink(answering([200])));
  await before.requests[0]!.allow(30);
  await called;
  before.webhook.close();
  expect([...rows.values()].map(({ allowedrate }) => allowedrate)).toEqual([30, undefined]);

  let confirm = (_path: string): void => undefined;
  const confirmed = new Promise<string>((resolve) => (confirm = resolve));
  registry.on(path, (request, response: ServerResponse) => {
    response.writeHead(200).end();
    confirm(String(request.headers['webhook-allowed-rate']));
  });
  const removed = new Promise<void>((resolve) => {
    const { remove } = store;
    store.remove = async (id) => (await remove(id), resolve());
  });
  const after = await deciding({ store });
  expect(await confirmed).toBe('30');
  await removed;
  const [left] = await after.webhook.pending();
  const done = after.outcome();
  await left!.allow(31);
  expect(await done).toBe('confirmed');
  expect(rows.size).toBe(0);
});

test('a store that fails is no consent, and the decision can be made again', async () => {
  const rows: PendingRequest[] = [];
  let isFull = true;
  const { offer, requests, outcome, faults } = await deciding({
    store: {
      async save(request) {
        if (isFull) throw new Error('The disk is full.');
        rows.push(request);
      },
      remove: () => undefined,
      list: () => rows,
    },
  });
  const path = answering([200]);
  expect((await offer(registry.sink(path))).status).toBe(500);
  expect([requests, String(faults)]).toEqual([[], 'Error: The disk is full.']);
  isFull = false;
  await offer(registry.sink(path));
  isFull = true;
  await expect(requests[0]!.allow(1)).rejects.toThrow('The disk is full.');
  isFull = false;
  const done = outcome();
  await requests[0]!.allow(1);
  expect(await done).toBe('confirmed');
});

describe('when many who cannot be told apart ask', () => {
  const real = (key: string) => registry.sink(`/v1/callbacks/019ab?key=${key}`);
  const many = Array.from({ length: 3_000 }, (_, at) => at);
  const floods: Array<[string, (at: number) => string]> = [
    ['of many hosts', (at) => `https://h${at}.attacker.example/v1/callbacks/019ab?key=${at}`],
    ['of a few paths', (at) => registry.sink(`/${at % 9}?key=${at}`)],
    ['of the path itself', (at) => registry.sink(`/v1/callbacks/019ab?key=x${at}`)],
  ];

  test.each(floods)('3,000 questions %s neither end nor keep out a real one', async (_title, hostile) => {
    const confirmed = new Set<string>();
    const rows = new Map<string, PendingRequest>();
    const keys: string[] = [];
    registry.on('/v1/callbacks/019ab', (request, response: ServerResponse) => {
      keys.push(new URL(request.url ?? '', 'https://a').search);
      response.writeHead(200).end();
    });
    const settings: CallbackSettings = {
      networks: ['127.0.0.0/8', '::1/128'],
      ca: registry.ca,
      development: true,
      store: {
        save: (request) => void rows.set(request.id, request),
        remove: (id) => void rows.delete(id),
        list: () => [...rows.values()],
      },
      onOutcome: ({ id }, outcome) => void (outcome === 'confirmed' && confirmed.add(id)),
    };
    const faults: unknown[] = [];
    const webhook = createWebhook({
      origins: () => 'later',
      receive: () => undefined,
      callbacks: settings,
      onFault: (fault) => faults.push(fault),
    });
    const headers = ['WebHook-Request-Origin', origin, 'WebHook-Request-Callback'];
    const ask = (callback: string) =>
      webhook.handle({ method: 'OPTIONS', url: '/', headers: [...headers, callback], body: async () => 'interrupted' });
    const idOf = (callback: string) => [...rows.values()].find((row) => row.callback === callback)?.id ?? '';
    await ask(real('before'));
    const before = idOf(real('before'));
    for (const at of many) await ask(hostile(at));
    await ask(real('after'));
    const after = idOf(real('after'));
    for (const at of many.slice(0, 400)) await ask(hostile(10_000 + at));
    expect(rows.size).toBeLessThanOrEqual(1_000);
    expect(rows.size).toBeGreaterThan(900);
    // One line, not one for each.
    expect(faults).toHaveLength(1);
    for (const pending of await webhook.pending()) if ([before, after].includes(pending.id)) await pending.allow(60);
    await until(() => confirmed.size === 2);
    expect(keys.sort()).toEqual(['?key=after', '?key=before']);
    webhook.close();
  });

  test('a webhook that allows everyone is not filled up by URLs that never answer', async () => {
    const outcomes = new Set<CallbackStatus>();
    const { offer, webhook } = await deciding({
      // Nothing listens there.
      store: preFilled(1_000, (at) => `http://127.0.0.1:1/?key=${at}`),
      hosts: undefined,
      development: true,
      onRequest: (request) => request.allow(1),
      onOutcome: (_request, outcome) => void outcomes.add(outcome),
    });
    await offer(registry.sink(answering([200])));
    await until(() => outcomes.has('confirmed'));
    expect(outcomes).toEqual(new Set(['confirmed', 'expired']));
    expect((await webhook.pending()).length).toBeGreaterThan(900);
  });
});

/** A store with requests that are decided. */
function preFilled(count: number, callback: (at: number) => string): PendingStore {
  const expiresat = new Date(Date.now() + 3_600_000).toISOString();
  const rows = new Map(
    Array.from({ length: count }, (_, at): [string, PendingRequest] => {
      const requestedat = new Date(at).toISOString();
      return [`${at}`, { id: `${at}`, origin, callback: callback(at), requestedat, expiresat, allowedrate: 1 }];
    }),
  );
  return {
    save: (request) => void rows.set(request.id, request),
    remove: (id) => void rows.delete(id),
    list: () => [...rows.values()],
  };
}

describe('where nothing goes on after the response', () => {
  const memory = () => preFilled(0, String);
  test.each<[string, CallbackSettings, string]>([
    ['no store', { hosts: ['a.example'] }, '`callbacks.store` is not set'],
    ['no hosts', { store: memory() }, '`callbacks.hosts` is not set'],
    ['an authority', { store: memory(), hosts: ['a.example'], ca: 'x' }, '`callbacks.ca` is set'],
  ])('%s is an error', (_title, callbacks, message) => {
    const settings = { origins: () => 'later' as const, receive: () => undefined };
    expect(() => createForWeb({ ...settings, callbacks })).toThrow(message);
  });

  test('a request that cannot be kept is reported', async () => {
    const faults: unknown[] = [];
    const webhook = createForWeb({
      origins: () => 'later',
      receive: () => undefined,
      onFault: (fault) => faults.push(fault),
    });
    const headers = { 'WebHook-Request-Origin': origin, 'WebHook-Request-Callback': 'https://a.example/' };
    await webhook.fetch(new Request('https://b.example/', { method: 'OPTIONS', headers }));
    expect(String(faults)).toContain('is not kept: `callbacks.store` is not set');
  });

  test('`allow` waits for the call, and `resume` calls again when it is time', async () => {
    const rows = memory();
    const outcomes: CallbackStatus[] = [];
    const faults: unknown[] = [];
    const http = await startHttp([503, 429, 204]);
    // Another isolate, or the same one later: nothing but the store is shared.
    const isolate = () =>
      createForWeb({
        origins: () => 'later',
        receive: () => undefined,
        onFault: (fault) => faults.push(fault),
        callbacks: { store: rows, development: true, onOutcome: (_, outcome) => void outcomes.push(outcome) },
      });
    const headers = { 'WebHook-Request-Origin': origin, 'WebHook-Request-Callback': `${http.url}/x?key=1` };
    await isolate().fetch(new Request('https://b.example/', { method: 'OPTIONS', headers }));
    const [asked] = await isolate().pending();
    await asked!.allow(7);
    expect(http.rates).toEqual(['7']);
    const due = async () => {
      for (const row of await rows.list()) await rows.save({ ...row, retryat: new Date(0).toISOString() });
      await isolate().resume();
    };
    const [failed] = await rows.list();
    expect(failed).toMatchObject({ allowedrate: 7, attempts: 1, retryat: expect.any(String) });
    // A second decision changes nothing, and the time has not come.
    await rows.save({ ...failed!, retryat: new Date(Date.now() + 60_000).toISOString() });
    await (await isolate().pending())[0]!.allow(8);
    await isolate().resume();
    expect(http.rates).toEqual(['7']);
    await due();
    expect(await rows.list()).toMatchObject([{ attempts: 2 }]);
    await due();
    expect([http.rates, outcomes, await rows.list(), faults]).toEqual([['7', '7', '7'], ['confirmed'], [], []]);
    await http.stop();
  });

  test('the work that the response does not wait for is given to `waitUntil`', async () => {
    const steps: string[] = [];
    let finish = (): void => undefined;
    const webhook = createForWeb({
      origins: () => 'later',
      receive: () => undefined,
      callbacks: {
        store: memory(),
        hosts: ['a.example'],
        onRequest: () => new Promise<void>((resolve) => (finish = resolve)).then(() => void steps.push('reported')),
      },
    });
    const request = () =>
      new Request('https://b.example/', {
        method: 'OPTIONS',
        headers: { 'WebHook-Request-Origin': origin, 'WebHook-Request-Callback': `https://a.example/${steps.length}` },
      });
    const work: Array<Promise<unknown>> = [];
    const context = { waitUntil: (each: Promise<unknown>) => void work.push(each) };
    await webhook.fetch(request(), {}, context);
    steps.push('answered');
    finish();
    await Promise.all(work);
    expect(steps).toEqual(['answered', 'reported']);
    await webhook.hono({ req: { raw: request() }, executionCtx: context }, async () => undefined);
    expect(work).toHaveLength(2);
    // Without one, the response waits.
    const answered = webhook.fetch(request()).then(() => steps.push('answered'));
    await until(() => finish !== undefined && steps.length === 2);
    finish();
    await answered;
  });
});

/** Plain http, which answers with these statuses one after the other. */
async function startHttp(statuses: number[]) {
  const rates: unknown[] = [];
  const server = createServer((request, response) => {
    rates.push(request.headers['webhook-allowed-rate']);
    response.writeHead(statuses[rates.length - 1] ?? 500).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, rates, stop };
}

describe('which callback URLs are called', () => {
  const guard = createCallbackGuard({});
  test.each([
    ['https://registry.example.com/confirm?key=a', undefined],
    ['https://registry.example.com?key=a', undefined],
    ['HTTPS://Registry.Example.com:443/', undefined],
    ['https://8.8.8.8/', undefined],
    ['https://[2a00:1450::1]/', undefined],
    ['http://registry.example.com/', 'it is not an https URL'],
    ['ftp://registry.example.com/', 'it is not a plain https URL'],
    ['https://user@registry.example.com/', 'it is not a plain https URL'],
    ['https://registry.example.com/#a', 'it is not a plain https URL'],
    ['https://registry.example.com/a b', 'it is not a plain https URL'],
    ['https://registry.example.com\\@10.0.0.1/', 'it is not a plain https URL'],
    ['https://registry.example.com/é', 'it is not a plain https URL'],
    ['//registry.example.com/', 'it is not a plain https URL'],
    [`https://registry.example.com/${'a'.repeat(2_048)}`, 'it has more than 2048 characters'],
    ['https://registry.example.com:22/', '`callbacks.hosts` does not name its port'],
    ['https://10.0.0.1/', 'its address is not public'],
  ])('%s: %s', (url, reason) => {
    const parsed = guard.parse(url);
    expect(typeof parsed === 'string' ? parsed : undefined).toBe(reason);
  });

  test('no address that is not public, however it is written', () => {
    const urls = forbidden.flatMap((address) => asHost(address).map((host) => `https://${host}/`));
    expect(urls.filter((url) => typeof guard.parse(url) !== 'string')).toEqual([]);
    const addresses = forbidden.flatMap((address) => [address, ...inIpv6(address)]);
    expect(addresses.filter((address) => guard.areReachable([address]))).toEqual([]);
    expect(guard.areReachable(['8.8.8.8', '2a00:1450::1'])).toBe(true);
    expect(guard.areReachable(['8.8.8.8', '10.0.0.1'])).toBe(false);
    expect(guard.areReachable([])).toBe(false);
  });

  test('no name that resolves to such an address', async () => {
    const { offer, requests, outcome, faults } = await deciding({ networks: [] });
    await offer(registry.sink(answering([200])));
    const done = outcome();
    await requests[0]!.allow(1);
    expect(await done).toBe('rejected');
    expect(String(faults)).toContain('an address of its host is not public');
    expect(registry.asked).toEqual([]);
  });

  test('only those that `hosts` names, if it names any', () => {
    const named = createCallbackGuard({ hosts: ['registry.example.com', 'Other.example.com:8443'] });
    const called = (url: string) => typeof named.parse(url) !== 'string';
    expect(called('https://registry.example.com/a')).toBe(true);
    expect(called('https://other.example.com:8443/a')).toBe(true);
    expect(called('https://registry.example.com:8443/a')).toBe(false);
    expect(called('https://other.example.com/a')).toBe(false);
    expect(called('https://a.registry.example.com/a')).toBe(false);
  });

  test('in development: http, any port, and this machine', () => {
    const open = createCallbackGuard({ development: true });
    expect(open.parse('http://127.0.0.1:3000/v1/confirm?key=a')).toEqual({
      isSecure: false,
      authority: '127.0.0.1:3000',
      host: '127.0.0.1',
      port: 3000,
      target: '/v1/confirm?key=a',
    });
  });

  test('the reason is reported, and the request is not kept', async () => {
    const { offer, requests, faults } = await deciding();
    await offer('https://elsewhere.example.com/confirm?key=secret');
    expect(requests).toEqual([]);
    expect(String(faults)).toContain('`callbacks.hosts` does not name its host');
    expect(String(faults)).not.toContain('secret');
  });
});
