import { IncomingMessage, ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import { Socket } from 'node:net';

/** `_header` is the head as node has written it; it is text until it is sent. */
type Written = ServerResponse & { _header?: string | null };

/**
 * Headers that many answers have in common. Node checks each header of each answer, which takes longer than a look-up; these
 * are checked once, and put behind the others in the head that node has written. Where node keeps no such head, they go to
 * it with the others.
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

  /** Writes the head of an answer that has these headers and `others`, names and values in turn. */
  writeHead(response: ServerResponse, status: number, others: readonly string[]): void {
    if (!this.#joinsHead) {
      response.writeHead(status, [...others, ...this.#entries]);
      return;
    }
    const written: Written = response.writeHead(status, others as string[]);
    // The empty line at its end is the end of the whole.
    written._header = `${written._header?.slice(0, -2)}${this.#lines}\r\n`;
  }
}

const keepsHead = /^HTTP\/1\.1 200 OK\r\nA: b\r\n(?:.+\r\n)*\r\n$/.test(headOf(['A', 'b']) ?? '');

function headOf(headers: string[]): Written['_header'] {
  const written: Written = new ServerResponse(new IncomingMessage(new Socket())).writeHead(200, headers);
  return written._header;
}
