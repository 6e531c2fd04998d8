import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextRound } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HttpExchange, type Preferred } from '../../../src/registry/http/exchange.js';
import { closeServer, serve } from '../../../src/registry/http/server.js';

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

let server: Server;
let socket: Socket | undefined;
afterEach(async () => {
  // One that is paused does not learn that the server is gone.
  socket?.destroy();
  await closeServer(server, 0);
});

async function connectTo(listener: RequestListener, limits: object = {}): Promise<Socket> {
  server = Object.assign(await serve(listener, 0, '127.0.0.1'), limits);
  return (socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined));
}

test('nothing retains a response that waits behind another one when their connection closes', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const none: Preferred = () => false;
  const answers: Array<WeakRef<ServerResponse>> = [];
  const socket = await connectTo((asked, response) => {
    answers.push(new WeakRef(response));
    new HttpExchange(asked, response, 'id', none).signal.addEventListener('abort', () => response.writableFinished);
  });
  socket.write(request.repeat(3));
  while (answers.length < 3) await nextRound();
  socket.destroy();
  const left = () => answers.filter((answer) => answer.deref() !== undefined).length;
  for (let tries = 0; left() > 0 && tries < 50; tries += 1) {
    await nextRound();
    collect();
  }
  expect(left()).toBe(0);
});

/** Seconds instead of minutes: a slow machine takes a while to read a request. */
const limits = { timeout: 1_000, keepAliveTimeout: 1_000 };

test('a client that reads nothing of a response is disconnected', async () => {
  const socket = await connectTo((_, response) => {
    // The limit counts from here, so that a slow machine has read the request before it.
    response.socket?.setTimeout(limits.timeout);
    response.end(Buffer.alloc(50_000_000));
  });
  const [served] = (await once(server, 'connection')) as [Socket];
  socket.pause().write(request);
  await once(served, 'close');
  expect(served.bytesRead).toBe(request.length);
});

test('a client that waits for a response is not disconnected, and one that has it may be idle for a while', async () => {
  const socket = await connectTo((_, response) => void setTimeout(() => response.end('late'), 3_000), limits);
  socket.write(request);
  const text = Buffer.concat(await socket.toArray()).toString();
  expect(text).toMatch(/^HTTP\/1\.1 200 .*late$/s);
});

test('100 Continue is sent in order, and not in the middle of a response', async () => {
  const answers: ServerResponse[] = [];
  const socket = await connectTo((_, response) => void answers.push(response));
  const expecting = 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n';
  socket.write(`${request}${expecting}${expecting}`);
  while (answers.length < 3) await nextRound();
  const [first, second, third] = answers as [ServerResponse, ServerResponse, ServerResponse];
  third.end(Buffer.from('third'));
  second.once('socket', () => setImmediate(() => second.end(Buffer.from('second'))));
  first.end(Buffer.from('first'));
  const text = Buffer.concat(await socket.toArray()).toString();
  const parts = text.match(/(?<=HTTP\/1\.1 )\d+|(?<=\r\n\r\n)[a-z]+/g);
  expect(parts).toEqual(['200', 'first', '100', '200', 'second', '200', 'third']);
});
