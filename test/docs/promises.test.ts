import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { pageNames, readPage, root } from './markdown.js';

/** The table of CONTRIBUTING: which foreign software the documentation names, and which test runs it. */
const [, section = ''] =
  /\n## Promises about foreign software\n([\s\S]*?)\n## /.exec(readPage('CONTRIBUTING.md')) ?? [];
const promises = rowsOf(section).map(([software = '', where = '', suite = '']) => ({
  software,
  file: /^`(.+)`$/.exec(where)?.[1],
  suite,
}));

/** The cells of each row of the tables in a text. */
function rowsOf(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  const cells = lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return cells.filter((row, index) => !row[0]?.startsWith('---') && !cells[index + 1]?.[0]?.startsWith('---'));
}

/** The part of a page below a heading of any level, up to the next one of the same level or above. */
function below(page: string, heading: string): string {
  const text = `\n${readPage(page)}`;
  const at = text.indexOf(`\n${heading}\n`);
  expect([page, heading, at !== -1]).toEqual([page, heading, true]);
  const level = heading.indexOf(' ');
  const [found = ''] = text.slice(at + heading.length + 2).split(new RegExp(`\\n#{1,${level}} `));
  return found;
}

const headingsOf = (text: string) => [...text.matchAll(/^#{2,4} (.+)$/gm)].map(([, title = '']) => title);
const firstOf = (text: string) => rowsOf(text).map(([first = '']) => first);

/** Without links, versions and what is said about it. */
const nameIn = (cell: string) =>
  cell
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replace(/^(?:npm|PyPI|Go) /, '')
    .split(/,| (?=\d)| with | on /)[0]!
    .trim();

/** Where the documentation names foreign software that a reader may rely on. */
const named: Array<[where: string, names: string[]]> = [
  [
    'recipes of issuers',
    headingsOf(below('docs/operate/tokens.md', '## Ready settings')).filter((name) => name !== 'Another issuer'),
  ],
  ['platforms of functions', firstOf(below('docs/consumers/kit.md', '### Functions of other platforms'))],
  ["frameworks of the receiver's kit", ['Express', 'Fastify', 'Hono', 'Koa', 'Next', 'Deno', 'Bun']],
  ['frameworks that no test runs', firstOf(below('docs/consumers/frameworks.md', '### Not tested'))],
  [
    'languages beside them',
    firstOf(below('docs/consumers/frameworks.md', '### Spring, PHP and Sinatra')).map((name) => name.split(' ')[0]!),
  ],
  [
    'gateways',
    headingsOf(readPage('docs/senders/gateways.md')).filter(
      (name) => /^(?:nginx|[A-Z][A-Za-z]+)$/.test(name) && name !== 'Bursts',
    ),
  ],
  [
    'senders that cannot be changed',
    firstOf(below('docs/senders/brokers/README.md', "# Senders that you can't change")),
  ],
  ['clients behind the egress', firstOf(below('docs/senders/brokers/clients.md', '## In programs of your own'))],
  [
    'generators of clients',
    rowsOf(below('docs/reference/clients.md', '## Generate a client')).map(([, generator = '']) => generator),
  ],
  [
    'libraries of signatures',
    firstOf(below('docs/senders/signatures.md', '## What is signed')).filter((name) => /^(?:npm|PyPI) /.test(name)),
  ],
];

test.each(named)('each of the %s has a row in the table of promises', (_where, cells) => {
  expect(cells.length).toBeGreaterThan(0);
  const all = promises.map(
    ({ software }) => nameIn(software.replaceAll(',', ';')).toLowerCase() + software.replaceAll('`', '').toLowerCase(),
  );
  const missing = cells.map(nameIn).filter((name) => !all.some((software) => software.includes(name.toLowerCase())));
  expect(missing).toEqual([]);
});

describe('the table of promises', () => {
  const tested = promises.filter(({ file }) => file !== undefined);

  test.each(tested)('$software: the test exists, in the suite that it says', ({ file = '', suite }) => {
    expect(existsSync(join(root, file))).toBe(true);
    const isOf = (word: string) => file.includes(`.${word}.`);
    const expected = isOf('heavy')
      ? 'heavy'
      : file.startsWith('test/interop/')
        ? 'interop'
        : isOf('slow')
          ? 'rest'
          : 'test';
    expect(suite).toBe(expected);
  });

  test('a promise without a test is marked by configuration on its page, too', () => {
    const untested = promises.filter(({ file }) => file === undefined);
    expect(untested.length).toBeGreaterThan(0);
    const pages = pageNames.filter((name) => name.startsWith('docs/')).map((name) => readPage(name));
    for (const { software } of untested) {
      for (const name of software.split(/,|;/).map(nameIn)) {
        const marked = pages.some((page) => page.includes(name.split(' ')[0]!) && /by configuration/i.test(page));
        expect([name, marked]).toEqual([name, true]);
      }
    }
  });
});
