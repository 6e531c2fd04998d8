// What vacuum leaves after an hour of mixed load: registrations, renewals, removals, reports, leases, counts, retention.
// Two databases of one Postgres get the same load: one as the migration makes it, and one without its storage parameters.
// No webhook is asked: responses are made up, so that the load is on the database.
//
//   npm run bench:bloat -- [--size N] [--minutes N] [--json FILE]
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { forgetChanges } from '../../dist/registry/changes/retention.js';
import { Leases } from '../../dist/registry/deliveries/lease.js';
import { createRecordOutcomes } from '../../dist/registry/deliveries/record-outcomes.js';
import { forgetGrants, noteExpiries } from '../../dist/registry/grants/retention.js';
import { Queue } from '../../dist/registry/handshake/queue.js';
import { RateWindows } from '../../dist/registry/handshake/rate-window.js';
import { forgetCooldowns, forgetHandshakes, forgetRateWindows } from '../../dist/registry/handshake/retention.js';
import { createSettle } from '../../dist/registry/handshake/settle.js';
import { renewDue } from '../../dist/registry/handshake/renew.js';
import { Counter } from '../../dist/registry/statistics/counter.js';
import { migrate } from '../../dist/registry/storage/migrate.js';
import { openDatabase } from '../../dist/registry/storage/open-database.js';
import { createCredentialVault, openDevelopmentKeys } from '../../dist/registry/subscriptions/credential-vault.js';
import { createRegister } from '../../dist/registry/subscriptions/register.js';
import { createSubscriptionWriter } from '../../dist/registry/subscriptions/write.js';
import { fillUsed, origin, tenant } from './fill.mjs';
import { createDatabase, withHarness } from './harness.mjs';
import { median, round2 } from './measure.mjs';

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '100000' },
    minutes: { type: 'string', default: '60' },
    json: { type: 'string' },
  },
});
const size = Number(values.size);
const minutes = Number(values.minutes);

/** In a second; renewals follow from the leases. */
const perSecond = { registrations: 30, removals: 25, reports: 20, leases: 20 };
const tickMs = 250;
const everySecond = 1_000 / tickMs;
/** Renewals come evenly in this time. */
const grantSeconds = size / 40;
const hot = [
  'subscription',
  'handshake',
  'attempt',
  'cooldown',
  'rate_window',
  'grant',
  'change',
  'audit',
  'idempotency',
];
const tables = [...hot, 'lease_pool', 'lease_holder', 'delivery', 'statistic', 'host_statistic'];

const measured = `
  select s.relname as name, n_tup_upd::float8 as updates, n_tup_hot_upd::float8 as hot, n_dead_tup::float8 as dead,
    n_live_tup::float8 as live, autovacuum_count::int as vacuums, pg_table_size(s.relid)::float8 as bytes,
    pg_indexes_size(s.relid)::float8 as indexbytes
  from pg_stat_user_tables s where s.relname = any ($1) order by s.relname`;

const deadOf = (rows, table) => rows.find(({ name }) => name === table).dead;

const settings = ['fsync = off', 'synchronous_commit = off', 'full_page_writes = off', 'shared_buffers = 256MB'];
const results = await withHarness({ settings }, async ({ url, folder }) => {
  const runs = [];
  for (const name of ['tuned', 'defaults']) {
    const at = await createDatabase(url, name);
    const database = await openDatabase({ databaseUrl: at, dataFolder: '' });
    await migrate(database);
    const client = new pg.Client({ connectionString: at });
    // Only the first error counts, which ends the Postgres.
    client.on('error', () => undefined);
    await client.connect();
    if (name === 'defaults') await resetParameters(client);
    await fillUsed(at, size);
    await shortenLeases(client);
    const load = await createLoad(database, folder);
    const state = async () => (await client.query(measured, [tables])).rows;
    runs.push({ name, load, state, before: await state(), samples: [], close: () => client.end() });
  }
  const endAt = performance.now() + minutes * 60_000;
  let sampledAt = 0;
  for (let tick = 0; performance.now() < endAt; tick += 1) {
    const tickedAt = performance.now();
    for (const run of runs) await run.load.tick(tick);
    if (tickedAt - sampledAt > 60_000) {
      sampledAt = tickedAt;
      for (const run of runs) run.samples.push(await run.state());
      const dead = runs.map(({ name, samples }) => `${name} ${deadOf(samples.at(-1), 'grant')}`).join(', ');
      console.log(`${new Date().toISOString()} dead grants: ${dead}; ${JSON.stringify(runs[0].load.done)}`);
    }
    await sleep(Math.max(0, tickMs - (performance.now() - tickedAt)));
  }
  const found = [];
  for (const run of runs) {
    found.push({
      name: run.name,
      done: run.load.done,
      tables: summary(run.before, [...run.samples, await run.state()]),
    });
    await run.load.close();
    await run.close();
  }
  return found;
});
for (const { name, done, tables: rows } of results) {
  console.log(`${name}: ${JSON.stringify(done)}`);
  console.table(rows);
}
if (values.json) await writeFile(values.json, `${JSON.stringify(results, undefined, 2)}\n`);

