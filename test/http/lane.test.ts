import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { request, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { loadContract } from '../../src/http/contract.js';
import { createLane, type LaneAnswer, type LaneHandler } from '../../src/http/lane.js';
import { close, serve, urlOf } from '../../src/http/server.js';

let stopping: AbortController;
let server: Server;
let answerLater: ((answer: LaneAnswer) => void) | undefined;

const { operations } = loadContract();
const operation = (id: string) => {
  const found = operations.find((each) => each.id === id);
  if (found === undefined) throw new Error(`There is no operation ${id}.`);
  return found;
};
const later: LaneHandler = () => new Promise((resolve) => (answerLater = resolve));

beforeEach(async () => {
  stopping = new AbortController();
  const principal = { tenant: 't', subscriber: 's', scopes: new Set(['assent:deliver', 'assent:admin'] as const) };
  const lane = createLane({
    routes: [
      { operation: operation('matchEvent'), bodyLimit: 100, handle: later },
      {
        operation: operation('getSubscriptions'),
        bodyLimit: 0,
        handle: ({ body }) => ({ status: 200, body: `"€ ${body.length}"`, headers: ['ETag', '"1"'] }),
      },
      {
        operation: operation('getGrants'),
        bodyLimit: 0,
        handle: ({ query }) => {
          if (query['limit'] === 70) throw new Error('Nobody foresaw this.');
          return { status: 200, body: `"grants ${query['limit'] as number}"` };
        },
      },
    ],
    tokens: { authenticate: () => ({ ...principal, tokenExpiresAt: Infinity }), clear: () => undefined },
    translate: (error) => error,
    log: pino({ level: 'silent' }),
    onRequest: () => undefined,
    checkAnswers: false,
    stopping: stopping.signal,
    next: (_request, response) => void response.writeHead(404).end(),
  });
  server = await serve(lane, 0, '127.0.0.1');
});
afterEach(() => close(server, 0));

/** A request whose body is not ended before `end` is called, where there is one. */
function ask(method: string, path: string) {
  const asked = request(`${urlOf(server, '127.0.0.1')}${path}`, { method, headers: { Connection: 'keep-alive' } });
  const answered = new Promise<IncomingMessage>((resolve, reject) => asked.on('response', resolve).on('error', reject));
  return { asked, answered };
}

test('a GET is answered without waiting for a body that does not come', async () => {
  const { asked, answered } = ask('GET', '/v1/subscriptions');
  asked.setHeader('Content-Length', 5);
  asked.flushHeaders();
  const answer = await answered;
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({ etag: '"1"', 'content-length': '7', 'x-content-type-options': 'nosniff' });
  expect((await answer.toArray()).join('')).toBe('"€ 0"');
  asked.destroy();
});

test('an answer that is made while the process stops is the last one of its connection', async () => {
  const { asked, answered } = ask('POST', '/v1/match');
  asked.end('{}');
  while (answerLater === undefined) await new Promise(setImmediate);
  stopping.abort();
  answerLater?.({ status: 200, body: '{}' });
  const { headers } = await answered;
  expect(headers).toMatchObject({ connection: 'close', 'content-length': '2' });
});

test('of many that come at once each has its own answer, in their order, also where some are at fault', async () => {
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
