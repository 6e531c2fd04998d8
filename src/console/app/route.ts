import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Where the registry is, whatever a proxy has put in front: the console and the API are below it. */
export const root = new URL('.', location.href.split('#')[0]);

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

/** Parameters in the address that are no place: a token of a link, or the response of an issuer. */
export interface Arrival {
  fragment: URLSearchParams;
  query: URLSearchParams;
}

/** The last one. The address and the history have lost it before anything reads it. */
export const arrival = signal(takeArrival('#/'));
export const route = signal<Route>(read());
addEventListener('hashchange', () => {
  const { page, id, query } = route.value;
  const arrived = takeArrival(href(page, id, query));
  if (arrived === undefined) route.value = read();
  else arrival.value = arrived;
});

/** Every link can bring parameters, so nothing but a place stays in the address, whether the console knows them or not. */
function takeArrival(place: string): Arrival | undefined {
  const { hash, search, pathname } = location;
  const isPlace = hash === '' || hash.startsWith('#/');
  if (isPlace && search === '') return undefined;
  history.replaceState(null, '', pathname + (isPlace ? hash : place));
  return { fragment: new URLSearchParams(isPlace ? '' : hash.slice(1)), query: new URLSearchParams(search) };
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [page = '', id] = path.split('/').map(decode);
  // The page of webhooks became the list of grants.
  return {
    page: page === 'webhooks' ? 'grants' : page,
    id: id === '' ? undefined : id,
    query: Object.fromEntries(new URLSearchParams(query)),
  };
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
  history.replaceState(null, '', location.pathname + address);
  route.value = read();
}

/** Of what the page shows, for the title of the window. */
export const shownName = signal<string | undefined>(undefined);

/** Says what the page shows, for as long as it is drawn. */
export function useName(name: string | undefined): void {
  useEffect(() => {
    shownName.value = name;
    return () => void (shownName.value = undefined);
  }, [name]);
}
