import type { Operator } from '../filters/filter.js';

/**
 * The instructions of a program (program.ts). Every one below `all` is a leaf of two words; an odd one negates the
 * one before it in this list.
 */
export const exact = 2;
export const notExact = 3;
export const prefix = 4;
export const notPrefix = 5;
export const suffix = 6;
export const all = 8;
export const any = 9;
export const predicate = 10;
export const notPredicate = 11;

/** Of each operator. `EventView` tests it. */
export const instructionOf: Readonly<Record<Operator, number>> = { exact, prefix, suffix };

export const instructionMask = 15;
export const operandShift = 4;

/** The number of words that begin with `word`, including children. */
export function lengthOf(word: number): number {
  return (word & instructionMask) < all ? 2 : word >>> operandShift;
}
