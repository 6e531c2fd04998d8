import type { ContextAttributes } from '../events/context-attributes.js';
import { compileCesql } from './cesql-evaluate.js';
import type { CesqlErrorKind } from './cesql-expression.js';
import { parseCesql } from './cesql-parser.js';
import { compileFilter } from './compile-filter.js';
import { dialects } from './dialects.js';
import type { Filter } from './filter.js';
import type { MatchableSubscription } from './predicate.js';

/**
 * What of a subscription does not hold for an event: the JSON pointer of it, and why where the event does not show it.
 */
export interface Failure {
  pointer: string;
  detail?: string;
}

/** Undefined if all of it holds. */
export type FailureOf = (event: ContextAttributes) => Failure | undefined;

/** Finds the first part that does not hold, as deep inside of a filter as one part alone is to blame. */
export function compileFailure({ source, types, subject, filters = [] }: MatchableSubscription): FailureOf {
  return firstOf([
    failsAt('/source', { source }),
    failsAt('/types', { types }),
    failsAt('/subject', { subject }),
    ...filters.map((filter, index) => failureOfFilter(filter, `/filters/${index}`)),
  ]);
}

function failureOfFilter(filter: Filter, at: string): FailureOf {
  if ('all' in filter) return firstOf(filter.all.map((nested, i) => failureOfFilter(nested, `${at}/all/${i}`)));
  if ('any' in filter) return failsAt(`${at}/any`, { filters: [filter] });
  if ('not' in filter) return failsAt(`${at}/not`, { filters: [filter] });
  if ('sql' in filter) return failureOfSql(filter.sql, `${at}/sql`);
  return firstOf(
    Object.entries(filter).flatMap(([dialect, attributes]) =>
      Object.entries(attributes as Record<string, string>).map(([name, value]) => {
        const fails = failsAt(`${at}/${dialect}/${name}`, { filters: [{ [dialect]: { [name]: value } } as Filter] });
        return (event: ContextAttributes) => {
          const failure = fails(event);
          return failure && !event.has(name) ? { ...failure, detail: 'The event has no such attribute.' } : failure;
        };
      }),
    ),
  );
}

const cesqlErrors: Record<CesqlErrorKind, string> = {
  parse: 'It does not parse.',
  math: 'A number leaves the range of an Integer, or is divided by zero.',
  cast: 'A value cannot be taken for the type that it is needed as.',
  missingAttribute: 'The event lacks an attribute that it needs; EXISTS asks for one.',
  missingFunction: 'There is no such function.',
  functionEvaluation: 'A function cannot take what it is given, or the evaluation takes too long.',
  generic: 'It cannot be evaluated.',
};

function failureOfSql(text: string, pointer: string): FailureOf {
  const fails = failsAt(pointer, { filters: [{ sql: text }] });
  const parsed = parseCesql(text);
  const evaluate = 'expression' in parsed ? compileCesql(parsed.expression) : undefined;
  return (event) => {
    const failure = fails(event);
    const error = failure && evaluate?.(event).error;
    return error === undefined ? failure : { pointer, detail: cesqlErrors[error] };
  };
}

/** The index decides by the same code, or by one that is checked against it. */
function failsAt(pointer: string, part: Partial<MatchableSubscription>): FailureOf {
  const holds = compileFilter({ id: '', ...part }, dialects);
  const failure = { pointer };
  return (event) => (holds(event) ? undefined : failure);
}

function firstOf(parts: readonly FailureOf[]): FailureOf {
  return (event) => {
    for (const failureOf of parts) {
      const failure = failureOf(event);
      if (failure) return failure;
    }
    return undefined;
  };
}
