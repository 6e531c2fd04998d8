import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { startGateway, type Gateway } from '../../support/gateway.js';
import { linkKits } from '../../support/link-kits.js';
import { freePort } from '../../support/postgres.mjs';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { startAhead } from '../../support/turn-clock.js';
import { until } from '../../support/until.js';

/**
 * The projects of docs/examples, started with the command of their README. What a machine lacks is skipped, with the
 * reason. Nothing is installed: the packages are those of this repository.
 */
const root = fileURLToPath(new URL('../../..', import.meta.url));
const examples = join(root, 'docs', 'examples');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const isThere = ([command = '', ...args]: string[]) => spawnSync(command, args).status === 0;
const describeIf = (tool: string[]) =>
  isThere(tool)
    ? describe
    : (name: string, tests: () => void) => describe.skip(`${name}: ${tool[0]} is not installed`, tests);

/** The block of an example's README, without what installs packages. */
const command = (example: string, kind = 'start') =>
  (
    new RegExp(`^\`\`\`bash ${kind}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(
      read(`docs/examples/${example}/README.md`),
    )?.[1] ?? ''
  )
    .replace(/^(?:npm run --silent --prefix \S+ pack -- \w+ && )?npm install --silent && (?:\\\n)?/, '')
    .replace('. ../../../.assent/try/env\n', '');

let registry: Registry;
let tenant: Tenant;
/** A copy of docs/examples. */
let folder: string;
/** Where the examples listen here. */
let ports: { express: number; front: number; webhook: number };
const running: ChildProcess[] = [];
const gateways: Gateway[] = [];

beforeAll(async () => {
  ports = { express: await freePort(), front: await freePort(), webhook: await freePort() };
  registry = await startRegistry({ sinkPorts: [ports.express, ports.webhook] });
  tenant = await createTenant(registry);
  folder = await mkdtemp(join(tmpdir(), 'assent-examples-'));
  await cp(examples, folder, { recursive: true, filter: (path) => !path.includes('node_modules') });
  await linkKits(folder);
  for (const name of ['express', 'typescript', '@types', '.bin']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  await writeFile(join(folder, 'cert.pem'), registry.receiver.certificate.cert);
  await writeFile(join(folder, 'key.pem'), registry.receiver.certificate.key);
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop();
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await once(child, 'exit');
  }
});
afterAll(async () => {
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Received {
  at: number;
  headers: IncomingMessage['headers'];
  body: string;
}

interface Wish {
  rate?: string;
  /** Its first responses; later ones are 204. */
  answers?: Array<[number, object?]>;
  more?: object;
}

/** A webhook that wants this type. */
async function newWebhook(path: string, type: string, { rate = '*', answers = [], more = {} }: Wish = {}) {
  const received: Received[] = [];
  registry.receiver.consent(path, { rate });
  const sink = registry.receiver.sink(path);
  const { id } = await tenant.register(sink, { types: [type], ...more });
  registry.receiver.on(path, async (request, response) => {
    const at = performance.now();
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ at, headers: request.headers, body });
    const [status, headers] = answers.shift() ?? [204];
    response.writeHead(status, { ...headers }).end();
  });
  return { id: id as string, sink, received };
}

const eventOf = (id: string, type: string, more: object = {}) => ({
  specversion: '1.0',
  id,
  source: 'urn:example:a',
  type,
  ...more,
});

const scopes = ['assent:deliver' as const, 'assent:credentials' as const];
const tokenOf = (of: typeof scopes = scopes) =>
  createToken({ tenant: 'gemeente', subscriber: 'mailroom', scopes: of, minutes: 5 }, registry.env);

/** What every program gets. */
const surroundings = () => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  CGO_ENABLED: '0',
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
  // The flags of all Go programs of the tests, so that the standard library compiles once.
  GOFLAGS: `'-gcflags=all=-N -l -dwarf=false' '-ldflags=-s -w'`,
});

interface Run {
  env?: Record<string, string>;
  input?: string;
}

/** A program in the copy of an example, until it has ended. */
async function run(example: string, [program = '', ...args]: string[], { env = {}, input = '' }: Run) {
  const child = spawn(program, args, { cwd: join(folder, example), env: { ...surroundings(), ...env } });
  let [output, complaints] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  return { code, output, complaints };
}

/** A command of a README that keeps running, with what it prints. */
function start(example: string, text: string, env: Record<string, string>) {
  const child = spawn('sh', ['-euc', text], {
    cwd: join(folder, example),
    env: { ...surroundings(), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  const program = { output: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (line: string) => (program.output += line));
  }
  return program;
}

interface Seen {
  url: string;
  lines: string[];
  /** The bodies of what asked for leases. */
  bodies: string[];
}

/** Passes requests on to the registry and keeps their lines, until a request is to be refused as with an expired token. */
async function startWatch(isExpired: (line: string) => boolean = () => false): Promise<Seen> {
  const seen: Omit<Seen, 'url'> = { lines: [], bodies: [] };
  const gateway = await startGateway(registry.url, (request, answer) => {
    const { method = '', url = '' } = request;
    const line = `${method} ${url.split('/').slice(0, 3).join('/')}${/\?.*/.exec(url)?.[0] ?? ''}`;
    seen.lines.push(line);
    if (line === 'POST /v1/leases') request.on('data', (part: Buffer) => seen.bodies.push(part.toString()));
    if (!isExpired(line)) return false;
    answer.writeHead(401, { 'Content-Type': 'application/problem+json' });
    answer.end('{"status":401,"code":"token_invalid","detail":"The token has expired."}');
    return true;
  });
  gateways.push(gateway);
  return { url: gateway.url, ...seen };
}

interface Language {
  name: string;
  example: string;
  tool: string[];
  /** Prepares `run`, which is what the command of the README runs. */
  build?: string[];
  run: string[];
  /** Settings that reach webhooks on this machine, and trust them. */
  local(): Record<string, string>;
}

const forOthers = () => ({
  SSL_CERT_FILE: registry.env['ASSENT_SINK_CA_FILE'] ?? '',
  ALLOWED_NETWORKS: '127.0.0.0/8',
});
const kit: Language = {
  name: 'TypeScript',
  example: 'typescript-sender',
  tool: ['node', '--version'],
  run: [process.execPath, 'dist/sender.js'],
  local: () => ({
    NODE_EXTRA_CA_CERTS: registry.env['ASSENT_SINK_CA_FILE'] ?? '',
    GUARD: JSON.stringify({ allowedNetworks: ['127.0.0.0/8'], sinkPorts: [registry.receiver.port] }),
  }),
};
const languages: Language[] = [
  {
    name: 'Python',
    example: 'python-sender',
    tool: ['python3', '--version'],
    run: ['python3', 'sender.py'],
    local: forOthers,
  },
  {
    name: 'Go',
    example: 'go-sender',
    tool: ['go', 'version'],
    build: ['go', 'build', '-o', 'sender', '.'],
    run: ['./sender'],
    local: forOthers,
  },
];

/** A sender with these events as its input. */
async function send({ example, run: program, local }: Language, events: object[], env: Record<string, string> = {}) {
  const all = { REGISTRY: registry.url, TOKEN: await tokenOf(), ...local(), ...env };
  return run(example, program, { env: all, input: events.map((event) => `${JSON.stringify(event)}\n`).join('') });
}

for (const language of [kit, ...languages]) {
  describeIf(language.tool)(`the sender in ${language.name}`, () => {
    test('delivers the event of the examples with the command of its README', async () => {
      const { id, sink, received } = await newWebhook(`/${language.example}`, 'com.example.order.created');
      const text = command(language.example).replace('127.0.0.1:3000', new URL(registry.url).host);
      const env = { SENDER: await tokenOf(), CA: registry.env['ASSENT_SINK_CA_FILE'] ?? '' };
      const here = text.replace('8443', String(registry.receiver.port));
      const { code, output, complaints } = await run(language.example, ['sh', '-euc', here], { env });
      // The other senders have one webhook, too.
      await tenant.subscriber.delete(`/v1/subscriptions/${id}`).expect(200);
      expect({ code, output, complaints }).toEqual({ code: 0, output: `${sink} delivered\n`, complaints: '' });
      expect(received.map(({ body }) => JSON.parse(body))).toEqual([JSON.parse(read('docs/examples/events.jsonl'))]);
    });
  });
}

describe('the sender in TypeScript', () => {
  const ofKit = (events: object[], env = {}, options: string[] = []) =>
    send({ ...kit, run: [process.execPath, ...options, 'dist/sender.js'] }, events, env);

  test('is the program that the documentation shows, in at most 25 lines', () => {
    const program = read('docs/examples/typescript-sender/sender.ts');
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(25);
    const withoutTypes = program.replace('event: object', 'event').replace(': Promise<void>[]', '');
    for (const page of ['README.md', 'docs/senders/kit.md']) {
      const text = existsSync(join(root, page)) ? read(page) : '';
      for (const [, kind, block] of text.matchAll(/^```(js|ts) sender\n([\s\S]*?)^```$/gm)) {
        expect(block).toBe(kind === 'js' ? withoutTypes : program);
      }
    }
  });

  test('delivers once, not faster than the rate, and waits for holds', async () => {
    const limited = await newWebhook('/limited', 'com.example.many', { rate: '30' });
    const sinkcredential = {
      credentialtype: 'ACCESSTOKEN',
      accesstoken: 'a-token-of-the-webhook',
      accesstokenexpiresutc: '2099-01-01T00:00:00Z',
    };
    const unlimited = await newWebhook('/unlimited', 'com.example.many', { more: { sinkcredential } });
    const tired = await newWebhook('/tired', 'com.example.one', { answers: [[429, { 'Retry-After': '2' }]] });
    const failing = await newWebhook('/failing', 'com.example.one', { answers: [[500, { 'Retry-After': '1' }]] });
    const protocolsettings = { contentmode: 'binary', headers: { 'X-Team': 'orders' } };
    const binary = await newWebhook('/binary', 'com.example.data', { more: { protocolsettings } });
    const revoked = await newWebhook('/revoked', 'com.example.many');
    await tenant.revoke(revoked.sink);
    const events = [
      ...Array.from({ length: 7 }, (_, number) => eventOf(String(number), 'com.example.many')),
      eventOf('one', 'com.example.one'),
      eventOf('data', 'com.example.data', { data: { id: 'inside' } }),
    ];

    const { code, output, complaints } = await ofKit(events, { FOLDER: join(folder, 'replica') });
    expect({ code, complaints }).toEqual({ code: 0, complaints: '' });

    const ids = ({ received }: { received: Received[] }) => received.map(({ body }) => JSON.parse(body).id).sort();
    expect(ids(limited)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect(ids(unlimited)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect(ids(tired)).toEqual(['one', 'one']);
    expect(ids(failing)).toEqual(['one', 'one']);
    expect(ids(binary)).toEqual(['inside']);
    expect(binary.received).toMatchObject([
      { headers: { 'ce-id': 'data', 'content-type': 'application/json', 'x-team': 'orders' } },
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
    // Thirty a minute: two immediately, and then one in two seconds.
    const [first, last] = [limited.received.at(0)?.at ?? 0, limited.received.at(-1)?.at ?? 0];
    expect(last - first).toBeGreaterThan(8_000);
    const [asked, again] = tired.received.map(({ at }) => at);
    expect((again ?? 0) - (asked ?? 0)).toBeGreaterThan(1_900);
    const [failed, tried] = failing.received.map(({ at }) => at);
    expect((tried ?? 0) - (failed ?? 0)).toBeGreaterThan(450);
    // The outcomes were reported.
    const { body } = await tenant.admin.get(`/v1/subscriptions/${tired.id}/deliveries`).expect(200);
    expect(body.counts).toEqual({ delivered: 1, throttled: 1 });
  });

  test('waits for the end of a hold although its clock is ahead', async () => {
    const tired = await newWebhook('/ahead', 'com.example.ahead', { answers: [[429, { 'Retry-After': '3' }]] });
    const { output } = await ofKit([eventOf('ahead', 'com.example.ahead')], {}, [startAhead(3_600_000)]);
    expect(output).toBe(`${tired.sink} delivered\n`);
    expect(tired.received).toHaveLength(2);
  });

  test('closes the connection of a webhook with a long response', async () => {
    const { sink } = await newWebhook('/wordy', 'com.example.wordy');
    const isOver: boolean[] = [];
    let earlier: ServerResponse | undefined;
    registry.receiver.on('/wordy', (_, response: ServerResponse) => {
      if (earlier !== undefined) isOver.push(earlier.closed);
      earlier = response;
      response.writeHead(isOver.length < 1 ? 500 : 200).end(Buffer.alloc(64 * 1_048_576));
    });
    const { output } = await ofKit([eventOf('wordy', 'com.example.wordy')]);
    expect(output).toBe(`${sink} delivered\n`);
    expect(isOver).toEqual([true]);
  });
});

for (const language of languages) {
  describeIf(language.tool)(`the sender in ${language.name}, which needs no kit`, () => {
    beforeAll(async () => {
      if (language.build) expect((await run(language.example, language.build, {})).complaints).toBe('');
    });
    const webhookFor = (kind: string, more: object = {}, answers: Array<[number, object?]> = []) =>
      newWebhook(`/${language.name}-${kind}`, `${language.name}.${kind}`, { more, answers });
    const event = (kind: string, more: object = {}) => eventOf('1', `${language.name}.${kind}`, more);
    const lines = async (events: object[], env: Record<string, string> = {}) => {
      const { code, output } = await send(language, events, env);
      expect(code).toBe(0);
      return output.trim().split('\n');
    };

    test('delivers in the content mode and with the credential of the match, waits for holds, and reports', async () => {
      const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'a-secret€' };
      const plain = await webhookFor('structured', { sinkcredential });
      const protocolsettings = { contentmode: 'binary', headers: { 'X-Team': 'orders' } };
      const binary = await webhookFor('binary', { protocolsettings });
      const tired = await webhookFor('tired', {}, [[429, { 'Retry-After': '1' }]]);
      const gone = await webhookFor('gone', {}, [[410]]);
      const structuredEvent = event('structured', { data: { a: 'é' } });
      const output = await lines([
        structuredEvent,
        event('binary', { subject: 'é "1%"', data: { a: 'é' } }),
        event('binary', { data: 'text', datacontenttype: 'text/plain; charset=ISO-8859-1' }),
        event('tired'),
        event('gone'),
      ]);
      expect(output).toEqual([
        `${plain.sink} delivered`,
        `${binary.sink} delivered`,
        `${binary.sink} delivered`,
        `${tired.sink} delivered`,
        `${gone.sink} refused with 410`,
      ]);
      const structured = 'application/cloudevents+json; charset=utf-8';
      expect(plain.received[0]?.headers).toMatchObject({
        'content-type': structured,
        'webhook-request-origin': tenant.origin,
        authorization: `Basic ${Buffer.from('me:a-secret€').toString('base64')}`,
      });
      expect(JSON.parse(plain.received[0]?.body ?? '')).toEqual(structuredEvent);
      expect(binary.received[0]?.headers).toMatchObject({
        'content-type': 'application/json',
        'ce-subject': '%C3%A9%20%221%25%22',
        'ce-type': `${language.name}.binary`,
        'x-team': 'orders',
      });
      expect(JSON.parse(binary.received[0]?.body ?? '')).toEqual({ a: 'é' });
      expect(binary.received[1]?.headers['content-type']).toBe(structured);
      expect(tired.received).toHaveLength(2);
      const countsOf = async (id: string) =>
        (await tenant.admin.get(`/v1/subscriptions/${id}/deliveries`).expect(200)).body.counts;
      expect(await countsOf(tired.id)).toEqual({ delivered: 1, throttled: 1 });
      expect(await countsOf(gone.id)).toEqual({ gone: 1 });
    });

    test('leases for many requests at once, and returns what it has not sent', async () => {
      const { received } = await newWebhook(`/${language.name}-many`, `${language.name}.many`, { rate: '600' });
      const relay = await startWatch();
      const events = Array.from({ length: 5 }, () => event('many'));
      const { code, complaints } = await send(language, events, { REGISTRY: relay.url });
      expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
      expect(received).toHaveLength(5);
      const countOf = (line: RegExp) => relay.lines.filter((each) => line.test(each)).length;
      expect(countOf(/^POST \/v1\/match/)).toBe(5);
      // More than one lease if the deliveries took longer than the two seconds of one, and each for many requests.
      for (const body of relay.bodies) expect(JSON.parse(body).requests).toBeGreaterThan(1);
      expect(relay.bodies).not.toEqual([]);
      expect(countOf(/^DELETE \/v1\/leases\?unused=\d+$/)).toBe(1);
    });

    test.each(['POST /v1/match', 'POST /v1/leases'])(
      'stops with a line when %s returns that the token has expired',
      async (expired) => {
        const kind = expired.slice('POST /v1/'.length);
        const { received } = await webhookFor(kind);
        const { url } = await startWatch((line) => line === expired);
        const { code, output, complaints } = await send(language, [event(kind), event(kind)], { REGISTRY: url });
        expect({ code, output, received }).toEqual({ code: 1, output: '', received: [] });
        expect(complaints).toMatch(/^the registry refuses the token: .*The token has expired\.?\n$/);
      },
    );

    test('does not reach into its own network, and sends nothing without the credential', async () => {
      const inside = await webhookFor('inside');
      expect((await lines([event('inside')], { ALLOWED_NETWORKS: '' })).join()).toMatch(/blocked/);
      const sinkcredential = { credentialtype: 'PLAIN', identifier: 'me', secret: 'a-secret' };
      const secret = await webhookFor('secret', { sinkcredential });
      const TOKEN = await tokenOf(scopes.slice(0, 1));
      expect((await lines([event('secret')], { TOKEN })).join()).toMatch(/withheld/);
      expect([inside.received, secret.received]).toEqual([[], []]);
      // A webhook that was not asked has not failed.
      const { body } = await tenant.admin.get(`/v1/subscriptions/${inside.id}/deliveries`).expect(200);
      expect(body.counts).toEqual({});
    });
  });
}

/** A request over HTTPS that trusts the authority of the tests. */
async function https(url: string, method: string, headers: Record<string, string> = {}, body = '') {
  const asked = request(url, { method, headers, ca: registry.receiver.ca }).end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return response;
}

/** Starts the Express receiver; resolves when it listens. */
async function startExpress(env: Record<string, string>) {
  const program = start('express-receiver', command('express-receiver').replace(/TLS_CERT.*TLS_KEY=\S+ /, ''), env);
  await until(() => program.output.includes('/events'));
  return program;
}

/** Registers the sink as the README does, with curl. */
async function subscribe(sink: string) {
  const token = await createToken(
    { tenant: 'gemeente', subscriber: 'zaaksysteem', scopes: ['assent:subscribe'], minutes: 5 },
    registry.env,
  );
  const text = command('express-receiver', 'subscribe').replace('https://localhost:9443/events', sink);
  const { output } = await run('.', ['sh', '-euc', text], { env: { API: `${registry.url}/v1`, CONSUMER: token } });
  return JSON.parse(output) as { id: string; status: string; statusdetails: { allowedrate: number } };
}

const json = 'application/cloudevents+json; charset=utf-8';

test('the Express receiver consents to the origin that it knows, and accepts events of that origin only', async () => {
  const sink = `https://localhost:${ports.express}/events`;
  const tls = { TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') };
  const program = await startExpress({ PORT: String(ports.express), ...tls });
  expect(await subscribe(sink)).toMatchObject({ status: 'active', statusdetails: { allowedrate: 100 } });
  const event = eventOf('1', 'com.example.order.created', { data: { total: 7 } });
  const post = async (headers: Record<string, string>, body: object) =>
    (await https(sink, 'POST', headers, JSON.stringify(body))).statusCode;

  const origin = { 'WebHook-Request-Origin': tenant.origin };
  expect(await post({ ...origin, 'Content-Type': json }, event)).toBe(204);
  const attributes = { 'ce-specversion': '1.0', 'ce-id': '2', 'ce-source': 'urn:example:a' };
  const binary = { ...attributes, 'ce-type': 'com.example.order.paid', 'Content-Type': 'application/json' };
  expect(await post({ ...origin, ...binary }, { total: 8 })).toBe(204);
  await until(() => program.output.includes('received com.example.order.paid 2 {"total":8}'));
  expect(program.output).toContain('received com.example.order.created 1 {"total":7}');

  expect(await post({ ...origin, 'Content-Type': json }, { id: '1' })).toBe(400);
  const stranger = { 'WebHook-Request-Origin': `${tenant.origin}.attacker.test` };
  expect(await post({ ...stranger, 'Content-Type': json }, event)).toBe(403);
  expect((await https(sink, 'OPTIONS', stranger)).headers['webhook-allowed-origin']).toBeUndefined();
});

describeIf(['nginx', '-v'])('nginx in front', () => {
  test('passes the API and the feed of a registry, and the handshake and the events of a webhook', async () => {
    const behind = await freePort();
    const moved: Array<[string, string]> = [
      ['listen 3443', `listen ${ports.front}`],
      ['listen 9443', `listen ${ports.webhook}`],
      ['127.0.0.1:3000', new URL(registry.url).host],
      ['127.0.0.1:8080', `127.0.0.1:${behind}`],
      ['../../../.assent/try/webhook-cert.pem', '../cert.pem'],
      ['../../../.assent/try/webhook-key.pem', '../key.pem'],
    ];
    const path = join(folder, 'nginx', 'nginx.conf');
    for (const [printed] of moved) expect(read('docs/examples/nginx/nginx.conf')).toContain(printed);
    const conf = moved.reduce((text, [printed, here]) => text.replaceAll(printed, here), await readFile(path, 'utf8'));
    await writeFile(path, conf);
    const express = await startExpress({ PORT: String(behind) });
    start('nginx', command('nginx'), {});
    const front = `https://localhost:${ports.front}`;
    await until(async () => (await https(`${front}/openapi.json`, 'GET').catch(() => undefined))?.statusCode === 200);

    const sink = `https://localhost:${ports.webhook}/events`;
    expect(await subscribe(sink)).toMatchObject({ status: 'active', statusdetails: { allowedrate: 100 } });
    const event = JSON.stringify(eventOf('nginx', 'com.example.order.created'));
    const headers = { 'WebHook-Request-Origin': tenant.origin, 'Content-Type': json };
    expect((await https(sink, 'POST', headers, event)).statusCode).toBe(204);
    await until(() => express.output.includes('received com.example.order.created nginx'));

    const text = command('nginx', 'ask').replace('localhost:3443', `localhost:${ports.front}`);
    const env = { CA: registry.env['ASSENT_SINK_CA_FILE'] ?? '', SENDER: await tokenOf() };
    const { output } = await run('.', ['sh', '-euc', text.replace('$WEBHOOK/events', sink)], { env });
    expect(JSON.parse(output)).toMatchObject({ allowed: true });

    // A change arrives while the stream is open.
    const authorization = { Authorization: `Bearer ${await tokenOf()}`, Accept: 'text/event-stream' };
    const stream = await https(`${front}/v1/changes?after=${await cursor()}`, 'GET', authorization);
    let streamed = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => (streamed += chunk));
    await tenant.revoke(sink);
    await until(() => streamed.includes(sink));
    stream.destroy();
    expect(await readFile(join(folder, 'nginx', 'access.log'), 'utf8')).toContain('"POST /events" 204');
  });
});

/** The position of the feed now. */
async function cursor(): Promise<string> {
  const { text } = await tenant.sender.get('/v1/snapshot').buffer(true).expect(200);
  return JSON.parse(text.trim().split('\n').at(-1) ?? '').cursor;
}
