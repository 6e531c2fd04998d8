import { afterEach, expect, test } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { listen, type ListenSettings } from '../../../src/tools/cli/check/listen.js';
import type { TestWebhook } from '../../../src/tools/cli/try/webhook.js';
import { startProgram } from '../../support/process.js';
import { until } from '../../support/until.js';

const origin = 'eventemitter.example.com';
const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.made' };
const ends: Array<() => unknown> = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(settings: Partial<ListenSettings> = {}) {
  const shown = { text: '' };
  const webhook: TestWebhook = await listen({
    port: 0,
    certificate: undefined,
    forward: undefined,
    origin: undefined,
    rate: 120,
    write: (lines) => void (shown.text += lines.map((line) => `${line}\n`).join('')),
    ...settings,
  });
  ends.push(webhook.stop);
  return { url: `http://127.0.0.1:${webhook.port}`, shown };
}

/** The application under development. */
async function startApplication(listener: RequestListener): Promise<URL> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const handshake = { method: 'OPTIONS', headers: { 'WebHook-Request-Origin': origin, 'WebHook-Request-Rate': '60' } };
const post = (headers: Record<string, string>, body: unknown) => ({
  method: 'POST',
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

test('it consents to each origin that asks, or to the named one, and shows the verdict', async () => {
  const open = await start();
  const { status, headers } = await fetch(`${open.url}/any/path`, handshake);
  expect([status, headers.get('webhook-allowed-origin'), headers.get('webhook-allowed-rate')]).toEqual([
    204,
    origin,
    '120',
  ]);
  await until(() => open.shown.text.includes('\nHandshake: granted. '));
  expect(open.shown.text).toContain('> OPTIONS /any/path HTTP/1.1\n');

  const named = await start({ origin: 'other.example.com', rate: '*' });
  expect((await fetch(named.url, handshake)).headers.get('webhook-allowed-origin')).toBe(null);
  await until(() => named.shown.text.includes('\nHandshake: allow_only. '));
  expect((await fetch(named.url, { method: 'OPTIONS' })).headers.get('webhook-allowed-rate')).toBe(null);
  await until(() => named.shown.text.includes('No handshake: '));
});

test('it shows events of every content mode, and names the faults of the others', async () => {
  const { url, shown } = await start();
  const statusOf = async (headers: Record<string, string>, body: unknown) =>
    (await fetch(url, post(headers, body))).status;
  const structured = { 'Content-Type': 'application/cloudevents+json' };
  expect(await statusOf(structured, event)).toBe(204);
  expect(await statusOf({ 'Content-Type': 'application/cloudevents-batch+json' }, [event, { ...event, id: '2' }])).toBe(
    204,
  );
  const binary = Object.entries(event).map(([name, value]) => [`ce-${name}`, value]);
  expect(await statusOf({ ...Object.fromEntries(binary), 'Content-Type': 'text/plain' }, 'data')).toBe(204);
  expect(await statusOf(structured, { ...event, id: '' })).toBe(400);
  expect(await statusOf({ 'Content-Type': 'text/plain' }, 'hello')).toBe(415);
  expect((await fetch(url)).status).toBe(405);
  await until(() => shown.text.includes('405'));
  const named = 'type com.example.made, source urn:example:a, id';
  expect(shown.text).toContain(`Event (structured): ${named} 1\n`);
  expect(shown.text).toContain(`Event (batched): ${named} 1\nEvent (batched): ${named} 2\n`);
  expect(shown.text).toContain(`Event (binary): ${named} 1\n`);
  expect(shown.text).toMatch(/\n {2}fault {4}\/id {2}cloudevents\.not_empty: /);
  expect(shown.text).toMatch(/\nNot an event:\n {2}fault {4}header\/content-type {2}not_an_event: /);
});

test('what is forwarded arrives unchanged, and its response goes back unchanged', async () => {
  const arrived: Array<Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'> & { body: string }> = [];
  const forward = await startApplication((request, response) => {
    void text(request).then((body) => {
      const { method, url, rawHeaders } = request;
      arrived.push({ method, url, rawHeaders, body });
      response.writeHead(202, 'Taken', ['X-Twice', 'a', 'X-Twice', 'b']).end('thanks');
    });
  });
  const { url, shown } = await start({ forward });
  const answer = await fetch(
    `${url}/events?a=%2F`,
    post({ 'Content-Type': 'application/cloudevents+json', 'X-Own': 'é' }, event),
  );
  expect([answer.status, answer.statusText, answer.headers.get('x-twice'), await answer.text()]).toEqual([
    202,
    'Taken',
    'a, b',
    'thanks',
  ]);
  const [got] = arrived;
  expect(got).toMatchObject({ method: 'POST', url: '/events?a=%2F', body: JSON.stringify(event) });
  expect(got?.rawHeaders.join()).toContain('X-Own,é');
  expect(got?.rawHeaders.join()).toContain(new URL(url).host);
  await until(() => shown.text.includes('Event (structured)'));
  expect(shown.text).toContain('< HTTP/1.1 202 Taken\n');
});

test('the verdict on the handshake of the application is shown, with what to change', async () => {
  const forward = await startApplication((_request, response) => void response.writeHead(200, { Allow: 'POST' }).end());
  const { url, shown } = await start({ forward: new URL('/hooks', forward) });
  expect((await fetch(url, handshake)).status).toBe(200);
  await until(() => shown.text.includes('What to change: '));
  expect(shown.text).toContain('\nHandshake: allow_only. ');
});

test('an application that is not there is a 502 that says why', async () => {
  const { url, shown } = await start({ forward: new URL('http://127.0.0.1:1') });
  expect((await fetch(url, handshake)).status).toBe(502);
  await until(() => shown.text.includes('http://127.0.0.1:1 gave no response (ECONNREFUSED).'));
});

test('the command listens, over https too, is checked by `assent check`, and ends cleanly at an interrupt', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'assent-listen-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  const env = { ASSENT_DATA: folder };
  for (const more of [[], ['--https']]) {
    const program = startProgram('tools/cli/assent.js', { env, args: ['listen', '0', ...more] });
    ends.push(() => program.child.kill('SIGKILL'));
    await until(() => program.stdout.includes('assent check '));
    const [, args = ''] = /assent check (.*)\n/.exec(program.stdout) ?? [];
    const check = startProgram('tools/cli/assent.js', { env, args: ['check', ...args.split(' ')] });
    expect([await check.ended, check.stderr]).toEqual([0, '']);
    await until(() => program.stdout.includes('Handshake: granted.'));
    program.child.kill('SIGINT');
    expect([await program.ended, program.stderr]).toEqual([0, '']);
  }
  for (const args of [[], ['port'], ['0', '--rate', '0'], ['0', '--forward', 'localhost'], ['0', '--origin', '*']]) {
    const wrong = startProgram('tools/cli/assent.js', { env, args: ['listen', ...args] });
    expect([args, await wrong.ended, wrong.stdout]).toEqual([args, 2, '']);
  }
});
