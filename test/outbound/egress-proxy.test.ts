import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createGuardedClient } from '../../src/kits/guard/index.js';
import { createTrustedRoute } from '../../src/outbound/trusted-route.js';
import { fetchJson } from '../../src/registry/tokens/fetch-json.js';
import { createSafeRequest, safeRequestDefaults } from '../../src/outbound/safe-request.js';
import { createAuthority, type Authority, type KeyPair } from '../support/certificates.js';
import { startDnsServer, type DnsServer } from '../support/dns-server.js';
import { startEgressProxy, type EgressProxy, type EgressProxyBehaviour } from '../support/egress-proxy.js';
import { asHost, forbidden, inIpv6 } from '../support/hostile-addresses.js';
import { drip, flood, startHostileServer, type HostileServer } from '../support/hostile-server.js';
import { startJwksServer } from '../support/jwks-server.js';
import { until } from '../support/until.js';

const host = 'hooks.shop.example';
/** Nothing is dialled there: the proxy of the tests connects to loopback. */
const publicAddress = '93.184.216.34';
const consent = 'HTTP/1.1 200 OK\r\nWebHook-Allowed-Origin: *\r\nContent-Length: 0\r\n\r\n';
const secret = 'p:ss wörd/canary';
const credentials = `assent:${encodeURIComponent(secret)}`;

let authority: Authority;
let certificate: KeyPair;
let dns: DnsServer;
const running: Array<{ stop(): unknown }> = [];

beforeAll(async () => {
  authority = await createAuthority();
  certificate = await authority.issue([host]);
  dns = await startDnsServer();
});
afterEach(async () => {
  dns.zone = {};
  dns.questions.length = 0;
  await Promise.all(running.splice(0).map((each) => each.stop()));
});
afterAll(() => dns.stop());

async function startTarget(settings: Partial<Parameters<typeof startHostileServer>[0]> = {}): Promise<HostileServer> {
  const answer = (socket: Socket) => void socket.write(consent);
  const target = await startHostileServer({ tls: certificate, answer, ...settings });
  running.push(target);
  dns.zone[host] ??= [publicAddress];
  return target;
}

async function startProxy(behaviour: EgressProxyBehaviour = {}): Promise<EgressProxy> {
  const proxy = await startEgressProxy(behaviour);
  running.push(proxy);
  return proxy;
}

type Settings = Parameters<typeof createSafeRequest>[0];

/** As an operator without a direct way out would open it: no network is allowed. */
function openThrough(proxy: Partial<Settings['proxy'] & object> & { url: string }, changes: Partial<Settings> = {}) {
  const ask = createSafeRequest({
    ...safeRequestDefaults,
    dnsServers: [dns.address],
    ca: authority.cert,
    deadlineMs: 30_000,
    userAgent: 'Assent-test/1',
    proxy,
    ...changes,
  });
  return (url: string, more: object = {}) => ask({ url, method: 'OPTIONS', headers: {}, ...more });
}

const urlOf = ({ port }: EgressProxy) => `http://127.0.0.1:${port}`;
const says = (text: string) => (socket: Socket) => void socket.write(text, 'latin1');

const slowly = (socket: Socket) => {
  const bytes = 'HTTP/1.1 200 Connection established\r\n\r\n'.split('').values();
  drip(socket, 100, () => socket.write(bytes.next().value ?? ''));
};

