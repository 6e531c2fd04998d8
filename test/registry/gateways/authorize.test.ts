import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** The operation that gateways ask, as they ask it: header by header, over real connections. */
let registry: Registry;
let tenant: Tenant;
let sink: string;
let bearer: string;
/** Host and port of the sink. */
let host: string;
/** As the configuration of the gateway has it. */
const asked = (query = '') => `/v1/authorize?hosts=${host}${query}`;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  sink = registry.receiver.sink('/events');
  host = new URL(sink).host;
  registry.receiver.consent('/events', { rate: '100' });
  await tenant.register(sink);
  const claims = { tenant: 'gemeente', subscriber: 'gateway', scopes: ['assent:deliver' as const], minutes: 60 };
  bearer = `Bearer ${await createToken(claims, registry.env)}`;
});
afterAll(() => registry.stop());

type Lines = Array<[string, string]>;
interface Response {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Sends the lines as they are. A missing Host is added. */
async function send(target: string, lines: Lines, method = 'GET'): Promise<Response> {
  const socket = connect(Number(new URL(registry.url).port), '127.0.0.1');
  const all: Lines = lines.some(([name]) => /^host$/i.test(name)) ? lines : [['Host', 'gateway'], ...lines];
  const head = [`${method} ${target} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`)];
  socket.write(`${head.join('\r\n')}\r\nConnection: close\r\n\r\n`);
  return responseOf(Buffer.concat(await socket.toArray()).toString());
}

function responseOf(text: string): Response {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => line.split(/: (.*)/s).slice(0, 2)) as Lines;
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body,
  };
}

const origin: Lines[number] = ['WebHook-Request-Origin', 'eventemitter.example.com'];
const token = (): Lines[number] => ['Authorization', bearer];
const original = (url = sink): Lines[number] => ['X-Original-URL', url];
const forwarded = (parts: { proto?: string; host?: string; uri?: string } = {}): Lines => {
  const { proto, host: at, uri } = { proto: 'https', host, uri: '/events', ...parts };
  return [
    ['X-Forwarded-Proto', proto],
    ['X-Forwarded-Host', at],
    ['X-Forwarded-Uri', uri],
  ];
};

describe('a yes', () => {
  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'is 204 for %s',
    async (method) => {
      const { status, headers, body } = await send(asked(), [token(), origin, original()], method);
      expect([status, body]).toEqual([204, '']);
      expect(headers).toMatchObject({ 'assent-allowed-rate': '100', 'cache-control': 'no-store' });
      expect(headers['assent-expires-at']).toBe((await tenant.permission(sink)).expiresat);
    },
  );

  test.each<[string, string, () => Lines]>([
    ['in X-Original-URL', '', () => [origin, original()]],
    ['in X-Forwarded-*', '', () => [origin, ...forwarded()]],
    ['in all of them, which agree', '', () => [origin, original(), ...forwarded()]],
    ['in the query', '&origin=eventemitter.example.com&sink=SINK', () => []],
    ['in the query and in a header, which agree', '&sink=SINK', () => [origin, original()]],
    ['with an origin in capitals', '', () => [['webhook-request-ORIGIN', 'EventEmitter.example.com'], original()]],
    ['beside a scheme that some proxy added', '', () => [origin, original(), ['X-Forwarded-Proto', 'http']]],
  ])('%s is 204', async (_, query, lines) => {
    const target = asked(query.replace('SINK', encodeURIComponent(sink)));
    expect(await send(target, [token(), ...lines()])).toMatchObject({ status: 204 });
  });

  test('below the path is 200 with an empty body, because Envoy takes only that for a yes', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const answer = await send(`/v1/authorize/${host}/events`, [token(), origin, ['Host', 'a.example']], method);
      expect(answer).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
    }
  });

  test('is for a host in the list, which may have several', async () => {
    for (const hosts of [`a.example,${host}`, `${host},b.example:8443`, encodeURIComponent(`a.example,${host}`)]) {
      for (const lines of [[original()], forwarded()]) {
        const { status } = await send(`/v1/authorize?hosts=${hosts}`, [token(), origin, ...lines]);
        expect([hosts, status]).toEqual([hosts, 204]);
      }
    }
    // Without headers that a client could choose, none is needed.
    const query = new URLSearchParams({ origin: origin[1], sink });
    expect(await send(`/v1/authorize?${query.toString()}`, [token()])).toMatchObject({ status: 204 });
  });

  test('of another tenant is none', async () => {
    const claims = { tenant: 'provincie', subscriber: 'gateway', scopes: ['assent:deliver' as const], minutes: 60 };
    const foreign = `Bearer ${await createToken(claims, registry.env)}`;
    const answer = await send(asked(), [['Authorization', foreign], origin, original()]);
    expect(answer).toMatchObject({ status: 403, headers: { 'assent-denial': 'no_grant' } });
  });
});

