import { createHash } from 'node:crypto';
import type { components } from '../../base/contract/contract.gen.js';
import { pageTexts, timeText } from '../../base/texts/callback-page.js';
import type { Language } from '../../base/texts/text.js';

/** The colours of all pages, light and dark. Each has the contrast that people need on the ground and on panels. */
export const theme =
  ':root{color-scheme:light dark;--text:#1b1b1b;--soft:#595959;--ground:#fff;--panel:#f3f4f5;--line:#d0d4d8;--edge:#6b7075;' +
  '--accent:#0b5a37;--on-accent:#fff;--link:#1d5fa8;--error:#b00000}' +
  '@media (prefers-color-scheme:dark){:root{--text:#e6e6e6;--soft:#b3b8bd;--ground:#16181b;--panel:#212428;--line:#3b4046;' +
  '--edge:#8d949b;--accent:#74d0a0;--on-accent:#0c1f16;--link:#8fbcf2;--error:#ff9d95}}\n';

const style =
  theme +
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:38rem;margin:2rem auto;padding:0 1rem;color:var(--text);' +
  'background:var(--ground);overflow-wrap:anywhere}' +
  'h1{line-height:1.2;hyphens:auto}dt,label{font-weight:600}dd{margin:0 0 .8rem}label{display:block}' +
  'input,button{font:inherit;box-sizing:border-box;max-width:100%;min-height:2.75rem;padding:.4rem .8rem;border-radius:.3rem;' +
  'color:var(--text);background:var(--ground);border:2px solid var(--edge)}' +
  '.actions{display:flex;flex-wrap:wrap;gap:1rem}' +
  'button{min-width:8rem;font-weight:600}' +
  'button.first{color:var(--on-accent);background:var(--accent);border-color:var(--accent)}' +
  '.hint{margin:0;color:var(--soft)}.error{margin:0;font-weight:600;color:var(--error)}' +
  ':focus-visible{outline:3px solid var(--link);outline-offset:3px}';
const styleHash = createHash('sha256').update(style).digest('base64');

/** The `Content-Security-Policy` of these pages: their one style sheet and their own form; nothing is loaded or run. */
export const pagePolicy =
  `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'self'; ` +
  `frame-ancestors 'none'`;

/** A page for people who opened an address of the API. `title` is text, `content` and `head` are markup. */
export function htmlPage(language: Language, title: string, content: string, head = ''): string {
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
${head}<title>${escapeHtml(title)}</title>
<style>${style}</style>
<main>
<h1>${escapeHtml(title)}</h1>
${content}
</main>
</html>
`;
}

/** What the problem says, for people. `root` is the address of the start page, if there is a way on. */
export function problemPage(problem: components['schemas']['Problem'], language: Language, root?: string): string {
  const { title, detail = '', faults = [], requestid } = problem;
  const entries = faults.map((fault) => entry(fault.pointer, escapeHtml(fault.detail)));
  const { start, console } = pageTexts;
  const ways = [['', start] as const, ['console', console] as const].map(
    ([place, name]) => `<a href="${root}${place}">${name[language]}</a>`,
  );
  return htmlPage(
    language,
    title,
    `<p>${escapeHtml(detail)}</p>
<dl>
${entries.join('')}${entry(pageTexts.request[language], escapeHtml(requestid))}</dl>${
      root === undefined ? '' : `\n<p>${ways.join(' · ')}</p>`
    }`,
  );
}

/** An entry of a list: a text, and markup. */
export function entry(name: string, content: string): string {
  return `<dt>${escapeHtml(name)}</dt><dd>${content}</dd>\n`;
}

export function timeMarkup(time: Date, language: Language): string {
  return `<time datetime="${time.toISOString()}">${timeText(time, language)}</time>`;
}

export function escapeHtml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? '');
}
