import type { Anchor, Anchors } from '../predicate.js';
import { readBoolean, readInteger } from './casts.js';
import type { Cesql, CesqlValue } from './expression.js';
import { likeEnds } from './like.js';

/**
 * What an event has to have for an expression to pass. Of *every* list at least one anchor holds, whenever the
 * expression is true without an error. So one list is enough to file the expression under, under each of its anchors,
 * and the caller takes the one with the rarest. No list is empty; there is none when nothing is known. They are
 * necessary, not sufficient. Integers and booleans give few: `count = 5` also holds for "+5" and "005" (section 3.7).
 */
export function anchorsOf(expression: Cesql): Anchors {
  return required(expression, true).map((list) => distinct(list));
}

/** What has to hold for the expression to be `wanted`, a Boolean, without an error. No list: nothing is known. */
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
      // An element is cast to the type of the operand: it stands where the left side of an equality does.
      return wanted ? listed(requiredByAny(expression.set, expression.operand)) : [];
    case 'like':
      return wanted && expression.operand.kind === 'attribute'
        ? ofPattern(expression.operand.name, expression.pattern)
        : [];
    default:
      return [];
  }
}

/** XOR gives nothing: it would have to ask each side twice, and so would the next XOR inside. */
function requiredByLogic({ operator, left, right }: Cesql & { kind: 'logic' }, wanted: boolean): Anchors {
  if (operator === 'XOR') return [];
  // `x AND y` is true when both are; it is false when one of them is. OR is the other way round.
  const lists = [required(left, wanted), required(right, wanted)] as const;
  return (operator === 'AND') === wanted ? lists.flat() : either(...lists);
}

/** How many lists may come from an OR, for they multiply: (a AND b) OR (c AND d) gives four. */
const maxProduct = 16;

/** At least one of two holds: each list of one together with each list of the other. */
function either(one: Anchors, other: Anchors): Anchors {
  const [some, others] = one.length * other.length > maxProduct ? [strongest(one), strongest(other)] : [one, other];
  return some.flatMap((list) => others.map((added) => [...list, ...added]));
}

function distinct(list: readonly Anchor[]): readonly Anchor[] {
  return [...new Map(list.map((anchor) => [JSON.stringify(anchor), anchor])).values()];
}

/** The lists that let the fewest events through, as far as that is known without events: few anchors and exact ones. */
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

/** What a value is as a String, as an Integer and as a Boolean, as far as it can be; each as its canonical string. */
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