async function resetParameters(client) {
  const { rows } = await client.query(
    `select format('alter table %s reset (%s)', c.oid::regclass, string_agg(o.option_name, ', ')) as statement
     from pg_class c, pg_options_to_table(c.reloptions) o
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace group by c.oid`,
  );
  for (const { statement } of rows) await client.query(statement);
}

async function shortenLeases(client) {
  await client.query('update origin set grantseconds = $1', [grantSeconds]);
  await client.query(
    `update "grant" set renewat = at, expiresat = at + make_interval(secs => $1), noteat = at + make_interval(secs => $1 / 2)
     from (select origin, sink, now() + random() * make_interval(secs => $2) as at from "grant") t
     where "grant".origin = t.origin and "grant".sink = t.sink and renewat is not null`,
    [grantSeconds * 0.2, grantSeconds * 0.8],
  );
  await client.query('vacuum (full, analyze) "grant"');
  await client.query('select pg_stat_reset()');
}

function summary(before, samples) {
  const mb = (bytes) => round2(bytes / 1e6);
  const last = samples.at(-1);
  return last.map(({ name, updates, hot: inPlace, live, vacuums, bytes, indexbytes }, place) => {
    const dead = samples.map((rows) => deadOf(rows, name));
    return {
      table: name,
      updates,
      hotpercent: updates > 0 ? Math.round((100 * inPlace) / updates) : undefined,
      live,
      deadmedian: median(dead),
      deadmost: Math.max(...dead),
      vacuums,
      mb: mb(bytes),
      grownmb: mb(bytes - before[place].bytes),
      indexmb: mb(indexbytes),
      indexgrownmb: mb(indexbytes - before[place].indexbytes),
    };
  });
}

