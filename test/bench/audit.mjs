// Pages and exports of the audit record from a year of a million entries, over HTTP, on a Postgres with its defaults. Run
// after a build:
//
//   node test/bench/audit.mjs [--entries N] [--tenants N] [--writes]
//
// Half of the entries belong to one tenant, and the rest to the others, evenly. --writes measures what the indexes cost.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import querystring from 'node:querystring';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createToken } from '../../dist/tools/cli/login/create-token.js';
import { readConfig } from '../../dist/registry/app/config.js';
import { createLog } from '../../dist/registry/http/log.js';
import { createService } from '../../dist/registry/app/service.js';
import { startPostgres } from '../support/postgres.mjs';
import { median } from './measure.mjs';

const { values } = parseArgs({
  options: { entries: { type: 'string' }, tenants: { type: 'string' }, writes: { type: 'boolean' } },
});
const entries = Number(values.entries ?? 1_000_000);
const tenants = Number(values.tenants ?? 100);

const folder = await mkdtemp(join(tmpdir(), 'assent-audit-'));
const postgres = await startPostgres([]);
const client = new pg.Client({ connectionString: postgres.url });
await client.connect();
const env = {
  ASSENT_DATA: folder,
  DATABASE_URL: postgres.url,
  ASSENT_PORT: '0',
  ASSENT_OPERATIONS_PORT: '0',
  ASSENT_FEED_STALL_SECONDS: '60',
};
const service = await createService({ config: readConfig(env), log: createLog('error') });
const { url } = await service.start();
try {
  await fill();
  if (values.writes) await measureWrites();
  await measurePages();
  await measureExports();
} finally {
  await service.stop();
  await client.end();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

/** The times ascend with the ids, as in a real record. Every fifty-thousandth entry is a revocation by an admin. */
async function fill() {
  const started = performance.now();
  await client.query(
    `insert into audit (id, at, tenant, actor, action, target, subscriber, changed, detail, requestid)
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid, at,
       case when r % 2 = 0 then 'bench' else 'tenant-' || r / 2 % $2::int end,
       case when n % 50000 = 0 then 'beheer' when r / 7 % 3 = 0 then 'client-' || r / 3 % 200 else 'assent' end,
       case when n % 50000 = 0 then 'grant.revoked'
         when r / 7 % 3 = 0 then (array['subscription.created', 'subscription.replaced', 'subscription.suspended',
           'subscription.resumed', 'subscription.deleted', 'handshake.requested'])[1 + r / 21 % 6]
         else (array['grant.live', 'handshake.granted', 'handshake.refused', 'handshake.unreachable', 'grant.ended',
           'grant.held', 'handshake.cancelled'])[1 + r / 21 % 7] end,
       case when n % 50000 = 0 then 'grant:' else 'subscription:' end || md5((n / 20)::text)::uuid,
       case when n % 50000 <> 0 then 'client-' || r / 3 % 200 end,
       '{"types":{"before":["com.example.order.created"],"after":["com.example.order.created","com.example.order.paid"]},
         "sinkcredential":{"before":{"credentialtype":"PLAIN","fingerprint":"pvCk2xWq0sZ1mN4b"},"after":{"credentialtype":"PLAIN","fingerprint":"h7TfLr93yQe6Uc2d"}}}',
       jsonb_build_object('origin', 'eventemitter.example.com', 'sink', 'https://webhook.example.com/events/' || n),
       md5(n::text)
     from (select n, (hashint4(n)::bigint + 2147483648)::bigint as r, now() - interval '1 year' * (1 - n / $1::float8) as at from generate_series(1, $1::int) n) numbered`,
    [entries, tenants],
  );
  await client.query('vacuum analyze audit');
  const { rows } = await client.query(
    `select pg_size_pretty(pg_table_size('audit')) as rows, pg_size_pretty(pg_indexes_size('audit')) as indexes`,
  );
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  console.log(`${entries} entries of ${tenants} tenants in ${seconds} s: ${rows[0].rows}, indexes ${rows[0].indexes}`);
}

async function tokenOf(scope) {
  return createToken({ tenant: 'bench', subscriber: 'bench', scopes: [scope], minutes: 600 }, env);
}

async function measurePages() {
  const from = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString();
  const { rows } = await client.query(`select target from audit where tenant = 'bench' order by at limit 1`);
  const cases = [
    {},
    { limit: 200 },
    { since: from(200), until: from(199) },
    { until: from(364) },
    { action: 'subscription.replaced' },
    { action: 'subscription.' },
    { action: 'grant.revoked' },
    { action: 'origin.' },
    { actor: 'assent' },
    { actor: 'beheer' },
    { actor: 'client-7', action: 'subscription.replaced' },
    { actor: 'assent', action: 'grant.revoked' },
    { subscriber: 'client-8' },
    { subscriber: 'client-8', actor: 'beheer' },
    { subscriber: 'client-8', action: 'handshake.', until: from(300) },
    { target: rows[0].target },
    { target: rows[0].target, action: 'grant.revoked' },
    { actor: 'nobody' },
  ];
  for (const scope of ['assent:admin', 'assent:audit']) {
    const headers = { Authorization: `Bearer ${await tokenOf(scope)}` };
    for (const query of cases) {
      const times = [];
      let found = 0;
      for (let round = 0; round < 12; round += 1) {
        const started = performance.now();
        const address = Object.assign(new URL('/v1/audit', url), { search: querystring.stringify(query) });
        const answer = await fetch(address, { headers });
        found = (await answer.json()).length;
        times.push(performance.now() - started);
      }
      const ms = (time) => time.toFixed(1).padStart(7);
      console.log(
        `${scope} first ${ms(times[0])} median ${ms(median(times))} max ${ms(Math.max(...times))} ms, ${found} entries: ${JSON.stringify(query)}`,
      );
    }
  }
}

async function measureExports() {
  for (const [scope, accept] of [
    ['assent:admin', 'application/jsonl'],
    ['assent:audit', 'text/csv'],
  ]) {
    const headers = { Authorization: `Bearer ${await tokenOf(scope)}`, Accept: accept };
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let max = before;
    let bytes = 0;
    let lines = 0;
    const started = performance.now();
    const answer = await fetch(`${url}/v1/audit`, { headers });
    for await (const piece of answer.body) {
      bytes += piece.length;
      for (const byte of piece) if (byte === 10) lines += 1;
      max = Math.max(max, process.memoryUsage().rss);
    }
    const seconds = (performance.now() - started) / 1_000;
    const mb = (count) => (count / 1_048_576).toFixed(0);
    console.log(
      `${accept}: ${lines} lines, ${mb(bytes)} MB in ${seconds.toFixed(1)} s; memory ${mb(before)} to ${mb(max)} MB`,
    );
  }
}

/** Batches of 200 entries, as registrations write them: with all indexes, and with the key alone. */
async function measureWrites() {
  const write = async () => {
    const times = [];
    for (let round = 0; round < 100; round += 1) {
      const started = performance.now();
      await client.query(
        `insert into audit (id, tenant, actor, action, target, subscriber)
         select id, 'bench', 'client-' || n % 200, 'subscription.created', 'subscription:' || id, 'client-' || n % 200
         from (select n, (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
           || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid as id from generate_series(1, 200) n) numbered`,
      );
      times.push(performance.now() - started);
    }
    return median(times);
  };
  const all = await write();
  await client.query('begin');
  const { rows } = await client.query(
    `select indexrelid::regclass::text as name from pg_index where indrelid = 'audit'::regclass and not indisprimary`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  const alone = await write();
  await client.query('rollback');
  await client.query('vacuum analyze audit');
  console.log(`200 entries: ${all.toFixed(2)} ms; with the key alone: ${alone.toFixed(2)} ms (without a commit)`);
}
