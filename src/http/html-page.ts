import { createHash } from 'node:crypto';
import type { components } from './contract.gen.js';

const style =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:38rem;margin:4rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}' +
  'dt{font-weight:600}dd{margin:0 0 .8rem;overflow-wrap:anywhere}';
const styleHash = createHash('sha256').update(style).digest('base64');

/** The `Content-Security-Policy` of these pages: their one style sheet, and nothing else is loaded or run. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'`;

/** A page for people who opened an address of the API. `content` is markup. */
export function htmlPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
<main>
<h1>${title}</h1>
${content}
</main>
</html>
`;
}

/** What the problem says, for people. */
export function problemPage({ title, detail = '', faults = [], requestid }: components['schemas']['Problem']): string {
  const places = faults.map((fault) => `<dt>${escapeHtml(fault.pointer)}</dt><dd>${escapeHtml(fault.detail)}</dd>\n`);
  return htmlPage(
    escapeHtml(title),
    `<p>${escapeHtml(detail)}</p>
<dl>
${places.join('')}<dt>Request</dt><dd>${escapeHtml(requestid)}</dd>
</dl>`,
  );
}

export function escapeHtml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? '');
}
