/** Requests per minute; `*` is no limit (webhook specification, section 4.2.2). */
export type Rate = number | '*';

/** Fifteen digits stay exact in a double. A higher rate counts as this one. */
export const maxRate = 999_999_999_999_999;

/** The white space is what HTTP allows around a field value (RFC 9110, section 5.6.3). */
const written = /^[ \t]*(\*|[1-9]\d*)[ \t]*$/;

/**
 * Parses a rate as `WebHook-Allowed-Rate` has it: `*` or a positive integer without sign, fraction, exponent or unit.
 * It can have any length and is capped at `maxRate`. Anything else is undefined; the caller decides what that means,
 * but it never means unlimited.
 */
export function parseRate(text: string): Rate | undefined {
  const value = written.exec(text)?.[1];
  if (value === undefined) return undefined;
  return value === '*' ? '*' : Math.min(Number(value), maxRate);
}

/** Whether a text that `parseRate` accepts is a number above `maxRate`. */
export function isAboveMaxRate(text: string): boolean {
  return Number(text) > maxRate;
}

/** A rate from the database, whose column constraint accepts only rates that parse. */
export function storedRate(text: string): Rate {
  return parseRate(text) ?? 1;
}

/** The rate as a header or a text column has it; the inverse of `parseRate`. */
export function formatRate(rate: Rate): string {
  return String(rate);
}
