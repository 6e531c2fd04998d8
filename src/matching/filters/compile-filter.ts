import type { ContextAttributes } from '../../events/context-attributes.js';
import { comparisonOf, operators, type Filter } from './filter.js';
import { compileOther, otherDialect, type Dialects, type MatchableSubscription } from './predicate.js';

export type EventTest = (event: ContextAttributes) => boolean;

/**
 * Compiles the conditions of a subscription into one function: `source`, one of `types` and `subject` are equal (the
 * first two from section 3.2.1, `subject` is ours), and every filter matches (section 3.2.4). The index gives the same
 * results; this is its reference in tests and benchmarks, and it tests single filters.
 */
export function compileFilter(subscription: MatchableSubscription, dialects: Dialects = {}): EventTest {
  const { source, types, subject, filters } = subscription;
  const tests: EventTest[] = [];
  if (source !== undefined) tests.push(equals('source', source));
  if (types && types.length > 0) tests.push(oneOf(types));
  if (subject !== undefined) tests.push(equals('subject', subject));
  for (const filter of filters ?? []) tests.push(compile(filter, dialects));
  return every(tests);
}

function compile(filter: Filter, dialects: Dialects): EventTest {
  const comparison = comparisonOf(filter);
  if (comparison !== undefined) {
    const { operator, attributes } = comparison;
    const compare = operators[operator];
    return every(
      Object.entries(attributes).map(([name, value]) => {
        if (operator === 'exact') return equals(name, value);
        return (event) => {
          const text = event.text(name);
          return text !== undefined && compare(text, value);
        };
      }),
    );
  }
  if ('all' in filter) return every(filter.all.map((nested) => compile(nested, dialects)));
  if ('any' in filter) return some(filter.any.map((nested) => compile(nested, dialects)));
  if ('not' in filter) {
    const test = compile(filter.not, dialects);
    return (event) => !test(event);
  }
  const { dialect, text } = otherDialect(filter);
  const predicate = compileOther(dialects, dialect, text);
  return (event) => predicate.test(event);
}

/** Reads the three attributes that nearly every filter compares without looking up their names. */
function equals(name: string, value: string): EventTest {
  if (name === 'type') return (event) => event.type === value;
  if (name === 'source') return (event) => event.source === value;
  if (name === 'subject') return (event) => event.subject === value;
  return (event) => event.text(name) === value;
}

function oneOf(types: readonly string[]): EventTest {
  const [first] = types;
  if (types.length === 1 && first !== undefined) return equals('type', first);
  const wanted = new Set(types);
  return (event) => event.type !== undefined && wanted.has(event.type);
}

function every(tests: EventTest[]): EventTest {
  const [first, second] = tests;
  if (!first) return () => true;
  if (!second) return first;
  if (tests.length === 2) return (event) => first(event) && second(event);
  return (event) => tests.every((test) => test(event));
}

function some(tests: EventTest[]): EventTest {
  const [first, second] = tests;
  if (first && !second) return first;
  return (event) => tests.some((test) => test(event));
}
