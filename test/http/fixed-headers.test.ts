import { afterEach, expect, test } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { FixedHeaders } from '../../src/http/fixed-headers.js';

let server: Server;
afterEach(() => void server?.close());

/** The lines of the answer's head, and its body. */
async function ask(listener: RequestListener, request: string): Promise<{ head: string[]; body: string }> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(request);
  const text = (await socket.toArray()).join('');
  server.close();
  const end = text.indexOf('\r\n\r\n');
  return { head: text.slice(0, end).split('\r\n'), body: text.slice(end + 4) };
}

const requests = ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'];
const answers: Array<[string, RequestListener, RequestListener]> = [true, false].flatMap((joinsHead) => {
  const fixed = new FixedHeaders({ 'X-One': '1', 'X-Two': 'zwei é' }, joinsHead);
  const all = ['ETag', '"e"', 'X-One', '1', 'X-Two', 'zwei é'];
  const way = joinsHead ? 'put into the head' : 'given to node';
  return [
    [
      `with a body, ${way}`,
      (_, response) => {
        fixed.writeHead(response, 200, ['ETag', '"e"', 'Content-Length', '4']);
        response.end('{"a"');
      },
      (_, response) => response.writeHead(200, [...all, 'Content-Length', '4']).end('{"a"'),
    ],
    [
      `without one, ${way}`,
      (_, response) => {
        fixed.writeHead(response, 304, ['ETag', '"e"']);
        response.end();
      },
      (_, response) => response.writeHead(304, all).end(),
    ],
  ];
});

test.each(answers)('fixed headers stand beside all others in an answer %s', async (_, ours, theirs) => {
  for (const request of [...requests, 'GET / HTTP/1.0\r\n\r\n']) {
    const [{ head, body }, expected] = [await ask(ours, request), await ask(theirs, request)];
    const [status, ...lines] = head.filter((line) => !line.startsWith('Date: '));
    const [expectedStatus, ...expectedLines] = expected.head.filter((line) => !line.startsWith('Date: '));
    expect([status, ...lines.sort(), body]).toEqual([expectedStatus, ...expectedLines.sort(), expected.body]);
  }
});

test('this node keeps the head, so that fixed headers are not checked with every answer', async () => {
  const fixed = new FixedHeaders({ 'X-One': '1' });
  const { head } = await ask((_, response) => {
    fixed.writeHead(response, 200, ['Content-Length', '0']);
    response.end();
  }, requests[1]!);
  expect(head.at(-1)).toBe('X-One: 1');
});

test.each([
  ['X One', '1'],
  ['X-One', '1\r\nX-Two: 2'],
])('what is no header is refused before there is an answer (%s: %j)', (name, value) => {
  expect(() => new FixedHeaders({ [name]: value })).toThrow(/header/i);
});
