import { readBoolean, readInteger, toBoolean, toInteger, toText } from './casts.js';
import { fail, spend, type CesqlRun, type CesqlValue } from './expression.js';

type Parameter = 'string' | 'integer' | 'any';
type ArgumentOf<P> = P extends 'string' ? string : P extends 'integer' ? number : CesqlValue;

/** A built-in function. The last parameter of a variadic one accepts any number of arguments, including none. */
interface CesqlFunction {
  parameters: readonly Parameter[];
  variadic: boolean;
  /** The value when an argument has an error: the zero value of the type that the function returns (section 3.1). */
  zero: CesqlValue;
  /** Gets the arguments after their casts. One pass over them is paid for; repeated work must be paid with `spend`. */
  apply(values: readonly CesqlValue[], run: CesqlRun): CesqlValue;
}

function define<const P extends readonly Parameter[]>(
  parameters: P,
  zero: CesqlValue,
  apply: (values: { [K in keyof P]: ArgumentOf<P[K]> }, run: CesqlRun) => CesqlValue,
): CesqlFunction {
  return { parameters, variadic: false, zero, apply };
}

function defineVariadic(
  parameters: readonly 'string'[],
  apply: (values: readonly string[], run: CesqlRun) => string,
): CesqlFunction {
  return { parameters, variadic: true, zero: '', apply };
}

/**
 * Section 3.5, and IS_INT and IS_BOOL from earlier drafts: true if a cast would succeed. Characters are code points. A
 * name can appear here with several numbers of parameters.
 */
const functions: readonly (readonly [string, CesqlFunction])[] = [
  ['ABS', define(['integer'], 0, ([x], run) => absolute(x, run))],
  ['LENGTH', define(['string'], 0, ([x]) => lengthOfText(x))],
  ['CONCAT', defineVariadic(['string'], (values) => values.join(''))],
  [
    'CONCAT_WS',
    defineVariadic(['string', 'string'], ([delimiter = '', ...values], run) => join(delimiter, values, run)),
  ],
  ['LOWER', define(['string'], '', ([x]) => x.toLowerCase())],
  ['UPPER', define(['string'], '', ([x]) => x.toUpperCase())],
  ['TRIM', define(['string'], '', ([x]) => trim(x))],
  ['LEFT', define(['string', 'integer'], '', ([x, y], run) => left(x, y, run))],
  ['RIGHT', define(['string', 'integer'], '', ([x, y], run) => right(x, y, run))],
  ['SUBSTRING', define(['string', 'integer'], '', ([x, pos], run) => substring(x, pos, undefined, run))],
  ['SUBSTRING', define(['string', 'integer', 'integer'], '', ([x, pos, len], run) => substring(x, pos, len, run))],
  ['INT', define(['any'], 0, ([x], run) => toInteger(x, run))],
  ['BOOL', define(['any'], false, ([x], run) => toBoolean(x, run))],
  ['STRING', define(['any'], '', ([x]) => toText(x))],
  ['IS_INT', define(['any'], false, ([x]) => typeof x !== 'string' || readInteger(x) !== undefined)],
  ['IS_BOOL', define(['any'], false, ([x]) => typeof x !== 'string' || readBoolean(x) !== undefined)],
];

/** `name` is in upper case. */
export function isFunctionName(name: string): boolean {
  return functions.some(([known]) => known === name);
}

export function findFunction(name: string, count: number): CesqlFunction | undefined {
  const found = functions.find(([known, { parameters, variadic }]) => {
    return known === name && (variadic ? count >= parameters.length - 1 : count === parameters.length);
  });
  return found?.[1];
}

function absolute(x: number, run: CesqlRun): number {
  if (x !== -0x8000_0000) return Math.abs(x);
  fail(run, 'math');
  return 0x7fff_ffff;
}

/** The delimiter may be repeated many times, and may itself be made of repeated delimiters. */
function join(delimiter: string, values: readonly string[], run: CesqlRun): string {
  const repeated = delimiter.length * Math.max(0, values.length - 2);
  return spend(run, repeated, 'functionEvaluation') ? values.join(delimiter) : '';
}

function lengthOfText(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; at = advance(text, at, 1)) length += 1;
  return length;
}

/** The offset that is `count` characters after `at`, or the end. */
function advance(text: string, at: number, count: number): number {
  for (let left = count; left > 0 && at < text.length; left -= 1)
    at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return at;
}

function left(text: string, count: number, run: CesqlRun): string {
  if (count >= 0) return text.slice(0, advance(text, 0, count));
  fail(run, 'functionEvaluation');
  return text;
}

function right(text: string, count: number, run: CesqlRun): string {
  if (count >= 0) return text.slice(advance(text, 0, lengthOfText(text) - count));
  fail(run, 'functionEvaluation');
  return text;
}

function substring(text: string, position: number, count: number | undefined, run: CesqlRun): string {
  const length = lengthOfText(text);
  if (Math.abs(position) > length || (count !== undefined && count < 0)) {
    fail(run, 'functionEvaluation');
    return '';
  }
  if (position === 0) return '';
  const start = advance(text, 0, position > 0 ? position - 1 : length + position);
  return text.slice(start, count === undefined ? text.length : advance(text, start, count));
}

/** White_Space of Unicode. `String.trim` differs: it removes U+FEFF and keeps U+0085. */
const whiteSpace = /^\p{White_Space}$/u;

function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && whiteSpace.test(text.charAt(start))) start += 1;
  while (end > start && whiteSpace.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
