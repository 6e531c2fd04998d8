import createFetchClient, { type MaybeOptionalInit } from 'openapi-fetch';
import type { paths } from '../../base/contract/contract.gen.js';
import { AssentError, lostConnection, lostTag, refusal } from './assent-error.js';
import { followChanges, type Change, type FollowOptions } from './follow-changes.js';
import { keyed, mediaTypeOf, safe } from './operations.js';
import type { ApiResponse, ClientMethod, DataOf, ListItem, ListPath, HttpMethod, Schemas } from './operations.js';
import { createSend, type Fetch, type TokenSource } from './send.js';

export interface ClientSettings {
  /** Where the registry is, such as `https://assent.example.com`, with or without `/v1`. */
  url: string | URL;
  /** A function is called before each attempt, so that it can renew a token that expires. */
  token?: TokenSource;
  /** Instead of the global one, for example with a proxy. */
  fetch?: Fetch;
  /** `en` or `nl`, for messages and advice. */
  language?: string | (() => string);
  userAgent?: string;
  /** How often a request is repeated at most. 3 if absent. */
  retries?: number;
}

type Editable = '/subscriptions/{id}' | '/origins/{name}';
type PathParameters<P extends Editable> = paths[P]['get']['parameters']['path'];

/** Every call resolves to an Answer, or throws an AssentError. */
export interface Client {
  GET: ClientMethod<'get'>;
  PUT: ClientMethod<'put'>;
  POST: ClientMethod<'post'>;
  PATCH: ClientMethod<'patch'>;
  DELETE: ClientMethod<'delete'>;
  /** The pages of a list, read as they are asked for. `limit` is the size of a page. */
  pages<P extends ListPath>(path: P, init?: ListInit<P>): AsyncGenerator<ApiResponse<Array<ListItem<P>>>, void>;
  /** The entries of a list, page by page. */
  list<P extends ListPath>(path: P, init?: ListInit<P>): AsyncGenerator<ListItem<P>, void>;
  /**
   * Reads a resource, and patches it with `If-Match`. If it was changed in between, it does both again, five times at
   * most. `patchOf` returns a merge patch (RFC 7396), or undefined to leave it as it is.
   */
  edit<P extends Editable>(
    path: P,
    parameters: PathParameters<P>,
    patchOf: (current: DataOf<paths[P]['get']>) => Record<string, unknown> | undefined,
  ): Promise<ApiResponse<DataOf<paths[P]['get']>>>;
  /** Follows the feed: docs/consumers/follow.md, docs/senders/feed.md. */
  changes(options?: FollowOptions): AsyncGenerator<Change, void>;
  /** Resolves to the subscription once it is no longer `pending`: its webhook decided, or did not respond. */
  waitUntilDecided(id: string, options?: { signal?: AbortSignal }): Promise<Schemas['Subscription']>;
}

type ListInit<P extends ListPath> = MaybeOptionalInit<paths[P], 'get'>;

/** What openapi-fetch takes, as far as this file looks into it. */
interface Init {
  params?: { query?: object; path?: object; header?: object };
  body?: unknown;
  headers?: object;
  parseAs?: string;
  signal?: AbortSignal | null;
}

const longPollSeconds = 20;
/** How often `edit` begins again at most. */
const maxRounds = 5;

/**
 * A client of the REST API, in Node and in browsers. It keeps no connection and no state.
 *
 * @param RequestClass what `fetch` gets
 */
