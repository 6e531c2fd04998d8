// Serves a few requests, on demand with garbage collections in between, and prints how many bytes a request takes
// after that.
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { serve, urlOf } from '../../dist/registry/http/server.js';

const server = await serve(
  (_, response) => void response.writeHead(200, { 'Content-Length': 2 }).end('ok'),
  0,
  '127.0.0.1',
);
const port = Number(new URL(urlOf(server, '127.0.0.1')).port);

/** Sends requests one after the other, each over its own connection or all over one. */
async function ask(count, connections) {
  for (let left = connections; left > 0; left -= 1) {
    const socket = connect(port, '127.0.0.1');
    for (let each = 0; each < count; each += 1) {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await new Promise((resolve) => socket.once('data', resolve));
    }
    socket.destroy();
    for (let turns = 0; turns < 5; turns += 1) await setImmediate();
    if (process.argv[2] === 'collect') globalThis.gc();
  }
}

await ask(1, 12);
process.argv[2] = '';
await ask(3_000, 1);
globalThis.gc();
const before = getHeapStatistics().used_heap_size;
await ask(1_000, 1);
process.send((getHeapStatistics().used_heap_size - before) / 1_000);
process.disconnect();
server.closeAllConnections();
server.close();
