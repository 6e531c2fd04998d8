// What vacuum leaves after an hour of mixed load: registrations, renewals, removals, reports, leases, counts, retention.
// Two registries, on databases of one Postgres, get the same load: one database as the migration makes it, and one without
// its storage parameters. Every webhook is one on localhost that consents.
//
//   npm run bench:bloat -- [--size N] [--minutes N] [--smallest] [--json FILE]
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../dist/registry/storage/migrate.js';
import { openDatabase } from '../../dist/registry/storage/open-database.js';
import { fillUsed, origin, tenant } from './fill.mjs';
import { createDatabase, withHarness } from './harness.mjs';
import { median, round2 } from './measure.mjs';
import { finish, readOptions } from './options.mjs';

const { size, minutes, json } = readOptions({ size: 100_000, minutes: 60 }, { size: 1_000, minutes: 0.1 });

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
const results = await withHarness({ settings }, async (harness) => {
  const { start, folder, url } = harness;
  const { told: webhook } = await start('consenting-webhook.mjs');
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, webhook.ca);
  const runs = [];
  for (const name of ['tuned', 'defaults']) {
    const at = await createDatabase(url, name);
    const client = new pg.Client({ connectionString: at });
    // Only the first error counts, which ends the Postgres.
    client.on('error', () => undefined);
    await client.connect();
    await migrateAt(at);
    if (name === 'defaults') await resetParameters(client);
    await fillUsed(at, size);
    await pointTo(client, webhook.port);
    await shortenLeases(client);
    const load = await createLoad(harness, client, {
      DATABASE_URL: at,
      ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
      ASSENT_SINK_PORTS: String(webhook.port),
      ASSENT_SINK_CA_FILE: caFile,
      ASSENT_HANDSHAKES_IN_FLIGHT_PER_HOST: '200',
      ASSENT_HANDSHAKES_IN_FLIGHT_PER_TENANT: '200',
      ASSENT_HANDSHAKES_PER_HOST: '1000000',
      ASSENT_HANDSHAKES_PER_TENANT: '1000000',
    });
    const state = async () => (await client.query(measured, [tables])).rows;
    runs.push({ name, load, state, before: await state(), samples: [], close: () => client.end() });
  }
  const endAt = performance.now() + minutes * 60_000;
  let sampledAt = 0;
  for (let tick = 0; performance.now() < endAt; tick += 1) {
    const tickedAt = performance.now();
    await Promise.all(runs.map((run) => run.load.tick(tick)));
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
    const { done, failures } = run.load;
    found.push({
      name: run.name,
      done,
      tables: summary(run.before, [...run.samples, await run.state()]),
      ...(failures.length > 0 && { fails: failures.slice(0, 3).join('; ') }),
    });
    await run.close();
  }
  return found;
});
for (const { name, done, tables: rows } of results) {
  console.log(`${name}: ${JSON.stringify(done)}`);
  console.table(rows);
}
finish(results, { json });

async function migrateAt(url) {
  const database = await openDatabase({ databaseUrl: url, dataFolder: '' });
  await migrate(database);
  await database.close();
}

/** Each sink of the database is a path of the webhook. */
async function pointTo(client, port) {
  await client.query('set session_replication_role = replica');
  for (const [table, more] of [
    ['subscription', ''],
    ['"grant"', ''],
    ['handshake', ", sinkhost = 'localhost'"],
  ]) {
    await client.query(
      `update ${table} set sink = 'https://localhost:${port}/' || split_part(sink, '/', 3) || '/' || split_part(sink, '/', 5)${more}`,
    );
  }
  await client.query('vacuum (full, analyze)');
}

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

/** What the clients of one registry do, a quarter of a second at a time. */
async function createLoad({ createRegistry, token }, client, env) {
  const registry = await createRegistry(env, (config) => ({
    ...config,
    // So that it deletes as much as an older registry does.
    retention: { ...config.retention, days: 0, feedHours: 0 },
  }));
  const { url } = await registry.start();
  const done = { registered: 0, removed: 0, reported: 0, leased: 0 };
  const failures = [];
  const tokens = { consumer: await token('assent:subscribe', 'consumer'), sender: await token('assent:deliver') };
  const request = async (who, method, path, body) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${tokens[who]}`, 'Content-Type': 'application/json', Prefer: 'respond-async' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const list = async (text, values) => (await client.query(text, values)).rows.map(({ it }) => it);
  const ids = await list(
    `select id as it from subscription where tenant = $1 and subscriber = 'consumer' order by id limit 50000`,
    [tenant],
  );
  const sinks = await list('select sink as it from "grant" where origin = $1 and state = \'live\' limit 20000', [
    origin,
  ]);
  const [base] = /^https:\/\/[^/]+/.exec(sinks[0]);
  const anySink = () => sinks[Math.floor(Math.random() * sinks.length)];
  let number = 0;

  const registerOne = async () => {
    number += 1;
    const sink = `${base}/later/${number}`;
    const types = [`com.example.case${number % 50_000}.changed.v1`];
    ids.push((await request('consumer', 'POST', '/subscriptions', { sink, protocol: 'HTTP', types })).id);
    done.registered += 1;
  };
  const removeOne = async () => {
    await request('consumer', 'DELETE', `/subscriptions/${ids.shift()}`);
    done.removed += 1;
  };
  const report = async () => {
    const outcomes = Array.from({ length: perSecond.reports }, (_, index) => ({
      origin,
      sink: anySink(),
      count: 10,
      ...(index < 2 ? { statuscode: 429, retryafter: '5' } : { statuscode: 204 }),
    }));
    await request('sender', 'POST', '/deliveries/outcomes', outcomes);
    done.reported += outcomes.length;
  };
  const take = async (index) => {
    const sink = sinks[Math.floor(Math.random() * Math.min(2_000, sinks.length))];
    const { status } = await fetch(`${url}/v1/leases`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tokens.sender}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ origin, sink, instance: `i${index % 3}`, requests: 5 }),
    });
    // 403 while the webhook rests, or after its last subscription was removed.
    if (![200, 201, 403].includes(status)) throw new Error(`POST /leases: ${status}`);
    done.leased += 1;
  };
  const times = (count, work) => Promise.all(Array.from({ length: count }, (_, index) => work(index)));

  const works = [
    [1, () => times(Math.round(perSecond.registrations / everySecond), registerOne)],
    [1, () => times(Math.round(perSecond.removals / everySecond), removeOne)],
    [everySecond, report],
    [everySecond, () => times(perSecond.leases, take)],
    [300 * everySecond, () => registry.forget()],
  ];
  return {
    done,
    failures,
    async tick(tick) {
      for (const [every, work] of works) {
        if (tick % every === 0) await work().catch((error) => failures.push(error.message));
      }
    },
  };
}
