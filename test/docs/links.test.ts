import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { describe, expect, test } from '@jest/globals';
import { anchorsOf, linksOf, pageNames, readPage, root } from './markdown.js';

const clicks = 3;

interface Link {
  /** As it is written. */
  target: string;
  /** The file or folder, from the root. */
  path: string;
  anchor: string;
}

/** All links of a page that lead to something in the project. */
function localLinks(page: string): Link[] {
  return linksOf(readPage(page))
    .filter((target) => !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target))
    .map((target) => {
      const [, path = '', anchor = ''] = /^([^#?]*)[^#]*(?:#(.*))?$/.exec(target) ?? [];
      return {
        target,
        path: path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path))).replace(/\/$/, ''),
        anchor: decodeURIComponent(anchor),
      };
    });
}

/** A folder shows its README. */
function pageAt(path: string): string | undefined {
  return [path, join(path, 'README.md')].find((each) => pageNames.includes(each));
}

/** With upper and lower case as they are, whatever the file system makes of them. */
function exists(path: string): boolean {
  if (/^(?:\.\.|\/|dist|node_modules|\.assent)(?:\/|$)/.test(path)) return false;
  return path.split('/').every((name, depth, names) => {
    const folder = join(root, ...names.slice(0, depth));
    return existsSync(folder) && (name === '.' || readdirSync(folder).includes(name));
  });
}

/** How many clicks lead from the README to each page. */
const distances = new Map([['README.md', 0]]);
for (const [page, distance] of distances) {
  for (const { path } of localLinks(page)) {
    const next = pageAt(path);
    if (next !== undefined && !distances.has(next)) distances.set(next, distance + 1);
  }
}

test.each(pageNames)('every link of %s leads somewhere', (page) => {
  const broken = localLinks(page).filter(({ path, anchor }) => {
    if (!exists(path)) return true;
    const target = pageAt(path);
    return anchor !== '' && (target === undefined || !anchorsOf(readPage(target)).has(anchor));
  });
  expect(broken.map(({ target }) => target)).toEqual([]);
});

test(`every page of docs/ is at most ${clicks} clicks from the README`, () => {
  const far = pageNames.filter((page) => page.startsWith('docs/') && !((distances.get(page) ?? Infinity) <= clicks));
  expect(far).toEqual([]);
});

test('every page of docs/ is once in the reading order of docs/README.md, except single decisions, senders and examples', () => {
  const isInOrder = (page: string) =>
    /^docs\/(?!README\.md|decisions\/\d|senders\/brokers\/(?!README)|examples\/\w+(?:-\w+)*\/)/.test(page);
  const listed = localLinks('docs/README.md').map(({ path }) => path);
  expect(listed.sort()).toEqual(pageNames.filter(isInOrder).sort());
});

test.each([
  ['how to answer the handshake in their framework', 'docs/consumers/receive.md', 'the-handshake-in-your-framework'],
  ['why a webhook is pending', 'docs/consumers/subscribe.md', 'why-is-it-not-active'],
  ['how to stop an origin', 'docs/admins/incident.md', 'stop-deliveries-in-an-incident'],
  ['how to back up', 'docs/operate/backup.md', ''],
  ['what a verdict means', 'docs/reference/verdicts.md', ''],
  ['how to run three processes', 'docs/operate/scaling.md', ''],
])('a reader finds %s', (_question, page, anchor) => {
  expect(distances.get(page) ?? Infinity).toBeLessThanOrEqual(clicks);
  if (anchor !== '') expect([...anchorsOf(readPage(page))]).toContain(anchor);
});

describe('the README', () => {
  const lines = readPage('README.md').split('\n');

  test('has at most 200 lines', () => {
    expect(lines.length - 1).toBeLessThanOrEqual(200);
  });

  test.each(['npm ci && npm run try', 'npm ci && npm start', 'npm ci && npm test'])('has the command %s', (command) => {
    expect(lines.map((line) => line.replace(/ *#.*$/, ''))).toContain(command);
  });
});

describe('how links are read', () => {
  test.each([
    ['## Why is it not active?', 'why-is-it-not-active'],
    ['### `POST /leases`: a share', 'post-leases-a-share'],
    ['# One & two', 'one--two'],
    ['## [Linked](elsewhere.md) heading ##', 'linked-heading'],
    ['## snake_case – Überblick', 'snake_case--überblick'],
    ['<a id="mine"></a>', 'mine'],
  ])('%s has the anchor %s', (heading, anchor) => {
    expect([...anchorsOf(heading)]).toEqual([anchor]);
  });

  test('headings that repeat are numbered, and comments in code are no headings', () => {
    expect([...anchorsOf('# A\n\n## A\n\n```bash\n# Not me\n```\n\n## A\n')]).toEqual(['a', 'a-1', 'a-2']);
  });

  test('links in code are none; images, references and HTML are', () => {
    const page =
      '[a](b.md#c) `[d](e.md)` ![f](g.png "title") [h][i] [j][k]\n\n[i]: l.md\n\n<img src="m.png">\n\n```\n[n](o.md)\n```\n';
    expect(linksOf(page).sort()).toEqual(['[k]', 'b.md#c', 'g.png', 'l.md', 'l.md', 'm.png'].sort());
  });
});
