import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { parseBody, takesBody } from './body.js';
import { brokenParameters, type Operation, type Parameters } from '../../base/contract/contract.js';
import { requestTexts } from '../../base/texts/requests.js';
import type { Language } from '../../base/texts/text.js';
import { languageOf } from '../../base/formats/language.js';
import { nobody, type Principal } from '../../base/contract/principal.js';
import { traceparentOf } from '../../base/formats/trace-context.js';
import type { TraceSpan } from '../../base/tracing.js';
import type { FixedHeaders, StreamedBody } from './write-answer.js';

/** An operation of the contract, with its handler. */
export interface Route {
  operation: Operation;
  /** The path of the public URL, which links begin with. */
  root: string;
  handle: (call: HttpExchange) => UntypedAnswer | Promise<UntypedAnswer>;
  /** Bytes. */
  bodyLimit: number;
  /**
   * Hot, and changes nothing: senders call it before every event. Its handler reads `query` and `body` only if it has no
   * faster way. Successes are counted and not logged, and nothing watches whether the client disconnects: each of these
   * would slow the response.
   */
  isLookup: boolean;
  headersWithJson: FixedHeaders;
  headersWithoutBody: FixedHeaders;
  headersWithProblem: FixedHeaders;
  headersWithPage: FixedHeaders;
}

/** The route of a request, as its transport found it. */
export interface RouteMatch {
  route: Route;
  /** Decoded, not yet checked. */
  path: Readonly<Record<string, unknown>>;
  /** As sent, without the question mark. */
  queryText: string;
  /** The path, without that of the public URL. */
  address: string;
}

/** What a handler returns. Its types are checked in the handler. */
export interface UntypedAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  isFollowed?: boolean;
  body?: unknown;
  html?: string;
  json?: string | Buffer;
  mediaType?: string;
  text?: string;
  stream?: StreamedBody;
}

/** As in `OperationRequest`. No operation of the fast path has two media types to choose from. */
export type Preferred = (...mediaTypes: string[]) => string | false;

const noBody = Buffer.alloc(0);

/** One request, from its headers to its log line. Handlers see it as their `OperationRequest`. */
export class HttpExchange {
  readonly startedAt = performance.now();
  /** Undefined until it is found, and for everything that Express serves itself. */
  match: RouteMatch | undefined;
  authorization: string | undefined;
  /** Undefined if nothing is traced. */
  span: TraceSpan | undefined;
  principal: Principal = nobody;
  bytes: Buffer = noBody;
  /** The code of the problem in the response. */
  code: string | undefined;
  /** Its signal records its end. */
  isWatched = false;
  private parameters: Parameters | undefined;
  private parsed: unknown;
  private gone: AbortSignal | undefined;
  private chosenLanguage: Language | undefined;

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

  /** Chosen when it is first read: a look-up that succeeds never pays for it. */
  get language(): Language {
    return (this.chosenLanguage ??= languageOf(this.request.headers['accept-language']));
  }

  /** Whether the response depends on the language. */
  get usesLanguage(): boolean {
    return this.chosenLanguage !== undefined;
  }

  get queryText(): string {
    return this.found.queryText;
  }

  get address(): string {
    return this.route.root + this.found.address;
  }

  get header(): IncomingHttpHeaders {
    return this.request.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders;
  }

  get traceparent(): string | undefined {
    return this.span ? this.span.traceparent : traceparentOf(this.request.headers);
  }

  get body(): unknown {
    const { operation, header } = this;
    if (!takesBody(operation, header)) return undefined;
    // Any media type is an event in binary mode. Its handler reads the bytes.
    if (operation.mediaTypes.includes('*/*')) return this.bytes;
    return (this.parsed ??= parseBody(operation, header, this.bytes));
  }

  /** Fires when the response was sent or the client has disconnected. */
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

/** Created once: creating an error costs more than the rest of the signal. */
const closed = new Error('The connection was closed.');

/**
 * A response that waits behind another one on its connection gets no event when the connection closes. So this listens
 * to the socket too.
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
  // Without this question mark, URLSearchParams would drop one that is part of the text.
  for (const [name, value] of new URLSearchParams(`?${text}`)) {
    const before = values[name];
    if (before === undefined) values[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else values[name] = [before, value];
  }
  return values;
}

/** URLSearchParams would read bad UTF-8 as U+FFFD, and a lone percent sign as itself. */
function requireEncoding(text: string): void {
  for (const part of text.split('&')) {
    try {
      decodeURIComponent(part);
    } catch {
      const pointer = `query/${part.split('=')[0]}`;
      throw brokenParameters([{ pointer, rule: 'percent_encoding', detail: requestTexts.percentEncoding }]);
    }
  }
}
