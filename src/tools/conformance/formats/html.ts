import type { CaseResult, Report } from '../case.js';
import { escape } from './markup.js';
import { headingOf, levelWords, markOf, summaryOf } from './summary.js';

const style = `
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b1b1b; background: #fff; }
  table { border-collapse: collapse; width: 100%; }
  th, td { border-bottom: 1px solid #767676; padding: 0.4rem 0.6rem; text-align: left; vertical-align: top; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.5rem 0; }
  .fail { font-weight: bold; }
  @media (prefers-color-scheme: dark) { body { color: #f2f2f2; background: #161616; } }
`;

/** A page of its own, without scripts and without other files. */
export function renderHtml(report: Report): string {
  const heading = escape(headingOf(report));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${heading}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${heading}</h1>
<p>${summaryOf(report).map(escape).join('<br>')}</p>
<p>Profile ${escape(report.profile)}, ${escape(report.startedat)}, ${(report.duration / 1_000).toFixed(1)} s, version ${escape(report.version)}.</p>
<table>
<caption>Cases</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Case</th><th scope="col">Level</th><th scope="col">Section</th><th scope="col">Guarantee</th></tr></thead>
<tbody>
${report.results.map((result) => rowOf(result, report)).join('\n')}
</tbody>
</table>
</main>
</body>
</html>
`;
}

function rowOf(result: CaseResult, report: Report): string {
  const mark = markOf(result, report);
  const detail = result.outcome === 'passed' ? '' : `<p>${escape(result.detail)}</p>`;
  const exchanges = result.evidence
    .map(({ asked, answered }) => `<pre>${escape(asked)}\n\n${escape(answered ?? '(no response)')}</pre>`)
    .join('');
  const evidence = exchanges === '' ? '' : `<details><summary>Evidence of ${result.id}</summary>${exchanges}</details>`;
  return (
    `<tr><td${mark === 'FAIL' ? ' class="fail"' : ''}>${mark}</td><th scope="row">${result.id}</th>` +
    `<td>${levelWords[result.level]}</td><td>${escape(result.section)}</td>` +
    `<td>${escape(result.title)}${detail}${evidence}</td></tr>`
  );
}
