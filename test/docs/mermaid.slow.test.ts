import { afterAll, describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../support/foreign-tools.js';
import { pageNames, parsePage, readPage } from './markdown.js';

/** Every diagram of the pages, parsed by Mermaid itself. Skipped with the reason if the packages cannot be installed. */
const diagrams = pageNames.flatMap((page) =>
  parsePage(readPage(page))
    .fences.filter(({ info }) => info.split(' ')[0] === 'mermaid')
    .map(({ text }, index) => ({ name: `diagram ${index + 1} of ${page}`, text })),
);
const broken = 'sequenceDiagram\n  A->>B no colon';

const tools = await install({
  name: 'Mermaid',
  folder: fileURLToPath(new URL('mermaid', import.meta.url)),
  tool: ['npm', '--version'],
  install: 'npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error'.split(' '),
});

test('the README has a picture, and the concepts show the handshake, the callback and the renewal', () => {
  const countIn = (page: string) => diagrams.filter(({ name }) => name.endsWith(` ${page}`)).length;
  expect(countIn('README.md')).toBeGreaterThanOrEqual(1);
  expect(countIn('docs/concepts.md')).toBeGreaterThanOrEqual(3);
});

describe('Mermaid', () => {
  if ('missing' in tools) {
    test.skip(`not run: ${tools.missing}`, () => undefined);
    return;
  }
  afterAll(() => tools.remove());

  test('every diagram parses, and one with a mistake does not', async () => {
    const named = [...diagrams, { name: 'a mistake', text: broken }];
    await writeFile(join(tools.folder, 'diagrams.json'), JSON.stringify(named.map(({ text }) => text)));
    const errors: Array<string | null> = JSON.parse(await tools.execute([process.execPath, 'parse.mjs']));
    const refused = named.flatMap(({ name }, index) => (errors[index] === null ? [] : [[name, errors[index]]]));
    expect(refused).toEqual([['a mistake', expect.stringContaining('Parse error')]]);
  });
});
