// What every benchmark runs on: a Postgres, registries and other programs as processes of their own, and tokens.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { readConfig } from '../../dist/registry/app/config.js';
import { createService } from '../../dist/registry/app/service.js';
import { createLog } from '../../dist/registry/http/log.js';
import { createToken } from '../../dist/tools/cli/login/create-token.js';
import { freePort, startPostgres } from '../support/postgres.mjs';
import { fill } from './fill.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * `settings` are lines of postgresql.conf: without them the database is as quick as it can be, with an empty list it has
 * its defaults. `size` fills it with so many subscriptions and grants. All of it ends when the work does.
 */
export async function withHarness({ settings, size }, work) {
  const folder = await mkdtemp(join(tmpdir(), 'assent-bench-'));
  const postgres = await startPostgres(settings);
  const children = [];
  const services = [];
  const env = { ...process.env, DATABASE_URL: postgres.url, ASSENT_DATA: folder, ASSENT_LOG_LEVEL: 'warn' };

  /** A program of this folder, and what it says first. It gets `argument` as JSON. */
  async function start(file, argument, more = {}) {
    const child = fork(here(file), argument === undefined ? [] : [JSON.stringify(argument)], {
      ...more,
      env: { ...process.env, ...more.env },
    });
    children.push(child);
    return { child, told: (await once(child, 'message'))[0] };
  }

  /** A registry that is ready. `longestPauseMs` tells its longest full collection since the last call. */
  async function startRegistry(more = {}) {
    const [port, operationsPort] = [await freePort(), await freePort()];
    const child = fork(here('../../dist/main.js'), {
      env: { ...env, ...more, ASSENT_PORT: String(port), ASSENT_OPERATIONS_PORT: String(operationsPort) },
      execArgv: ['--max-old-space-size=8192', '--import', here('watch-collections.mjs')],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    children.push(child);
    await untilReady(`http://127.0.0.1:${operationsPort}/readyz`);
    const longestPauseMs = async () => {
      child.send('collections');
      return (await once(child, 'message'))[0].longestms;
    };
    return { child, port, url: `http://127.0.0.1:${port}`, longestPauseMs };
  }

  /** A registry in this process, as main.ts composes it. It listens and works once it is started. */
  async function createRegistry(more = {}, adapt = (config) => config) {
    const config = adapt(readConfig({ ...env, ASSENT_PORT: '0', ASSENT_OPERATIONS_PORT: '0', ...more }));
    const service = await createService({ config, log: createLog('silent') });
    let stopped;
    const stop = () => (stopped ??= service.stop());
    services.push(stop);
    return { ...service, stop };
  }

  /** node:http that reads and parses a body and answers a constant of this many bytes. */
  const startBare = async (bytes) => (await start('bare-server.mjs', bytes)).told;

  const token = (scope, subscriber = 'sender') =>
    createToken({ tenant: 'bench', subscriber, scopes: [scope], minutes: 60 }, env);
  try {
    if (size !== undefined) await fill(postgres.url, size);
    return await work({ start, startRegistry, createRegistry, startBare, token, folder, url: postgres.url });
  } finally {
    await Promise.all(services.map((stop) => stop()));
    const ended = children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ended);
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Another database of the same server; returns its URL. */
export async function createDatabase(url, name) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

async function untilReady(url) {
  for (let tries = 0; tries < 3_000; tries += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The registry did not get ready.');
}
