import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Every page for readers, by its path from the root. */
export const pageNames: readonly string[] = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].filter((name) => existsSync(join(root, name))),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md') && !path.includes('/node_modules/'))
    .sort(),
];

export function readPage(name: string): string {
  return readFileSync(join(root, name), 'utf8');
}

/** A fenced block of code. */
export interface Fence {
  /** What follows the opening fence, such as `bash run`. */
  info: string;
  text: string;
  /** Where the text begins and ends in the page. */
  start: number;
  end: number;
}

interface Line {
  text: string;
  start: number;
  /** The fence that it belongs to: an index, or nothing for prose. */
  fence: number | undefined;
}

/** The lines of a page, and its fences (CommonMark, section 4.5; not inside of quotes). */
export function parsePage(page: string): { lines: Line[]; fences: Fence[] } {
  const lines: Line[] = [];
  const fences: Fence[] = [];
  let open: { mark: string; fence: Fence } | undefined;
  let start = 0;
  for (const text of page.split('\n')) {
    const next = start + text.length + 1;
    const [, mark = '', info = ''] = /^ *(`{3,}|~{3,})(.*)$/.exec(text) ?? [];
    if (open === undefined) {
      if (mark !== '' && !(mark.startsWith('`') && info.includes('`'))) {
        open = { mark, fence: { info: info.trim(), text: '', start: next, end: next } };
        fences.push(open.fence);
      }
      lines.push({ text, start, fence: open && fences.length - 1 });
    } else {
      lines.push({ text, start, fence: fences.length - 1 });
      if (mark.startsWith(open.mark) && info.trim() === '') {
        open.fence.end = start;
        open.fence.text = page.slice(open.fence.start, start);
        open = undefined;
      }
    }
    start = next;
  }
  if (open) throw new Error(`A fence is not closed: ${open.mark}${open.fence.info}`);
  return { lines, fences };
}

/** What is not code. */
function proseOf(page: string): string {
  const prose = parsePage(page)
    .lines.filter(({ fence }) => fence === undefined)
    .map(({ text }) => text)
    .join('\n');
  return prose.replace(/<!--[\s\S]*?-->/g, '').replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, '``');
}

/** The targets of all links and images, as they are written. A reference without a definition is in it as `[name]`. */
export function linksOf(page: string): string[] {
  const prose = proseOf(page);
  const definitions = new Map(
    [...prose.matchAll(/^ {0,3}\[([^\]]+)\]: *<?([^\s>]+)/gm)].map(([, name = '', target = '']) => [
      name.toLowerCase(),
      target,
    ]),
  );
  const inline = [...prose.matchAll(/\]\( *<?([^)\s>]+)/g)].map(([, target = '']) => target);
  const html = [...prose.matchAll(/<[^>]+ (?:href|src)="([^"]+)"/g)].map(([, target = '']) => target);
  const references = [...prose.matchAll(/\]\[([^\]]+)\]/g)].map(([, name = '']) => {
    return definitions.get(name.toLowerCase()) ?? `[${name}]`;
  });
  return [...inline, ...html, ...references, ...definitions.values()];
}

/** What can follow a # in a link to the page: GitHub makes it of each heading, and numbers what is there already. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  const { lines } = parsePage(page);
  for (const { text, fence } of lines) {
    if (fence !== undefined) continue;
    for (const [, name = ''] of text.matchAll(/<[^>]+ (?:id|name)="([^"]+)"/g)) anchors.add(name);
    const heading = /^ {0,3}#{1,6} +(.*?)(?: +#+)? *$/.exec(text)?.[1];
    if (heading === undefined) continue;
    const slug = heading
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let number = 1; anchors.has(anchor); number += 1) anchor = `${slug}-${number}`;
    anchors.add(anchor);
  }
  return anchors;
}
