import { areEqual, toBoolean, toInteger, toText } from './casts.js';
import {
  createRun,
  fail,
  payFor,
  restart,
  spend,
  type Cesql,
  type CesqlErrorKind,
  type CesqlRun,
  type CesqlValue,
} from './expression.js';
import { findFunction } from './functions.js';
import { compileLike } from './like.js';

/** Context attributes by name: Integer as number, Boolean as boolean, every other type as its canonical string. */
interface EventAttributes {
  get(name: string): CesqlValue | undefined;
}

/** The first error, if any; then `value` is the value that the specification has for it, otherwise a zero value. */
interface CesqlResult {
  value: CesqlValue;
  error: CesqlErrorKind | undefined;
}

/**
 * A compiled expression. If it returns with an error in the run, its value depends on the origin of the error (sections
 * 3.2, 3.3 and 4.1): its own error has the value that the specification names; an error of an operand has the zero
 * value of its type. So a caller checks for an error before it uses the value. A failed cast is an error of the
 * operator.
 */
type Evaluate = (event: EventAttributes, run: CesqlRun) => CesqlValue;

/** The value and the error of the expression for an event (section 3.6). */
export function compileCesql(expression: Cesql): (event: EventAttributes) => CesqlResult {
  const evaluate = compile(expression);
  return (event) => {
    const run = createRun();
    const value = evaluate(event, run);
    return { value, error: run.error };
  };
}

/**
 * Whether an event passes the expression as a filter: the value is true, which is a Boolean, and there is no error
 * (section 1.2). Calls allocate only the arguments and results of functions. All calls share one run, because they
 * never overlap. The run has the steps of the last call.
 */
export function matchesCesql(expression: Cesql, run: CesqlRun = createRun()): (event: EventAttributes) => boolean {
  const evaluate = compile(expression);
  return (event) => {
    restart(run);
    return evaluate(event, run) === true && run.error === undefined;
  };
}

function compile(expression: Cesql): Evaluate {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return (_event, run) => payFor(value, run);
    }
    case 'attribute':
      return compileAttribute(expression.name);
    case 'exists': {
      const { name } = expression;
      return (event) => event.get(name) !== undefined;
    }
    case 'not':
      return compileNot(compile(expression.operand));
    case 'minus':
      return compileMinus(compile(expression.operand));
    case 'logic':
      return compileLogic(expression);
    case 'comparison':
      return compileComparison(expression);
    case 'arithmetic':
      return compileArithmetic(expression);
    case 'like':
      return compileLikeOf(compile(expression.operand), compileLike(expression.pattern));
    case 'in':
      return compileIn(expression);
    case 'call':
      return compileCall(expression);
  }
}

/** The type of an attribute is unknown. A missing one has the zero value of Boolean (section 3.2). */
function compileAttribute(name: string): Evaluate {
  return (event, run) => {
    const value = event.get(name);
    if (value !== undefined) return payFor(value, run);
    fail(run, 'missingAttribute');
    return false;
  };
}

/**
 * `NOT 10` is a cast error with the value true, as in the conformance cases, although section 3.7 casts an Integer to a
 * Boolean and every other operator does so. This makes a filter narrower and never wider.
 */
function compileNot(operand: Evaluate): Evaluate {
  return (event, run) => {
    const value = operand(event, run);
    if (run.error !== undefined) return false;
    if (typeof value !== 'number') return !toBoolean(value, run);
    fail(run, 'cast');
    return true;
  };
}

function compileLikeOf(operand: Evaluate, matches: ReturnType<typeof compileLike>): Evaluate {
  return (event, run) => {
    const value = operand(event, run);
    return run.error === undefined && matches(toText(value), run);
  };
}

function compileMinus(operand: Evaluate): Evaluate {
  return (event, run) => {
    const value = operand(event, run);
    return run.error === undefined ? inRange(0 - toInteger(value, run), run) : 0;
  };
}

/** AND and OR do not evaluate the right operand if the left one decides (section 3.4.2). */
function compileLogic(expression: Cesql & { kind: 'logic' }): Evaluate {
  const left = compile(expression.left);
  const right = compile(expression.right);
  const { operator } = expression;
  const decisive = operator === 'XOR' ? undefined : operator === 'OR';
  return (event, run) => {
    const first = truth(left, event, run);
    if (run.error !== undefined) return false;
    if (first === decisive) return first;
    const second = truth(right, event, run);
    if (run.error !== undefined) return false;
    return decisive === undefined ? first !== second : second;
  };
}

function truth(operand: Evaluate, event: EventAttributes, run: CesqlRun): boolean {
  const value = operand(event, run);
  return run.error === undefined && toBoolean(value, run);
}

