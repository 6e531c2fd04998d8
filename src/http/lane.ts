import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { RegistryError } from '../errors.js';
import type { Operation } from './contract.js';
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
  /** JSON text. */
  body: string;
}

export type LaneHandler = (call: LaneCall) => LaneAnswer | Promise<LaneAnswer>;

export interface LaneRoute {
  operation: Operation;
  handle: LaneHandler;
  /** Bytes. */
  bodyLimit: number;
}

export interface LaneSettings {
  routes: readonly LaneRoute[];
  tokens: TokenCache;
  translate: (error: unknown) => unknown;
  log: Logger;
  onRequest: (outcome: { operation: string; status: number; seconds: number }) => void;
  checkAnswers: boolean;
  /** Everything else. */
  next: RequestListener;
}

const unambiguous = ['host', 'authorization', 'content-type'];

export function createLane(settings: LaneSettings): RequestListener {
  const routes = new Map(
    settings.routes.map((route) => {
      const { method, path } = route.operation;
      return [`${method.toUpperCase()} ${path}`, { ...route, defaults: queryParameters(route.operation, {}) }];
    }),
  );
  const nextId = createRequestIds();
  return (request, response) => {
    const url = request.url ?? '';
    const end = url.indexOf('?');
    const route = routes.get(`${request.method} ${end === -1 ? url : url.slice(0, end)}`);
    if (route === undefined) settings.next(request, response);
    else take(settings, route, end === -1 ? '' : url.slice(end + 1), nextId(), request, response);
  };
}

function take(
  settings: LaneSettings,
  route: LaneRoute & { defaults: Record<string, unknown> },
  query: string,
  requestId: string,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const startedAt = performance.now();
  const finish = (status: number, mediaType: string, body: string, headers: Record<string, string> = {}) => {
    response.writeHead(status, {
      ...apiHeaders,
      'X-Request-Id': requestId,
      ...headers,
      'Content-Type': mediaType,
      'Content-Length': Buffer.byteLength(body),
    });
    response.end(body);
    settings.onRequest({ operation: route.operation.id, status, seconds: (performance.now() - startedAt) / 1_000 });
  };
  const fail = (thrown: unknown) => {
    const error = settings.translate(thrown);
    const known = error instanceof RegistryError ? error : undefined;
    if (known === undefined) settings.log.error({ requestid: requestId, err: error }, 'fault');
    const told =
      known ??
      new RegistryError('internal', 'Something went wrong inside of the service; the log has this request id.');
    const problem = problemOf(told, requestId);
    settings.log.info(
      { requestid: requestId, operation: route.operation.id, status: problem.status, code: told.code },
      'request',
    );
    if (!response.headersSent)
      finish(problem.status, 'application/problem+json', JSON.stringify(problem), problemHeaders(told));
  };
  const answer = ({ status, body }: LaneAnswer) => {
    if (settings.checkAnswers) {
      const broken = route.operation.checkAnswer(status, 'application/json', JSON.parse(body));
      if (broken.length > 0)
        throw new Error(`${route.operation.id} answered against the contract: ${broken.join('; ')}`);
    }
    finish(status, 'application/json; charset=utf-8', body);
  };

  // Most answers are made without waiting for anything, and then nothing is promised either.
  const proceed = (principal: Principal) => {
    requireScope(route.operation, principal);
    const parameters = query === '' ? route.defaults : queryParameters(route.operation, queryOf(query));
    readBody(request, route.bodyLimit, (body) => {
      try {
        if (body instanceof RegistryError) throw body;
        const made = route.handle({ principal, query: parameters, request, body, requestId });
        if (made instanceof Promise) made.then(answer).catch(fail);
        else answer(made);
      } catch (error) {
        fail(error);
      }
    });
  };
  try {
    const principal = settings.tokens.authenticate(request.headers.authorization, countLines(request));
    if (principal instanceof Promise) principal.then(proceed).catch(fail);
    else proceed(principal);
  } catch (error) {
    fail(error);
  }
}

/** Before the body is read: nobody who may not call this makes the service hold one. */
function requireScope(operation: Operation, principal: Principal): void {
  if (operation.scopes?.some((scope) => principal.scopes.has(scope))) return;
  throw new RegistryError('scope_missing', `This needs the scope ${operation.scopes?.join(' or ')}.`);
}

/** Operations of the lane have parameters in the query and nowhere else. */
function queryParameters(operation: Operation, query: Record<string, unknown>): Record<string, unknown> {
  return operation.parseParameters({ path: {}, query, headers: {} }).query;
}

/** A name that stands twice becomes a list, which no parameter takes. */
function queryOf(query: string): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of new URLSearchParams(query))
    values[name] = name in values ? [values[name], value].flat() : value;
  return values;
}

/** A random id is as dear as a look-up: one for the process, and a number behind it. */
function createRequestIds(): () => string {
  const process = uuidv7();
  let number = 0;
  return () => `${process}-${(number += 1)}`;
}

/** Node keeps the first of two such lines, and a proxy in front may have looked at the other. */
function countLines(request: IncomingMessage): number {
  // As many lines as names: nothing stands twice.
  if (request.rawHeaders.length === 2 * Object.keys(request.headers).length) {
    return request.headers.authorization === undefined ? 0 : 1;
  }
  const seen = new Map<string, number>();
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]?.toLowerCase() ?? '';
    if (unambiguous.includes(name)) seen.set(name, (seen.get(name) ?? 0) + 1);
  }
  for (const [name, lines] of seen) {
    if (lines > 1) {
      throw new RegistryError('invalid_request', 'A header stands in the request twice.', {
        faults: [{ pointer: `header/${name}`, rule: 'header_repeated', detail: 'Send it once.' }],
      });
    }
  }
  return seen.get('authorization') ?? 0;
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
