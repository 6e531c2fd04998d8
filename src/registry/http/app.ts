import type { RequestListener } from 'node:http';
import Negotiator from 'negotiator';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import { RegistryError } from '../../base/errors.js';
import { requestTexts } from '../../base/texts/requests.js';
import type { Operation } from '../../base/contract/contract.js';
import type { HttpExchange, Preferred } from './exchange.js';
import type { Pipeline } from './pipeline.js';
import { apiHeaders } from './write-answer.js';

interface AppSettings {
  operations: readonly Operation[];
  pipeline: Pipeline;
  /** Adds the documents, which Express serves; `setHeaders` sets the headers of every response. */
  serveDocuments: (app: Express, setHeaders: RequestHandler) => void;
  stopping: AbortSignal;
}

/** Lets Express find the operation of a request, and passes it to the pipeline. */
export function createApp({ operations, pipeline, serveDocuments, stopping }: AppSettings): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  // Like the fast path: a path that is written differently is a different path (RFC 3986 section 6.2.2.1).
  app.enable('case sensitive routing');
  app.enable('strict routing');
  const setHeaders: RequestHandler = (request, response, next) => {
    const ofHost = pipeline.hostHeaders(request);
    response.set({ ...apiHeaders, ...ofHost, 'X-Request-Id': exchangeOf(response).requestId });
    if (stopping.aborted) response.set('Connection', 'close');
    next();
  };
  serveDocuments(app, setHeaders);

  for (const [path, onPath] of groupByPath(operations)) {
    for (const operation of onPath) {
      const route = pipeline.routeOf(operation);
      app[operation.method](path, (request, response, next) => {
        // Express runs GET handlers for HEAD. HEAD must not change anything (RFC 9110 section 9.2.1).
        if (request.method === 'HEAD' && !operation.isSafe) return next();
        const exchange = exchangeOf(response);
        exchange.match = { route, path: request.params, queryText: queryTextOf(request.url), address: request.path };
        pipeline.receive(exchange, (read) => pipeline.send(read, pipeline.make(read)));
      });
    }
    const changesByGet = onPath.some(({ method, isSafe }) => method === 'get' && !isSafe);
    const methods = onPath.map(({ method }) => method.toUpperCase());
    answerMethods(app, path, setHeaders, methods, changesByGet);
  }

  return (request, response) => {
    // A request that is refused here has not become one of Express, which has `accepts`.
    const preferred: Preferred = (...mediaTypes) => new Negotiator(request).mediaType(mediaTypes) ?? false;
    const exchange = pipeline.begin(request, response, preferred);
    if (exchange === undefined) return;
    const given = Object.assign(response as Response, { locals: { exchange } });
    app(request as Request, given, (error: unknown) => pipeline.fail(exchange, errorOf(error)));
  };
}

/** Express passes no error if it found no route. */
function errorOf(error: unknown): unknown {
  if (error instanceof URIError) {
    const faults = [{ pointer: 'path', rule: 'percent_encoding' as const, detail: requestTexts.percentEncoding }];
    return new RegistryError('invalid_request', requestTexts.path, { faults });
  }
  if (error) return error;
  return new RegistryError('not_found', requestTexts.notFound);
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

/**
 * OPTIONS returns the methods of a path; any other method gets 405 with the same list (RFC 9110 section 15.5.6). Call
 * it after the routes of the path.
 */
export function answerMethods(
  app: Express,
  path: string,
  setHeaders: RequestHandler,
  methods: readonly string[],
  changesByGet = false,
): void {
  const head = methods.includes('GET') && !changesByGet ? ['HEAD'] : [];
  const allow = [...methods, ...head, 'OPTIONS'].join(', ');
  app.options(path, setHeaders, (_request, response) => {
    response.set('Allow', allow);
    if (methods.includes('PATCH')) response.set('Accept-Patch', 'application/merge-patch+json');
    response.status(200).end();
  });
  app.all(path, (_request, response) => {
    response.set('Allow', allow);
    throw new RegistryError('method_not_allowed', requestTexts.methodNotAllowed(methods));
  });
}
