import type { ContextAttributes } from '../../events/context-attributes.js';
import type { Filter } from './filter.js';

/** A necessary condition that the index can look up: the attribute equals, begins with or ends with a text. */
export type Anchor = { attribute: string } & ({ exact: string } | { prefix: string } | { suffix: string });

/** If the predicate is true, each of these conditions is true: at least one anchor of the list matches. */
export type Anchors = readonly (readonly Anchor[])[];

/**
 * A filter in a dialect with its own language. `test` is pure, and false if the evaluation fails; an exception counts
 * as false, too. The predicate implies its `anchors`; without anchors, every event is tested.
 */
export interface Predicate {
  test(event: ContextAttributes): boolean;
  /** Steps of the last test; see work.ts. */
  readonly steps: number;
  readonly anchors: Anchors;
}

/** Compiles the text of a filter that passed registration. */
export type LeafCompiler = (text: string) => Predicate;

/** The dialects beyond the six required ones, by the name of their member: `{ sql: compileCesql }`. */
export type Dialects = Readonly<Record<string, LeafCompiler>>;

/** The part of a subscription that matching needs. Absent and empty members mean no constraint (section 3.2.1). */
export interface MatchableSubscription {
  id: string;
  source?: string | undefined;
  types?: readonly string[] | undefined;
  subject?: string | undefined;
  filters?: readonly Filter[] | undefined;
}

/** The dialect and the text of a filter in none of the required dialects. */
export function otherDialect(filter: object): { dialect: string; text: string } {
  const [dialect = '', text] = Object.entries(filter)[0] ?? [];
  return { dialect, text: String(text) };
}

/** Throws for a dialect without a compiler, which registration never accepts. */
export function compileOther(dialects: Dialects, dialect: string, text: string): Predicate {
  const compile = Object.hasOwn(dialects, dialect) ? dialects[dialect] : undefined;
  if (!compile) throw new Error(`There is no compiler for the filter dialect "${dialect}".`);
  const predicate = compile(text);
  return {
    anchors: predicate.anchors,
    test: (event) => holds(predicate, event),
    get steps() {
      return predicate.steps;
    },
  };
}

function holds(predicate: Predicate, event: ContextAttributes): boolean {
  try {
    return predicate.test(event);
  } catch {
    return false;
  }
}