/** What one process does with a database, a quarter of a second at a time. */
async function createLoad(database, folder) {
  const queue = new Queue({
    database,
    rateWindows: new RateWindows({ perHost: 1_000_000, perTenant: 1_000_000 }),
    publicUrl: 'https://assent.example.com',
    callbackSeconds: 3_600,
    deadlineMs: 20_000,
    inFlight: { perHost: 200, perTenant: 200, unstored: new Set() },
  });
  const { settle } = createSettle({
    database,
    maxAttempts: 3,
    retry: { firstMs: 1_000, maxMs: 60_000, factor: 4 },
    random: Math.random,
  });
  const counter = new Counter({ query: database.query, now: Date.now });
  const done = { registered: 0, settled: 0, removed: 0, failed: 0 };
  const settleAll = (begun) =>
    Promise.all(
      begun.map(async (each) => {
        const { verdict } = await settle(each, responseTo(each));
        counter.count(tenant, origin, { kind: 'handshake', code: verdict }, 1);
        done.settled += 1;
      }),
    );
  const adopt = async (work) => {
    const { begun, result } = await work(50);
    await settleAll(begun);
    return result;
  };
  const vault = createCredentialVault(await openDevelopmentKeys(folder));
  const limits = {
    quotaError: () => undefined,
    backlogError: async () => undefined,
    prices: { perSubscriber: 1e9, perTenant: 1e9 },
  };
  const { register } = createRegister({ database, vault, queue, adopt, ...limits });
  const writer = createSubscriptionWriter({ database, vault, register, ...limits });
  const recordOutcomes = createRecordOutcomes(database);
  const leases = new Leases(database);
  const principal = { tenant, subscriber: 'consumer', scopes: new Set(['assent:subscribe']), tokenExpiresAt: Infinity };
  const caller = { principal, actor: { tenant, name: 'consumer' } };
  const ids = (
    await database.query(
      `select id from subscription where tenant = '${tenant}' and subscriber = 'consumer' order by id limit 50000`,
    )
  ).map(({ id }) => id);
  const sinks = (await database.query(`select sink from "grant" where origin = '${origin}' limit 20000`)).map(
    ({ sink }) => sink,
  );
  const anySink = () => sinks[Math.floor(Math.random() * sinks.length)];
  let number = 0;

  const registerOne = async () => {
    number += 1;
    const definition = {
      sink: `https://webhooks.example.com/later/${number}`,
      protocol: 'HTTP',
      types: [`com.example.case${number % 50_000}.changed.v1`],
      price: 0,
    };
    const request = {
      tenant,
      subscriber: 'consumer',
      key: `key-${number}`,
      operation: 'createSubscription',
      content: number,
    };
    const requested = { isSuspended: false, definition, origin, credential: { kind: 'none' } };
    ids.push((await register(caller, requested, request, true)).id);
    done.registered += 1;
  };
  const removeOne = async () => {
    await writer.remove(caller, ids.shift(), () => undefined);
    done.removed += 1;
  };
  const report = () => {
    const outcomes = Array.from({ length: perSecond.reports }, (_, index) => {
      const more =
        index < 2 ? { kind: 'throttled', statusCode: 429, holdSeconds: 5 } : { kind: 'delivered', statusCode: 204 };
      return { index, origin, sink: anySink(), count: 10, ageSeconds: 0, ...more };
    });
    const request = { tenant, subscriber: 'sender', key: undefined, operation: 'report', content: outcomes };
    return recordOutcomes({ tenant, name: 'sender' }, outcomes, request);
  };
  const take = (index) =>
    leases.take({ tenant, origin, sink: sinks[index], instance: `i${index % 3}`, requests: 5, returns: [] });
  const untilDone = async (most, step) => {
    while ((await database.write((tx) => step(tx, most))) === most);
  };
  const times = (count, work) => Promise.all(Array.from({ length: count }, (_, index) => work(index)));

  const works = [
    [1, () => times(Math.round(perSecond.registrations / everySecond), registerOne)],
    [1, () => times(Math.round(perSecond.removals / everySecond), removeOne)],
    [
      1,
      async () => {
        const { begun } = await queue.claim(50);
        await settleAll(begun);
      },
    ],
    [everySecond, report],
    [everySecond, () => times(perSecond.leases, () => take(Math.floor(Math.random() * 2_000)))],
    [2 * everySecond, () => database.write((tx) => renewDue(tx, 1_000, { perHost: 1_000_000, perTenant: 1_000_000 }))],
    [2 * everySecond, () => untilDone(100, noteExpiries)],
    [5 * everySecond, () => counter.flush()],
    [300 * everySecond, () => forgetHandshakes(database.query, 0)],
    [300 * everySecond, () => forgetChanges(database.query, 0)],
    [300 * everySecond, () => forgetGrants(database, 0)],
    [300 * everySecond, () => forgetRateWindows(database.query)],
    [300 * everySecond, () => forgetCooldowns(database.query)],
  ];
  return {
    done,
    async tick(tick) {
      for (const [every, work] of works) {
        if (tick % every !== 0) continue;
        await work().catch((error) => {
          done.failed += 1;
          if (done.failed < 20) console.error(error);
        });
      }
    },
    close: () => database.close(),
  };
}

/** One of twenty gives no response. */
function responseTo({ claim }) {
  const timing = { totalMs: 20 };
  if (Math.random() < 0.05) return { kind: 'unanswered', code: 'connection_refused', detail: 'made up', timing };
  const headers = [
    ['WebHook-Allowed-Origin', claim.origin],
    ['WebHook-Allowed-Rate', '100'],
  ];
  return { kind: 'answered', status: 200, headers, remoteAddress: '203.0.113.7', timing };
}
