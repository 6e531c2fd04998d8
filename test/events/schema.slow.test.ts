import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { isTimestamp } from '../../src/base/formats/timestamp.js';
import { isUri, isUriReference } from '../../src/base/formats/uri.js';
import { minimal, readOne, structured } from './message.js';

// Compares our checks with the JSON schema of the specification: we refuse everything that the schema refuses. Each case
// where we refuse more is named here.

const file = new URL('../../../shared/specs/cloudevents.json', import.meta.url);
const isThere = existsSync(file);
const ajv = addFormats.default(new Ajv({ strict: false }));
const schema = isThere ? ajv.compile(JSON.parse(readFileSync(file, 'utf8'))) : () => true;
const withSchema = isThere ? describe : describe.skip;

/** `ok` by both, `bad` by both, `stricter`: the schema takes it, the text of the specification does not. */
type Verdict = 'ok' | 'bad' | 'stricter';
type Pool = Array<[value: unknown, verdict: Verdict]>;
const absent = Symbol('absent');

const pools: Record<string, Pool> = {
  id: [
    ['1', 'ok'],
    ['é 😀', 'ok'],
    ['', 'bad'],
    [5, 'bad'],
    [null, 'bad'],
    [absent, 'bad'],
    ['\u0007', 'stricter'],
  ],
  source: [
    ['/a', 'ok'],
    ['https://example.com/?a#b', 'ok'],
    ['1-555-123-4567', 'ok'],
    ['urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66', 'ok'],
    ['', 'bad'],
    ['a b', 'bad'],
    ['http://a/%zz', 'bad'],
    [{}, 'bad'],
    [absent, 'bad'],
  ],
  specversion: [
    ['1.0', 'ok'],
    ['0.3', 'stricter'],
    ['', 'bad'],
    [1, 'bad'],
    [absent, 'bad'],
  ],
  type: [
    ['a', 'ok'],
    ['com.github.pull_request.opened', 'ok'],
    ['', 'bad'],
    [false, 'bad'],
    [absent, 'bad'],
  ],
  datacontenttype: [
    [absent, 'ok'],
    [null, 'ok'],
    ['application/json', 'ok'],
    ['', 'bad'],
    [5, 'bad'],
    ['json', 'stricter'],
  ],
  dataschema: [
    [absent, 'ok'],
    [null, 'ok'],
    ['urn:a:b', 'ok'],
    ['https://a/b#c', 'ok'],
    ['/a', 'bad'],
    ['', 'bad'],
    [[], 'bad'],
  ],
  subject: [
    [absent, 'ok'],
    [null, 'ok'],
    ['a', 'ok'],
    ['', 'bad'],
    [5, 'bad'],
    ['\ufffe', 'stricter'],
  ],
  time: [
    [absent, 'ok'],
    [null, 'ok'],
    ['2018-04-05T17:31:00Z', 'ok'],
    ['1990-12-31T23:59:60Z', 'ok'],
    ['2018-04-05 17:31:00Z', 'stricter'],
    ['2018-02-30T00:00:00Z', 'bad'],
    ['', 'bad'],
    [0, 'bad'],
  ],
  data: [
    [absent, 'ok'],
    [null, 'ok'],
    [1.5, 'ok'],
    [{ a: [] }, 'ok'],
    ['x', 'ok'],
  ],
  comexampleextension: [
    [absent, 'ok'],
    [null, 'ok'],
    [true, 'ok'],
    [-5, 'ok'],
    ['', 'ok'],
    [1.5, 'stricter'],
    [{}, 'stricter'],
  ],
};

function isOurs(event: Record<string, unknown>): boolean {
  return 'event' in readOne(structured(event));
}

