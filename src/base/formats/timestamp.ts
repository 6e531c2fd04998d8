const daysInMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Whether this is a date and time by RFC 3339, section 5.6: `T` and `Z` in either case, no space instead of `T`, any
 * number of fraction digits, every offset up to 23:59, and `-00:00`. Second 60 is valid only as a leap second: at the
 * end of a month, in UTC (section 5.7).
 */
export function isTimestamp(text: string): boolean {
  if (text.length < 20) return false;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const second = digits(text, 17, 2);
  // charCodeAt(10) | 32 folds the case of a letter.
  if (
    text[4] !== '-' ||
    text[7] !== '-' ||
    (text.charCodeAt(10) | 32) !== 0x74 ||
    text[13] !== ':' ||
    text[16] !== ':'
  ) {
    return false;
  }
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > monthLength(year, month)) return false;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return false;
  const offset = offsetMinutes(text, afterFraction(text, 19));
  if (offset === undefined) return false;
  return second < 60 || endsMonth(year, month, day, hour * 60 + minute - offset);
}

const [earliest, latest] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/**
 * The time of a valid timestamp in milliseconds since 1970: the one reader of every time that comes in. A leap second is the
 * last millisecond before the next minute, so times keep their order. One that an offset moves out of the years that Postgres
 * and RFC 3339 can both write, 1 to 9999, is the first or the last of them.
 */
export function timeOf(timestamp: string): Date {
  const text = timestamp.toUpperCase().replace(/:60(?:\.\d+)?(?=[Z+-])/, ':59.999');
  return new Date(Math.min(latest, Math.max(earliest, Date.parse(text))));
}

/** Whether a timestamp is in UTC with a capital Z, such as `2026-11-20T12:00:00.123Z`. */
export function isUtcTimestamp(text: string, maxFractionDigits: number): boolean {
  if (text[10] !== 'T' || !text.endsWith('Z')) return false;
  return text.length === 20 || text.length <= 21 + maxFractionDigits;
}

/** -1 if one of the characters is not a digit. */
function digits(text: string, at: number, count: number): number {
  let value = 0;
  for (let place = at; place < at + count; place += 1) {
    const digit = text.charCodeAt(place) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** The position after `.123`; -1 for a point without digits. */
function afterFraction(text: string, at: number): number {
  if (text[at] !== '.') return at;
  let place = at + 1;
  while (digits(text, place, 1) >= 0) place += 1;
  return place === at + 1 ? -1 : place;
}

function offsetMinutes(text: string, at: number): number | undefined {
  if (at < 0) return undefined;
  if ((text.charCodeAt(at) | 32) === 0x7a) return text.length === at + 1 ? 0 : undefined;
  const sign = text[at] === '+' ? 1 : text[at] === '-' ? -1 : 0;
  const hours = digits(text, at + 1, 2);
  const minutes = digits(text, at + 4, 2);
  if (sign === 0 || text.length !== at + 6 || text[at + 3] !== ':') return undefined;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return undefined;
  return sign * (hours * 60 + minutes);
}

function monthLength(year: number, month: number): number {
  const leapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && leapYear ? 29 : (daysInMonth[month - 1] as number);
}

/** `minutes` count from midnight in UTC, and may be negative. No offset reaches the end of the next day. */
function endsMonth(year: number, month: number, day: number, minutes: number): boolean {
  const lastMinute = 24 * 60 - 1;
  if (minutes === lastMinute) return day === monthLength(year, month);
  return minutes === lastMinute - 24 * 60 && day === 1;
}
