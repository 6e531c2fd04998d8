// Searches in a registry of a million subscriptions, grants and handshakes of one tenant: milliseconds for the first
// page, for the slowest page on the way to the end, and for the count. `DATABASE_URL` names a database that was filled
// before, or an empty one; without it, a Postgres is started.
import { performance } from 'node:perf_hooks';
import pg from 'pg';
import { createGrantReader } from '../../dist/registry/grants/read-grant.js';
import { createHandshakeReader } from '../../dist/registry/handshake/read-handshake.js';
import { migrate } from '../../dist/registry/storage/migrate.js';
import { openDatabase } from '../../dist/registry/storage/open-database.js';
import { createSubscriptionReader } from '../../dist/registry/subscriptions/read-subscription.js';
import { startPostgres } from '../support/postgres.mjs';

const size = Number(process.argv[2] ?? 1_000_000);
const server = process.env.DATABASE_URL === undefined ? await startPostgres() : undefined;
const url = process.env.DATABASE_URL ?? server.url;
const database = await openDatabase({ databaseUrl: url, dataFolder: process.env.ASSENT_DATA ?? '' });

/** A row a second, with ids of UUID version 7. Of a hundred webhooks one did not consent; a few grants are over. */
const statements = [
  `insert into origin (name, tenant, defaultrate, judgement, callback, leaseseconds, profile)
   select name, 'bench', '60', 'strict', 'offer', 864000, 'cloudevents'
   from unnest(array['eventemitter.example.com', 'second.example.com', 'rare.example.com']) as o (name)`,
  `create temporary table made as
   select n, now() - (size - n) * interval '1 second' as at,
     (lpad(to_hex((extract(epoch from now() - (size - n) * interval '1 second') * 1000)::bigint), 12, '0') || '7'
       || substr(md5(n::text), 1, 3) || '9' || substr(md5(n::text), 4, 15))::uuid as id,
     case when n % 10000 = 7 then 'rare.example.com' when n % 100 = 7 then 'second.example.com'
       else 'eventemitter.example.com' end as origin,
     'https://' || case when n % 2 = 0 then 'webhook.example.com' else 'hook' || n / 2 % 10000 || '.example.org' end
       || '/tenants/' || n || '/events?key=' || md5(n::text) as sink,
     case when n % 10 = 0 then 'client' || n / 10 % 1000 else 'consumer' end as subscriber,
     case when n % 1000 = 0 then 'unreachable' when n % 100 = 0 then 'refused' when n = 77 then 'retired'
       else 'granted' end as state
   from (select ${size}::int as size) s, generate_series(1, ${size}::int) n`,
  `insert into subscription (id, tenant, subscriber, origin, sink, protocol, types, createdat, suspendedat, suspendedby)
   select id, 'bench', subscriber, origin, sink, 'HTTP', array['com.example.t' || n % 50], at,
     case when n % 1000 = 500 then at end, case when n % 1000 = 500 then 'admin' end from made`,
  `insert into handshake (id, tenant, origin, sink, sinkhost, subscription, generation, reason, startedby, state, verdict,
     createdat, finishedat, attempts)
   select id, 'bench', origin, sink, sink_host(sink), id, 1, 'registration', subscriber, state,
     case state when 'granted' then 'granted' when 'retired' then 'gone' when 'unreachable' then 'connection_refused'
       else 'origin_mismatch' end, at, at, 1 from made`,
  `insert into attempt (handshake, number, requestheaders, startedat, finishedat, verdict)
   select id, 1, '[]', at, at, 'granted' from made`,
  `insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat, handshake)
   select origin, sink, id, 'bench', case when n % 1000 = 1 then 'revoked' else 'live' end,
     case when n % 1000 = 3 then 'agreement' else 'response' end, '100', 'bench', at,
     now() + case when n % 1000 = 2 then interval '-1 hour' else interval '1 day' + n * interval '1 second' end, id
   from made where state = 'granted'`,
  'vacuum analyze',
];

