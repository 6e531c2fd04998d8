import { afterEach, expect, jest, test } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { FixedHeaders } from '../../../src/registry/http/write-answer.js';

let server: Server;
afterEach(() => void server?.close());

/** The lines of the response's head, and its body. */
async function ask(listener: RequestListener, request: string): Promise<{ head: string[]; body: string }> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(request);
  const text = Buffer.concat(await socket.toArray()).toString('latin1');
  server.close();
  const end = text.indexOf('\r\n\r\n');
  return { head: text.slice(0, end).split('\r\n'), body: text.slice(end + 4) };
}

const requests = ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'];
const bodies: Array<[string, string | Buffer | undefined]> = [
  ['nothing', undefined],
  ['an empty text', ''],
  ['ASCII', '{"a":1}'],
  ['a text in Latin-1', '{"a":"é"}'],
  ['a text beyond Latin-1', '{"a":"€ 𝄞"}'],
  ['bytes', Buffer.from('{"a":"€ é"}')],
  ['many bytes', Buffer.alloc(300_000, 'a€')],
];
const ways: Array<[string, boolean]> = [
  ['appended to the head', true],
  ['passed to Node', false],
];
const answers = bodies.flatMap(([name, body]) => ways.map(([way, joinsHead]) => [name, way, body, joinsHead] as const));

test.each(answers)('a response with %s, %s, is sent as Node would send it', async (_name, _way, body, joinsHead) => {
  const fixed = new FixedHeaders({ 'X-One': '1', 'X-Two': 'zwei é' }, joinsHead);
  const status = body === undefined ? 304 : 200;
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  const all = ['ETag', '"e"', ...length, 'X-Request-Id', 'r-1', 'X-One', '1', 'X-Two', 'zwei é'];
  for (const request of [...requests, 'GET / HTTP/1.0\r\n\r\n']) {
    const [{ head, body: sent }, expected] = [
      await ask(
        (_, response) => fixed.send(response, { status, requestId: 'r-1', others: ['ETag', '"e"'], body }),
        request,
      ),
      // With a body of bytes Node sends the head as Latin-1 too.
      await ask(
        (_, response) => response.writeHead(status, all).end(body === undefined ? body : Buffer.from(body as string)),
        request,
      ),
    ];
    const [first, ...lines] = head.filter((line) => !line.startsWith('Date: '));
    const [expectedFirst, ...expectedLines] = expected.head.filter((line) => !line.startsWith('Date: '));
    expect([first, ...lines.sort(), sent]).toEqual([expectedFirst, ...expectedLines.sort(), expected.body]);
  }
});

test('responses to pipelined requests are sent in order, whichever is ready first', async () => {
  const fixed = new FixedHeaders({ 'X-One': '1' });
  const waiting: Array<() => void> = [];
  const both = await ask((_, response) => {
    const body = `{"a":${waiting.length}}`;
    waiting.push(() => fixed.send(response, { status: 200, requestId: 'r', others: [], body }));
    if (waiting.length === 2) waiting.reverse().forEach((send) => send());
  }, `${requests[0]}${requests[1]}`);
  expect(both.body).toMatch(/^\{"a":0\}HTTP\/1\.1 200 OK\r\n(.+\r\n)+\r\n\{"a":1\}$/);
});

test('this version of Node keeps the head, so that a response is one write', async () => {
  const writes = jest.spyOn(Socket.prototype, 'write');
  const fixed = new FixedHeaders({ 'X-One': '1' });
  const answer = { status: 200, requestId: 'r-1', others: [], body: '{}' };
  const { head, body } = await ask((_, response) => fixed.send(response, answer), requests[1]!);
  expect([head.at(-1), body]).toEqual(['X-One: 1', '{}']);
  const texts = writes.mock.calls.map(([text]) => String(text)).filter((text) => text.startsWith('HTTP'));
  expect(texts).toEqual([`${head.join('\r\n')}\r\n\r\n{}`]);
  writes.mockRestore();
});

test.each([
  ['X One', '1'],
  ['X-One', '1\r\nX-Two: 2'],
])('an invalid header is refused before any response (%s: %j)', (name, value) => {
  expect(() => new FixedHeaders({ [name]: value })).toThrow(/header/i);
});
