import type { Fault, FaultRule } from '../errors.js';
import { isAttributeText } from '../events/attribute-text.js';
import { readingRules } from '../events/profiles/reading-rules.js';
import { escapePointer, forbiddenNames, isObject } from '../http/json.js';
import { limits } from '../limits.js';
import { parseCesql } from './cesql/parser.js';

/** What a leaf compares: attribute names and the values to compare with; every one of them must hold. */
export type Attributes = Record<string, string>;

/** A checked filter in one of the six required dialects, or CESQL (Subscriptions API, section 3.2.4.1). */
export type Filter =
  | { exact: Attributes }
  | { prefix: Attributes }
  | { suffix: Attributes }
  | { all: Filter[] }
  | { any: Filter[] }
  | { not: Filter }
  | { sql: string };

export type ParsedFilters = { filters: Filter[] } | { faults: Fault[] };

const supported = 'The dialects are exact, prefix, suffix, all, any, not and sql.';
/** Members of the shapes that earlier drafts had, and that other systems still have. */
const outdated = ['dialect', 'property', 'attributes'];

/**
 * Reads the member `filters` of a subscription; absent and empty mean every event (section 3.2.1). Faults come all at
 * once, up to fifty, each with a JSON pointer from `at` to the place. Nothing is ignored or repaired.
 */
export function parseFilters(value: unknown, at: string): ParsedFilters {
  if (value === undefined) return { filters: [] };
  const walk: Walk = { left: limits.filters, faults: [] };
  const filters = parseList(walk, value, at, 1);
  return walk.faults.length > 0 ? { faults: walk.faults } : { filters };
}

/** One walk over one value. The limits end the walk itself, so that a hostile value costs no stack and little time. */
interface Walk {
  left: number;
  readonly faults: Fault[];
}

function report(walk: Walk, pointer: string, rule: FaultRule, detail: string): undefined {
  if (walk.faults.length < limits.faults) walk.faults.push({ pointer, rule, detail });
}

/** What is at fault is noted and left out: the result is thrown away then. */
function parseList(walk: Walk, value: unknown, at: string, depth: number): Filter[] {
  if (!Array.isArray(value)) {
    report(walk, at, 'type', 'This is an array of filters, such as [{ "exact": { "type": "com.example.created" } }].');
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
  if (walk.left < 0) return report(walk, at, 'too_many_filters', `There are at most ${limits.filters} filters in all.`);
  if (depth > limits.filterDepth)
    return report(walk, at, 'too_deep', `Filters stand at most ${limits.filterDepth} deep.`);
  if (!isObject(value)) {
    return report(walk, at, 'type', 'A filter is an object with one member, which names the dialect.');
  }
  const names = Object.keys(value);
  if (names.length === 0) return report(walk, at, 'dialect_missing', `A filter names a dialect. ${supported}`);
  if (names.some((name) => outdated.includes(name))) {
    return report(
      walk,
      at,
      'shape_outdated',
      'Write { "prefix": { "type": "com.example." } }: the dialect is the member.',
    );
  }
  if (names.length > 1) {
    report(walk, at, 'dialect_repeated', 'A filter has one dialect; put several filters into the array or into "all".');
  }
  // All of them are read, so that the faults inside come at once too.
  const [filter] = names.map((name) => parseDialect(walk, name, value[name], `${at}/${escapePointer(name)}`, depth));
  return filter;
}

function parseDialect(walk: Walk, name: string, value: unknown, at: string, depth: number): Filter | undefined {
  switch (name) {
    case 'exact':
      return { exact: parseAttributes(walk, value, at) };
    case 'prefix':
      return { prefix: parseAttributes(walk, value, at) };
    case 'suffix':
      return { suffix: parseAttributes(walk, value, at) };
    case 'all':
      return { all: parseNested(walk, value, at, depth) };
    case 'any':
      return { any: parseNested(walk, value, at, depth) };
    case 'not': {
      if (Array.isArray(value)) return report(walk, at, 'type', '"not" takes one filter, not an array of filters.');
      const filter = parseFilter(walk, value, at, depth + 1);
      return filter && { not: filter };
    }
    case 'sql':
      return parseSql(walk, value, at);
    default:
      if (forbiddenNames.has(name)) return report(walk, at, 'name_forbidden', 'A member may not have this name.');
      if (name === 'cesql')
        return report(walk, at, 'dialect_unknown', `CloudEvents SQL is called "sql" here. ${supported}`);
      return report(walk, at, 'dialect_unknown', `This is not the name of a filter dialect. ${supported}`);
  }
}

/** The faults of an expression name the character, counted from 1, at which it goes wrong. */
function parseSql(walk: Walk, value: unknown, at: string): Filter | undefined {
  if (typeof value !== 'string') return report(walk, at, 'type', 'A CloudEvents SQL expression is a string.');
  const parsed = parseCesql(value);
  if ('expression' in parsed) return { sql: value };
  const { fault } = parsed;
  return report(walk, at, fault.rule, `At character ${fault.at + 1}: ${fault.detail}`);
}

function parseNested(walk: Walk, value: unknown, at: string, depth: number): Filter[] {
  if (Array.isArray(value) && value.length === 0) {
    report(walk, at, 'filters_empty', 'There must be at least one filter in the array.');
  }
  return parseList(walk, value, at, depth + 1);
}

function parseAttributes(walk: Walk, value: unknown, at: string): Attributes {
  if (!isObject(value)) {
    report(walk, at, 'type', 'This is an object of attribute names and the strings to compare with.');
    return {};
  }
  const names = Object.keys(value);
  if (names.length === 0) report(walk, at, 'attributes_empty', 'Name at least one attribute to compare.');
  if (names.length === 2 && names.includes('value') && (names.includes('property') || names.includes('attribute'))) {
    report(walk, at, 'shape_outdated', 'Write the attribute as the name of the member: { "type": "com.example." }.');
    return {};
  }
  for (const name of names) parseAttribute(walk, name, value[name], `${at}/${escapePointer(name)}`);
  return Object.fromEntries(Object.entries(value)) as Attributes;
}

function parseAttribute(walk: Walk, name: string, value: unknown, at: string): void {
  if (name === '') report(walk, at, 'name_empty', 'The name of an attribute has at least one character.');
  else if (name === 'data')
    report(walk, at, 'name_reserved', 'Filters compare attributes; "data" is none and never can be.');
  else if (!/^[a-z0-9]+$/.test(name)) {
    report(
      walk,
      at,
      'name_malformed',
      'The name of a CloudEvents attribute has lower-case letters a-z and digits only.',
    );
  }
  if (typeof value !== 'string') report(walk, at, 'type', 'Attributes are compared with a string.');
  else if (value === '') report(walk, at, 'value_empty', 'A filter compares with a value of at least one character.');
  else if (!isAttributeText(value)) {
    const { id, sentence } = readingRules.attributeText;
    report(walk, at, id, `No event has such a value. ${sentence}`);
  }
}
