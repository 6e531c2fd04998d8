import { expect, test } from '@jest/globals';
import { advise, describe as describeVerdict, verdicts, warnings, type Verdict } from '../../src/handshake/verdicts.js';

const origin = 'eventemitter.example.com';

test('every verdict says what happened in one sentence, and its advice is one sentence or nothing', () => {
  for (const [verdict, { title, advice }] of Object.entries(verdicts)) {
    expect([verdict, title]).toEqual([verdict, expect.stringMatching(/^[A-Z].*\.$/)]);
    expect([verdict, advice]).toEqual([verdict, expect.stringMatching(/^(?:[A-Z].*\.)?$/)]);
    expect([verdict, `${title}${advice}`]).toEqual([verdict, expect.not.stringMatching(/[.!?] [A-Z]/)]);
  }
});

test('every warning is one sentence', () => {
  for (const sentence of Object.values(warnings)) expect(sentence).toMatch(/^[A-Z].*\.$/);
});

test('no two verdicts say the same', () => {
  const titles = Object.values(verdicts).map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
});

test('whatever the owner of the target can change comes with advice', () => {
  const silent = Object.keys(verdicts).filter((verdict) => verdicts[verdict as Verdict].advice === '');
  expect(silent).toEqual(['granted', 'aborted', 'callback_granted', 'revoked', 'interrupted', 'held_by_budget']);
});

test('advice mentions a callback only where one was offered', () => {
  const ofCallbacks = ['callback_expired', 'refused_by_owner'];
  const known = (Object.keys(verdicts) as Verdict[]).filter((verdict) => !ofCallbacks.includes(verdict));
  expect(known.filter((verdict) => /callback/i.test(advise(verdict, { origin })))).toEqual([]);
  const mentioning = known.filter((verdict) => /callback/i.test(advise(verdict, { origin, callbackOffered: true })));
  expect(mentioning).toEqual(['no_consent_headers', 'deadline_exceeded']);
});

test('a description shows the value that was observed next to the one that was asked for', () => {
  expect(describeVerdict('origin_mismatch', { status: 200, allowedOrigin: 'eventgrid.azure.net', origin })).toBe(
    'The webhook allows another origin than the one that asked. Asked by "eventemitter.example.com", ' +
      'it answered with status 200, WebHook-Allowed-Origin "eventgrid.azure.net".',
  );
  expect(describeVerdict('request_origin_echoed', { origin, requestedOriginEchoed: origin })).toContain(
    'it answered with WebHook-Request-Origin "eventemitter.example.com".',
  );
});

test('a description without observed values is the title', () => {
  expect(describeVerdict('unsupported', { origin })).toBe(verdicts.unsupported.title);
});

test('a description without a status shows none', () => {
  expect(describeVerdict('origin_mismatch', { allowedOrigin: 'x', origin })).not.toMatch(/status|\d/);
});

test('control, bidirectional and unpaired characters and quotes are shown as escapes', () => {
  const hostile = 'a\r\nb\0\u202ec\u2066d\ud800\u2028e\u200b"\\';
  const text = describeVerdict('origin_mismatch', { allowedOrigin: hostile, origin });
  expect(text).toContain('"a\\u{d}\\u{a}b\\u{0}\\u{202e}c\\u{2066}d\\u{d800}\\u{2028}e\\u{200b}\\u{22}\\u{5c}"');
});

test('an observed value is cut after 200 characters, escapes included', () => {
  for (const character of ['x', '\0', '\u{1f600}']) {
    const text = describeVerdict('origin_mismatch', { allowedOrigin: character.repeat(10_000), origin });
    const shown = /WebHook-Allowed-Origin "(.*)"\.$/u.exec(text)?.[1];
    expect(shown?.length).toBeLessThanOrEqual(201);
    expect(shown).toMatch(/…$/);
    expect(text).not.toMatch(/\p{Cs}/u);
  }
});
