import { readFileSync } from 'node:fs';
import { escapeHtml, type Site } from '../http/html-page.js';
import { frame } from './frame.js';

export interface Guide {
  /** Below /guides/, without an ending: `consumers/receive`. */
  path: string;
  title: string;
  /** What the build made of docs/. */
  content: string;
  /** Its headings. */
  sections: ReadonlyArray<{ id: string; name: string }>;
}

/** What `pages.mjs` made of docs/. Names of groups, and of guides in groups, are markup. */
export interface Guides {
  /** The content of the page that lists the guides. */
  index: string;
  /** In reading order. */
  groups: ReadonlyArray<{ id: string; name: string; guides: ReadonlyArray<{ path: string; title: string }> }>;
  /** Those of the groups first, in their order. */
  guides: readonly Guide[];
}

/** The guides that are not in English. */
const inDutch = ['toegankelijkheidsverklaring'];

export function loadGuides(file: URL): Guides {
  return JSON.parse(readFileSync(file, 'utf8')) as Guides;
}

export function guidePage(site: Site, guides: Guides, guide: Guide): Buffer {
  const { path, title, content, sections } = guide;
  const root = '../'.repeat(path.split('/').length);
  const [heading = '', rest = ''] = content.split(/(?<=<\/h1>\n)/);
  const onThisPage =
    sections.length < 2
      ? ''
      : `<details class="on-this-page"><summary lang="en">On this page</summary>\n${sectionList(guide)}</details>\n`;
  return frame({
    site,
    language: inDutch.includes(path) ? 'nl' : 'en',
    title: `${title} - Assent`,
    root,
    place: 'guides/',
    content: `${heading}${onThisPage}${rest}${wayOn(guides, guide, root)}`,
    // A narrow window shows the list when this link is followed.
    finder: finderMarkup(root, '<a class="to-contents" href="#contents">All guides</a>\n'),
    contents: listMarkup(guides, root, guide),
    contentsName: 'All guides',
    script: 'guides.js',
  });
}

export function guideIndex(site: Site, guides: Guides): Buffer {
  const [lead = '', ...groups] = guides.index.split(/(?=<h2 id=")/);
  const sections = groups.map((group) => `<section class="card">\n${group}</section>\n`);
  return frame({
    site,
    language: 'en',
    title: 'Guides - Assent',
    root: '../',
    place: 'guides/',
    content: `${lead}${finderMarkup('../')}<div class="groups">\n${sections.join('')}</div>`,
    script: 'guides.js',
  });
}

/** The search; without a script it is not shown. */
function finderMarkup(root: string, more = ''): string {
  return `<div class="finder" lang="en">
<form role="search" id="guide-search" data-root="${root}" hidden>
<input type="search" id="guide-words" aria-label="Search the guides" placeholder="Search the guides" aria-keyshortcuts="/" autocomplete="off" spellcheck="false" aria-describedby="guide-count">
<div class="found" id="guide-found" hidden>
<p class="soft" id="guide-count" role="status"></p>
<ol></ol>
</div>
</form>
${more}</div>
`;
}

function listMarkup({ groups }: Guides, root: string, current: Guide): string {
  const entries = groups.map(({ name, guides }) => {
    const links = guides.map(({ path, title }) =>
      path === current.path
        ? `<li><a href="${root}guides/${path}" aria-current="page">${title}</a>\n${sectionList(current)}</li>\n`
        : `<li><a href="${root}guides/${path}">${title}</a></li>\n`,
    );
    const isOpen = guides.some(({ path }) => path === current.path);
    return `<li><details${isOpen ? ' open' : ''}><summary>${name}</summary>\n<ul>\n${links.join('')}</ul></details></li>\n`;
  });
  return `<ul class="guides" lang="en">\n${entries.join('')}</ul>`;
}

function sectionList({ sections }: Guide): string {
  if (sections.length < 2) return '';
  const links = sections.map(({ id, name }) => `<li><a href="#${id}">${escapeHtml(name)}</a></li>\n`);
  return `<ul class="sections">\n${links.join('')}</ul>\n`;
}

/** To the pages before and after it in reading order. */
function wayOn({ groups }: Guides, { path }: Guide, root: string): string {
  const order = groups.flatMap(({ guides }) => guides);
  const place = order.findIndex((guide) => guide.path === path);
  if (place === -1) return '';
  const link = (guide: (typeof order)[number] | undefined, rel: string, name: string) =>
    guide
      ? `<a rel="${rel}" href="${root}guides/${guide.path}"><span class="soft">${name}</span> ${guide.title}</a>\n`
      : '';
  return `<nav class="way-on" lang="en" aria-label="Previous and next guide">
${link(order[place - 1], 'prev', 'Previous')}${link(order[place + 1], 'next', 'Next')}</nav>`;
}
