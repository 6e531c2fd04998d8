import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';

/** Resolves when it listens; after `stopping` every answer is the last one of its connection. */
export function serve(app: RequestListener, port: number, host: string, stopping: AbortSignal): Promise<Server> {
  // A client that sends its request slowly is cut off; waiting for a handshake does not count. Node looks every 30 s only.
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 });
  const answering = new Set<ServerResponse>();
  server.on('request', (request, response) => {
    answering.add(response);
    response.once('close', () => answering.delete(response));
    if (stopping.aborted) sayLast(response);
    app(request, response);
  });
  stopping.addEventListener('abort', () => answering.forEach(sayLast));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

/** Tells a client that keeps its connection that this is its last answer; a busy one would be cut off in the middle. */
function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** Lets requests in flight end, for a while (milliseconds). */
export function close(server: Server, limitMs: number): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), limitMs);
  return new Promise((resolve) => {
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
