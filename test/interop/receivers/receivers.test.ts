import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { createGuardedClient } from '../../../src/kits/guard/index.js';
import { check } from '../../../src/tools/cli/check/check.js';
import type { CaseResult } from '../../../src/tools/conformance/case.js';
import { judgeReceiver } from '../../support/judge-receiver.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { startTlsFront, type TlsFront } from '../../support/tls-front.js';
import { until } from '../../support/until.js';
import { startReceivers } from './languages.js';

/**
 * Frameworks and SDKs that others wrote, at pinned versions; the tables of docs/consumers/frameworks.md, which say what they
 * answer; and the table of docs/conformance.md, which says what the conformance kit finds in them, as they come and with the
 * advice. A language whose tool or registry is missing on this machine is skipped, with the reason.
 */
const docs = fileURLToPath(new URL('../../../docs/', import.meta.url));
const read = (name: string) => readFileSync(docs + name, 'utf8');
const page = read('consumers/frameworks.md');
const blocks = [...read('consumers/receive.md').matchAll(/^```\w+ (\w+)\n([\s\S]*?)^```$/gm)];
const languages = await startReceivers(new Map(blocks.map(([, name = '', code = '']) => [name, code])));
const conformancePath = `${docs}conformance.md`;
const conformancePage = read('conformance.md');
const findings = findingsOf(conformancePage.split('\n### Results\n')[1] ?? '');

/** With UPDATE_DOCS=1: the rows that are to be in the table of the conformance kit. */
const found = new Map<string, string>();

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
  if (found.size > 0) await updatePage();
});

describe.each(languages)('$name', (language) => {
  if ('missing' in language) {
    test.skip(`not run: ${language.missing}`, () => undefined);
    return;
  }
  const { plain, advised, source, continuing } = language;
  const rows = rowsUnder(language.heading);
  const register = (setup: string, name: string, address: string) => {
    const host = `${language.name} ${setup} ${name}`.toLowerCase().replace(/\W+/g, '-').replace(/-$/, '');
    return tenant.register(front.sink(`${host}.hooks.test`, address));
  };
  const untilActive = (id: string) => until(async () => (await tenant.read(id)).status === 'active');
  const ofKit = findings.filter(({ runsIn }) => runsIn === language.name);
  const runs = new Map<string, string[]>();

  // Before the tests below have used up rates. They wait most of the time, so they wait together.
  beforeAll(async () => {
    const judge = async ({ name }: { name: string }) =>
      runs.set(name, await Promise.all([judged(plain[name]), judged(advised[name])]));
    await Promise.all(ofKit.map(judge));
  });

  test.each(ofKit)('$name: the conformance kit finds what the table says', ({ name, asItComes, withAdvice }) => {
    const results = runs.get(name);
    if (process.env['UPDATE_DOCS']) found.set(name, `| ${[language.name, name, ...(results ?? [])].join(' | ')} |`);
    else expect(results).toEqual([asItComes, withAdvice]);
  });

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
      // From memory, a moment after the database has it.
      await until(async () => (await tenant.permission(sink)).allowed);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 120 });
      if (!name.includes('web-pubsub') && name !== '`basicauth`') expect(await deliver(address)).toBe(true);
      expect(await ask(address, tenant.origin)).toMatchObject({ outcome: 'consent', allowedRate: 120 });

      const stranger = `${tenant.origin}.attacker.test`;
      const { headers } = await fetch(address, { method: 'OPTIONS', headers: { 'WebHook-Request-Origin': stranger } });
      expect(['*', stranger]).not.toContain(headers.get('webhook-allowed-origin'));
      for (const [, code] of advice.matchAll(/`([^`]+)`/g)) expect(source).toContain(code);
    },
  );

  if (continuing !== undefined) {
    test('a server that sends 100 (Continue) unasked consents, and each delivery to it counts as received', async () => {
      const { id, sink } = await register('continuing', 'server', continuing);
      await untilActive(id);
      const sinkCa = readFileSync(front.env.ASSENT_SINK_CA_FILE, 'utf8');
      const { ASSENT_DNS_SERVERS: dns = '' } = registry.env;
      const sinkPorts = [Number(new URL(sink).port)];
      const sender = createGuardedClient({ allowedNetworks: ['127.0.0.1/32'], sinkPorts, sinkCa, dnsServers: [dns] });
      for (const body of ['one', 'two']) {
        const reply = await sender.post({ url: sink, headers: { 'Content-Type': 'text/plain' }, body });
        expect([202, 204]).toContain('status' in reply ? reply.status : reply.detail);
      }
      sender.close();
    });
  }

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
      // Some were sent before, by the conformance kit too, and the bucket of nginx leaks.
      expect(accepted).toBeGreaterThan(100);
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

/** The cases of the conformance kit that fail, and how many pass. */
async function judged(sink: string | undefined): Promise<string> {
  if (sink === undefined) return '-';
  // A receiver that keeps its headers back and never calls waits for it. The Go SDK calls at once.
  const results = await judgeReceiver(sink, { callMs: 5_000, quietMs: 1_000 });
  const failed = (level: CaseResult['level']) =>
    results.filter((each) => each.level === level && each.outcome === 'failed').map(({ id }) => id);
  const passed = results.filter(({ outcome }) => outcome === 'passed').length;
  const must = failed('must');
  const should = failed('should');
  return [
    `${passed}`,
    ...(must.length > 0 ? [`${must.join(', ')} fail`] : []),
    ...(should.length > 0 ? [`advice: ${should.join(', ')}`] : []),
  ].join('; ');
}

async function updatePage(): Promise<void> {
  const lines = conformancePage
    .split('\n')
    .map((line) => found.get(/^\| .*? \| (.*?) +\| /.exec(line)?.[1] ?? '') ?? line);
  const options = { ...(await resolveConfig(conformancePath)), filepath: conformancePath };
  await writeFile(conformancePath, await format(lines.join('\n'), options));
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
  return cellsOf(section).map(([name = '', answer = '', verdict = '', advice = '']) => {
    return { name, answer, verdict, advice };
  });
}

function findingsOf(section: string) {
  return cellsOf(section).map(([runsIn = '', name = '', asItComes = '', withAdvice = '']) => {
    return { runsIn, name, asItComes, withAdvice };
  });
}

/** Of the first table. */
function cellsOf(section: string): string[][] {
  const lines = (section.split('\n#')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
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
