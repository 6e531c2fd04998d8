import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { problems, type ErrorCode } from '../../../src/base/problems.js';
import { languageOf } from '../../../src/base/formats/language.js';
import type { Scope } from '../../../src/base/contract/principal.js';
import { requestTexts } from '../../../src/base/texts/requests.js';
import { storageTexts } from '../../../src/base/texts/storage.js';
import { languages } from '../../../src/base/texts/text.js';
import { tokenTexts } from '../../../src/base/texts/tokens.js';
import { startRegistry, type Registry } from '../../support/registry.js';

/** Texts of problems in the language of the caller. Codes, rules and pointers are the same in every language. */
let registry: Registry;
let token: string;

beforeAll(async () => {
  registry = await startRegistry({ withoutPublicUrl: true });
  const scopes: Scope[] = ['assent:subscribe', 'assent:deliver'];
  token = await createToken({ tenant: 'gemeente', subscriber: 'zaaksysteem', scopes, minutes: 60 }, registry.env);
});
afterAll(() => registry.stop());

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['nl', 'nl'],
  ['NL', 'nl'],
  ['nl-NL', 'nl'],
  ['nl-BE,nl;q=0.9,en-US;q=0.8,en;q=0.7', 'nl'],
  ['en, nl', 'en'],
  ['en;q=0.5, nl;q=0.6', 'nl'],
  ['nl;q=0, en;q=0.1', 'en'],
  ['nl;q=0', 'en'],
  ['*', 'en'],
  ['en;q=0, *', 'nl'],
  ['fr', 'en'],
  ['fr, nl;q=0.1', 'nl'],
  ['fr-FR, fr;q=0.9, *;q=0.1', 'en'],
  ['this is not a language; q=x', 'en'],
])('Accept-Language: %s gets %s', (header, language) => {
  expect(languageOf(header)).toBe(language);
});

test('every code of a problem has a title in every language, with a full stop', () => {
  for (const { title } of Object.values(problems)) {
    expect(Object.keys(title)).toEqual([...languages]);
    expect(Object.values(title)).toEqual(languages.map(() => expect.stringMatching(/^[A-Z].*\S\.$/)));
    expect(title.en).not.toBe(title.nl);
  }
});

test('every text about requests, tokens and the database is a sentence in every language', () => {
  const texts = Object.values({ ...requestTexts, ...tokenTexts, ...storageTexts }).filter((text) => 'en' in text);
  expect(texts.length).toBeGreaterThan(30);
  for (const text of texts) {
    expect(Object.values(text)).toEqual(languages.map(() => expect.stringMatching(/^[A-Z].*\S\.$/)));
    expect(text.en).not.toBe(text.nl);
  }
});

interface Case {
  path: string;
  method?: string;
  body?: string;
  isAnonymous?: boolean;
}

