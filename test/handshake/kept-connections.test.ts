import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createKeptConnections, type Connection, type KeptConnections } from '../../src/handshake/kept-connections.js';
import { createSafeRequest, safeRequestDefaults, type OutboundRequest } from '../../src/handshake/safe-request.js';
import { startDnsServer, type DnsServer } from '../support/dns-server.js';
import { startReceiver, type Receiver } from '../support/receiver.js';

/** A connection serves its tenant again only where nothing can have become different, and nothing can be left on it. */
let receiver: Receiver;
let dns: DnsServer;
let sockets: Socket[];

beforeAll(async () => {
  receiver = await startReceiver();
  dns = await startDnsServer();
});
afterEach(() => {
  dns.zone = {};
  dns.questions.length = 0;
  sockets = [];
});
afterAll(() => Promise.all([receiver.stop(), dns.stop()]));

type Answers = (request: IncomingMessage, response: ServerResponse) => unknown;
const empty: Answers = (_request, response) => response.writeHead(200, { 'Content-Length': 0 }).end();

/** A webhook that answers so, and a door that may reach it. */
function open(answers: Answers = empty, ports = [receiver.port]) {
  sockets = [];
  receiver.on('/hook', (request, response) => {
    sockets.push(request.socket);
    return answers(request, response);
  });
  dns.zone['one.hooks.test'] ??= ['127.0.0.1'];
  dns.zone['two.hooks.test'] ??= ['127.0.0.1'];
  const ask = createSafeRequest({
    ...safeRequestDefaults,
    allowedNetworks: ['127.0.0.0/8'],
    ports,
    dnsServers: [dns.address],
    ca: receiver.ca,
    deadlineMs: 5_000,
    userAgent: 'Assent-test',
  });
  return (keepFor?: string, host = 'one.hooks.test', more: Partial<OutboundRequest> = {}) =>
    ask({
      url: receiver.sink('/hook', host),
      method: 'OPTIONS',
      headers: {},
      ...(keepFor === undefined ? {} : { keepFor }),
      ...more,
    });
}
const connections = () => new Set(sockets).size;
const answered = { kind: 'answered', status: 200, remoteAddress: '127.0.0.1' };

test('the next request of a tenant takes the same connection, and is looked up, judged and counted like the first', async () => {
  const ask = open();
  const admitted: string[] = [];
  const admit = async (network: string) => void admitted.push(network);
  for (const _time of [1, 2, 3]) expect(await ask('gemeente', undefined, { admit })).toMatchObject(answered);
  expect([sockets.length, connections()]).toEqual([3, 1]);
  expect(admitted).toEqual(['127.0.0.0/24', '127.0.0.0/24', '127.0.0.0/24']);
  expect(dns.questions.filter((question) => question === 'A one.hooks.test')).toHaveLength(3);
});

test('what is held by its network does not reach a kept connection either', async () => {
  const ask = open();
  await ask('gemeente');
  expect(await ask('gemeente', undefined, { admit: async () => 900 })).toMatchObject({ kind: 'held' });
  expect(sockets).toHaveLength(1);
});

test('another tenant, another name and whoever does not ask for it have connections of their own', async () => {
  const ask = open();
  for (const _time of [1, 2]) {
    await ask('gemeente');
    await ask('provincie');
    await ask('gemeente', 'two.hooks.test');
  }
  expect([sockets.length, connections()]).toEqual([6, 3]);
  await ask();
  await ask();
  expect(connections()).toBe(5);
});

test('two requests at the same time are on two connections', async () => {
  const ask = open();
  await Promise.all([ask('gemeente'), ask('gemeente')]);
  expect(connections()).toBe(2);
});

test.each<[string, Answers]>([
  ['has a body', (_request, response) => response.writeHead(200, { 'Content-Length': 2 }).end('ok')],
  ['could have a body', (_request, response) => response.writeHead(200).end()],
  [
    'has a length twice',
    (_request, response) => response.writeHead(200, ['Content-Length', '0', 'Content-Length', '0']).end(),
  ],
  [
    'says that it is the last one',
    (_request, response) => response.writeHead(200, { 'Content-Length': 0, Connection: 'close' }).end(),
  ],
])('an answer that %s ends its connection', async (_title, answers) => {
  const ask = open(answers);
  for (const _time of [1, 2]) await ask('gemeente');
  expect([sockets.length, connections()]).toEqual([2, 2]);
});

