import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RegistryError } from '../errors.js';
import { uuidv7 } from '../storage/ids.js';
import type { OnRequest } from './metrics.js';
import { problemOf } from './problem.js';
import { apiHeaders } from './fixed-headers.js';

export type RefuseUnread = (error: NodeJS.ErrnoException, socket: Socket) => void;

/**
 * Answers what came over a connection and could not be read as a request (the event `clientError` of a server), with a
 * problem as everything else, and closes the connection. An answer that is being written is not written into, and a
 * request in front, which could be read, is not given the answer of what stands behind it.
 */
export function createRefuseUnread(onRequest: OnRequest): RefuseUnread {
  return (error, socket) => {
    // As Node does it where nobody listens: the answer that has the connection at present.
    const { _httpMessage: present } = socket as Socket & { _httpMessage?: ServerResponse | null };
    if (error.code === 'ECONNRESET' || !socket.writable || present?.headersSent || present?.req.complete) {
      socket.destroy();
      return;
    }
    const requestId = uuidv7();
    const problem = problemOf(refusalOf(error), requestId);
    const body = JSON.stringify(problem);
    const headers = {
      ...apiHeaders,
      'Content-Type': 'application/problem+json',
      'Content-Length': String(Buffer.byteLength(body)),
      'X-Request-Id': requestId,
      Connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    onRequest('none', problem.status, 0);
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`, () =>
      socket.destroy(),
    );
  };
}

function refusalOf({ code }: NodeJS.ErrnoException): RegistryError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new RegistryError('headers_too_large', 'The lines before the body have more than 16 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new RegistryError('request_timeout', 'The request did not come to its end in time.');
  }
  return new RegistryError('invalid_request', 'The request could not be read as HTTP/1.1.');
}
