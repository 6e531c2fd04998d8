import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { RegistryError } from '../../base/errors.js';
import { asUnavailable } from '../storage/database-errors.js';
import { uuidv7 } from '../../base/files/ids.js';
import { requestTexts } from '../../base/texts/requests.js';
import { storageTexts } from '../../base/texts/storage.js';
import { textIn } from '../../base/texts/text.js';
import { authorizationOf, gatewayAuthorizationOf, type Authenticate } from '../tokens/authenticate.js';
import { readBody, takesBody } from './body.js';
import { requireScope, type Operation } from '../../base/contract/contract.js';
import { HttpExchange, type Preferred, type Route, type RouteMatch, type UntypedAnswer } from './exchange.js';
import type { Handlers } from './handler.js';
import { pagePolicy, problemPage, type Site } from './html-page.js';
import type { Principal } from '../../base/contract/principal.js';
import { acceptHeaders, problemHeaders, problemOf, withPlusHints } from '../../base/problem.js';
import { pathOf } from '../../base/formats/uri.js';
import { callerRequestIdOf, traceIdOf } from '../../base/formats/trace-context.js';
import type { Tracing } from '../../base/tracing.js';
import { apiHeaders, FixedHeaders, ownHostHeaders, writeStream, type StreamedBody } from './write-answer.js';

export type OnRequest = (operation: string, status: number, seconds: number) => void;

export type HandlerResult = UntypedAnswer | Promise<UntypedAnswer> | { thrown: unknown };

interface PipelineSettings {
  handlers: Handlers;
  /** Bytes of a body of events. */
  maxEventBytes: number;
  /** Returns the principal without a promise if the token is cached. */
  authenticate: (authorization: string | undefined) => Principal | ReturnType<Authenticate>;
  /** Refuses every operation that changes anything. */
  readsOnly: boolean;
  /** Called after an operation that may have written, before its response is sent. */
  onWritten: () => Promise<void>;
  onRequest: OnRequest;
  log: Logger;
  /** Undefined if nothing is traced. */
  tracing?: Tracing | undefined;
  /** Of the registry; empty if it has none. */
  publicUrl: string;
  /** For pages. */
  site: Site;
  /** Checks every response against the contract, and turns an invalid one into a 500. The tests set it. */
  checkAnswers: boolean;
  /** Milliseconds after which a client that does not read its stream is disconnected. */
  stallMs: number;
  /** When it fires, every response closes its connection. */
  stopping: AbortSignal;
}

/** Bytes of a body, by default. */
const usualBodyLimit = 65_536;

/** A proxy that compresses alters or drops the ETag. This stops HAProxy, Envoy and CDNs, but neither nginx nor Apache. */
const untransformed = { 'Cache-Control': `${apiHeaders['Cache-Control']}, no-transform` };

const json = 'application/json; charset=utf-8';
const problemHeadersOf = (headers: Readonly<Record<string, string>>) =>
  new FixedHeaders({ ...headers, 'Content-Type': 'application/problem+json' });
const pageHeadersOf = (headers: Readonly<Record<string, string>>) =>
  new FixedHeaders({
    ...headers,
    'Content-Security-Policy': pagePolicy,
    'Content-Type': 'text/html; charset=utf-8',
  });
