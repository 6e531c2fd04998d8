import { describe, expect, test } from '@jest/globals';
import { credentialTexts, secretTexts, signingSecretTexts } from '../../../src/base/texts/credentials.js';
import {
  cesqlErrorTexts,
  cesqlTexts,
  filterCheckTexts,
  filterTexts,
  priceTexts,
} from '../../../src/base/texts/filters.js';
import { originNameTexts, originTexts } from '../../../src/base/texts/origins.js';
import { sinkTexts } from '../../../src/base/texts/sinks.js';
import { subscriptionTexts } from '../../../src/base/texts/subscriptions.js';
import { languages, type Text } from '../../../src/base/texts/text.js';

const sample: Text = { en: 'A sample.', nl: 'Een voorbeeld.' };
const price = { price: 15_736, characters: 256, reason: sample, owner: 'tenant', sum: 31_472, limit: 40_000 } as const;

/** Texts without values, by the path of their names. */
function plainTexts(catalogue: object): Array<[string, Text]> {
  return Object.entries(catalogue).flatMap(([name, entry]: [string, unknown]): Array<[string, Text]> => {
    if (typeof entry === 'function') return [];
    return isText(entry)
      ? [[name, entry]]
      : plainTexts(entry as object).map(([inner, text]) => [`${name}.${inner}`, text]);
  });
}

function isText(entry: unknown): entry is Text {
  return typeof (entry as Text).en === 'string';
}

/** Numbers, quoted names, and words in capital letters, which are the same in every language. */
function namesIn(text: string): string[] {
  const ungrouped = text.replace(/(\d)[.,](?=\d{3}(?!\d))/g, '$1');
  return (ungrouped.match(/"[^"]*"|-?\d+|\b[A-Z][A-Z_]{2,}\b|\[.*\]|\{.*\}/g) ?? []).sort();
}

const all: Record<string, Array<[string, Text]>> = {
  credentials: [
    ...plainTexts({ credentialTexts, signingSecretTexts, ...secretTexts }),
    ['endpoint', credentialTexts.endpoint(sample)],
  ],
  filters: [
    ...plainTexts({ filterTexts, cesqlTexts, cesqlErrorTexts, filterCheckTexts, priceTexts }),
    ['tooMany', filterTexts.tooMany(100)],
    ['tooDeep', filterTexts.tooDeep(32)],
    ['atCharacter', filterTexts.atCharacter(7, sample)],
    ['tooLong', cesqlTexts.tooLong(4096)],
    ['tooManyTokens', cesqlTexts.tooManyTokens(1000)],
    ['stringUnterminated', cesqlTexts.stringUnterminated("'")],
    ['expressions too deep', cesqlTexts.tooDeep(32)],
    ['arity', cesqlTexts.arity('LENGTH', 2)],
    ['lookedUp', priceTexts.reasons.lookedUp(1024)],
    ['tooExpensive', priceTexts.tooExpensive(price)],
    ['ofFilter', priceTexts.ofFilter(15_716, 15_736)],
    ['tooExpensiveForMessage', priceTexts.tooExpensiveForMessage(500_000_000)],
    ['tooExpensiveForMessage of one', priceTexts.tooExpensiveForMessage(500_000_000, '0197f3c2')],
    ['ofWorst', priceTexts.ofWorst(1_234_567)],
  ],
  origins: [
    ...plainTexts({ originNameTexts, originTexts }),
    ['tooLong', originNameTexts.tooLong(253)],
    ['labelTooLong', originNameTexts.labelTooLong(63)],
  ],
  sinks: [
    ...plainTexts(sinkTexts),
    ['tooLong', sinkTexts.tooLong(2048)],
    ['unresolvable', sinkTexts.unresolvable('onion')],
    ['portNotAllowed', sinkTexts.portNotAllowed([443, 8443])],
    ['notCanonical', sinkTexts.notCanonical('https://example.com/?x=1')],
  ],
  subscriptions: [
    ...plainTexts(subscriptionTexts),
    ['quota', subscriptionTexts.quota(1_000_000)],
    ['tooManyHeaders', subscriptionTexts.tooManyHeaders(50)],
    ['headerTooLong', subscriptionTexts.headerTooLong(4096)],
    ['configTooLong', subscriptionTexts.configTooLong(8192)],
    ['configTooDeep', subscriptionTexts.configTooDeep(32)],
  ],
};

describe.each(Object.entries(all))('each text of the catalogue of %s', (_, texts) => {
  test.each(texts)('%s is a sentence in each language, with the same names and values', (_, text) => {
    for (const language of languages) expect(text[language]).toMatch(/^\S.*\S\.$/s);
    expect(text.nl).not.toBe(text.en);
    expect(namesIn(text.nl)).toEqual(namesIn(text.en));
  });
});
