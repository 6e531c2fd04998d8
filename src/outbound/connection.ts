import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import {
  asksForCertificate,
  certificateRequired,
  closedAfterRequest,
  codeOf,
  failureOfTls,
  RequestFailure,
} from './failure.js';

export interface WireRequest {
  /** As parseSink accepts it. */
  url: string;
  method: 'OPTIONS' | 'POST' | 'GET';
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Returns the body of the response, if it has no more bytes than this. */
  maxReadBytes?: number;
}

/** The head of the final response: raw headers, in order, with duplicates. */
export interface AnswerHead {
  status: number;
  headers: ReadonlyArray<readonly [string, string]>;
  /** With status 400: what arrived of the body together with the head. More is never read. */
  opening?: string;
  /** As it was sent, if it was asked for, arrived whole and is not too long. */
  body?: Buffer;
}

export interface AnswerLimits {
  /** Maximum size of one block of headers. */
  maxHeaderBytes: number;
  /** Maximum number of 1xx responses before the final one. */
  maxInformational: number;
  /** Milliseconds that an idle connection is kept; 0 sends one request with `Connection: close`. */
  keepAliveMs: number;
  /** How much of a body is read to keep the connection; the response counts either way. */
  maxBodyBytes: number;
}

/** One open, checked connection, for one request after the other. */
export interface Connection {
  /**
   * Sends one HTTP/1.1 request and reads up to the end of the final response's headers; if connections are kept, up to
   * the end of its body, which is dropped. Follows and decompresses nothing. The `signal` ends everything; undici's own
   * timeouts, which each 1xx response would restart, are off. If the body cannot be read to its end, the connection is
   * closed and the response counts. Throws RequestFailure for failures of the target, and undici's error for headers
   * that cannot be sent.
   */
  exchange(request: WireRequest, signal: AbortSignal): Promise<AnswerHead>;
  /** The last exchange failed before a byte of the request was sent. */
  isUnsent(): boolean;
  /** Another request can be sent. */
  isOpen(): boolean;
  close(): void;
}

/** Takes over `socket`, which is connected and, for https, secured. `origin` is the URL origin of all requests. */
export function openConnection(socket: Socket, origin: string, limits: AnswerLimits): Connection {
  const { keepAliveMs, maxHeaderBytes, maxInformational, maxBodyBytes } = limits;
  const isKept = keepAliveMs > 0;
  let isTaken = false;
  let isUnsent = true;
  /** State of the current exchange. */
  let maxBytes = Infinity;
  let onTooMuch = () => {};
  const received = recordHeads(socket);
  /** Until it responds: in TLS 1.3 it refuses a certificate after the handshake, and some servers send no alert. */
  let isAsking = asksForCertificate(socket);
  /** An alert that arrives after the TLS handshake. undici reports the end of the connection that follows instead. */
  let alert: Error | undefined;
  socket.on('error', (error) => {
    if (codeOf(error).startsWith('ERR_SSL')) alert ??= error;
  });
  const client = new Client(origin, {
    pipelining: isKept ? 1 : 0,
    ...(isKept && { keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs }),
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: maxHeaderBytes,
    // undici resumes a request only if the connector calls back later; it calls the connector again if the socket
    // closes.
    connect: (_options, callback) =>
      queueMicrotask(() => {
        if (isTaken) return callback(closed(), null);
        isTaken = true;
        callback(null, socket);
        socket.on('readable', () => {
          if (socket.bytesRead > maxBytes) onTooMuch();
        });
      }),
  });

  const unlessAsking = (failure: Error) =>
    isAsking && received.isEmpty() && failure instanceof RequestFailure && failure.reason === 'connection_closed'
      ? certificateRequired(closedAfterRequest)
      : failure;

  function exchange(request: WireRequest, signal: AbortSignal): Promise<AnswerHead> {
    const { url, method, headers, body, maxReadBytes } = request;
    return new Promise((resolve, reject) => {
      const read: Buffer[] = [];
      let head: AnswerHead | undefined;
      let informational = 0;
      isUnsent = true;
      const leave = () => signal.removeEventListener('abort', onAbort);
      const fail = (error: Error) => {
        leave();
        // A broken body does not change the response.
        if (head === undefined) reject(error);
        else resolve(head);
        void client.destroy();
      };
      const onAbort = () => fail(signal.reason as Error);
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort);

      const handler: Dispatcher.DispatchHandler = {
        onRequestStart() {
          isUnsent = false;
          received.begin();
          // undici counts only names and values: endless padding or reason phrases would run until the deadline.
          maxBytes = socket.bytesRead + (maxInformational + 2) * maxHeaderBytes + (maxReadBytes ?? maxBodyBytes);
          onTooMuch = () => fail(tooLarge());
        },
        onResponseStart(controller, status) {
          if (!received.isHttp1(informational)) {
            fail(new RequestFailure('not_http', 'The target returned a status line that is not HTTP/1.x.'));
          } else if (status >= 100 && status < 200) {
            informational += 1;
            received.nextHead();
            if (informational <= maxInformational) return;
            const detail = `The target sent more than ${maxInformational} informational (1xx) responses.`;
            fail(new RequestFailure('too_many_informational', detail));
          } else if (status < 200 || status > 599) {
            fail(new RequestFailure('not_http', `The target returned the invalid status ${status}.`));
          } else {
            isAsking = false;
            head = { status, headers: pairsOf(controller.rawHeaders as Buffer[]) };
            if (status === 400) head.opening = received.afterHead(informational);
            received.end();
            if (isKept || maxReadBytes !== undefined) return;
            fail(settled);
          }
          controller.abort(settled);
        },
        onResponseData(_controller, chunk) {
          if (maxReadBytes !== undefined) read.push(chunk);
        },
        onResponseEnd() {
          leave();
          if (!isKept) void client.destroy();
          if (head === undefined) return;
          const whole = Buffer.concat(read);
          resolve(maxReadBytes !== undefined && whole.length <= maxReadBytes ? { ...head, body: whole } : head);
        },
        onResponseError: (_controller, error) =>
          fail(received.isHttp2() ? speaksHttp2() : unlessAsking(failureOfHttp(alert ?? error))),
      };
      client.dispatch(
        { method, path: url.slice(url.indexOf('/', 'https://'.length)), headers, body: body ?? null },
        handler,
      );
    });
  }

  return {
    exchange,
    isUnsent: () => isUnsent,
    isOpen: () => isKept && !socket.destroyed && !client.destroyed,
    close: () => void client.destroy(),
  };
}