const noHeaders = {};
/** That of the public URL, unless other programs share it: they are behind another path, or speak HTTP without TLS. */
function ownHostOf(publicUrl: string): string | undefined {
  const url = publicUrl === '' ? undefined : new URL(publicUrl);
  return url?.protocol === 'https:' && url.pathname === '/' ? url.host : undefined;
}
/** From an address to the root, which may be below the path of a proxy. */
const rootOf = (url: string): string => '../'.repeat((url.split(/[?#]/)[0] ?? '').split('/').length - 2) || './';
const problemAnswer = problemHeadersOf(apiHeaders);
const pageAnswer = pageHeadersOf(apiHeaders);

/**
 * Every request passes through here: begin, authenticate, check the scope, refuse writes in a read-only process, check
 * parameters, read the body, call the handler, check the response, send it, count and log it. There are two transports,
 * the fast path and Express. They differ in how they find the route, and in when they call the handler. No step returns
 * a promise unless it waits for something.
 */
export class Pipeline {
  readonly #settings: PipelineSettings;
  readonly #nextId = createRequestIds();
  readonly #ownHost: string | undefined;
  readonly #root: string;

  constructor(settings: PipelineSettings) {
    this.#settings = settings;
    this.#ownHost = ownHostOf(settings.publicUrl);
    this.#root = pathOf(settings.publicUrl);
  }

  routeOf(operation: Operation): Route {
    const { bodyLimit = usualBodyLimit, deprecation, hasTag, isHot, isSafe, takesEvents } = operation;
    // A `Link` of the handler, to the next page, is a line of its own beside the one of the deprecation.
    const headers = { ...apiHeaders, ...(hasTag && untransformed), ...operation.headers, ...deprecation };
    return {
      operation,
      root: this.#root,
      // The contract has checked what the handler's types promise.
      handle: this.#settings.handlers[operation.id] as unknown as Route['handle'],
      bodyLimit: takesEvents ? this.#settings.maxEventBytes : bodyLimit,
      isLookup: isHot && isSafe,
      headersWithJson: new FixedHeaders({ ...headers, 'Content-Type': json }),
      headersWithoutBody: new FixedHeaders(headers),
      headersWithProblem: deprecation ? problemHeadersOf({ ...apiHeaders, ...deprecation }) : problemAnswer,
      headersWithPage: deprecation ? pageHeadersOf({ ...apiHeaders, ...deprecation }) : pageAnswer,
    };
  }

  /** Undefined if this already refused the request. Pass the route if it is known. */
  begin(
    request: IncomingMessage,
    response: ServerResponse,
    preferred: Preferred,
    match?: RouteMatch,
  ): HttpExchange | undefined {
    const exchange = new HttpExchange(request, response, this.#nextId(), preferred);
    exchange.match = match;
    exchange.span = this.#settings.tracing?.request(request);
    if (!match?.route.isLookup) {
      exchange.isWatched = true;
      exchange.signal.addEventListener('abort', () =>
        this.#record(exchange, response.writableFinished ? response.statusCode : 499),
      );
    }
    try {
      exchange.authorization = match?.route.operation.takesAnyMethod
        ? gatewayAuthorizationOf(request)
        : authorizationOf(request);
      return exchange;
    } catch (error) {
      this.fail(exchange, error);
      return undefined;
    }
  }

  /** From the token to the body. Needs the route. Calls `handle` when everything was read. */
  receive(exchange: HttpExchange, handle: (exchange: HttpExchange) => void): void {
    exchange.span?.found(exchange.request, exchange.operation);
    try {
      if (exchange.operation.scopes === undefined) return this.#read(exchange, handle);
      const principal = this.#settings.authenticate(exchange.authorization);
      if (!(principal instanceof Promise)) return this.#admit(exchange, principal, handle);
      principal.then((known) => this.#admit(exchange, known, handle)).catch((error) => this.fail(exchange, error));
    } catch (error) {
      this.fail(exchange, error);
    }
  }

  #admit(exchange: HttpExchange, principal: Principal, handle: (exchange: HttpExchange) => void): void {
    exchange.principal = principal;
    requireScope(exchange.operation, principal);
    this.#read(exchange, handle);
  }

  #read(exchange: HttpExchange, handle: (exchange: HttpExchange) => void): void {
    const { operation, request, route } = exchange;
    if (this.#settings.readsOnly && !operation.isSafe) {
      throw new RegistryError('read_only', requestTexts.readOnlyProcess, { retryAfterSeconds: 5 });
    }
    if (!takesBody(operation, request.headers)) return handle(exchange);
    // Parameters before the body: the service buffers no body for a request that it refuses.
    exchange.readParameters();
    readBody(request, route.bodyLimit, (body) => {
      if (body instanceof RegistryError) return this.fail(exchange, body);
      exchange.bytes = body;
      handle(exchange);
    });
  }

  /** Calls the handler. Never throws. */
  make(exchange: HttpExchange): HandlerResult {
    return exchange.span === undefined ? this.#make(exchange) : exchange.span.run(() => this.#make(exchange));
  }

  #make(exchange: HttpExchange): HandlerResult {
    try {
      const { route } = exchange;
      if (!route.isLookup) exchange.readAll();
      return route.handle(exchange);
    } catch (thrown) {
      return { thrown };
    }
  }

  /** Never throws. */
  send(exchange: HttpExchange, made: HandlerResult): void {
    try {
      if ('thrown' in made) throw made.thrown;
      const sent =
        made instanceof Promise ? made.then((later) => this.#answer(exchange, later)) : this.#answer(exchange, made);
      sent?.catch((error) => this.fail(exchange, error));
    } catch (error) {
      this.fail(exchange, error);
    }
  }

  #answer(exchange: HttpExchange, made: UntypedAnswer): Promise<void> | undefined {
    if (exchange.operation.isSafe || made.isFollowed) return this.#write(exchange, made);
    return this.#settings.onWritten().then(() => this.#write(exchange, made));
  }

  #write(exchange: HttpExchange, made: UntypedAnswer): Promise<void> | undefined {
    const { status, headers, body, html, stream } = made;
    if (made.text !== undefined) return this.#writeText(exchange, made, made.text, made.mediaType);
    const text = made.json ?? (body === undefined ? undefined : JSON.stringify(body));
    const mediaType =
      made.mediaType ?? (html !== undefined ? 'text/html' : text === undefined ? undefined : 'application/json');
    if (this.#settings.checkAnswers) checkAnswer(exchange.operation, status, mediaType, text);
    if (stream !== undefined) return this.#writeOut(exchange, made, stream, mediaType);
    const { headersWithJson, headersWithoutBody, headersWithPage } = exchange.route;
    if (html !== undefined) this.#finish(exchange, headersWithPage, status, headers, html);
    else this.#finish(exchange, text === undefined ? headersWithoutBody : headersWithJson, status, headers, text);
    return undefined;
  }

  #writeText(exchange: HttpExchange, { status, headers }: UntypedAnswer, text: string, mediaType = ''): undefined {
    if (this.#settings.checkAnswers) checkAnswer(exchange.operation, status, mediaType, undefined);
    const others = { 'Content-Type': mediaType, ...headers };
    this.#finish(exchange, exchange.route.headersWithoutBody, status, others, text);
  }

  async #writeOut(exchange: HttpExchange, made: UntypedAnswer, stream: StreamedBody, mediaType = ''): Promise<void> {
    const { request, response, requestId, route } = exchange;
    const type = mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType;
    const others = ['Content-Type', type, ...this.#ownHeaders(exchange, made.headers)];
    // Only with the first piece: a failure before that is answered with a problem.
    const open = () => route.headersWithoutBody.begin(response, { status: made.status, requestId, others });
    const { stallMs, stopping } = this.#settings;
    if (request.method !== 'HEAD') return writeStream(response, stream, { open, stallMs, stopping });
    open();
    response.end();
  }

  /** Responds with a problem. The details of an unexpected error go to the log only. */
  fail(exchange: HttpExchange, thrown: unknown): void {
    const error = asUnavailable(thrown);
    const known = error instanceof RegistryError ? error : unforeseen(error);
    exchange.code = known.code;
    exchange.span?.set({ problem: known.code });
    const { log, publicUrl, site } = this.#settings;
    if (known.code === 'internal') log.error({ ...namesOf(exchange), err: known.cause }, 'fault');
    else if (known.cause !== undefined) log.warn({ ...namesOf(exchange), err: known.cause }, known.code);
    const { response, match, preferred, language, requestId } = exchange;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const problem = problemOf(withPlusHints(known, match?.queryText ?? ''), requestId, language, publicUrl);
    // Without this, it says that a change may have been made.
    const isRead = known.code === 'database_unavailable' && match?.route.operation.isSafe === true;
    if (isRead) problem.detail = textIn(storageTexts.unavailableForReads, language);
    const headers: Record<string, string> = {
      ...problemHeaders(known),
      ...acceptHeaders(known, match?.route.operation),
    };
    // A browser also gets a page where nothing is.
    const hasPage = match === undefined || match.route.operation.hasPage === true;
    if (hasPage) headers['Vary'] = 'Accept';
    const types = ['application/problem+json', 'application/json', 'text/html'];
    if (hasPage && preferred(...types) === 'text/html') {
      const root = rootOf(exchange.request.url ?? '');
      const page = problemPage(problem, { site, language, root, hasWays: match === undefined });
      this.#finish(exchange, match?.route.headersWithPage ?? pageAnswer, problem.status, headers, page);
    } else {
      const fixed = match?.route.headersWithProblem ?? problemAnswer;
      this.#finish(exchange, fixed, problem.status, headers, JSON.stringify(problem));
    }
  }

  #finish(
    exchange: HttpExchange,
    fixed: FixedHeaders,
    status: number,
    headers: Readonly<Record<string, string>> | undefined,
    body: string | Buffer | undefined,
  ): void {
    const { response } = exchange;
    const others = this.#ownHeaders(exchange, headers);
    if (this.#settings.stopping.aborted || leavesBody(exchange)) others.push('Connection', 'close');
    fixed.send(response, { status, requestId: answeredId(exchange), others, body });
    if (!exchange.isWatched) this.#record(exchange, status);
  }

  /** Those of the host under which this was asked, which can also be that of an origin (origins/directory.ts). */
  hostHeaders({ headers: { host = '' } }: IncomingMessage): Readonly<Record<string, string>> {
    const isOwn = host === this.#ownHost || host.toLowerCase().replace(/:443$/, '') === this.#ownHost;
    return isOwn ? ownHostHeaders : noHeaders;
  }

  /** The headers of one response, names and values in turn, with its language if it has one. */
  #ownHeaders(exchange: HttpExchange, headers: Readonly<Record<string, string>> | undefined): string[] {
    const list: string[] = [];
    for (const name in headers) list.push(name, headers[name] as string);
    const ofHost = this.hostHeaders(exchange.request);
    for (const name in ofHost) list.push(name, ofHost[name] as string);
    if (exchange.usesLanguage) {
      if (!list.includes('Content-Language')) list.push('Content-Language', exchange.language);
      const vary = list.indexOf('Vary');
      if (vary === -1) list.push('Vary', 'Accept-Language');
      else list[vary + 1] += ', Accept-Language';
    }
    return list;
  }

  /** Once for each request, at its end: 499 if the client disconnected before the response was sent. */
  #record(exchange: HttpExchange, status: number): void {
    const { match, startedAt, request, principal, code } = exchange;
    const seconds = (performance.now() - startedAt) / 1_000;
    const operation = match?.route.operation.id ?? 'none';
    this.#settings.onRequest(operation, status, seconds);
    exchange.span?.endRequest(status, code);
    // Logging a look-up would cost more than the look-up.
    if (match?.route.isLookup && status < 400) return;
    const tenant = principal.tenant || undefined;
    const subscriber = principal.subscriber || undefined;
    const ms = Math.round(seconds * 1_000);
    this.#settings.log.info(
      { ...namesOf(exchange), operation, method: request.method, status, ms, tenant, subscriber, code },
      'request',
    );
  }
}

