import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { parseBody, takesBody } from './body.js';
import { brokenParameters, type Operation, type Parameters } from './contract.js';
import type { Language } from '../texts/text.js';
import { languageOf } from './language.js';
import { nobody, type Principal } from './principal.js';
import { traceparentOf } from './trace-context.js';
import type { FixedHeaders, StreamedBody } from './write-answer.js';

/** An operation of the contract with its handler. */
export interface Route {
  operation: Operation;
  handle: (call: HttpExchange) => UntypedAnswer | Promise<UntypedAnswer>;
  /** Bytes. */
  bodyLimit: number;
  /**
   * Asked before every event. Its handler reads `query` and `body` itself where it has no faster way, its successes are
   * counted and not logged, and nothing watches whether the client is still there: each would cost a part of the
   * answer.
   */
  isHot: boolean;
  headersWithJson: FixedHeaders;
  headersWithoutBody: FixedHeaders;
  headersWithProblem: FixedHeaders;
  headersWithPage: FixedHeaders;
}

/** Where a request goes, as its transport found it. */
export interface RouteMatch {
  route: Route;
  /** Decoded, not yet checked. */
  path: Readonly<Record<string, unknown>>;
  /** As it was sent, without the question mark. */
  queryText: string;
  /** The path for links. */
  address: string;
}

/** What a handler answers; its types are checked where the handler is written. */
export interface UntypedAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  isFollowed?: boolean;
  body?: unknown;
  html?: string;
  json?: string | Buffer;
  mediaType?: string;
  stream?: StreamedBody;
}

/** As in `Call`. The fast path has no operation that answers in two media types. */
export type Preferred = (...mediaTypes: string[]) => string | false;

const noBody = Buffer.alloc(0);

/** One request, from its headers to its log line. Handlers see it as their `Call`. */
export class HttpExchange {
  readonly startedAt = performance.now();
  /** Undefined until it is found, and for what Express answers by itself. */
  match: RouteMatch | undefined;
  authorization: string | undefined;
  principal: Principal = nobody;
  bytes: Buffer = noBody;
  /** Of the problem that it was answered with. */
  code: string | undefined;
  /** Its end is noticed by its signal. */
  isWatched = false;
  private parameters: Parameters | undefined;
  private parsed: unknown;
  private gone: AbortSignal | undefined;
  private spoken: Language | undefined;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly requestId: string,
    readonly preferred: Preferred,
  ) {}

  get route(): Route {
    return this.found.route;
  }

  get operation(): Operation {
    return this.found.route.operation;
  }

  get path(): Record<string, unknown> {
    return this.readParameters().path;
  }

  get query(): Record<string, unknown> {
    return this.readParameters().query;
  }

  get language(): Language {
    return (this.spoken ??= languageOf(this.request.headers['accept-language']));
  }

  /** Whether the response depends on the language. */
  get isSpoken(): boolean {
    return this.spoken !== undefined;
  }

  get queryText(): string {
    return this.found.queryText;
  }

  get address(): string {
    return this.found.address;
  }

  get header(): IncomingHttpHeaders {
    return this.request.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders;
  }

  get traceparent(): string | undefined {
    return traceparentOf(this.request.headers);
  }

  get body(): unknown {
    const { operation, header } = this;
    if (!takesBody(operation, header)) return undefined;
    // Any media type: an event in binary mode. Its handler reads the bytes.
    if (operation.mediaTypes.includes('*/*')) return this.bytes;
    return (this.parsed ??= parseBody(operation, header, this.bytes));
  }

  /** Fires when the answer was sent, or the client has gone. */
  get signal(): AbortSignal {
    return (this.gone ??= signalOfEnd(this.request, this.response));
  }

  /** Errors: `invalid_request`, `media_type_unsupported`. */
  readAll(): void {
    this.readParameters();
    void this.body;
  }

  /** Errors: `invalid_request`. */
  readParameters(): Parameters {
    return (this.parameters ??= this.operation.parseParameters({
      path: this.found.path,
      query: queryOf(this.found.queryText),
      request: this.request,
    }));
  }

  private get found(): RouteMatch {
    if (this.match === undefined) throw new Error('This request has no route yet.');
    return this.match;
  }
}

/** Made once: creating an error costs more than the rest of the signal. */
const closed = new Error('The connection was closed.');

/**
 * A response that waits behind another one of its connection gets no event when the connection closes, so the socket is
 * watched too.
 */
function signalOfEnd({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const leave = () => {
    socket.off('close', leave);
    gone.abort(closed);
  };
  response.once('close', leave);
  socket.setMaxListeners(0).once('close', leave);
  if (response.destroyed || socket.destroyed) leave();
  return gone.signal;
}

/**
 * A repeated name becomes a list, which no parameter accepts. RegistryError `invalid_request` for bad percent-encoding.
 */
function queryOf(text: string): Record<string, unknown> {
  if (text.includes('%')) requireEncoding(text);
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  // Without this question mark URLSearchParams would drop one that belongs to the text.
  for (const [name, value] of new URLSearchParams(`?${text}`)) {
    const before = values[name];
    if (before === undefined) values[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else values[name] = [before, value];
  }
  return values;
}

export const percentEncodingDetail = 'Percent-encoding has two hexadecimal digits after each %, and stands for UTF-8.';

/** URLSearchParams would read bad UTF-8 as U+FFFD, and a lone percent sign as itself. */
function requireEncoding(text: string): void {
  for (const part of text.split('&')) {
    try {
      decodeURIComponent(part);
    } catch {
      const pointer = `query/${part.split('=')[0]}`;
      throw brokenParameters([{ pointer, rule: 'percent_encoding', detail: percentEncodingDetail }]);
    }
  }
}
