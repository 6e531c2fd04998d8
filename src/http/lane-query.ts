import type { Operation } from './contract.js';

/**
 * Reads the parameters of an operation that has them in the query and nowhere else, and holds them against the contract.
 * Most requests have no query where they need none, and what that comes to is remembered.
 */
export function createReadQuery({ parseParameters }: Operation): (text: string) => Record<string, unknown> {
  let ofNone: Record<string, unknown> | undefined;
  const read = (text: string) => parseParameters({ path: {}, query: queryOf(text), headers: {} }).query;
  return (text) => (text === '' ? (ofNone ??= read(text)) : read(text));
}

/** A name that stands twice becomes a list, which no parameter takes. */
export function queryOf(text: string): Record<string, unknown> {
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
