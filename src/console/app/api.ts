import { createClient, type Problem, type Schemas } from '../../kits/client/index.js';
import { root } from './route.js';
import { expire, session } from './session.js';
import { language } from './text.js';

export { AssentError } from '../../kits/client/index.js';
export type { Problem, Schemas };

/**
 * The operations of the contract: `api.GET('/subscriptions/{id}', { params: { path: { id } } })`. Each throws the problem
 * as `AssentError`, also if the connection is lost. The user decides whether to try again.
 */
export const api = createClient({
  url: root,
  token: () => session.value?.token,
  language: () => language.value,
  retries: 0,
  async fetch(request, init) {
    const response = await fetch(request, init);
    // A response to an earlier token says nothing about the present one.
    const isPresent = request.headers.get('Authorization') === `Bearer ${session.value?.token}`;
    if (response.status === 401 && isPresent) expire();
    return response;
  },
});

/** A part of the console that could not be loaded is shown as any other failure. */
export const lostConnectionProblem: Problem = {
  type: 'about:blank',
  title: '',
  status: 0,
  detail: '',
  code: 'connection_lost',
  requestid: '',
};

/** An Idempotency-Key. */
export const newKey = () => crypto.randomUUID();
