import { fail, spend, type CesqlRun, type CesqlValue } from './expression.js';

const longNumber = 16;

/** The casts of section 3.7. A failed cast sets a cast error in the run and returns the zero value of its type. */
export function toText(value: CesqlValue): string {
  return typeof value === 'string' ? value : String(value);
}

export function toInteger(value: CesqlValue, run: CesqlRun): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  // Only leading zeros make a number that long.
  if (value.length > longNumber && !spend(run, value.length, 'cast')) return 0;
  const integer = readInteger(value);
  if (integer === undefined) fail(run, 'cast');
  return integer ?? 0;
}

export function toBoolean(value: CesqlValue, run: CesqlRun): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  const truth = readBoolean(value);
  if (truth === undefined) fail(run, 'cast');
  return truth ?? false;
}

/** Decimal digits after at most one sign. Undefined for anything else, and for numbers beyond 32 bits. */
export function readInteger(text: string): number | undefined {
  const first = text.charCodeAt(0);
  const negative = first === 0x2d;
  let magnitude = 0;
  let at = negative || first === 0x2b ? 1 : 0;
  if (at === text.length) return undefined;
  for (; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    magnitude = magnitude * 10 + digit;
    if (magnitude > 0x8000_0000) return undefined;
  }
  if (negative) return 0 - magnitude;
  return magnitude === 0x8000_0000 ? undefined : magnitude;
}

/** "true" and "false" in any case. */
export function readBoolean(text: string): boolean | undefined {
  if (text.length !== 4 && text.length !== 5) return undefined;
  const lower = text.toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : undefined;
}

/**
 * `left = right`: the left value is cast to the type of the right one. IN casts elements to the type of its operand.
 */
export function areEqual(left: CesqlValue, right: CesqlValue, run: CesqlRun): boolean {
  if (typeof right === 'string') return toText(left) === right;
  return typeof right === 'number' ? toInteger(left, run) === right : toBoolean(left, run) === right;
}
