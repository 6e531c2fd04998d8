// Fills databases past the API: with an origin, subscriptions of the mixed kind and a live grant for each (fill), or with
// a registry that has been used for a while (fillUsed).
import pg from 'pg';
import { openDatabase } from '../../dist/registry/storage/open-database.js';
import { migrate } from '../../dist/registry/storage/migrate.js';
import { eachSubscription } from './mixes.mjs';

export const origin = 'eventemitter.example.com';
export const tenant = 'bench';
const rowsAtOnce = 5_000;

export async function fill(url, size) {
  await filling(url, async (client) => {
    await client.query(insertOrigin('$1', '$2'), [origin, tenant]);
    const all = [];
    eachSubscription('mixed', size, (subscription) => all.push(subscription));
    for (let from = 0; from < all.length; from += rowsAtOnce) {
      await client.query(
        `insert into subscription (id, tenant, subscriber, origin, sink, protocol, source, types, subject, filters)
         select id, '${tenant}', 'consumer', $2, 'https://webhook.example.com/' || id, 'HTTP', source, types, subject, filters
         from jsonb_to_recordset($1::jsonb) as r (id uuid, source text, types text[], subject text, filters jsonb)`,
        [JSON.stringify(all.slice(from, from + rowsAtOnce)), origin],
      );
    }
    await client.query(
      `insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat)
       select origin, sink, gen_random_uuid(), tenant, 'live', 'response', '100', 'bench', now(), now() + interval '1 day'
       from subscription`,
    );
    await client.query('analyze');
  });
}

const insertOrigin = (name, ofTenant) => `
  insert into origin (name, tenant, isdefault, defaultrate, judgement, callback, grantseconds, profile)
  select ${name}, ${ofTenant}, true, '60', 'strict', 'offer', 864000, 'cloudevents'`;

/** Of what fillUsed writes. */
export const used = {
  smallTenants: 99,
  hosts: 5_000,
  /** Has four of five grants of the tenant, and all its grants are in the network. */
  host: 'webhooks.example.com',
  domain: 'example.com',
  network: '203.0.113.0/24',
  /** Has four of five subscriptions of the tenant. */
  subscriber: 'consumer',
};

/**
 * Of a thousand subscriptions, 50 belong to the small tenants and have a live grant; 900 are of one tenant and have a
 * live grant; the rest were refused, are unreachable, retired, expired, waiting or suspended. Each was asked once in the
 * last 60 days; grants were renewed since then. One of twenty subscriptions has an end. Nothing is due within the next twelve hours. The same for a size, by SQL
 * alone: a million takes about two minutes.
 */
export async function fillUsed(url, size, onStep = () => undefined) {
  await filling(url, async (client) => {
    const step = async (name, text) => {
      const startedAt = performance.now();
      await client.query(text);
      onStep(name, (performance.now() - startedAt) / 1_000);
    };
    await client.query('set synchronous_commit = off; set maintenance_work_mem = 262144; set jit = off');
    // Without checks of foreign keys, row by row; and indexes are made at once.
    await client.query('set session_replication_role = replica');
    const { rows: indexes } = await client.query(
      `select x.indexrelid::regclass::text as name, pg_get_indexdef(x.indexrelid) as definition
       from pg_index x
       where x.indrelid in ('subscription'::regclass, '"grant"'::regclass, 'handshake'::regclass, 'attempt'::regclass)
         and not exists (select from pg_constraint c where c.conindid = x.indexrelid)`,
    );
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    await client.query(insertOrigin('$1', '$2'), [origin, tenant]);
    await client.query(
      `${insertOrigin(smallOrigin('k'), smallTenant('k'))} from generate_series(0, ${used.smallTenants - 1}) k`,
    );
    await client.query(`create temporary table made as ${made(size)}`);
    await step('subscriptions', insertSubscriptions);
    await step('handshakes', insertHandshakes);
    await step('attempts', insertAttempts);
    await step('grants', insertGrants);
    await client.query('drop table made');
    await step('indexes', indexes.map(({ definition }) => definition).join(';'));
    await step('vacuum', 'vacuum (freeze, analyze)');
  });
}

async function filling(url, work) {
  const database = await openDatabase({ databaseUrl: url, dataFolder: '' });
  await migrate(database);
  await database.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await work(client).finally(() => client.end());
}

const smallTenant = (k) => `'tenant' || ${k}`;
const smallOrigin = (k) => `'origin' || ${k} || '.example.org'`;

/** UUID version 7 of a number and a time. */
const idOf = (n, at, kind) => `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7'
  || lpad(to_hex(${n} % 4096), 3, '0') || '8${kind}' || lpad(to_hex(${n}), 14, '0'))::uuid`;

