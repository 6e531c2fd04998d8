import type { Request, Response } from 'express';
import { RegistryError } from '../errors.js';

/** OPTIONS tells the methods; any other that is not there answers 405 with the same list (RFC 9110 section 15.5.6). */
export function answerMethods(methods: readonly string[], changesByGet = false) {
  const head = methods.includes('GET') && !changesByGet ? ['HEAD'] : [];
  const allow = [...methods, ...head, 'OPTIONS'].join(', ');
  return (request: Request, response: Response): void => {
    response.setHeader('Allow', allow);
    if (request.method !== 'OPTIONS') {
      throw new RegistryError('method_not_allowed', `This resource has ${methods.join(', ')}.`);
    }
    if (methods.includes('PATCH')) response.setHeader('Accept-Patch', 'application/merge-patch+json');
    response.status(200).end();
  };
}
