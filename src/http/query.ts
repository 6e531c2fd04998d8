import { brokenParameters } from './contract.js';

/** A repeated name becomes a list, which no parameter accepts. RegistryError `invalid_request` for bad percent-encoding. */
export function queryOf(text: string): Record<string, unknown> {
  if (text.includes('%')) requireEncoding(text);
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  // Without this question mark URLSearchParams would drop one that belongs to the text.
  for (const [name, value] of new URLSearchParams(`?${text}`)) {
    const before = values[name];
    if (before === undefined) values[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else values[name] = [before, value];
  }
  return values;
}

export const percentEncodingDetail = 'Percent-encoding has two hexadecimal digits after each %, and stands for UTF-8.';

/** URLSearchParams would read bad UTF-8 as U+FFFD, and a lone percent sign as itself. */
function requireEncoding(text: string): void {
  for (const part of text.split('&')) {
    try {
      decodeURIComponent(part);
    } catch {
      const pointer = `query/${part.split('=')[0]}`;
      throw brokenParameters([{ pointer, rule: 'percent_encoding', detail: percentEncodingDetail }]);
    }
  }
}
