import { lookup as resolveName, type LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { decode } from '../../base/content-coding.js';
import { whenAborted } from '../../base/until.js';
import { formatRate } from '../../consent/rate.js';
import {
  acceptKeys,
  resultOf,
  type Caller,
  type CallResult,
  type CallSettings,
  type ReadResult,
} from './callback-call.js';
import type { Callback } from './callback-url.js';

class AddressNotAllowed extends Error {}

interface Asked {
  method: 'GET' | 'POST';
  headers: Record<string, string | number>;
}

/** Checks the addresses of the name that the connection uses. What is done with the response decides when it is over. */
function ask<T>(
  { isSecure, authority, host, port, target }: Callback,
  { guard, ca, deadlineMs }: CallSettings,
  { method, headers }: Asked,
  { signal, failed, answered }: Outcome<T>,
): Promise<T> {
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
    method,
    host,
    port,
    path: target,
    lookup,
    // No shared agent: it may have a proxy, and keeps connections.
    agent: false,
    maxHeaderSize: 8_192,
    headers: { Host: authority, ...headers },
  };
  return new Promise<T>((resolve) => {
    const request = isSecure
      ? httpsRequest({ ...options, ...(ca !== undefined && { ca }), rejectUnauthorized: true })
      : httpRequest(options);
    const stop = (why: string) => request.destroy(new Error(why));
    const timer = setTimeout(() => stop(`there was no response within ${deadlineMs} ms`), deadlineMs);
    timer.unref();
    const leave = whenAborted(signal ? [signal] : [], () => stop('the webhook was closed'));
    const settle = (result: T) => {
      clearTimeout(timer);
      leave();
      resolve(result);
    };
    const fail = (error: Error) =>
      settle(failed(error, error.message || String((error as NodeJS.ErrnoException).code)));
    request.on('error', fail);
    request.once('response', (response) => {
      response.on('error', fail);
      answered(response, settle);
    });
    request.end();
  });
}

interface Outcome<T> {
  signal?: AbortSignal;
  failed: (error: Error, detail: string) => T;
  answered: (response: IncomingMessage, settle: (result: T) => void) => void;
}

const call: Caller['call'] = (url, { origin, rate }, settings, signal) => {
  const headers = {
    'Content-Length': 0,
    'WebHook-Allowed-Origin': origin,
    'WebHook-Allowed-Rate': formatRate(rate),
  };
  return ask<CallResult>(
    url,
    settings,
    { method: 'POST', headers },
    {
      signal,
      failed: (error, detail) =>
        error instanceof AddressNotAllowed
          ? { kind: 'rejected', detail }
          : { kind: 'failed', detail, retryAfterMs: undefined },
      answered(response, settle) {
        const { statusCode = 0, headers: answer } = response;
        response.destroy();
        settle(resultOf(statusCode, answer['retry-after'], answer.date));
      },
    },
  );
};

const read: Caller['read'] = (url, settings, maxBytes) =>
  ask<ReadResult>(
    url,
    settings,
    { method: 'GET', headers: acceptKeys },
    {
      failed: (_error, detail) => ({ kind: 'failed', detail }),
      answered(response, settle) {
        const { statusCode, headers } = response;
        const end = (result: ReadResult) => {
          settle(result);
          response.destroy();
        };
        if (statusCode !== 200) return end({ kind: 'failed', detail: `it returned ${statusCode}` });
        const chunks: Uint8Array[] = [];
        let bytes = 0;
        response.on('data', (chunk: Uint8Array) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > maxBytes) end({ kind: 'failed', detail: `it has more than ${maxBytes} bytes` });
        });
        response.once('end', () => {
          void decode(Buffer.concat(chunks), headers['content-encoding'], maxBytes).then((decoded) => {
            if (!decoded.ok) return settle({ kind: 'failed', detail: decoded.detail });
            settle({ kind: 'read', body: decoded.body, cacheControl: headers['cache-control'] });
          });
        });
      },
    },
  );

/** For Node, and for Deno and Bun, which have its modules. */
export const nodeCaller: Caller = { call, read, checksAddresses: true, background: true };
