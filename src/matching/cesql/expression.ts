import type { FaultRule } from '../../base/errors.js';
import type { Text } from '../../base/texts/text.js';

/** A value of the CloudEvents SQL Expression Language, CESQL (cesql/spec.md, section 3.1). Integers have 32 bits. */
export type CesqlValue = string | number | boolean;

/** A parsed CESQL expression. `<>` becomes `!=`; `x NOT LIKE` and `x NOT IN` become NOT of the plain operator. */
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

/** Why an expression is refused: the place (offset in UTF-16 units), the rule, and a sentence for people. */
export interface CesqlFault {
  at: number;
  rule: FaultRule;
  detail: Text;
}

/** The kinds of error of section 3.3. */
export type CesqlErrorKind =
  'parse' | 'math' | 'cast' | 'missingAttribute' | 'missingFunction' | 'functionEvaluation' | 'generic';

/**
 * The state of one evaluation: its first error, how many more characters it may read or produce, and the total that it
 * was allowed.
 */
export interface CesqlRun {
  error: CesqlErrorKind | undefined;
  steps: number;
  given: number;
}

/**
 * An evaluation earns steps for what it reads. A subscription may have a hundred expressions, and each runs for every
 * event. CONCAT_WS, which can repeat its delimiter, and patterns that almost match everywhere do much work on few
 * characters. An honest filter does not read anything sixteen times.
 */
const firstSteps = 10_000;
const stepsPerCharacter = 16;
/** A million characters take milliseconds. */
const maxSteps = 1_000_000;

export function createRun(): CesqlRun {
  return { error: undefined, steps: firstSteps, given: firstSteps };
}

/** How many steps a run has taken. Steps beyond the limit were not taken. */
export function stepsTaken({ given, steps }: CesqlRun): number {
  return given - Math.max(steps, 0);
}

/** Resets a run for the next evaluation. */
export function restart(run: CesqlRun): void {
  run.error = undefined;
  run.steps = firstSteps;
  run.given = firstSteps;
}

/** Adds the steps for a value that is read. */
export function payFor(value: CesqlValue, run: CesqlRun): CesqlValue {
  if (typeof value !== 'string') return value;
  const steps = Math.min(value.length * stepsPerCharacter, maxSteps - run.given);
  run.steps += steps;
  run.given += steps;
  return value;
}

/** Keeps the first error: evaluation stops there ("fail fast mode", section 4.1). */
export function fail(run: CesqlRun, kind: CesqlErrorKind): void {
  run.error ??= kind;
}

/** Takes steps from the run. Returns false, with an error of this kind, if too few are left. */
export function spend(run: CesqlRun, steps: number, kind: CesqlErrorKind): boolean {
  run.steps -= steps;
  if (run.steps >= 0) return true;
  fail(run, kind);
  return false;
}
