import { randomBytes } from 'node:crypto';
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTls } from 'node:https';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { UsageError } from '../../errors.js';
import type { Certificate } from '../authority.js';

/** A request that arrived at the kit for an offered URL. */
export interface CallbackCall {
  method: string;
  /** Path and query, as sent. */
  target: string;
  headers: ReadonlyArray<readonly [name: string, value: string]>;
}

/** One callback URL that was offered to the target. */
export interface Offer {
  url: string;
  key: string;
  calls: CallbackCall[];
  /** Resolves to whether it has been called: after so many milliseconds, or when a TLS connection fails. */
  called(withinMs: number, signal?: AbortSignal): Promise<boolean>;
}

export interface CallbackHost {
  /** `untilAnswered` delays the response to each call. Its query is as real ones are: decoding or sorting changes it. */
  offer(scheme: 'https' | 'http', untilAnswered?: Promise<unknown>): Offer;
  /** Why a TLS connection failed, if one did: the target doesn't trust the certificate. */
  tlsFailure(): string | undefined;
  stop(): Promise<void>;
}

export interface CallbackHostSettings {
  /** As the target reaches it. */
  host: string;
  /** 0 for a free one. */
  port: number;
  certificate: Certificate;
}

/** The first byte of a TLS connection: a handshake record (RFC 8446, section 5.1). */
const tlsRecord = 22;

/**
 * Where targets call back, by https and http on one port. It listens on loopback for names of loopback, else on every
 * interface. Throws a UsageError if it cannot listen there.
 */
export async function startCallbackHost({ host, port, certificate }: CallbackHostSettings): Promise<CallbackHost> {
  const offers = new Map<
    string,
    { offer: Offer; untilAnswered: Promise<unknown>; wake: Array<(isCalled: boolean) => void> }
  >();
  const sockets = new Set<Socket>();
  let tlsFailure: string | undefined;

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: target = '', rawHeaders } = request;
    const found = [...offers.values()].find(({ offer }) => target.includes(offer.key));
    if (found === undefined) return void response.writeHead(404, { 'Content-Length': 0 }).end();
    const headers = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : []));
    found.offer.calls.push({ method, target, headers });
    for (const wake of found.wake.splice(0)) wake(true);
    request.resume();
    const reply = () => response.writeHead(200, { 'Content-Length': 0 }).end();
    found.untilAnswered.then(reply, reply);
  };
  const secure = createTls(certificate, answer);
  secure.on('tlsClientError', (error) => {
    tlsFailure ??= error.message;
    for (const { wake } of offers.values()) for (const each of wake.splice(0)) each(false);
  });
  const plain = createPlain(answer);
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
    server.listen(port, isLoopback(host) ? loopbackOf(host) : undefined, resolve);
  }).catch((error: Error) => {
    throw new UsageError(`The kit cannot listen for callbacks on ${host}:${port}: ${error.message}`);
  });
  const authority = `${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;

  return {
    offer(scheme, untilAnswered = Promise.resolve()) {
      const key = randomBytes(16).toString('hex');
      const wake: Array<(isCalled: boolean) => void> = [];
      const offer: Offer = {
        url: `${scheme}://${authority}/callback/${key}?z=1&tenant=a%2Fb&z=2&empty=`,
        key,
        calls: [],
        called: (withinMs, signal) =>
          new Promise((resolve) => {
            const settle = (isCalled: boolean) => {
              clearTimeout(timer);
              signal?.removeEventListener('abort', stop);
              resolve(isCalled);
            };
            const stop = () => settle(offer.calls.length > 0);
            const timer = setTimeout(stop, withinMs);
            if (offer.calls.length > 0 || signal?.aborted) return stop();
            signal?.addEventListener('abort', stop, { once: true });
            wake.push(settle);
          }),
      };
      offers.set(key, { offer, untilAnswered, wake });
      return offer;
    },
    tlsFailure: () => tlsFailure,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Names and addresses of this machine itself. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

const loopbackOf = (host: string): string => (host === 'localhost' ? '127.0.0.1' : host);
