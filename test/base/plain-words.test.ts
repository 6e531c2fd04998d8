import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { glossary } from '../../src/base/texts/glossary.js';
import { pageNames, parsePage, readPage, root } from '../docs/markdown.js';

/** Words that say the same as another, or something else than here, and what to write instead. */
const english: ReadonlyArray<[RegExp, string]> = [
  [/\b(?:whoever|somebody(?!-))\b/gi, 'the caller, a client, someone'],
  [/\bshall\b/gi, 'must, or the present tense'],
  [
    /\b(?:response|decision|first one|first|header|form|value|it|not|no longer|never)s? (?:that )?counts?(?=[.,;]| (?:as|from|with|before|when|if)\b)|\bcounts? as (?:absent|sent|one|a|refused|consent|if|now)\b/gi,
    '"counts" is for counting: is valid, applies, takes precedence',
  ],
  [/\baudit (?:log|trail|entr(?:y|ies))s?\b/gi, 'audit record'],
  [/\balso (?:if|not|when|while)\b/gi, 'even if, not either'],
  [/\basked anew\b|\b(?:starts?|starting) another handshake\b/gi, 'ask again'],
  [/\bnobody else\b/gi, 'no one else'],
  [/(?<!-)\banswer(?:s|ed|ing)?\b/gi, 'response, respond, return'],
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
  [/\bvraagt? (?:daarna |dan )?opnieuw[.,]/gi, 'om toestemming'],
  [/\bprint(?:en)?\b/gi, 'toont'],
  [/(?<!blokkade is |blokkades zijn |die wordt |die is )\bopgeheven\b/gi, 'buiten gebruik; a block is opgeheven'],
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
    const literals = source.matchAll(
      new RegExp(`\\b${language}:\\s*('(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*"|\`[^\`]*\`)`, 'g'),
    );
    return [file, [...literals].map(([, literal = '']) => literal.replace(/\$\{[^}]*\}/g, '')).join('\n')];
  });
}

test.each([
  ['en', english],
  ['nl', dutch],
] as const)('the texts of the registry and its console use one word for one thing (%s)', (language, words) => {
  const texts = textsOf(language);
  expect(texts.map(([, text]) => text).join('').length).toBeGreaterThan(10_000);
  expect(texts.flatMap(([file, text]) => found(file, text, words))).toEqual([]);
});

/** Without fences, code, paths and links, which hold names. */
const proseOf = (page: string) =>
  parsePage(page)
    .lines.filter(({ fence }) => fence === undefined)
    .map(({ text }) => text.replace(/`[^`]*`|\]\([^)]*\)/g, ''))
    .join('\n');

/** Every description, summary, title and example of a text in the contract. */
function sentencesOf(node: unknown): string[] {
  if (typeof node === 'string') return node.includes(' ') ? [node.replace(/`[^`]*`/g, '')] : [];
  return typeof node === 'object' && node !== null ? Object.values(node).flatMap(sentencesOf) : [];
}

test('pages and the contract use one word for one thing', () => {
  const contract = sentencesOf(JSON.parse(readFileSync(join(root, 'openapi/openapi.json'), 'utf8'))).join('\n');
  expect(contract.length).toBeGreaterThan(50_000);
  const texts = [
    ...pageNames.map((name): [string, string] => [name, proseOf(readPage(name))]),
    ['the contract', contract] as const,
  ];
  expect(texts.flatMap(([name, text]) => found(name, text, english))).toEqual([]);
});

/** What stands in quotes, and the parts of templates. */
function literalsOf(code: string): string[] {
  const literals: string[] = [];
  const collect = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node)) literals.push(node.text);
    ts.forEachChild(node, collect);
  };
  collect(ts.createSourceFile('code.ts', code, ts.ScriptTarget.Latest));
  return literals;
}

test('the command line uses one word for one thing', () => {
  const folder = join(root, 'src/tools');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const texts = files.map((path): [string, string] => [
    path,
    literalsOf(readFileSync(join(folder, path), 'utf8'))
      .filter((text) => /\w \w/.test(text))
      .join('\n'),
  ]);
  expect(texts.map(([, text]) => text).join('').length).toBeGreaterThan(10_000);
  expect(texts.flatMap(([path, text]) => found(path, text, english))).toEqual([]);
});
