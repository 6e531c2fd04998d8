import { fail, type CesqlRun } from './cesql-expression.js';

export const orders = {
  '<': (x: number, y: number) => x < y,
  '<=': (x: number, y: number) => x <= y,
  '>': (x: number, y: number) => x > y,
  '>=': (x: number, y: number) => x >= y,
};

/**
 * Integers have 32 bits. The text names no value for a result that needs more, so it is the zero value (section 3.3).
 */
export function inRange(value: number, run: CesqlRun): number {
  if (value === (value | 0)) return value | 0;
  fail(run, 'math');
  return 0;
}

export const arithmetic = {
  '+': (x: number, y: number, run: CesqlRun) => inRange(x + y, run),
  '-': (x: number, y: number, run: CesqlRun) => inRange(x - y, run),
  // A product beyond 2 ** 53 is rounded, but it is out of range all the same.
  '*': (x: number, y: number, run: CesqlRun) => inRange(x * y, run),
  // Division by zero gives infinity or no number, and neither is in range.
  '/': (x: number, y: number, run: CesqlRun) => inRange(Math.trunc(x / y), run),
  '%': (x: number, y: number, run: CesqlRun) => inRange(x % y, run),
};
