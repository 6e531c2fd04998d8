import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { RegistryError } from '../errors.js';
import { uuidv7 } from '../storage/ids.js';
import { authorizationOf } from './authorization.js';
import { requireScope, type Operation } from './contract.js';
import { FixedHeaders } from './fixed-headers.js';
import { createReadQuery, queryOf } from './lane-query.js';
import { signalOfLeaving } from './leaving.js';
import type { OnRequest } from './metrics.js';
import type { Principal } from './principal.js';
import { problemHeaders, problemOf } from './problem.js';
import { readBody } from './read-body.js';
import { apiHeaders } from './security-headers.js';
import type { TokenCache } from './token-cache.js';
import { createTurn } from './turn.js';

/**
 * The short way through the server for what delivery systems ask before every event. Express takes several times as
 * long as the answers themselves, so these few operations are handled in front of it; everything else falls through.
 * What a caller sees (authentication, scopes, parameters, problems, headers) is the same, and the same contract is held
 * against it. One difference: what only reads is counted in the metrics, and logged where it fails.
 */
export interface LaneCall {
  principal: Principal;
  /** Checked by the contract. */
  query: Record<string, unknown>;
  request: IncomingMessage;
  body: Buffer;
  requestId: string;
  /** Of an operation that writes: checked by the contract, by lower-case name. */
  header?: Record<string, unknown>;
  /** Of an operation that writes: fires when the client has gone away. */
  signal?: AbortSignal;
}

export interface LaneAnswer {
  status: number;
  /** JSON, as text or as bytes; none with 304. */
  body?: string | Buffer;
  /** Names and values in turn, besides those that every answer has. */
  headers?: readonly string[];
}

export type LaneHandler = (call: LaneCall) => LaneAnswer | Promise<LaneAnswer>;

export interface LaneRoute {
  operation: Operation;
  handle: LaneHandler;
  /** Bytes. The body of a GET is not read at all. */
  bodyLimit: number;
  /** Its headers are parameters too, it may wait for long, and it is logged whatever comes of it. */
  writes?: boolean;
  /** Of a GET: answers a query as programs write it, which keeps the contract. Undefined leaves others to `handle`. */
  answerQuery?: (query: string, principal: Principal, request: IncomingMessage) => LaneAnswer | undefined;
  /** What every answer of this operation has in place of or besides what all answers have. */
  headers?: Readonly<Record<string, string>>;
}

export interface LaneSettings {
  routes: readonly LaneRoute[];
  tokens: TokenCache;
  translate: (error: unknown) => unknown;
  log: Logger;
  onRequest: OnRequest;
  checkAnswers: boolean;
  /** From then on every answer is the last one of its connection. */
  stopping: AbortSignal;
  /** Everything else. */
  next: RequestListener;
}

interface Route extends LaneRoute {
  readQuery: (query: string) => Record<string, unknown>;
  /** Of what has a body, and of what has none. */
  headersWithBody: FixedHeaders;
  headersWithoutBody: FixedHeaders;
}

/** One request, from its headers to its answer. */
interface Exchange {
  settings: LaneSettings;
  route: Route;
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  startedAt: number;
  /** Of an operation that writes, as far as they are known. */
  principal?: Principal;
  writing?: Pick<LaneCall, 'header' | 'signal'>;
  /** Goes on with it when everything of it has been read. */
  handle: (task: Task) => void;
}

/** An exchange of which everything has been read. */
interface Task {
  exchange: Exchange;
  principal: Principal;
  /** Of a GET as it was sent, of others as the contract reads it. */
  query: string | Record<string, unknown>;
  body: Buffer | RegistryError;
}

type Made = LaneAnswer | Promise<LaneAnswer> | { thrown: unknown };

const noBody = Buffer.alloc(0);
const noHeaders: readonly string[] = [];
const problemAnswerHeaders = new FixedHeaders({ ...apiHeaders, 'Content-Type': 'application/problem+json' });

export function createLane(settings: LaneSettings): RequestListener {
  const routes = new Map<string, Map<string, Route>>();
  for (const route of settings.routes) {
    const { method, path } = route.operation;
    const byMethod = routes.get(path) ?? new Map<string, Route>();
    const headers = { ...apiHeaders, ...route.headers };
    routes.set(
      path,
      byMethod.set(method.toUpperCase(), {
        ...route,
        readQuery: createReadQuery(route.operation),
        headersWithBody: new FixedHeaders({ ...headers, 'Content-Type': 'application/json; charset=utf-8' }),
        headersWithoutBody: new FixedHeaders(headers),
      }),
    );
  }
  const nextId = createRequestIds();
  const handle = createTurn(make, send);
  return (request, response) => {
    const url = request.url ?? '';
    const end = url.indexOf('?');
    // A fragment has no place in a request (RFC 9112 section 3.2), and Express leaves it out.
    const path = url.includes('#') ? '' : end === -1 ? url : url.slice(0, end);
    const route = routes.get(path)?.get(request.method ?? '');
    if (route === undefined) return settings.next(request, response);
    const requestId = nextId();
    const exchange = { settings, route, request, response, requestId, startedAt: performance.now(), handle };
    begin(exchange, end === -1 ? '' : url.slice(end + 1));
  };
}

// Most answers are made without waiting for anything, and then nothing is promised either.

function begin(exchange: Exchange, query: string): void {
  try {
    const authorization = authorizationOf(exchange.request);
    const principal = exchange.settings.tokens.authenticate(authorization, authorization === undefined ? 0 : 1);
    if (!(principal instanceof Promise)) proceed(exchange, query, principal);
    else principal.then((known) => proceed(exchange, query, known)).catch((error) => fail(exchange, error));
  } catch (error) {
    fail(exchange, error);
  }
}

