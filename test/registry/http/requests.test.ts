import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request as send } from 'node:http';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { loadContract } from '../../../src/base/contract/contract.js';
import { scopes } from '../../../src/base/contract/principal.js';
import { startRegistry, type Registry } from '../../support/registry.js';

/** Forms of requests. The fast path handles exactly its paths; everything else goes through Express. */
const origin = 'eventemitter.example.com';
let registry: Registry;
let sinks: { live: string; revoked: string; held: string; unknown: string };
let tokens: Record<string, string>;

beforeAll(async () => {
  registry = await startRegistry({ withoutPublicUrl: true });
  const admin = await registry.as('assent:admin');
  await admin.post('/v1/origins').send({ name: origin, isdefault: true, profile: 'nl-gov' }).expect(201);
  const make = async (name: string, members: object = {}) => {
    const sink = `https://${name}.example.com/events?a=b&c=%20`;
    const expiresat = new Date(Date.now() + 86_400_000).toISOString();
    const grant = { origin, sink, allowedrate: 120, agreement: 'agreed', expiresat, ...members };
    const { body } = await admin.post('/v1/grants').send(grant).expect(201);
    return { sink, id: body.id as string };
  };
  const [live, revoked, held] = [await make('live', { allowedrate: '*' }), await make('revoked'), await make('held')];
  await admin.post(`/v1/grants/${revoked.id}/revoke`).send({ reason: 'over' }).expect(200);
  await registry.sql(`update "grant" set helduntil = now() + interval '1 hour' where id = $1::uuid`, held.id);
  await registry.sql(
    `select append_changes(array['gemeente'], array[$1], array['grant.held'], array[$2], array[null::uuid])::text`,
    origin,
    held.sink,
  );
  await registry.service.follow();
  sinks = { live: live.sink, revoked: revoked.sink, held: held.sink, unknown: 'https://nobody.example.com/' };
  const token = (scope: 'assent:deliver' | 'assent:subscribe' | 'assent:admin', tenant = 'gemeente') =>
    createToken({ tenant, subscriber: 'mailroom', scopes: [scope], minutes: 60 }, registry.env);
  tokens = {
    deliver: await token('assent:deliver'),
    admin: await token('assent:admin'),
    subscribe: await token('assent:subscribe'),
    stranger: await token('assent:deliver', 'waterschap'),
    forged: `${(await token('assent:deliver')).slice(0, -3)}abc`,
    none: '',
    all: await createToken(
      { tenant: 'gemeente', subscriber: 'mailroom', scopes: [...scopes], minutes: 60 },
      registry.env,
    ),
  };
});
afterAll(() => registry.stop());

interface Sent {
  method?: string;
  query?: string;
  /** Names and values in turn, so that a name can occur twice. */
  headers?: string[];
  body?: string;
  as?: string;
}

interface Got {
  status: number | undefined;
  headers: Record<string, unknown>;
  body: unknown;
}

/** Headers that differ between requests. */
const ownToEach = new Set(['date', 'x-request-id']);

