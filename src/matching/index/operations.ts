/**
 * The instructions of a program (program.ts). Every operation below `all` is a leaf of two words; an odd one negates
 * the operation before it in this list.
 */
export const exact = 2;
export const notExact = 3;
export const prefix = 4;
export const notPrefix = 5;
export const suffix = 6;
export const notSuffix = 7;
export const all = 8;
export const any = 9;
export const predicate = 10;
export const notPredicate = 11;

export const operationMask = 15;
export const operandShift = 4;

/** The number of words of the instruction that begins with `word`, including its children. */
export function lengthOf(word: number): number {
  return (word & operationMask) < all ? 2 : word >>> operandShift;
}
