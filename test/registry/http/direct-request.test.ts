import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DirectRequest } from '../../../src/registry/http/body.js';

let server: Server | undefined;
/** The server's end of the connection. */
let served: Socket;
afterEach(stop);

function stop(): void {
  server?.closeAllConnections();
  server?.close();
}

async function connectTo(listener: (request: DirectRequest, response: ServerResponse) => void): Promise<Socket> {
  stop();
  server = createServer({ IncomingMessage: DirectRequest }, listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  [served] = (await once(server, 'connection')) as [Socket];
  return socket;
}

/** Responds with the body and how it was read. */
function echo(request: DirectRequest, response: ServerResponse): void {
  const parts: Buffer[] = [];
  const isDirect = request.readDirectly((part) => {
    if (part !== null) return void parts.push(part);
    response.end(`${isDirect ? 'direct' : 'stream'} ${parts.join('')} ${parts.length}`);
  });
  if (isDirect) return;
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => response.end(`stream ${parts.join('')} ${parts.length}`));
}

const head = (headers: string) => `POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n`;

/** Sends parts, each after the one before was read. Returns the bodies of this many responses. */
async function ask(parts: readonly string[], count: number, listener = echo): Promise<string[]> {
  const socket = await connectTo(listener);
  let text = '';
  socket.on('data', (part) => (text += String(part)));
  let sent = 0;
  for (const part of parts) {
    socket.write(part);
    sent += part.length;
    while (served.bytesRead < sent) await nextRound();
  }
  const bodies = () => text.split(/HTTP\/1\.1 \d+ .+\r\n(?:.+\r\n)+\r\n/).slice(1);
  while (bodies().length < count) await nextRound();
  return bodies();
}

test.each([
  ['that arrives with its head', [`${head('Content-Length: 4')}abcd`], ['direct abcd 1']],
  ['that arrives later', [head('Content-Length: 4'), 'abcd'], ['direct abcd 1']],
  ['in parts', [`${head('Content-Length: 4')}a`, 'bc', 'd'], ['direct abcd 3']],
  ['in chunks', [`${head('Transfer-Encoding: chunked')}3\r\nabc\r\n`, '1\r\nd\r\n0\r\n\r\n'], ['direct abcd 2']],
  [
    'of two pipelined requests',
    [`${head('Content-Length: 2')}ab${head('Content-Length: 2')}cd`],
    ['direct ab 1', 'direct cd 1'],
  ],
  [
    'of two consecutive requests',
    [`${head('Content-Length: 2')}ab`, `${head('Content-Length: 2')}cd`],
    ['direct ab 1', 'direct cd 1'],
  ],
  ['that is empty', [head('Content-Length: 0')], ['direct  0']],
])('a body %s is delivered part by part, with its end', async (_, parts, answers) => {
  expect(await ask(parts, answers.length)).toEqual(answers);
});

test('a body is still a stream if readDirectly is called late or not at all', async () => {
  const late = (request: DirectRequest, response: ServerResponse): void => {
    if (request.readableLength > 0) echo(request, response);
    else setImmediate(late, request, response);
  };
  expect(await ask([`${head('Content-Length: 4')}abcd`], 1, late)).toEqual(['stream abcd 1']);
  expect(await ask([`${head('Content-Length: 4')}ab`, 'cd'], 1, late)).toEqual(['stream abcd 2']);
  const unread = (_: DirectRequest, response: ServerResponse) => void response.end('unread');
  const two = `${head('Content-Length: 4')}abcd`.repeat(2);
  expect(await ask([two], 2, unread)).toEqual(['unread', 'unread']);
});

test('after a response before the end of the body, the connection serves the next request', async () => {
  const early = (request: DirectRequest, response: ServerResponse) => {
    request.readDirectly(() => undefined);
    response.end('early');
  };
  const two = [`${head('Content-Length: 4')}ab`, 'cd', `${head('Content-Length: 4')}abcd`];
  expect(await ask(two, 2, early)).toEqual(['early', 'early']);
});

test('the end of an aborted body is not reported', async () => {
  const told: Array<string | null> = [];
  let request: DirectRequest | undefined;
  const socket = await connectTo((asked) => {
    request = asked;
    asked.readDirectly((part) => told.push(part === null ? null : String(part)));
  });
  socket.write(`${head('Content-Length: 4')}ab`);
  while (told.length === 0) await nextRound();
  socket.destroy();
  await once(request as DirectRequest, 'aborted');
  expect(told).toEqual(['ab']);
});

test('nothing retains a read request while its connection is idle', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let request: WeakRef<DirectRequest> | undefined;
  const isEnded: boolean[] = [];
  const socket = await connectTo((asked, response) => {
    request = new WeakRef(asked);
    asked.readDirectly((part) => {
      isEnded.push(asked.readableEnded);
      if (part === null) response.end();
    });
  });
  socket.write(`${head('Content-Length: 4')}abcd`);
  await once(socket, 'data');
  for (let tries = 0; request?.deref() !== undefined && tries < 50; tries += 1) {
    await nextRound();
    collect();
  }
  expect([isEnded, request?.deref(), socket.closed]).toEqual([[false, true], undefined, false]);
});