describe('what leaves a doubt is refused', () => {
  const at = (path: string) => () => [origin, original(`https://${host}${path}`)] as Lines;
  test.each<[string, string, string, () => Lines]>([
    ['origin_missing', 'no origin', '', () => [original()]],
    ['header_repeated', 'two origins', '', () => [origin, ['WebHook-Request-Origin', 'other.example.com'], original()]],
    ['header_repeated', 'the same origin twice', '', () => [origin, origin, original()]],
    [
      'origin_not_ascii',
      'a list of origins',
      '',
      () => [['WebHook-Request-Origin', `${origin[1]}, ${origin[1]}`], original()],
    ],
    [
      'origin_malformed',
      'a list without a space',
      '',
      () => [['WebHook-Request-Origin', `${origin[1]},a.example`], original()],
    ],
    ['origin_wildcard', 'any origin', '', () => [['WebHook-Request-Origin', '*'], original()]],
    ['origin_empty', 'an empty origin', '', () => [['WebHook-Request-Origin', ''], original()]],
    ['sources_disagree', 'another origin in the query', '&origin=other.example.com', () => [origin, original()]],
    ['sink_missing', 'no sink', '', () => [origin]],
    ['sink_missing', 'only a scheme', '', () => [origin, ['X-Forwarded-Proto', 'https']]],
    ['sink_missing', 'no forwarded path', '', () => [origin, ...forwarded().slice(0, 2)]],
    ['sink_missing', 'no forwarded scheme', '', () => [origin, ...forwarded().slice(1)]],
    ['sink_missing', 'no forwarded host', '', () => [origin, forwarded()[0]!, forwarded()[2]!]],
    ['sink_missing', 'a forwarded host beside a whole URL', '', () => [origin, original(), forwarded()[1]!]],
    ['header_repeated', 'two URLs', '', () => [origin, original(), original()]],
    ['header_repeated', 'two forwarded hosts', '', () => [origin, ...forwarded(), forwarded()[1]!]],
    ['header_repeated', 'two forwarded schemes', '', () => [origin, original(), forwarded()[0]!, forwarded()[0]!]],
    [
      'sources_disagree',
      'headers that name two paths',
      '',
      () => [origin, original(), ...forwarded({ uri: '/other' })],
    ],
    [
      'sources_disagree',
      'headers that name two hosts',
      '',
      () => [origin, original(), ...forwarded({ host: 'a.example' })],
    ],
    ['sources_disagree', 'a query that names another sink', '&sink=https://a.example/', () => [origin, original()]],
    [
      'host_not_listed',
      'a host that the gateway does not list',
      '',
      () => [origin, original(registry.receiver.sink('/').replace('localhost', 'a.example.com'))],
    ],
    [
      'header_name_malformed',
      'an origin with underscores',
      '',
      () => [origin, ['WebHook_Request_Origin', origin[1]], original()],
    ],
    ['header_name_malformed', 'a URL with underscores', '', () => [origin, original(), ['X_Original_URL', sink]]],
    ['not_https', 'a delivery without TLS', '', () => [origin, ...forwarded({ proto: 'http' })]],
    ['not_https', 'a list of schemes', '', () => [origin, ...forwarded({ proto: 'https, http' })]],
    ['not_https', 'a URL without TLS', '', () => [origin, original(`http://${host}/events`)]],
    ['not_a_url', 'a path instead of a URL', '', () => [origin, original('/events')]],
    ['host_malformed', 'a host in capitals', '', () => [origin, ...forwarded({ host: host.toUpperCase() })]],
    ['host_malformed', 'a host with a path', '', () => [origin, ...forwarded({ host: `${host}/events?`, uri: '/x' })]],
    ['host_malformed', 'a host with a user', '', () => [origin, ...forwarded({ host: `a@${host}` })]],
    ['host_malformed', 'a list of hosts', '', () => [origin, ...forwarded({ host: `${host}, a.example` })]],
    ['host_malformed', 'an empty host', '', () => [origin, ...forwarded({ host: '' })]],
    ['not_canonical', 'a forwarded URL in place of a path', '', () => [origin, ...forwarded({ uri: `${sink}` })]],
    ['not_canonical', 'a path without its slash', '', () => [origin, ...forwarded({ uri: 'events' })]],
    ['not_canonical', 'an asterisk', '', () => [origin, ...forwarded({ uri: '*' })]],
    [
      'not_canonical',
      'a host in capitals in the URL',
      '',
      () => [origin, original(sink.replace('localhost', 'LocalHost'))],
    ],
    ['not_canonical', 'a query in place of the path', '', () => [origin, original(`https://${host}?x=/events`)]],
    ['dot_segment', 'dot segments', '', at('/x/../events')],
    ['dot_segment', 'encoded dot segments', '', at('/x/%2e%2e/events')],
    ['userinfo', 'a user', '', () => [origin, original(`https://a@${host}/events`)]],
    ['userinfo', 'a user that looks like the host', '', () => [origin, original(`https://${host}@a.example/events`)]],
    ['fragment', 'a fragment', '', at('/events#x')],
    ['no_grant', 'two slashes', '', at('//events')],
    ['no_grant', 'another query', '', at('/events?x=1')],
    ['no_grant', 'an empty query', '', at('/events?')],
    ['no_grant', 'a slash more', '', at('/events/')],
    ['no_grant', 'an encoded letter', '', at('/%65vents')],
    ['host_not_listed', 'another port', '', () => [origin, original('https://sink.example.com:8443/events')]],
    [
      'value_not_allowed',
      'a wish that is neither true nor false',
      '',
      () => [origin, original(), ['Assent-Lease', '1']],
    ],
  ])('%s: %s', async (denial, _, query, lines) => {
    const answer = await send(asked(query), [token(), ...lines()]);
    expect(answer).toMatchObject({ status: 403, headers: { 'assent-denial': denial } });
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'not_permitted', faults: [{ rule: denial }] });
  });

  test.each<[string, number, () => string, () => Lines]>([
    ['an empty query below', 403, () => `/${host}/events?`, () => []],
    [
      'a query below, which is that of the delivery',
      403,
      () => `/${host}/events?origin=a.example&hosts=${host}`,
      () => [],
    ],
    ['another host below', 403, () => '/a.example.com/events', () => [['Host', host]]],
    ['a path below that continues the host', 403, () => `/${host}.example.com/events`, () => []],
    ['two slashes below', 403, () => `/${host}//events`, () => []],
    ['a path below beside another URL', 403, () => `/${host}/other`, () => [original()]],
    [
      'two hosts',
      400,
      () => `/${host}/events`,
      () => [
        ['Host', host],
        ['Host', host],
      ],
    ],
    ['a URL without a list of hosts', 400, () => '', () => [original()]],
    ['a forwarded host without a list of hosts', 400, () => '', () => forwarded()],
    ['an empty list of hosts', 400, () => '?hosts=', () => [original()]],
    ['two lists of hosts', 400, () => `?hosts=${host}&hosts=${host}`, () => [original()]],
    ['a list of hosts in a header', 400, () => '', () => [original(), ['hosts', host]]],
    ['an unknown parameter', 400, () => `?hosts=${host}&url=SINK`, () => [original()]],
    ['a repeated parameter', 400, () => `?sink=a&sink=b`, () => []],
    ['a fragment', 404, () => `/${host}/events#x`, () => []],
    ['a longer name', 404, () => 'd', () => [original()]],
  ])('%s is %i', async (_, status, target, lines) => {
    const answer = await send(`/v1/authorize${target()}`, [token(), origin, ...lines()]);
    expect(answer.status).toBe(status);
  });
});

