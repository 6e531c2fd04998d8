import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import type { Scope } from '../../../src/base/contract/principal.js';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { startDnsServer, type DnsServer } from '../../support/dns-server.js';
import { startRegistryProcess, untilReady, type RunningRegistry } from '../../support/process.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { copyDatabase } from '../../support/registry.js';

const stopSeconds = 4;

interface LogLine {
  msg: string;
  status?: number;
}

let folder: string;
let database: Awaited<ReturnType<typeof copyDatabase>>;
let receiver: Receiver;
let dns: DnsServer;
let registry: RunningRegistry;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-stop-'));
  [database, receiver, dns] = await Promise.all([copyDatabase(folder), startReceiver(), startDnsServer()]);
  dns.fallback = () => ['127.0.0.1'];
  await writeFile(join(folder, 'ca.pem'), receiver.ca);
  env = {
    ASSENT_DATA: folder,
    ASSENT_PORT: '0',
    ASSENT_OPERATIONS_PORT: '0',
    ...(database.url === undefined ? {} : { DATABASE_URL: database.url }),
    ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
    ASSENT_SINK_PORTS: String(receiver.port),
    ASSENT_DNS_SERVERS: dns.address,
    ASSENT_SINK_CA_FILE: join(folder, 'ca.pem'),
    ASSENT_HANDSHAKE_DEADLINE_MS: '60000',
    ASSENT_HANDSHAKES_PER_HOST: '100000',
    ASSENT_HANDSHAKES_PER_TENANT: '100000',
    ASSENT_STOP_SECONDS: String(stopSeconds),
  };
  registry = await startRegistryProcess({ env });
});
afterAll(async () => {
  registry.child.kill('SIGKILL');
  await registry.ended;
  await Promise.all([receiver.stop(), dns.stop()]);
  await database.drop();
  await rm(folder, { recursive: true });
});

const token = (...scopes: Scope[]) => createToken({ tenant: 'gemeente', subscriber: 'a', scopes, minutes: 5 }, env);

async function post(path: string, body: object, authorization: string): Promise<Response> {
  return fetch(`${registry.url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${authorization}`, 'Content-Type': 'application/json', Prefer: 'wait=20' },
    body: JSON.stringify(body),
  });
}

/** Resolves when the process has logged this. */
function logged(message: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => registry.stdout.includes(`"msg":"${message}"`) && resolve();
    registry.child.stdout?.on('data', look);
    look();
  });
}

/** A path whose requests are kept waiting; `asked` resolves with the first. */
function hold(path: string): Promise<ServerResponse> {
  return new Promise((resolve) => receiver.on(path, (_request, response) => resolve(response)));
}

