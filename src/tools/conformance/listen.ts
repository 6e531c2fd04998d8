import { createServer as createPlain, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTls } from 'node:https';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { UsageError } from '../../base/errors.js';
import type { Certificate } from './authority.js';

interface ListenSettings {
  /** The name or address in the URLs, for the message of a failure. */
  host: string;
  /** Undefined for every interface. */
  address: string | undefined;
  /** 0 for a free one. */
  port: number;
  certificate: Certificate;
  onRequest: (scheme: 'https' | 'http') => RequestListener;
  /** The other side doesn't trust the certificate, for example. */
  onTlsFailure?: (error: Error) => void;
}

export interface Listener {
  port: number;
  stop(): Promise<void>;
}

/** A connection that is closed while the other side uses it again would look like a fault of that side. */
const keptMs = 3_600_000;
/** The first byte of a TLS connection: a handshake record (RFC 8446, section 5.1). */
const tlsRecord = 22;

/** Serves https and http on one port. Throws a UsageError if it cannot listen there. */
export async function listenOn(settings: ListenSettings): Promise<Listener> {
  const { host, address, port, certificate, onRequest, onTlsFailure = () => undefined } = settings;
  const secure = createTls({ ...certificate }, onRequest('https')).on('tlsClientError', onTlsFailure);
  const plain = createPlain(onRequest('http'));
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

/** Each line of a head, as it was sent. */
export function linesOfHead({ rawHeaders }: IncomingMessage): Array<readonly [name: string, value: string]> {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : []));
}
