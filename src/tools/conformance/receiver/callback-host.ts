import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { whenAborted } from '../../../base/until.js';
import { isLoopback } from '../../../outbound/loopback-request.js';
import type { Certificate } from '../authority.js';
import { linesOfHead, listenOn } from '../listen.js';

/** A request that arrived at the kit for an offered URL. */
export interface ReceivedCallback {
  method: string;
  /** Path and query, as sent. */
  target: string;
  headers: ReadonlyArray<readonly [name: string, value: string]>;
}

/** One callback URL that was offered to the target. */
export interface Offer {
  url: string;
  key: string;
  calls: ReceivedCallback[];
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

interface CallbackHostSettings {
  /** As the target reaches it. */
  host: string;
  /** 0 for a free one. */
  port: number;
  certificate: Certificate;
}

/**
 * Where targets call back, by https and http on one port. It listens on loopback for names of loopback, else on every
 * interface. Throws a UsageError if it cannot listen there.
 */
export async function startCallbackHost({ host, port, certificate }: CallbackHostSettings): Promise<CallbackHost> {
  const offers = new Map<
    string,
    { offer: Offer; untilAnswered: Promise<unknown>; wake: Array<(isCalled: boolean) => void> }
  >();
  let tlsFailure: string | undefined;

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: target = '' } = request;
    const found = [...offers.values()].find(({ offer }) => target.includes(offer.key));
    if (found === undefined) return void response.writeHead(404, { 'Content-Length': 0 }).end();
    found.offer.calls.push({ method, target, headers: linesOfHead(request) });
    for (const wake of found.wake.splice(0)) wake(true);
    request.resume();
    const reply = () => response.writeHead(200, { 'Content-Length': 0 }).end();
    found.untilAnswered.then(reply, reply);
  };
  const listener = await listenOn({
    host,
    address: isLoopback(bracketed(host)) ? loopbackOf(host) : undefined,
    port,
    certificate,
    onRequest: () => answer,
    onTlsFailure(error) {
      tlsFailure ??= error.message;
      for (const { wake } of offers.values()) for (const each of wake.splice(0)) each(false);
    },
  });
  const authority = `${bracketed(host)}:${listener.port}`;

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
              leave();
              resolve(isCalled);
            };
            const stop = () => settle(offer.calls.length > 0);
            const timer = setTimeout(stop, withinMs);
            let leave = () => {};
            if (offer.calls.length > 0) return stop();
            wake.push(settle);
            leave = whenAborted([signal], stop);
          }),
      };
      offers.set(key, { offer, untilAnswered, wake });
      return offer;
    },
    tlsFailure: () => tlsFailure,
    stop: () => listener.stop(),
  };
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

const loopbackOf = (host: string): string => (isIP(host) === 0 ? '127.0.0.1' : host);
