import { afterEach, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { runInNewContext } from 'node:vm';
import express, { type RequestHandler } from 'express';
import { createCounter } from '../../../src/kits/webhook/counter.js';
import {
  createWebhook,
  Gone,
  RetryLater,
  type CloudEvent,
  type WebhookSettings,
} from '../../../src/kits/webhook/index.js';
import { parseData } from '../../../src/kits/webhook/parse-data.js';
import { createSigner } from '../../support/signer.js';
import { event, origin, serve, structured, type Reply, type Served } from './serve.js';

const running: Served[] = [];
async function start(...settings: Parameters<typeof serve>): Promise<Served> {
  const served = await serve(...settings);
  running.push(served);
  return served;
}
afterEach(async () => {
  for (const served of running.splice(0)) await served.stop();
});

const granted = ({ rawHeaders }: Reply) =>
  Object.fromEntries(
    rawHeaders.flatMap((name, at) => (at % 2 === 0 && /^webhook-/i.test(name) ? [[name, rawHeaders[at + 1]]] : [])),
  );
const consent = (name: string, rate: string) => ({ 'WebHook-Allowed-Origin': name, 'WebHook-Allowed-Rate': rate });
const from = (name: string | string[]) => ({ 'WebHook-Request-Origin': name });

describe('the handshake', () => {
  const byFunction = async (name: string) =>
    ({ [origin]: 7 as const, 'yes.example.com': true, 'no.example.com': false })[name] ?? 'later';
  const shared = { rate: '*' as const };
  test.each<[string, Partial<WebhookSettings>, string | string[], Record<string, string>]>([
    ['a name with a rate gets that rate', { origins: { [origin]: 100 } }, origin, consent(origin, '100')],
    [
      'upper case is the same name',
      { origins: { [origin.toUpperCase()]: 1 } },
      'EventEmitter.Example.com',
      consent('EventEmitter.Example.com', '1'),
    ],
    ['a list shares a rate', { origins: ['a.example.com', origin], ...shared }, origin, consent(origin, '*')],
    ['the rate can be a function', { origins: [origin], rate: (name) => name.length }, origin, consent(origin, '24')],
    ['an asterisk allows every origin', { origins: '*', rate: 5 }, 'any.example.org', consent('*', '5')],
    ['a name stands before the asterisk', { origins: { '*': 5, [origin]: 50 } }, origin, consent(origin, '50')],
    ['a function returns the rate', { origins: byFunction, ...shared }, origin, consent(origin, '7')],
    [
      'a function returns true for the shared rate',
      { origins: byFunction, ...shared },
      'yes.example.com',
      consent('yes.example.com', '*'),
    ],
    ['a function returns false', { origins: byFunction, ...shared }, 'no.example.com', {}],
    ['a function decides later', { origins: byFunction, ...shared }, 'new.example.com', {}],
    ['another name gets nothing', {}, 'other.example.com', {}],
    ['a longer name gets nothing', {}, `${origin}.attacker.example`, {}],
    ['a name in front gets nothing', {}, `x${origin}`, {}],
    ['a parent gets nothing', {}, 'example.com', {}],
    ['a URL gets nothing', { origins: '*', rate: 5 }, `https://${origin}`, {}],
    ['an asterisk that asks gets nothing', { origins: '*', rate: 5 }, '*', {}],
    ['nothing gets nothing', { origins: '*', rate: 5 }, '', {}],
    ['a member of every object gets nothing', {}, 'constructor', {}],
  ])('%s', async (_title, settings, name, expected) => {
    const { ask, faults } = await start(settings);
    for (const more of [
      {},
      { 'WebHook-Request-Rate': '120' },
      { 'WebHook-Request-Callback': 'https://callback.example/' },
    ]) {
      const reply = await ask('OPTIONS', { ...from(name), ...more });
      expect(reply).toMatchObject({
        status: 200,
        body: '',
        headers: { allow: 'POST, OPTIONS', 'content-length': '0' },
      });
      expect(granted(reply)).toEqual(expected);
    }
    expect(faults).toEqual([]);
  });

  test('needs no access token', async () => {
    const { ask } = await start({ authenticate: 'secret' });
    expect(granted(await ask('OPTIONS', from(origin)))).toEqual(consent(origin, '120'));
  });

  test.each<[string, WebhookSettings['origins']]>([
    ['fails', () => Promise.reject(new Error('The table is locked.'))],
    ['returns no decision', (() => '120') as never],
    ['returns a rate of zero', () => 0],
    ['returns true without a rate', () => true],
  ])('a function that %s is no consent, and the fault is reported', async (_title, origins) => {
    const { ask, faults } = await start({ origins });
    const reply = await ask('OPTIONS', from(origin));
    expect(reply.status).toBe(500);
    expect(granted(reply)).toEqual({});
    expect(reply.body).not.toContain('locked');
    expect(faults).toHaveLength(1);
  });

  test('OPTIONS without an origin is no handshake: it returns the methods', async () => {
    const { ask } = await start({ origins: '*', rate: '*' });
    for (const headers of [{}, { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' }]) {
      const reply = await ask('OPTIONS', headers);
      expect(reply).toMatchObject({ status: 200, headers: { allow: 'POST, OPTIONS' } });
      expect(granted(reply)).toEqual({});
    }
  });
});

describe('in Express', () => {
  const layer: RequestHandler = (request, response, next) => {
    if (request.method !== 'OPTIONS') return next();
    response.set('Access-Control-Allow-Origin', '*').sendStatus(204);
  };
  const mounted = (...before: RequestHandler[]) =>
    start({}, (webhook) =>
      express()
        .use(...before, (_request, _response, next) => next())
        .all('/events', webhook.node)
        .use(layer),
    );

  test('a CORS preflight reaches the CORS layer behind it, and the handshake does not', async () => {
    const { ask } = await mounted();
    const preflight = await ask('OPTIONS', { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' });
    expect(preflight).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': '*' } });
    expect(granted(preflight)).toEqual({});
    const handshake = await ask('OPTIONS', from(origin));
    expect(granted(handshake)).toEqual(consent(origin, '120'));
    expect(handshake.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('a body that a parser has read is a fault that says how to mount the webhook', async () => {
    const { deliver, faults, received } = await mounted(express.json({ type: '*/*' }));
    const reply = await deliver();
    expect(reply.status).toBe(500);
    expect(JSON.parse(reply.body).detail).toContain('Mount the webhook before every body parser');
    expect(faults).toMatchObject([{ name: 'BodyTakenError' }]);
    expect(received).toEqual([]);
  });

  const keep: NonNullable<Parameters<typeof express.json>[0]>['verify'] = (request, _response, body) =>
    void Object.assign(request, { rawBody: body });
  test.each<[string, RequestHandler]>([
    ['express.raw()', express.raw({ type: '*/*' })],
    ['express.json() with `verify`', express.json({ type: '*/*', verify: keep })],
  ])('a parser that leaves the bytes is welcome: %s', async (_title, parser) => {
    const { deliver, received } = await mounted(parser);
    const body = ` ${JSON.stringify(event)}\n`;
    expect((await deliver({}, body)).status).toBe(204);
    expect(received).toMatchObject([{ events: [event] }]);
    expect(received[0]!.delivery.rawBody).toEqual(new TextEncoder().encode(body));
  });
});

test('a fetch handler gives the application the body as it was received', async () => {
  const bodies: Uint8Array[] = [];
  const { fetch } = createWebhook({
    origins: { [origin]: 1 },
    receive: (_events, { rawBody }) => void bodies.push(rawBody),
  });
  const body = ` ${JSON.stringify([event, event])}\n`;
  const headers = { ...from(origin), 'Content-Type': 'application/cloudevents-batch+json' };
  const request = new Request('https://webhook.example/', { method: 'POST', headers, body });
  expect((await fetch(request)).status).toBe(204);
  expect(bodies).toEqual([new TextEncoder().encode(body)]);
});

describe('a header that comes twice is named, not taken for a wrong value', () => {
  test.each<[string, string, Record<string, string | string[]>, string]>([
    ['an origin of OPTIONS', 'OPTIONS', from([origin, origin]), 'WebHook-Request-Origin came more than once'],
    [
      'an origin of POST',
      'POST',
      { ...from([origin, origin]), Authorization: 'Bearer a' },
      'WebHook-Request-Origin came more than once',
    ],
    ['two origins', 'OPTIONS', from([origin, 'b.example.com']), 'WebHook-Request-Origin came more than once'],
    ['an origin that a proxy joined', 'OPTIONS', from(`${origin},${origin}`), 'WebHook-Request-Origin came more than'],
    [
      'a token',
      'POST',
      { ...from(origin), Authorization: ['Bearer a', 'Bearer a'] },
      'The request has more than one access token.',
    ],
    [
      'a Content-Type',
      'POST',
      { ...from(origin), Authorization: 'Bearer a', 'Content-Type': [structured, structured] },
      'There is more than one Content-Type.',
    ],
  ])('%s', async (_title, method, headers, detail) => {
    // Node's `headers` hides some of it, and Headers of fetch joins it.
    const { ask, webhook } = await start({ authenticate: 'a' });
    const lines = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((line) => [name, line]));
    const init = { method, headers: lines as Array<[string, string]>, ...(method === 'POST' && { body: '{}' }) };
    const fetched = await webhook.fetch(new Request('https://webhook.example/', init));
    // What runs an application in Lambda gives it `headers` alone.
    const inLambda = await start({ authenticate: 'a' }, ({ node }) => (request, response) => {
      const { headersDistinct } = request;
      return node(Object.assign(request, { headers: headersDistinct, rawHeaders: [] }), response);
    });
    const replies = [
      await ask(method, headers),
      await inLambda.ask(method, headers),
      { status: fetched.status, body: await fetched.text() },
    ];
    for (const { status, body } of replies) {
      expect(JSON.parse(body)).toMatchObject({ status: 400, detail: expect.stringContaining(detail) });
      expect(status).toBe(400);
    }
    expect(fetched.headers.has('WebHook-Allowed-Origin')).toBe(false);
  });
});

describe('an integer that a number cannot hold', () => {
  const large = '12345678901234567890';
  const data = `{"a":[1,-${large},{"b":${large}.0}],"c":9007199254740991,"d":1.5,"e":"${large}","f":true,"__proto__":0}`;
  const json = `{"specversion":"1.0","id":"1","source":"s","type":"t","data":${data}}`;
  const binary = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 's', 'ce-type': 't' };
  const messages: Array<[string, Record<string, string>, string, string]> = [
    ['structured', {}, json, '/data'],
    ['in a batch', { 'Content-Type': 'application/cloudevents-batch+json' }, `[${json},${json}]`, '/0/data'],
    ['binary', { ...binary, 'Content-Type': 'application/json' }, data, ''],
  ];

  test.each(messages)('reaches the application exactly: %s', async (_title, headers, body) => {
    for (const [largeIntegers, convert] of [
      [undefined, BigInt],
      ['bigint', BigInt],
      ['string', String],
    ] as const) {
      const { deliver, received } = await start({ largeIntegers });
      expect((await deliver(headers, body)).status).toBe(204);
      const [a, b] = [convert(`-${large}`), convert(large)];
      const read = Object.assign(JSON.parse(data), { a: [1, a, { b }] });
      for (const each of received[0]!.events) expect(each.data).toEqual(read);
    }
  });

  test.each(messages)('can be refused, by its place: %s', async (_title, headers, body, at) => {
    const { deliver, received } = await start({ largeIntegers: 'refuse' });
    const reply = await deliver(headers, body);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.body).faults.slice(0, 2)).toMatchObject([
      { pointer: `${at}/a/1`, rule: 'value_out_of_range' },
      { pointer: `${at}/a/2/b`, rule: 'value_out_of_range' },
    ]);
    expect(received).toEqual([]);
  });

  test.each(['1e400', '-1e400', '9'.repeat(1_001)])('is refused if nothing holds it: %s', async (number) => {
    const { deliver } = await start();
    expect((await deliver({}, json.replace(data, number))).status).toBe(400);
    const base64 = Buffer.from(number).toString('base64');
    const inBase64 = json.replace(`"data":${data}`, `"datacontenttype":"application/json","data_base64":"${base64}"`);
    const reply = await deliver({}, inBase64);
    expect(JSON.parse(reply.body).faults).toMatchObject([{ pointer: '/data_base64', rule: 'value_out_of_range' }]);
  });

  test('changes nothing else of the JSON beside it', () => {
    for (const text of [
      ' { "a" : [ ] , "b" : { } , "c" : [ 1 , [ 2 , { } ] , -0 , 1e3 , 0.1 ] , "a" : null } ',
      '{"\\u0041\\"\\n€😀":"\\ud83d\\ude00 \\\\","b":[true,false,null,"",-1.5e-7],"__proto__":{"x":1}}',
    ]) {
      const [kept, parsed] = [parseData(`[${large},${text}]`, 'string'), JSON.parse(`[${text}]`)];
      expect(kept).toEqual({ value: [large, ...parsed] });
      expect(Object.hasOwn(((kept as { value: object[] }).value[1] as object) ?? {}, '__proto__')).toBe(
        text.includes('__proto__'),
      );
    }
  });
});

describe('an event', () => {
  const attributes = {
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': 'urn:example:a',
    'ce-type': 'com.example.made',
  };
  const binary = (type: string) => ({ ...attributes, 'Content-Type': type });
  const made = (more: object = {}) => ({ ...event, ...more });
  const bytes = Uint8Array.of(0, 255);

  test.each<[string, Record<string, string>, string | Uint8Array, object[]]>([
    ['structured', {}, JSON.stringify(made({ data: { a: 'é' } })), [made({ data: { a: 'é' } })]],
    [
      'structured, with a null and a byte order mark',
      {},
      `\ufeff${JSON.stringify(made({ data: null }))}`,
      [made({ data: null })],
    ],
    [
      'structured, with text',
      {},
      JSON.stringify(made({ datacontenttype: 'text/xml', data: '<a/>' })),
      [made({ datacontenttype: 'text/xml', data: '<a/>' })],
    ],
    ['structured, with bytes', {}, JSON.stringify(made({ data_base64: 'AP8=' })), [made({ data: bytes })]],
    [
      'structured, with JSON in Base64',
      {},
      JSON.stringify(made({ datacontenttype: 'application/json', data_base64: 'WzFd' })),
      [made({ datacontenttype: 'application/json', data: [1] })],
    ],
    [
      'a batch',
      { 'Content-Type': 'application/cloudevents-batch+json' },
      JSON.stringify([made({ data: 1 }), made({ id: '2', a1: true })]),
      [made({ data: 1 }), made({ id: '2', a1: true })],
    ],
    ['an empty batch', { 'Content-Type': 'application/cloudevents-batch+json' }, '[]', []],
    [
      'binary JSON',
      binary('application/json'),
      '{"a":"é"}',
      [made({ datacontenttype: 'application/json', data: { a: 'é' } })],
    ],
    [
      'binary text',
      binary('text/plain; charset=iso-8859-1'),
      Uint8Array.of(0xe9),
      [made({ datacontenttype: 'text/plain; charset=iso-8859-1', data: 'é' })],
    ],
    ['binary bytes', binary('image/png'), bytes, [made({ datacontenttype: 'image/png', data: bytes })]],
    [
      'binary, with a subject and without data',
      { ...attributes, 'ce-subject': '%C3%A9', 'Content-Type': 'application/json' },
      '',
      [made({ subject: 'é', datacontenttype: 'application/json' })],
    ],
  ])('%s reaches the application as one plain object', async (_title, headers, body, expected) => {
    const { deliver, received } = await start();
    const sent = typeof body === 'string' ? Buffer.from(body) : body;
    expect(await deliver(headers, sent)).toMatchObject({ status: 204, body: '' });
    expect(received).toEqual([
      {
        events: expected,
        delivery: {
          origin,
          headers: expect.objectContaining({ host: expect.any(String) }),
          rawBody: new Uint8Array(sent),
        },
      },
    ]);
  });

  test.each<[string, number, Record<string, string>, string | Uint8Array, object | undefined]>([
    [
      'with a wrong time in a batch',
      400,
      { 'Content-Type': 'application/cloudevents-batch+json' },
      JSON.stringify([event, { ...event, time: 'now' }]),
      { pointer: '/1/time', rule: 'cloudevents.time' },
    ],
    ['whose data is not JSON', 400, binary('application/json'), '{', { pointer: '', rule: 'not_json' }],
    [
      'with a wrong source in a header',
      400,
      { ...binary('application/json'), 'ce-source': '%' },
      '{}',
      { pointer: 'header/ce-source', rule: 'cloudevents.header_encoding' },
    ],
    [
      'in a format that is not read',
      415,
      { 'Content-Type': 'application/cloudevents+xml' },
      '<a/>',
      { pointer: 'header/content-type', rule: 'format_not_supported' },
    ],
    [
      'that is none',
      415,
      { 'Content-Type': 'application/json' },
      '{}',
      { pointer: 'header/content-type', rule: 'not_an_event' },
    ],
    ['that is compressed', 415, { 'Content-Encoding': 'gzip' }, '', undefined],
    ['that is too large', 413, {}, 'x'.repeat(2_000), undefined],
    ['that is too large and comes in chunks', 413, { 'Transfer-Encoding': 'chunked' }, 'x'.repeat(2_000), undefined],
    [
      'of a batch with too many',
      413,
      { 'Content-Type': 'application/cloudevents-batch+json' },
      JSON.stringify([event, event, event]),
      { pointer: '', rule: 'too_many_events' },
    ],
  ])('%s is a problem that names the place and the rule', async (_title, status, headers, body, fault) => {
    const { deliver, received, faults } = await start({ limits: { bytes: 1_000, events: 2 } });
    const reply = await deliver(headers, body);
    expect(reply).toMatchObject({ status, headers: { 'content-type': 'application/problem+json' } });
    const problem = JSON.parse(reply.body);
    expect(problem).toMatchObject({
      type: 'about:blank',
      status,
      title: expect.any(String),
      detail: expect.any(String),
    });
    expect(problem.faults?.[0]).toEqual(fault && { ...fault, detail: expect.any(String) });
    expect([received, faults]).toEqual([[], []]);
  });

  test.each([[undefined], [''], ['other.example.com'], [`${origin}.attacker.example`]])(
    'of the origin %p is refused',
    async (name) => {
      const { ask, received } = await start();
      const reply = await ask(
        'POST',
        { 'Content-Type': structured, ...(name === undefined ? {} : from(name)) },
        JSON.stringify(event),
      );
      expect(reply.status).toBe(403);
      expect(received).toEqual([]);
    },
  );

  test('of an origin that is not decided is refused', async () => {
    const { deliver, received } = await start({ origins: () => 'later' });
    expect((await deliver()).status).toBe(403);
    expect(received).toEqual([]);
  });

  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('cannot come with %s', async (method) => {
    const { ask } = await start();
    expect(await ask(method, from(origin))).toMatchObject({ status: 405, headers: { allow: 'POST, OPTIONS' } });
  });
});

describe('the response to an event', () => {
  test.each<[string, WebhookSettings['receive'], number, object, string]>([
    ['nothing', () => undefined, 204, {}, ''],
    ['what another function returned', (() => new Response('{}')) as never, 204, {}, ''],
    ['accepted', async () => ({ status: 202 }), 202, { 'content-length': '0' }, ''],
    [
      'content',
      () => ({ type: 'text/plain', body: 'é' }),
      200,
      { 'content-type': 'text/plain', 'content-length': '2' },
      'é',
    ],
    [
      'something created',
      () => ({ status: 201, type: 'application/json', body: Buffer.from('{}') }),
      201,
      { 'content-type': 'application/json' },
      '{}',
    ],
  ])('is %s', async (_title, receive, status, headers, body) => {
    const { deliver } = await start({ receive });
    expect(await deliver()).toMatchObject({ status, headers, body });
  });

  test.each<[string, Error, number, object, number]>([
    ['later', new RetryLater(29.5), 503, { 'retry-after': '30' }, 0],
    ['never again', new Gone(), 410, {}, 0],
    ['a failure', new Error('postgres://secret'), 500, {}, 1],
  ])('is %s if the application throws that', async (_title, error, status, headers, count) => {
    const { deliver, faults } = await start({ receive: () => Promise.reject(error) });
    const reply = await deliver();
    expect(reply).toMatchObject({ status, headers });
    expect(reply.body).not.toContain('secret');
    expect(faults).toEqual(count === 0 ? [] : [error]);
  });
});

describe('the access token', () => {
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  async function statusOf(settings: Partial<WebhookSettings>, headers: Record<string, string>, query = '') {
    const { url, deliver } = await start(settings);
    if (query === '') return deliver(headers);
    const sent = { 'Content-Type': structured, ...from(origin), ...headers } as Record<string, string>;
    const response = await fetch(url + query, { method: 'POST', headers: sent, body: JSON.stringify(event) });
    return { status: response.status, headers: Object.fromEntries(response.headers) };
  }

  test.each<[string, Partial<WebhookSettings>, Record<string, string>, string, number, object]>([
    ['in the header', { authenticate: 'a-token' }, bearer('a-token'), '', 204, {}],
    [
      'in the header, with a scheme in lower case',
      { authenticate: 'a-token' },
      { Authorization: 'bearer a-token' },
      '',
      204,
      {},
    ],
    ['one of several', { authenticate: ['old', 'new'] }, bearer('new'), '', 204, {}],
    ['in the query', { authenticate: 'a+b' }, {}, '?x=1&access_token=a%2Bb', 204, { 'cache-control': 'private' }],
    [
      'that a function accepts',
      { authenticate: async (token, delivery) => `${token} ${delivery.origin}` === `t ${origin}` },
      bearer('t'),
      '',
      204,
      {},
    ],
    [
      'that a function refuses',
      { authenticate: () => false },
      bearer('t'),
      '',
      401,
      { 'www-authenticate': 'Bearer realm="webhook", error="invalid_token"' },
    ],
    ['missing', { authenticate: 'a-token' }, {}, '', 401, { 'www-authenticate': 'Bearer realm="webhook"' }],
    [
      'wrong',
      { authenticate: 'a-token' },
      bearer('a-toke'),
      '',
      401,
      { 'www-authenticate': 'Bearer realm="webhook", error="invalid_token"' },
    ],
    ['of another scheme', { authenticate: 'a-token' }, { Authorization: 'Basic a-token' }, '', 401, {}],
    [
      'in the header and in the query',
      { authenticate: 'a-token' },
      bearer('a-token'),
      '?access_token=a-token',
      400,
      {},
    ],
    ['twice in the query', { authenticate: 'a-token' }, {}, '?access_token=a-token&access_token=a-token', 400, {}],
    [
      'in the query, with the profile nl-gov',
      { authenticate: 'a-token', profile: 'nl-gov' },
      {},
      '?access_token=a-token',
      401,
      {},
    ],
    [
      'in the header, with the profile nl-gov',
      { authenticate: 'a-token', profile: 'nl-gov' },
      bearer('a-token'),
      '',
      204,
      {},
    ],
  ])('%s', async (_title, settings, headers, query, status, answered) => {
    expect(await statusOf(settings, headers, query)).toMatchObject({ status, headers: answered });
  });
});

describe('the rate', () => {
  test('is enforced for each origin, with the time when it can send again', async () => {
    const { deliver } = await start({ origins: { [origin]: 3, 'other.example.com': 1 } });
    for (let sent = 0; sent < 3; sent += 1) expect((await deliver()).status).toBe(204);
    const refused = await deliver();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect((await deliver(from('other.example.com'))).status).toBe(204);
  });

  test('does not count what has no token, or no consent', async () => {
    const { deliver } = await start({ origins: { [origin]: 1 }, authenticate: 'a-token' });
    expect((await deliver()).status).toBe(401);
    expect((await deliver({ Authorization: 'Bearer a-token' })).status).toBe(204);
  });

  test('is counted by a counter that processes share', async () => {
    const taken: unknown[] = [];
    const counter = { take: async (...of: unknown[]) => (taken.push(of), taken.length > 1 ? 7.2 : 0) };
    const { deliver } = await start({ counter });
    expect((await deliver()).status).toBe(204);
    expect(await deliver()).toMatchObject({ status: 429, headers: { 'retry-after': '8' } });
    expect(taken).toEqual([
      [origin, 120],
      [origin, 120],
    ]);
  });

  test('holds in any 60 seconds up to the second, and Retry-After is when the next request is accepted', () => {
    let seconds = 1_000.25;
    const counter = createCounter(() => seconds * 1_000);
    const accepted: number[] = [];
    for (let round = 0; round < 2_000; round += 1) {
      const wait = counter.take(origin, 30) as number;
      if (wait === 0) accepted.push(seconds);
      else {
        seconds += wait;
        expect(counter.take(origin, 30)).toBe(0);
        accepted.push(seconds);
      }
      seconds += ((round * 7) % 13) / 10;
    }
    for (const [place, at] of accepted.entries()) {
      const within = accepted.filter((other, index) => index >= place && other < at + 59).length;
      expect(within).toBeLessThanOrEqual(30);
    }
  });

  test('never refuses a sender that sends no more than the rate in any 60 seconds', () => {
    let seconds = 5.9;
    const counter = createCounter(() => seconds * 1_000);
    const sent: number[] = [];
    for (let burst = 0; burst < 50; burst += 1) {
      // The oldest of the last thirty is 60 seconds old, to the millisecond.
      seconds = Math.max(seconds + (burst % 3) * 0.37, (sent.at(-30) ?? -Infinity) + 60.001);
      for (let each = 0; each < 30 && (sent.at(-30) ?? -Infinity) + 60 < seconds; each += 1) {
        expect(counter.take(origin, 30)).toBe(0);
        sent.push(seconds);
      }
    }
  });

  test('of ten thousand names that others made up leaves a sender its own rate', () => {
    const counter = createCounter(() => 1_000);
    const flood = (from: number) => {
      for (let name = from; name < from + 10_000; name += 1) void counter.take(`o${name}.example.com`, 1);
    };
    flood(0);
    expect(counter.take(origin, 1)).toBe(0);
    expect(counter.take(origin, 1)).toBeGreaterThan(0);
    // It is forgotten with the names: the memory is bounded.
    flood(10_000);
    expect(counter.take(origin, 1)).toBe(0);
  });
});

describe('a wrong setting is an error that names it', () => {
  const receive = () => undefined;
  test.each<[string, unknown, RegExp]>([
    ['no origins', { receive }, /`origins` is an object/],
    ['empty origins', { receive, origins: {} }, /`origins` is empty/],
    ['an empty list', { receive, origins: [], rate: 1 }, /`origins` is empty/],
    [
      'a URL as a name',
      { receive, origins: { 'https://a.example.com': 1 } },
      /"https:\/\/a.example.com".*without "https:\/\/"/,
    ],
    ['a pattern as a name', { receive, origins: ['*.example.com'], rate: 1 }, /without an asterisk/],
    ['a list without a rate', { receive, origins: [origin] }, /needs `rate`/],
    ['the asterisk without a rate', { receive, origins: '*' }, /needs `rate`/],
    ['two kinds of rates', { receive, origins: { [origin]: 1 }, rate: 1 }, /leave out `rate`/],
    ['a rate as text', { receive, origins: { [origin]: '120' } }, /positive integer.*"120"/],
    ['a rate of zero', { receive, origins: { [origin]: 0 } }, /positive integer.*not 0/],
    ['a fraction', { receive, origins: [origin], rate: 0.5 }, /positive integer.*not 0.5/],
    ['no rate', { receive, origins: { [origin]: undefined } }, /positive integer/],
    ['no receive', { origins: { [origin]: 1 } }, /`receive`/],
    ['an empty token', { receive, origins: { [origin]: 1 }, authenticate: '' }, /`authenticate`/],
    ['no tokens', { receive, origins: { [origin]: 1 }, authenticate: [] }, /`authenticate`/],
    [
      'a token from a variable that is not set',
      { receive, origins: { [origin]: 1 }, authenticate: undefined },
      /`authenticate` is undefined/,
    ],
    ['a misspelt setting', { receive, origins: { [origin]: 1 }, authentication: 'a' }, /`authentication`/],
    ['a misspelt host', { receive, origins: { [origin]: 1 }, callbacks: { host: 'a' } }, /`callbacks.host`/],
    ['an unknown choice', { receive, origins: { [origin]: 1 }, largeIntegers: 'number' }, /`largeIntegers`/],
    ['an unknown profile', { receive, origins: { [origin]: 1 }, profile: 'nl' }, /`profile`/],
    ['a limit of zero', { receive, origins: { [origin]: 1 }, limits: { bytes: 0 } }, /`limits.bytes`/],
    [
      'a URL as a host',
      { receive, origins: { [origin]: 1 }, callbacks: { hosts: ['https://a.example'] } },
      /`callbacks.hosts`/,
    ],
    [
      'a network without a prefix',
      { receive, origins: { [origin]: 1 }, callbacks: { networks: ['10.0.0.0'] } },
      /`callbacks.networks`/,
    ],
    [
      'no lifetime',
      { receive, origins: { [origin]: 1 }, callbacks: { lifetimeSeconds: 0 } },
      /`callbacks.lifetimeSeconds`/,
    ],
  ])('%s', (_title, settings, message) => {
    expect(() => createWebhook(settings as WebhookSettings)).toThrow(message);
  });
});

describe('the bundle', () => {
  /** As a bundler makes it for such a runtime: what the entry imports that is not of the project, and the code. */
  function bundle(entry: string): { imports: string[]; code: string } {
    const options = ['--bundle', '--minify', '--format=esm', '--external:node:*', '--platform=neutral'];
    const code = execFileSync('node_modules/.bin/esbuild', [`dist/kits/webhook/${entry}.js`, ...options], {
      encoding: 'utf8',
    });
    return { imports: [...code.matchAll(/(?:from|import)\(?"([^"]+)"/g)].map(([, name = '']) => name).sort(), code };
  }

  test('for Node needs nothing but what calls callback URLs and reads keys, and has at most 78 kB', () => {
    const { imports, code } = bundle('index');
    expect(imports).toEqual(['node:dns', 'node:http', 'node:https', 'node:zlib']);
    expect(code.length).toBeLessThanOrEqual(78_000);
  });

  test('for edge runtimes needs nothing but web standards, and does nothing outside of requests', async () => {
    const { imports, code } = bundle('web');
    expect(imports).toEqual([]);
    const refuse = (what: string) => () => {
      throw new Error(`${what} outside of a request`);
    };
    const refused = ['setTimeout', 'setInterval', 'queueMicrotask', 'fetch', 'AbortController'];
    const { subtle } = crypto;
    const runtime: Record<string, unknown> = {
      ...{ TextDecoder, TextEncoder, URL, URLSearchParams, Request, Response, performance, atob, btoa, console },
      ...Object.fromEntries(refused.map((name) => [name, refuse(name)])),
      // Next has each function of it, as one that throws.
      process: { env: {}, getBuiltinModule: refuse('a function of process') },
      crypto: { subtle: { digest: refuse('digest') }, getRandomValues: refuse('a random value') },
    };
    const toGlobal = code.replace(/export\{(.*)\};?\s*$/, (_, names: string) => {
      return `globalThis.kit={${names.replaceAll(/([\w$]+) as (\w+)/g, '$2:$1')}};`;
    });
    void runInNewContext(`Math.random=()=>{throw new Error('random')};${toGlobal}`, runtime);
    const received: CloudEvent[] = [];
    const webhook = (runtime['kit'] as { createWebhook: typeof createWebhook }).createWebhook({
      origins: { [origin]: 9 },
      authenticate: 'a',
      receive: (events) => void received.push(...events),
    });
    const signer = await createSigner();
    const url = 'https://a.example/';
    const verifying = (runtime['kit'] as { createWebhook: typeof createWebhook }).createWebhook({
      origins: { [origin]: 9 },
      receive: () => undefined,
      verify: { url, keys: { keys: [signer.public] } },
    });
    runtime['crypto'] = { subtle };
    for (const [headers, status] of [
      [from(origin), 401],
      [await signer.sign({ method: 'OPTIONS', url, headers: from(origin) as Record<string, string> }), 200],
    ] as const) {
      expect((await verifying.fetch(new Request(url, { method: 'OPTIONS', headers: headers as never }))).status).toBe(
        status,
      );
    }

    const ask = (method: string, headers: Record<string, string> = {}, body?: string | Uint8Array<ArrayBuffer>) =>
      webhook.fetch(
        new Request('https://a.example/', { method, headers: { ...from(origin), ...headers }, body: body ?? null }),
      );
    expect((await ask('OPTIONS')).headers.get('WebHook-Allowed-Rate')).toBe('9');
    expect((await ask('POST', { Authorization: 'Bearer b' })).status).toBe(401);
    const deliver = async (type: string, body: string | Uint8Array<ArrayBuffer>, more: Record<string, string> = {}) =>
      (await ask('POST', { 'Content-Type': type, Authorization: 'Bearer a', ...more }, body)).status;
    const made = (more: object) => JSON.stringify({ ...event, ...more });
    const binary = { 'ce-specversion': '1.0', 'ce-id': '4', 'ce-source': 's', 'ce-type': 't' };
    expect([
      await deliver(structured, made({ id: 'é', data: { a: '😀\n' } })),
      await deliver(structured, made({ id: '2', data_base64: 'AP8=' })),
      await deliver(structured, made({ id: '3', data: 12345678901234567000 }).replace('567000', '567891')),
      await deliver('text/plain; charset=iso-8859-1', Uint8Array.of(0xe9), binary),
      await deliver(structured, Uint8Array.of(0x22, 0xff, 0x22)),
      await deliver(structured, made({ data_base64: 'AP9' })),
    ]).toEqual([204, 204, 204, 204, 400, 400]);
    const data = received.map((each) => (ArrayBuffer.isView(each.data) ? [...(each.data as Uint8Array)] : each.data));
    expect(data).toEqual([{ a: '😀\n' }, [0, 255], 12345678901234567891n, 'é']);
    expect(received[0]!.id).toBe('é');
  });
});
