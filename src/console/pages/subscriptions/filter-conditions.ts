export const operators = ['exact', 'prefix', 'suffix'] as const;
export type Operator = (typeof operators)[number];

interface At {
  isNot: boolean;
  /** Where it is in `filters`, and what its faults begin with. */
  place: string;
  /** The part of which a check says whether it matches. */
  part: string;
}

/** A filter as a person reads it. `json` is what no form can show: it stays as it is. */
export type Condition = At &
  (
    | { kind: 'compare'; attribute: string; operator: Operator; value: string }
    | { kind: 'group'; of: 'all' | 'any'; members: readonly Condition[] }
    | { kind: 'sql'; text: string }
    | { kind: 'json'; value: unknown }
  );

export type Comparison = Extract<Condition, { kind: 'compare' }>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isOperator = (name: string): name is Operator => (operators as readonly string[]).includes(name);

/** The conditions that an array of filters says. All of them must hold. */
export const conditionsOf = (filters: readonly unknown[], at = '/filters'): Condition[] =>
  filters.flatMap((filter, index) => {
    const found = conditionOf(filter, `${at}/${index}`);
    // All of the list must hold, as all attributes of one filter must.
    const isFlat = found.kind === 'group' && found.of === 'all' && !found.isNot && !found.place.endsWith('/all');
    return isFlat ? found.members : [found];
  });

function conditionOf(filter: unknown, at: string): Condition {
  const unknown: Condition = { kind: 'json', value: filter, isNot: false, place: at, part: at };
  if (!isObject(filter)) return unknown;
  const [[dialect, value] = ['', undefined], ...others] = Object.entries(filter);
  if (others.length > 0) return unknown;
  const place = `${at}/${dialect}`;
  const where = { isNot: false, place, part: place };
  if (isOperator(dialect) && isObject(value)) return comparisonOf(dialect, value, place) ?? unknown;
  if (dialect === 'all' && Array.isArray(value)) {
    return { ...where, kind: 'group', of: dialect, members: conditionsOf(value, place) };
  }
  if (dialect === 'any' && Array.isArray(value)) {
    const members = value.map((each, index) => conditionOf(each, `${place}/${index}`));
    return { ...where, kind: 'group', of: dialect, members };
  }
  if (dialect === 'sql' && typeof value === 'string') return { ...where, kind: 'sql', text: value };
  if (dialect === 'not') {
    const inner = conditionOf(value, place);
    if (inner.kind !== 'json' && !inner.isNot) return { ...inner, isNot: true, part: place };
  }
  return unknown;
}

/** One attribute is a condition; several are a group of them. */
function comparisonOf(operator: Operator, attributes: object, at: string): Condition | undefined {
  const entries = Object.entries(attributes) as Array<[string, unknown]>;
  const members = entries.flatMap(([attribute, value]): Comparison[] => {
    const place = `${at}/${attribute.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const where = { isNot: false, place, part: place };
    return typeof value === 'string' ? [{ ...where, kind: 'compare', attribute, operator, value }] : [];
  });
  const [first] = members;
  if (first === undefined || members.length < entries.length) return undefined;
  return members.length === 1 ? first : { kind: 'group', of: 'all', members, isNot: false, place: at, part: at };
}

/** The filters that say these conditions. */
export const filtersOf = (conditions: readonly Condition[]): unknown[] => conditions.map(filterOf);

function filterOf(condition: Condition): unknown {
  const filter = bareFilterOf(condition);
  return condition.isNot ? { not: filter } : filter;
}

function bareFilterOf(condition: Condition): unknown {
  switch (condition.kind) {
    case 'compare':
      return { [condition.operator]: { [condition.attribute]: condition.value } };
    case 'group':
      return { [condition.of]: filtersOf(condition.members) };
    case 'sql':
      return { sql: condition.text };
    case 'json':
      return condition.value;
  }
}

/** Those that compare, in groups too. */
export const comparisonsIn = (conditions: readonly Condition[]): Comparison[] =>
  conditions.flatMap((each) =>
    each.kind === 'compare' ? [each] : each.kind === 'group' ? comparisonsIn(each.members) : [],
  );

/** Undefined for a text that is no JSON array; an empty text is an empty one. */
export function readFilters(text: string): unknown[] | undefined {
  if (text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