export function createClient(settings: ClientSettings, RequestClass: typeof Request = globalThis.Request): Client {
  const {
    token,
    language,
    fetch = (request, init) => globalThis.fetch(request, init),
    userAgent = '',
    retries = 3,
  } = settings;
  const send = createSend({ token, language, fetch, userAgent });
  const root = new URL(settings.url).href.replace(/\/+$/, '');
  const api = createFetchClient<paths>({
    baseUrl: root.endsWith('/v1') ? root : `${root}/v1`,
    Request: RequestClass,
  });
  const operation = api.request as unknown as (
    method: HttpMethod,
    path: string,
    init: object,
  ) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

  async function call(
    method: HttpMethod,
    path: string,
    init: Init = {},
    maxRetries = retries,
  ): Promise<ApiResponse<unknown>> {
    const isKeyed = method === 'post' && keyed.has(path);
    const isRepeatable = method === 'get' || isKeyed || safe.has(path);
    const mediaType = init.body === undefined ? undefined : mediaTypeOf(method, path, init.body);
    let arrived: Response | undefined;
    const answered = operation(method, path, {
      ...init,
      headers: {
        ...(mediaType !== undefined && { 'Content-Type': mediaType }),
        // The same for every attempt. The caller's own replaces it.
        ...(isKeyed && { 'Idempotency-Key': crypto.randomUUID() }),
        ...init.headers,
      },
      fetch: async (request: Request) =>
        (arrived = await send(request, { retries: maxRetries, isRepeatable, signal: init.signal ?? null })),
    }).catch((error: unknown) => {
      if (arrived === undefined || init.signal?.aborted) throw error;
      // The body of a success is a page, or did not arrive whole.
      throw /\bjson\b/i.test(arrived.headers.get('Content-Type') ?? '')
        ? lostConnection(error)
        : refusal(undefined, arrived);
    });
    const { data, error, response } = await answered;
    const { status, headers } = response;
    if (!response.ok) throw refusal(error, response);
    return { data, status, headers, etag: headers.get('ETag') ?? undefined, next: nextCursor(headers) };
  }

  const get = call.bind(undefined, 'get');
  /** For the follower, which repeats on its own. */
  const once = (path: string, init?: Init) => call('get', path, init, 0);
  const client = {
    GET: get,
    PUT: call.bind(undefined, 'put'),
    POST: call.bind(undefined, 'post'),
    PATCH: call.bind(undefined, 'patch'),
    DELETE: call.bind(undefined, 'delete'),

    async *pages(path: string, init: Init = {}) {
      for (let cursor: string | undefined; ;) {
        const query = { limit: 200, ...init.params?.query, ...(cursor !== undefined && { cursor }) };
        const page = await get(path, { ...init, params: { ...init.params, query } });
        yield page;
        cursor = page.next;
        if (cursor === undefined) return;
      }
    },

    async *list(path: string, init: Init = {}) {
      for await (const { data } of client.pages(path, init)) yield* data as unknown[];
    },

    async edit(path: string, parameters: object, patchOf: (current: unknown) => object | undefined) {
      let refused: { etag: string; error: AssentError } | undefined;
      for (let round = 1; ; round += 1) {
        const current = await get(path, { params: { path: parameters } });
        const { etag } = current;
        // Nobody changed it in between, so it would be refused again.
        if (refused !== undefined && etag === refused.etag) throw refused.error;
        const body = patchOf(current.data);
        if (body === undefined) return current;
        if (etag === undefined) throw lostTag(current);
        const header = { 'If-Match': etag };
        try {
          return await call('patch', path, { params: { path: parameters, header }, body });
        } catch (error) {
          if (!(error instanceof AssentError) || error.code !== 'precondition_failed' || round === maxRounds)
            throw error;
          refused = { etag, error };
        }
      }
    },

    changes: (options: FollowOptions = {}) => followChanges(once as unknown as ClientMethod<'get'>, options),

    async waitUntilDecided(id: string, { signal = null }: { signal?: AbortSignal | null } = {}) {
      const read = async (query: object) =>
        (await get('/changes', { params: { query }, signal })).data as Schemas['ChangePage'];
      // From before the subscription is read, so that no change falls in between.
      let { cursor } = await read({ limit: 1 });
      for (;;) {
        const { data } = await get('/subscriptions/{id}', { params: { path: { id } }, signal });
        const subscription = data as Schemas['Subscription'];
        if (subscription.status !== 'pending') return subscription;
        ({ cursor } = await read({ after: cursor, wait: longPollSeconds }));
      }
    },
  };
  return client as unknown as Client;
}

/** RFC 8288. */
function nextCursor(headers: Headers): string | undefined {
  const next = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
  // Only the query counts, so that any base will do.
  return next === undefined ? undefined : (new URL(next, 'http://registry').searchParams.get('cursor') ?? undefined);
}
