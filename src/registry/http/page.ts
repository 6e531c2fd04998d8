import { RegistryError } from '../../base/errors.js';
import { requestTexts } from '../../base/texts/requests.js';

/** Lists page by key: a cursor is the key of the last entry of a page, so concurrent writes skip nothing. */
export interface ListPage<T> {
  entries: T[];
  /** The key to continue from; undefined on the last page. */
  next: string | undefined;
}

/** A page of a search, which examines a limited number of entries for each request. */
export interface FoundPage<T> extends ListPage<T> {
  /** How many entries were examined, if the page is not full because of that. */
  examined: number | undefined;
  /** How many entries match, over all pages, if the caller asked for it; `isAtLeast` if counting stopped there. */
  total: { count: number; isAtLeast: boolean } | undefined;
}

/** Pass one entry more than the limit if there is one: it shows that there is another page. */
export function pageOf<T>(entries: readonly T[], limit: number, keyOf: (entry: T) => string): ListPage<T> {
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  return { entries: page, next: entries.length > limit && last !== undefined ? keyOf(last) : undefined };
}

/** The key in a cursor; RegistryError `invalid_request` if the list at this path did not issue it in this order. */
export function readListCursor(
  cursor: string | undefined,
  path: string,
  isKey: (key: string) => boolean,
  sort?: string,
): string | undefined {
  if (cursor === undefined) return undefined;
  const list = listOf(path, sort);
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const key = text.slice(list.length + 1);
  if (isKey(key) && cursor === cursorOf(list, key)) return key;
  throw new RegistryError('invalid_request', requestTexts.foreignCursor, {
    faults: [{ pointer: 'query/cursor', rule: 'cursor_unknown', detail: requestTexts.cursorFromLink }],
  });
}

/** `Link` to the next page (RFC 8288), with the query of the current one. */
export function pageHeaders(path: string, query: object, next: string | undefined): Record<string, string> {
  if (next === undefined) return {};
  const sort = 'sort' in query && typeof query.sort === 'string' ? query.sort : undefined;
  const cursor = cursorOf(listOf(path, sort), next);
  const parameters = new URLSearchParams({ ...query, cursor });
  return { Link: `<${path}?${parameters.toString()}>; rel="next"` };
}

/**
 * The headers of a page that was searched for. The count is the same on every page, and not free, so the link to the
 * next page does not ask for it again.
 */
export function foundHeaders(
  path: string,
  { count: _, ...query }: { count?: boolean | undefined },
  { next, examined, total }: FoundPage<unknown>,
): Record<string, string> {
  return {
    ...pageHeaders(path, query, next),
    ...(examined === undefined ? {} : { 'X-Search-Examined': String(examined) }),
    ...(total === undefined ? {} : { 'X-Total-Count': String(total.count) }),
    ...(total?.isAtLeast ? { 'X-Total-Count-At-Least': 'true' } : {}),
  };
}

/** A list in another order is another list. */
const listOf = (path: string, sort: string | undefined) => (sort === undefined ? path : `${path} ${sort}`);

/** Names its list: keys of different lists look alike, and a key of another list would skip entries. */
function cursorOf(list: string, key: string): string {
  return Buffer.from(`${list} ${key}`).toString('base64url');
}
