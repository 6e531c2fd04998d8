import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { advised } from './advised.mjs';
import { plain } from './plain.mjs';

/** Starts every framework as it comes and with the handler, and prints the addresses as one line of JSON. */
const addresses = { continuing: `http://127.0.0.1:${await serveContinuing()}/events` };
for (const [setup, receivers] of Object.entries({ plain, advised })) {
  addresses[setup] = {};
  for (const [name, start] of Object.entries(receivers)) {
    const port = await freePort();
    await start(port, addresses[setup]);
    addresses[setup][name] = `http://127.0.0.1:${port}/events`;
  }
}
console.log(JSON.stringify(addresses));

async function serveContinuing() {
  const server = createHttpServer((request, response) => {
    response.writeContinue();
    const origin = request.headers['webhook-request-origin'] ?? '';
    response.writeHead(request.method === 'OPTIONS' ? 200 : 202, {
      'WebHook-Allowed-Origin': origin,
      'WebHook-Allowed-Rate': '120',
    });
    request.resume().once('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}
