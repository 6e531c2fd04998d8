import type { CaseResult, Evidence, Report } from '../case.js';
import { headingOf, levelWords, markOf, summaryOf } from './summary.js';

/** For terminals. Failures come with their evidence. */
export function renderPretty(report: Report): string {
  const lines = report.results.flatMap((result) => [
    `${markOf(result, report).padEnd(6)}  ${result.id}  ${levelWords[result.level].padEnd(6)}  ${result.title}`,
    ...(result.outcome === 'passed' ? [] : [indent(result.detail)]),
    ...(result.outcome === 'failed' ? evidenceLines(result) : []),
  ]);
  return [headingOf(report), '', ...lines, '', ...summaryOf(report), ''].join('\n');
}

function evidenceLines({ evidence }: CaseResult): string[] {
  const quote = (text: string, mark: string) => text.split('\n').map((line) => indent(`${mark} ${line}`.trimEnd()));
  return evidence.flatMap(({ asked, answered }: Evidence) => [
    ...quote(asked, '>'),
    ...quote(answered ?? '(no response)', '<'),
  ]);
}

const indent = (text: string) => `        ${text}`;
