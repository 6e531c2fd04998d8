import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import type { Actor } from '../../../src/registry/storage/database.js';
import { loadContract } from '../../../src/base/contract/contract.js';
import { createFastPath } from '../../../src/registry/http/fast-path.js';
import { actorOf, type OperationRequest, type Handlers } from '../../../src/registry/http/handler.js';
import { Pipeline } from '../../../src/registry/http/pipeline.js';
import { closeServer, serve, urlOf } from '../../../src/registry/http/server.js';

let stopping: AbortController;
let server: Server;
let answerLater: (() => void) | undefined;
let logged: Array<Record<string, unknown>>;

const { operations } = loadContract();
const onFastPath = ['matchEvent', 'listSubscriptions', 'listGrants', 'createOrigin'];
const handlers = Object.assign({} as Handlers, {
  matchEvent: () => new Promise((resolve) => (answerLater = () => resolve({ status: 200, json: '{}' }))),
  listSubscriptions: ({ bytes }: OperationRequest<'listSubscriptions'>) => ({
    status: 200,
    json: `"€ ${bytes.length}"`,
    headers: { ETag: '"1"' },
  }),
  listGrants: ({ query: { limit } }: OperationRequest<'listGrants'>) => {
    if (limit === 70) throw new Error('Nobody foresaw this.');
    return { status: 200, json: `"grants ${limit}"` };
  },
  createOrigin: async (call: OperationRequest<'createOrigin'>) => ({ status: 201, body: actorOf(call) }),
});

beforeEach(async () => {
  stopping = new AbortController();
  logged = [];
  const scopes = new Set(['assent:deliver', 'assent:admin'] as const);
  const pipeline = new Pipeline({
    handlers,
    publicUrl: '',
    site: {},
    maxEventBytes: 1_000,
    authenticate: () => ({ tenant: 't', subscriber: 's', client: 's', scopes, tokenExpiresAt: Infinity }),
    readsOnly: false,
    onWritten: async () => undefined,
    onRequest: () => undefined,
    log: pino({}, { write: (line) => void logged.push(JSON.parse(line)) }),
    checkAnswers: false,
    stallMs: 1_000,
    stopping: stopping.signal,
  });
  const chosen = operations
    .filter(({ id }) => onFastPath.includes(id))
    .map((operation) => ({ ...operation, isHot: true }));
  const next = (_request: IncomingMessage, response: ServerResponse) => void response.writeHead(404).end();
  server = await serve(createFastPath(pipeline, chosen, next), 0, '127.0.0.1');
});
afterEach(() => closeServer(server, 0));

/** A request whose body is not ended before `end` is called, where there is one. */
function ask(method: string, path: string) {
  const asked = request(`${urlOf(server, '127.0.0.1')}${path}`, { method, headers: { Connection: 'keep-alive' } });
  const answered = new Promise<IncomingMessage>((resolve, reject) => asked.on('response', resolve).on('error', reject));
  return { asked, answered };
}

test('a GET is answered without waiting for a body that does not arrive', async () => {
  const { asked, answered } = ask('GET', '/v1/subscriptions');
  asked.setHeader('Content-Length', 5);
  asked.flushHeaders();
  const answer = await answered;
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({ etag: '"1"', 'content-length': '7', 'x-content-type-options': 'nosniff' });
  expect((await answer.toArray()).join('')).toBe('"€ 0"');
  asked.destroy();
});

test('a response while the process stops closes its connection', async () => {
  const { asked, answered } = ask('POST', '/v1/match');
  asked.end('{}');
  while (answerLater === undefined) await new Promise(setImmediate);
  stopping.abort();
  answerLater?.();
  const { headers } = await answered;
  expect(headers).toMatchObject({ connection: 'close', 'content-length': '2' });
});

test('many requests at once each get their own response, in order, even if some fail', async () => {
  const socket = connect(Number(new URL(urlOf(server, '127.0.0.1')).port), '127.0.0.1');
  const limits = Array.from({ length: 150 }, (_, limit) => limit);
  const requests = limits.map((limit) => `GET /v1/grants?limit=${limit} HTTP/1.1\r\nHost: a\r\n`);
  socket.write(`${requests.join('\r\n')}Connection: close\r\n\r\n`);
  const answers = Buffer.concat(await socket.toArray())
    .toString()
    .split('HTTP/1.1 ')
    .slice(1);
  expect(answers.map((answer) => [Number(answer.slice(0, 3)), /"grants \d+"$/.exec(answer)?.[0]])).toEqual(
    limits.map((limit) =>
      limit === 0 ? [400, undefined] : limit === 70 ? [500, undefined] : [200, `"grants ${limit}"`],
    ),
  );
});

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = `${trace}-00f067aa0ba902b7`;

test.each([
  ['a traceparent', `00-${parent}-01`, trace],
  ['one of a later version', `cc-${parent}-01-what-comes-later`, trace],
  ['one with an extra member', `00-${parent}-01-x`, undefined],
  ['one of version ff', `ff-${parent}-01`, undefined],
  ['one in capitals', `00-${parent.toUpperCase()}-01`, undefined],
  ['one without a trace', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
  ['two', `00-${parent}-01, 00-${parent}-01`, undefined],
])('%s reaches the handler and the log only if it is valid', async (_, traceparent, traceid) => {
  const url = `${urlOf(server, '127.0.0.1')}/v1/origins`;
  const headers = { traceparent, 'Content-Type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: '{"name":"a.example.com"}' });
  const actor = (await answer.json()) as Actor;
  expect([answer.status, actor.traceparent]).toEqual([201, traceid && `00-${parent}-01`]);
  expect(logged).toMatchObject([{ msg: 'request', requestid: actor.requestId, operation: 'createOrigin' }]);
  expect(logged[0]?.['traceid']).toBe(traceid);
});

test.each([
  ['abc/1.2:3', 'abc/1.2:3'],
  ['x'.repeat(128), 'x'.repeat(128)],
  ['x'.repeat(129), undefined],
  ['two words', undefined],
  ['caf\u00e9', undefined],
])('the request id %s of a caller is logged if it is short and visible', async (id, expected) => {
  const url = `${urlOf(server, '127.0.0.1')}/v1/grants?limit=0`;
  const answer = await fetch(url, { headers: { 'X-Request-Id': id, traceparent: `00-${parent}-01` } });
  expect(answer.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(logged).toHaveLength(1);
  expect(logged[0]?.['callerrequestid']).toBe(expected);
});

test('a failed look-up is logged like every request, and a successful one is not', async () => {
  const url = `${urlOf(server, '127.0.0.1')}/v1/grants`;
  await fetch(`${url}?limit=1`);
  const failed = await fetch(`${url}?limit=0`, { headers: { traceparent: `00-${parent}-01` } });
  await fetch(`${url}?limit=70`);
  const line = { operation: 'listGrants', method: 'GET', tenant: 't', subscriber: 's', ms: expect.any(Number) };
  expect(logged).toMatchObject([
    {
      ...line,
      requestid: failed.headers.get('X-Request-Id'),
      traceid: trace,
      status: 400,
      code: 'invalid_request',
    },
    { msg: 'fault', err: { message: 'Nobody foresaw this.' } },
    { ...line, status: 500, code: 'internal' },
  ]);
});
