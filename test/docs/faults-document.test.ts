import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { faultRules } from '../../src/base/errors.js';
import { messageFaults } from '../../src/events/read-events.js';

const rows = readFileSync(new URL('../../docs/reference/faults.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

test('the table has every rule that a fault can name, once, with a place and a sentence', () => {
  const ofMessages = new Set(Object.keys(messageFaults));
  const named = rows.map(([rule = '']) => rule.slice(1, -1));
  expect(new Set(named).size).toBe(named.length);
  expect(new Set([...named, ...ofMessages])).toEqual(new Set(faultRules));
  for (const [rule, place, sentence] of rows) {
    expect([rule, place, sentence]).toEqual([
      expect.any(String),
      expect.stringMatching(/./),
      expect.stringMatching(/\.$/),
    ]);
  }
});

test('every rule of the list is still named by the program', async () => {
  const folder = new URL('../../src/', import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter(
    (path) => path.endsWith('.ts') && !/^(?:storage\/generated\/|errors\.ts$|http\/contract\.gen\.ts$)/.test(path),
  );
  const texts = await Promise.all(files.map((path) => readFile(new URL(path, folder), 'utf8')));
  const program = texts.join('\n');
  // Some stand as names of members.
  const isNamed = (rule: string) => program.includes(`'${rule}'`) || new RegExp(`^ +${rule}: `, 'm').test(program);
  expect(faultRules.filter((rule) => !isNamed(rule))).toEqual([]);
});
