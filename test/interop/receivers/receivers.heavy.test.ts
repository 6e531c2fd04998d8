import { afterAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { check } from '../../../src/tools/cli/check/check.js';
import { heavyLanguages, startReceivers } from './languages.js';

/** The table of docs/consumers/frameworks.md for what takes minutes to install, or is no package of a language. */
const page = readFileSync(new URL('../../../docs/consumers/frameworks.md', import.meta.url), 'utf8');
const [, section = ''] = page.split('\n### Spring, PHP and Sinatra\n');
const rows = [...(section.split('\n#')[0] ?? '').matchAll(/^\| (.*?) +\| (.*?) +\| `(.*?)` +\| (.*?) +\|$/gm)];
const started = await startReceivers(new Map(), heavyLanguages);
const origin = 'eventemitter.example.com';
const event = '{"specversion":"1.0","id":"1","source":"/a","type":"a","subject":"b"}';
const post = (url: string, headers: Record<string, string>, body = event) =>
  fetch(url, { method: 'POST', headers, body });
const structured = { 'Content-Type': 'application/cloudevents+json' };
const binary = {
  'Content-Type': 'application/json',
  ...{ 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/a', 'ce-type': 'a', 'ce-subject': 'Euro%20%E2%82%AC' },
};
const ask = (url: string) =>
  check(
    {
      url,
      origin,
      requestedRate: 120,
      judgement: 'strict',
      callbackHost: undefined,
      ca: undefined,
      allowedNetworks: [],
      timeoutMs: 60_000,
      userAgent: 'Assent',
    },
    { asked: () => undefined, waits: () => undefined },
  );

afterAll(async () => {
  for (const language of started) if ('stop' in language) await language.stop();
});

describe.each(started)('$name', (language) => {
  if ('missing' in language) {
    test.skip(`not run: ${language.missing}`, () => undefined);
    return;
  }
  const { plain, advised, source } = language;

  test.each(Object.keys(plain))('%s answers what the table says, and consents with the advice', async (name) => {
    const [, , answer = '', verdict = '', advice = ''] = rows.find((row) => row[1] === name) ?? [];
    const url = plain[name]!;
    expect((await post(url, structured)).ok).toBe(true);
    const { status, headers } = await fetch(url, { method: 'OPTIONS', headers: { 'WebHook-Request-Origin': origin } });
    const allow = headers.get('allow')?.split(/, */).sort().join(', ');
    expect([String(status), ...(allow ? [`\`Allow: ${allow}\``] : [])].join(', ')).toBe(answer);
    expect(await ask(url)).toMatchObject({ verdict });

    expect(await ask(advised[name]!)).toMatchObject({ outcome: 'consent', allowedRate: 120 });
    const stranger = { 'WebHook-Request-Origin': `${origin}.attacker.test` };
    const refused = await fetch(advised[name]!, { method: 'OPTIONS', headers: stranger });
    expect(refused.headers.has('webhook-allowed-origin')).toBe(false);
    expect((await post(advised[name]!, structured)).ok).toBe(true);
    for (const [, code] of advice.matchAll(/`([^`]+)`/g)) expect(source).toContain(code);
  });

  if (language.name !== 'Spring') return;
  test('the CloudEvents converter returns 500 and an encoded subject, and neither with the advice', async () => {
    const name = 'Spring with the CloudEvents converter';
    const text = { 'Content-Type': 'text/html' };
    const ways = [plain[name]!, advised[name]!];
    expect(await Promise.all(ways.map(async (url) => (await post(url, text)).status))).toEqual([500, 404]);
    expect(await Promise.all(ways.map(async (url) => (await post(url, binary, '{}')).text()))).toEqual([
      'Euro%20%E2%82%AC',
      'Euro €',
    ]);
    const shown = page.split('```java spring\n')[1]?.split('```')[0] ?? 'nothing';
    const flat = (code: string) => code.replaceAll(/\s+/g, ' ');
    expect(flat(source)).toContain(flat(shown));
    const [, said = ''] = section.split('`CloudEventHttpMessageConverter`');
    for (const [, code] of (said.split('\n#')[0] ?? '').matchAll(/`((?:consumes|headers|UriUtils)[^`]*)`/g)) {
      expect(source).toContain(code);
    }
  });
});