test('a name that leads elsewhere is dialled there, and refused where that must not be reached', async () => {
  const ask = open();
  await ask('gemeente');
  dns.zone['one.hooks.test'] = ['127.0.0.2'];
  expect(await ask('gemeente')).toMatchObject({ kind: 'unanswered', reason: 'connection_refused' });
  dns.zone['one.hooks.test'] = ['127.0.0.1', '10.0.0.1'];
  expect(await ask('gemeente')).toMatchObject({ kind: 'blocked', reason: 'address_not_allowed' });
  expect(sockets).toHaveLength(1);
});

test('a connection that the target has closed is not used', async () => {
  const ask = open();
  await ask('gemeente');
  const closed = new Promise((resolve) => sockets[0]?.once('close', resolve));
  sockets[0]?.end();
  await closed;
  expect(await ask('gemeente')).toMatchObject(answered);
  expect(connections()).toBe(2);
});

test('a target that closes just as it is asked again is asked on a new connection, once', async () => {
  const ask = open((request, response) => {
    if (sockets.length === 2) request.socket.destroy();
    else empty(request, response);
  });
  await ask('gemeente');
  expect(await ask('gemeente')).toMatchObject(answered);
  expect([sockets.length, connections()]).toEqual([3, 2]);
});

test('of several that a target has given up one is tried, and then a new one', async () => {
  const ask = open((request, response) => {
    if (sockets.indexOf(request.socket) < 2 && sockets.length > 2) request.socket.destroy();
    else empty(request, response);
  });
  await Promise.all([ask('gemeente'), ask('gemeente')]);
  expect(await ask('gemeente')).toMatchObject(answered);
  expect([sockets.length, connections()]).toEqual([4, 3]);
});

test('a target that hangs up within its answer is not asked again', async () => {
  const ask = open((request, response) => {
    if (sockets.length === 2) request.socket.end('HTTP/1.1 2');
    else empty(request, response);
  });
  await ask('gemeente');
  expect(await ask('gemeente')).toMatchObject({ kind: 'unanswered', reason: 'connection_closed' });
  expect([sockets.length, connections()]).toEqual([2, 1]);
});

test('whoever gives up a request takes its connection along, kept or not', async () => {
  const caller = new AbortController();
  const ask = open((request, response) => {
    if (sockets.length === 1) empty(request, response);
    else caller.abort();
  });
  await ask('gemeente');
  const closed = once(sockets[0] as Socket, 'close');
  expect(await ask('gemeente', undefined, { signal: caller.signal })).toMatchObject({
    kind: 'unanswered',
    reason: 'aborted',
  });
  await closed;
  expect(connections()).toBe(1);
});

test('a new connection that is closed without an answer is not tried again', async () => {
  const ask = open((request) => request.socket.destroy());
  expect(await ask('gemeente')).toMatchObject({ kind: 'unanswered', reason: 'connection_closed' });
  expect(sockets).toHaveLength(1);
});

test('what a target says unasked is no answer to the next request', async () => {
  const ask = open();
  await ask('gemeente');
  const [socket] = sockets;
  const closed = new Promise((resolve) => socket?.once('close', resolve));
  socket?.write('HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n');
  await closed;
  expect(await ask('gemeente')).toMatchObject(answered);
  expect(connections()).toBe(2);
});

test('a connection that nobody uses is closed', async () => {
  const ask = open();
  await ask('gemeente');
  await new Promise((resolve) => sockets[0]?.once('close', resolve));
  await ask('gemeente');
  expect(connections()).toBe(2);
});

