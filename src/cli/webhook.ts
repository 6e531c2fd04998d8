import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { generate } from 'selfsigned';

/** The heads of a request and its response as they went over the wire, and the body of the request. Lines end in LF. */
export interface WireExchange {
  method: string;
  path: string;
  /** The value of WebHook-Request-Callback. */
  callback: string | undefined;
  asked: string;
  /** At most the first 4,000 characters. */
  body: string;
  answered: string;
}

const longestBody = 4_000;
/** Of a request, kept to find its head in. */
const longestHead = 65_536;

/** What a path does with a request. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

export interface WebhookSettings {
  /** 0 for a free one. */
  port: number;
  certificate: Certificate;
  paths: Readonly<Record<string, Behaviour>>;
  onExchange: (exchange: WireExchange) => void;
}

export interface Webhook {
  port: number;
  stop(): Promise<void>;
}

/** A small webhook over HTTPS on loopback that reports what went over its sockets. Rejects if the port is in use. */
export async function startWebhook({ port, certificate, paths, onExchange }: WebhookSettings): Promise<Webhook> {
  const sockets = new WeakMap<Socket, { received: string; sent: string }>();
  const server = createServer(certificate, (request, response) => {
    const { method = '', url = '', headers } = request;
    let body = '';
    response.once('finish', () => {
      const bytes = sockets.get(request.socket) ?? { received: '', sent: '' };
      onExchange({
        method,
        path: url,
        callback: headers['webhook-request-callback']?.toString(),
        asked: headOf(bytes.received),
        body,
        answered: headOf(bytes.sent),
      });
      Object.assign(bytes, { received: '', sent: '' });
    });
    const path = url.split('?')[0] ?? '';
    const behave = Object.hasOwn(paths, path) ? paths[path] : undefined;
    request.setEncoding('utf8').on('data', (text: string) => (body = (body + text).slice(0, longestBody)));
    request.once('end', () => {
      if (behave) behave(request, response);
      else response.writeHead(404).end();
    });
  });
  server.on('secureConnection', (socket) => {
    const bytes = { received: '', sent: '' };
    sockets.set(socket, bytes);
    socket.on('data', (chunk: Buffer) => {
      if (bytes.received.length < longestHead) bytes.received += chunk.toString('latin1');
    });
    const write = socket.write.bind(socket) as (...parts: unknown[]) => boolean;
    socket.write = (...parts: unknown[]) => {
      const [chunk] = parts;
      bytes.sent += typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('latin1');
      return write(...parts);
    };
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

/** Consents with these values, without an origin to every origin that asks. Returns 204 for deliveries. */
export function consenting(rate: string, origin?: string): Behaviour {
  return (request, response) => {
    if (request.method === 'POST') return void response.writeHead(204).end();
    if (request.method !== 'OPTIONS') return void response.writeHead(405, { Allow: 'POST, OPTIONS' }).end();
    response.writeHead(200, {
      Allow: 'POST, OPTIONS',
      'WebHook-Allowed-Origin': origin ?? request.headers['webhook-request-origin'] ?? '',
      'WebHook-Allowed-Rate': rate,
      'Content-Length': 0,
    });
    response.end();
  };
}

/** Sends no WebHook headers (webhook specification, section 4.2): the owner decides with the callback. */
export const withholding: Behaviour = (request, response) => {
  if (request.method === 'POST') response.writeHead(204).end();
  else response.writeHead(200, { 'Content-Length': 0 }).end();
};

/** Closes the connection without a response. */
export const hangingUp: Behaviour = (request) => void request.socket.destroy();

function headOf(bytes: string): string {
  return (bytes.split('\r\n\r\n')[0] ?? '').replaceAll('\r\n', '\n');
}

/** Both in PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

interface Authority {
  /** For programs that trust the authority. Its key is not exposed. */
  cert: string;
  /** A server certificate for names or IPv4 addresses. */
  issue(names: readonly string[]): Promise<Certificate>;
}

const dayMs = 86_400_000;
const crypto = { keyType: 'ec', algorithm: 'sha256' } as const;

/** A certificate authority for webhooks on this machine. Its key is not stored. Valid for `days`, and since yesterday. */
export async function createAuthority(name: string, days: number): Promise<Authority> {
  const validity = { notBeforeDate: new Date(Date.now() - dayMs), notAfterDate: new Date(Date.now() + days * dayMs) };
  const authority = await generate([{ name: 'commonName', value: name }], {
    ...crypto,
    ...validity,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    cert: authority.cert,
    async issue(names) {
      const altNames = names.map((value) =>
        /^[\d.]+$/.test(value) ? ({ type: 7, ip: value } as const) : ({ type: 2, value } as const),
      );
      const leaf = await generate([{ name: 'commonName', value: names[0] ?? 'localhost' }], {
        ...crypto,
        ...validity,
        ca: { cert: authority.cert, key: authority.private },
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'extKeyUsage', serverAuth: true },
          { name: 'subjectAltName', altNames },
        ],
      });
      return { cert: leaf.cert, key: leaf.private };
    },
  };
}
