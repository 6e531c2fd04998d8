import type { Report } from '../case.js';

export function renderJson(report: Report): string {
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
