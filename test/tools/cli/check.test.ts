import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, type CheckSettings, type Observer } from '../../../src/tools/cli/check/check.js';
import { attemptLines, reportJson, reportLines } from '../../../src/tools/cli/check/show-check.js';
import { listen } from '../../../src/tools/cli/check/listen.js';
import { makeSigningKey } from '../../../src/tools/conformance/signing-key.js';
import { until } from '../../support/until.js';
import { freePort } from '../../support/postgres.mjs';
import { startProgram } from '../../support/process.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';

const origin = 'eventemitter.example.com';
let application: Server;
let address: string;
let behave: (request: IncomingMessage, response: ServerResponse) => unknown;
let asked: IncomingMessage[] = [];
let secure: Receiver;
let folder: string;

beforeAll(async () => {
  application = createServer((request, response) => {
    asked.push(request);
    void behave(request, response);
  });
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  address = `http://localhost:${(application.address() as AddressInfo).port}`;
  secure = await startReceiver();
  folder = await mkdtemp(join(tmpdir(), 'assent-check-'));
  await writeFile(join(folder, 'ca.pem'), secure.ca);
});
afterEach(() => {
  asked = [];
});
afterAll(async () => {
  application.closeAllConnections();
  application.close();
  await secure.stop();
  await rm(folder, { recursive: true });
});

const usual = {
  origin,
  requestedRate: 120,
  judgement: 'strict',
  callbackHost: undefined,
  ca: undefined,
  allowedNetworks: [],
  timeoutMs: 60_000,
  userAgent: 'Assent/test',
} as const satisfies Omit<CheckSettings, 'url'>;
const silent: Observer = { asked: () => undefined, waits: () => undefined };
const ask = (path: string, settings: Partial<CheckSettings> = {}, observer: Partial<Observer> = {}) =>
  check({ ...usual, url: `${address}${path}`, ...settings }, { ...silent, ...observer });
const callbackOf = ({ headers }: IncomingMessage) => headers['webhook-request-callback'] as string | undefined;
const consent = { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '100' };

describe('the question', () => {
  test('has the headers of a registry, and none about a rate if none is wanted', async () => {
    behave = (_request, response) => response.writeHead(204, consent).end();
    await ask('/events?a=b');
    await ask('/events', { requestedRate: undefined });
    const [first, second] = asked.map(({ headers }) => headers);
    expect(asked[0]).toMatchObject({ method: 'OPTIONS', url: '/events?a=b' });
    expect(first).toMatchObject({ 'webhook-request-origin': origin, 'webhook-request-rate': '120' });
    expect(first?.['user-agent']).toBe('Assent/test');
    expect(first?.['webhook-request-callback']).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/v1\/callbacks\/[0-9a-f-]{36}\?key=[\w-]{43}$/,
    );
    expect(second).not.toHaveProperty('webhook-request-rate');
  });

  test('is signed with the key that is given, which a webhook can check', async () => {
    const signing = await makeSigningKey();
    const shown: string[] = [];
    const webhook = await listen({
      port: 0,
      certificate: undefined,
      forward: undefined,
      origin: undefined,
      rate: 120,
      keys: [signing.public],
      write: (lines) => void shown.push(...lines),
    });
    const url = `http://localhost:${webhook.port}/events`;
    const report = await ask('', { url, signing });
    await ask('', { url, signing: await makeSigningKey() });
    await ask('', { url });
    await webhook.stop();
    await until(async () => shown.filter((line) => line.startsWith('Signature: ')).length === 3);
    expect(shown.filter((line) => line.startsWith('Signature: '))).toEqual([
      `Signature: valid, by ${signing.public.kid}.`,
      expect.stringMatching('^Signature: key_unknown'),
      expect.stringMatching('^Signature: signature_missing'),
    ]);
    const names = report.attempts[0]!.request.headers.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['Signature-Agent', 'Signature-Input', 'Signature']));
  });

  test('is asked once more without the callback if the first response has no WebHook header', async () => {
    behave = (request, response) => response.writeHead(204, callbackOf(request) === undefined ? consent : {}).end();
    expect(await ask('/events')).toMatchObject({ outcome: 'consent', verdict: 'granted', allowedRate: 100 });
    expect(asked.map((request) => callbackOf(request) !== undefined)).toEqual([true, false]);
  });

  test('never leads to another address', async () => {
    behave = (request, response) =>
      request.url === '/events'
        ? response.writeHead(307, { Location: '/other' }).end()
        : response.writeHead(204, consent).end();
    expect(await ask('/events')).toMatchObject({ outcome: 'none', verdict: 'redirected' });
    expect(asked).toHaveLength(1);
  });
});

