import type { CaseResult, Report, Side } from './case.js';
import { checkIds } from './cases.js';

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

interface Comparison {
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

export const exitCodes = {
  /** Every MUST that could be evaluated holds, or is known to fail. */
  conforms: 0,
  /** A MUST fails that the baseline does not list, or a case that it lists passes. */
  differs: 1,
  usage: 2,
  nothingEvaluated: 3,
  /** A fault of the kit itself. */
  fault: 4,
  /** Most cases need a consent, and there was none. */
  noConsent: 5,
} as const;

/** The run says little: a receiver that never consents passes whatever says that somebody gets no consent. */
export function lacksConsent({ consent, expect, results }: Report): boolean {
  // If that it fails is known, so is that there is no consent.
  const isKnown = results.some(({ id, outcome }) => id === 'R01' && outcome === 'failed');
  return consent === 'none' && expect !== 'refusal' && !isKnown && !results.every(isNotEvaluable);
}

const isNotEvaluable = ({ outcome }: Pick<CaseResult, 'outcome'>) => outcome === 'not_evaluable';

export function exitCodeOfReport(report: Report): number {
  if (report.results.every(isNotEvaluable)) return exitCodes.nothingEvaluated;
  const { newFailures, fixed } = compareToBaseline(report);
  if (newFailures.length + fixed.length > 0) return exitCodes.differs;
  return lacksConsent(report) ? exitCodes.noConsent : exitCodes.conforms;
}
