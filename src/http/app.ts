import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { RegistryError } from '../errors.js';
import { answerMethods } from './answer-methods.js';
import type { Operation } from './contract.js';
import type { HttpExchange } from './exchange.js';
import { apiHeaders } from './fixed-headers.js';
import type { Pipeline } from './pipeline.js';
import { percentEncodingDetail } from './query.js';

export interface AppSettings {
  operations: readonly Operation[];
  pipeline: Pipeline;
  /** Adds the documents, which Express answers by itself; `setHeaders` sets what every answer has. */
  serveDocuments: (app: Express, setHeaders: RequestHandler) => void;
  stopping: AbortSignal;
}

/** Finds the operation of a request by Express, and hands it to the pipeline. */
export function createApp({ operations, pipeline, serveDocuments, stopping }: AppSettings): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // As the fast path: another way to write a path is another path (RFC 3986 section 6.2.2.1).
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use((request, response, next) => {
    const exchange = pipeline.begin(request, response, (...mediaTypes) => request.accepts(mediaTypes));
    if (exchange === undefined) return;
    response.locals['exchange'] = exchange;
    next();
  });
  const setHeaders: RequestHandler = (_request, response, next) => {
    response.set({ ...apiHeaders, 'X-Request-Id': exchangeOf(response).requestId });
    if (stopping.aborted) response.set('Connection', 'close');
    next();
  };
  serveDocuments(app, setHeaders);

  for (const [path, onPath] of groupByPath(operations)) {
    for (const operation of onPath) {
      const route = pipeline.routeOf(operation);
      app[operation.method](path, (request, response, next) => {
        // Express runs GET handlers for HEAD; where GET changes something it must not (RFC 9110 section 9.2.1).
        if (request.method === 'HEAD' && operation.scopes === undefined) return next();
        const exchange = exchangeOf(response);
        exchange.match = { route, path: request.params, queryText: queryTextOf(request.url), address: request.path };
        pipeline.receive(exchange, (read) => pipeline.send(read, pipeline.make(read)));
      });
    }
    const changesByGet = onPath.some(({ method, scopes }) => method === 'get' && scopes === undefined);
    const methods = onPath.map(({ method }) => method.toUpperCase());
    answerMethods(app, path, setHeaders, methods, changesByGet);
  }

  app.use(() => {
    throw new RegistryError(
      'not_found',
      'There is nothing at this address; /docs shows what there is, and /openapi.json lists it.',
    );
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    pipeline.fail(exchangeOf(response), error instanceof URIError ? unreadablePath() : error);
  });
  return app;
}

function groupByPath(operations: readonly Operation[]): Map<string, Operation[]> {
  const byPath = new Map<string, Operation[]>();
  for (const operation of operations) byPath.set(operation.path, [...(byPath.get(operation.path) ?? []), operation]);
  return byPath;
}

function exchangeOf(response: Response): HttpExchange {
  return response.locals['exchange'] as HttpExchange;
}

function queryTextOf(url: string): string {
  const [withoutFragment = ''] = url.split('#', 1);
  const at = withoutFragment.indexOf('?');
  return at === -1 ? '' : withoutFragment.slice(at + 1);
}

/** Express could not decode a parameter of the path. */
function unreadablePath(): RegistryError {
  return new RegistryError('invalid_request', 'The path could not be read.', {
    faults: [{ pointer: 'path', rule: 'percent_encoding', detail: percentEncodingDetail }],
  });
}