test('no more than 256 connections wait at the same time', async () => {
  const waiting: ServerResponse[] = [];
  const ask = open((request, response) => {
    waiting.push(response);
    if (waiting.length < 260) return;
    for (const each of waiting.splice(0)) empty(request, each);
  });
  // A name that nobody is asked for: so many questions at once are too many for some name servers.
  const crowd = () => Promise.all(Array.from({ length: 260 }, () => ask('gemeente', 'localhost')));
  await crowd();
  expect(connections()).toBe(260);
  await crowd();
  expect(connections()).toBeGreaterThanOrEqual(264);
});

describe('of the connections that wait', () => {
  const key = { tenant: 'gemeente', host: 'one.hooks.test', port: 443, address: '127.0.0.1' };
  let server: Server;
  /** The other ends, in the order of the connections. */
  let targets: Socket[];
  let kept: KeptConnections;

  beforeAll(async () => {
    server = createServer((socket) => targets.push(socket.on('error', () => undefined)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  beforeEach(() => {
    targets = [];
    kept = createKeptConnections();
  });
  afterEach(() => targets.forEach((socket) => socket.destroy()));
  afterAll(() => void server.close());

  /** Without TLS and a client, which nobody looks at while it waits. */
  async function connect(ageMs = 0): Promise<Connection> {
    const { port } = server.address() as AddressInfo;
    const socket = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
    await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
    socket.resume();
    const end = () => socket.destroy();
    return { socket, openedAt: performance.now() - ageMs, end } as unknown as Connection;
  }

  const closes = ({ socket }: Connection) => new Promise((resolve) => socket.once('close', resolve));

  test('the one that was used last is taken first, and each once', async () => {
    const [one, other] = [await connect(), await connect()];
    kept.put(key, one);
    kept.put(key, other);
    expect([kept.take(key), kept.take(key), kept.take(key)]).toEqual([other, one, undefined]);
  });

  test.each<[string, string, (target: Socket) => void]>([
    ['ends', 'end', (target) => target.end()],
    ['resets', 'close', (target) => target.resetAndDestroy()],
  ])('one that its target %s is gone, and closed', async (_title, sign, hangUp) => {
    const connection = await connect();
    kept.put(key, connection);
    const told = new Promise((resolve) => connection.socket.once(sign, resolve));
    hangUp(targets[0] as Socket);
    await told;
    expect(connection.socket.destroyed).toBe(true);
    expect(kept.take(key)).toBeUndefined();
  });

  test.each<[string, (socket: Socket) => unknown, number]>([
    ['that is closed', (socket) => socket.destroy(), 0],
    ['that can carry no request', (socket) => socket.end(), 0],
    ['that is a minute old', () => undefined, 60_000],
  ])('there is none %s', async (_title, spoil, ageMs) => {
    const connection = await connect(ageMs);
    spoil(connection.socket);
    kept.put(key, connection);
    expect(connection.socket.destroyed).toBe(true);
    expect(kept.take(key)).toBeUndefined();
  });

  test('each closes two seconds after its request or a minute after it was opened; one in use does not', async () => {
    const [inUse, fresh, old] = [await connect(), await connect(), await connect(59_000)];
    const order: string[] = [];
    void closes(old).then(() => order.push('old'));
    kept.put(key, inUse);
    expect(kept.take(key)).toBe(inUse);
    const since = performance.now();
    kept.put(key, fresh);
    kept.put(key, old);
    await closes(fresh);
    // Timers count whole milliseconds.
    expect(performance.now() - since).toBeGreaterThanOrEqual(1_999);
    expect(performance.now() - since).toBeLessThan(20_000);
    expect(order).toEqual(['old']);
    expect(inUse.socket.destroyed).toBe(false);
    expect(kept.take(key)).toBeUndefined();
  }, 30_000);

  test('the one that waits longest goes when there are 257', async () => {
    const all: Connection[] = [];
    while (all.length < 257) all.push(await connect());
    const isOpen = () => all.map(({ socket }) => !socket.destroyed);
    all.slice(0, 256).forEach((connection, n) => kept.put({ ...key, tenant: String(n % 7) }, connection));
    expect(isOpen()).not.toContain(false);
    kept.put(key, all[256] as Connection);
    expect(isOpen().lastIndexOf(false)).toBe(0);
  });
});