function exchange(
  path: string,
  { method = 'GET', query = '', headers = [], body, as = 'deliver' }: Sent,
): Promise<Got> {
  const { port } = new URL(registry.url);
  const token = tokens[as] ?? '';
  const lines = [
    'Host',
    `127.0.0.1:${port}`,
    ...(token === '' ? [] : ['Authorization', `Bearer ${token}`]),
    ...headers,
  ];
  if (body !== undefined && !headers.includes('Transfer-Encoding'))
    lines.push('Content-Length', String(Buffer.byteLength(body)));
  return new Promise((resolve, reject) => {
    const request = send({ port, method, path: `${path}${query}`, headers: lines, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const kept = Object.entries(response.headers).filter(([name]) => !ownToEach.has(name));
        const value = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
        resolve({ status: response.statusCode, headers: Object.fromEntries(kept.sort()), body: value });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

const asked = (sink: string, of = origin) => `?origin=${encodeURIComponent(of)}&sink=${encodeURIComponent(sink)}`;

const lookUps: Array<[string, number, () => Sent]> = [
  ['a live grant', 200, () => ({ query: asked(sinks.live) })],
  [
    'a live grant, with the parameters swapped',
    200,
    () => ({ query: `?sink=${encodeURIComponent(sinks.live)}&origin=${origin}` }),
  ],
  ['an origin in capitals', 200, () => ({ query: asked(sinks.live, origin.toUpperCase()) })],
  ['a revoked grant', 200, () => ({ query: asked(sinks.revoked) })],
  ['a hold', 200, () => ({ query: asked(sinks.held) })],
  ['an unknown pair', 200, () => ({ query: asked(sinks.unknown) })],
  ['another tenant', 200, () => ({ query: asked(sinks.live), as: 'stranger' })],
  ['an admin', 200, () => ({ query: asked(sinks.live), as: 'admin' })],
  ['a plus and half an encoded byte', 400, () => ({ query: `?origin=${origin}&sink=https://a.example.com/+%2` })],
  ['letters outside ASCII', 400, () => ({ query: `?origin=${origin}&sink=https://%C3%A9.example.com/` })],
  ['NUL', 400, () => ({ query: `?origin=${origin}&sink=https://a.example.com/%00` })],
  ['quotes', 400, () => ({ query: `?origin=${origin}&sink=https://a.example.com/%22%5C` })],
  ['a matching tag', 304, () => ({ query: asked(sinks.live), headers: ['If-None-Match', '*'] })],
  ['a tag that does not match', 200, () => ({ query: asked(sinks.live), headers: ['If-None-Match', '"other"'] })],
  ['no parameter', 400, () => ({})],
  ['no sink', 400, () => ({ query: `?origin=${origin}` })],
  ['an empty sink', 400, () => ({ query: `?origin=${origin}&sink=` })],
  ['a sink twice', 400, () => ({ query: `?origin=${origin}&sink=https://a/&sink=https://b/` })],
  ['a name that occurs thousands of times', 400, () => ({ query: `?${'a&'.repeat(5_000)}`, headers: [] })],
  [
    'a pair after a thousand empty parameters',
    200,
    () => ({ query: `?${'&'.repeat(1_000)}${asked(sinks.live).slice(1)}` }),
  ],
  ['an unknown parameter', 400, () => ({ query: `${asked(sinks.live)}&more=1` })],
  ['two question marks', 400, () => ({ query: `?${asked(sinks.live)}` })],
  ['a fragment', 200, () => ({ query: `${asked(sinks.live)}#there` })],
  ['an origin with a scheme', 400, () => ({ query: asked(sinks.live, `https://${origin}`) })],
  ['a sink in capitals', 400, () => ({ query: asked(sinks.unknown.toUpperCase()) })],
  ['an origin that is too long', 400, () => ({ query: asked(sinks.live, 'a'.repeat(254)) })],
  ['no token', 401, () => ({ query: asked(sinks.live), as: 'none' })],
  ['a forged token', 401, () => ({ query: asked(sinks.live), as: 'forged' })],
  ['two tokens', 400, () => ({ query: asked(sinks.live), headers: ['Authorization', 'Bearer x'] })],
  ['a token without the scope', 403, () => ({ query: asked(sinks.live), as: 'subscribe' })],
];

test.each(lookUps)('a look-up of %s gets %i', async (_, status, sent) => {
  expect((await exchange('/v1/permissions', sent())).status).toBe(status);
});

const json = ['Content-Type', 'application/json'];
const pairs = (...of: string[]) => JSON.stringify(of.map((sink) => ({ origin, sink })));

const batches: Array<[string, number, () => Sent]> = [
  ['many pairs', 200, () => ({ body: pairs(sinks.live, sinks.revoked, sinks.held, sinks.unknown), headers: json })],
  [
    'several origins, in capitals too',
    200,
    () => ({
      body: JSON.stringify(
        [origin, origin.toUpperCase(), 'other.example', origin].map((of) => ({ origin: of, sink: sinks.live })),
      ),
      headers: json,
    }),
  ],
  [
    'a thousand pairs',
    200,
    () => ({
      body: pairs(...Array.from({ length: 1_000 }, (_, i) => (i % 2 ? sinks.live : sinks.held))),
      headers: json,
    }),
  ],
  ['white space', 200, () => ({ body: JSON.stringify([{ sink: sinks.live, origin }], undefined, 2), headers: json })],
  ['escapes', 200, () => ({ body: `[{"origin":"${origin}","sink":"https://\\u0061.example.com/é"}]`, headers: json })],
  ['a charset', 200, () => ({ body: pairs(sinks.live), headers: ['Content-Type', 'application/json; charset=utf-8'] })],
  ['no pair', 400, () => ({ body: '[]', headers: json })],
  ['more than a thousand', 400, () => ({ body: pairs(...Array<string>(1_001).fill('https://a/')), headers: json })],
  ['an empty sink', 400, () => ({ body: pairs(''), headers: json })],
  ['a number', 400, () => ({ body: `[{"origin":"${origin}","sink":1}]`, headers: json })],
  ['an unknown member', 400, () => ({ body: `[{"origin":"${origin}","sink":"https://a/","x":1}]`, headers: json })],
  ['a member twice', 400, () => ({ body: `[{"origin":"a","sink":"b","sink":"c"}]`, headers: json })],
  ['an open array', 400, () => ({ body: pairs(sinks.live).slice(0, -1), headers: json })],
  ['something after the array', 400, () => ({ body: `${pairs(sinks.live)}]`, headers: json })],
  ['an object', 400, () => ({ body: `{"origin":"${origin}","sink":"https://a/"}`, headers: json })],
  ['nothing', 400, () => ({ body: '', headers: json })],
  ['text', 415, () => ({ body: pairs(sinks.live), headers: ['Content-Type', 'text/plain'] })],
  ['an encoding', 415, () => ({ body: pairs(sinks.live), headers: [...json, 'Content-Encoding', 'gzip'] })],
  [
    'the encoding identity',
    200,
    () => ({ body: pairs(sinks.live), headers: [...json, 'Content-Encoding', 'IDENTITY'] }),
  ],
  [
    'a transfer coding besides chunked',
    501,
    () => ({ body: pairs(sinks.live), headers: [...json, 'Transfer-Encoding', 'gzip, chunked'] }),
  ],
  ['chunks alone', 200, () => ({ body: pairs(sinks.live), headers: [...json, 'Transfer-Encoding', 'Chunked'] })],
  ['a body that is too large', 413, () => ({ body: `"${'x'.repeat(2_700_000)}"`, headers: json })],
  ['no token', 401, () => ({ body: pairs(sinks.live), headers: json, as: 'none' })],
];

test.each(batches)('a batch with %s gets %i', async (_, status, sent) => {
  expect((await exchange('/v1/permissions', { method: 'POST', ...sent() })).status).toBe(status);
});

const structured = ['Content-Type', 'application/cloudevents+json'];
const event = { specversion: '1.0', id: '1', source: 'urn:nld:oin:00000001823288444000', type: 'nl.overheid.zaak' };

const matches: Array<[string, number, () => Sent]> = [
  ['an event', 200, () => ({ body: JSON.stringify(event), headers: structured })],
  ['an origin by name', 200, () => ({ query: `?origin=${origin}`, body: JSON.stringify(event), headers: structured })],
  ['an unknown origin', 404, () => ({ query: '?origin=x.example', body: JSON.stringify(event), headers: structured })],
  ['a later revision', 503, () => ({ query: '?minRevision=99999', body: JSON.stringify(event), headers: structured })],
  ['an invalid parameter', 400, () => ({ query: '?explain=maybe', body: JSON.stringify(event), headers: structured })],
  [
    'an event without a type',
    400,
    () => ({ body: '{"specversion":"1.0","id":"1","source":"a"}', headers: structured }),
  ],
  ['no event', 400, () => ({ body: 'x', headers: structured })],
  ['an unknown format', 415, () => ({ body: '<a/>', headers: ['Content-Type', 'application/cloudevents+xml'] })],
  ['two media types', 400, () => ({ body: '{}', headers: [...structured, ...structured] })],
  ['a subscriber', 403, () => ({ body: JSON.stringify(event), headers: structured, as: 'subscribe' })],
  [
    'a batch with a bad event',
    200,
    () => ({
      body: JSON.stringify([event, { id: '2' }]),
      headers: ['Content-Type', 'application/cloudevents-batch+json'],
    }),
  ],
  ['an encoding', 415, () => ({ body: 'x', headers: [...structured, 'Content-Encoding', 'gzip'] })],
  [
    'the encoding identity',
    200,
    () => ({ body: JSON.stringify(event), headers: [...structured, 'content-encoding', 'Identity'] }),
  ],
  ['a body that is too large', 413, () => ({ body: 'x'.repeat(1_100_000), headers: structured })],
];

test.each(matches)('a match of %s gets %i', async (_, status, sent) => {
  expect((await exchange('/v1/match', { method: 'POST', ...sent() })).status).toBe(status);
});

const subscription = (members: object = {}) =>
  JSON.stringify({ sink: sinks.live, protocol: 'HTTP', types: ['nl.overheid.zaak'], ...members });
const later = [...json, 'Prefer', 'respond-async'];

const registrations: Array<[string, number, () => Sent]> = [
  ['a pair that has a grant', 201, () => ({ body: subscription(), headers: later })],
  ['a type that the profile refuses', 400, () => ({ body: subscription({ types: ['Zaak'] }), headers: later })],
  ['a key', 201, () => ({ body: subscription({ config: {} }), headers: [...later, 'Idempotency-Key', 'one'] })],
  ['the key of another request', 409, () => ({ body: subscription(), headers: [...later, 'Idempotency-Key', 'one'] })],
  ['two keys', 400, () => ({ headers: [...later, 'Idempotency-Key', 'a', 'Idempotency-Key', 'b'] })],
  ['two keys and no token', 400, () => ({ headers: ['Idempotency-Key', 'a', 'Idempotency-Key', 'b'], as: 'none' })],
  ['an empty key', 400, () => ({ body: subscription(), headers: [...later, 'Idempotency-Key', ''] })],
  ['a preference that is too long', 400, () => ({ body: 'x', headers: [...json, 'Prefer', 'x'.repeat(201)] })],
  ['a query', 400, () => ({ query: '?a=b', body: subscription(), headers: later })],
  ['a sink that is not https', 400, () => ({ body: subscription({ sink: 'http://a.example.com/' }), headers: later })],
  ['an unknown origin', 404, () => ({ body: subscription({ origin: 'unknown.example.com' }), headers: later })],
  ['an unknown member', 400, () => ({ body: subscription({ x: 1 }), headers: later })],
  ['no sink', 400, () => ({ body: subscription({ sink: undefined }), headers: later })],
  ['an open object', 400, () => ({ body: subscription().slice(0, -1), headers: later })],
  ['nothing', 400, () => ({ headers: later })],
  ['text', 415, () => ({ body: subscription(), headers: ['Content-Type', 'text/plain'] })],
  ['an encoding', 415, () => ({ body: subscription(), headers: [...later, 'Content-Encoding', 'gzip'] })],
  ['an encoding of nothing', 415, () => ({ headers: [...later, 'Content-Encoding', 'gzip'] })],
  ['the encoding identity', 201, () => ({ body: subscription(), headers: [...later, 'Content-Encoding', 'Identity'] })],
  ['an empty encoding', 201, () => ({ body: subscription(), headers: [...later, 'Content-Encoding', ''] })],
  ['a body that is too large', 413, () => ({ body: subscription({ subject: 'x'.repeat(70_000) }), headers: later })],
  ['no token', 401, () => ({ body: subscription(), headers: later, as: 'none' })],
  ['a token without the scope', 403, () => ({ body: subscription(), headers: later, as: 'deliver' })],
];

test.each(registrations)('a registration with %s gets %i', async (_, status, sent) => {
  expect((await exchange('/v1/subscriptions', { method: 'POST', as: 'subscribe', ...sent() })).status).toBe(status);
});

test.each(['/v1/permissions/', '/v1/Permissions', '/V1/permissions', '/v1/%70ermissions', '//v1/permissions'])(
  '%s is another address, which does not exist',
  async (path) => {
    expect((await exchange(path, { query: asked(sinks.live) })).status).toBe(404);
  },
);

test.each(['*', 'http://[', '//[', '/nothing'])('the address %s, which cannot exist, gets a problem', async (path) => {
  expect(await exchange(path, {})).toMatchObject({ status: 404, body: { code: 'not_found' } });
});

test('HEAD has the headers of GET and no body', async () => {
  const [head, get] = [
    await exchange('/v1/permissions', { method: 'HEAD', query: asked(sinks.live) }),
    await exchange('/v1/permissions', { query: asked(sinks.live) }),
  ];
  expect(head).toEqual({ ...get, body: undefined });
});

test('an absolute address (RFC 9112 section 3.2.2) gets the same response', async () => {
  const sent = { query: `${asked(sinks.live)}#there` };
  const get = await exchange('/v1/permissions', { query: asked(sinks.live) });
  expect(get.status).toBe(200);
  expect(await exchange(`${registry.url}/v1/permissions`, sent)).toEqual(get);
  const batch = { method: 'POST', body: pairs(sinks.live, sinks.held), headers: json };
  const post = await exchange('/v1/permissions', batch);
  expect(post.status).toBe(200);
  expect(await exchange(`${registry.url}/v1/permissions`, batch)).toEqual(post);
});

const { operations } = loadContract();
// AuthZEN knows only 400; a callback and a handshake need no body.
const withBody = operations
  .filter(
    ({ path, mediaTypes, isBodyOptional }) => mediaTypes.length > 0 && !isBodyOptional && !path.startsWith('/access/'),
  )
  .map((operation) => [operation.id, operation] as const);

test.each(withBody)('a 415 of %s says which media types it accepts, or which encoding', async (_, operation) => {
  const path = operation.path.replace(/:\w+/g, '0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f');
  const ask = (...headers: string[]) =>
    exchange(path, { method: operation.method.toUpperCase(), headers, body: '{}', as: 'all' });
  const accepted = operation.mediaTypes.join(', ');
  const typed = await ask('Content-Type', 'text/plain');
  expect(typed).toMatchObject({
    status: 415,
    headers: { accept: accepted, ...(operation.method === 'patch' && { 'accept-patch': accepted }) },
    body: {
      faults: [{ pointer: 'header/content-type', detail: expect.stringContaining(operation.mediaTypes[0] ?? '') }],
    },
  });
  expect(typed.headers).not.toHaveProperty('accept-encoding');
  const encoded = await ask('Content-Type', operation.mediaTypes[0] ?? '', 'Content-Encoding', 'gzip');
  expect(encoded).toMatchObject({
    status: 415,
    headers: { 'accept-encoding': 'identity' },
    body: { faults: [{ pointer: 'header/content-encoding', rule: 'encoding_not_supported' }] },
  });
  expect(encoded.headers).not.toHaveProperty('accept');
});

test.each([
  ['/v1/subscriptions', 'createdsince', '2026-11-20T12:00:00+01:00'],
  ['/v1/grants', 'expiresuntil', '2026-11-20T12:00:00+01:00'],
  ['/v1/audit', 'since', '2026-11-20T12:00:00+01:00'],
  ['/v1/statistics', 'until', '2026-11-20T12:00:00+01:00'],
  ['/v1/subscriptions', 'source', 'urn:example:a+b'],
  ['/v1/subscriptions', 'type', 'com.example+json'],
  ['/v1/subscriptions', 'sink', 'https://a.example.com/?a=b+c'],
  ['/v1/grants', 'sinkcontains', '?a=b+c'],
  ['/v1/handshakes', 'sink', 'https://a.example.com/a+b'],
  ['/v1/permissions', 'sink', 'https://a.example.com/a+b'],
  ['/v1/subscriptions', 'cursor', 'a+b'],
  ['/v1/audit', 'cursor', 'a+b'],
  ['/v1/changes', 'after', 'a+b'],
])('a plus sign that became a blank is named: %s?%s=%s', async (path, name, value) => {
  const more = path === '/v1/permissions' ? `&origin=${origin}` : '';
  const ask = (text: string, ...headers: string[]) =>
    exchange(path, { query: `?${name}=${text}${more}`, headers, as: 'all' });
  const { status, body } = await ask(value);
  expect([status, body]).toMatchObject([
    400,
    { faults: [{ pointer: `query/${name}`, detail: expect.stringMatching(/\. A plus sign .* Write %2B /) }] },
  ]);
  expect(JSON.stringify((await ask(value, 'Accept-Language', 'nl')).body)).toContain('Schrijf %2B');
  // Cursors have none.
  const encoded = await ask(value.replaceAll('+', '%2B'));
  expect([encoded.status, JSON.stringify(encoded.body).includes('%2B')]).toEqual([
    ['cursor', 'after'].includes(name) ? 400 : 200,
    false,
  ]);
});

test('a plus sign is a blank where there may be one, and other faults have no hint', async () => {
  expect((await exchange('/v1/subscriptions', { query: '?subject=a+b', as: 'all' })).status).toBe(200);
  const { body } = await exchange('/v1/subscriptions', { query: '?subject=a+b&limit=x', as: 'all' });
  expect(JSON.stringify(body)).not.toContain('%2B');
});
