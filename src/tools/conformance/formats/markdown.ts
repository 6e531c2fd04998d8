import type { Report } from '../case.js';
import { headingOf, levelWords, markOf, summaryOf } from './summary.js';

/** A table, for a pull request or a summary of a build. */
export function renderMarkdown(report: Report): string {
  const rows = report.results.map((result) => {
    const detail = result.outcome === 'passed' ? '' : cell(result.detail);
    return `| ${markOf(result, report)} | ${result.id} | ${levelWords[result.level]} | ${cell(result.section)} | ${cell(result.title)} | ${detail} |`;
  });
  return [
    `# ${cell(headingOf(report))}`,
    '',
    ...summaryOf(report),
    '',
    '| result | case | level | section | guarantee | what was seen |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** What Markdown would read as its own. */
function cell(text: string): string {
  return text.replace(/[\\`*_|<>[\]]/g, '\\$&').replace(/\s+/g, ' ');
}