interface RecordedHeads {
  begin(): void;
  /** A head of 1xx was read, so another one follows. */
  nextHead(): void;
  /** Whether the head at this place among all since `begin`, informational ones included, is one of HTTP/1. */
  isHttp1(place: number): boolean;
  /** A frame that opens an HTTP/2 connection (SETTINGS) or closes it (GOAWAY), on stream 0 (RFC 9113, section 4.1). */
  isHttp2(): boolean;
  isEmpty(): boolean;
  /** What was read behind the head at this place, cut to 512 bytes. */
  afterHead(place: number): string;
  end(): void;
}

/**
 * undici accepts status lines of RTSP, ICE and other HTTP versions, and does not report what it read. And it takes a 100
 * (Continue) that nobody waits for as the end of the connection, while it skips every other 1xx (RFC 9110, section
 * 15.2). So it reads 102 instead, and heads of 1xx one by one, which makes its own parser say where the next one begins.
 * The bytes keep their number and their limits, so a server gains nothing that it could not have with 102.
 */
function recordHeads(socket: Socket): RecordedHeads {
  let text = '';
  let isRecording = true;
  /** Of the head that is being read: the status line up to the status, and its last bytes. */
  let start = '';
  let tail = '';
  const nextHead = () => void (start = tail = '');
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (!isRecording || !Buffer.isBuffer(chunk)) return chunk;
    const bytes = chunk.toString('latin1');
    const known = start.length;
    start += bytes.slice(0, lengthOfStatus - known);
    if (!informationalStatus.test(start)) {
      text += bytes;
      return chunk;
    }
    if (known < lengthOfStatus && start.endsWith('100')) chunk.write('2', lengthOfStatus - 1 - known);
    const end = (tail + bytes).indexOf('\r\n\r\n');
    const length = end === -1 ? bytes.length : end + 4 - tail.length;
    if (length < bytes.length) socket.unshift(chunk.subarray(length));
    text += bytes.slice(0, length);
    tail = (tail + bytes.slice(0, length)).slice(-3);
    return chunk.subarray(0, length);
  };
  return {
    begin: () => {
      text = '';
      isRecording = true;
      nextHead();
    },
    nextHead,
    isHttp1(place) {
      if (place === 0 && /^HTTP\/1\.\d /.test(text)) return true;
      const lines = Array.from(text.matchAll(/(?:^|\n\r?\n)[\r\n]*([^\r\n]*)/g), ([, line = '']) => line);
      return /^HTTP\/1\.\d /.test(lines[place] ?? '');
    },
    // eslint-disable-next-line no-control-regex -- these are frames
    isHttp2: () => /^[\0-\x3f][^]{2}[\x04\x07][^]\0{4}/.test(text),
    isEmpty: () => text === '',
    afterHead(place) {
      const bodies = text.split(/\r?\n\r?\n/).slice(place + 1);
      return bodies.join('\n\n').slice(0, 512);
    },
    end: () => void (isRecording = false),
  };
}

const informationalStatus = /^HTTP\/1\.\d 1\d\d$/;
const lengthOfStatus = 'HTTP/1.1 100'.length;

function pairsOf(raw: readonly Buffer[]): Array<readonly [string, string]> {
  const text = raw.map((bytes) => bytes.toString('latin1'));
  return text.flatMap((name, index) => (index % 2 === 0 ? [[name, text[index + 1] ?? ''] as const] : []));
}

function failureOfHttp(error: Error): Error {
  const code = codeOf(error);
  if (error instanceof RequestFailure || code === 'UND_ERR_INVALID_ARG') return error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return tooLarge();
  if (code.startsWith('ERR_SSL')) return failureOfTls(code, true);
  // undici reports an unexpected 101 as a socket error with one of two messages, or as a failed assertion.
  const isUnread = error.name === 'HTTPParserError' || code === 'ERR_ASSERTION';
  if (isUnread || /^bad (?:response|upgrade)$/.test(error.message)) {
    return new RequestFailure('not_http', `The target does not speak HTTP/1.1 (${error.message}).`, code);
  }
  return closed(code);
}

const speaksHttp2 = () =>
  new RequestFailure('http2_only', 'The target responded with frames of HTTP/2.', 'HTTP2_FRAME');

/** Internal, so one instance is enough: a stack for each request would cost more than the request's headers. */
const settled = new RequestFailure('aborted', 'The response is complete.');

const closed = (code?: string) =>
  new RequestFailure('connection_closed', 'The target closed the connection before its response was complete.', code);

const tooLarge = () => new RequestFailure('headers_too_large', 'The headers of the response are too large.');
