import type { Fault } from '../errors.js';
import { limits } from '../limits.js';
import { requestTexts } from '../texts/requests.js';
import { asciiText } from './bytes.js';
import {
  backslash,
  brace,
  braceEnd,
  bracket,
  bracketEnd,
  comma,
  decodeString,
  jsonText,
  quote,
  skipDeep,
  skipPlain,
  skipSpace,
  skipString,
  skipValue,
  startOf,
  type JsonText,
} from './json-text.js';

/**
 * Names that reach the prototype of an object in careless code. The first is refused everywhere. The others are refused
 * if the name is free, except for event attributes, which may use any name of a-z and 0-9.
 */
export const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses JSON (RFC 8259) in UTF-8. */
export function parseJson(bytes: Uint8Array): { value: unknown } | { faults: Fault[] } {
  if (hasTooManyValues(bytes)) {
    return {
      faults: [{ pointer: '', rule: 'too_many_values', detail: requestTexts.tooManyValues(limits.bodyValues) }],
    };
  }
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { faults: [{ pointer: '', rule: 'not_utf8', detail: requestTexts.notUtf8 }] };
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    // No cause: the parser's message quotes the text, which may be a credential.
    return { faults: [{ pointer: '', rule: 'not_json', detail: requestTexts.notJson }] };
  }
}

/**
 * Checked before the text is parsed. Each value may have a fault, and finding millions of faults would block the event
 * loop for seconds.
 */
function hasTooManyValues(bytes: Uint8Array): boolean {
  if (bytes.length <= limits.bodyValues) return false;
  let marks = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) isInString = !isInString;
    else if (byte === backslash && isInString) at += 1;
    else if (!isInString && (byte === comma || byte === bracket || byte === brace)) marks += 1;
  }
  return marks > limits.bodyValues;
}

interface Walk {
  json: JsonText;
  /** The names and indexes that lead to the current value, one for each open container. */
  path: Array<string | number>;
  /** The first fault in each member or entry of the outermost value. */
  faults: Fault[];
  hasFault: boolean;
}

/**
 * Checks the further rules of I-JSON (RFC 7493): no repeated name, no lone surrogate, no number that a double cannot
 * represent. Also refuses NUL, which Postgres cannot store. `JSON.parse` alone keeps the last of two equal names and
 * changes such numbers. The bytes must be valid JSON.
 */
export function findFaults(bytes: Uint8Array): Fault[] {
  const walk: Walk = { json: jsonText(bytes), path: [], faults: [], hasFault: false };
  walkValue(walk, startOf(bytes));
  return walk.faults;
}

/** Returns the position after the value that starts at `at`. */
function walkValue(walk: Walk, at: number): number {
  const { json, path } = walk;
  const { bytes } = json;
  const first = bytes[at];
  if (first === quote) {
    const plainEnd = skipPlain(bytes, at + 1);
    if (bytes[plainEnd] === quote) return plainEnd + 1;
    const end = skipString(bytes, plainEnd);
    report(walk, textFault(decodeString(bytes, at + 1, end - 1)));
    return end;
  }
  if (first !== brace && first !== bracket) {
    const end = skipValue(bytes, at);
    report(walk, numberFault(asciiText(bytes, at, end)));
    return end;
  }
  if (path.length < limits.bodyDepth) return walkContainer(walk, at);
  report(walk, { rule: 'too_deep', detail: requestTexts.tooDeep(limits.bodyDepth) });
  return skipDeep(bytes, at);
}

function walkContainer(walk: Walk, from: number): number {
  const { json, path } = walk;
  const { bytes } = json;
  const names = bytes[from] === brace ? new Set<string>() : undefined;
  const last = path.push('') - 1;
  let at = skipSpace(bytes, from + 1);
  for (let index = 0; bytes[at] !== braceEnd && bytes[at] !== bracketEnd; index += 1) {
    if (last === 0) walk.hasFault = false;
    path[last] = index;
    if (names) {
      const end = skipString(bytes, at + 1);
      const isPlain = skipPlain(bytes, at + 1) === end - 1;
      const name = isPlain ? json.text.slice(at + 1, end - 1) : decodeString(bytes, at + 1, end - 1);
      path[last] = name;
      report(walk, textFault(name) ?? nameFault(name, names));
      names.add(name);
      // After the colon.
      at = skipSpace(bytes, skipSpace(bytes, end) + 1);
    }
    at = skipSpace(bytes, walkValue(walk, at));
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
  }
  path.pop();
  return at + 1;
}

function report(walk: Walk, fault: Omit<Fault, 'pointer'> | undefined): void {
  if (fault === undefined || walk.hasFault) return;
  const pointer = walk.path.map((step) => `/${typeof step === 'string' ? escapePointer(step) : step}`).join('');
  walk.faults.push({ pointer, ...fault });
  walk.hasFault = true;
}

/** Postgres stores neither NUL nor half a surrogate pair. */
export function textFault(text: string): Omit<Fault, 'pointer'> | undefined {
  if (text.includes('\0')) return { rule: 'text_nul', detail: requestTexts.nul };
  if (!text.isWellFormed()) return { rule: 'text_lone_surrogate', detail: requestTexts.loneSurrogate };
  return undefined;
}

/** For a number that a double would change (RFC 7493 section 2.2). `text` may also be a word such as `true`. */
function numberFault(text: string): Omit<Fault, 'pointer'> | undefined {
  const value = Number(text);
  const isHeld = /^-?\d+(?:\.0+)?$/.test(text) ? Number.isSafeInteger(value) : Math.abs(value) !== Infinity;
  if (isHeld) return undefined;
  return { rule: 'value_out_of_range', detail: requestTexts.inexactNumber };
}

function nameFault(name: string, names: ReadonlySet<string>): Omit<Fault, 'pointer'> | undefined {
  if (name === '__proto__') return { rule: 'name_forbidden', detail: requestTexts.forbiddenName };
  if (names.has(name)) return { rule: 'name_repeated', detail: requestTexts.repeatedName };
  return undefined;
}

/** A JSON object; not an array, not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One reference token of a JSON pointer (RFC 6901 section 3). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
