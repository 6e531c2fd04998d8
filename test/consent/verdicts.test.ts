import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { outcomes } from '../../src/consent/outcome.js';
import { isStatusDetailCode, statusDetailCodes } from '../../src/consent/status.js';
import {
  advise,
  describe as describeVerdict,
  quoted,
  verdicts,
  mistakes,
  type Verdict,
} from '../../src/consent/verdicts.js';
import { grantTexts } from '../../src/base/texts/grants.js';
import { handshakeTexts, nextTexts, undecidedTexts, rejectedCallbackTexts } from '../../src/base/texts/handshakes.js';
import { exactLabels, statusNextTexts, statusTexts } from '../../src/base/texts/status.js';
import { languages, type Text } from '../../src/base/texts/text.js';
import {
  adviceWithCallback,
  certificateFaultTexts,
  frontTexts,
  hintTexts,
  observedText,
} from '../../src/base/texts/verdicts.js';

const origin = 'eventemitter.example.com';
const known = Object.keys(verdicts) as Verdict[];

test('every verdict and every kind of outcome has a title in English and Dutch, and advice in both or in neither', () => {
  for (const [code, { title, advice }] of [...Object.entries(verdicts), ...Object.entries(outcomes)]) {
    expect([code, problemsOf(title)]).toEqual([code, []]);
    expect([code, advice === undefined ? [] : problemsOf(advice)]).toEqual([code, []]);
    for (const language of languages) {
      expect([code, title[language]]).toEqual([code, expect.not.stringMatching(/[.!?] [A-Z]/)]);
    }
  }
});

test('every hint, warning and message of a rejected callback or a status is there in English and Dutch', () => {
  const values = { origin: quoted(origin), allowedOrigin: quoted('x'), allowedRate: quoted('y') };
  const rejected = Object.values(rejectedCallbackTexts).map((textsOf) => textsOf(values));
  const texts: Text[] = [
    ...Object.values(adviceWithCallback),
    ...Object.values(hintTexts),
    ...Object.values(frontTexts).map((text) => text('Cloudflare')),
    ...Object.values(certificateFaultTexts).flatMap(({ title, advice }) => [title, advice]),
    ...Object.values(mistakes),
    observedText(quoted(origin), 'WebHook-Allowed-Origin "x"'),
    ...rejected.flatMap(({ message, advice }) => [message, advice]),
    ...Object.values(nextTexts),
    ...Object.values(statusNextTexts),
    ...Object.values(statusTexts.bases),
    ...[1, 2, '*' as const].map((rate) => statusTexts.maySend(origin, rate)),
    statusTexts.expired,
    statusTexts.expiredUnrenewed(verdicts.unsupported.title),
    statusTexts.notAskedYet,
    ...Object.values(undecidedTexts),
    ...Object.values(grantTexts),
    ...Object.values(handshakeTexts).map((text) => (typeof text === 'function' ? text(origin) : text)),
  ];
  for (const text of texts) expect([text.en, problemsOf(text)]).toEqual([text.en, []]);
});

/** What is wrong with a text: it is empty, ends without a full stop, or names other headers in Dutch than in English. */
function problemsOf(text: Text): string[] {
  const namesIn = (sentence: string) =>
    [...new Set(sentence.match(/WebHook-\w+-\w+|Retry-After|OPTIONS|"\*"|\bPOST\b|\bnextat\b|\d+/g))].sort();
  const malformed = languages.filter((language) => !/^\S.*\.$/.test(text[language]));
  const isSame = JSON.stringify(namesIn(text.en)) === JSON.stringify(namesIn(text.nl));
  return [...malformed, ...(isSame ? [] : ['names']), ...(text.en === text.nl ? ['same'] : [])];
}

test('every verdict and every reason of a status says who can fix it, and has advice if that is someone', () => {
  const all = [...Object.entries(verdicts), ...Object.entries(statusDetailCodes)];
  for (const [code, { title, advice, fixedBy }] of all) {
    expect([code, problemsOf(title)]).toEqual([code, []]);
    expect([code, fixedBy !== 'nobody']).toEqual([code, advice !== undefined]);
  }
  const unattended = Object.entries(statusDetailCodes).filter(([, { wantsAttention }]) => !wantsAttention);
  expect(unattended.map(([code]) => code).sort()).toEqual([
    'aborted',
    'agreement',
    'asking',
    'callback_granted',
    'ended',
    'granted',
    'granted_any_origin',
    'granted_by_policy',
    'held_by_budget',
    'interrupted',
    'not_asked_yet',
    'suspended',
  ]);
});

