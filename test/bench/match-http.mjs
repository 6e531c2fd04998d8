// POST /v1/match over HTTP, with authentication, on one process with a real Postgres behind it, side by side with a bare
// node:http server that reads and parses the same body. Run after a build:
//
//   node test/bench/match-http.mjs [--size N] [--json FILE]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createToken } from '../../dist/cli/create-token.js';
import { openDatabase } from '../../dist/storage/database.js';
import { migrate } from '../../dist/storage/migrate.js';
import { startPostgres } from '../support/postgres.mjs';
import { load, median, requestBytes } from './load.mjs';
import { eachSubscription, eventsOf } from './mixes.mjs';

const origin = 'eventemitter.example.com';
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const rounds = 5;

/** One row of results: ratios to the bare server, and batches of 100 to single posts, events for events. */
export async function measureHttp(size) {
  const folder = await mkdtemp(join(tmpdir(), 'assent-bench-'));
  const postgres = await startPostgres();
  const children = [];
  try {
    await fill(postgres.url, size);
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const env = {
      ...process.env,
      DATABASE_URL: postgres.url,
      ASSENT_DATA: folder,
      ASSENT_PORT: String(port),
      ASSENT_OPERATIONS_PORT: String(port + 1),
      ASSENT_LOG_LEVEL: 'warn',
    };
    const registry = fork(here('../../dist/main.js'), {
      env,
      execArgv: ['--max-old-space-size=8192'],
      stdio: 'ignore',
    });
    children.push(registry);
    await untilReady(`http://127.0.0.1:${port + 1}/readyz`);
    const token = await createToken(
      { tenant: 'bench', subscriber: 'sender', scopes: ['assent:deliver'], minutes: 60 },
      env,
    );
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/cloudevents+json' };
    const events = [...eventsOf('mixed', size, 0, 500), ...eventsOf('mixed', size, 1, 500)];
    const single = (event) => requestBytes({ method: 'POST', path: '/v1/match', headers, body: JSON.stringify(event) });
    const batch = (from) =>
      requestBytes({
        method: 'POST',
        path: '/v1/match',
        headers: { ...headers, 'Content-Type': 'application/cloudevents-batch+json' },
        body: JSON.stringify(Array.from({ length: 100 }, (_, i) => events[(from * 100 + i) % events.length])),
      });
    const singles = events.map(single);
    const batches = Array.from({ length: 20 }, (_, from) => batch(from));
    const answer = await fetch(`http://127.0.0.1:${port}/v1/match`, {
      method: 'POST',
      headers,
      body: JSON.stringify(events.at(-1)),
    });
    const bare = fork(here('bare-server.mjs'), [String((await answer.text()).length)]);
    children.push(bare);
    const [{ port: barePort }] = await once(bare, 'message');

    await load({ port, requests: singles, seconds: 2 });
    await load({ port: barePort, requests: singles, seconds: 2 });
    const runs = [];
    for (let round = 0; round < rounds; round += 1) {
      const ours = await load({ port, requests: singles });
      const theirs = await load({ port: barePort, requests: singles });
      const batched = await load({ port, requests: batches, connections: 8 });
      runs.push({ ours, theirs, batched });
    }
    return {
      subscriptions: size,
      ratio: round2(median(runs.map(({ ours, theirs }) => ours.persecond / theirs.persecond))),
      persecond: Math.round(median(runs.map(({ ours }) => ours.persecond))),
      barepersecond: Math.round(median(runs.map(({ theirs }) => theirs.persecond))),
      p99us: median(runs.map(({ ours }) => ours.p99us)),
      barep99us: median(runs.map(({ theirs }) => theirs.p99us)),
      batchratio: round2(median(runs.map(({ ours, batched }) => (batched.persecond * 100) / ours.persecond))),
    };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(url, size) {
  const database = await openDatabase({ databaseUrl: url, dataFolder: '' });
  await migrate(database);
  await database.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `insert into origin (name, tenant, isdefault, defaultrate, judgement, leaseseconds, profile)
     values ($1, 'bench', true, '60', 'strict', 864000, 'cloudevents')`,
    [origin],
  );
  let rows = [];
  const flush = async () => {
    await client.query(
      `insert into subscription (id, tenant, subscriber, origin, sink, protocol, source, types, subject, filters)
       select id, 'bench', 'consumer', $2, 'https://webhook.example.com/' || id, 'HTTP', source, types, subject, filters
       from jsonb_to_recordset($1::jsonb) as r (id uuid, source text, types text[], subject text, filters jsonb)`,
      [JSON.stringify(rows), origin],
    );
    rows = [];
  };
  const all = [];
  eachSubscription('mixed', size, (subscription) => all.push(subscription));
  for (const subscription of all) {
    rows.push(subscription);
    if (rows.length === 5_000) await flush();
  }
  if (rows.length > 0) await flush();
  await client.query(
    `insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat)
     select origin, sink, gen_random_uuid(), tenant, 'live', 'response', '100', 'bench', now(), now() + interval '1 day'
     from subscription`,
  );
  await client.query('analyze');
  await client.end();
}

async function untilReady(url) {
  for (let tries = 0; tries < 3_000; tries += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The registry did not get ready.');
}

const round2 = (value) => Math.round(value * 100) / 100;

if (process.argv[1] === here('match-http.mjs')) {
  const { values } = parseArgs({ options: { size: { type: 'string' }, json: { type: 'string' } } });
  const http = [];
  for (const size of values.size ? [Number(values.size)] : [10_000, 100_000, 1_000_000])
    http.push(await measureHttp(size));
  console.table(http);
  if (values.json) await writeFile(values.json, `${JSON.stringify({ http }, undefined, 2)}\n`);
}
