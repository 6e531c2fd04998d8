import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { request, type IncomingMessage, type Server } from 'node:http';
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
