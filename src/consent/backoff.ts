const dayMs = 86_400_000;

/** `firstMs` after the first attempt, then `factor` times as long after every attempt, up to `maxMs`. */
export interface Backoff {
  firstMs: number;
  maxMs: number;
  /** 2 if absent. */
  factor?: number;
}

/**
 * How long to wait before a retry, in milliseconds: exponential backoff with a jitter of plus or minus half, so that
 * targets that failed together are not retried together.
 *
 * @param attempt the number of attempts made so far, from 1
 * @param random returns a number from 0 up to 1
 */
export function retryDelayMs(
  attempt: number,
  { firstMs, maxMs, factor = 2 }: Backoff,
  random: () => number = Math.random,
): number {
  const delayMs = Math.max(firstMs, Math.min(firstMs * factor ** (attempt - 1), maxMs));
  return Math.max(1, Math.ceil(delayMs * (0.5 + random())));
}

/**
 * The delay that also respects Retry-After (webhook specification, section 2.2), in milliseconds. A target can make the
 * delay longer, never shorter, and at most a day, so that it cannot park a handshake for years.
 */
export function notBefore(retryAfterMs: number | undefined, delayMs: number): number {
  return Math.max(delayMs, Math.min(retryAfterMs ?? 0, dayMs));
}

/** No wait lasts 30 years: it is a Unix time, in seconds or milliseconds. */
const leastUnixSeconds = 1_000_000_000;

const imfDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850Date = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Retry-After (RFC 9110, section 10.2.3) in milliseconds; undefined if it is absent or invalid, as a Unix time is. A date
 * is measured against the Date of the response, so that no clock has to be right; without a Date it counts as absent.
 */
export function parseRetryAfter(retryAfter: string | undefined, date: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) < leastUnixSeconds ? Number(retryAfter) * 1_000 : undefined;
  const untilMs = parseHttpDate(retryAfter);
  const sentMs = date === undefined ? undefined : parseHttpDate(date);
  return untilMs === undefined || sentMs === undefined ? undefined : Math.max(0, untilMs - sentMs);
}

function parseHttpDate(text: string): number | undefined {
  const known = imfDate.test(text) || rfc850Date.test(text) || asctimeDate.test(text);
  // Second 60 is a leap second. A day that the month lacks would be one of the next month.
  const plain = text.replace(/:60(?= )/, ':59');
  const ms = known ? Date.parse(plain.endsWith('GMT') ? plain : `${plain} GMT`) : NaN;
  const day = Number(/\d{1,2}/.exec(text)?.[0]);
  return Number.isNaN(ms) || new Date(ms).getUTCDate() !== day ? undefined : ms;
}
