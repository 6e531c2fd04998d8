import { lookup as resolveName, type LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { whenAborted } from '../../base/until.js';
import { parseRetryAfter } from '../../consent/backoff.js';
import { formatRate, type Rate } from '../../consent/rate.js';
import type { Callback, CallbackGuard } from './callback-url.js';

/**
 * `confirmed`: 2xx. `rejected`: a repetition would change nothing. `failed`: it may, after `retryAfterMs` if the
 * sender named it. `detail` is for the application's log, and does not repeat the URL, which is a secret.
 */
export type CallResult =
  | { kind: 'confirmed' }
  | { kind: 'rejected'; detail: string }
  | { kind: 'failed'; detail: string; retryAfterMs: number | undefined };

export interface CallSettings {
  guard: CallbackGuard;
  /** PEM of an authority that is trusted instead of the public ones. */
  ca: string | undefined;
  /** Milliseconds for one call, with the look-up of the name. */
  deadlineMs: number;
}

class AddressNotAllowed extends Error {}

/**
 * Gives consent: one POST request with the rate (webhook specification, sections 4.1.3 and 4.2.2). Follows no redirect,
 * and reads nothing of the response but its head. Checks the addresses of the name that the connection uses.
 */
export function callCallback(
  { isSecure, authority, host, port, target }: Callback,
  { origin, rate }: { origin: string; rate: Rate },
  { guard, ca, deadlineMs }: CallSettings,
  signal: AbortSignal,
): Promise<CallResult> {
  const lookup: LookupFunction = (name, options, give) => {
    resolveName(name, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return give(error, '', 0);
      const isSafe = guard.areReachable(addresses.map(({ address }) => address));
      if (!isSafe) return give(new AddressNotAllowed('an address of its host is not public'), '', 0);
      if (options.all) return give(null, addresses, 0);
      give(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
  const options: RequestOptions = {
    method: 'POST',
    host,
    port,
    path: target,
    lookup,
    // No shared agent: it may have a proxy, and keeps connections.
    agent: false,
    maxHeaderSize: 8_192,
    headers: {
      Host: authority,
      'Content-Length': 0,
      'WebHook-Allowed-Origin': origin,
      'WebHook-Allowed-Rate': formatRate(rate),
    },
  };
  return new Promise((resolve) => {
    const request = isSecure
      ? httpsRequest({ ...options, ...(ca !== undefined && { ca }), rejectUnauthorized: true })
      : httpRequest(options);
    const stop = (why: string) => request.destroy(new Error(why));
    const timer = setTimeout(() => stop(`there was no response within ${deadlineMs} ms`), deadlineMs);
    timer.unref();
    const leave = whenAborted([signal], () => stop('the webhook was closed'));
    const settle = (result: CallResult) => {
      clearTimeout(timer);
      leave();
      resolve(result);
    };
    request.on('error', (error) => {
      const detail = error.message || String((error as NodeJS.ErrnoException).code);
      settle(
        error instanceof AddressNotAllowed
          ? { kind: 'rejected', detail }
          : { kind: 'failed', detail, retryAfterMs: undefined },
      );
    });
    request.once('response', (response) => {
      const { statusCode = 0, headers } = response;
      response.destroy();
      settle(resultOf(statusCode, headers));
    });
    request.end();
  });
}

/** Statuses of the 4xx that ask for a repetition. */
const temporary = [408, 425, 429];

function resultOf(status: number, headers: IncomingHttpHeaders): CallResult {
  if (status >= 200 && status < 300) return { kind: 'confirmed' };
  const detail = `it returned ${status}`;
  if (status < 500 && !temporary.includes(status)) return { kind: 'rejected', detail };
  return { kind: 'failed', detail, retryAfterMs: parseRetryAfter(headers['retry-after'], headers.date) };
}
