import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { startRegistryProcess, type Program } from '../../support/process.js';
import { copyDatabase } from '../../support/registry.js';
import { until } from '../../support/until.js';

let folder: string;
let database: Awaited<ReturnType<typeof copyDatabase>>;
let env: Record<string, string>;
const programs: Program[] = [];

async function start() {
  const program = await startRegistryProcess({ env });
  programs.push(program);
  return program;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-restart-'));
  database = await copyDatabase(folder);
  env = {
    ASSENT_DATA: folder,
    ASSENT_PORT: '0',
    ASSENT_OPERATIONS_PORT: '0',
    // Without this, names that end in .test are not resolved.
    ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
    ...(database.url === undefined ? {} : { DATABASE_URL: database.url }),
  };
});
afterEach(async () => {
  for (const { child } of programs) child.kill('SIGKILL');
  await Promise.all(programs.splice(0).map(({ ended }) => ended));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

test('acknowledged changes survive a kill, the process is live and then ready, and SIGTERM ends it with code 0', async () => {
  const killed = await start();
  const ask = async (url: string, subscriber: string, path: string, body?: object) => {
    const scopes = ['assent:admin', 'assent:subscribe'] as const;
    const token = await createToken({ tenant: 'gemeente', subscriber, scopes: [...scopes], minutes: 60 }, env);
    return fetch(url + path, {
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Prefer: 'respond-async' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  };
  const origin = { name: 'eventemitter.example.com', isdefault: true };
  expect((await ask(killed.url, 'beheer', '/v1/origins', origin)).status).toBe(201);
  const subscription = { sink: 'https://nowhere.test/events', protocol: 'HTTP' };
  const written = await ask(killed.url, 'zaaksysteem', '/v1/subscriptions', subscription);
  expect(written.status).toBe(201);
  const { id } = (await written.json()) as { id: string };
  killed.child.kill('SIGKILL');
  expect(await killed.ended).toBe('SIGKILL');

  const next = await start();
  expect((await fetch(`${next.operationsUrl}/livez`)).status).toBe(200);
  await until(async () => (await fetch(`${next.operationsUrl}/readyz`)).status === 200);
  const read = await ask(next.url, 'zaaksysteem', `/v1/subscriptions/${id}`);
  expect([read.status, await read.json()]).toEqual([200, expect.objectContaining({ id, sink: subscription.sink })]);
  next.child.kill('SIGTERM');
  expect(await next.ended).toBe(0);
});
