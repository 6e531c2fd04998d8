import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { languages } from '../../src/base/texts/text.js';
import { statusDetailCodes } from '../../src/consent/status.js';
import { verdicts } from '../../src/consent/verdicts.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The rows of every table of a page whose head begins with these names, cell by cell, without head and rule. */
function rowsOf(page: string, ...head: string[]): string[][] {
  const lines = read(page).split('\n');
  const cells = (line: string) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
  const rows: string[][] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (!head.every((name, index) => cells(lines[at] ?? '')[index] === name)) continue;
    for (at += 2; lines[at]?.startsWith('|'); at += 1) rows.push(cells(lines[at] ?? ''));
  }
  return rows;
}

test('tables that come from the code are fresh, and every row has its columns that are written by hand', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, '.config/reference.mjs'), '--check'], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});

const verdictsPage = 'docs/reference/verdicts.md';
const statusRows = () => rowsOf(verdictsPage, 'status', 'what it means');

test('each code of a verdict or a status has a section: what happened, the status, what happens next and what to change', () => {
  const known = statusRows().map(([status]) => status);
  const sections = new Map(
    read(verdictsPage)
      .split(/^#### /m)
      .slice(1)
      .map((section) => [/^`(\w+)`/.exec(section)?.[1] ?? '', section] as const),
  );
  expect([...sections.keys()].sort()).toEqual([...new Set(Object.keys({ ...verdicts, ...statusDetailCodes }))].sort());
  for (const [code, section] of sections) {
    const statuses = /\*\*Status:\*\* (.+?)[;.]/.exec(section)?.[1]?.split(', then ') ?? [];
    expect([code, known]).toEqual([code, expect.arrayContaining(statuses.length > 0 ? statuses : ['none'])]);
    expect(section).toMatch(/\*\*Next:\*\* .+\.$/m);
    expect(section).not.toMatch(/\{\w+\}/);
    expect([code, /\*\*Change:\*\* /.test(section)]).toEqual([
      code,
      { ...verdicts, ...statusDetailCodes }[code]?.advice !== undefined,
    ]);
  }
});

test('the table of statuses is that of the contract', () => {
  const { components } = JSON.parse(read('openapi/openapi.json'));
  expect(
    statusRows()
      .map(([status]) => status?.slice(1, -1))
      .sort(),
  ).toEqual([...components.schemas.SubscriptionStatus['x-extensible-enum']].sort());
});

test('CONTRIBUTING has a row for each room of src, in the order of the floors', () => {
  const named = rowsOf('CONTRIBUTING.md', 'room', 'what it does').map(([room = '']) => room.replace(/[`/]/g, ''));
  const list = /src: \[([\s\S]*?)\n {2}\],/.exec(read('.config/floors.mjs'))?.[1] ?? '';
  const rooms = [...list.matchAll(/'([\w.-]+)'/g)].map(([, name]) => name);
  expect(rooms.sort()).toEqual(readdirSync(join(root, 'src')).sort());
  expect(named.sort()).toEqual(rooms);
});

test('files that CONTRIBUTING and the decisions name exist', () => {
  const decisions = readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`);
  const files = new Set(
    ['src', 'test', 'openapi', 'prisma', '.config'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
    ),
  );
  for (const page of ['CONTRIBUTING.md', ...decisions]) {
    const named = [...read(page).matchAll(/`((?:src|test|openapi|prisma|\.config)\/[\w./-]+?)\/?`/g)];
    const missing = named.map(([, path = '']) => path).filter((path) => !files.has(path) && !isFolder(path));
    expect([page, missing]).toEqual([page, []]);
  }

  function isFolder(path: string): boolean {
    return [...files].some((file) => file.startsWith(`${path}/`));
  }
});

test('the decisions are numbered without a gap, each is in the list, and each names the check that holds it', () => {
  const names = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1));
  const list = read('docs/decisions/README.md');
  for (const name of names) {
    expect(list).toContain(`](${name})`);
    expect([name, read(`docs/decisions/${name}`)]).toEqual([
      name,
      expect.stringMatching(/^## What holds it\n\n[\s\S]*`(?:test|eslint|openapi)/m),
    ]);
  }
});

test('publiccode.yml has the version, the licence and the languages of the product', () => {
  const { version, license } = JSON.parse(read('package.json'));
  expect(parse(read('publiccode.yml'))).toMatchObject({
    softwareVersion: version,
    legal: { license },
    localisation: { availableLanguages: languages },
  });
});
