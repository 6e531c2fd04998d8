import { IncomingMessage, ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { apiVersion } from './contract.gen.js';

/**
 * Writes the body piece by piece; ends it by resolving, and breaks it off by rejecting, or answers with the problem if
 * nothing was written yet. `write` resolves when the client has room for more, and rejects when it has gone.
 */
export type StreamedBody = (write: (text: string) => Promise<void>) => Promise<void>;

/** `_header` is the head as node has written it; it is text, in Latin-1, until it is sent. */
type ResponseWithHead = ServerResponse & { _header?: string | null };

interface Head {
  status: number;
  /** Made here, so that nobody has to check it. */
  requestId: string;
  /** Names and values, one after the other. */
  others: readonly string[];
}

interface WholeAnswer extends Head {
  body: string | Buffer | undefined;
}

/** What every answer of the API has: the version of its contract, and that it is no page, not kept, and for https. */
export const apiHeaders: Readonly<Record<string, string>> = {
  'API-Version': apiVersion,
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * Headers that many answers have in common, and how these are sent. Node checks each header of each answer, which takes
 * longer than a look-up; these are checked once, and put behind the others in the head that node has written. The body
 * comes behind them, so that all of an answer is one write. Where node keeps no such head, it gets all in pieces.
 */
export class FixedHeaders {
  readonly #entries: readonly string[];
  readonly #lines: string;
  readonly #joinsHead: boolean;

  constructor(headers: Readonly<Record<string, string>>, joinsHead = keepsHead) {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    this.#entries = Object.entries(headers).flat();
    this.#lines = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    this.#joinsHead = joinsHead;
  }

  /** Writes the head of an answer whose body comes later. */
  begin(response: ServerResponse, { status, requestId, others }: Head): void {
    response.writeHead(status, [...others, 'X-Request-Id', requestId, ...this.#entries]);
  }

  /** Sends an answer that has these headers and `others`. To HEAD it has no body, but the length of one. */
  send(response: ServerResponse, { status, requestId, others, body }: WholeAnswer): void {
    const bytes = body === undefined ? 0 : Buffer.byteLength(body);
    const checked = body === undefined ? others : [...others, 'Content-Length', String(bytes)];
    if (!this.#joinsHead || response.req.method === 'HEAD') {
      this.begin(response, { status, requestId, others: checked });
      response.end(typeof body === 'string' ? Buffer.from(body) : body);
      return;
    }
    const written: ResponseWithHead = response.writeHead(status, checked as string[]);
    // The empty line at its end is the end of the whole.
    const head = `${written._header?.slice(0, -2)}X-Request-Id: ${requestId}\r\n${this.#lines}\r\n`;
    written._header = body === undefined ? head : head + latin1Of(body, bytes);
    response.end();
  }
}

/** The text whose Latin-1 is the bytes of a body: what is all ASCII is the same in it. */
function latin1Of(body: string | Buffer, bytes: number): string {
  if (typeof body === 'string' && body.length === bytes) return body;
  return (typeof body === 'string' ? Buffer.from(body) : body).toString('latin1');
}

const keepsHead = sends('HTTP/1.1 200 OK\r\nA: b\r\n', ['A', 'b', 'Content-Length', '2']);

/** Whether a head that was added to is sent as it stands. */
function sends(beginning: string, headers: string[]): boolean {
  let sent = '';
  const wire = new Writable({ decodeStrings: false, write: (text, _, done) => ((sent += text), done()) });
  const response: ResponseWithHead = new ServerResponse(new IncomingMessage(new Socket()));
  response.assignSocket(wire as Socket);
  response.writeHead(200, headers);
  const head = response._header ?? '';
  response._header = `${head}{}`;
  response.end();
  return head.startsWith(beginning) && head.endsWith('\r\n\r\n') && sent === `${head}{}`;
}

export interface StreamSettings {
  /** Writes the head, before the first piece. */
  open: () => void;
  /** How long a client may leave a stream unread before it is cut off; milliseconds. */
  stallMs: number;
  /** Fires when the service stops: who does not read is then cut off at once. */
  stopping: AbortSignal;
}

/**
 * Writes a body as fast as it is read and no faster: what waits in the process is one piece. The answer is the last one
 * of its connection, so that none is left open at a stop.
 */
export async function writeStream(
  response: ServerResponse,
  stream: StreamedBody,
  settings: StreamSettings,
): Promise<void> {
  response.shouldKeepAlive = false;
  try {
    await stream(async (text) => {
      if (response.destroyed) throw new Error('The client has gone away.');
      if (!response.headersSent) settings.open();
      if (!response.write(text)) await untilDrained(response, settings);
    });
    if (!response.headersSent) settings.open();
    response.end();
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

function untilDrained(response: ServerResponse, { stallMs, stopping }: StreamSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    // Without a socket, while an earlier answer of the connection has it, nothing is closed by that.
    const cutOff = () => {
      response.destroy();
      closed();
    };
    const timer = setTimeout(cutOff, stallMs);
    stopping.addEventListener('abort', cutOff);
    const end = (finish: () => void) => {
      clearTimeout(timer);
      stopping.removeEventListener('abort', cutOff);
      response.off('drain', drained);
      response.off('close', closed);
      finish();
    };
    const drained = () => end(resolve);
    const closed = () => end(() => reject(new Error('The client has gone away.')));
    response.once('drain', drained);
    response.once('close', closed);
    if (stopping.aborted) cutOff();
  });
}
