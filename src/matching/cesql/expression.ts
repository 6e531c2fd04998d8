import type { FaultRule } from '../../errors.js';

/** A value of the CloudEvents SQL Expression Language, CESQL (cesql/spec.md, section 3.1). Integers have 32 bits. */
export type CesqlValue = string | number | boolean;

/** A CESQL expression that was read. `<>` is kept as `!=`, `x NOT LIKE` and `x NOT IN` as NOT of the plain operator. */
export type Cesql =
  | { kind: 'literal'; value: CesqlValue }
  | { kind: 'attribute'; name: string }
  | { kind: 'exists'; name: string }
  | { kind: 'not'; operand: Cesql }
  | { kind: 'minus'; operand: Cesql }
  | { kind: 'logic'; operator: 'AND' | 'OR' | 'XOR'; left: Cesql; right: Cesql }
  | { kind: 'comparison'; operator: '=' | '!=' | '<' | '<=' | '>' | '>='; left: Cesql; right: Cesql }
  | { kind: 'arithmetic'; operator: '+' | '-' | '*' | '/' | '%'; left: Cesql; right: Cesql }
  | { kind: 'like'; operand: Cesql; pattern: string }
  | { kind: 'in'; operand: Cesql; set: Cesql[] }
  | { kind: 'call'; name: string; arguments: Cesql[] };

/** Why an expression is refused: where (offset in UTF-16 units), by which rule, and a sentence for people. */
export interface CesqlFault {
  at: number;
  rule: FaultRule;
  detail: string;
}

/** The kinds of error of section 3.3. */
export type CesqlErrorKind =
  'parse' | 'math' | 'cast' | 'missingAttribute' | 'missingFunction' | 'functionEvaluation' | 'generic';

/**
 * What one evaluation carries along: its first error, how many more characters it may look at or produce, and how many
 * it was given in all.
 */
export interface CesqlRun {
  error: CesqlErrorKind | undefined;
  steps: number;
  given: number;
}

/**
 * Steps are given for what an evaluation reads: a subscription may have a hundred expressions, each of which is run for
 * every event, and CONCAT_WS, which can repeat its delimiter, and patterns that almost match everywhere make much work
 * of few characters. An honest filter does not look at anything sixteen times.
 */
const firstSteps = 10_000;
const stepsPerCharacter = 16;
/** A million characters take milliseconds. */
const maxSteps = 1_000_000;

export function createRun(): CesqlRun {
  return { error: undefined, steps: firstSteps, given: firstSteps };
}

/** How many steps a run has taken. What was asked for and not given was not done. */
export function stepsTaken({ given, steps }: CesqlRun): number {
  return given - Math.max(steps, 0);
}

/** Makes a run ready for the next evaluation. */
export function restart(run: CesqlRun): void {
  run.error = undefined;
  run.steps = firstSteps;
  run.given = firstSteps;
}

/** Gives the steps for a value that is read. */
export function payFor(value: CesqlValue, run: CesqlRun): CesqlValue {
  if (typeof value !== 'string') return value;
  const steps = Math.min(value.length * stepsPerCharacter, maxSteps - run.given);
  run.steps += steps;
  run.given += steps;
  return value;
}

/** The first error stays: after it nothing more is evaluated ("fail fast mode", section 4.1). */
export function fail(run: CesqlRun, kind: CesqlErrorKind): void {
  run.error ??= kind;
}

/** Takes steps from the run; false, with an error of that kind, when there are not enough left. */
export function spend(run: CesqlRun, steps: number, kind: CesqlErrorKind): boolean {
  run.steps -= steps;
  if (run.steps >= 0) return true;
  fail(run, kind);
  return false;
}
