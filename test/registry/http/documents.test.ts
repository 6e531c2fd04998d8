import { afterEach, beforeEach, expect, test } from '@jest/globals';
import express, { type RequestHandler } from 'express';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, Socket, type AddressInfo } from 'node:net';
import { loadContract } from '../../../src/base/contract/contract.js';
import { readConfig } from '../../../src/registry/app/config.js';
import { serveDocuments } from '../../../src/registry/http/documents.js';
import { createLog } from '../../../src/registry/http/log.js';
import { servePages } from '../../../src/registry/pages/serve.js';

const open = '/proc/self/fd';

let server: Server;
let socket: Socket;
beforeEach(async () => {
  const app = express();
  const contact = 'beheer@gemeente.example (https://gemeente.example/webhooks)';
  const setHeaders: RequestHandler = (_request, _response, next) => next();
  const context = {
    config: readConfig({ ASSENT_OPERATOR: 'Gemeente Voorbeeld', ASSENT_CONTACT: contact }),
    contract: loadContract(),
    log: createLog('silent'),
  };
  serveDocuments(app, setHeaders, context);
  servePages(app, setHeaders, context);
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

test('the contract names the operator, with the mail address and the URL', async () => {
  const { port } = server.address() as AddressInfo;
  socket = new Socket();
  const { info } = (await (await fetch(`http://127.0.0.1:${port}/v1/openapi.json`)).json()) as { info: object };
  const [email, url] = ['beheer@gemeente.example', 'https://gemeente.example/webhooks'];
  expect(info).toMatchObject({ contact: { name: 'Gemeente Voorbeeld', email, url } });
});

test.each(['/openapi.json', '/docs'])(
  'responses of %s that no client reads take no memory of their own',
  async (path) => {
    const before = process.memoryUsage().arrayBuffers;
    await ask(path, 500);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
  },
);

(existsSync(open) ? test : test.skip)(
  'responses that no client reads keep no file open (looks into /proc)',
  async () => {
    await ask('/docs', 100);
    // It is larger than what a connection takes in by itself.
    if (socket.readableLength === 0) await once(socket, 'readable');
    const files = readdirSync(open).filter((name) => existsSync(`${open}/${name}`));
    expect(files.filter((name) => readlinkSync(`${open}/${name}`).includes('/pages/'))).toEqual([]);
  },
);
