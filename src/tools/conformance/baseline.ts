import type { Report, Side } from './case.js';
import { checkIds } from './select-cases.js';

/**
 * Reads a baseline: known failures, one id per line. What follows the id is a note, and so is a line that begins with #.
 * Throws a UsageError for ids that are not cases of this side.
 */
export function readBaseline(side: Side, text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const ids = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(/\s/)[0] as string);
  checkIds(side, ids);
  return [...new Set(ids)];
}

export interface Comparison {
  /** MUSTs that fail and are not known to. */
  newFailures: string[];
  /** Known failures that pass: they are to be taken out of the baseline. */
  fixed: string[];
}

/** SHOULDs and information never fail a run. */
export function compareToBaseline({ results, baseline }: Pick<Report, 'results' | 'baseline'>): Comparison {
  const idsOf = (of: typeof results) => of.map(({ id }) => id);
  return {
    newFailures: idsOf(
      results.filter(({ id, level, outcome }) => level === 'must' && outcome === 'failed' && !baseline.includes(id)),
    ),
    fixed: idsOf(results.filter(({ id, outcome }) => outcome === 'passed' && baseline.includes(id))),
  };
}
