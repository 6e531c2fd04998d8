import { readdirSync, readFileSync } from 'node:fs';
import { frame } from './frame.js';

export interface Guide {
  /** Below /guides/, without an ending: `consumers/receive`. */
  path: string;
  /** Markup. */
  title: string;
  /** What the build made of docs/. */
  content: string;
}

/** Folders of docs/ in reading order, after the pages that are in none; others follow. */
const folders = ['start', 'consumers', 'senders', 'admins', 'operate', 'reference', 'compliance', 'decisions'];
const first = ['quickstart', 'concepts'];

/** The guides that are not in English. */
const inDutch = ['toegankelijkheidsverklaring'];

/** The guides that the build wrote to this folder, in reading order. */
export function loadGuides(folder: URL): Guide[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const guides = names
    .filter((name) => name.endsWith('.html'))
    .map((name) => {
      const path = name.slice(0, -'.html'.length).replaceAll('\\', '/');
      const content = readFileSync(new URL(`${path}.html`, folder), 'utf8');
      const [, title = path] = /<h1[^>]*>(.*?)<\/h1>/s.exec(content) ?? [];
      return { path, title: title.replace(/<[^>]*>/g, ''), content };
    });
  const placeOf = ({ path }: Guide) => [rank(folders, folderOf(path)), rank(first, path)] as const;
  return guides.sort((one, other) => {
    const [[folderOne, firstOne], [folderOther, firstOther]] = [placeOf(one), placeOf(other)];
    return folderOne - folderOther || firstOne - firstOther || one.path.localeCompare(other.path);
  });
}

const folderOf = (path: string) => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : 'start');
const rank = (order: readonly string[], name: string) => (order.includes(name) ? order.indexOf(name) : order.length);

export function guidePage(guides: readonly Guide[], { path, title, content }: Guide): Buffer {
  const root = '../'.repeat(path.split('/').length);
  const contents = listMarkup(guides, (other) => `${root}guides/${other}`, path);
  const language = inDutch.includes(path) ? 'nl' : 'en';
  return frame({ language, title: `${plain(title)} - Assent`, root, place: 'guides/', content, contents });
}

export function guideIndex(guides: readonly Guide[]): Buffer {
  const content = `<h1>Guides</h1>\n<p class="lead">Each page has one reader and one purpose.</p>\n${listMarkup(guides, (path) => path)}`;
  return frame({ language: 'en', title: 'Guides - Assent', root: '../', place: 'guides/', content });
}

function listMarkup(guides: readonly Guide[], addressOf: (path: string) => string, current?: string): string {
  const groups = new Map<string, Guide[]>();
  for (const guide of guides) groups.set(folderOf(guide.path), [...(groups.get(folderOf(guide.path)) ?? []), guide]);
  const entries = [...groups].map(([folder, own]) => {
    const links = own.map(
      ({ path, title }) =>
        `<li><a href="${addressOf(path)}"${path === current ? ' aria-current="page"' : ''}>${title}</a></li>\n`,
    );
    const name = folder === 'start' ? 'Start here' : folder.replace(/^./, (letter) => letter.toUpperCase());
    return `<li${current === undefined ? ` id="${folder}"` : ''}><strong>${name}</strong>\n<ul>\n${links.join('')}</ul></li>\n`;
  });
  return `<ul class="links">\n${entries.join('')}</ul>`;
}

/** Text of markup, which the frame escapes again. */
function plain(markup: string): string {
  return markup
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
