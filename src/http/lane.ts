import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { RegistryError } from '../errors.js';
import { requireScope, type Operation } from './contract.js';
import type { OnRequest } from './metrics.js';
import type { Principal } from './principal.js';
import { problemHeaders, problemOf } from './problem.js';
import { apiHeaders } from './security-headers.js';
import type { TokenCache } from './token-cache.js';

/**
 * The short way through the server for what delivery systems ask before every event. Express takes several times as long
 * as the answers themselves, so these few operations are handled in front of it; everything else falls through. What a
 * caller sees (authentication, scopes, parameters, problems, headers) is the same, and the same contract is held
 * against it. One difference: requests count in the metrics, and only those that fail are logged.
 */
export interface LaneCall {
  principal: Principal;
  /** Checked by the contract. */
  query: Record<string, unknown>;
  request: IncomingMessage;
  body: Buffer;
  requestId: string;
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
  /** Reads the query as programs write it; what it gives keeps the contract. Undefined for any other, which goes the long way. */
  readQuery?: ((query: string) => Record<string, unknown> | undefined) | undefined;
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
  /** Of what has a body, and of what has none. */
  headersWithBody: readonly string[];
  headersWithoutBody: readonly string[];
}

/** One request, from its headers to its answer. */
interface Exchange {
  settings: LaneSettings;
  route: Route;
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  startedAt: number;
}

const unambiguous = ['host', 'authorization', 'content-type'];
const noBody = Buffer.alloc(0);
const noHeaders: readonly string[] = [];
const problemAnswerHeaders = [...Object.entries(apiHeaders).flat(), 'Content-Type', 'application/problem+json'];

export function createLane(settings: LaneSettings): RequestListener {
  const routes = new Map<string, Map<string, Route>>();
  for (const route of settings.routes) {
    const { method, path } = route.operation;
    const byMethod = routes.get(path) ?? new Map<string, Route>();
    const headersWithoutBody = Object.entries({ ...apiHeaders, ...route.headers }).flat();
    routes.set(
      path,
      byMethod.set(method.toUpperCase(), {
        ...route,
        readQuery: route.readQuery ?? withoutQuery(route.operation),
        headersWithBody: [...headersWithoutBody, 'Content-Type', 'application/json; charset=utf-8'],
        headersWithoutBody,
      }),
    );
  }
  const nextId = createRequestIds();
  return (request, response) => {
    const url = request.url ?? '';
    const end = url.indexOf('?');
    const route = routes.get(end === -1 ? url : url.slice(0, end))?.get(request.method ?? '');
    if (route === undefined) return settings.next(request, response);
    const exchange = { settings, route, request, response, requestId: nextId(), startedAt: performance.now() };
    begin(exchange, end === -1 ? '' : url.slice(end + 1));
  };
}

// Most answers are made without waiting for anything, and then nothing is promised either.

function begin(exchange: Exchange, query: string): void {
  try {
    const authorization = authorizationOf(exchange.request.rawHeaders);
    const principal = exchange.settings.tokens.authenticate(authorization, authorization === undefined ? 0 : 1);
    if (!(principal instanceof Promise)) proceed(exchange, query, principal);
    else principal.then((known) => proceed(exchange, query, known)).catch((error) => fail(exchange, error));
  } catch (error) {
    fail(exchange, error);
  }
}

function proceed(exchange: Exchange, query: string, principal: Principal): void {
  const { operation, bodyLimit, readQuery } = exchange.route;
  requireScope(operation, principal);
  const parameters = readQuery?.(query) ?? queryParameters(operation, queryOf(query));
  if (operation.method === 'get') handle(exchange, parameters, principal, noBody);
  else readBody(exchange.request, bodyLimit, (body) => handle(exchange, parameters, principal, body));
}

function handle(
  exchange: Exchange,
  query: Record<string, unknown>,
  principal: Principal,
  body: Buffer | RegistryError,
): void {
  const { route, request, requestId } = exchange;
  try {
    if (body instanceof RegistryError) throw body;
    const made = route.handle({ principal, query, request, body, requestId });
    if (!(made instanceof Promise)) answer(exchange, made);
    else made.then((later) => answer(exchange, later)).catch((error) => fail(exchange, error));
  } catch (error) {
    fail(exchange, error);
  }
}

