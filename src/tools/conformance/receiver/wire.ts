import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import { certificateFaultTexts } from '../../../base/texts/verdicts.js';
import { whenAborted } from '../../../base/until.js';
import { verdicts } from '../../../consent/verdicts.js';
import { certificateFaultOf, watchCertificate } from '../../../outbound/certificate-fault.js';
import { failureOfTls } from '../../../outbound/failure.js';
import { linesOfHead } from '../listen.js';
import { recordBytes } from '../record-bytes.js';

export interface TargetRequest {
  method: 'OPTIONS' | 'POST';
  url: string;
  /** In order, in this case. Host, User-Agent and Connection are added. */
  headers: ReadonlyArray<readonly [name: string, value: string]>;
  body?: string | undefined;
  /** How the end of the body is marked. By default a POST has a length, and OPTIONS has no body. */
  framing?: 'length' | 'chunked' | undefined;
}

/** What went over the wire. Heads have LF between lines. */
export interface TargetExchange {
  asked: string;
  /** The head of the final response; undefined if there was none. */
  answered: string | undefined;
  answer: Answer | undefined;
  /** Why there was no response; empty if there was one. */
  failure: string;
  /** The connection was closed without a response. */
  isDropped: boolean;
  /** Milliseconds until the head of the response. */
  duration: number;
}

interface Answer {
  status: number;
  headers: ReadonlyArray<readonly [name: string, value: string]>;
  /** Of the body that arrived, at most `longestBody`. */
  bodyBytes: number;
}

interface WireSettings {
  /** PEM of an authority that is trusted beside the public ones; undefined for none. */
  ca: readonly string[] | undefined;
  timeoutMs: number;
  signal: AbortSignal;
}

const longestBody = 65_536;

/** Codes of a connection that the other side closed. */
const dropped = ['ECONNRESET', 'EPIPE'];

/**
 * Sends one HTTP/1.1 request on a connection of its own, follows nothing, and keeps the bytes of both heads. Never
 * rejects: without a response, `failure` says why.
 */
export function exchange(wire: TargetRequest, { ca, timeoutMs, signal }: WireSettings): Promise<TargetExchange> {
  const url = new URL(wire.url);
  const startedAt = performance.now();
  const body = wire.body ?? '';
  const framing = wire.framing ?? (wire.method === 'POST' ? 'length' : undefined);
  const lines: ReadonlyArray<readonly [string, string]> = [
    ['Host', url.host],
    ['User-Agent', 'assent-conformance'],
    ['Connection', 'close'],
    ...wire.headers,
    ...(framing === 'length' ? [['Content-Length', String(Buffer.byteLength(body))] as const] : []),
    ...(framing === 'chunked' ? [['Transfer-Encoding', 'chunked'] as const] : []),
  ];
  const target = requestTargetOf(wire.url);

  return new Promise((resolve) => {
    const bytes = { sent: '', received: '' };
    let answer: Answer | undefined;
    let duration = 0;
    const send = url.protocol === 'https:' ? secureRequest : plainRequest;
    const request = send({
      method: wire.method,
      hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port,
      // As the URL is written: nothing is decoded or encoded.
      path: target,
      headers: lines.flat(),
      agent: false,
      ...(ca && { ca: [...ca] }),
    });
    const settle = (failure: string, isDropped = false) => {
      clearTimeout(timer);
      leave();
      request.destroy();
      const asked = headOf(bytes.sent) ?? unsentHead(wire.method, target, lines);
      if (answer === undefined) duration = performance.now() - startedAt;
      resolve({
        asked,
        answered: answer && finalHead(bytes.received),
        answer,
        failure: answer === undefined ? failure : '',
        isDropped: answer === undefined && isDropped,
        duration: Math.round(duration),
      });
    };
    const timer = setTimeout(() => settle(`no response within ${timeoutMs / 1_000} s`), timeoutMs);
    let leave = () => {};
    leave = whenAborted([signal], () => settle('the run was over'));

    let withCertificate = (code: string) => code;
    request.once('socket', (socket) => {
      recordBytes(socket, bytes);
      if (socket instanceof TLSSocket) withCertificate = watchCertificate(socket);
    });
    request.on('error', (error: NodeJS.ErrnoException) =>
      settle(sayFailure(error, withCertificate), dropped.includes(error.code ?? '')),
    );
    request.once('response', (response) => {
      duration = performance.now() - startedAt;
      const read = { status: response.statusCode ?? 0, headers: linesOfHead(response), bodyBytes: 0 };
      answer = read;
      response.on('data', (chunk: Buffer) => {
        read.bodyBytes += chunk.length;
        if (read.bodyBytes >= longestBody) settle('');
      });
      response.once('close', () => settle(''));
    });
    request.end(body);
  });
}

/** What is in front of the receiver, if that can be told; otherwise the words of Node or OpenSSL. */
function sayFailure(error: NodeJS.ErrnoException, withCertificate: (code: string) => string): string {
  const fault = certificateFaultOf(error.code);
  if (fault !== undefined) {
    const { title, advice } = certificateFaultTexts[fault];
    return `${title.en} ${advice.en} ${withCertificate(error.code ?? '')}`;
  }
  const { reason } = failureOfTls(error.code ?? '', false);
  const { title, advice } = verdicts[reason];
  return reason === 'tls_failed' ? error.message || String(error.code) : `${title.en} ${advice?.en}`;
}

/** Path and query as the text has them. */
export function requestTargetOf(url: string): string {
  const target = /^[a-z]+:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? '';
  return target.startsWith('/') ? target : `/${target}`;
}

/** Without a connection there are no bytes. */
function unsentHead(method: string, target: string, lines: TargetRequest['headers']): string {
  return [`${method} ${target} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)].join('\n');
}

// eslint-disable-next-line no-control-regex -- these are the characters to replace
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Control characters, which a terminal would obey, are replaced. */
function headOf(bytes: string): string | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  return bytes.slice(0, end).replaceAll('\r\n', '\n').replace(control, '\ufffd');
}

/** Informational responses come before the final one. */
function finalHead(bytes: string): string {
  let rest = bytes;
  while (/^HTTP\/1\.\d 1\d\d/.test(rest) && rest.includes('\r\n\r\n')) rest = rest.slice(rest.indexOf('\r\n\r\n') + 4);
  return headOf(rest) ?? rest.split(/\r?\n\r?\n/)[0] ?? '';
}