async function ask({ path, method = 'GET', body, isAnonymous }: Case, language?: string) {
  const response = await fetch(`${registry.url}${path}`, {
    method,
    headers: {
      ...(isAnonymous ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(language === undefined ? {} : { 'Accept-Language': language }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const problem = (await response.json()) as {
    title: string;
    detail: string;
    code: string;
    faults?: Array<{ pointer: string; rule: string; detail: string }>;
  };
  const details = [problem.detail, ...(problem.faults ?? []).map(({ detail }) => detail)];
  return {
    title: problem.title,
    details,
    /** What machines rely on. */
    codes: [response.status, problem.code, problem.faults?.map(({ pointer, rule }) => `${pointer} ${rule}`)],
    language: response.headers.get('Content-Language'),
    vary: response.headers.get('Vary'),
  };
}

const registration = (members: object) => ({
  path: '/v1/subscriptions',
  method: 'POST',
  body: JSON.stringify({ sink: 'https://a.example.com/', protocol: 'HTTP', ...members }),
});

const cases: Array<[string, Case, en: string, nl: string]> = [
  [
    'a body that is not JSON',
    { ...registration({}), body: '{' },
    'The body is not JSON (RFC 8259).',
    'De body is geen JSON (RFC 8259).',
  ],
  ['a missing member', registration({ sink: undefined }), 'This member is required.', 'Dit veld is verplicht.'],
  ['a value of the wrong type', registration({ subject: 1 }), 'This must be a string.', 'Dit moet een string zijn.'],
  ['an unknown member', registration({ x: 1 }), 'This member does not exist.', 'Dit veld bestaat niet.'],
  [
    'a missing token',
    { path: '/v1/subscriptions', isAnonymous: true },
    'The request has no bearer token in the Authorization header.',
    'Het verzoek heeft geen bearer-token in de header Authorization.',
  ],
  [
    'a missing scope',
    { path: '/v1/audit' },
    'This operation needs the scope assent:admin or assent:audit.',
    'Voor deze bewerking is de scope assent:admin of assent:audit nodig.',
  ],
  [
    'an unknown address',
    { path: '/nothing' },
    'There is nothing at this address. openapi.json of this registry lists what there is.',
    'Op dit adres is niets te vinden. In openapi.json van dit register staat wat er is.',
  ],
  [
    'a method that the resource does not support',
    { path: '/v1/subscriptions', method: 'DELETE' },
    'This resource supports GET, POST.',
    'Deze resource ondersteunt GET, POST.',
  ],
  [
    'a parameter out of range',
    { path: '/v1/subscriptions?limit=0' },
    'This must be at least 1.',
    'Dit moet minstens 1 zijn.',
  ],
  [
    'a path that cannot be decoded',
    { path: '/v1/subscriptions/%ff' },
    'The path cannot be decoded.',
    'Het pad kan niet worden gelezen.',
  ],
  [
    'a cursor of another list',
    { path: '/v1/subscriptions?cursor=abc' },
    'This list did not issue this cursor.',
    'Deze cursor is niet door deze lijst uitgegeven.',
  ],
  [
    'a look-up without parameters (fast path)',
    { path: '/v1/permissions' },
    'This parameter is required.',
    'Deze parameter is verplicht.',
  ],
  [
    'a look-up without a token (fast path)',
    { path: '/v1/permissions', isAnonymous: true },
    'The request has no bearer token in the Authorization header.',
    'Het verzoek heeft geen bearer-token in de header Authorization.',
  ],
];

describe.each(cases)('%s', (_, request, en, nl) => {
  test('is explained in Dutch to a client that prefers Dutch', async () => {
    const [dutch, english] = [await ask(request, 'nl'), await ask(request)];
    expect(dutch).toMatchObject({
      details: expect.arrayContaining([nl]),
      language: 'nl',
      vary: expect.stringMatching(/^(Accept, )?Accept-Language$/),
    });
    expect(dutch.title).toBe(problems[dutch.codes[1] as ErrorCode].title.nl);
    expect(dutch.codes).toEqual(english.codes);
    expect(dutch.details.filter((detail) => english.details.includes(detail))).toEqual([]);
  });

  test.each(['fr', undefined])(
    'is explained in English to a client that sends Accept-Language: %s',
    async (language) => {
      const english = await ask(request, language);
      expect(english).toMatchObject({
        details: expect.arrayContaining([en]),
        language: 'en',
        vary: expect.stringMatching(/^(Accept, )?Accept-Language$/),
      });
    },
  );
});

test('a look-up that succeeds has no language', async () => {
  const url = `${registry.url}/v1/permissions?origin=a.example.com&sink=https%3A%2F%2Fa.example.com%2F`;
  const response = await fetch(url, { headers: { Authorization: `Bearer ${token}`, 'Accept-Language': 'nl' } });
  expect([response.status, response.headers.get('Content-Language')]).toEqual([200, null]);
  expect(response.headers.get('Vary')).toBe('Authorization');
});

test('a problem that is a page for browsers has one Vary, which names both headers', async () => {
  const headers = { Accept: 'text/html', 'Accept-Language': 'nl' };
  const asked = get(`${registry.url}/v1/callbacks/none?key=none`, { headers });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  response.resume();
  const varies = response.rawHeaders.flatMap((name, at, all) => (name === 'Vary' ? [all[at + 1]] : []));
  expect([response.statusCode, varies]).toEqual([expect.any(Number), ['Accept, Accept-Language']]);
  expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
});
