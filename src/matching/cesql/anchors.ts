import type { Anchor, Anchors } from '../filters/predicate.js';
import { readBoolean, readInteger } from './casts.js';
import type { Cesql, CesqlValue } from './expression.js';
import { likeEnds } from './like.js';

/**
 * What an event must have for an expression to match. Whenever the expression is true without an error, at least one
 * anchor of *every* list matches. So it is enough to index the expression under each anchor of one list, and the caller
 * picks the rarest list. No list is empty; there are no lists if nothing is known. Anchors are necessary, not
 * sufficient. Integers and booleans give few: `count = 5` is also true for "+5" and "005" (section 3.7).
 */
export function anchorsOf(expression: Cesql): Anchors {
  return required(expression, true).map((list) => distinct(list));
}

/** The conditions for the expression to be `wanted` without an error. No list means that nothing is known. */
function required(expression: Cesql, wanted: boolean): Anchors {
  switch (expression.kind) {
    case 'not':
      return required(expression.operand, !wanted);
    case 'logic':
      return requiredByLogic(expression, wanted);
    case 'comparison': {
      const { operator, left, right } = expression;
      return (operator === '=' && wanted) || (operator === '!=' && !wanted)
        ? listed(requiredByEquality(left, right))
        : [];
    }
    case 'in':
      // An element is cast to the type of the operand, like the left side of an equality.
      return wanted ? listed(requiredByAny(expression.set, expression.operand)) : [];
    case 'like':
      return wanted && expression.operand.kind === 'attribute'
        ? ofPattern(expression.operand.name, expression.pattern)
        : [];
    default:
      return [];
  }
}

/** XOR gives nothing: it would evaluate each side twice, and so would each XOR inside. */
function requiredByLogic({ operator, left, right }: Cesql & { kind: 'logic' }, wanted: boolean): Anchors {
  if (operator === 'XOR') return [];
  // `x AND y` is true if both are, and false if one of them is. OR is the other way round.
  const lists = [required(left, wanted), required(right, wanted)] as const;
  return (operator === 'AND') === wanted ? lists.flat() : either(...lists);
}

/** The maximum number of lists from an OR. They multiply: (a AND b) OR (c AND d) gives four. */
const maxProduct = 16;

/** At least one of two conditions is true: combines each list of one with each list of the other. */
function either(one: Anchors, other: Anchors): Anchors {
  const [some, others] = one.length * other.length > maxProduct ? [strongest(one), strongest(other)] : [one, other];
  return some.flatMap((list) => others.map((added) => [...list, ...added]));
}

function distinct(list: readonly Anchor[]): readonly Anchor[] {
  return [...new Map(list.map((anchor) => [JSON.stringify(anchor), anchor])).values()];
}

/** The most selective lists, as far as that is known without events: few anchors, and exact ones. */
function strongest(lists: Anchors): Anchors {
  const weight = (list: readonly Anchor[]) => list.reduce((sum, anchor) => sum + ('exact' in anchor ? 1 : 4), 0);
  return [...lists].sort((one, other) => weight(one) - weight(other)).slice(0, Math.sqrt(maxProduct));
}

function listed(anchors: readonly Anchor[] | undefined): Anchors {
  return anchors ? [anchors] : [];
}

function requiredByAny(set: Cesql[], operand: Cesql): Anchor[] | undefined {
  const all = set.map((element) => requiredByEquality(element, operand));
  return all.every((anchors) => anchors !== undefined) ? all.flat() : undefined;
}

/** `left = right`, where the left side is cast to the type of the right one (section 3.7). */
function requiredByEquality(left: Cesql, right: Cesql): Anchor[] | undefined {
  if (left.kind === 'attribute' && right.kind === 'literal' && typeof right.value === 'string') {
    return [{ attribute: left.name, exact: right.value }];
  }
  if (left.kind === 'literal' && right.kind === 'attribute') {
    return canonicalForms(left.value).map((exact) => ({ attribute: right.name, exact }));
  }
  return undefined;
}

/** A value as a String, an Integer and a Boolean, if the cast succeeds; each as its canonical string. */
function canonicalForms(value: CesqlValue): string[] {
  const integer = typeof value === 'string' ? readInteger(value) : Number(value);
  const truth = typeof value === 'string' ? readBoolean(value) : Boolean(value);
  const forms = [value, integer, truth].filter((form) => form !== undefined);
  return [...new Set(forms.map(String))];
}

function ofPattern(attribute: string, pattern: string): Anchors {
  const ends = likeEnds(pattern);
  if ('exact' in ends) return [[{ attribute, exact: ends.exact }]];
  const prefix = ends.prefix === '' ? [] : [[{ attribute, prefix: ends.prefix }]];
  return ends.suffix === '' ? prefix : [...prefix, [{ attribute, suffix: ends.suffix }]];
}
