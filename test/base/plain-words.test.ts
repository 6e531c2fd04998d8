import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { glossary } from '../../src/base/texts/glossary.js';
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
/** What no Dutch text says for a term of the glossary. */
const otherDutch: ReadonlyArray<[term: string, words: RegExp]> = [
  ['origin', /\bafzenders?\b/gi],
  ['sender', /\bverzendende? syste(?:em|men)\b/gi],
  ['sink', /\bbestemming(?:en)?\b/gi],
  ['consumer', /\bconsument(?:en)?\b/gi],
  ['admin', /\b(?:admin|administrator)s?\b(?!:)/gi],
  ['operator', /\bregisterbeheerders?\b|\bde operator\b/gi],
  ['tenant', /(?<!\(de )\btenants?\b/gi],
  ['event', /(?<![./])\bevents?\b(?!mitter)|\bevenement(?:en)?\b/gi],
  ['delivery', /\b(?:af)?levering(?:en)?\b/gi],
  ['subscription', /\b(?:subscripties?|inschrijving(?:en)?)\b/gi],
  ['handshake', /\bhanddruk(?:ken)?\b/gi],
  ['verdict', /\bverdicts?\b/gi],
  ['consent', /\b(?:instemming|goedkeuring|akkoord)\b/gi],
  ['agreement', /\bafspra(?:ak|ken)\b/gi],
  ['grant', /\b(?:vergunning|verlening)(?:en)?\b/gi],
  ['permission', /\bmachtiging(?:en)?\b/gi],
  ['rate', /\b(?:snelheid|snelheden|frequentie)\b/gi],
  ['hold', /\b(?:rust|wachtstand)\b/gi],
  ['block', /\b(?:blokkering|blokkeringen|blok)\b/gi],
  ['notice', /\b(?:notificaties?|kennisgeving(?:en)?)\b/gi],
  ['feed', /\bwijzigingsstro(?:om|men)\b/gi],
];

/** The Dutch word of a term. */
function inDutch(term: string): string {
  const found = glossary.find(({ en }) => en === term);
  if (found === undefined) throw new Error(`The glossary has no term "${term}".`);
  return found.nl;
}

const dutch: ReadonlyArray<[RegExp, string]> = [
  ...otherDutch.map(([term, words]): [RegExp, string] => [words, inDutch(term)]),
  [/\baudit(?: |-)?(?:trail|record|entr(?:y|ies))s?\b/gi, 'auditlog'],
  [/\bgeleas(?:t|te|ed|ede)\b/gi, 'gereserveerd'],
  [/\bresponses?\b/gi, 'antwoord'],
  [/\bhet credential\b/gi, 'de credential'],
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
  const files = ['src/base/texts', 'src/console/texts'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((file) => `${folder}/${file}`),
  );
  return [...files, 'src/base/problems.ts'].map((file): [string, string] => {
    const source = readFileSync(join(root, file), 'utf8');
    const literals = source.matchAll(new RegExp(`\\b${language}:\\s*('(?:[^'\\\\]|\\\\.)*'|\`[^\`]*\`)`, 'g'));
    return [file, [...literals].map(([, literal = '']) => literal.replace(/\$\{[^}]*\}/g, '')).join('\n')];
  });
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
