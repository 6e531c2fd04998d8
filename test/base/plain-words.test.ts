import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { pageNames, readPage, root } from '../docs/markdown.js';

/** Words that say the same as another, or something else than here, and what to write instead. */
const english: ReadonlyArray<[RegExp, string]> = [
  [/\b(?:whoever|somebody(?!-))\b/gi, 'the caller, a client, someone'],
  [/\bshall\b/gi, 'must, or the present tense'],
  [/response that counts|does not count\b|counts as (?:refused|consent)/gi, '"counts" is for counting: valid, applies'],
  [/\baudit entr(?:y|ies)\b/gi, 'audit record'],
  [/\bnobody else\b/gi, 'no one else'],
];
const englishTexts: ReadonlyArray<[RegExp, string]> = [
  ...english,
  [/\banswer(?:s|ed)?\b/gi, 'response, respond, return'],
];
const dutch: ReadonlyArray<[RegExp, string]> = [
  [/\bresponses?\b/gi, 'antwoord'],
  [/\bleveringe?n?\b/gi, 'bezorging'],
  [/(?<![./])\bevents?\b(?!mitter)/gi, 'gebeurtenis'],
  [/\bhet credential\b/gi, 'de credential'],
  [/\bgeleaste?\b/gi, 'gereserveerd'],
  [/\bproefveld\b/gi, 'uitproberen'],
  [/onjuist opgebouwd/gi, 'niet geldig'],
  [/\bpast niet\b/gi, 'voldoet niet'],
  [/(?:webhook|opnieuw) (?:wordt |is )?(?:opnieuw )?gevraagd[.…']/gi, 'om toestemming gevraagd'],
  [/\bprint(?:en)?\b/gi, 'toont'],
  [/(?<!blokkade is |die wordt |die is )\bopgeheven\b/gi, 'buiten gebruik; a block is opgeheven'],
];

const found = (where: string, text: string, words: typeof english) =>
  words.flatMap(([word, better]) => [...text.matchAll(word)].map(([match]) => `${where}: "${match}" -> ${better}`));

/** The string literals of one language in the files of texts. */
function textsOf(language: 'en' | 'nl'): Array<[file: string, text: string]> {
  return ['src/base/texts', 'src/console/texts'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((file): [string, string] => {
      const source = readFileSync(join(root, folder, file), 'utf8');
      const literals = source.matchAll(new RegExp(`\\b${language}:\\s*('(?:[^'\\\\]|\\\\.)*'|\`[^\`]*\`)`, 'g'));
      return [file, [...literals].map(([, literal = '']) => literal.replace(/\$\{[^}]*\}/g, '')).join('\n')];
    }),
  );
}

test.each([
  ['en', englishTexts],
  ['nl', dutch],
] as const)('the texts of the registry and its console use one word for one thing (%s)', (language, words) => {
  const texts = textsOf(language);
  expect(texts.map(([, text]) => text).join('').length).toBeGreaterThan(10_000);
  expect(texts.flatMap(([file, text]) => found(file, text, words))).toEqual([]);
});

test('pages and the contract use one word for one thing', () => {
  const contract = readFileSync(join(root, 'openapi/openapi.json'), 'utf8');
  expect(
    [...pageNames.map((name): [string, string] => [name, readPage(name)]), ['the contract', contract] as const].flatMap(
      ([name, text]) => found(name, text, english),
    ),
  ).toEqual([]);
});