test('the reasons are those that the view of the database can give', () => {
  const folder = new URL('../../prisma/migrations/', import.meta.url);
  const [migration = ''] = readdirSync(folder).filter((name) => name.endsWith('_init'));
  const sql = readFileSync(new URL(`${migration}/migration.sql`, folder), 'utf8');
  const view = /create view subscription_status as([\s\S]*?)end as code/.exec(sql)?.[1] ?? '';
  const given = [...view.matchAll(/then\s+'(\w+)'/g)].map(([, code = '']) => code);
  expect(given.length).toBeGreaterThan(8);
  expect(given.filter((code) => !isStatusDetailCode(code))).toEqual([]);
});

test('no two verdicts say the same', () => {
  for (const language of languages) {
    for (const part of ['title', 'label'] as const) {
      const texts = Object.values(verdicts).map((row) => row[part][language]);
      expect(new Set(texts).size).toBe(texts.length);
    }
  }
});

test('every label fits into a row of a list: five words at most, a text of its own in each language', () => {
  const { waiting, draft, suspendedBy, blocked } = exactLabels;
  const labels = [
    ...[...Object.values(verdicts), ...Object.values(statusDetailCodes)].map(({ label }) => label),
    ...[waiting, draft, suspendedBy.subscriber, suspendedBy.admin, blocked('incident 4711')],
  ];
  const unfit = labels.filter(
    (label) =>
      label.en === label.nl ||
      languages.some((each) => !/^[A-Z]\S*( \S+){0,4}$/.test(label[each]) || /\.$/.test(label[each])),
  );
  expect(unfit).toEqual([]);
  expect(blocked('incident 4711').en).toBe('Blocked: incident 4711');
  expect(blocked('x'.repeat(500)).en).toHaveLength(60);
});

test('a verdict comes with advice if the webhook owner can change something', () => {
  const silent = known.filter((verdict) => verdicts[verdict].advice === undefined);
  expect(silent).toEqual([
    'granted',
    'proxy_unreachable',
    'proxy_authentication',
    'proxy_malformed',
    'proxy_refused',
    'aborted',
    'callback_granted',
    'revoked',
    'interrupted',
    'blocked',
    'held_by_budget',
    'secret_unavailable',
  ]);
});

test('advice mentions a callback only if one was offered', () => {
  const ofCallbacks = ['callback_expired', 'refused_by_owner'];
  const others = known.filter((verdict) => !ofCallbacks.includes(verdict));
  for (const language of languages) {
    const mentioning = (callbackOffered: boolean) =>
      others.filter((verdict) => /callback/i.test(advise(verdict, { origin, callbackOffered }, language) ?? ''));
    expect(mentioning(false)).toEqual([]);
    expect(mentioning(true)).toEqual(['no_consent_headers', 'deadline_exceeded']);
  }
});

test('a description shows the observed value and the origin that asked', () => {
  const facts = { status: 200, allowedOrigin: 'eventgrid.azure.net', origin };
  expect(describeVerdict('origin_mismatch', facts, 'en')).toBe(
    'The webhook allows another origin, not the one that asked. For origin "eventemitter.example.com", ' +
      'it returned status 200, WebHook-Allowed-Origin "eventgrid.azure.net".',
  );
  expect(describeVerdict('origin_mismatch', facts, 'nl')).toBe(
    'De webhook geeft een andere herkomst toestemming, niet de herkomst die erom vroeg. Voor herkomst ' +
      '"eventemitter.example.com" stuurde de webhook dit terug: status 200, WebHook-Allowed-Origin "eventgrid.azure.net".',
  );
  expect(describeVerdict('request_origin_echoed', { origin, requestedOriginEchoed: origin }, 'en')).toContain(
    'it returned WebHook-Request-Origin "eventemitter.example.com".',
  );
});

test('a description without observed values is the title', () => {
  expect(describeVerdict('unsupported', { origin }, 'en')).toBe(verdicts.unsupported.title.en);
});

test('a description without a status shows none', () => {
  expect(describeVerdict('origin_mismatch', { allowedOrigin: 'x', origin }, 'en')).not.toMatch(/status|\d/);
});

test('control, bidirectional and unpaired characters and quotes are shown as escapes', () => {
  const hostile = 'a\r\nb\0\u202ec\u2066d\ud800\u2028e\u200b"\\';
  const text = describeVerdict('origin_mismatch', { allowedOrigin: hostile, origin }, 'en');
  expect(text).toContain('"a\\u{d}\\u{a}b\\u{0}\\u{202e}c\\u{2066}d\\u{d800}\\u{2028}e\\u{200b}\\u{22}\\u{5c}"');
});

test('an observed value is truncated to 200 characters, escapes included', () => {
  for (const character of ['x', '\0', '\u{1f600}']) {
    const text = describeVerdict('origin_mismatch', { allowedOrigin: character.repeat(10_000), origin }, 'en');
    const shown = /WebHook-Allowed-Origin "(.*)"\.$/u.exec(text)?.[1];
    expect(shown?.length).toBeLessThanOrEqual(201);
    expect(shown).toMatch(/…$/);
    expect(text).not.toMatch(/\p{Cs}/u);
  }
});
