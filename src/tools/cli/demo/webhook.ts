import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Certificate } from '../../conformance/authority.js';
import { recordBytes, type WireBytes } from '../../conformance/record-bytes.js';

/** The heads of a request and its response as they went over the wire, and the body of the request. Lines end in LF. */
export interface WireExchange {
  method: string;
  path: string;
  /** The value of WebHook-Request-Callback. */
  callback: string | undefined;
  asked: string;
  /** At most the first 4,000 characters. */
  body: string;
  /** The body of the request. */
  content: Buffer;
  answered: string;
}

const longestBody = 4_000;

/** What a path does with a request. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

export interface WebhookSettings {
  /** 0 for a free one. */
  port: number;
  /** Undefined for plain http. */
  certificate: Certificate | undefined;
  paths: Readonly<Record<string, Behaviour>>;
  /** For all other paths; 404 if absent. */
  others?: Behaviour;
  onExchange: (exchange: WireExchange) => void;
}

export interface Webhook {
  port: number;
  stop(): Promise<void>;
}

/** A small webhook on loopback that reports what went over its sockets. Rejects if the port is in use. */
export async function startWebhook(settings: WebhookSettings): Promise<Webhook> {
  const { port, certificate, paths, others = notFound, onExchange } = settings;
  const sockets = new WeakMap<Socket, WireBytes>();
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const chunks: Buffer[] = [];
    let content = Buffer.alloc(0);
    response.once('finish', () => {
      const bytes = sockets.get(request.socket) ?? { received: '', sent: '' };
      onExchange({
        method,
        path: url,
        callback: headers['webhook-request-callback']?.toString(),
        asked: headOf(bytes.received),
        body: content.toString('utf8').slice(0, longestBody),
        content,
        answered: headOf(bytes.sent),
      });
      Object.assign(bytes, { received: '', sent: '' });
    });
    const path = url.split('?')[0] ?? '';
    const behave = (Object.hasOwn(paths, path) ? paths[path] : undefined) ?? others;
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      content = Buffer.concat(chunks);
      behave(request, response, content);
    });
  };
  const server = certificate === undefined ? createServer(listener) : createSecureServer(certificate, listener);
  server.on(certificate === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    const bytes = { received: '', sent: '' };
    sockets.set(socket, bytes);
    recordBytes(socket, bytes);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Consents with these values, without an origin to every origin that asks. Returns 204 for events. */
export function consenting(rate: string, origin?: string): Behaviour {
  return ({ method, headers }, response) => {
    if (method === 'POST') return void response.writeHead(isEvent(headers) ? 204 : 415).end();
    if (method !== 'OPTIONS') return void response.writeHead(405, { Allow: 'POST, OPTIONS' }).end();
    const asking = headers['webhook-request-origin']?.toString();
    // A preflight of CORS has none, and gets no consent.
    const consent = { 'WebHook-Allowed-Origin': origin ?? asking ?? '', 'WebHook-Allowed-Rate': rate };
    response.writeHead(200, { Allow: 'POST, OPTIONS', ...(asking && consent), 'Content-Length': 0 }).end();
  };
}

function isEvent(headers: IncomingHttpHeaders): boolean {
  return 'ce-specversion' in headers || /^application\/cloudevents/i.test(headers['content-type'] ?? '');
}

/** Sends no WebHook headers (webhook specification, section 4.2): the owner decides with the callback. */
export const withholding: Behaviour = (request, response) => {
  if (request.method === 'POST') response.writeHead(204).end();
  else response.writeHead(200, { 'Content-Length': 0 }).end();
};

/** Closes the connection without a response. */
export const hangingUp: Behaviour = (request) => void request.socket.destroy();

const notFound: Behaviour = (_request, response) => void response.writeHead(404).end();

/** Without interim responses (1xx) before it. */
function headOf(bytes: string): string {
  const heads = bytes.split('\r\n\r\n');
  return (heads.find((head) => !/^HTTP\/1\.1 1\d\d /.test(head)) ?? '').replaceAll('\r\n', '\n');
}
