import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { commandVariables, settings } from '../../src/registry/app/config.js';
import { pageNames, readPage, root } from './markdown.js';

/** What the pages tell readers to set or to run, as [page, name]. */
function named(pattern: RegExp): Array<[page: string, name: string]> {
  return pageNames.flatMap((page) =>
    [...readPage(page).matchAll(pattern)].map(([, name = '']): [string, string] => [page, name]),
  );
}

test('every setting that a page names exists', () => {
  const known = [...settings.map(({ name }) => name), ...commandVariables];
  const all = named(/\b(ASSENT_[A-Z_]+[A-Z])\b/g);
  expect(all.length).toBeGreaterThan(20);
  expect(all.filter(([, name]) => !known.includes(name))).toEqual([]);
});

test('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const all = named(/\bnpm run (?:--silent )?([a-z][a-z:-]*)/g).filter(([page]) => !page.startsWith('docs/examples/'));
  expect(all.filter(([, name]) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test('every command of assent that a page names exists', () => {
  const help = execFileSync(process.execPath, [join(root, 'dist/tools/cli/assent.js'), '--help'], { encoding: 'utf8' });
  const known = [...help.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name);
  expect(known).toEqual(expect.arrayContaining(['try', 'token']));
  expect(named(/\bnpx assent ([a-z]+)/g).filter(([, name]) => !known.includes(name))).toEqual([]);
});
