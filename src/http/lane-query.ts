import { brokenParameters, type Operation } from './contract.js';

/**
 * Reads the parameters of an operation that has them in the query and nowhere else, and holds them against the contract.
 * Most requests have no query where they need none, and what that comes to is remembered.
 */
export function createReadQuery({ parseParameters }: Operation): (text: string) => Record<string, unknown> {
  let ofNone: Record<string, unknown> | undefined;
  const read = (text: string) => parseParameters({ path: {}, query: queryOf(text), headers: {} }).query;
  return (text) => (text === '' ? (ofNone ??= read(text)) : read(text));
}

/** A name that stands twice becomes a list, which no parameter takes. RegistryError `invalid_request` as for a path. */
export function queryOf(text: string): Record<string, unknown> {
  if (text.includes('%')) requireEncoding(text);
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  // It would take a question mark at the beginning for that of the URL, and that one is not in the text.
  for (const [name, value] of new URLSearchParams(`?${text}`)) {
    const before = values[name];
    if (before === undefined) values[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else values[name] = [before, value];
  }
  return values;
}

/** Otherwise U+FFFD would be looked for where no UTF-8 stands, and a lone percent sign taken for one. */
function requireEncoding(text: string): void {
  for (const part of text.split('&')) {
    try {
      decodeURIComponent(part);
    } catch {
      const detail = 'Percent-encoding has two hexadecimal digits after each %, and stands for UTF-8.';
      throw brokenParameters([{ pointer: `query/${part.split('=')[0]}`, rule: 'percent_encoding', detail }]);
    }
  }
}
