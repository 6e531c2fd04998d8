import type { components } from '../../base/contract/contract.gen.js';
import { apiVersion } from '../../base/contract/contract.gen.js';
import { pageTexts, timeText } from '../../base/texts/callback-page.js';
import { landingTexts } from '../../base/texts/landing.js';
import type { Language } from '../../base/texts/text.js';
import { version } from '../../base/version.js';
import type { Context } from '../context.js';

/** Everything comes from this registry, no script can write markup, and no other page may frame it. */
const ownPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** The `Content-Security-Policy` of pages at addresses of the API: they send their own form, and nothing else. */
export const pagePolicy = `${ownPolicy}; form-action 'self'`;

/** The policy of a page that sends no form, and requests only from these hosts. */
export const policyOf = (...hosts: readonly string[]): string =>
  `${ownPolicy}; form-action 'none'; connect-src ${["'self'", ...new Set(hosts)].join(' ')}`;

/** What every page says about this registry. */
export interface Site {
  /** Who runs it. */
  operator?: string | undefined;
  /** A mail address, a URL, or both in one text. */
  contact?: string | undefined;
  hasSecurityText?: boolean;
}

export const siteOf = ({ operator, contact, security }: SiteConfig): Site => ({
  operator,
  contact,
  hasSecurityText: security.contacts.length > 0,
});

type SiteConfig = Pick<Context['config'], 'operator' | 'contact' | 'security'>;

interface HtmlPage {
  site: Site;
  language: Language;
  /** Text. */
  title: string;
  /** From the page to the root, because a proxy may have put a path in front: empty, or `../` for each folder. */
  root: string;
  /** Markup of the page between its header and its footer, with its `main`. */
  content: string;
  /** Markup at the end of the header. */
  menu?: string;
  /** Markup. */
  head?: string;
  /** A script of the assets. */
  script?: string | undefined;
}

/** A page for people, with the header and the footer that all of them have. */
export function htmlPage({ site, language, title, root, content, menu = '', head = '', script }: HtmlPage): string {
  const { skip } = landingTexts.frame;
  const operator = site.operator === undefined ? '' : `<span class="soft">${escapeHtml(site.operator)}</span>`;
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
${head}<title>${escapeHtml(title)}</title>
<link rel="icon" href="${root}assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}assets/base.css">
<link rel="stylesheet" href="${root}assets/pages.css">
${script === undefined ? '' : `<script type="module" src="${root}assets/${script}"></script>\n`}<a class="skip" href="#content">${skip[language]}</a>
<header class="banner">
<a class="name" href="${root === '' ? './' : root}"><img src="${root}assets/icon.svg" alt="" width="22" height="22">Assent ${operator}</a>
${menu}</header>
${content}
${footer(site, language, root)}
</html>
`;
}

/** Who runs the registry, whom to ask, and what a public body has to link from each page. */
function footer({ operator, contact, hasSecurityText }: Site, language: Language, root: string): string {
  const texts = landingTexts.footer;
  const links = [
    ['guides/', texts.guides],
    ['docs', landingTexts.frame.menu.docs],
    [`guides/${texts.statement[language]}`, texts.accessibility],
    ...(hasSecurityText === true ? [['.well-known/security.txt', texts.security] as const] : []),
  ] as const;
  return `<footer>
<p>${operatorMarkup({ operator, contact }, language)}</p>
<nav aria-label="${texts.label[language]}">
${links.map(([address, name]) => `<a href="${root}${address}">${name[language]}</a>\n`).join('')}</nav>
<p class="soft">Assent ${version} · API ${apiVersion}</p>
</footer>`;
}

/** Who runs the registry, and where they are reached. */
export function operatorMarkup({ operator, contact }: Site, language: Language): string {
  const { runBy, unnamed, contact: label } = landingTexts.footer;
  const who = operator === undefined ? unnamed[language] : runBy(`<strong>${escapeHtml(operator)}</strong>`)[language];
  return contact === undefined ? who : `${who} ${label[language]}: ${contactMarkup(contact)}`;
}

/** With links in it. */
export function contactMarkup(contact: string): string {
  const parts = contact.split(/(https:\/\/[^\s<>()"']+|[^\s<>()@:"']+@[^\s<>()@"']+)/);
  return parts
    .map((part, place) => {
      if (place % 2 === 0) return escapeHtml(part);
      const address = part.startsWith('https:') ? part : `mailto:${part}`;
      return `<a href="${escapeHtml(address)}" rel="noreferrer">${escapeHtml(part)}</a>`;
    })
    .join('');
}

/** A page of one column at an address that is no place to stay at. `content` is markup. */
export function narrowPage(page: HtmlPage): string {
  const { title, head = '', content } = page;
  return htmlPage({
    ...page,
    head: `<meta name="robots" content="noindex">\n${head}`,
    content: `<main id="content" class="narrow" tabindex="-1">
<h1>${escapeHtml(title)}</h1>
${content}
</main>`,
  });
}

/** What the problem says, for people. `hasWays`: to the start page and to the console. */
export function problemPage(
  problem: components['schemas']['Problem'],
  { site, language, root, hasWays }: Pick<HtmlPage, 'site' | 'language' | 'root'> & { hasWays: boolean },
): string {
  const { title, detail = '', faults = [], requestid } = problem;
  const entries = faults.map((fault) => entry(fault.pointer, escapeHtml(fault.detail)));
  const { start, console, request } = pageTexts;
  const ways = [
    `<a class="button first" href="${root}">${start[language]}</a>`,
    `<a class="button" href="${root}console">${console[language]}</a>`,
  ];
  return narrowPage({
    site,
    language,
    root,
    title,
    content: `<p>${escapeHtml(detail)}</p>
<dl class="facts">
${entries.join('')}${entry(request[language], `<code>${escapeHtml(requestid)}</code>`)}</dl>${
      hasWays ? `\n<p class="actions">${ways.join('\n')}</p>` : ''
    }`,
  });
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
