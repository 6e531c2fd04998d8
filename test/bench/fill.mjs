// Fills a database with an origin, subscriptions of the mixed kind, and a live grant for each, past the API.
import pg from 'pg';
import { openDatabase } from '../../dist/registry/storage/open-database.js';
import { migrate } from '../../dist/registry/storage/migrate.js';
import { eachSubscription } from './mixes.mjs';

export const origin = 'eventemitter.example.com';
const rowsAtOnce = 5_000;

export async function fill(url, size) {
  const database = await openDatabase({ databaseUrl: url, dataFolder: '' });
  await migrate(database);
  await database.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `insert into origin (name, tenant, isdefault, defaultrate, judgement, callback, leaseseconds, profile)
     values ($1, 'bench', true, '60', 'strict', 'offer', 864000, 'cloudevents')`,
    [origin],
  );
  const all = [];
  eachSubscription('mixed', size, (subscription) => all.push(subscription));
  for (let from = 0; from < all.length; from += rowsAtOnce) {
    await client.query(
      `insert into subscription (id, tenant, subscriber, origin, sink, protocol, source, types, subject, filters)
       select id, 'bench', 'consumer', $2, 'https://webhook.example.com/' || id, 'HTTP', source, types, subject, filters
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
  await client.end();
}
