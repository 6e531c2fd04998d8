// How long a process takes to have everything in memory, against a bare COPY of the same tables. Run after a build:
//
//   node test/bench/cold-start.mjs [--size N]
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { createFollower } from '../../dist/registry/changes/follower.js';
import { dialects } from '../../dist/matching/filters/dialects.js';
import { Replica } from '../../dist/matching/replica/replica.js';
import { openDatabase } from '../../dist/registry/storage/open-database.js';
import { startPostgres } from '../support/postgres.mjs';
import { fill } from './fill.mjs';

export async function measureColdStart(size) {
  const postgres = await startPostgres();
  try {
    await fill(postgres.url, size);
    const copyMs = await copy(postgres.url);
    const database = await openDatabase({ databaseUrl: postgres.url, dataFolder: '' });
    const follower = createFollower({
      database,
      createReplica: (now) => new Replica({ dialects, now }),
      pollMs: 1_000,
      onFault: (error) => console.error(error),
    });
    const before = memory();
    const startedAt = performance.now();
    await follower.catchUp();
    const loadMs = performance.now() - startedAt;
    const { bytes } = follower.replica().size();
    const heap = memory() - before;
    await database.close();
    return {
      subscriptions: size,
      copyms: Math.round(copyMs),
      loadms: Math.round(loadMs),
      ratio: Math.round((loadMs / copyMs) * 100) / 100,
      bytespersubscription: Math.round((bytes + heap) / size),
    };
  } finally {
    await postgres.stop();
  }
}

async function copy(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const startedAt = performance.now();
  await client.query('copy subscription to stdout');
  await client.query('copy "grant" to stdout');
  const ms = performance.now() - startedAt;
  await client.end();
  return ms;
}

/** Bytes of the collected heap in use. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

function memory() {
  collect();
  return process.memoryUsage().heapUsed;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { values } = parseArgs({ options: { size: { type: 'string' } } });
  console.table([await measureColdStart(Number(values.size ?? 1_000_000))]);
}