describe('the verdict', () => {
  test.each([
    [204, {}, 'no_consent_headers'],
    [200, { Allow: 'POST' }, 'allow_only'],
    [405, {}, 'unsupported'],
    [200, { ...consent, 'WebHook-Allowed-Origin': `${origin}.attacker.test` }, 'origin_mismatch'],
    [200, { ...consent, 'WebHook-Allowed-Rate': '10/s' }, 'rate_malformed'],
    [429, consent, 'throttled'],
    [410, consent, 'gone'],
  ])('of status %i with %o is that of the registry, with its advice', async (status, headers, verdict) => {
    behave = (_request, response) => response.writeHead(status, headers as Record<string, string>).end();
    const report = await ask('/events', { timeoutMs: 500 });
    expect(report).toMatchObject({ outcome: 'none', verdict });
    expect(reportLines(report).join('\n')).toContain(`What to change: ${report.advice}`);
  });

  test('by the lenient policy accepts a list, with the warning', async () => {
    behave = (_request, response) =>
      response.writeHead(200, { ...consent, 'WebHook-Allowed-Origin': `a.example.com, ${origin}` }).end();
    expect(await ask('/events')).toMatchObject({ verdict: 'origin_repeated' });
    const lenient = await ask('/events', { judgement: 'lenient' });
    expect(lenient).toMatchObject({ outcome: 'consent', tolerated: ['origin_in_list'] });
  });

  test('on a port that nothing listens on is that there is no response', async () => {
    const report = await ask('', { url: `http://localhost:${await freePort()}` });
    expect(report).toMatchObject({ outcome: 'unreachable', verdict: 'connection_refused' });
  });
});

