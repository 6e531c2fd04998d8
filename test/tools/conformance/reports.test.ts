import { expect, test } from '@jest/globals';
import { exitCodeOfReport, readBaseline } from '../../../src/tools/conformance/baseline.js';
import { selectCases } from '../../../src/tools/conformance/cases.js';
import type { CaseResult, Report } from '../../../src/tools/conformance/case.js';
import { formats, parseReport } from '../../../src/tools/conformance/formats.js';

const hostile = `<b title='x'>&"</b> | _a_ \u0000`;
const evidence = [{ asked: `OPTIONS /${hostile} HTTP/1.1`, answered: undefined }];

function reportOf(outcomes: Record<string, CaseResult['outcome']>, baseline: string[] = []): Report {
  const results = selectCases('receiver', Object.keys(outcomes), 'info').map((each) => {
    const outcome = outcomes[each.id] as CaseResult['outcome'];
    return { ...each, outcome, detail: outcome === 'passed' ? 'As it should.' : hostile, evidence, duration: 5 };
  });
  const startedat = '2026-11-25T10:00:00.000Z';
  const target = `https://webhook.example.com/?a=${hostile}`;
  return {
    side: 'receiver',
    target,
    profile: 'cloudevents',
    startedat,
    duration: 10,
    version: '0.1.0',
    baseline,
    results,
  };
}

test.each([
  ['every MUST holds', { R01: 'passed', R02: 'passed' }, [], 0],
  ['a SHOULD fails', { R01: 'passed', R04: 'failed' }, [], 0],
  ['some MUSTs cannot be evaluated', { R01: 'passed', R22: 'not_evaluable' }, [], 0],
  ['a MUST fails', { R01: 'failed', R02: 'passed' }, [], 1],
  ['exactly the known MUSTs fail', { R01: 'failed', R02: 'passed' }, ['R01'], 0],
  ['another MUST than the known one fails', { R01: 'failed', R02: 'failed' }, ['R01'], 1],
  ['a known failure passes', { R01: 'passed', R02: 'passed' }, ['R01'], 1],
  ['a known failure cannot be evaluated', { R01: 'not_evaluable', R02: 'passed' }, ['R01'], 0],
  ['nothing can be evaluated', { R01: 'not_evaluable', R02: 'not_evaluable' }, [], 3],
] as Array<[string, Record<string, CaseResult['outcome']>, string[], number]>)(
  'if %s, the exit code is right',
  (_, outcomes, baseline, code) => {
    expect(exitCodeOfReport(reportOf(outcomes, baseline))).toBe(code);
  },
);

const silent = { ...reportOf({ R01: 'not_evaluable', R10: 'passed', R12: 'failed' }), consent: 'none' } as const;

test.each<[string, Report, number]>([
  ['no consent was seen', silent, 5],
  ['none was seen in a run of before', { ...silent, expect: 'consent' }, 5],
  ['none is expected', { ...silent, expect: 'refusal' }, 0],
  ['no case asks for one', { ...silent, consent: 'not_asked' }, 0],
  ['one was seen', { ...silent, consent: 'seen' }, 0],
  ['a MUST fails as well', { ...reportOf({ R01: 'failed' }), consent: 'none' }, 1],
  ['it is known that R01 fails', { ...reportOf({ R01: 'failed' }, ['R01']), consent: 'none' }, 0],
  ['nothing can be evaluated', { ...reportOf({ R01: 'not_evaluable' }), consent: 'none' }, 3],
])('if %s, the exit code, the first line and JUnit say so', (_, report, code) => {
  expect(exitCodeOfReport(report)).toBe(code);
  const isSaid = code === 5;
  for (const text of [formats.pretty(report), formats.markdown(report), formats.html(report), formats.junit(report)]) {
    expect(/No consent was seen[^.]*--origin[^.]*--expect refusal/.test(text)).toBe(isSaid);
  }
  expect(formats.pretty(report).startsWith('No consent was seen')).toBe(isSaid);
  const failures = (isSaid ? 1 : 0) + (code === 1 ? 1 : 0);
  expect(formats.junit(report)).toContain(`failures="${failures}"`);
  expect(formats.junit(report).match(/<failure /g) ?? []).toHaveLength(failures);
});

test('a baseline is a list of ids with notes; an unknown id, or one of the other side, is refused', () => {
  expect(readBaseline('receiver', '# known\n\nR03 the proxy adds a unit\r\n  R05\nR05')).toEqual(['R03', 'R05']);
  expect(() => readBaseline('receiver', 'S01')).toThrow(/S01 is not a case of a receiver/);
});

test('a level selects itself and the levels above it', () => {
  const levels = (lowest: 'must' | 'should' | 'info') =>
    new Set(selectCases('receiver', [], lowest).map(({ level }) => level));
  expect([...levels('must')]).toEqual(['must']);
  expect([...levels('should')].sort()).toEqual(['must', 'should']);
  expect(levels('info').size).toBe(3);
});

const mixed = reportOf({ R01: 'failed', R02: 'failed', R03: 'passed', R04: 'failed', R22: 'not_evaluable' }, ['R02']);

test('JSON has everything, and becomes every other format later', () => {
  expect(parseReport(formats.json(mixed))).toEqual(mixed);
  expect(() => parseReport('{"results":1}')).toThrow(SyntaxError);
});

test('JUnit has one failure for each MUST that fails a run; everything else is passed or skipped', () => {
  const xml = formats.junit(mixed);
  expect(xml).toContain('<testsuites tests="5" failures="1" errors="0" skipped="3"');
  expect(xml.match(/<failure /g)).toHaveLength(1);
  expect(xml.match(/<skipped /g)).toHaveLength(3);
});

test('what a target sends stays text in every format', () => {
  for (const format of ['junit', 'html'] as const) {
    const text = formats[format](mixed);
    expect(text).not.toContain('<b ');
    expect(text).not.toContain('\u0000');
    expect(text).toContain('&lt;b title=&#39;x&#39;&gt;&amp;&quot;&lt;/b&gt;');
  }
  const rows = formats
    .markdown(mixed)
    .split('\n')
    .filter((line) => line.startsWith('| FAIL'));
  expect(rows).toHaveLength(1);
  expect(rows[0]).toContain("\\<b title='x'\\>&\"\\</b\\> \\| \\_a\\_");
});

test('for terminals, a failure comes with its evidence and a summary names what fails', () => {
  const text = formats.pretty(mixed);
  expect(text).toMatch(/^FAIL {4}R01 {2}MUST/m);
  expect(text).toMatch(/^known {3}R02/m);
  expect(text).toMatch(/^advice {2}R04 {2}SHOULD/m);
  expect(text).toMatch(/^n\/a {5}R22/m);
  expect(text).toContain('> OPTIONS /');
  expect(text).toContain(
    '1 passed, 1 failed, 1 known to fail, 1 with advice, 1 not evaluable.\nThese MUSTs fail: R01.',
  );
});
