import type { TLSSocket } from 'node:tls';
import { Client } from 'undici';
import { codeOf, RequestFailure } from './failure.js';

export interface OptionsRequest {
  url: string;
  method: 'OPTIONS';
  headers: Readonly<Record<string, string>>;
}

interface AnswerHead {
  status: number;
  headers: ReadonlyArray<readonly [string, string]>;
}

export interface AnswerLimits {
  /** Of one block of headers. */
  maxHeaderBytes: number;
  /** 1xx answers before the final one. */
  maxInformational: number;
}

/**
 * One HTTP/1.1 request on an open, checked socket, up to the end of the final answer's headers: raw, in order, with
 * duplicates. Nothing is followed, decompressed or read beyond them, and the connection carries no second request. The
 * `signal` ends everything; undici's own time-outs, which each 1xx answer would restart, are off. Throws RequestFailure
 * for what a target does, undici's error for headers that cannot be sent.
 */
export function sendRequest(
  socket: TLSSocket,
  { url, method, headers }: OptionsRequest,
  limits: AnswerLimits,
  signal: AbortSignal,
): Promise<AnswerHead> {
  return new Promise((resolve, reject) => {
    let isTaken = false;
    let informational = 0;
    const statusLineOf = recordStatusLines(socket);
    const client = new Client(new URL(url).origin, {
      pipelining: 0,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: limits.maxHeaderBytes,
      // undici resumes a request only if the connector answers later; it asks again if the socket closes too early.
      connect: (_options, callback) =>
        queueMicrotask(() => (isTaken ? callback(closed(), null) : ((isTaken = true), callback(null, socket)))),
    });
    signal.addEventListener('abort', () => void client.destroy(), { once: true });

    client.dispatch(
      { method, path: url.slice(url.indexOf('/', 'https://'.length)), headers },
      {
        onRequestStart() {
          // undici counts names and values only: endless padding or reason phrases would run until the deadline.
          const maxBytes = socket.bytesRead + (limits.maxInformational + 2) * limits.maxHeaderBytes;
          socket.on('readable', () => {
            if (socket.bytesRead > maxBytes) reject(tooLarge());
          });
        },
        onResponseStart(controller, status) {
          const line = statusLineOf(informational);
          if (!/^HTTP\/1\.\d /.test(line)) {
            reject(new RequestFailure('not_http', 'The target answered with a status line that is not HTTP/1.x.'));
          } else if (status >= 100 && status < 200) {
            informational += 1;
            if (informational <= limits.maxInformational) return;
            const detail = `The target sent more than ${limits.maxInformational} informational (1xx) answers.`;
            reject(new RequestFailure('too_many_informational', detail));
          } else if (status < 200 || status > 599) {
            reject(new RequestFailure('not_http', `The target answered with status ${status}, which does not exist.`));
          } else {
            resolve({ status, headers: pairsOf(controller.rawHeaders as Buffer[]) });
          }
          controller.abort(settled);
        },
        onResponseError: (_controller, error) => reject(failureOfHttp(error)),
      },
    );
  });
}

/**
 * undici takes a status line of RTSP, of ICE and of other versions of HTTP for an answer, and does not say which it was.
 * Returns the line of the head with this place among all that were read, informational ones included.
 */
function recordStatusLines(socket: TLSSocket): (place: number) => string {
  let text = '';
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk)) text += chunk.toString('latin1');
    return chunk;
  };
  return (place) => Array.from(text.matchAll(/(?:^|\n\r?\n)[\r\n]*([^\r\n]*)/g), ([, line = '']) => line)[place] ?? '';
}

function pairsOf(raw: readonly Buffer[]): Array<readonly [string, string]> {
  const text = raw.map((bytes) => bytes.toString('latin1'));
  return text.flatMap((name, index) => (index % 2 === 0 ? [[name, text[index + 1] ?? ''] as const] : []));
}

function failureOfHttp(error: Error): Error {
  const code = codeOf(error);
  if (error instanceof RequestFailure || code === 'UND_ERR_INVALID_ARG') return error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return tooLarge();
  if (code.startsWith('ERR_SSL'))
    return new RequestFailure('tls_failed', `The target ended the TLS connection (${code}).`);
  // undici reports an unasked 100 or 101 as a socket error with one of two messages, and asserts where it is surprised.
  const isUnread = error.name === 'HTTPParserError' || code === 'ERR_ASSERTION';
  if (isUnread || /^bad (?:response|upgrade)$/.test(error.message)) {
    return new RequestFailure('not_http', `The target does not answer in HTTP/1.1 (${error.message}).`);
  }
  return closed();
}

/** Nobody sees it, so it is made once: a stack for each request would cost more than the request's headers. */
const settled = new RequestFailure('aborted', 'The answer is settled.');

const closed = () =>
  new RequestFailure('connection_closed', 'The target closed the connection before its answer was complete.');

const tooLarge = () => new RequestFailure('headers_too_large', 'The headers of the answer are too large.');
