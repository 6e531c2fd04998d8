import type { Express, RequestHandler } from 'express';
import { RegistryError } from '../errors.js';

/**
 * OPTIONS returns the methods of a path; any other method gets 405 with the same list (RFC 9110 section 15.5.6). Call it
 * after the routes of the path.
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
    throw new RegistryError('method_not_allowed', `This resource has ${methods.join(', ')}.`);
  });
}
