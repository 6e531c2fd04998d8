import { compareToBaseline } from './baseline.js';
import type { Report } from './case.js';

export const exitCodes = {
  /** Every MUST that could be evaluated holds, or is known to fail. */
  conforms: 0,
  /** A MUST fails that the baseline does not list, or a case that it lists passes. */
  differs: 1,
  usage: 2,
  nothingEvaluated: 3,
  /** A fault of the kit itself. */
  fault: 4,
} as const;

export function exitCodeOf(report: Report): number {
  if (report.results.every(({ outcome }) => outcome === 'not_evaluable')) return exitCodes.nothingEvaluated;
  const { newFailures, fixed } = compareToBaseline(report);
  return newFailures.length + fixed.length > 0 ? exitCodes.differs : exitCodes.conforms;
}
