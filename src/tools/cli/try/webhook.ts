import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type Certificate, createAuthority } from '../../conformance/authority.js';
import { recordBytes, type WireBytes } from '../../conformance/record-bytes.js';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { openKeyFile } from '../../../base/files/key-file.js';
import { exchangeLines, printable } from '../printable.js';

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

export interface TestWebhookSettings {
  /** 0 for a free one. */
  port: number;
  /** Undefined for plain http. */
  certificate: Certificate | undefined;
  paths: Readonly<Record<string, Behaviour>>;
  /** For all other paths; 404 if absent. */
  others?: Behaviour;
  onExchange: (exchange: WireExchange) => void;
}

export interface TestWebhook {
  port: number;
  stop: () => Promise<void>;
}

/** A small webhook on loopback that reports what went over its sockets. Rejects if the port is in use. */
export async function startWebhook(settings: TestWebhookSettings): Promise<TestWebhook> {
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
function consenting(rate: string, origin?: string): Behaviour {
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
const withholding: Behaviour = (request, response) => {
  if (request.method === 'POST') response.writeHead(204).end();
  else response.writeHead(200, { 'Content-Length': 0 }).end();
};

/** Closes the connection without a response. */
const hangingUp: Behaviour = (request) => void request.socket.destroy();

const notFound: Behaviour = (_request, response) => void response.writeHead(404).end();

/** Without interim responses (1xx) before it. */
function headOf(bytes: string): string {
  const heads = bytes.split('\r\n\r\n');
  return (heads.find((head) => !/^HTTP\/1\.1 1\d\d /.test(head)) ?? '').replaceAll('\r\n', '\n');
}

export interface ReceiverSettings {
  port: number;
  folder: string;
  /** Names in the folder. With `cert` and `key`, other programs can use the certificate of the receiver. */
  files?: { ca: string; callback: string; cert?: string; key?: string } | undefined;
  onExchange: (exchange: WireExchange) => void;
}

export interface Receiver {
  url: string;
  caFile: string;
  callbackFile: string;
  stop: () => Promise<void>;
}

const identity = z.object({ ca: z.string(), cert: z.string(), key: z.string() });
const tenYears = 3_650;

const paths = {
  '/events': consenting('100'),
  '/later': withholding,
  '/closed': consenting('60', 'somebody-else.example.com'),
  '/down': hangingUp,
};

/**
 * A webhook to try the registry with. Its certificate is made once, with an authority that signs nothing else. The
 * folder gets the certificate of that authority, and the last callback URL.
 */
export async function startReceiver({ port, folder, files, onExchange }: ReceiverSettings): Promise<Receiver> {
  const { ca, ...certificate } = await openWebhookIdentity(folder);
  const caFile = join(folder, files?.ca ?? 'receiver-ca.pem');
  await writeFile(caFile, ca);
  if (files?.cert) await writeFile(join(folder, files.cert), certificate.cert);
  if (files?.key) await writeFile(join(folder, files.key), certificate.key, { mode: 0o600 });
  const callbackFile = join(folder, files?.callback ?? 'receiver-callback');
  const webhook = await startWebhook({
    port,
    certificate,
    paths,
    onExchange: (exchange) => {
      if (isWithheld(exchange)) writeFileSync(callbackFile, `${exchange.callback}\n`, { mode: 0o600 });
      onExchange(exchange);
    },
  });
  return { url: `https://localhost:${webhook.port}`, caFile, callbackFile, stop: webhook.stop };
}

/** The certificate for webhooks on this machine, and its authority. */
export function openWebhookIdentity(folder: string) {
  return openKeyFile(join(folder, 'receiver.json'), createIdentity, (content) => identity.parse(content));
}

/** What each path of the receiver does. */
export function describePaths(url: string, callbackFile: string): string {
  return [
    `  ${url}/events   allows every origin that asks, 100 requests per minute`,
    `  ${url}/later    responds without consent; the last callback URL is in ${callbackFile}`,
    `  ${url}/closed   allows another origin only`,
    `  ${url}/down     closes the connection`,
    '',
  ].join('\n');
}

async function createIdentity() {
  const authority = await createAuthority('Assent receiver on this machine', tenYears);
  return { ca: authority.cert, ...(await authority.issue(['localhost', '127.0.0.1'])) };
}

function isWithheld(exchange: WireExchange): exchange is WireExchange & { callback: string } {
  return exchange.callback !== undefined && exchange.path === '/later';
}

/** An exchange for people. */
export function report(exchange: WireExchange): string {
  return [
    ...exchangeLines(exchange),
    '',
    ...(isWithheld(exchange)
      ? ['To give consent, POST to this URL, or open it in a browser:', printable(exchange.callback), '']
      : []),
    '',
  ].join('\n');
}
