import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createToken } from '../../src/cli/create-token.js';
import { startRegistry, type Registry } from '../support/registry.js';
import { createTenant, type Tenant } from '../support/tenant.js';
import { startAhead } from '../support/turn-clock.js';

/** The sender of the README, run as it is printed, as a program of somebody who has installed the package. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const program = /^```js sender\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';
let registry: Registry;
let tenant: Tenant;
let folder: string;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  folder = await mkdtemp(join(tmpdir(), 'assent-example-'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules', 'assent'));
  await writeFile(join(folder, 'sender.mjs'), program);
});
afterAll(async () => {
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Received {
  at: number;
  headers: IncomingMessage['headers'];
  event: { id: string };
}

/** A webhook that wants this type at this rate; `answers` are its first answers, later ones are 204. */
async function newWebhook(
  path: string,
  rate: string,
  type: string,
  { answers = [], more = {} }: { answers?: Array<[number, object]>; more?: object } = {},
) {
  const received: Received[] = [];
  registry.receiver.consent(path, { rate });
  const sink = registry.receiver.sink(path);
  const { id } = await tenant.register(sink, { types: [type], ...more });
  registry.receiver.on(path, async (request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ at, headers: request.headers, event: JSON.parse(Buffer.concat(chunks).toString()) });
    const [status, headers] = answers.shift() ?? [204, {}];
    response.writeHead(status, { ...headers }).end();
  });
  return { id: id as string, sink, received };
}

const scopes = ['assent:deliver' as const, 'assent:credentials' as const];

/** The program with these events as its input, until it has ended. */
async function run(events: object[], env: Record<string, string> = {}, options: string[] = []) {
  const child = spawn(process.execPath, [...options, 'sender.mjs'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      REGISTRY: registry.url,
      TOKEN: await createToken({ tenant: 'gemeente', subscriber: 'mailroom', scopes, minutes: 5 }, registry.env),
      NODE_EXTRA_CA_CERTS: registry.env['ASSENT_SINK_CA_FILE'],
      DOOR: JSON.stringify({ allowedNetworks: ['127.0.0.0/8'], sinkPorts: [registry.receiver.port] }),
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [output, complaints] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  child.stdin.end(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output, complaints };
}

const eventOf = (id: string, type: string) => ({ specversion: '1.0', id, source: 'urn:example:a', type });

test('the sender of the README has at most 25 lines', () => {
  expect(program).toContain("from 'assent/sender'");
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(25);
});

test('it delivers to those who want it and agreed, once, not faster than they said, and waits where it is asked to', async () => {
  const limited = await newWebhook('/limited', '30', 'com.example.many');
  const sinkcredential = {
    credentialtype: 'ACCESSTOKEN',
    accesstoken: 'a-token-of-the-webhook',
    accesstokenexpiresutc: '2099-01-01T00:00:00Z',
  };
  const unlimited = await newWebhook('/unlimited', '*', 'com.example.many', { more: { sinkcredential } });
  const tired = await newWebhook('/tired', '*', 'com.example.one', { answers: [[429, { 'Retry-After': '2' }]] });
  const failing = await newWebhook('/failing', '*', 'com.example.one', { answers: [[500, { 'Retry-After': '1' }]] });
  const protocolsettings = { contentmode: 'binary', headers: { 'X-Team': 'orders' } };
  const binary = await newWebhook('/binary', '*', 'com.example.data', { more: { protocolsettings } });
  const revoked = await newWebhook('/revoked', '*', 'com.example.many');
  await tenant.revoke(revoked.sink);
  const events = [
    ...Array.from({ length: 7 }, (_, number) => eventOf(String(number), 'com.example.many')),
    eventOf('one', 'com.example.one'),
    { ...eventOf('data', 'com.example.data'), data: { id: 'inside' } },
  ];

  const { code, output, complaints } = await run(events, { FOLDER: join(folder, 'replica') });
  expect({ code, complaints }).toEqual({ code: 0, complaints: '' });

  const ids = ({ received }: { received: Received[] }) => received.map(({ event }) => event.id).sort();
  expect(ids(limited)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  expect(ids(unlimited)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  expect(ids(tired)).toEqual(['one', 'one']);
  expect(ids(failing)).toEqual(['one', 'one']);
  expect(binary.received).toMatchObject([
    {
      headers: { 'ce-id': 'data', 'content-type': 'application/json', 'x-team': 'orders' },
      event: { id: 'inside' },
    },
  ]);
  expect(revoked.received).toEqual([]);
  expect(output.match(/ delivered$/gm)).toHaveLength(17);
  for (const { headers } of [...limited.received, ...unlimited.received, ...tired.received]) {
    expect(headers).toMatchObject({
      'webhook-request-origin': tenant.origin,
      'content-type': 'application/cloudevents+json; charset=utf-8',
    });
  }
  for (const { headers } of unlimited.received) expect(headers.authorization).toBe('Bearer a-token-of-the-webhook');
  for (const { headers } of limited.received) expect(headers.authorization).toBeUndefined();
  expect(await readFile(join(folder, 'replica', 'replica.jsonl'), 'utf8')).not.toContain('a-token-of-the-webhook');
  // Thirty a minute: two at once to begin with, and then one in two seconds.
  const [first, last] = [limited.received.at(0)?.at ?? 0, limited.received.at(-1)?.at ?? 0];
  expect(last - first).toBeGreaterThan(8_000);
  const [asked, again] = tired.received.map(({ at }) => at);
  expect((again ?? 0) - (asked ?? 0)).toBeGreaterThan(1_900);
  const [failed, tried] = failing.received.map(({ at }) => at);
  expect((tried ?? 0) - (failed ?? 0)).toBeGreaterThan(450);
  // What became of it is known.
  const { body } = await tenant.admin.get(`/v1/subscriptions/${tired.id}/deliveries`).expect(200);
  expect(body.counts).toEqual({ delivered: 1, throttled: 1 });
});

test('it waits for the end of a hold although its clock is ahead', async () => {
  const tired = await newWebhook('/ahead', '*', 'com.example.ahead', { answers: [[429, { 'Retry-After': '3' }]] });
  const { output } = await run([eventOf('ahead', 'com.example.ahead')], {}, [startAhead(3_600_000)]);
  expect(output).toBe(`${tired.sink} delivered\n`);
  expect(tired.received).toHaveLength(2);
});

test('what a webhook answers at length keeps no connection', async () => {
  const { sink } = await newWebhook('/wordy', '*', 'com.example.wordy');
  const isOver: boolean[] = [];
  let earlier: ServerResponse | undefined;
  registry.receiver.on('/wordy', (_, response: ServerResponse) => {
    if (earlier !== undefined) isOver.push(earlier.closed);
    earlier = response;
    response.writeHead(isOver.length < 1 ? 500 : 200).end(Buffer.alloc(64 * 1_048_576));
  });
  const { output } = await run([eventOf('wordy', 'com.example.wordy')]);
  expect(output).toBe(`${sink} delivered\n`);
  expect(isOver).toEqual([true]);
});