/** One row for a subscription, with all that the tables need. */
const made = (size) => `
  select n, ${idOf('n', 'at', 0)} as id, ${idOf('n', 'at', 1)} as handshake, at, tenant, origin, host,
    'https://' || host || '/hooks/' || lpad(n::text, 9, '0') as sink,
    case when n % 10 < 8 then '${used.subscriber}' else 'consumer' || n % 1000 end as subscriber,
    place, case
      when place < 950 then 'granted' when place < 970 then 'refused' when place < 980 then 'unreachable'
      when place < 985 then 'retired' when place < 990 then 'expired' when place < 995 then 'waiting' else 'suspended'
    end as become,
    -- In the last seven days, in no order.
    now() - make_interval(secs => (n::bigint * 7919 % 604800)) as grantedat
  from (
    select n, place, now() - interval '60 days' + n * (interval '59 days' / ${size}) as at,
      case when place < 50 then ${smallTenant('small')} else '${tenant}' end as tenant,
      case when place < 50 then ${smallOrigin('small')} else '${origin}' end as origin,
      case when place between 50 and 849 then '${used.host}'
        else 'host' || (n / 1000 * 200 + place) % ${used.hosts - 1} || '.example.net' end as host
    from generate_series(0, ${size - 1}) n, lateral (
      select n % 1000 as place, (n / 1000 * 50 + n % 1000) % ${used.smallTenants} as small) places
  ) placed`;

const insertSubscriptions = `
  insert into subscription (id, tenant, subscriber, origin, sink, protocol, source, types, filters, suspendedat, suspendedby,
    endsat, createdat, updatedat)
  select id, tenant, subscriber, origin, sink, 'HTTP', 'urn:example:system:' || n % 10000,
    array['com.example.case' || n % 50000 || '.changed.v1'],
    case when n % 4 = 0 then jsonb_build_array(jsonb_build_object('prefix', jsonb_build_object('subject', n / 10 || '/'))) end,
    case when become = 'suspended' then now() end, case when become = 'suspended' then 'subscriber' end,
    case when n % 20 = 0 then at + interval '1 year' end, at, at
  from made`;

const insertHandshakes = `
  insert into handshake (id, tenant, origin, sink, sinkhost, subscription, generation, trigger, startedby, requestedrate,
    state, verdict, attempts, dueat, waitinguntil, callbackopen, createdat, finishedat)
  select handshake, tenant, origin, sink, host, id, 1, 'registration', subscriber, 120,
    case when become in ('expired', 'suspended') then 'granted' else become end,
    case become when 'refused' then 'no_consent_headers' when 'unreachable' then 'connection_refused' when 'retired' then 'gone'
      when 'waiting' then 'no_consent_headers' else 'granted' end,
    1, at, case when become = 'waiting' then now() + interval '1 day' end, become = 'waiting', at,
    case when become <> 'waiting' then at + interval '1 second' end
  from made`;

const insertAttempts = `
  insert into attempt (handshake, number, requestheaders, startedat, finishedat, verdict, tolerated, statuscode, responseheaders,
    address, timing)
  select handshake, 1, jsonb_build_array(jsonb_build_array('WebHook-Request-Origin', origin)), at, at + interval '1 second',
    case become when 'refused' then 'no_consent_headers' when 'unreachable' then 'connection_refused' when 'retired' then 'gone'
      when 'waiting' then 'no_consent_headers' else 'granted' end,
    '{}', case become when 'unreachable' then null when 'retired' then 410 else 200 end,
    case when become not in ('refused', 'unreachable', 'retired')
      then jsonb_build_array(jsonb_build_array('webhook-allowed-origin', origin)) else '[]' end,
    '203.0.113.' || n % 256, '{"totalMs": 20}'
  from made`;

/** Of a thousand, ten are agreements, which no handshake renews, and one is held for a while. */
const insertGrants = `
  insert into "grant" (origin, sink, id, tenant, state, basis, allowedorigin, allowedrate, requestedrate, tolerated, handshake,
    recordedby, grantedat, expiresat, renewat, noteat, helduntil, address)
  select origin, sink, ${idOf('n', 'at', 2)}, tenant, 'live', case when isagreed then 'agreement' else 'response' end, origin,
    '100', 120, '{}', handshake, 'assent', grantedat, over, case when not isagreed and over > now() then over - interval '2 days' end,
    case when over > now() then over - interval '1 day' end,
    case when place = 100 then now() + interval '2 hours' end, '203.0.113.' || n % 256
  from (
    select *, case when become = 'expired' then now() - interval '1 day'
      when isagreed then grantedat + interval '60 days' else grantedat + interval '10 days' end as over
    from (select *, place between 840 and 849 as isagreed from made) m
    where become in ('granted', 'expired', 'suspended')
  ) g
  order by origin, sink`;
