import { compareToBaseline, lacksConsent } from './baseline.js';
import type { CaseResult, Evidence, CaseLevel, Report } from './case.js';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** For HTML and XML. Control characters, which XML cannot have, become spaces. */
function escape(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the characters to replace
  const clean = text.toWellFormed().replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, ' ');
  return clean.replace(/[&<>"']/g, (character) => entities[character] as string);
}

export const levelWords: Record<CaseLevel, string> = { must: 'MUST', should: 'SHOULD', info: 'INFO' };

/** As a reader sees it: only a MUST fails, and a known failure is no news. */
type Mark = 'pass' | 'FAIL' | 'known' | 'advice' | 'n/a';

function markOf({ id, level, outcome }: CaseResult, { baseline }: Report): Mark {
  if (outcome === 'passed') return 'pass';
  if (outcome === 'not_evaluable') return 'n/a';
  if (baseline.includes(id)) return 'known';
  return level === 'must' ? 'FAIL' : 'advice';
}

const noConsent =
  'No consent was seen, so this run says little: name an origin that the webhook allows with --origin, or say with --expect refusal that it is to consent to none.';

/** The counts, and what differs from the baseline, as sentences. */
export function reportSummary(report: Report): string[] {
  const count = (mark: Mark) => report.results.filter((each) => markOf(each, report) === mark).length;
  const { newFailures, fixed } = compareToBaseline(report);
  const some = (mark: Mark, words: string) => (count(mark) === 0 ? [] : [`${count(mark)} ${words}`]);
  const counts = [
    `${count('pass')} passed`,
    `${count('FAIL')} failed`,
    ...some('known', 'known to fail'),
    ...some('advice', 'with advice'),
    ...some('n/a', 'not evaluable'),
  ];
  return [
    ...(lacksConsent(report) ? [noConsent] : []),
    `${counts.join(', ')}.`,
    ...(newFailures.length > 0 ? [`These MUSTs fail: ${newFailures.join(', ')}.`] : []),
    ...(fixed.length > 0 ? [`The baseline lists these, and they pass: ${fixed.join(', ')}. Remove them from it.`] : []),
  ];
}

const headingOf = ({ side, target }: Report): string => `Conformance of the ${side} ${target}`;

const style = `
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b1b1b; background: #fff; }
  table { border-collapse: collapse; width: 100%; }
  th, td { border-bottom: 1px solid #767676; padding: 0.4rem 0.6rem; text-align: left; vertical-align: top; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.5rem 0; }
  .fail { font-weight: bold; }
  @media (prefers-color-scheme: dark) { body { color: #f2f2f2; background: #161616; } }
`;

/** A page of its own, without scripts and without other files. */
function renderHtml(report: Report): string {
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
<p>${reportSummary(report).map(escape).join('<br>')}</p>
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

function renderJson(report: Report): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

/** Throws a SyntaxError for a text that is not a report. */
export function parseReport(text: string): Report {
  const report = JSON.parse(text) as Partial<Report> | null;
  if (!Array.isArray(report?.results) || !Array.isArray(report.baseline)) {
    throw new SyntaxError('It is not a report of "assent conformance".');
  }
  return report as Report;
}

/**
 * For CI systems. They fail a build for each `failure`, so only what fails a run is one. Advice, known failures and what
 * could not be evaluated are `skipped`, with the reason.
 */
function renderJunit(report: Report): string {
  const { results, side, startedat, duration } = report;
  const inSeconds = (ms: number) => (ms / 1_000).toFixed(3);
  const marks = results.map((result) => markOf(result, report));
  const failures = marks.filter((mark) => mark === 'FAIL').length;
  const skipped = marks.filter((mark) => mark !== 'FAIL' && mark !== 'pass').length;
  const missing = lacksConsent(report) ? [missingConsent(side)] : [];
  const tests = results.length + missing.length;
  const counts = `tests="${tests}" failures="${failures + missing.length}" errors="0" skipped="${skipped}"`;
  const cases = results.map((result, index) => {
    const head = `classname="conformance.${side}.${result.level}" name="${escape(`${result.id} ${result.title}`)}"`;
    return `    <testcase ${head} time="${inSeconds(result.duration)}">${childOf(result, marks[index] as string)}</testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} time="${inSeconds(duration)}">`,
    `  <testsuite name="${escape(headingOf(report))}" ${counts} timestamp="${escape(startedat)}" time="${inSeconds(duration)}">`,
    ...missing,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** A run that does not pass must not be green. */
const missingConsent = (side: string) =>
  `    <testcase classname="conformance.${side}.run" name="A consent was seen" time="0.000">` +
  `<failure type="consent" message="${escape(noConsent)}"></failure></testcase>`;

function childOf({ detail, section, evidence }: CaseResult, mark: string): string {
  if (mark === 'pass') return '';
  if (mark !== 'FAIL') return `<skipped message="${escape(`${mark}: ${detail}`)}"/>`;
  const exchanges = evidence.map(({ asked, answered }) => `${asked}\n\n${answered ?? '(no response)'}`);
  return `<failure type="must" message="${escape(detail)}">${escape([`Section ${section}`, ...exchanges].join('\n\n'))}</failure>`;
}

/** A table, for a pull request or a summary of a build. */
function renderMarkdown(report: Report): string {
  const rows = report.results.map((result) => {
    const detail = result.outcome === 'passed' ? '' : cell(result.detail);
    return `| ${markOf(result, report)} | ${result.id} | ${levelWords[result.level]} | ${cell(result.section)} | ${cell(result.title)} | ${detail} |`;
  });
  return [
    `# ${cell(headingOf(report))}`,
    '',
    ...reportSummary(report),
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

/** For terminals. Failures come with their evidence. */
function renderPretty(report: Report): string {
  const lines = report.results.flatMap((result) => [
    `${markOf(result, report).padEnd(6)}  ${result.id}  ${levelWords[result.level].padEnd(6)}  ${result.title}`,
    ...(result.outcome === 'passed' ? [] : [indent(result.detail)]),
    ...(result.outcome === 'failed' ? evidenceLines(result) : []),
  ]);
  const first = lacksConsent(report) ? [noConsent, ''] : [];
  return [...first, headingOf(report), '', ...lines, '', ...reportSummary(report), ''].join('\n');
}

function evidenceLines({ evidence }: CaseResult): string[] {
  const quote = (text: string, mark: string) => text.split('\n').map((line) => indent(`${mark} ${line}`.trimEnd()));
  return evidence.flatMap(({ asked, answered }: Evidence) => [
    ...quote(asked, '>'),
    ...quote(answered ?? '(no response)', '<'),
  ]);
}

const indent = (text: string) => `        ${text}`;

export const formats = {
  pretty: renderPretty,
  json: renderJson,
  junit: renderJunit,
  markdown: renderMarkdown,
  html: renderHtml,
} as const satisfies Record<string, (report: Report) => string>;

export type Format = keyof typeof formats;

/** The files of a folder of reports. */
export const reportFiles = {
  'report.json': 'json',
  'junit.xml': 'junit',
  'report.md': 'markdown',
  'report.html': 'html',
} as const satisfies Record<string, Format>;