describe('a target behind a proxy', () => {
  test('is reached by its checked address, with its name in TLS only: the proxy looks nothing up', async () => {
    const [target, proxy] = [await startTarget(), await startProxy()];
    const reply = await openThrough(
      { url: urlOf(proxy) },
      { ports: [target.port] },
    )(`https://${host}:${target.port}/a`);
    expect(reply).toMatchObject({ kind: 'answered', status: 200, remoteAddress: publicAddress });
    const place = `${publicAddress}:${target.port}`;
    expect(proxy.heads).toEqual([`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`]);
    expect(target.sessions).toMatchObject([{ servername: host, isResumed: false }]);
    expect(dns.questions.sort()).toEqual([`A ${host}`, `AAAA ${host}`]);
    await proxy.deserted();
  });

  test('is reached by IPv6 in brackets, and by its next address if the proxy cannot reach the first', async () => {
    const target = await startTarget();
    dns.zone[host] = [publicAddress, '2606:4700::1111'];
    const asked: string[] = [];
    const proxy = await startProxy();
    const picky = await startProxy({
      answer(socket, place) {
        asked.push(place);
        if (place.startsWith(publicAddress)) socket.end('HTTP/1.1 503 Unreachable\r\n\r\n');
        else socket.write('HTTP/1.0 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\nVia: 1.0 old\r\n\r\n');
      },
    });
    const ask = openThrough({ url: urlOf(picky) }, { ports: [target.port], deadlineMs: 5_000 });
    // It forwards nothing, so the target does not respond: what counts is whom the proxy was asked for.
    expect(await ask(`https://${host}:${target.port}/`)).toMatchObject({ code: 'deadline_exceeded' });
    expect(asked).toEqual([`${publicAddress}:${target.port}`, `[2606:4700::1111]:${target.port}`]);
    dns.zone[host] = ['2606:4700::1111'];
    const through = openThrough({ url: urlOf(proxy) }, { ports: [target.port] });
    expect(await through(`https://${host}:${target.port}/`)).toMatchObject({ remoteAddress: '2606:4700::1111' });
  });

  test('may be behind an https proxy with an authority of its own, which gets the credentials', async () => {
    const own = await createAuthority('Proxy authority');
    const target = await startTarget();
    const proxy = await startProxy({ tls: await own.issue(['proxy.example']) });
    dns.zone['proxy.example'] = ['127.0.0.1'];
    const url = `https://${credentials}@proxy.example:${proxy.port}`;
    const ask = openThrough({ url, ca: own.cert }, { ports: [target.port] });
    expect(await ask(`https://${host}:${target.port}/`)).toMatchObject({ kind: 'answered' });
    expect(proxy.heads[0]).toContain(
      `\r\nProxy-Authorization: Basic ${Buffer.from(`assent:${secret}`).toString('base64')}\r\n`,
    );
    const untrusted = openThrough({ url }, { ports: [target.port] });
    const reply = await untrusted(`https://${host}:${target.port}/`);
    expect(reply).toMatchObject({ code: 'proxy_unreachable', evidence: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    expect(proxy.heads).toHaveLength(1);
    await proxy.deserted();
  });

  test('is not trusted if it is another one: a proxy that connects elsewhere gets no request', async () => {
    const other = await startTarget({ tls: await (await createAuthority('Nobody')).issue([host]) });
    const proxy = await startProxy();
    const reply = await openThrough({ url: urlOf(proxy) }, { ports: [other.port] })(`https://${host}:${other.port}/`);
    expect(reply).toMatchObject({ kind: 'unanswered', code: 'certificate_invalid', remoteAddress: publicAddress });
    expect([other.connections, other.requests]).toEqual([1, []]);
  });

  test('is told apart from the proxy if it fails itself', async () => {
    const target = await startTarget({ tls: undefined as never, answer: says('not TLS at all\r\n') });
    const silent = await startTarget({ answer: () => undefined });
    const proxy = await startProxy();
    const ask = (port: number, deadlineMs: number) =>
      openThrough({ url: urlOf(proxy) }, { ports: [port], deadlineMs })(`https://${host}:${port}/`);
    expect(await ask(target.port, 30_000)).toMatchObject({ code: 'tls_failed' });
    expect(await ask(silent.port, 3_000)).toMatchObject({ code: 'deadline_exceeded' });
    await proxy.deserted();
  });

  test('keeps its connection, and is asked for once', async () => {
    const answer = (socket: Socket) => {
      const accept = () => void socket.write('HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n');
      socket.on('data', accept);
      accept();
    };
    const [target, proxy] = [await startTarget({ answer }), await startProxy()];
    const client = createGuardedClient({
      sinkPorts: [target.port],
      sinkCa: authority.cert,
      dnsServers: [dns.address],
      proxy: { url: urlOf(proxy) },
    });
    const event = { url: `https://${host}:${target.port}/`, headers: {}, body: 'event' };
    for (const _ of [1, 2])
      expect(await client.post(event)).toMatchObject({ status: 202, remoteAddress: publicAddress });
    expect([proxy.heads.length, target.connections]).toEqual([1, 1]);
    client.close();
    await proxy.deserted();
  });
});

describe('a proxy that fails', () => {
  test.each<[string, string, string, (socket: Socket) => void]>([
    ['wants credentials', 'proxy_authentication', '407', says('HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n')],
    ['forbids it', 'proxy_refused', '403', says('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')],
    ['knows no CONNECT', 'proxy_refused', '405', says('HTTP/1.1 405 No\r\n\r\n')],
    ['redirects', 'proxy_refused', '302', says('HTTP/1.1 302 Login\r\nLocation: https://127.0.0.1/\r\n\r\n')],
    ['reaches no target', 'proxy_no_connection', '502', says('HTTP/1.1 502 Bad gateway\r\n\r\n')],
    ['waited for the target', 'proxy_no_connection', '504', says('HTTP/1.1 504 Timeout\r\n\r\n')],
    ['shows a page', 'proxy_malformed', 'BODY_BEFORE_TLS', says('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi')],
    ['speaks another protocol', 'proxy_malformed', 'NOT_HTTP', says('\x05\xff')],
    ['speaks HTTP/2', 'proxy_malformed', 'NOT_HTTP', says('HTTP/2.0 200 OK\r\n\r\n')],
    ['has no status', 'proxy_malformed', 'NOT_HTTP', says('HTTP/1.1 2000 OK\r\n\r\n')],
    ['folds a status line', 'proxy_malformed', 'NOT_HTTP', says('HTTP/1.1 200 OK\nHTTP/1.1 407 x\r\n\r\n')],
    ['switches protocols', 'proxy_malformed', 'NOT_HTTP', says('HTTP/1.1 101 Yes\r\n\r\n')],
    ['hangs up', 'proxy_malformed', 'CONNECTION_CLOSED', (socket) => socket.end()],
    ['hangs up in its head', 'proxy_malformed', 'CONNECTION_CLOSED', (socket) => socket.end('HTTP/1.1 200 OK\r\n')],
    [
      'has a head without end',
      'proxy_malformed',
      'HEAD_TOO_LARGE',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        flood(socket, 'X-Filler: abcdefgh\r\n');
      },
    ],
    [
      'sends 1xx answers without end',
      'proxy_malformed',
      'TOO_MANY_INFORMATIONAL',
      (socket) => flood(socket, 'HTTP/1.1 103 Early\r\n\r\n'),
    ],
  ])('because it %s, is %s (%s), and its connection is closed', async (_, code, evidence, answer) => {
    const [target, proxy] = [await startTarget(), await startProxy({ answer })];
    const ask = openThrough({ url: `http://${credentials}@127.0.0.1:${proxy.port}` }, { ports: [target.port] });
    const reply = await ask(`https://${host}:${target.port}/`);
    expect(reply).toMatchObject({ kind: 'unanswered', code, evidence });
    expect(target.connections).toBe(0);
    const told = JSON.stringify(reply);
    for (const hidden of ['assent', 'canary', Buffer.from(`assent:${secret}`).toString('base64')]) {
      expect(told).not.toContain(hidden);
    }
    await proxy.deserted();
  });

  test.each<[string, string, ((socket: Socket) => void) | undefined]>([
    ['never answers', 'proxy_timeout', () => undefined],
    ['answers one byte at a time', 'proxy_timeout', slowly],
    [
      'sends 1xx answers, slowly',
      'proxy_timeout',
      (socket) => drip(socket, 400, () => socket.write('HTTP/1.1 103 E\r\n\r\n')),
    ],
  ])('because it %s, ends at the one deadline', async (_, code, answer) => {
    const [target, proxy] = [await startTarget(), await startProxy({ answer })];
    const ask = openThrough({ url: urlOf(proxy) }, { ports: [target.port], deadlineMs: 2_000 });
    expect(await ask(`https://${host}:${target.port}/`)).toMatchObject({ kind: 'unanswered', code });
    await proxy.deserted();
  });

  test('because nothing listens, its name is unknown or its TLS stalls, is proxy_unreachable', async () => {
    const target = await startTarget();
    const stalled = await startHostileServer();
    running.push(stalled);
    for (const [url, evidence] of [
      ['http://127.0.2.1:9', 'ECONNREFUSED'],
      ['http://missing.example:3128', 'ENOTFOUND'],
      [`https://127.0.0.1:${stalled.port}`, 'ETIMEDOUT'],
    ] as const) {
      const deadlineMs = evidence === 'ETIMEDOUT' ? 3_000 : 30_000;
      const ask = openThrough({ url }, { ports: [target.port], deadlineMs });
      expect(await ask(`https://${host}:${target.port}/`)).toMatchObject({ code: 'proxy_unreachable', evidence });
    }
    expect(target.connections).toBe(0);
    await stalled.deserted();
  });

  test('is not asked for a second address if it is the proxy that failed', async () => {
    const proxy = await startProxy({ answer: says('HTTP/1.1 407 Who\r\n\r\n') });
    dns.zone[host] = [publicAddress, '93.184.216.35'];
    expect(await openThrough({ url: urlOf(proxy) })(`https://${host}/`)).toMatchObject({
      code: 'proxy_authentication',
    });
    expect(proxy.connections()).toBe(1);
  });

  test.each<[string, (proxy: EgressProxy, target: HostileServer) => Promise<unknown>]>([
    ['it has not answered', (proxy) => until(() => proxy.heads.length > 0)],
    ['the target has not responded', (_proxy, target) => until(() => target.requests.length > 0)],
  ])('can be given up by the caller while %s', async (title, isThere) => {
    const target = await startTarget({ answer: () => undefined });
    const proxy = await startProxy(title.startsWith('it') ? { answer: () => undefined } : {});
    const caller = new AbortController();
    const ask = openThrough({ url: urlOf(proxy) }, { ports: [target.port], deadlineMs: 60_000 });
    const reply = ask(`https://${host}:${target.port}/`, { signal: caller.signal });
    await isThere(proxy, target);
    caller.abort();
    expect(await reply).toMatchObject({ kind: 'unanswered', code: 'aborted' });
    await proxy.deserted();
  });
});

describe('what a proxy never gets', () => {
  test('is an address that is not public, in any notation and by any name', async () => {
    const proxy = await startProxy();
    const admitted: string[] = [];
    const admit = async (network: string) => void admitted.push(network);
    const answers = forbidden.flatMap((address) => [address, ...inIpv6(address)]);
    dns.zone = Object.fromEntries(answers.map((answer, index) => [`n${index}.example`, [answer]]));
    dns.zone['mixed.example'] = [publicAddress, '127.0.0.1'];
    const ask = openThrough({ url: urlOf(proxy) });
    const hosts = [...forbidden.flatMap(asHost), ...Object.keys(dns.zone), 'localhost', 'db.internal'];
    const reached: string[] = [];
    for (const name of hosts) {
      const reply = await ask(`https://${name}/`, { admit });
      if (reply.kind !== 'blocked') reached.push(name);
    }
    expect(hosts.length).toBeGreaterThan(500);
    expect([reached, admitted, proxy.connections()]).toEqual([[], [], 0]);
  });

  test('is an address of a network that has a direct way, and other addresses still go through it', async () => {
    const own = await authority.issue([host, 'inside.example']);
    const [target, proxy] = [await startTarget({ tls: own }), await startProxy()];
    dns.zone['inside.example'] = ['127.0.0.1'];
    const ask = openThrough(
      { url: urlOf(proxy), noProxy: ['127.0.0.0/8', '198.51.100.0/24'] },
      { ports: [target.port], allowedNetworks: ['127.0.0.1/32'] },
    );
    const inside = await ask(`https://inside.example:${target.port}/`);
    expect(inside).toMatchObject({ kind: 'answered', remoteAddress: '127.0.0.1' });
    expect(proxy.connections()).toBe(0);
    // A way around the proxy allows nothing.
    dns.zone['inside.example'] = ['127.0.0.2'];
    expect(await ask(`https://inside.example:${target.port}/`)).toMatchObject({ kind: 'blocked' });
    expect(await ask(`https://${host}:${target.port}/`)).toMatchObject({ remoteAddress: publicAddress });
    expect(proxy.connections()).toBe(1);
  });

  test.each<[string, object, object]>([
    ['an allowed network without a direct way', { url: 'http://p:3128' }, { allowedNetworks: ['10.0.0.0/8'] }],
    [
      'one that is wider than its way',
      { url: 'http://p:3128', noProxy: ['10.1.0.0/16'] },
      { allowedNetworks: ['10.0.0.0/8'] },
    ],
    ['a URL of another kind', { url: `socks5://${credentials}@p:1080` }, {}],
    ['a URL with a path', { url: `http://${credentials}@p:3128/path` }, {}],
    ['credentials that are not encoded', { url: 'http://canary:%zz@p:3128' }, {}],
    ['a user name with a colon', { url: 'http://a%3Acanary:b@p:3128' }, {}],
    ['an authority for an http proxy', { url: `http://${credentials}@p:3128`, ca: 'canary' }, {}],
  ])('is decided before the start: %s is refused, without the credentials in the error', (_, proxy, changes) => {
    const open = () => openThrough(proxy as { url: string }, changes);
    expect(open).toThrow(RangeError);
    try {
      open();
    } catch (error) {
      expect(String(error)).not.toMatch(/canary/);
    }
  });
});

test('what the operator configured is fetched directly if it is inside, and else through the proxy, by name', async () => {
  const server = await startJwksServer();
  running.push(server);
  server.answers((_, response) => void response.end('{"keys":[]}'));
  const proxy = await startProxy();
  const settings = { url: `http://${credentials}@127.0.0.1:${proxy.port}` };
  const route = createTrustedRoute({ allowedNetworks: [], proxy: settings });
  const fetching = { timeoutMs: 5_000, accept: 'application/json', route };
  expect(await fetchJson(server.url, fetching)).toEqual({ keys: [] });
  expect(proxy.connections()).toBe(0);
  const outside = server.url.replace('127.0.0.1', 'login.issuer.invalid');
  expect(await fetchJson(outside, fetching)).toEqual({ keys: [] });
  expect(proxy.heads[0]).toMatch(/^CONNECT login\.issuer\.invalid:\d+ HTTP\/1\.1\r\n/);
  expect(proxy.heads[0]).toContain(`Basic ${Buffer.from(`assent:${secret}`).toString('base64')}`);
});

(process.platform === 'linux' ? test : test.skip)(
  'file descriptors are all given back by 40 stalls at the proxy, in TLS and after the request',
  async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const target = await startTarget({ answer: () => undefined });
    const plain = await startTarget({ tls: undefined as never, answer: () => undefined });
    const [silent, proxy] = [await startProxy({ answer: () => undefined }), await startProxy()];
    const secure = await startProxy({ tls: await authority.issue(['127.0.0.1']) });
    const ports = [target.port, plain.port];
    const through = (url: string, ca?: string) => openThrough({ url, ca }, { ports, deadlineMs: 5_000 });
    await through(urlOf(proxy))('https://missing.example:' + target.port + '/');
    const before = descriptors();
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => [
        through(urlOf(silent))(`https://${host}:${target.port}/`),
        through(urlOf(proxy))(`https://${host}:${plain.port}/`),
        through(urlOf(proxy))(`https://${host}:${target.port}/`),
        through(`https://127.0.0.1:${secure.port}`, authority.cert)(`https://${host}:${target.port}/`),
      ]).flat(),
    );
    expect(replies.every(({ kind }) => kind === 'unanswered')).toBe(true);
    expect(silent.connections()).toBeGreaterThan(0);
    await until(() => descriptors() <= before);
  },
);
