import { comparisonOf, type Attributes, type Filter } from '../filters/filter.js';
import { otherDialect, type Dialects, type MatchableSubscription } from '../filters/predicate.js';
import {
  all,
  any,
  exact,
  lengthOf,
  notPredicate,
  operandShift,
  instructionMask,
  instructionOf,
  predicate,
  prefix,
  suffix,
} from './instructions.js';
import type { Symbols } from './symbols.js';

/**
 * The conditions of a subscription as words, in one canonical form: `not` is pushed down to the leaves, nested groups
 * of the same kind are flattened, and children are sorted and unique. So equal conditions are equal words, and
 * conditions under `not` become visible (a `not` around an `any` of `not`s is an `all`). A leaf with several attributes
 * is an `all` of leaves.
 *
 *   leaf       instruction + attribute << 4, number of the value
 *   group      all or any + length << 4, children          an empty `all` is true, an empty `any` false
 *   predicate  instruction + length << 4, number of the predicate, and what it implies, as children of an `all`
 *
 * Children are sorted by instruction first, so that cheap ones run before expensive ones.
 */
export type Program = number[];

/** The symbols stay acquired until the caller settles them. Throws for a dialect without a compiler. */
export function compileProgram(subscription: MatchableSubscription, symbols: Symbols, dialects: Dialects): Program {
  const { source, types, subject, filters } = subscription;
  const parts: Program[] = [];
  if (source !== undefined) parts.push(leaf(symbols, exact, 'source', source));
  if (types && types.length > 0)
    parts.push(
      junction(
        any,
        types.map((type) => leaf(symbols, exact, 'type', type)),
      ),
    );
  if (subject !== undefined) parts.push(leaf(symbols, exact, 'subject', subject));
  for (const filter of filters ?? []) parts.push(compile(filter, false, symbols, dialects));
  return junction(all, parts);
}

function compile(filter: Filter, negated: boolean, symbols: Symbols, dialects: Dialects): Program {
  const nested = (filters: Filter[]) => filters.map((each) => compile(each, negated, symbols, dialects));
  const comparison = comparisonOf(filter);
  if (comparison !== undefined) {
    return leaves(symbols, instructionOf[comparison.operator], negated, comparison.attributes);
  }
  if ('all' in filter) return junction(negated ? any : all, nested(filter.all));
  if ('any' in filter) return junction(negated ? all : any, nested(filter.any));
  if ('not' in filter) return compile(filter.not, !negated, symbols, dialects);
  return other(filter, negated, symbols, dialects);
}

/**
 * A missing attribute makes a leaf false and its negation true, so De Morgan's laws apply to leaves as to bits.
 */
function leaves(symbols: Symbols, instruction: number, negated: boolean, attributes: Attributes): Program {
  const parts = Object.entries(attributes).map(([name, value]) =>
    leaf(symbols, negated ? instruction + 1 : instruction, name, value),
  );
  return junction(negated ? any : all, parts);
}

function leaf(symbols: Symbols, instruction: number, name: string, value: string): Program {
  return [instruction | (symbols.acquireAttribute(name) << operandShift), symbols.acquireValue(value)];
}

function other(filter: object, negated: boolean, symbols: Symbols, dialects: Dialects): Program {
  const { dialect, text } = otherDialect(filter);
  const { number, anchors } = symbols.acquirePredicate(dialects, dialect, text);
  if (negated) return [notPredicate | (2 << operandShift), number];
  const implied = anchors.map((choice) =>
    junction(
      any,
      choice.map((anchor) => {
        if ('exact' in anchor) return leaf(symbols, exact, anchor.attribute, anchor.exact);
        if ('prefix' in anchor) return leaf(symbols, prefix, anchor.attribute, anchor.prefix);
        return leaf(symbols, suffix, anchor.attribute, anchor.suffix);
      }),
    ),
  );
  return frame(predicate, [number, ...implied.flat()]);
}

function junction(instruction: number, parts: Program[]): Program {
  // The most common case: a single part, such as one type or one filter, is already canonical.
  if (parts.length === 1) return parts[0]!;
  const children: Program[] = [];
  for (const part of parts) {
    if ((part[0]! & instructionMask) === instruction) children.push(...split(part));
    else children.push(part);
  }
  children.sort(compare);
  const words: Program = [];
  let last: Program | undefined;
  for (const child of children) {
    if (last !== undefined && compare(child, last) === 0) continue;
    for (const word of child) words.push(word);
    last = child;
  }
  return last !== undefined && last.length === words.length ? last : frame(instruction, words);
}

function frame(instruction: number, words: number[]): Program {
  return [instruction | ((words.length + 1) << operandShift), ...words];
}

/** The children of a group. */
function split(program: Program): Program[] {
  const children: Program[] = [];
  for (let at = 1; at < program.length; at += lengthOf(program[at]!)) {
    children.push(program.slice(at, at + lengthOf(program[at]!)));
  }
  return children;
}

function compare(a: Program, b: Program): number {
  const kinds = (a[0]! & instructionMask) - (b[0]! & instructionMask);
  if (kinds !== 0) return kinds;
  for (let i = 0; i < a.length && i < b.length; i += 1) {
    if (a[i] !== b[i]) return a[i]! - b[i]!;
  }
  return a.length - b.length;
}
