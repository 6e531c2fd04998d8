import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { RegistryError } from '../errors.js';
import { answerError } from './answer-error.js';
import { answerMethods } from './answer-methods.js';
import { authorizationOf } from './authorization.js';
import { requireScope, type Contract, type Operation } from './contract.js';
import type { AppOperation, Handlers } from './handler.js';
import { readJsonBody } from './json-body.js';
import type { LaneRoute } from './lane.js';
import { queryOf } from './lane-query.js';
import { signalOfLeaving } from './leaving.js';
import type { OnRequest } from './metrics.js';
import { observe, stateOf } from './observe.js';
import type { Principal } from './principal.js';
import { send, sendText, type SendSettings, type UntypedAnswer } from './send.js';

export interface AppSettings extends SendSettings {
  contract: Contract;
  handlers: Handlers;
  /** Operations that lane.ts takes in front; here for what only looks like them (HEAD, an absolute address). */
  lane: readonly LaneRoute[];
  /** What changes anything is refused. */
  readsOnly: boolean;
  authenticate: (authorization: string | undefined, lines: number) => Promise<Principal>;
  /** Routes besides the contract: the documents, the development issuer's keys. */
  extras: (app: Express) => void;
  log: Logger;
  /** Called after an operation that may have written, before its answer is sent. */
  onWritten: () => Promise<void>;
  /** Recognises what others throw: a database that cannot be reached. */
  translate: (error: unknown) => unknown;
  onRequest: OnRequest;
  /** Bytes. */
  bodyLimitOf: (operation: Operation) => number;
}

/** The HTTP API: the operations of the contract, each authenticated, validated, handled and logged in the same way. */
export function createApp(settings: AppSettings): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // As the lane: Express's own parser passes over all that stands behind the thousandth parameter.
  app.set('query parser', (text: string | null) => queryOf(text ?? ''));
  // As the lane: another way to write a path is another path (RFC 3986 section 6.2.2.1).
  app.enable('case sensitive routing');
  app.enable('strict routing');
  // Express would answer 304 to a tag of If-None-Match; a version's tag says nothing of the state told beside it.
  Object.defineProperty(app.request, 'fresh', { value: false });
  app.use((request, response, next) => observe(settings, request, response, next));
  app.use((request, _response, next) => {
    // For what it refuses.
    authorizationOf(request);
    next();
  });
  settings.extras(app);

  const lane = new Map(settings.lane.map((route) => [route.operation.id, route]));
  for (const [path, operations] of groupByPath(settings.contract.operations)) {
    for (const operation of operations) {
      app[operation.method](path, (request, response, next) => {
        // Express runs GET handlers for HEAD; where GET changes something it must not (RFC 9110 section 9.2.1).
        if (request.method === 'HEAD' && operation.scopes === undefined) return next();
        Object.assign(stateOf(response), { operation: operation.id, hasPage: operation.hasPage });
        run(settings, operation, lane.get(operation.id), request, response).catch(next);
      });
    }
    const changesByGet = operations.some(({ method, scopes }) => method === 'get' && scopes === undefined);
    const methods = operations.map(({ method }) => method.toUpperCase());
    app.all(path, answerMethods(methods, changesByGet));
  }

  app.use(() => {
    throw new RegistryError(
      'not_found',
      'There is nothing at this address; /docs shows what there is, and /openapi.json lists it.',
    );
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    answerError(settings.translate(error), response, settings.log);
  });
  return app;
}

function groupByPath(operations: readonly Operation[]): Map<string, Operation[]> {
  const byPath = new Map<string, Operation[]>();
  for (const operation of operations) byPath.set(operation.path, [...(byPath.get(operation.path) ?? []), operation]);
  return byPath;
}

async function run(
  settings: AppSettings,
  operation: Operation,
  inLane: LaneRoute | undefined,
  request: Request,
  response: Response,
): Promise<void> {
  const state = stateOf(response);
  // Before anything is waited for: who hangs up meanwhile is noticed too.
  const leaving = signalOfLeaving(request, response);
  if (operation.scopes) {
    const lines = request.headersDistinct['authorization']?.length ?? 0;
    state.principal = await settings.authenticate(request.headers.authorization, lines);
    requireScope(operation, state.principal);
  }
  if (settings.readsOnly && !operation.isSafe) {
    throw new RegistryError(
      'read_only',
      'This process follows a replica of the database. Send changes to one that writes.',
      {
        retryAfterSeconds: 5,
      },
    );
  }
  const parameters = operation.parseParameters({
    path: request.params,
    query: request.query,
    headers: request.headers,
  });
  // Only now, and only where one is due: nobody without a token makes the service hold a body.
  if (operation.mediaTypes.length > 0) await receive(request, response, settings.bodyLimitOf(operation));
  const { principal, requestId } = state;
  if (inLane) {
    const call = { principal, requestId, query: parameters.query, request, body: bytesOf(request) };
    return sendText(settings, inLane, response, await inLane.handle(call));
  }

  // The contract has checked what the types of a handler's call and answer say.
  const call = {
    ...parameters,
    body: readBody(operation, request),
    bytes: bytesOf(request),
    principal,
    requestId,
    address: request.path,
    rawHeaders: request.rawHeaders,
    signal: leaving,
    preferred: (...mediaTypes: string[]) => request.accepts(mediaTypes),
  };
  const handle = settings.handlers[operation.id as AppOperation] as unknown as (call: object) => Promise<UntypedAnswer>;
  const answer = await handle(call);
  if (!operation.isSafe && !answer.isFollowed) await settings.onWritten();
  await send(settings, operation, response, answer);
}

/** Puts the bytes of the body on the request. */
function receive(request: Request, response: Response, limit: number): Promise<void> {
  const read = express.raw({ type: () => true, limit, inflate: false });
  return new Promise((resolve, reject) => {
    read(request, response, (error?: Error) => (error ? reject(error) : resolve()));
  });
}

function readBody(operation: Operation, request: Request): unknown {
  if (operation.mediaTypes.length === 0) return undefined;
  const bytes = bytesOf(request);
  // Any media type: an event in binary mode. Its handler reads the bytes.
  return operation.mediaTypes.includes('*/*') ? bytes : readJsonBody(operation, request.headers, bytes);
}

function bytesOf(request: Request): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}
