import { limits } from '../limits.js';
import { asciiText, utf8Bytes, utf8Text } from './bytes.js';

// Walks JSON (RFC 8259) in UTF-8 by position: skipped values are checked but never built, so that the data of an event
// costs no memory. Positions count bytes; a negative one is a failure. Loops over bytes are twice as fast as over
// characters.

/** Bytes that are valid UTF-8, and a text with one character for each byte, to slice plain strings from. */
export interface JsonText {
  bytes: Uint8Array;
  text: string;
}

export const malformed = -1;
export const tooDeep = -2;

export const quote = 0x22;
export const comma = 0x2c;
const minus = 0x2d;
export const colon = 0x3a;
export const bracket = 0x5b;
export const backslash = 0x5c;
export const bracketEnd = 0x5d;
export const brace = 0x7b;
export const braceEnd = 0x7d;
const point = 0x2e;

/** What ends a run of literal characters: anything but printable ASCII, or what a string must escape. */
const endsPlain = 1;
const endsString = 2;
const endings = Uint8Array.from({ length: 256 }, (_, byte) => {
  const isSpecial = byte < 0x20 || byte === quote || byte === backslash;
  return isSpecial ? endsPlain | endsString : byte >= 0x7f ? endsPlain : 0;
});

export function jsonText(bytes: Uint8Array): JsonText {
  return { bytes, text: asciiText(bytes) };
}

/** The start of the outermost value: after a byte order mark and space. */
export function startOf(bytes: Uint8Array): number {
  return skipSpace(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);
}

export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) break;
  }
  return at;
}

/** The position of the first character that is not plain: a quote, an escape, or anything but printable ASCII. */
export function skipPlain(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (endings[bytes[at]!]! & endsPlain) === 0) at += 1;
  return at;
}

/** `from` is after the opening quote; returns the position after the closing quote. */
export function skipString(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if ((endings[byte]! & endsString) === 0) continue;
    if (byte === quote) return at + 1;
    const length = byte === backslash ? escapeLength(bytes, at + 1) : 0;
    if (length === 0) return malformed;
    at += length;
  }
  return malformed;
}

const shortEscapes = new Set(utf8Bytes('"\\/bfnrt'));

function escapeLength(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0x75) return shortEscapes.has(bytes[at]!) ? 1 : 0;
  for (let place = at + 1; place <= at + 4; place += 1) {
    const byte = bytes[place]!;
    const folded = byte | 32;
    if (!((byte >= 0x30 && byte <= 0x39) || (folded >= 0x61 && folded <= 0x66))) return 0;
  }
  return 5;
}

/** The text of a string without its quotes, between positions from `skipString`. */
export function decodeString(bytes: Uint8Array, from: number, to: number): string {
  const raw = utf8Text(bytes, from, to);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

function skipNumber(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === minus ? from + 1 : from;
  const whole = skipDigits(bytes, at);
  if (whole === at || (bytes[at] === 0x30 && whole > at + 1)) return malformed;
  at = whole;
  if (bytes[at] === point) {
    const end = skipDigits(bytes, at + 1);
    if (end === at + 1) return malformed;
    at = end;
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    const start = bytes[at + 1] === 0x2b || bytes[at + 1] === minus ? at + 2 : at + 1;
    const end = skipDigits(bytes, start);
    if (end === start) return malformed;
    at = end;
  }
  return at;
}

function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at += 1;
  return at;
}

/** Called with the position of each member of the outermost object: its name without quotes, and its value. */
export type OnMember = (nameFrom: number, nameTo: number, value: number) => void;

/** Skips one value of any type, as deep as events may be nested. It must start exactly at `from`, without space. */
export function skipValue(bytes: Uint8Array, from: number, depth = 0, onMember?: OnMember): number {
  switch (bytes[from]) {
    case brace:
      return depth < limits.eventDepth ? skipObject(bytes, from + 1, depth + 1, onMember) : tooDeep;
    case bracket:
      return depth < limits.eventDepth ? skipArray(bytes, from + 1, depth + 1) : tooDeep;
    case quote:
      return skipString(bytes, from + 1);
    case 0x74:
      return skipWord(bytes, from, 'true');
    case 0x66:
      return skipWord(bytes, from, 'false');
    case 0x6e:
      return skipWord(bytes, from, 'null');
    default:
      return skipNumber(bytes, from);
  }
}