async function fillIfEmpty() {
  await migrate(database);
  const [row] = await database.query('select count(*)::int as n from origin');
  if (row.n > 0) return;
  if (database.kind === 'embedded') {
    for (const statement of statements) await database.query(statement);
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const admin = { tenant: 'bench', subscriber: 'admin', scopes: new Set(['assent:admin']) };
const consumer = (subscriber) => ({ tenant: 'bench', subscriber, scopes: new Set(['assent:subscribe']) });
const subscriptions = createSubscriptionReader(database);
const grants = createGrantReader(database);
const handshakes = createHandshakeReader(database, 10_000, Date.now);
const ago = (seconds) => new Date(Date.now() - seconds * 1000);
const middle = size / 2;

const lists = {
  subscriptions: (query, principal = admin) => subscriptions.list(principal, query),
  grants: (query) => grants.list({ ...query, tenant: 'bench' }),
  handshakes: (query) => handshakes.find({ ...query, tenant: 'bench' }),
};
const searches = [
  ['subscriptions', {}],
  ['subscriptions', { host: 'webhook.example.com' }],
  ['subscriptions', { host: 'hook77.example.org' }],
  ['subscriptions', { host: 'absent.example.org' }],
  ['subscriptions', { sinkcontains: 'webhook' }],
  ['subscriptions', { sinkcontains: `tenants/${middle}/` }],
  ['subscriptions', { sinkcontains: 'absent' }],
  ['subscriptions', { sinkcontains: 'absent', host: 'webhook.example.com' }],
  ['subscriptions', { sinkcontains: 'absent' }, consumer('client7')],
  ['subscriptions', { sinkcontains: 'absent' }, consumer('consumer')],
  ['subscriptions', { host: 'webhook.example.com' }, consumer('client7')],
  ['subscriptions', { subscriber: 'client7' }],
  ['subscriptions', { origin: 'rare.example.com' }],
  ['subscriptions', { origin: 'second.example.com' }],
  ['subscriptions', { type: 'com.example.absent' }],
  ...['active', 'refused', 'unreachable', 'retired', 'suspended', 'expired', 'pending'].map((status) => [
    'subscriptions',
    { status },
  ]),
  ...[
    'origin_mismatch',
    'connection_refused',
    'gone',
    'revoked',
    'granted',
    'agreement',
    'tls_failed',
    'not_asked_yet',
  ].map((reason) => ['subscriptions', { reason }]),
  ['subscriptions', { reason: 'origin_mismatch', host: 'hook77.example.org' }],
  ['subscriptions', { status: 'active' }, consumer('client7')],
  ['subscriptions', { createdsince: ago(3600) }],
  ['subscriptions', { createdsince: ago(middle + 3600), createduntil: ago(middle) }],
  ['grants', {}],
  ['grants', { host: 'hook77.example.org' }],
  ['grants', { sinkcontains: 'absent' }],
  ['grants', { subscriber: 'client7' }],
  ['grants', { subscriber: 'consumer' }],
  ['grants', { subscriber: 'absent' }],
  ['grants', { origin: 'rare.example.com' }],
  ['grants', { state: 'revoked' }],
  ['grants', { state: 'expired' }],
  ['grants', { basis: 'agreement' }],
  ['grants', { basis: 'policy' }],
  ['grants', { state: 'live', expiresuntil: new Date(Date.now() + 86_400_000 + 1_800_000) }],
  ['grants', { state: 'live', expiresuntil: ago(-90_000_000) }],
  ['handshakes', {}],
  ['handshakes', { host: 'hook77.example.org' }],
  ['handshakes', { sinkcontains: 'absent' }],
  ['handshakes', { subscriber: 'client7' }],
  ['handshakes', { subscriber: 'consumer' }],
  ['handshakes', { subscriber: 'absent' }],
  ['handshakes', { origin: 'rare.example.com' }],
  ['handshakes', { state: 'refused' }],
  ['handshakes', { state: 'due' }],
  ['handshakes', { verdict: 'origin_mismatch' }],
  ['handshakes', { verdict: 'tls_failed' }],
  ['handshakes', { reason: 'renewal' }],
  ['handshakes', { createdsince: ago(middle + 3600), createduntil: ago(middle) }],
];

async function timed(work) {
  const start = performance.now();
  const result = await work();
  return { result, ms: performance.now() - start };
}

console.log(`filling ${size}`);
const filling = await timed(fillIfEmpty);
console.log(`filled in ${Math.round(filling.ms / 1000)} s`);
const only = process.env.ONLY;
const rows = [];
for (const [list, query, principal] of searches) {
  const name = `${list} ${JSON.stringify(query)}${principal ? ` as ${principal.subscriber}` : ''}`;
  if (only && !name.includes(only)) continue;
  const ask = lists[list];
  const page = (after) => timed(() => ask({ ...query, after, limit: 50 }, principal));
  await page();
  const firsts = [await page(), await page(), await page()];
  let [at] = firsts;
  const first = firsts.map(({ ms }) => ms).sort((a, b) => a - b)[1];
  let found = at.result.entries.length;
  let slowest = first;
  let pages = 1;
  for (; at.result.next !== undefined && pages < 60; pages += 1) {
    at = await page(at.result.next);
    found += at.result.entries.length;
    slowest = Math.max(slowest, at.ms);
  }
  const counted = await timed(() => ask({ ...query, after: undefined, limit: 1, count: true }, principal));
  const { count, isAtLeast } = counted.result.total;
  const row = {
    search: name,
    first: first.toFixed(1),
    slowest: slowest.toFixed(1),
    pages: `${pages}${at.result.next ? '+' : ''}`,
    found,
    count: `${count}${isAtLeast ? '+' : ''}`,
    countms: counted.ms.toFixed(1),
  };
  rows.push(row);
  console.log(Object.values(row).join(' | '));
}
await database.close();
await server?.stop();
