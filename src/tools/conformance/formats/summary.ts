import { compareToBaseline } from '../baseline.js';
import type { CaseResult, Level, Report } from '../case.js';

export const levelWords: Record<Level, string> = { must: 'MUST', should: 'SHOULD', info: 'INFO' };

/** As a reader sees it: only a MUST fails, and a known failure is no news. */
export type Mark = 'pass' | 'FAIL' | 'known' | 'advice' | 'n/a';

export function markOf({ id, level, outcome }: CaseResult, { baseline }: Report): Mark {
  if (outcome === 'passed') return 'pass';
  if (outcome === 'not_evaluable') return 'n/a';
  if (baseline.includes(id)) return 'known';
  return level === 'must' ? 'FAIL' : 'advice';
}

/** The counts, and what differs from the baseline, as sentences. */
export function summaryOf(report: Report): string[] {
  const count = (outcome: CaseResult['outcome']) => report.results.filter((each) => each.outcome === outcome).length;
  const { newFailures, fixed } = compareToBaseline(report);
  return [
    `${count('passed')} passed, ${count('failed')} failed, ${count('not_evaluable')} not evaluable.`,
    ...(newFailures.length > 0 ? [`These MUSTs fail: ${newFailures.join(', ')}.`] : []),
    ...(fixed.length > 0 ? [`The baseline lists these, and they pass: ${fixed.join(', ')}. Remove them from it.`] : []),
  ];
}

export const headingOf = ({ side, target }: Report): string => `Conformance of the ${side} ${target}`;
