import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { RegistryError } from '../../base/errors.js';
import { asUnavailable } from '../storage/database-errors.js';
import { uuidv7 } from '../../base/files/ids.js';
import { requestTexts } from '../../base/texts/requests.js';
import { authorizationOf, gatewayAuthorizationOf, type Authenticate } from '../tokens/authenticate.js';
import { readBody, takesBody } from './body.js';
import { requireScope, type Operation } from '../../base/contract/contract.js';
import { HttpExchange, type Preferred, type Route, type RouteMatch, type UntypedAnswer } from './exchange.js';
import type { Handlers } from './handler.js';
import { pagePolicy, problemPage } from './html-page.js';
import type { Principal } from '../../base/contract/principal.js';
import { problemHeaders, problemOf } from './problem.js';
import { callerRequestIdOf, traceIdOf } from '../../base/formats/trace-context.js';
import { apiHeaders, FixedHeaders, writeStream, type StreamedBody } from './write-answer.js';

/**
 * Every request passes through here: begin, authenticate, check the scope, refuse writes in a read-only process, check
 * parameters, read the body, call the handler, check the response, send it, count and log it. There are two transports,
 * the fast path and Express. They differ in how they find the route, and in when they call the handler. No step returns
 * a promise unless it waits for something.
 */
export interface Pipeline {
  routeOf(operation: Operation): Route;
  /** Undefined if this already refused the request. Pass the route if it is known. */
  begin(
    request: IncomingMessage,
    response: ServerResponse,
    preferred: Preferred,
    match?: RouteMatch,
  ): HttpExchange | undefined;
  /** From the token to the body. Needs the route. Calls `handle` when everything was read. */
  receive(exchange: HttpExchange, handle: (exchange: HttpExchange) => void): void;
  /** Calls the handler. Never throws. */
  make(exchange: HttpExchange): HandlerResult;
  /** Never throws. */
  send(exchange: HttpExchange, made: HandlerResult): void;
  fail(exchange: HttpExchange, error: unknown): void;
}

export type OnRequest = (operation: string, status: number, seconds: number) => void;

export type HandlerResult = UntypedAnswer | Promise<UntypedAnswer> | { thrown: unknown };

export interface PipelineSettings {
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
  /** Checks every response against the contract, and turns an invalid one into a 500. The tests set it. */
  checkAnswers: boolean;
  /** Milliseconds after which a client that does not read its stream is disconnected. */
  stallMs: number;
  /** When it fires, every response closes its connection. */
  stopping: AbortSignal;
}

/** Bytes of a body, by default. */
const usualBodyLimit = 65_536;

const json = 'application/json; charset=utf-8';
const problemHeadersOf = (headers: Readonly<Record<string, string>>) =>
  new FixedHeaders({ ...headers, 'Content-Type': 'application/problem+json' });
const pageHeadersOf = (headers: Readonly<Record<string, string>>) =>
  new FixedHeaders({
    ...headers,
    'Content-Security-Policy': pagePolicy,
    'Content-Type': 'text/html; charset=utf-8',
  });
const problemAnswer = problemHeadersOf(apiHeaders);
const pageAnswer = pageHeadersOf(apiHeaders);