function compileComparison({ operator, left, right }: Cesql & { kind: 'comparison' }): Evaluate {
  if (operator !== '=' && operator !== '!=') return compileOrder(compile(left), compile(right), orders[operator]);
  const wanted = operator === '=';
  return right.kind === 'literal' && typeof right.value === 'string'
    ? compileTextEquality(compile(left), right.value, wanted)
    : compileEquality(compile(left), compile(right), wanted);
}

function compileOrder(left: Evaluate, right: Evaluate, holds: (x: number, y: number) => boolean): Evaluate {
  return (event, run) => {
    const x = left(event, run);
    if (run.error !== undefined) return false;
    const y = right(event, run);
    return run.error === undefined && holds(toInteger(x, run), toInteger(y, run));
  };
}

function compileEquality(left: Evaluate, right: Evaluate, wanted: boolean): Evaluate {
  return (event, run) => {
    const x = left(event, run);
    if (run.error !== undefined) return false;
    const y = right(event, run);
    return run.error === undefined && areEqual(x, y, run) === wanted;
  };
}

/** Most filters compare an attribute with a string; this saves the call for the right side. */
function compileTextEquality(left: Evaluate, text: string, wanted: boolean): Evaluate {
  return (event, run) => {
    const x = left(event, run);
    return run.error === undefined && (toText(x) === text) === wanted;
  };
}

function compileArithmetic(expression: Cesql & { kind: 'arithmetic' }): Evaluate {
  const calculate = arithmetic[expression.operator];
  const left = compile(expression.left);
  const right = compile(expression.right);
  return (event, run) => {
    const x = left(event, run);
    if (run.error !== undefined) return 0;
    const y = right(event, run);
    return run.error === undefined ? calculate(toInteger(x, run), toInteger(y, run), run) : 0;
  };
}

/**
 * A set has no order (section 3.1): all its elements are evaluated, so that an error does not depend on the order.
 */
function compileIn(expression: Cesql & { kind: 'in' }): Evaluate {
  const operand = compile(expression.operand);
  const elements = expression.set.map((element) => compile(element));
  const literals = expression.set.flatMap((element) => (element.kind === 'literal' ? [toText(element.value)] : []));
  const texts = literals.length === elements.length ? new Set(literals) : undefined;
  return (event, run) => {
    const value = operand(event, run);
    if (run.error !== undefined) return false;
    if (texts && typeof value === 'string') return texts.has(value);
    let found = false;
    for (const element of elements) {
      const candidate = element(event, run);
      if (run.error !== undefined) return false;
      found = areEqual(candidate, value, run) || found;
    }
    return found;
  };
}

/** A call of an unknown function has the value false (section 3.5). */
function compileCall(expression: Cesql & { kind: 'call' }): Evaluate {
  const called = findFunction(expression.name, expression.arguments.length);
  if (!called) {
    return (_event, run) => {
      fail(run, 'missingFunction');
      return false;
    };
  }
  const { parameters, zero } = called;
  const operands = expression.arguments.map((argument) => compile(argument));
  return (event, run) => {
    const values: CesqlValue[] = [];
    for (const operand of operands) {
      values.push(operand(event, run));
      if (run.error !== undefined) return zero;
    }
    let length = 0;
    for (let at = 0; at < values.length; at += 1) {
      const parameter = parameters[Math.min(at, parameters.length - 1)];
      const value = values[at] as CesqlValue;
      const cast = parameter === 'string' ? toText(value) : parameter === 'integer' ? toInteger(value, run) : value;
      values[at] = cast;
      if (typeof cast === 'string') length += cast.length;
    }
    return spend(run, length, 'functionEvaluation') ? called.apply(values, run) : zero;
  };
}

export const orders = {
  '<': (x: number, y: number) => x < y,
  '<=': (x: number, y: number) => x <= y,
  '>': (x: number, y: number) => x > y,
  '>=': (x: number, y: number) => x >= y,
};

/**
 * Integers have 32 bits. A larger result has the zero value, because the specification names no other (section 3.3).
 */
function inRange(value: number, run: CesqlRun): number {
  if (value === (value | 0)) return value | 0;
  fail(run, 'math');
  return 0;
}

const arithmetic = {
  '+': (x: number, y: number, run: CesqlRun) => inRange(x + y, run),
  '-': (x: number, y: number, run: CesqlRun) => inRange(x - y, run),
  // A product beyond 2 ** 53 is rounded, but it is out of range anyway.
  '*': (x: number, y: number, run: CesqlRun) => inRange(x * y, run),
  // Division by zero gives Infinity or NaN, and neither is in range.
  '/': (x: number, y: number, run: CesqlRun) => inRange(Math.trunc(x / y), run),
  '%': (x: number, y: number, run: CesqlRun) => inRange(x % y, run),
};
