import type { ContextAttributes } from '../events/context-attributes.js';
import type { Filter } from './filter.js';

/** A necessary condition that the index can look up: the attribute equals, begins with or ends with a text. */
export type Anchor = { attribute: string } & ({ exact: string } | { prefix: string } | { suffix: string });

/** Conditions that all hold whenever the predicate does; each is a list of anchors of which at least one holds. */
export type Anchors = readonly (readonly Anchor[])[];

/**
 * A filter of a dialect that has a language of its own. `test` is pure, and false for what cannot be evaluated; should
 * it throw all the same, that is false too. `anchors` are implied by it; where there are none, every event is tested.
 */
export interface Predicate {
  test(event: ContextAttributes): boolean;
  /** What the last test took; see work.ts. */
  readonly steps: number;
  readonly anchors: Anchors;
}

/** Compiles the text of a filter that was accepted at registration. */
export type LeafCompiler = (text: string) => Predicate;

/** The dialects beyond the six required ones, by the name of their member: `{ sql: compileCesql }`. */
export type Dialects = Readonly<Record<string, LeafCompiler>>;

/** What matching needs of a subscription. Absent and empty members are no constraint (section 3.2.1). */
export interface MatchableSubscription {
  id: string;
  source?: string | undefined;
  types?: readonly string[] | undefined;
  subject?: string | undefined;
  filters?: readonly Filter[] | undefined;
}

/** A filter that is in none of the required dialects, as its dialect and its text. */
export function otherDialect(filter: object): { dialect: string; text: string } {
  const [dialect = '', text] = Object.entries(filter)[0] ?? [];
  return { dialect, text: String(text) };
}

/** Throws for a dialect without a compiler: registration accepts none of those. */
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
