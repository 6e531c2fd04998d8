import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { scopes } from '../../src/base/contract/principal.js';
import { pageNames, readPage, root } from './markdown.js';

/** What pages said once that was not so. */
const prose = pageNames.map((name): [string, string] => [name, readPage(name).replace(/\s+/g, ' ')]);
const pagesWith = (pattern: RegExp) => prose.filter(([, text]) => pattern.test(text)).map(([name]) => name);
const numbers = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

test('a page that counts the scopes counts those of the contract', () => {
  const counted = prose.flatMap(([, text]) => [...text.matchAll(/\b(\w+) scopes\b/g)].map(([, word = '']) => word));
  expect(counted.filter((word) => numbers.includes(word)).map((word) => numbers.indexOf(word) + 1)).toEqual([
    scopes.length,
  ]);
});

test('the table of what ends a grant has every code that ends one', () => {
  const [, table = ''] = /\n### What ends a grant\n([\s\S]*?)\n#/.exec(readPage('docs/concepts.md')) ?? [];
  const [, ...listed] = table.split('\n').flatMap((line) => /\| `([a-z_]+)` +\|$/.exec(line)?.[1] ?? []);
  // An admin who removes an origin has one more.
  const [, own = ''] = /\bEndCode = ([^;]+);/.exec(readPage('src/consent/grant.ts')) ?? [];
  const codes = [...own.matchAll(/'([a-z_]+)'/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(3);
  expect(new Set(listed)).toEqual(new Set([...codes, 'origin_removed']));
});

test.each([
  ['that there is no console', /no console\b|has no (?:user interface|pages for people)/i],
  ['to run `prisma migrate`, which the image does not have', /(?:run|with|use) `?(?:npx )?prisma migrate/i],
  ['how long `npm test` takes', /`npm test`[^|.]*\|? ?[^|.]*\b(?:minutes?|seconds?)\b/],
  ['addresses of nobody', /operator@example|issuer\.example\.com\/token`? is/],
])('no page says %s', (_what, pattern) => {
  expect(pagesWith(pattern)).toEqual([]);
});

test('who delivers is the same sentence everywhere, and no text says otherwise', () => {
  const sentence = "The registry never delivers events; assent egress does, for senders that can't be changed.";
  const texts = ['publiccode.yml', 'openapi/openapi.yaml', '.config/package-readme.md', 'src/base/texts/landing.ts'];
  for (const name of ['README.md', 'docs/comparison.md', ...texts]) {
    const text = readPage(name).replace(/\s+/g, ' ').replaceAll('`', '');
    expect([name, text.includes(sentence)]).toEqual([name, true]);
    expect([name, /Assent (?:itself )?(?:never delivers|delivers no)/.test(text)]).toEqual([name, false]);
  }
});

test('the comparison names the console, the cost and the maturity', () => {
  for (const row of ['Pages for people', 'Cost', 'Maturity']) {
    expect(readPage('docs/comparison.md')).toMatch(new RegExp(`^\\| ${row} +\\| [^|]`, 'm'));
  }
});

test('README, versioning and the changelog say the version that the contract and the package have', async () => {
  const { info } = JSON.parse(readFileSync(join(root, 'openapi/openapi.json'), 'utf8')) as {
    info: { version: string };
  };
  for (const page of ['README.md', 'docs/versioning.md']) {
    expect(readPage(page).replace(/\s+/g, ' ')).toContain(`The API is ${info.version} until the first release.`);
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(readPage('CHANGELOG.md')).toContain(`## [${version}]`);
  // @ts-expect-error A script, without types.
  const { mentions } = await import('../../.config/version.mjs');
  const found: Array<{ path: string; version: string }> = await mentions(root);
  expect(found.filter((mention) => mention.version !== version)).toEqual([]);
  const places = [
    'publiccode.yml',
    'docs/versioning.md',
    'docs/operate/chart/Chart.yaml',
    'docs/operate/kubernetes.yaml',
  ];
  expect(found.map(({ path }) => path)).toEqual(expect.arrayContaining(places));
});

test('every page recommends the Node of the image, and the oldest that is supported is what the package asks for', () => {
  const [, image = ''] = /^ARG NODE_IMAGE=node:(\d+)-slim$/m.exec(readPage('Dockerfile')) ?? [];
  const page = readPage('docs/versioning.md');
  expect(page).toMatch(new RegExp(`^\\| Node ${image}: use this one `, 'm'));
  const lines = [...page.matchAll(/^\| Node (\d+)(?:, from ([\d.]+) on)?/gm)].map(
    ([, line = '', from]) => from ?? line,
  );
  const { engines } = JSON.parse(readPage('package.json')) as { engines: { node: string } };
  expect(engines.node).toBe(`>=${lines.at(-1)}`);
  const needed = prose.flatMap(([, text]) => [...text.matchAll(/\bNode (\d+) \(/g)].map(([, line]) => line));
  expect(needed.length).toBeGreaterThan(2);
  expect(new Set(needed)).toEqual(new Set([image]));
  for (const tag of prose.flatMap(([, text]) => text.match(/\bnode:\d+-slim\b/g) ?? []))
    expect(tag).toBe(`node:${image}-slim`);
});

describe('the incident page', () => {
  const page = readPage('docs/admins/incident.md');

  test('is one screen', () => {
    expect(page.split('\n').length).toBeLessThanOrEqual(45);
  });

  test('names what the console has: places, and the labels of buttons', () => {
    const table = /\n\| step[\s\S]*?\n\n/.exec(page)?.[0] ?? '';
    const cells = table.split('\n').map((line) => line.split(' | ')[1] ?? '');
    const index = readPage('src/console/pages/index.tsx');
    const texts = ['blocks', 'grants', 'origins', 'subscriptions']
      .map((name) => readPage(`src/console/texts/${name}.ts`))
      .join();
    const labels = cells.flatMap((cell) => [...cell.matchAll(/_(.+?)_/g)].map(([, label]) => label));
    const places = cells.flatMap((cell) => [...cell.matchAll(/#\/([a-z-]+)/g)].map(([, place]) => place));
    expect(labels.length + places.length).toBeGreaterThan(8);
    expect(labels.filter((label) => !texts.includes(`en: '${label}'`))).toEqual([]);
    expect(places.filter((place) => !new RegExp(`^ {4}'?${place}'?: `, 'm').test(index))).toEqual([]);
  });
});
