import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { uuidv7 } from '../storage/ids.js';
import { signalOfLeaving } from './leaving.js';
import type { OnRequest } from './metrics.js';
import { nobody, type Principal } from './principal.js';
import { apiHeaders } from './security-headers.js';

/** What is known of a request while Express has it. */
interface RequestState {
  requestId: string;
  operation: string;
  principal: Principal;
  /** Browsers get a page. */
  hasPage: boolean;
}

export function stateOf(response: Response): RequestState {
  return response.locals as RequestState;
}

/** Gives the request its id, and writes the one log line of its outcome. */
export function observe(
  settings: { log: Logger; onRequest: OnRequest },
  request: Request,
  response: Response,
  next: NextFunction,
): void {
  const startedAt = performance.now();
  const atFirst: RequestState = { requestId: uuidv7(), operation: 'none', principal: nobody, hasPage: false };
  const state = Object.assign(stateOf(response), atFirst);
  response.setHeader('X-Request-Id', state.requestId);
  response.set(apiHeaders);
  signalOfLeaving(request, response).addEventListener('abort', () => {
    const seconds = (performance.now() - startedAt) / 1_000;
    const status = response.writableFinished ? response.statusCode : 499;
    settings.onRequest(state.operation, status, seconds);
    settings.log.info(
      {
        requestid: state.requestId,
        operation: state.operation,
        method: request.method,
        status,
        ms: Math.round(seconds * 1_000),
        tenant: state.principal.tenant || undefined,
        subscriber: state.principal.subscriber || undefined,
        code: response.locals['code'] as string | undefined,
      },
      'request',
    );
  });
  next();
}
