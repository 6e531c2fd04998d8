import { createServer, STATUS_CODES, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { RegistryError } from '../errors.js';
import { uuidv7 } from '../storage/ids.js';
import { DirectRequest } from './body.js';
import type { OnRequest } from './metrics.js';
import { problemOf } from './problem.js';
import { apiHeaders } from './write-answer.js';

/**
 * Milliseconds. Proxies keep a connection for a minute as a rule: if it was closed from this side first, a request
 * could be on its way to nobody, and who asked would have a 502.
 */
const keepAliveTimeout = 75_000;

/**
 * Milliseconds, after which an answer is given up of which nothing was taken: as long as a stream may be left unread.
 */
const unreadTimeout = 300_000;

/** Resolves when it listens. */
export async function serve(
  app: RequestListener,
  port: number,
  host: string,
  refuseUnread?: RefuseUnread,
): Promise<Server> {
  await warmUp();
  // A client that sends slowly is cut off; waiting for a handshake does not count. Node would look every 30 s only.
  const limits = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 };
  // Where a problem can be told, the app looks for the host: Node's own answer is an empty one.
  const requireHostHeader = refuseUnread === undefined;
  const server = createServer({ ...limits, keepAliveTimeout, requireHostHeader, IncomingMessage: DirectRequest }, app);
  // Node would leave out what comes behind a thousand lines, a second Authorization too. There are 16 KiB at the most.
  server.maxHeadersCount = 0;
  server.timeout = unreadTimeout;
  server.on('timeout', closeUnlessAnswering);
  server.on('checkContinue', (request, response) => {
    continueInOrder(response);
    server.emit('request', request, response);
  });
  // Nobody has to meet other expectations (RFC 9110, section 10.1.1); node would refuse them without a word.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  if (refuseUnread !== undefined) server.on('clientError', refuseUnread);
  return new Promise((resolve, reject) => {
    // Kept: a connection that the system cannot accept later on is its own loss, and must not end the process.
    server.on('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

/** What node writes for an answer that waits behind another would come between the head and the body of that one. */
function continueInOrder(response: ServerResponse): void {
  const proceed = () => response.headersSent || response.writeContinue();
  if (response.socket) proceed();
  else response.once('socket', proceed);
}

/** What is still to be answered may take as long as it takes: nothing waits to be sent then. */
function closeUnlessAnswering(socket: Socket): void {
  const { _httpMessage: present } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (!present || socket.writableLength > 0) socket.destroy();
}

export type RefuseUnread = (error: NodeJS.ErrnoException, socket: Socket) => void;

/**
 * Answers what came over a connection and could not be read as a request (the event `clientError` of a server), with a
 * problem as everything else, and closes the connection. An answer that is being written is not written into, and a
 * request in front, which could be read, is not given the answer of what stands behind it.
 */
export function createRefuseUnread(onRequest: OnRequest): RefuseUnread {
  return (error, socket) => {
    // As Node does it where nobody listens: the answer that has the connection at present.
    const { _httpMessage: present } = socket as Socket & { _httpMessage?: ServerResponse | null };
    if (error.code === 'ECONNRESET' || !socket.writable || present?.headersSent || present?.req.complete) {
      socket.destroy();
      return;
    }
    const requestId = uuidv7();
    const problem = problemOf(refusalOf(error), requestId);
    const body = JSON.stringify(problem);
    const headers = {
      ...apiHeaders,
      'Content-Type': 'application/problem+json',
      'Content-Length': String(Buffer.byteLength(body)),
      'X-Request-Id': requestId,
      Connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    onRequest('none', problem.status, 0);
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`, () =>
      socket.destroy(),
    );
  };
}

function refusalOf({ code }: NodeJS.ErrnoException): RegistryError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new RegistryError('headers_too_large', 'The lines before the body have more than 16 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new RegistryError('request_timeout', 'The request did not come to its end in time.');
  }
  return new RegistryError('invalid_request', 'The request could not be read as HTTP/1.1.');
}

const graceMs = 500;

/**
 * Lets requests in flight end, for a while (milliseconds). Whoever is between two requests is not cut off at once: the
 * next one may be on its way already, and is told that it is the last.
 */
export function closeServer(server: Server, limitMs: number): Promise<void> {
  const timers = [
    setTimeout(() => server.closeIdleConnections(), Math.min(graceMs, limitMs)),
    setTimeout(() => server.closeAllConnections(), limitMs),
  ];
  return new Promise((resolve) => {
    // A server of HTTP would close idle connections with it.
    NetServer.prototype.close.call(server, () => {
      timers.forEach(clearTimeout);
      resolve();
    });
  });
}

export function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return httpUrlOf(host, port);
}

export function httpUrlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const warmUpRequests = 12;
const warmUpRequest = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}';

/**
 * V8 lays a class out once and for good, by what its first few objects became, and does not count those that a
 * collection has taken meanwhile. A server that is asked whether it is ready while it loads would so take a quarter
 * longer for every request, for as long as it runs. Therefore its first requests are these, one right after the other,
 * over a connection that leads nowhere.
 */
function warmUp(): Promise<void> {
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
        if (answers < warmUpRequests) return void setImmediate(() => client.push(warmUpRequest));
        client.destroy();
        resolve();
      },
    });
    server.emit('connection', client);
    client.push(warmUpRequest);
  });
}
