import type { Fault, FaultRule } from '../../base/errors.js';
import { isAttributeText } from '../../events/attribute-text.js';
import { readingRules } from '../../events/profiles/reading-rules.js';
import { escapePointer, forbiddenNames, isObject } from '../../base/formats/json.js';
import { limits } from '../../base/limits.js';
import { filterTexts as texts } from '../../base/texts/filters.js';
import type { Text } from '../../base/texts/text.js';
import { parseCesql } from '../cesql/parser.js';

/** Attribute names and the values to compare with. All of them must match. */
export type Attributes = Record<string, string>;

/** The dialects that compare: whether the text of an attribute matches the value in the filter. */
export const operators = {
  exact: (text, value) => text === value,
  prefix: (text, value) => text.startsWith(value),
  suffix: (text, value) => text.endsWith(value),
} as const satisfies Record<string, (text: string, value: string) => boolean>;

export type Operator = keyof typeof operators;

/** A validated filter in one of the six required dialects, or CESQL (Subscriptions API, section 3.2.4.1). */
export type Filter =
  | { [O in Operator]: Record<O, Attributes> }[Operator]
  | { all: Filter[] }
  | { any: Filter[] }
  | { not: Filter }
  | { sql: string };

/** The operator of a filter that compares, and its operands. */
export function comparisonOf(filter: Filter): { operator: Operator; attributes: Attributes } | undefined {
  for (const operator of operatorNames) {
    if (operator in filter) return { operator, attributes: (filter as Record<Operator, Attributes>)[operator] };
  }
  return undefined;
}

const operatorNames = Object.keys(operators) as Operator[];

export type ParsedFilters = { filters: Filter[] } | { faults: Fault[] };

/** Members of filters in earlier drafts, which other systems still use. */
const outdated = ['dialect', 'property', 'attributes'];

/**
 * Parses the member `filters` of a subscription; absent and empty mean every event (section 3.2.1). Returns all faults
 * at once, up to fifty, each with a JSON pointer from `at` to the place. Ignores and repairs nothing.
 */
export function parseFilters(value: unknown, at: string): ParsedFilters {
  if (value === undefined) return { filters: [] };
  const walk: Walk = { left: limits.filters, faults: [] };
  const filters = parseList(walk, value, at, 1);
  return walk.faults.length > 0 ? { faults: walk.faults } : { filters };
}

/** One walk over one value. The limits end the walk itself, so a hostile value costs no stack and little time. */
interface Walk {
  left: number;
  readonly faults: Fault[];
}

function report(walk: Walk, pointer: string, rule: FaultRule, detail: Text): undefined {
  if (walk.faults.length < limits.faults) walk.faults.push({ pointer, rule, detail });
}

/** Reports invalid filters and leaves them out. The caller discards the result if there are faults. */
function parseList(walk: Walk, value: unknown, at: string, depth: number): Filter[] {
  if (!Array.isArray(value)) {
    report(walk, at, 'type', texts.notArray);
    return [];
  }
  const filters: Filter[] = [];
  for (const [index, item] of value.entries()) {
    if (walk.left < 0) break;
    const filter = parseFilter(walk, item, `${at}/${index}`, depth);
    if (filter) filters.push(filter);
  }
  return filters;
}

function parseFilter(walk: Walk, value: unknown, at: string, depth: number): Filter | undefined {
  walk.left -= 1;
  if (walk.left < 0) return report(walk, at, 'too_many_filters', texts.tooMany(limits.filters));
  if (depth > limits.filterDepth) return report(walk, at, 'too_deep', texts.tooDeep(limits.filterDepth));
  if (!isObject(value)) return report(walk, at, 'type', texts.notObject);
  const names = Object.keys(value);
  if (names.length === 0) return report(walk, at, 'dialect_missing', texts.dialectMissing);
  if (names.some((name) => outdated.includes(name))) {
    return report(walk, at, 'shape_outdated', texts.shapeOutdated);
  }
  if (names.length > 1) report(walk, at, 'dialect_repeated', texts.dialectRepeated);
  // Parses all of them, so that the faults inside are reported at once, too.
  const [filter] = names.map((name) => parseDialect(walk, name, value[name], `${at}/${escapePointer(name)}`, depth));
  return filter;
}

function parseDialect(walk: Walk, name: string, value: unknown, at: string, depth: number): Filter | undefined {
  if (Object.hasOwn(operators, name)) return { [name]: parseAttributes(walk, value, at) } as Filter;
  switch (name) {
    case 'all':
      return { all: parseNested(walk, value, at, depth) };
    case 'any':
      return { any: parseNested(walk, value, at, depth) };
    case 'not': {
      if (Array.isArray(value)) return report(walk, at, 'type', texts.notTakesOne);
      const filter = parseFilter(walk, value, at, depth + 1);
      return filter && { not: filter };
    }
    case 'sql':
      return parseSql(walk, value, at);
    default:
      if (forbiddenNames.has(name)) return report(walk, at, 'name_forbidden', texts.nameForbidden);
      return report(walk, at, 'dialect_unknown', name === 'cesql' ? texts.cesql : texts.dialectUnknown);
  }
}

/** The fault of an expression names the character, counted from 1, where parsing fails. */
function parseSql(walk: Walk, value: unknown, at: string): Filter | undefined {
  if (typeof value !== 'string') return report(walk, at, 'type', texts.sqlNotString);
  const parsed = parseCesql(value);
  if ('expression' in parsed) return { sql: value };
  const { fault } = parsed;
  return report(walk, at, fault.rule, texts.atCharacter(fault.at + 1, fault.detail));
}

function parseNested(walk: Walk, value: unknown, at: string, depth: number): Filter[] {
  if (Array.isArray(value) && value.length === 0) report(walk, at, 'filters_empty', texts.listEmpty);
  return parseList(walk, value, at, depth + 1);
}

function parseAttributes(walk: Walk, value: unknown, at: string): Attributes {
  if (!isObject(value)) {
    report(walk, at, 'type', texts.notAttributes);
    return {};
  }
  const names = Object.keys(value);
  if (names.length === 0) report(walk, at, 'attributes_empty', texts.attributesEmpty);
  if (names.length === 2 && names.includes('value') && (names.includes('property') || names.includes('attribute'))) {
    report(walk, at, 'shape_outdated', texts.pairOutdated);
    return {};
  }
  for (const name of names) parseAttribute(walk, name, value[name], `${at}/${escapePointer(name)}`);
  return Object.fromEntries(Object.entries(value)) as Attributes;
}

function parseAttribute(walk: Walk, name: string, value: unknown, at: string): void {
  if (name === '') report(walk, at, 'name_empty', texts.nameEmpty);
  else if (name === 'data') report(walk, at, 'name_reserved', texts.nameReserved);
  else if (!/^[a-z0-9]+$/.test(name)) report(walk, at, 'name_malformed', texts.nameMalformed);
  if (typeof value !== 'string') report(walk, at, 'type', texts.valueNotString);
  else if (value === '') report(walk, at, 'value_empty', texts.valueEmpty);
  else if (!isAttributeText(value)) report(walk, at, readingRules.attributeText.id, texts.valueText);
}
