import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { startRegistry, type Registry } from '../support/registry.js';
import { createTenant, type Tenant } from '../support/tenant.js';
import { startTlsFront, type TlsFront } from '../support/tls-front.js';
import { until } from '../support/until.js';
import { startReceivers } from './languages.js';

/**
 * Frameworks and SDKs that others wrote, at pinned versions, and the tables of the documentation that say what they
 * answer. A language whose tool or registry is missing on this machine is skipped, with the reason.
 */
const page = readFileSync(new URL('../../docs/consumers/receive.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```\w+ (\w+)\n([\s\S]*?)^```$/gm)];
const languages = await startReceivers(new Map(blocks.map(([, name = '', code = '']) => [name, code])));

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
  const rows = rowsUnder(`Frameworks in ${language.name}`);
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
    // A wrong path would look like a framework without a route for OPTIONS. This one wants headers of Azure.
    if (!name.includes('web-pubsub')) expect(await deliver(address)).toBe(true);

    const { id } = await register('plain', name, address);
    const consents = verdict.includes('granted');
    if (consents) await untilActive(id);
    const [{ attempts }] = await tenant.handshakes(id, tenant.admin);
    const { status, statusdetails } = await tenant.read(id);
    expect(answerOf(attempts[0])).toBe(answer);
    // What comes first, a callback or the answer to the second question, is a matter of luck.
    expect(verdict.split(' or ')).toContain(`\`${statusdetails.reason}\``);
    expect(status).toBe(consents ? 'active' : 'pending');
  });

  test.each(rows.filter(({ verdict }) => !verdict.includes('granted')))(
    '$name consents to the origin that asks, and to no other, with $advice',
    async ({ name, advice }) => {
      const address = advised[name] ?? '';
      const { id, sink } = await register('advised', name, address);
      await untilActive(id);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 120 });
      if (!name.includes('web-pubsub')) expect(await deliver(address)).toBe(true);

      const stranger = `${tenant.origin}.attacker.test`;
      const { headers } = await fetch(address, { method: 'OPTIONS', headers: { 'WebHook-Request-Origin': stranger } });
      expect(['*', stranger]).not.toContain(headers.get('webhook-allowed-origin'));
      for (const [, code] of advice.matchAll(/`([^`]+)`/g)) expect(source).toContain(code);
    },
  );
});

async function deliver(address: string): Promise<boolean> {
  const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.made' };
  const headers = { 'Content-Type': 'application/cloudevents+json' };
  return (await fetch(address, { method: 'POST', headers, body: JSON.stringify(event) })).ok;
}

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
function answerOf({ status, answer }: { status: number; answer: Array<{ name: string; value: string }> }): string {
  const told = answer.flatMap(({ name, value }) => {
    if (/^access-control-/i.test(name)) return ['`Access-Control-*`'];
    if (/^allow$/i.test(name)) return [`\`Allow: ${value.split(/, */).sort().join(', ')}\``];
    return /^webhook-/i.test(name) ? [`\`${name}: ${value}\``] : [];
  });
  return [String(status), ...new Set(told)].join(', ');
}
