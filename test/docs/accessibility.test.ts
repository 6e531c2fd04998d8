import { expect, test } from '@jest/globals';
import { consolePages } from '../support/accessible-pages.js';
import { readPage } from './markdown.js';

test('the accessibility statement lists every page of the console, so that tests open it', () => {
  // Its types are those of a browser, so it is read as text.
  const index = readPage('src/console/pages/index.tsx');
  const names = [...index.matchAll(/^ {4}'?([a-z-]*)'?: page\(/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(consolePages.map(([place]) => place).sort()).toEqual(names.map((name) => `#/${name}`).sort());
});

test.each([
  'Nalevingsstatus',
  'Opstelling van deze verklaring',
  'Feedback en contactgegevens',
  'Handhavingsprocedure',
  'Toelichting op de nalevingsstatus',
])('the Dutch statement has the part "%s" of the model that Dutch bodies must use', (heading) => {
  expect(readPage('docs/toegankelijkheidsverklaring.md')).toContain(`\n## ${heading}\n`);
});
