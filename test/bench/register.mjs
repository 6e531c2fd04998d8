// Registration over HTTP, each with its handshake against a local webhook, on a Postgres that is durable (fsync), at 64
// clients; side by side with handshakes alone and with the plain way. Run after a build:
//
//   node test/bench/register.mjs [--json FILE]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createToken } from '../../dist/tools/cli/login/create-token.js';
import { freePort, startPostgres } from '../support/postgres.mjs';
import { load, median, requestBytes } from './load.mjs';

const origin = 'eventemitter.example.com';
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const durable = ['fsync = on', 'synchronous_commit = on', 'full_page_writes = on'];

/** Every answer is a 201 that says active; the ratios are those of each round, as medians. */
export async function measureRegistration({ rounds = 5, seconds = 3, nodeOptions = [] } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'assent-bench-'));
  const postgres = await startPostgres(durable);
  const children = [];
  const start = async (file, argument, options = {}) => {
    const child = fork(file, argument === undefined ? [] : [JSON.stringify(argument)], options);
    children.push(child);
    return (await once(child, 'message'))[0];
  };
  try {
    const webhook = await start(here('consenting-webhook.mjs'));
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, webhook.ca);
    const [port, operationsPort] = [await freePort(), await freePort()];
    const env = {
      ...process.env,
      DATABASE_URL: postgres.url,
      ASSENT_DATA: folder,
      ASSENT_PORT: String(port),
      ASSENT_OPERATIONS_PORT: String(operationsPort),
      ASSENT_LOG_LEVEL: 'warn',
      ASSENT_PUBLIC_URL: 'https://assent.test',
      ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
      ASSENT_SINK_PORTS: String(webhook.port),
      ASSENT_SINK_CA_FILE: caFile,
      // One host and one tenant take it all.
      ASSENT_HANDSHAKES_IN_FLIGHT_PER_HOST: '200',
      ASSENT_HANDSHAKES_IN_FLIGHT_PER_TENANT: '200',
      ASSENT_HANDSHAKES_PER_HOST: '1000000',
      ASSENT_HANDSHAKES_PER_TENANT: '1000000',
    };
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'];
    children.push(fork(here('../../dist/main.js'), { env, stdio, execArgv: nodeOptions }));
    await untilReady(`http://127.0.0.1:${operationsPort}/readyz`);
    await prepare(postgres.url);
    const token = await createToken(
      { tenant: 'bench', subscriber: 'consumer', scopes: ['assent:subscribe'], minutes: 60 },
      env,
    );
    const alone = await start(here('handshake-server.mjs'), { origin, port: webhook.port, ca: webhook.ca });
    const plain = await start(
      here('plain-server.mjs'),
      { origin, url: postgres.url },
      { env: { ...process.env, NODE_EXTRA_CA_CERTS: caFile } },
    );

    let sinks = 0;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Prefer: 'wait=5' };
    const requests = () => {
      const sink = `https://localhost:${webhook.port}/hooks/${(sinks += 1)}`;
      const body = JSON.stringify({
        sink,
        protocol: 'HTTP',
        source: 'urn:nld:oin:00000001234567890000:systeem:zaken',
        types: ['nl.gemeente.zaak-gewijzigd'],
      });
      return requestBytes({ method: 'POST', path: '/v1/subscriptions', headers, body });
    };
    const run = (at, forSeconds) =>
      load({ port: at, requests, seconds: forSeconds, status: 201, text: '"status":"active"', sleeps: true });
    const targets = { registrations: port, handshakes: alone.port, plain: plain.port };
    for (const at of Object.values(targets)) await run(at, 2);
    const runs = [];
    for (let round = 0; round < rounds; round += 1) {
      const measured = {};
      for (const [name, at] of Object.entries(targets)) measured[name] = await run(at, seconds);
      runs.push(measured);
    }
    const of = (read) => median(runs.map(read));
    return {
      ratio: round2(of(({ registrations, handshakes }) => registrations.persecond / handshakes.persecond)),
      plainratio: round2(of(({ registrations, plain: theirs }) => registrations.persecond / theirs.persecond)),
      persecond: Math.round(of(({ registrations }) => registrations.persecond)),
      p99us: of(({ registrations }) => registrations.p99us),
      handshakespersecond: Math.round(of(({ handshakes }) => handshakes.persecond)),
      plainpersecond: Math.round(of(({ plain: theirs }) => theirs.persecond)),
    };
  } finally {
    const ended = children.map((child) => child.exitCode ?? once(child, 'exit'));
    // The registry may write a profile at its end.
    for (const child of children) child.kill(nodeOptions.length > 0 ? 'SIGTERM' : 'SIGKILL');
    await Promise.all(ended);
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The origin, and proof that what is acknowledged is on the disk. */
async function prepare(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const { rows } = await client.query(`show ${name}`);
    if (rows[0][name] !== 'on') throw new Error(`${name} is off.`);
  }
  await client.query(
    `insert into origin (name, tenant, isdefault, requestedrate, defaultrate, judgement, callback, leaseseconds, profile)
     values ($1, 'bench', true, 120, '60', 'strict', 'offer', 864000, 'cloudevents')`,
    [origin],
  );
  await client.end();
}

async function untilReady(url) {
  for (let tries = 0; tries < 300; tries += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The registry did not get ready.');
}

const round2 = (value) => Math.round(value * 100) / 100;

if (process.argv[1] === here('register.mjs')) {
  const options = { json: { type: 'string' }, rounds: { type: 'string' }, profile: { type: 'string' } };
  const { values } = parseArgs({ options });
  const register = await measureRegistration({
    ...(values.rounds && { rounds: Number(values.rounds) }),
    ...(values.profile && { nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] }),
  });
  console.table([register]);
  if (values.json) await writeFile(values.json, `${JSON.stringify({ register }, undefined, 2)}\n`);
}
