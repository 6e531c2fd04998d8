import { createServer, STATUS_CODES, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { RegistryError } from '../../base/errors.js';
import { uuidv7 } from '../../base/files/ids.js';
import { DirectRequest } from './body.js';
import type { OnRequest } from './pipeline.js';
import { problemOf } from '../../base/problem.js';
import { apiHeaders } from './write-answer.js';

/**
 * Milliseconds. Proxies usually keep an idle connection for a minute. If the server closed it first, a request could
 * already be on its way, and the client would get a 502.
 */
const keepAliveTimeout = 75_000;

/**
 * Milliseconds after which the server gives up a response that the client does not read; as for a stream.
 */
const unreadTimeout = 300_000;

/** Resolves when the server is listening. */
export async function serve(
  app: RequestListener,
  port: number,
  host: string,
  refuseUnread?: RefuseUnread,
): Promise<Server> {
  await warmUp();
  // Disconnects slow senders; waiting for a handshake does not count. By default Node checks only every 30 s.
  const limits = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 };
  // If problems can be sent, the app checks the Host header: Node's own response would be empty.
  const requireHostHeader = refuseUnread === undefined;
  const server = createServer({ ...limits, keepAliveTimeout, requireHostHeader, IncomingMessage: DirectRequest }, app);
  // By default Node drops headers after the thousandth, even a second Authorization. All headers have at most 16 KiB.
  server.maxHeadersCount = 0;
  server.timeout = unreadTimeout;
  server.on('timeout', closeUnlessAnswering);
  server.on('checkContinue', (request, response) => {
    continueInOrder(response);
    server.emit('request', request, response);
  });
  // Other expectations may be ignored (RFC 9110, section 10.1.1); Node would refuse them with an empty response.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  if (refuseUnread !== undefined) server.on('clientError', refuseUnread);
  return new Promise((resolve, reject) => {
    // Stays: a connection that the system cannot accept later must not end the process.
    server.on('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

/** A 100 for a request that waits behind another one would land between the head and body of that one's response. */
function continueInOrder(response: ServerResponse): void {
  const proceed = () => response.headersSent || response.writeContinue();
  if (response.socket) proceed();
  else response.once('socket', proceed);
}

/** A response that is still being prepared may take its time: nothing is waiting to be sent. */
function closeUnlessAnswering(socket: Socket): void {
  const { _httpMessage: present } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (!present || socket.writableLength > 0) socket.destroy();
}

type RefuseUnread = (error: NodeJS.ErrnoException, socket: Socket) => void;

/**
 * Responds with a problem to bytes that are not a valid request (the event `clientError` of a server), and closes the
 * connection. `publicUrl` is that of a registry, whose guides help. Never writes into a response that is already being sent, and never in place of the response to an
 * earlier, valid request.
 */
export function createRefuseUnread(onRequest: OnRequest, publicUrl?: string): RefuseUnread {
  return (error, socket) => {
    // As Node does without a listener: the response that currently owns the connection.
    const { _httpMessage: present } = socket as Socket & { _httpMessage?: ServerResponse | null };
    if (error.code === 'ECONNRESET' || !socket.writable || present?.headersSent || present?.req.complete) {
      socket.destroy();
      return;
    }
    const requestId = uuidv7();
    const problem = problemOf(refusalOf(error), requestId, 'en', publicUrl);
    const body = JSON.stringify(problem);
    const headers = {
      ...apiHeaders,
      'Content-Language': 'en',
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
    return new RegistryError('headers_too_large', 'The request line and the headers have more than 16 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new RegistryError('request_timeout', 'The request did not arrive in time.');
  }
  return new RegistryError('invalid_request', 'The request is not valid HTTP/1.1.');
}

const graceMs = 500;

/**
 * Lets requests in flight finish within the limit (milliseconds). An idle connection is not closed immediately: its
 * next request may already be on its way, and the response to that closes the connection.
 */
export function closeServer(server: Server, limitMs: number): Promise<void> {
  const timers = [
    setTimeout(() => server.closeIdleConnections(), Math.min(graceMs, limitMs)),
    setTimeout(() => server.closeAllConnections(), limitMs),
  ];
  return new Promise((resolve) => {
    // The close of an HTTP server would also close idle connections.
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
 * V8 decides the layout of a class once, by its first few objects, and ignores those that were garbage collected in the
 * meantime. With a readiness probe during startup, every later request would take a quarter longer, for as long as the
 * process runs. So the first requests are these, back to back, over a connection that leads nowhere.
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
