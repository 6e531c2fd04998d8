import type { MaybeOptionalInit, ParseAsResponse } from 'openapi-fetch';
import type { PathsWithMethod, ResponseObjectMap, SuccessResponse } from 'openapi-typescript-helpers';
import type { components, paths } from '../../base/contract/contract.gen.js';

export type Schemas = components['schemas'];
export type HttpMethod = 'get' | 'put' | 'post' | 'patch' | 'delete';
/** Those of AuthZEN are beside this API, for clients of AuthZEN. */
export type PathOf<M extends HttpMethod> = Exclude<PathsWithMethod<paths, M>, `/access/${string}`>;

/** What an operation returns, or what `parseAs` asks for. */
export type DataOf<Operation, Init = unknown> =
  Operation extends Record<string | number, unknown>
    ? ParseAsResponse<SuccessResponse<ResponseObjectMap<Operation>, 'application/json'>, Init>
    : never;

export interface ApiResponse<T> {
  data: T;
  status: number;
  headers: Headers;
  /** The version, for `If-Match`. */
  etag: string | undefined;
  /** The cursor of the next page of a list. Undefined on the last page. */
  next: string | undefined;
}

/** As in openapi-fetch: `{ params: { path, query, header }, body, headers, parseAs, signal }`. */
export type ClientMethod<M extends HttpMethod> = <P extends PathOf<M>, I extends MaybeOptionalInit<paths[P], M>>(
  path: P,
  ...init: object extends I ? [I?] : [I]
) => Promise<ApiResponse<DataOf<paths[P][M & keyof paths[P]], I>>>;

type Listing<P> = P extends PathOf<'get'> ? (DataOf<paths[P]['get']> extends readonly unknown[] ? P : never) : never;
/** The paths whose GET returns a list in pages. */
export type ListPath = Listing<PathOf<'get'>>;
export type ListItem<P extends ListPath> = DataOf<paths[P]['get']> extends ReadonlyArray<infer T> ? T : never;

/**
 * A repeated POST with the same `Idempotency-Key` does it once (test/kits/client/contract.test.ts). Not here: a lease,
 * which is taken every few seconds. A key would cost more than a lost lease, which comes back by itself.
 */
export const keyed: ReadonlySet<string> = new Set([
  '/blocks',
  '/deliveries/outcomes',
  '/grants',
  '/grants/{id}/release',
  '/grants/{id}/revoke',
  '/origins',
  '/origins/{name}/keys',
  '/origins/{name}/keys/{id}/revoke',
  '/subscriptions',
  '/subscriptions/{id}/handshakes',
  '/subscriptions/{id}/resume',
  '/subscriptions/{id}/suspend',
]);

/** A POST that changes nothing (test/kits/client/contract.test.ts). */
export const safe: ReadonlySet<string> = new Set([
  '/events/check',
  '/filters/check',
  '/match',
  '/origins/{name}/subscriptionrules/check',
  '/permissions',
]);

const ofEvents: ReadonlySet<string> = new Set(['/match', '/events/check']);

/** Undefined: JSON. */
export function mediaTypeOf(method: HttpMethod, path: string, body: unknown): string | undefined {
  if (method === 'patch') return 'application/merge-patch+json';
  if (ofEvents.has(path)) return `application/cloudevents${Array.isArray(body) ? '-batch' : ''}+json`;
  return undefined;
}
