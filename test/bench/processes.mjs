// Registries and bare servers as processes of their own, for what is measured over HTTP.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createToken } from '../../dist/tools/cli/login/create-token.js';
import { freePort, startPostgres } from '../support/postgres.mjs';
import { fill } from './fill.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** A Postgres with `size` subscriptions and grants, and what runs beside it; all of it ends when the work does. */
export async function withDatabase(size, work) {
  const folder = await mkdtemp(join(tmpdir(), 'assent-bench-'));
  const postgres = await startPostgres();
  const children = [];
  const env = { ...process.env, DATABASE_URL: postgres.url, ASSENT_DATA: folder, ASSENT_LOG_LEVEL: 'warn' };

  /** A registry that is ready. `longestPauseMs` tells its longest full collection since the last call. */
  async function startRegistry() {
    const [port, operationsPort] = [await freePort(), await freePort()];
    const child = fork(here('../../dist/main.js'), {
      env: { ...env, ASSENT_PORT: String(port), ASSENT_OPERATIONS_PORT: String(operationsPort) },
      execArgv: ['--max-old-space-size=8192', '--import', here('watch-collections.mjs')],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    children.push(child);
    await untilReady(`http://127.0.0.1:${operationsPort}/readyz`);
    const longestPauseMs = async () => {
      child.send('collections');
      return (await once(child, 'message'))[0].longestms;
    };
    return { port, operationsPort, longestPauseMs };
  }

  /** node:http that reads and parses a body and answers a constant of this many bytes. */
  async function startBare(bytes) {
    const child = fork(here('bare-server.mjs'), [String(bytes)]);
    children.push(child);
    return (await once(child, 'message'))[0];
  }

  const token = (scope, tenant = 'bench') =>
    createToken({ tenant, subscriber: 'sender', scopes: [scope], minutes: 60 }, env);
  try {
    await fill(postgres.url, size);
    return await work({ startRegistry, startBare, token, url: postgres.url });
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

export async function untilReady(url) {
  for (let tries = 0; tries < 3_000; tries += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The registry did not get ready.');
}
