import type { Report } from '../case.js';
import { renderHtml } from './html.js';
import { renderJson } from './json.js';
import { renderJunit } from './junit.js';
import { renderMarkdown } from './markdown.js';
import { renderPretty } from './pretty.js';

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
