import type { Response } from 'express';
import type { Logger } from 'pino';
import { RegistryError } from '../errors.js';
import { pagePolicy, problemPage } from './html-page.js';
import { stateOf } from './observe.js';
import { problemHeaders, problemOf } from './problem.js';

/** Whatever was thrown, as a problem; what nobody foresaw goes to the log and says no more than that. */
export function answerError(error: unknown, response: Response, log: Logger): void {
  const { requestId, hasPage } = stateOf(response);
  const known = asRegistryError(error);
  response.locals['code'] = known.code;
  if (known.code === 'internal') log.error({ requestid: requestId, err: error }, 'fault');
  else if (known.cause !== undefined) log.warn({ requestid: requestId, err: known.cause }, known.code);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const problem = problemOf(known, requestId);
  for (const [name, value] of Object.entries(problemHeaders(known))) response.setHeader(name, value);
  response.status(problem.status);
  if (hasPage) {
    response.vary('Accept');
    if (response.req.accepts(['application/problem+json', 'application/json', 'text/html']) === 'text/html') {
      response.setHeader('Content-Security-Policy', pagePolicy);
      response.type('html').send(problemPage(problem));
      return;
    }
  }
  // As bytes: Express would add a charset to text, and this media type has no such parameter (RFC 9457 section 6.1).
  response.setHeader('Content-Type', 'application/problem+json');
  response.send(Buffer.from(JSON.stringify(problem)));
}

function asRegistryError(error: unknown): RegistryError {
  if (error instanceof RegistryError) return error;
  if (error instanceof URIError) {
    const detail = 'Percent-encoding has two hexadecimal digits after each %, and stands for UTF-8.';
    return new RegistryError('invalid_request', 'The path could not be read.', {
      faults: [{ pointer: 'path', rule: 'percent_encoding', detail }],
    });
  }
  // What Express and its body parser raise: http-errors with a status below 500.
  const { status, type, limit } = error as { status?: number; type?: string; limit?: number };
  if (type === 'entity.too.large') {
    return new RegistryError('body_too_large', `The body has more than ${limit} bytes.`);
  }
  if (type === 'encoding.unsupported') {
    return new RegistryError('media_type_unsupported', 'Send the body without a content encoding.');
  }
  if (status !== undefined && status < 500) {
    return new RegistryError('invalid_request', 'The request could not be read.', { cause: error });
  }
  return new RegistryError('internal', 'Something went wrong inside of the service; the log has this request id.', {
    cause: error,
  });
}
