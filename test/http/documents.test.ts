import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express from 'express';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { loadContract } from '../../src/http/contract.js';
import { serveDocuments } from '../../src/http/documents.js';

const open = '/proc/self/fd';

let server: Server;
let socket: Socket;
beforeEach(async () => {
  const app = express();
  const contact = 'beheer@gemeente.example (https://gemeente.example/webhooks)';
  serveDocuments(app, (_request, _response, next) => next(), loadContract().document, { contact });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** Asks so often, and reads no answer. */
async function ask(path: string, times: number): Promise<void> {
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  const asked = new Promise<void>((resolve) => {
    let count = 0;
    server.on('request', () => (count += 1) === times && resolve());
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(times));
  await asked;
}

test('the contract names the mail address and the URL of the operator', async () => {
  const { port } = server.address() as AddressInfo;
  socket = new Socket();
  const { info } = (await (await fetch(`http://127.0.0.1:${port}/v1/openapi.json`)).json()) as { info: object };
  const [email, url] = ['beheer@gemeente.example', 'https://gemeente.example/webhooks'];
  expect(info).toMatchObject({ contact: { name: 'The operator of this registry', email, url } });
});

test('answers that nobody reads take no memory of their own', async () => {
  const before = process.memoryUsage().arrayBuffers;
  await ask('/openapi.json', 500);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
});

(existsSync(open) ? test : test.skip)('answers that nobody reads keep no file open (looks into /proc)', async () => {
  await ask('/docs/swagger-ui-bundle.js', 100);
  // It is larger than what a connection takes in by itself.
  if (socket.readableLength === 0) await once(socket, 'readable');
  const files = readdirSync(open).filter((name) => existsSync(`${open}/${name}`));
  expect(files.filter((name) => readlinkSync(`${open}/${name}`).includes('swagger'))).toEqual([]);
});
