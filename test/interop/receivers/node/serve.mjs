import { once } from 'node:events';
import { createServer } from 'node:net';
import { advised } from './advised.mjs';
import { plain } from './plain.mjs';

/** Starts every framework as it comes and with the handler, and prints the addresses as one line of JSON. */
const addresses = {};
for (const [setup, receivers] of Object.entries({ plain, advised })) {
  addresses[setup] = {};
  for (const [name, start] of Object.entries(receivers)) {
    const port = await freePort();
    await start(port, addresses[setup]);
    addresses[setup][name] = `http://127.0.0.1:${port}/events`;
  }
}
console.log(JSON.stringify(addresses));

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}