describe('the callback', () => {
  const later = (send: (callback: string) => Promise<unknown>) => {
    let calls: Promise<unknown> | undefined;
    behave = (request, response) => {
      const callback = callbackOf(request);
      response.writeHead(204).end();
      if (callback !== undefined) calls = send(callback);
    };
    return () => calls;
  };
  const post = async (callback: string, headers: Record<string, string> = {}, body = '') =>
    (await fetch(callback, { method: 'POST', headers, body })).status;

  test('gives consent at its rate, after the response', async () => {
    const { promise: waiting, resolve } = withResolver();
    later(async (callback) => {
      await waiting;
      await post(callback, { 'WebHook-Allowed-Rate': '30' });
    });
    const report = await ask('/events', {}, { waits: resolve });
    expect(report).toMatchObject({ outcome: 'consent', verdict: 'callback_granted', allowedRate: 30 });
    expect(report.callbacks).toMatchObject([{ method: 'POST', status: 200 }]);
  });

  test('counts before the response, and is the end of it', async () => {
    behave = async (request, response) => {
      await fetch(callbackOf(request) ?? '');
      response.writeHead(204).end();
    };
    expect(await ask('/events')).toMatchObject({ verdict: 'callback_granted', allowedRate: 120 });
    expect(asked).toHaveLength(1);
  });

  test('with a malformed rate or another origin gives none, and is explained; one without them then does', async () => {
    const calls = later(async (callback) => [
      await post(callback, { 'WebHook-Allowed-Rate': '10/s' }),
      await post(callback, { 'WebHook-Allowed-Origin': 'other.example.com' }),
      await post(`${callback}x`),
      (await fetch(callback, { method: 'HEAD' })).status,
      (await fetch(callback, { headers: { Accept: 'text/html' } })).status,
      await post(callback),
      await post(callback, { 'WebHook-Allowed-Rate': '7' }),
    ]);
    const report = await ask('/events');
    expect(await calls()?.catch(() => 'closed')).toEqual(expect.anything());
    expect(report).toMatchObject({ verdict: 'callback_granted', allowedRate: 120 });
    const statuses = report.callbacks.map(({ status, rejected }) => [status, rejected?.code]);
    expect(statuses.slice(0, 6)).toEqual([
      [400, 'rate_malformed'],
      [400, 'origin_mismatch'],
      [404, undefined],
      [405, undefined],
      [200, undefined],
      [200, undefined],
    ]);
    expect(reportLines(report).join('\n')).toContain('A callback sent WebHook-Allowed-Rate "10/s"');
  });

  test('can refuse on its page, which has its style, and what the page loads is no call', async () => {
    const loaded: number[] = [];
    later(async (callback) => {
      const page = await (await fetch(callback, { headers: { Accept: 'text/html' } })).text();
      for (const [, address = ''] of page.matchAll(/"((?:\.\.\/)+assets\/[\w.-]+)"/g)) {
        loaded.push((await fetch(new URL(address, callback))).status);
      }
      await post(callback, { 'Content-Type': 'application/x-www-form-urlencoded' }, 'decision=refuse');
    });
    const report = await ask('/events');
    expect(report).toMatchObject({ outcome: 'none', verdict: 'refused_by_owner' });
    expect(loaded.length).toBeGreaterThan(3);
    expect(new Set(loaded)).toEqual(new Set([200]));
    expect(report.callbacks.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  test('that never comes leaves the verdict of the response, and says how long a registry waits', async () => {
    later(async () => undefined);
    const report = await ask('/events', { timeoutMs: 300 });
    expect(report).toMatchObject({ outcome: 'none', verdict: 'no_consent_headers' });
    expect(report.notes.join()).toContain('No callback arrived within 0.3 s.');
  });

  test('has a key that is never printed, even if the webhook writes it back', async () => {
    let key = '';
    behave = (request, response) => {
      key ||= callbackOf(request)?.split('key=')[1] ?? '';
      response.writeHead(204, { 'X-Echo': key.toUpperCase(), ...consent }).end();
    };
    const report = await ask('/events');
    expect(key).toHaveLength(43);
    const shown = `${reportJson(report)}${reportLines(report).join('')}`.toLowerCase();
    expect(shown).not.toContain(key.toLowerCase());
    expect(shown).toContain('key=[secret]');
  });
});

describe('the URL', () => {
  test('is asked over https with the given authority only', async () => {
    secure.consent('/events');
    const url = secure.sink('/events');
    const untrusted = await ask('', { url });
    expect(untrusted).toMatchObject({ outcome: 'unreachable', verdict: 'certificate_invalid' });
    expect(JSON.parse(reportJson(untrusted))).toMatchObject({
      attempts: [{ evidence: expect.stringMatching(/^UNABLE_TO_VERIFY_LEAF_SIGNATURE \(/), fixedby: 'network' }],
    });
    expect(untrusted.message).toContain('sent its certificate alone');
    expect(attemptLines(untrusted.attempts[0]!).join('\n')).toMatch(/Evidence: .*issuer CN=.*valid from 20/);
    expect(await ask('', { url, ca: secure.ca })).toMatchObject({ outcome: 'consent' });
  });

  test('of another machine gets a callback URL only if it is said where that reaches this one', async () => {
    let offered: string | undefined;
    secure.on('/later', async (request, response) => {
      offered = callbackOf(request);
      if (offered !== undefined) await fetch(offered, { method: 'POST' });
      response.writeHead(204).end();
    });
    const port = await freePort();
    const url = secure.sink('/later');
    const settings = { url, ca: secure.ca, callbackHost: { host: 'localhost', port } };
    expect(await ask('', settings)).toMatchObject({ verdict: 'callback_granted' });
    expect(offered).toMatch(new RegExp(`^http://localhost:${port}/v1/callbacks/`));
    const taken = { ...settings, callbackHost: { host: 'localhost', port: secure.port } };
    await expect(ask('', taken)).rejects.toThrow('nothing can listen on port');
    // It is this machine, but no name or address of loopback.
    const away = await ask('', { url: `https://0.0.0.0:${port}/`, allowedNetworks: ['0.0.0.0/32'] });
    expect(away).toMatchObject({ outcome: 'unreachable', attempts: [{ callbackOffered: false }] });
    expect(away.notes.join()).toContain('--callback-host');
  });

  test.each([
    ['http://webhook.example.com/', 'must be an https URL'],
    ['https://10.1.2.3/', 'must name its host'],
    ['https://webhook.example.com:9000/', 'port'],
    ['https://webhook.example.com/a#b', 'fragment'],
    ['nonsense', 'not an absolute URL'],
  ])('%s is wrong usage, with the words of the registry', async (url, words) => {
    await expect(ask('', { url })).rejects.toThrow(words);
  });
});

test('the command prints the exchange or JSON, and its exit code is the result', async () => {
  behave = (request, response) => response.writeHead(204, request.url === '/events' ? consent : {}).end();
  secure.consent('/events');
  const run = async (...args: string[]) => {
    const program = startProgram('tools/cli/assent.js', { env: {}, args: ['check', ...args] });
    return { code: await program.ended, stdout: program.stdout, stderr: program.stderr };
  };
  const good = await run(`${address}/events`);
  expect(good).toMatchObject({ code: 0, stderr: '' });
  expect(good.stdout).toContain('  > OPTIONS /events HTTP/1.1\n');
  expect(good.stdout).toContain(`  < WebHook-Allowed-Origin: ${origin}\n`);
  expect(good.stdout).toContain('\nConsent (granted, 100 requests per minute)\n');
  expect(good.stdout).toContain('A registry asks https only.');

  const none = await run(`${address}/none`, '--json', '--timeout', '3');
  expect(none).toMatchObject({ code: 1, stderr: '' });
  expect(JSON.parse(none.stdout)).toMatchObject({
    outcome: 'none',
    verdict: 'no_consent_headers',
    attempts: [{ statuscode: 204 }, { statuscode: 204 }],
  });
  const local = await run(secure.sink('/events'), '--ca', join(folder, 'ca.pem'), '--rate', 'none');
  expect(local).toMatchObject({ code: 0, stderr: '' });

  const closed = await run(`http://localhost:${await freePort()}/`);
  expect(closed.code).toBe(3);
  for (const args of [
    [],
    ['a', 'b'],
    ['ftp://a.example/'],
    [`${address}/events`, '--rate', '0'],
    [address, '--ca', folder],
  ]) {
    const wrong = await run(...args);
    expect([args, wrong.code, wrong.stdout]).toEqual([args, 2, '']);
    expect(wrong.stderr).not.toBe('');
  }
});

function withResolver() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
