// JSON (RFC 8259) by position: what is skipped is checked and never built, so that the data of an event costs no memory.
// Places count UTF-16 units; a negative one is a failure.

/** Data may nest deeper than documents of the registry do; skipping is recursive, so it still has an end. */
export const maxDataDepth = 256;
export const malformed = -1;
export const tooDeep = -2;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colonCode = 0x3a;
const braceEnd = 0x7d;
const bracketEnd = 0x5d;

export function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) return at;
    at += 1;
  }
}

/** The place of the first character that is not plain: a quote, an escape, or anything outside of printable ASCII. */
export function skipPlain(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    // NaN at the end of the text is not plain either.
    if (!(code >= 0x20 && code < 0x7f) || code === quote || code === backslash) return at;
    at += 1;
  }
}

/** `from` is after the opening quote; gives the place after the closing one. */
export function skipString(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) {
      const length = escapeLength(text, at + 1);
      if (length === 0) return malformed;
      at += length;
    } else if (!(code >= 0x20)) return malformed;
    at += 1;
  }
}

function escapeLength(text: string, at: number): number {
  const character = text[at];
  if (character === undefined) return 0;
  if (character !== 'u') return '"\\/bfnrt'.includes(character) ? 1 : 0;
  for (let place = at + 1; place <= at + 4; place += 1) {
    const code = text.charCodeAt(place);
    const folded = code | 32;
    if (!((code >= 0x30 && code <= 0x39) || (folded >= 0x61 && folded <= 0x66))) return 0;
  }
  return 5;
}

/** The text of a string without its quotes, which `skipString` or `skipPlain` has found. */
export function decodeString(text: string, from: number, to: number): string {
  const raw = text.slice(from, to);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

export function skipNumber(text: string, from: number): number {
  let at = text[from] === '-' ? from + 1 : from;
  const whole = skipDigits(text, at);
  if (whole === at || (text[at] === '0' && whole > at + 1)) return malformed;
  at = whole;
  if (text[at] === '.') {
    const end = skipDigits(text, at + 1);
    if (end === at + 1) return malformed;
    at = end;
  }
  if (text[at] === 'e' || text[at] === 'E') {
    const start = text[at + 1] === '+' || text[at + 1] === '-' ? at + 2 : at + 1;
    const end = skipDigits(text, start);
    if (end === start) return malformed;
    at = end;
  }
  return at;
}

function skipDigits(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39) at += 1;
  return at;
}

/** Told where each member of an outermost object stands: its name without the quotes, and where its value begins. */
export type OnMember = (nameFrom: number, nameTo: number, value: number) => void;

/** Skips one value of any kind that begins at `from` itself, not at space before it. */
export function skipValue(text: string, from: number, depth = 0, onMember?: OnMember): number {
  switch (text.charCodeAt(from)) {
    case 0x7b:
      return depth < maxDataDepth ? skipObject(text, from + 1, depth + 1, onMember) : tooDeep;
    case 0x5b:
      return depth < maxDataDepth ? skipArray(text, from + 1, depth + 1) : tooDeep;
    case quote:
      return skipString(text, from + 1);
    case 0x74:
      return text.startsWith('true', from) ? from + 4 : malformed;
    case 0x66:
      return text.startsWith('false', from) ? from + 5 : malformed;
    case 0x6e:
      return text.startsWith('null', from) ? from + 4 : malformed;
    default:
      return skipNumber(text, from);
  }
}

function skipObject(text: string, from: number, depth: number, onMember: OnMember | undefined): number {
  let at = skipSpace(text, from);
  if (text.charCodeAt(at) === braceEnd) return at + 1;
  for (;;) {
    if (text.charCodeAt(at) !== quote) return malformed;
    const nameEnd = skipString(text, at + 1);
    if (nameEnd < 0) return nameEnd;
    const colon = skipSpace(text, nameEnd);
    if (text.charCodeAt(colon) !== colonCode) return malformed;
    const value = skipSpace(text, colon + 1);
    const end = skipValue(text, value, depth);
    if (end < 0) return end;
    onMember?.(at + 1, nameEnd - 1, value);
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === braceEnd) return at + 1;
    if (text.charCodeAt(at) !== comma) return malformed;
    at = skipSpace(text, at + 1);
  }
}

function skipArray(text: string, from: number, depth: number): number {
  let at = skipSpace(text, from);
  if (text.charCodeAt(at) === bracketEnd) return at + 1;
  for (;;) {
    const end = skipValue(text, at, depth);
    if (end < 0) return end;
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === bracketEnd) return at + 1;
    if (text.charCodeAt(at) !== comma) return malformed;
    at = skipSpace(text, at + 1);
  }
}