/** A seeded generator, so that a failure can be reproduced. */
function randomSource(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

withSchema(`the JSON schema of CloudEvents${isThere ? '' : ' (it is not here)'}`, () => {
  test('agrees on its own examples', () => {
    const { properties } = JSON.parse(readFileSync(file, 'utf8'));
    for (const [name, { examples = [] }] of Object.entries<{ examples?: unknown[] }>(properties)) {
      for (const value of examples) {
        const event = { ...minimal, [name]: value };
        expect([event, schema(event), isOurs(event)]).toEqual([event, true, true]);
      }
    }
  });

  test('agrees on every value of every member by itself', () => {
    for (const [name, pool] of Object.entries(pools)) {
      for (const [value, verdict] of pool) {
        const event: Record<string, unknown> = { ...minimal, [name]: value };
        if (value === absent) delete event[name];
        expect([event, schema(event), isOurs(event)]).toEqual([event, verdict !== 'bad', verdict === 'ok']);
      }
    }
  });

  test('agrees on 20,000 generated events', () => {
    const random = randomSource(1);
    const counts = { ok: 0, bad: 0, stricter: 0 };
    for (let round = 0; round < 20_000; round += 1) {
      const event: Record<string, unknown> = {};
      let worst: Verdict = 'ok';
      for (const [name, pool] of Object.entries(pools)) {
        // Mostly the first value, so that events that nothing is wrong with are among them.
        const [value, verdict] = (random(3) > 0 ? pool[0] : pool[random(pool.length)]) as Pool[number];
        if (value !== absent) event[name] = value;
        if (verdict === 'bad' || (verdict === 'stricter' && worst === 'ok')) worst = verdict;
      }
      counts[worst] += 1;
      if (schema(event) !== (worst !== 'bad') || isOurs(event) !== (worst === 'ok')) {
        expect([event, schema(event), isOurs(event)]).toEqual([event, worst !== 'bad', worst === 'ok']);
      }
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(500);
  });

  test.each<[Record<string, unknown>, string]>([
    [{ data: 1, data_base64: 'YQ==' }, 'both kinds of data'],
    [{ data_base64: 'a' }, 'no Base64'],
    [{ datacontenttype: 'text/xml', data: {} }, 'an object that is XML'],
    [{ Foo: 'x' }, 'a name in capital letters'],
  ])('accepts %j, which the specification refuses: %s', (change, _reason) => {
    const event = { ...minimal, ...change };
    expect([schema(event), isOurs(event)]).toEqual([true, false]);
  });

  test('agrees on data_base64 that is null', () => {
    expect([schema({ ...minimal, data_base64: null }), isOurs({ ...minimal, data_base64: null })]).toEqual([
      true,
      true,
    ]);
  });
});

const of = (more: string) => `(?:[A-Za-z0-9._~!$&'()*+,;=${more}-]|%[0-9A-Fa-f]{2})*`;
const literal = `\\[(?:(?<v6>[0-9A-Fa-f:.]+)|[vV][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\\]`;
const authority = `(?:${of(':')}@)?(?:${literal}|${of('')})(?::[0-9]*)?`;
/** RFC 3986, appendix A, as one expression; the inside of brackets is judged by Node. */
const grammar = new RegExp(
  '^(?:[A-Za-z][A-Za-z0-9+.-]*:|(?![^/?#]*:))' +
    `(?://${authority}(?:/${of(':@')})*|(?!//)${of(':@/')})(?:\\?${of(':@/?')})?(?:#${of(':@/?')})?$`,
);

function isByGrammar(text: string): boolean {
  const match = grammar.exec(text);
  return match !== null && (match.groups?.['v6'] === undefined || isIPv6(match.groups['v6']));
}

test('random URIs, references and timestamps are judged by their grammars, and never less strictly than ajv-formats', () => {
  const random = randomSource(2);
  const reference = ajv.compile({ type: 'string', format: 'uri-reference' });
  const uri = ajv.compile({ type: 'string', format: 'uri' });
  const time = ajv.compile({ type: 'string', format: 'date-time' });
  const pieces = [
    'a',
    'Z',
    '0',
    '9',
    ':',
    '/',
    '//',
    '?',
    '#',
    '[',
    ']',
    '@',
    '%',
    '%41',
    '%g1',
    '::1',
    '1.2.3.4',
    '-',
    '.',
    ' ',
  ];
  const more = ['é', '"', '{', '|', 'http:', 'urn:', '+', '_', '~', "'", '\\', '[::1]', '[v1.a]', ':80', 'x@y'];
  const all = [...pieces, ...more];
  for (let round = 0; round < 30_000; round += 1) {
    const text = Array.from({ length: random(7) }, () => all[random(all.length)]).join('');
    const byGrammar = isByGrammar(text);
    const expected = [text, byGrammar, byGrammar && /^[^/?#]*:/.test(text)];
    expect([text, isUriReference(text), isUri(text)]).toEqual(expected);
    // The formats are looser here and there (a colon in the first segment, brackets and double quotes in a path), and
    // "uri" is stricter in one thing: RFC 3986 lets the path after the scheme be empty.
    if (byGrammar) expect([text, reference(text)]).toEqual([text, true]);
    if (isUri(text) && !/^[^:]+:(?:[?#]|$)/.test(text)) expect([text, uri(text)]).toEqual([text, true]);
  }
  const pad = (value: number, width = 2) => String(value).padStart(width, '0');
  for (let round = 0; round < 30_000; round += 1) {
    const date = `${pad(random(10_000), 4)}-${pad(random(14))}-${pad(random(33))}`;
    const zone = ['Z', 'z', '+01:00', '-23:59', '+24:00', ''][random(6)];
    const text = `${date}T${pad(random(26))}:${pad(random(62))}:${pad(random(60))}${['', '.5', '.'][random(3)]}${zone}`;
    // The format takes some hours and minutes past the end for a leap second.
    if (/T(?:2[4-9]|..:6)/.test(text)) expect(isTimestamp(text)).toBe(false);
    else if (isTimestamp(text) !== time(text)) expect([text, isTimestamp(text)]).toEqual([text, time(text)]);
  }
});