describe('the token', () => {
  const ask = (...tokens: Lines) => send(asked(), [...tokens, origin, original()]);
  test('may be in Assent-Authorization', async () => {
    expect(await ask(['Assent-Authorization', bearer])).toMatchObject({ status: 204 });
  });

  test.each<[string, number, () => Lines]>([
    ['no token', 401, () => []],
    ['the credential of the delivery', 401, () => [['Authorization', 'Basic YTpi']]],
    ['two tokens', 400, () => [token(), ['Assent-Authorization', bearer]]],
    [
      'a token beside the credential of the delivery',
      400,
      () => [
        ['Authorization', 'Basic YTpi'],
        ['Assent-Authorization', bearer],
      ],
    ],
    [
      'the same header twice',
      400,
      () => [
        ['Assent-Authorization', bearer],
        ['Assent-Authorization', bearer],
      ],
    ],
  ])('%s is %i, which no gateway takes for a yes', async (_, status, lines) => {
    expect((await ask(...lines())).status).toBe(status);
  });
});

test('a refusal without a body keeps its connection', async () => {
  const socket = connect(Number(new URL(registry.url).port), '127.0.0.1');
  socket.write('GET /v1/authorize HTTP/1.1\r\nHost: a\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(responseOf(answer.toString())).toMatchObject({ status: 401 });
  expect(answer.toString()).not.toMatch(/^connection: close/im);
  socket.destroy();
});

describe('a body', () => {
  /** A connection whose responses are read one by one. */
  function open(): { socket: Socket; write(text: string): void; next(): Promise<Response>; ended: Promise<unknown> } {
    const socket = connect(Number(new URL(registry.url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    socket.on('error', () => undefined);
    return {
      socket,
      ended: once(socket, 'close'),
      write: (part) => void socket.write(part),
      async next() {
        while (!text.includes('\r\n\r\n')) await once(socket, 'data');
        const [head = ''] = text.split('\r\n\r\n');
        text = text.slice(head.length + 4);
        return responseOf(head);
      },
    };
  }
  const head = (...more: Lines) =>
    [...[['Host', 'gateway'] as const, token(), origin, original()], ...more]
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  const post = (...more: Lines) => `POST ${asked()} HTTP/1.1\r\n${head(...more)}\r\n`;

  test('that arrives with its request is skipped, and the connection stays', async () => {
    const { socket, write, next } = open();
    for (let round = 0; round < 2; round += 1) {
      write(`${post(['Content-Length', '5'])}a b c`);
      expect((await next()).status).toBe(204);
    }
    write(post());
    expect((await next()).headers['connection']).not.toBe('close');
    socket.destroy();
  });

  test.each<[string, Lines[number], string]>([
    ['is missing', ['Content-Length', '5'], ''],
    ['is slow', ['Content-Length', '500000'], 'x'.repeat(50)],
    ['is large', ['Content-Length', '50000000'], 'x'.repeat(100_000)],
    ['has no length and no end', ['Transfer-Encoding', 'chunked'], '5\r\nabcde\r\n'],
  ])('that %s is not waited for, and what follows is never taken for a request', async (_, length, part) => {
    const { write, next, ended } = open();
    write(post(length) + part);
    const answer = await next();
    expect(answer).toMatchObject({ status: 204, headers: { connection: 'close' } });
    await ended;
  });
});

describe('the rate', () => {
  const ask = (url: string) => send(asked(), [token(), origin, original(url), ['Assent-Lease', 'true']]);
  const limited = async (path: string, rate: string) => {
    registry.receiver.consent(path, { rate });
    const url = registry.receiver.sink(path);
    await tenant.register(url);
    return url;
  };

  test('is enforced with 429 and Retry-After', async () => {
    const url = await limited('/limited', '1');
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url)));
    const refused = answers.filter(({ status }) => status === 429);
    expect([answers.filter(({ status }) => status === 204).length, refused.length]).toEqual([1, 19]);
    for (const { headers, body } of refused) {
      expect(headers).toMatchObject({
        'assent-denial': 'rate_used_up',
        'retry-after': expect.stringMatching(/^[1-9]\d*$/),
      });
      expect(JSON.parse(body)).toMatchObject({ code: 'rate_used_up', status: 429 });
    }
  });

  test('passes as many at once as the origin allows in a burst', async () => {
    const patch = (burst: number | null) =>
      tenant.admin
        .patch(`/v1/origins/${tenant.origin}`)
        .type('application/merge-patch+json')
        .send(JSON.stringify({ burst }))
        .expect(200);
    const passedOf = async (path: string) => {
      const url = await limited(path, '60');
      const answers = await Promise.all(Array.from({ length: 40 }, () => ask(url)));
      return answers.filter(({ status }) => status === 204).length;
    };
    const even = await passedOf('/even');
    await patch(20);
    const burst = await passedOf('/burst');
    await patch(null);
    // Two, or twenty, and what flows in meanwhile.
    expect(even).toBeGreaterThanOrEqual(2);
    expect(burst).toBeGreaterThanOrEqual(20);
    expect(even).toBeLessThan(burst);
  });

  test('is not counted without a wish for it, nor where it is unlimited', async () => {
    const pools = () => registry.sql<{ pair: string }>('select pair::text from lease_pool order by 1');
    const before = await pools();
    const url = await limited('/small', '1');
    for (let i = 0; i < 5; i += 1) {
      expect((await send(asked(), [token(), origin, original(url)])).status).toBe(204);
    }
    const free = await limited('/free', '*');
    for (let i = 0; i < 5; i += 1) expect((await ask(free)).headers['assent-allowed-rate']).toBe('*');
    expect(await pools()).toEqual(before);
  });

  test('that was leased shows in the metrics, like that of senders', async () => {
    await ask(sink);
    const text = await (await fetch(`${registry.operationsUrl}/metrics`)).text();
    expect(text).toMatch(/assent_leases_total\{outcome="granted"\} [1-9]/);
    expect(text).toMatch(
      /assent_http_request_duration_seconds_count\{operation="authorizeDelivery",status="204"\} [1-9]/,
    );
  });
});

test('a refusal has a line in the log like every refused request, and a yes has none', async () => {
  registry.logs.length = 0;
  await send(asked(), [token(), origin, original()]);
  await send('/v1/authorize/nothing', [token(), origin], 'PUT');
  const lines = registry.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  expect(lines).toMatchObject([
    { operation: 'authorizeDelivery', method: 'PUT', status: 403, code: 'not_permitted', subscriber: 'gateway' },
  ]);
});
