// How long a block takes, and until a sender that follows the feed knows it, with many pairs under it, on a Postgres with its
// defaults; and what a thousand other blocks cost each read of a subscription. Run after a build:
//
//   node test/bench/blocks.mjs [--pairs N]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createToken } from '../../dist/tools/cli/login/create-token.js';
import { readConfig } from '../../dist/registry/app/config.js';
import { createLog } from '../../dist/registry/http/log.js';
import { createSender } from '../../dist/kits/sender/index.js';
import { createService } from '../../dist/registry/app/service.js';
import { startPostgres } from '../support/postgres.mjs';
import { fill, origin } from './fill.mjs';

const { values } = parseArgs({ options: { pairs: { type: 'string' } } });
const pairs = Number(values.pairs ?? 10_000);

const folder = await mkdtemp(join(tmpdir(), 'assent-blocks-'));
const postgres = await startPostgres([]);
await fill(postgres.url, pairs);
const client = new pg.Client({ connectionString: postgres.url });
await client.connect();
const env = { ASSENT_DATA: folder, DATABASE_URL: postgres.url, ASSENT_PORT: '0', ASSENT_OPERATIONS_PORT: '0' };
const service = await createService({ config: readConfig(env), log: createLog('error') });
const { url } = await service.start();
const tokenFor = (scope) => createToken({ tenant: 'bench', subscriber: 'bench', scopes: [scope], minutes: 60 }, env);
const admin = await tokenFor('assent:admin');
const senderToken = await tokenFor('assent:deliver');
const sender = await createSender({ registry: url, token: () => senderToken, onFault: console.error });
try {
  await sender.ready();
  const { rows } = await client.query('select sink, id from subscription limit 1');
  const [{ sink, id }] = rows;
  for (const [kind, value] of [
    ['sink', sink],
    ['host', 'webhook.example.com'],
    ['domain', 'example.com'],
    ['origin', origin],
    ['subscriber', 'consumer'],
  ]) {
    const blocked = await timed('POST', '/v1/blocks', { kind, value, reason: 'Measured.' });
    const knownAfter = await until(() => !sender.permission(origin, sink).allowed, blocked.startedAt);
    const lifted = await timed('DELETE', `/v1/blocks/${blocked.body.id}`);
    const backAfter = await until(() => sender.permission(origin, sink).allowed, lifted.startedAt);
    console.log(
      `${kind}: ${blocked.body.effect.subscriptions} subscriptions, ${blocked.body.effect.grants} grants: blocked in ` +
        `${blocked.ms} ms, known to a sender after ${knownAfter} ms; lifted in ${lifted.ms} ms, known after ${backAfter} ms`,
    );
  }
  const read = async () => {
    const times = [];
    for (let i = 0; i < 200; i += 1) times.push((await timed('GET', `/v1/subscriptions/${id}`)).ms);
    return times.sort((a, b) => a - b)[100];
  };
  await read();
  const before = await read();
  await client.query(
    `insert into block (id, tenant, kind, value, reason, createdby)
     select gen_random_uuid(), 'bench', 'host', 'host-' || n || '.example.net', 'r', 'b' from generate_series(1, 1000) n`,
  );
  console.log(`a read of a subscription: ${before} ms; with 1000 blocks of other hosts ${await read()} ms`);
} finally {
  await sender.close();
  await service.stop();
  await client.end();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

async function timed(method, path, body) {
  const startedAt = performance.now();
  const headers = { Authorization: `Bearer ${admin}`, ...(body && { 'Content-Type': 'application/json' }) };
  const response = await fetch(`${url}${path}`, { method, headers, body: body && JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return { body: answer, startedAt, ms: Math.round((performance.now() - startedAt) * 10) / 10 };
}

async function until(isTrue, startedAt) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
  return Math.round(performance.now() - startedAt);
}