export function createPipeline(settings: PipelineSettings): Pipeline {
  const { authenticate, maxEventBytes, readsOnly, onWritten, onRequest, log, checkAnswers, stallMs, stopping } =
    settings;

  const nextId = createRequestIds();

  function routeOf(operation: Operation): Route {
    const { bodyLimit = usualBodyLimit, deprecation, isHot, isSafe, takesEvents } = operation;
    // A `Link` of the handler, to the next page, is a line of its own beside the one of the deprecation.
    const headers = { ...apiHeaders, ...operation.headers, ...deprecation };
    return {
      operation,
      // The contract has checked what the handler's types promise.
      handle: settings.handlers[operation.id] as unknown as Route['handle'],
      bodyLimit: takesEvents ? maxEventBytes : bodyLimit,
      isLookup: isHot && isSafe,
      headersWithJson: new FixedHeaders({ ...headers, 'Content-Type': json }),
      headersWithoutBody: new FixedHeaders(headers),
      headersWithProblem: deprecation ? problemHeadersOf({ ...apiHeaders, ...deprecation }) : problemAnswer,
      headersWithPage: deprecation ? pageHeadersOf({ ...apiHeaders, ...deprecation }) : pageAnswer,
    };
  }

  function begin(request: IncomingMessage, response: ServerResponse, preferred: Preferred, match?: RouteMatch) {
    const exchange = new HttpExchange(request, response, nextId(), preferred);
    exchange.match = match;
    if (!match?.route.isLookup) {
      exchange.isWatched = true;
      exchange.signal.addEventListener('abort', () =>
        record(exchange, response.writableFinished ? response.statusCode : 499),
      );
    }
    try {
      exchange.authorization = match?.route.operation.takesAnyMethod
        ? gatewayAuthorizationOf(request)
        : authorizationOf(request);
      return exchange;
    } catch (error) {
      fail(exchange, error);
      return undefined;
    }
  }

  function receive(exchange: HttpExchange, handle: (exchange: HttpExchange) => void): void {
    try {
      if (exchange.operation.scopes === undefined) return read(exchange, handle);
      const principal = authenticate(exchange.authorization);
      if (!(principal instanceof Promise)) return admit(exchange, principal, handle);
      principal.then((known) => admit(exchange, known, handle)).catch((error) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  }

  function admit(exchange: HttpExchange, principal: Principal, handle: (exchange: HttpExchange) => void): void {
    exchange.principal = principal;
    requireScope(exchange.operation, principal);
    read(exchange, handle);
  }

  function read(exchange: HttpExchange, handle: (exchange: HttpExchange) => void): void {
    const { operation, request, route } = exchange;
    if (readsOnly && !operation.isSafe) {
      throw new RegistryError('read_only', requestTexts.readOnlyProcess, { retryAfterSeconds: 5 });
    }
    if (!takesBody(operation, request.headers)) return handle(exchange);
    // Parameters before the body: the service buffers no body for a request that it refuses.
    exchange.readParameters();
    readBody(request, route.bodyLimit, (body) => {
      if (body instanceof RegistryError) return fail(exchange, body);
      exchange.bytes = body;
      handle(exchange);
    });
  }

  function make(exchange: HttpExchange): HandlerResult {
    try {
      const { route } = exchange;
      if (!route.isLookup) exchange.readAll();
      return route.handle(exchange);
    } catch (thrown) {
      return { thrown };
    }
  }

  function send(exchange: HttpExchange, made: HandlerResult): void {
    try {
      if ('thrown' in made) throw made.thrown;
      const sent = made instanceof Promise ? made.then((later) => answer(exchange, later)) : answer(exchange, made);
      sent?.catch((error) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  }

  function answer(exchange: HttpExchange, made: UntypedAnswer): Promise<void> | undefined {
    if (exchange.operation.isSafe || made.isFollowed) return write(exchange, made);
    return onWritten().then(() => write(exchange, made));
  }

  function write(exchange: HttpExchange, made: UntypedAnswer): Promise<void> | undefined {
    const { status, headers, body, html, stream } = made;
    const text = made.json ?? (body === undefined ? undefined : JSON.stringify(body));
    const mediaType =
      made.mediaType ?? (html !== undefined ? 'text/html' : text === undefined ? undefined : 'application/json');
    if (checkAnswers) checkAnswer(exchange.operation, status, mediaType, text);
    if (stream !== undefined) return writeOut(exchange, made, stream, mediaType);
    const { headersWithJson, headersWithoutBody, headersWithPage } = exchange.route;
    if (html !== undefined) finish(exchange, headersWithPage, status, headers, html);
    else finish(exchange, text === undefined ? headersWithoutBody : headersWithJson, status, headers, text);
    return undefined;
  }

  async function writeOut(
    exchange: HttpExchange,
    made: UntypedAnswer,
    stream: StreamedBody,
    mediaType = '',
  ): Promise<void> {
    const { request, response, requestId, route } = exchange;
    const type = mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType;
    const others = ['Content-Type', type, ...ownHeaders(exchange, made.headers)];
    // Only with the first piece: a failure before that is answered with a problem.
    const open = () => route.headersWithoutBody.begin(response, { status: made.status, requestId, others });
    if (request.method !== 'HEAD') return writeStream(response, stream, { open, stallMs, stopping });
    open();
    response.end();
  }

  /** Responds with a problem. The details of an unexpected error go to the log only. */
  function fail(exchange: HttpExchange, thrown: unknown): void {
    const error = asUnavailable(thrown);
    const known = error instanceof RegistryError ? error : unforeseen(error);
    exchange.code = known.code;
    if (known.code === 'internal') log.error({ ...namesOf(exchange), err: known.cause }, 'fault');
    else if (known.cause !== undefined) log.warn({ ...namesOf(exchange), err: known.cause }, known.code);
    const { response, match, preferred, language, requestId } = exchange;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const problem = problemOf(known, requestId, language);
    const headers = problemHeaders(known);
    const hasPage = match?.route.operation.hasPage === true;
    if (hasPage) headers['Vary'] = 'Accept';
    const types = ['application/problem+json', 'application/json', 'text/html'];
    if (hasPage && preferred(...types) === 'text/html') {
      finish(exchange, match.route.headersWithPage, problem.status, headers, problemPage(problem, language));
    } else {
      const fixed = match?.route.headersWithProblem ?? problemAnswer;
      finish(exchange, fixed, problem.status, headers, JSON.stringify(problem));
    }
  }

  function finish(
    exchange: HttpExchange,
    fixed: FixedHeaders,
    status: number,
    headers: Readonly<Record<string, string>> | undefined,
    body: string | Buffer | undefined,
  ): void {
    const { response } = exchange;
    const others = ownHeaders(exchange, headers);
    if (stopping.aborted || leavesBody(exchange)) others.push('Connection', 'close');
    fixed.send(response, { status, requestId: answeredId(exchange), others, body });
    if (!exchange.isWatched) record(exchange, status);
  }

  /** Once for each request, at its end: 499 if the client disconnected before the response was sent. */
  function record(exchange: HttpExchange, status: number): void {
    const { match, startedAt, request, principal, code } = exchange;
    const seconds = (performance.now() - startedAt) / 1_000;
    const operation = match?.route.operation.id ?? 'none';
    onRequest(operation, status, seconds);
    // Logging a look-up would cost more than the look-up.
    if (match?.route.isLookup && status < 400) return;
    const tenant = principal.tenant || undefined;
    const subscriber = principal.subscriber || undefined;
    const ms = Math.round(seconds * 1_000);
    log.info(
      { ...namesOf(exchange), operation, method: request.method, status, ms, tenant, subscriber, code },
      'request',
    );
  }

  return { routeOf, begin, receive, make, send, fail };
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

/** The headers of one response, names and values in turn, with its language if it has one. */
function ownHeaders(exchange: HttpExchange, headers: Readonly<Record<string, string>> | undefined): string[] {
  const list: string[] = [];
  for (const name in headers) list.push(name, headers[name] as string);
  if (exchange.usesLanguage) {
    list.push('Content-Language', exchange.language);
    const vary = list.indexOf('Vary');
    if (vary === -1) list.push('Vary', 'Accept-Language');
    else list[vary + 1] += ', Accept-Language';
  }
  return list;
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
  const echoed = match?.route.operation.echoesRequestId ? request.headers['x-request-id'] : undefined;
  return typeof echoed === 'string' ? echoed : requestId;
}

/** The fields that link the log lines of a request with each other and with the logs of its caller. */
function namesOf({ requestId, request: { headers }, traceparent }: HttpExchange) {
  return {
    requestid: requestId,
    callerrequestid: callerRequestIdOf(headers),
    traceid: traceparent === undefined ? undefined : traceIdOf(traceparent),
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