/** Whether a text, without the space around it, is a JSON object or array. */
export function isContainer(text: string): boolean {
  const bytes = utf8Bytes(text.trim());
  return (bytes[0] === brace || bytes[0] === bracket) && skipValue(bytes, 0) === bytes.length;
}

function skipWord(bytes: Uint8Array, from: number, word: string): number {
  for (let place = 0; place < word.length; place += 1) {
    if (bytes[from + place] !== word.charCodeAt(place)) return malformed;
  }
  return from + word.length;
}

function skipObject(bytes: Uint8Array, from: number, depth: number, onMember: OnMember | undefined): number {
  let at = skipSpace(bytes, from);
  if (bytes[at] === braceEnd) return at + 1;
  for (;;) {
    if (bytes[at] !== quote) return malformed;
    const nameEnd = skipString(bytes, at + 1);
    if (nameEnd < 0) return nameEnd;
    const afterName = skipSpace(bytes, nameEnd);
    if (bytes[afterName] !== colon) return malformed;
    const value = skipSpace(bytes, afterName + 1);
    const end = skipValue(bytes, value, depth);
    if (end < 0) return end;
    onMember?.(at + 1, nameEnd - 1, value);
    at = skipSpace(bytes, end);
    if (bytes[at] === braceEnd) return at + 1;
    if (bytes[at] !== comma) return malformed;
    at = skipSpace(bytes, at + 1);
  }
}

function skipArray(bytes: Uint8Array, from: number, depth: number): number {
  let at = skipSpace(bytes, from);
  if (bytes[at] === bracketEnd) return at + 1;
  for (;;) {
    const end = skipValue(bytes, at, depth);
    if (end < 0) return end;
    at = skipSpace(bytes, end);
    if (bytes[at] === bracketEnd) return at + 1;
    if (bytes[at] !== comma) return malformed;
    at = skipSpace(bytes, at + 1);
  }
}

/** Skips a value of any depth, with a list of open containers instead of recursion. */
export function skipDeep(bytes: Uint8Array, from: number): number {
  const closings: number[] = [];
  let at = from;
  for (;;) {
    const first = bytes[at];
    const closing = first === brace ? braceEnd : first === bracket ? bracketEnd : undefined;
    if (closing === undefined) {
      at = skipValue(bytes, at);
      if (at < 0) return malformed;
    } else {
      closings.push(closing);
      at = skipSpace(bytes, at + 1);
      if (bytes[at] !== closing) {
        if (closing === braceEnd) at = skipName(bytes, at);
        if (at < 0) return malformed;
        continue;
      }
    }
    // After a value: the ends of its containers, or a comma and the next value.
    for (;;) {
      const open = closings.at(-1);
      if (open === undefined) return at;
      at = skipSpace(bytes, at);
      if (bytes[at] !== open) break;
      closings.pop();
      at += 1;
    }
    if (bytes[at] !== comma) return malformed;
    at = skipSpace(bytes, at + 1);
    if (closings.at(-1) === braceEnd) at = skipName(bytes, at);
    if (at < 0) return malformed;
  }
}

/** The start of the value of a member. The text must be JSON, and the object must have the member. */
export function findMember(bytes: Uint8Array, from: number, name: string): number {
  for (let at = from; ; at = skipSpace(bytes, skipDeep(bytes, at))) {
    const nameFrom = skipSpace(bytes, at + 1);
    at = skipName(bytes, nameFrom);
    if (decodeString(bytes, nameFrom + 1, skipString(bytes, nameFrom + 1) - 1) === name) return at;
  }
}

/** From the name of a member to its value. */
function skipName(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== quote) return malformed;
  const end = skipString(bytes, from + 1);
  if (end < 0) return malformed;
  const afterName = skipSpace(bytes, end);
  return bytes[afterName] === colon ? skipSpace(bytes, afterName + 1) : malformed;
}
