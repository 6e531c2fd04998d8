import { expect, test } from '@jest/globals';
import { consolePages } from '../support/accessible-pages.js';
import { readPage } from './markdown.js';

test('the accessibility statement lists every page of the console, and so the tests open it', () => {
  expect(consolePages.map(([place]) => place).sort()).toEqual(
    Object.keys(pages)
      .map((name) => `#/${name}`)
      .sort(),
  );
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
