import type { Cesql } from './expression.js';
import { findFunction } from './functions.js';
import { readsAll } from './like.js';

/** The minimum steps of one part of an expression. */
const stepsOfPart = 4;
const maxSteps = 1_000_000;

/**
 * The steps of an expression for an event whose attributes have this many characters, if it is evaluated completely. A
 * pattern that reads its text counts each character twice; texts that almost match take more.
 */
export function stepsOf(expression: Cesql, characters: number): number {
  return Math.min(estimate(expression, characters).steps, maxSteps);
}

interface Estimate {
  steps: number;
  /** Length of the value in characters. */
  length: number;
}

function estimate(expression: Cesql, characters: number): Estimate {
  switch (expression.kind) {
    case 'literal':
      return { steps: stepsOfPart, length: String(expression.value).length };
    case 'attribute':
      return { steps: stepsOfPart, length: characters };
    case 'exists':
      return { steps: stepsOfPart, length: 0 };
    case 'not':
    case 'minus':
      return { steps: stepsOfPart + estimate(expression.operand, characters).steps, length: 0 };
    case 'logic':
    case 'comparison':
    case 'arithmetic':
      return { ...all([expression.left, expression.right], characters), length: 0 };
    case 'in':
      return { ...all([expression.operand, ...expression.set], characters), length: 0 };
    case 'like': {
      const { steps, length } = estimate(expression.operand, characters);
      return { steps: steps + stepsOfPart + (readsAll(expression.pattern) ? 2 * length : 0), length: 0 };
    }
    case 'call': {
      const { steps, length } = all(expression.arguments, characters);
      const zero = findFunction(expression.name, expression.arguments.length)?.zero;
      return { steps: steps + length, length: typeof zero === 'string' ? length : 0 };
    }
  }
}

function all(parts: readonly Cesql[], characters: number): Estimate {
  const sum = { steps: stepsOfPart, length: 0 };
  for (const part of parts) {
    const { steps, length } = estimate(part, characters);
    sum.steps = Math.min(sum.steps + steps, maxSteps);
    sum.length = Math.min(sum.length + length, maxSteps);
  }
  return sum;
}