test('SIGTERM under load: every accepted request gets a status below 500, nothing is lost, and the exit code is 0', async () => {
  const origin = { name: 'eventemitter.example.com', isdefault: true, requestedrate: 10 };
  expect((await post('/v1/origins', origin, await token('assent:admin'))).status).toBe(201);
  const subscriber = await token('assent:subscribe');
  // A host for each, because one host gets only two handshakes at a time.
  const register = (path: string, host: string) =>
    post('/v1/subscriptions', { sink: receiver.sink(path, `${host}.hooks.test`), protocol: 'HTTP' }, subscriber);

  receiver.consent('/load');
  // Eight clients that continue until their connections are refused.
  const statuses: number[] = [];
  const acknowledged: string[] = [];
  const failures: unknown[] = [];
  let isWarm: () => void;
  const warm = new Promise<void>((resolve) => (isWarm = resolve));
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let count = 0; ; count += 1) {
      const response = await register(`/load?${count}`, `load-${client}`).catch((error: unknown) => error as Error);
      if (!('status' in response)) return void failures.push(response.cause);
      statuses.push(response.status);
      acknowledged.push(((await response.json()) as { id: string }).id);
      if (statuses.length === 24) isWarm();
    }
  });
  await warm;

  // Two requests that wait for their webhook: one webhook responds while the process stops, the other never does. Not
  // before the others, since a handshake has ten seconds.
  const askedLate = hold('/late');
  const askedNever = hold('/never');
  const waiting = [register('/late', 'late'), register('/never', 'never')];
  const [late] = await Promise.all([askedLate, askedNever]);

  registry.child.kill('SIGTERM');
  await logged('stopping');
  const readiness = await fetch(`${registry.operationsUrl}/readyz`);
  expect([readiness.status, await readiness.json()]).toEqual([
    503,
    expect.objectContaining({ checks: expect.objectContaining({ process: 'stopping' }) as object }),
  ]);
  late.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '5' }).end();
  const held = await Promise.all(waiting);
  await Promise.all(clients);
  expect(await registry.ended).toBe(0);

  expect(held.map(({ status }) => status)).toEqual([201, 201]);
  expect(new Set(statuses)).toEqual(new Set([201]));
  // A connection may be refused, or an idle one closed. An accepted request gets a complete response.
  const codes = failures.map((cause) => (cause as { code?: string }).code);
  expect(codes.filter((code) => !['ECONNREFUSED', 'UND_ERR_SOCKET', 'ECONNRESET'].includes(code ?? ''))).toEqual([]);
  const lines = registry.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as LogLine]));
  const answered = lines.filter(({ msg }) => msg === 'request').map(({ status }) => status);
  expect([answered.length, new Set(answered)]).toEqual([statuses.length + 3, new Set([201])]);

  const { client, close } = await openDatabase({ databaseUrl: database.url, dataFolder: folder });
  const rows = await client.$queryRaw<Array<{ id: string; sink: string; state: string; claimid: string | null }>>`
    select s.id, s.sink, h.state, h.claimid from subscription s join handshake h on h.subscription = s.id`;
  await close();
  const ids = new Set(rows.map(({ id }) => id));
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  const stateOf = (path: string) => rows.find(({ sink }) => sink.endsWith(path))?.state;
  expect([stateOf('/late'), stateOf('/never')]).toEqual(['granted', 'due']);
  // Finished or handed back: no process must wait for a claim to expire.
  expect(rows.filter(({ state, claimid }) => claimid !== null || !['granted', 'due'].includes(state))).toEqual([]);
});

test('the next process immediately continues the handshakes that were handed back', async () => {
  const asked = hold('/never');
  registry = await startRegistryProcess({ env });
  // A claim lasts longer than a handshake's deadline, which is longer than a test may take.
  const response = await asked;
  response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '5' }).end();
  expect(response.req.method).toBe('OPTIONS');
});

test('a client with a persistent connection gets Connection: close, and no connection delays the stop', async () => {
  const asked = hold('/kept');
  const idle = connect(Number(new URL(registry.url).port), '127.0.0.1').on('error', () => undefined);
  const answer = fetch(`${registry.url}/v1/subscriptions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${await token('assent:subscribe')}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ sink: receiver.sink('/kept'), protocol: 'HTTP' }),
  });
  await asked;
  registry.child.kill('SIGTERM');
  expect((await answer).headers.get('connection')).toBe('close');
  expect(await registry.ended).toBe(0);
  idle.destroy();
});

test('a busy connection gets every response, and Connection: close on the last one', async () => {
  registry = await startRegistryProcess({ env });
  await untilReady(registry.operationsUrl);
  const { hostname, port } = new URL(registry.url);
  const headers = { Authorization: `Bearer ${await token('assent:deliver')}` };
  const path = '/v1/permissions?origin=eventemitter.example.com&sink=https://busy.example.com/';
  let isAsked = 0;
  /** Sends requests on one connection; resolves when a response closes it. */
  async function ask(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (;;) {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        get({ agent, hostname, port, path, headers }, resolve).on('error', reject);
      });
      await once(answer.resume(), 'end');
      expect(answer.statusCode).toBe(200);
      isAsked += 1;
      if (answer.headers.connection === 'close') return agent.destroy();
    }
  }
  const all = Array.from({ length: 16 }, ask);
  while (isAsked < 500) await sleep(10);
  registry.child.kill('SIGTERM');
  await Promise.all(all);
  expect(await registry.ended).toBe(0);
});
