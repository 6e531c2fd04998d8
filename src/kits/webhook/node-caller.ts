import { lookup as resolveName, type LookupAddress } from 'node:dns';
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { whenAborted } from '../../base/until.js';
import { formatRate } from '../../consent/rate.js';
import { resultOf, type Caller, type CallResult } from './callback-call.js';

class AddressNotAllowed extends Error {}

/** Checks the addresses of the name that the connection uses. */
const call: Caller['call'] = (
  { isSecure, authority, host, port, target },
  { origin, rate },
  { guard, ca, deadlineMs },
  signal,
) => {
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
  return new Promise<CallResult>((resolve) => {
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
      settle(resultOf(statusCode, headers['retry-after'], headers.date));
    });
    request.end();
  });
};

/** For Node, and for Deno and Bun, which have its modules. */
export const nodeCaller: Caller = { call, checksAddresses: true, background: true };