function answer(exchange: Exchange, { status, body, headers = noHeaders }: LaneAnswer): void {
  const { operation, headersWithBody, headersWithoutBody } = exchange.route;
  if (exchange.settings.checkAnswers) checkAnswer(operation, status, body);
  finish(exchange, status, (body === undefined ? headersWithoutBody : headersWithBody).concat(headers), body);
}

function fail(exchange: Exchange, thrown: unknown): void {
  const { settings, route, response, requestId: requestid } = exchange;
  const error = settings.translate(thrown);
  const known = error instanceof RegistryError ? error : undefined;
  if (known === undefined) settings.log.error({ requestid, err: error }, 'fault');
  const told =
    known ?? new RegistryError('internal', 'Something went wrong inside of the service; the log has this request id.');
  const problem = problemOf(told, requestid);
  settings.log.info({ requestid, operation: route.operation.id, status: problem.status, code: told.code }, 'request');
  if (response.headersSent) return;
  const headers = [...problemAnswerHeaders, ...Object.entries(problemHeaders(told)).flat()];
  finish(exchange, problem.status, headers, JSON.stringify(problem));
}

function finish(exchange: Exchange, status: number, headers: string[], body: string | Buffer | undefined): void {
  const { settings, route, response, requestId, startedAt } = exchange;
  headers.push('X-Request-Id', requestId);
  if (settings.stopping.aborted) headers.push('Connection', 'close');
  if (body === undefined) {
    response.writeHead(status, headers);
    response.end();
  } else {
    const bytes = Buffer.byteLength(body);
    headers.push('Content-Length', String(bytes));
    response.writeHead(status, headers);
    // What is all ASCII is the same in Latin-1, which is copied and not converted.
    response.end(body, bytes === body.length ? 'latin1' : 'utf8');
  }
  settings.onRequest(route.operation.id, status, (performance.now() - startedAt) / 1_000);
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

/** Operations of the lane have parameters in the query and nowhere else. */
function queryParameters(operation: Operation, query: Record<string, unknown>): Record<string, unknown> {
  return operation.parseParameters({ path: {}, query, headers: {} }).query;
}

/** Most requests have no query where they need none. */
function withoutQuery(operation: Operation): LaneRoute['readQuery'] {
  let defaults: Record<string, unknown> | undefined;
  return (query) => (query === '' ? (defaults ??= queryParameters(operation, {})) : undefined);
}

/** A name that stands twice becomes a list, which no parameter takes. */
function queryOf(query: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of new URLSearchParams(query)) {
    const before = values[name];
    if (before === undefined) values[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else values[name] = [before, value];
  }
  return values;
}

/** A random id is as dear as a look-up: one for the process, and a number behind it. */
function createRequestIds(): () => string {
  const process = uuidv7();
  let number = 0;
  return () => `${process}-${(number += 1)}`;
}

/** Node keeps the first of two such lines, and a proxy in front may have looked at the other. */
function authorizationOf(rawHeaders: readonly string[]): string | undefined {
  let authorization: string | undefined;
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // By their lengths nearly all others are told apart.
    if (name.length !== 4 && name.length !== 12 && name.length !== 13) continue;
    const place = unambiguous.indexOf(name.toLowerCase());
    if (place === -1) continue;
    if ((seen & (1 << place)) !== 0) {
      throw new RegistryError('invalid_request', 'A header stands in the request twice.', {
        faults: [{ pointer: `header/${unambiguous[place]}`, rule: 'header_repeated', detail: 'Send it once.' }],
      });
    }
    seen |= 1 << place;
    if (unambiguous[place] === 'authorization') authorization = rawHeaders[at + 1];
  }
  return authorization;
}

function readBody(request: IncomingMessage, limit: number, done: (body: Buffer | RegistryError) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // What is over the limit is read and forgotten, so that the caller gets the answer.
    if (bytes <= limit) chunks.push(chunk);
    else chunks.length = 0;
  });
  request.on('end', () => {
    if (bytes > limit) done(new RegistryError('body_too_large', `The body has more than ${limit} bytes.`));
    else done(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
  });
}
