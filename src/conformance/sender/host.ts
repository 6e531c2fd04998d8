import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTls } from 'node:https';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { UsageError } from '../../errors.js';
import type { Certificate } from '../authority.js';
import type { Exchange, Reply } from './exchange.js';

export interface HostSettings {
  /** The name in the URLs. For `localhost` it listens on 127.0.0.1, for an address there, else on every interface. */
  host: string;
  /** 0 for a free one. */
  port: number;
  certificate: Certificate;
  /** Records the request when its head arrives. `reply` is asked for when the body is here, too. */
  onRequest(exchange: Exchange): { reply(): Promise<Reply> };
}

export interface Host {
  port: number;
  stop(): Promise<void>;
}

const longestBody = 65_536;
const keptMs = 3_600_000;
/** The first byte of a TLS connection: a handshake record (RFC 8446, section 5.1). */
const tlsRecord = 22;

/**
 * One server for all webhooks. It speaks https, and on the same port http: a delivery without TLS is a finding, too.
 * Throws a UsageError if it cannot listen there.
 */
export async function startHost({ host, port, certificate, onRequest }: HostSettings): Promise<Host> {
  const listener = (scheme: Exchange['scheme']) => (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', rawHeaders } = request;
    const lines = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
    );
    const exchange: Exchange = { at: performance.now(), scheme, method, target: url, lines, body: '' };
    const { reply } = onRequest(exchange);
    request.setEncoding('utf8').on('data', (text: string) => {
      exchange.body = (exchange.body + text).slice(0, longestBody);
    });
    request.once('end', () => {
      const answer = async () => {
        const { status, headers } = await reply();
        Object.assign(exchange, { reply: { status, headers } });
        // Before the first byte leaves: what arrives later may already be a reaction.
        exchange.answeredAt = performance.now();
        response.writeHead(status, { ...headers, ...(status === 204 ? {} : { 'Content-Length': '0' }) }).end();
      };
      answer().catch(() => response.destroy());
    });
  };
  const secure = createTls({ ...certificate }, listener('https'));
  const plain = createPlain(listener('http'));
  // A kept connection that is closed while the sender uses it again would look like a fault of the sender.
  for (const each of [secure, plain]) each.keepAliveTimeout = keptMs;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    // In flowing mode the TLS server would never see the bytes that were read here.
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null;
      if (first === null) return;
      socket.unshift(first);
      (first[0] === tlsRecord ? secure : plain).emit('connection', socket);
    });
  });
  const address = host === 'localhost' ? '127.0.0.1' : /^[\d.]+$/.test(host) ? host : undefined;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  }).catch((error: Error) => {
    throw new UsageError(`The kit cannot listen on ${host}:${port}: ${error.message}`);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
