import type { CaseResult, Report } from '../case.js';
import { escape } from './markup.js';
import { headingOf, markOf } from './summary.js';

/**
 * For CI systems. They fail a build for each `failure`, so only what fails a run is one. Advice, known failures and what
 * could not be evaluated are `skipped`, with the reason.
 */
export function renderJunit(report: Report): string {
  const { results, side, startedat, duration } = report;
  const inSeconds = (ms: number) => (ms / 1_000).toFixed(3);
  const marks = results.map((result) => markOf(result, report));
  const failures = marks.filter((mark) => mark === 'FAIL').length;
  const skipped = marks.filter((mark) => mark !== 'FAIL' && mark !== 'pass').length;
  const counts = `tests="${results.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
  const cases = results.map((result, index) => {
    const head = `classname="conformance.${side}.${result.level}" name="${escape(`${result.id} ${result.title}`)}"`;
    return `    <testcase ${head} time="${inSeconds(result.duration)}">${childOf(result, marks[index] as string)}</testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} time="${inSeconds(duration)}">`,
    `  <testsuite name="${escape(headingOf(report))}" ${counts} timestamp="${escape(startedat)}" time="${inSeconds(duration)}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function childOf({ detail, section, evidence }: CaseResult, mark: string): string {
  if (mark === 'pass') return '';
  if (mark !== 'FAIL') return `<skipped message="${escape(`${mark}: ${detail}`)}"/>`;
  const exchanges = evidence.map(({ asked, answered }) => `${asked}\n\n${answered ?? '(no response)'}`);
  return `<failure type="must" message="${escape(detail)}">${escape([`Section ${section}`, ...exchanges].join('\n\n'))}</failure>`;
}