function proceed(exchange: Exchange, query: string, principal: Principal): void {
  const { operation, writes } = exchange.route;
  if (writes) exchange.principal = principal;
  requireScope(operation, principal);
  if (writes) return proceedToWrite(exchange, query, principal);
  if (operation.method === 'get') return exchange.handle({ exchange, principal, query, body: noBody });
  const parameters = exchange.route.readQuery(query);
  readBody(exchange.request, exchange.route.bodyLimit, (body) =>
    exchange.handle({ exchange, principal, query: parameters, body }),
  );
}

function proceedToWrite(exchange: Exchange, text: string, principal: Principal): void {
  const { request, response, route } = exchange;
  const { headers } = request;
  const { query, header } = route.operation.parseParameters({ path: {}, query: queryOf(text), headers });
  const signal = signalOfLeaving(request, response);
  exchange.writing = { header, signal };
  const leave = () => record(exchange, 499);
  readBody(request, route.bodyLimit, (body) => {
    signal.removeEventListener('abort', leave);
    exchange.handle({ exchange, principal, query, body });
  });
  // Nothing is told of a body that does not come to its end.
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave);
}

function make({ exchange, principal, query, body }: Task): Made {
  const { route, request, requestId, writing } = exchange;
  try {
    if (body instanceof RegistryError) throw body;
    const isText = typeof query === 'string';
    const answered = isText ? route.answerQuery?.(query, principal, request) : undefined;
    if (answered !== undefined) return answered;
    const call = { principal, query: isText ? route.readQuery(query) : query, request, body, requestId };
    return route.handle(writing === undefined ? call : { ...call, ...writing });
  } catch (thrown) {
    return { thrown };
  }
}

function send({ exchange }: Task, made: Made): void {
  try {
    if ('thrown' in made) throw made.thrown;
    if (!(made instanceof Promise)) answer(exchange, made);
    else made.then((later) => answer(exchange, later)).catch((error) => fail(exchange, error));
  } catch (error) {
    fail(exchange, error);
  }
}

function answer(exchange: Exchange, { status, body, headers = noHeaders }: LaneAnswer): void {
  const { operation, headersWithBody, headersWithoutBody } = exchange.route;
  if (exchange.settings.checkAnswers) checkAnswer(operation, status, body);
  finish(exchange, status, body === undefined ? headersWithoutBody : headersWithBody, headers, body);
}

function fail(exchange: Exchange, thrown: unknown): void {
  const { settings, route, response, requestId: requestid } = exchange;
  const error = settings.translate(thrown);
  const known = error instanceof RegistryError ? error : undefined;
  if (known === undefined) settings.log.error({ requestid, err: error }, 'fault');
  else if (known.cause !== undefined) settings.log.warn({ requestid, err: known.cause }, known.code);
  const told =
    known ?? new RegistryError('internal', 'Something went wrong inside of the service; the log has this request id.');
  const problem = problemOf(told, requestid);
  if (!route.writes) {
    settings.log.info({ requestid, operation: route.operation.id, status: problem.status, code: told.code }, 'request');
  }
  if (response.headersSent) return;
  const headers = Object.entries(problemHeaders(told)).flat();
  finish(exchange, problem.status, problemAnswerHeaders, headers, JSON.stringify(problem), told.code);
}

function finish(
  exchange: Exchange,
  status: number,
  fixed: FixedHeaders,
  headers: readonly string[],
  body: string | Buffer | undefined,
  code?: string,
): void {
  const { settings, route, request, response, requestId } = exchange;
  const last = settings.stopping.aborted ? ['Connection', 'close'] : noHeaders;
  fixed.send(response, { status, requestId, others: last === noHeaders ? headers : [...headers, ...last], body });
  // A caller that has gone hears nothing of it.
  record(exchange, route.writes && request.socket.destroyed ? 499 : status, code);
}

function record(exchange: Exchange, status: number, code?: string): void {
  const { settings, route, startedAt } = exchange;
  const seconds = (performance.now() - startedAt) / 1_000;
  settings.onRequest(route.operation.id, status, seconds);
  if (route.writes) logWrite(exchange, status, seconds, code);
}

function logWrite(exchange: Exchange, status: number, seconds: number, code: string | undefined): void {
  const { settings, route, requestId: requestid, principal } = exchange;
  const { id: operation, method } = route.operation;
  const { tenant, subscriber } = principal ?? {};
  const ms = Math.round(seconds * 1_000);
  const line = { requestid, operation, method: method.toUpperCase(), status, ms, tenant, subscriber, code };
  settings.log.info(line, 'request');
}

export function checkAnswer(operation: Operation, status: number, body: string | Buffer | undefined): void {
  const [type, value] =
    body === undefined ? [undefined, undefined] : ['application/json', JSON.parse(body.toString()) as unknown];
  const broken = operation.checkAnswer(status, type, value);
  if (broken.length > 0) throw new Error(`${operation.id} answered against the contract: ${broken.join('; ')}`);
}

/** `Age` (RFC 9111 section 5.1) of an answer from memory, in seconds; undefined if the memory is current. */
export function ageHeader(age: number | undefined): readonly string[] {
  return age === undefined ? noHeaders : ['Age', String(age)];
}

/** A random id is as dear as a look-up: one for the process, and a number behind it. */
function createRequestIds(): () => string {
  const process = uuidv7();
  let number = 0;
  return () => `${process}-${(number += 1)}`;
}