/**
 * UUIDs of this process: random once, then counted up. Generating a random one for each request would slow down
 * look-ups.
 */
function createRequestIds(): () => string {
  const process = uuidv7().slice(0, -12);
  let number = 0;
  return () => process + (number += 1).toString(16).padStart(12, '0');
}

/**
 * Whether a body that nobody reads has not arrived yet. A gateway that announces a body and sends none would have its
 * next request on this connection taken for that body, and its rest for a request.
 */
function leavesBody({ match, request }: HttpExchange): boolean {
  if (match?.route.operation.takesAnyMethod !== true || request.complete) return false;
  // A response that waited for nothing is sent before Node has seen the end of a request without a body.
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  return length !== '0' || encoding !== undefined;
}

/** A header that was received needs no check to be sent. */
function answeredId({ match, request, requestId }: HttpExchange): string {
  const echoed = match?.route.operation.isAuthzen ? request.headers['x-request-id'] : undefined;
  return typeof echoed === 'string' ? echoed : requestId;
}

/** The fields that link the log lines of a request with each other and with the logs of its caller. */
function namesOf({ requestId, request: { headers }, traceparent, span }: HttpExchange) {
  return {
    requestid: requestId,
    callerrequestid: callerRequestIdOf(headers),
    traceid: traceparent === undefined ? undefined : traceIdOf(traceparent),
    ...(span && { spanid: span.spanid }),
  };
}

function checkAnswer(
  operation: Operation,
  status: number,
  mediaType: string | undefined,
  text: string | Buffer | undefined,
): void {
  const value = text === undefined ? undefined : (JSON.parse(text.toString()) as unknown);
  const broken = operation.checkAnswer(status, mediaType, value);
  if (broken.length > 0) throw new Error(`The response of ${operation.id} violates the contract: ${broken.join('; ')}`);
}

function unforeseen(cause: unknown): RegistryError {
  return new RegistryError('internal', requestTexts.internal, { cause });
}
