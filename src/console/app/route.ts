import { signal } from '@preact/signals';

/**
 * The place in the console, in the fragment of the address: `#/subscriptions/ID?status=refused`. So the registry serves
 * one page below any path, and its log never has what somebody looked at.
 */
interface Route {
  /** The first segment; `''` is the start. */
  page: string;
  id: string | undefined;
  query: Readonly<Record<string, string>>;
}

export const route = signal<Route>(read());
addEventListener('hashchange', () => (route.value = read()));

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [page = '', id] = path.split('/').map(decode);
  return { page, id: id === '' ? undefined : id, query: Object.fromEntries(new URLSearchParams(query)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a place. Members of the query that are empty are left out. */
export function href(page: string, id?: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const parameters = new URLSearchParams(given).toString();
  const place = id === undefined ? page : `${page}/${encodeURIComponent(id)}`;
  return `#/${place}${parameters === '' ? '' : `?${parameters}`}`;
}

export function go(address: string): void {
  location.hash = address;
}

/** Changes the query of this place, without an entry in the history. */
export function replaceQuery(query: Readonly<Record<string, string | undefined>>): void {
  const { page, id } = route.value;
  replace(href(page, id, query));
}

/** Goes to a place, which takes that of the present one in the history. */
export function replace(address: string): void {
  history.replaceState(null, '', location.pathname + location.search + address);
  route.value = read();
}
