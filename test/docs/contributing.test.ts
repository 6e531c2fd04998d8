import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { changeLists } from './change-lists.js';
import { readPage, root } from './markdown.js';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

test('CONTRIBUTING says what each npm script does', () => {
  const page = readPage('CONTRIBUTING.md');
  const parts = Object.keys(scripts).filter((name) => !name.startsWith('bench:'));
  const commands = parts.map((name) => (['start', 'test'].includes(name) ? `npm ${name}` : `npm run ${name}`));
  expect(commands.filter((command) => !page.includes(`\`${command}\``))).toEqual([]);
});

describe('the lists of CONTRIBUTING', () => {
  test.each([...changeLists])('a %s: every place exists', (_name, places) => {
    expect(places.length).toBeGreaterThan(0);
    const exists = (place: string) =>
      place.startsWith('npm run ') ? place.slice('npm run '.length) in scripts : existsSync(join(root, place));
    expect(places.filter((place) => !exists(place))).toEqual([]);
  });

  test.each([
    'state of a handshake',
    'code of a status',
    'verdict',
    'column of a subscription',
    'filter operator',
    'endpoint',
    'retention',
  ])('a %s goes to six places at most', (name) => {
    expect(changeLists.get(name)?.length).toBeLessThanOrEqual(6);
  });
});
