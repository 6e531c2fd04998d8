import type { Fault } from '../errors.js';

/**
 * Deeper documents are refused, because code that walks a value may be recursive. What the contract lets go deepest are
 * 32 filters in each other, of which every `all` takes two; one too many has a fault of its own.
 */
const maxDepth = 68;
/**
 * Commas and opening brackets, which there are about as many of as values. What is sent in bodies that have room for so
 * many has longer values. Each may be at fault, all faults are looked for at once, and to find millions of them would
 * hold up everybody for seconds.
 */
const maxMarks = 50_000;
/**
 * Names that reach the prototype of an object in code that is less careful. The first is refused wherever it stands;
 * the others are so where names are free, but for attributes of events, which may have any of a-z and 0-9.
 */
export const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{');
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;
const utf8 = new TextDecoder('utf-8', { fatal: true });

interface Container {
  names: Set<string> | undefined;
  at: string;
  index: number;
  awaitsName: boolean;
}

/** JSON as RFC 8259 has it, in UTF-8. */
export function parseJson(bytes: Uint8Array): { text: string; value: unknown } | { faults: Fault[] } {
  if (hasTooManyValues(bytes)) {
    const detail = `The body has more than ${maxMarks} commas and opening brackets.`;
    return { faults: [{ pointer: '', rule: 'too_many_values', detail }] };
  }
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { faults: [{ pointer: '', rule: 'not_utf8', detail: 'The body is not UTF-8.' }] };
  }
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    // No cause: the parser's message quotes the text, and that may be a credential.
    return { faults: [{ pointer: '', rule: 'not_json', detail: 'The body is not JSON (RFC 8259).' }] };
  }
}

/** Before the text is read: to make a million values takes its time, too. Strings may hold any marks. */
function hasTooManyValues(bytes: Uint8Array): boolean {
  if (bytes.length <= maxMarks) return false;
  let marks = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) isInString = !isInString;
    else if (byte === backslash && isInString) at += 1;
    else if (!isInString && (byte === comma || byte === bracket || byte === brace)) marks += 1;
  }
  return marks > maxMarks;
}

/**
 * What I-JSON (RFC 7493) has besides: no name twice and no lone surrogate; and no NUL, which Postgres cannot store.
 * `JSON.parse` alone takes the last of two equal names, and lets through the others. Walks the tokens of a text that is
 * JSON, the stack being the path to the present place, and gives the first fault of each member or entry of the
 * outermost value.
 */
export function findFaults(text: string): Fault[] {
  const faults: Fault[] = [];
  const stack: Container[] = [];
  let tooDeep = 0;
  let isTold = false;
  const tell = (fault: Omit<Fault, 'pointer'> | undefined) => {
    if (fault === undefined || isTold) return;
    faults.push({ pointer: pointerOf(stack), ...fault });
    isTold = true;
  };
  for (const [token] of text.matchAll(tokens)) {
    const parent = stack.at(-1);
    if (token === '{' || token === '[') {
      if (stack.length < maxDepth) {
        stack.push({ names: token === '{' ? new Set() : undefined, at: '', index: 0, awaitsName: token === '{' });
      } else {
        tell({ rule: 'too_deep', detail: `The body is nested more than ${maxDepth} deep.` });
        tooDeep += 1;
      }
    } else if (token === '}' || token === ']') {
      if (tooDeep > 0) tooDeep -= 1;
      else stack.pop();
    } else if (tooDeep > 0) {
      continue;
    } else if (token === ',') {
      if (stack.length === 1) isTold = false;
      if (parent?.names) parent.awaitsName = true;
      else if (parent) parent.index += 1;
    } else {
      const string = JSON.parse(token) as string;
      const isName = parent?.names !== undefined && parent.awaitsName;
      if (isName) {
        parent.at = string;
        parent.awaitsName = false;
      }
      tell(textFault(string) ?? (isName ? nameFault(string, parent.names as Set<string>) : undefined));
      if (isName) parent.names?.add(string);
    }
  }
  return faults;
}

/** Postgres stores neither NUL nor half a surrogate pair. */
export function textFault(text: string): Omit<Fault, 'pointer'> | undefined {
  if (text.includes('\0')) return { rule: 'text_nul', detail: 'The text holds the character U+0000.' };
  if (!text.isWellFormed()) return { rule: 'text_lone_surrogate', detail: 'The text holds half of a surrogate pair.' };
  return undefined;
}

function nameFault(name: string, names: ReadonlySet<string>): Omit<Fault, 'pointer'> | undefined {
  if (name === '__proto__') return { rule: 'name_forbidden', detail: 'A member may not have this name.' };
  if (names.has(name)) return { rule: 'name_repeated', detail: 'The object has two members of this name.' };
  return undefined;
}

function pointerOf(stack: readonly Container[]): string {
  return stack.map(({ names, at, index }) => `/${names ? escapePointer(at) : index}`).join('');
}

/** A JSON object, and neither an array nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One reference token of a JSON pointer (RFC 6901 section 3). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
