import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, type KeyPair } from './certificates.js';

/** One OPTIONS request, as the webhook received it. */
export interface Asked {
  method: string;
  path: string;
  host: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
}

/** A real HTTPS webhook whose behaviour is set for each path; other paths return 404. */
export interface Receiver {
  port: number;
  ca: string;
  /** Its own, for other webhooks on localhost. */
  certificate: KeyPair;
  asked: Asked[];
  /** The sink for a path, on the given name if there is one. */
  sink(path: string, host?: string): string;
  on(path: string, listener: (...call: Parameters<RequestListener>) => unknown): void;
  /** Consents: `*` or an origin, and a rate. */
  consent(path: string, allowed?: { origin?: string; rate?: string }): void;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const authority = await createAuthority();
  const certificate = await authority.issue(['localhost', '*.hooks.test', '127.0.0.1']);
  const listeners = new Map<string, (...call: Parameters<RequestListener>) => unknown>();
  const asked: Asked[] = [];
  const server = createServer({ ...certificate }, (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    const { method = '', headers, rawHeaders } = request;
    asked.push({ method, path, host: headers.host ?? '', headers, rawHeaders });
    const listener = listeners.get(path.split('?')[0] ?? '');
    if (listener) listener(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ca: authority.cert,
    certificate,
    asked,
    sink: (path, host = 'localhost') => `https://${host}:${port}${path}`,
    on: (path, listener) => void listeners.set(path, listener),
    consent(path, { origin, rate = '100' } = {}) {
      listeners.set(path, (request, response) => {
        response.writeHead(200, {
          Allow: 'POST, OPTIONS',
          'WebHook-Allowed-Origin': origin ?? request.headers['webhook-request-origin'] ?? '',
          'WebHook-Allowed-Rate': rate,
        });
        response.end();
      });
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
