import { readFileSync } from 'node:fs';

interface AccessiblePage {
  address: string;
  languages: string[];
}

const file = new URL('accessible-pages.json', import.meta.url);

/** The pages that tests open with axe. The accessibility statement lists them: npm run reference. */
const pages: AccessiblePage[] = JSON.parse(readFileSync(file, 'utf8'));

/** Those of the console, by their place, such as `#/grants`. */
export const consolePages: ReadonlyArray<[place: string, languages: string[]]> = pages
  .filter(({ address }) => address.startsWith('/console#'))
  .map(({ address, languages }) => [address.slice('/console'.length), languages]);

/** Those that show something without a step before, in each of their languages. */
export const plainPages: ReadonlyArray<[path: string, language: string]> = pages
  .filter(({ address }) => address === '/' || address.startsWith('/guides/'))
  .flatMap(({ address, languages }) => languages.map((language): [string, string] => [address, language]));
