import { createServer } from 'node:http';
import { Duplex } from 'node:stream';
import { DirectRequest } from './direct-request.js';

const enough = 12;
const request = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}';

/**
 * V8 lays a class out once and for good, by what its first few objects became, and does not count those that a
 * collection has taken meanwhile. A server that is asked whether it is ready while it loads would so take a quarter
 * longer for every request, for as long as it runs. Therefore its first requests are these, one right after the other,
 * over a connection that leads nowhere.
 */
export function makeFirstExchanges(): Promise<void> {
  const server = createServer({ IncomingMessage: DirectRequest }, (asked, response) => {
    asked.readDirectly((part) => {
      if (part === null) response.writeHead(200, ['Content-Length', '2']).end('{}');
    });
  });
  return new Promise((resolve) => {
    let answers = 0;
    const client = new Duplex({
      read: () => undefined,
      writev(_, done) {
        done();
        answers += 1;
        if (answers < enough) return void setImmediate(() => client.push(request));
        client.destroy();
        resolve();
      },
    });
    server.emit('connection', client);
    client.push(request);
  });
}
