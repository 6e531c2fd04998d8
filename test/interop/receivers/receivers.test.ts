import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { check } from '../../../src/tools/cli/check/check.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { startTlsFront, type TlsFront } from '../../support/tls-front.js';
import { until } from '../../support/until.js';
import { startReceivers } from './languages.js';

/**
 * Frameworks and SDKs that others wrote, at pinned versions, and the tables of the documentation that say what they
 * answer. A language whose tool or registry is missing on this machine is skipped, with the reason.
 */
const read = (name: string) => readFileSync(new URL(`../../../docs/consumers/${name}`, import.meta.url), 'utf8');
const page = read('frameworks.md');
const blocks = [...read('receive.md').matchAll(/^```\w+ (\w+)\n([\s\S]*?)^```$/gm)];
const languages = await startReceivers(new Map(blocks.map(([, name = '', code = '']) => [name, code])));

/** The set-ups that run the code of the page, and those of them that count. */
const shownIn: Record<string, string[]> = {
  Go: ['`http.ServeMux`'],
  Python: ['Flask', 'FastAPI', 'Django with `View`'],
  Java: ['JDK `HttpServer`'],
  nginx: ['serving a file'],
  Caddy: ['`reverse_proxy` to an application that returns 404'],
  HAProxy: ['`http-request deny unless METH_POST`'],
};
const countedBy: Record<string, string[]> = { nginx: shownIn['nginx'] ?? [], HAProxy: shownIn['HAProxy'] ?? [] };

let registry: Registry;
let tenant: Tenant;
let front: TlsFront;

beforeAll(async () => {
  front = await startTlsFront('*.hooks.test');
  registry = await startRegistry({ reachable: true, env: front.env });
  tenant = await createTenant(registry);
});
afterAll(async () => {
  for (const language of languages) if ('stop' in language) await language.stop();
  await registry.stop();
  await front.stop();
});

describe.each(languages)('$name', (language) => {
  if ('missing' in language) {
    test.skip(`not run: ${language.missing}`, () => undefined);
    return;
  }
  const { plain, advised, source } = language;
  const rows = rowsUnder(language.heading);
  const register = (setup: string, name: string, address: string) => {
    const host = `${language.name} ${setup} ${name}`.toLowerCase().replace(/\W+/g, '-').replace(/-$/, '');
    return tenant.register(front.sink(`${host}.hooks.test`, address));
  };
  const untilActive = (id: string) => until(async () => (await tenant.read(id)).status === 'active');

  test('the table has every framework that runs here', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(plain).sort());
  });

  test.each(rows)('$name answers $answer, which is $verdict', async ({ name, answer, verdict }) => {
    const address = plain[name] ?? '';
    // A wrong path would look like a framework without a route for OPTIONS.
    if (!takesNoEvents(name)) expect(await deliver(address)).toBe(true);

    const { id } = await register('plain', name, address);
    const consents = verdict.includes('granted');
    if (consents) await untilActive(id);
    const [{ attempts }] = await tenant.handshakes(id, tenant.admin);
    const { status, statusdetails } = await tenant.read(id);
    expect(answerOf(attempts[0])).toBe(answer);
    // What comes first, a callback or the answer to the second question, is a matter of luck.
    expect(verdict.split(' or ')).toContain(`\`${statusdetails.code}\``);
    expect(status).toBe(consents ? 'active' : 'pending');
  });

  test.each(rows.filter(({ verdict }) => !verdict.includes('granted')))(
    '$name consents to the origin that asks, and to no other, with $advice',
    async ({ name, advice }) => {
      const address = advised[name] ?? '';
      const { id, sink } = await register('advised', name, address);
      await untilActive(id);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 120 });
      if (!name.includes('web-pubsub') && name !== '`basicauth`') expect(await deliver(address)).toBe(true);
      expect(await ask(address, tenant.origin)).toMatchObject({ outcome: 'consent', allowedRate: 120 });

      const stranger = `${tenant.origin}.attacker.test`;
      const { headers } = await fetch(address, { method: 'OPTIONS', headers: { 'WebHook-Request-Origin': stranger } });
      expect(['*', stranger]).not.toContain(headers.get('webhook-allowed-origin'));
      for (const [, code] of advice.matchAll(/`([^`]+)`/g)) expect(source).toContain(code);
    },
  );

  for (const name of shownIn[language.name] ?? []) {
    test(`${name}, as shown, returns 405 and 415 as HTTP says`, async () => {
      const address = advised[name] ?? '';
      expect((await fetch(address)).status).toBe(405);
      const text = { method: 'POST', headers: { 'Content-Type': 'text/html' }, body: 'a' };
      expect((await fetch(address, text)).status).toBe(415);
    });
  }

  for (const name of countedBy[language.name] ?? []) {
    test(`${name}, as shown, refuses what is above the rate with Retry-After`, async () => {
      const address = advised[name] ?? '';
      const origin = { 'WebHook-Request-Origin': tenant.origin };
      let accepted = 0;
      let response = await post(address, origin);
      for (; response.ok; accepted += 1) response = await post(address, origin);
      expect([response.status, response.headers.get('retry-after')]).toEqual([
        429,
        expect.stringMatching(/^[1-9]\d*$/),
      ]);
      // A few were sent before, and the bucket of nginx leaks.
      expect(accepted).toBeGreaterThan(110);
      expect((await ask(address, tenant.origin)).outcome).toBe('consent');
    });
  }
});

/** One wants headers of Azure, one serves a file, and one a password. */
const takesNoEvents = (name: string) => /web-pubsub|serving a file|^`basicauth`$/.test(name);

/** As `assent check`, without a registry and over plain http. */
const ask = (address: string, origin: string) =>
  check(
    {
      url: address,
      origin,
      requestedRate: 120,
      judgement: 'strict',
      callbackHost: undefined,
      ca: undefined,
      allowedNetworks: [],
      timeoutMs: 10_000,
      userAgent: 'Assent',
    },
    { asked: () => undefined, waits: () => undefined },
  );

function post(address: string, more: Record<string, string> = {}): Promise<Response> {
  const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.made' };
  const headers = { 'Content-Type': 'application/cloudevents+json', ...more };
  return fetch(address, { method: 'POST', headers, body: JSON.stringify(event) });
}

const deliver = async (address: string): Promise<boolean> => (await post(address)).ok;

interface Row {
  name: string;
  answer: string;
  verdict: string;
  advice: string;
}

/** Those of the table under this heading that no person ran by hand. */
function rowsUnder(heading: string): Row[] {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  const lines = (section.split('\n#')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => {
    const [name = '', answer = '', verdict = '', advice = ''] = line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim());
    return { name, answer, verdict, advice };
  });
}

/** The status and what explains it: of CORS only that it is there, and methods in order, which they differ in. */
function answerOf({
  statuscode,
  response,
}: {
  statuscode: number;
  response: Array<{ name: string; value: string }>;
}): string {
  const told = response.flatMap(({ name, value }) => {
    if (/^access-control-/i.test(name)) return ['`Access-Control-*`'];
    if (/^allow$/i.test(name)) return [`\`Allow: ${value.split(/, */).sort().join(', ')}\``];
    return /^webhook-/i.test(name) ? [`\`${name}: ${value}\``] : [];
  });
  return [String(statuscode), ...new Set(told)].join(', ');
}
