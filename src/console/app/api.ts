import createClient from 'openapi-fetch';
import type { components, paths } from '../../http/contract.gen.js';
import { expire, session } from './session.js';
import { language } from './text.js';

export type Schemas = components['schemas'];
export type Problem = Schemas['Problem'];

/** The path of the API is beside the console, whatever a proxy has put in front. */
export const root = new URL('.', location.href.split('#')[0]);
export const apiUrl = new URL('v1/', root);

/**
 * The operations of the contract: `api.GET('/subscriptions/{id}', { params: { path: { id } } })`. Every answer has
 * `data` or `error`, which is a problem of the registry or one of `lost`.
 */
export const api = createClient<paths>({ baseUrl: apiUrl.href.replace(/\/$/, ''), fetch: send });

async function send(request: Request): Promise<Response> {
  request.headers.set('Accept-Language', language.value);
  if (session.value !== undefined) request.headers.set('Authorization', `Bearer ${session.value.token}`);
  try {
    const response = await fetch(request);
    if (response.status === 401) expire();
    return response;
  } catch (error) {
    if (request.signal.aborted) throw error;
    return lost();
  }
}

/** In place of an answer that did not arrive, so that all failures are shown in one way. */
export const lostConnection: Problem = {
  type: 'about:blank',
  title: '',
  status: 503,
  detail: '',
  code: 'connection_lost',
  requestid: '',
};

function lost(): Response {
  const headers = { 'Content-Type': 'application/problem+json' };
  return new Response(JSON.stringify(lostConnection), { status: 503, headers });
}

/** The data of an answer. Throws the problem, as `Failure`. */
export async function ask<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<Answered<T>> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new Failure(error as Problem);
  return { data: data as T, headers: response.headers };
}

export interface Answered<T> {
  data: T;
  headers: Headers;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.title);
    this.problem = problem;
  }
}

/** The cursor of the next page, from the Link header. */
export function nextCursor(headers: Headers): string | undefined {
  const next = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
  return next === undefined ? undefined : (new URL(next, root).searchParams.get('cursor') ?? undefined);
}

/** An Idempotency-Key for one form: pressing its button twice, or again after a lost connection, does it once. */
export const newKey = () => crypto.randomUUID();
