// What one tenant's most expensive messages cost the others: 500 filters of thirty patterns that nearly match everywhere,
// and batches of 100 events with subjects of 8,000 characters, over and over, while another tenant looks up and matches
// and somebody watches /livez. Each with and without the attack. Run after a build:
//
//   node test/bench/attack.mjs [--seconds N] [--connections N]
//
// The filters are written past the API, which would refuse their price.
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { origin } from './fill.mjs';
import { load, requestBytes } from './load.mjs';
import { percentile } from './measure.mjs';
import { withDatabase } from './processes.mjs';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, connections: { type: 'string', default: '4' } },
});
const seconds = Number(values.seconds);
const attacker = { tenant: 'attacker', name: 'attacker.example.com' };

async function fillAttack(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `insert into origin (name, tenant, isdefault, defaultrate, judgement, callback, leaseseconds, profile)
     values ($1, $2, true, '60', 'strict', 'offer', 864000, 'cloudevents')`,
    [attacker.name, attacker.tenant],
  );
  const rows = Array.from({ length: 500 }, (_, filter) => ({
    id: randomUUID(),
    filters: [
      { sql: Array.from({ length: 30 }, (_, part) => `subject LIKE '%a%a%a%b${filter}x${part}%'`).join(' OR ') },
    ],
  }));
  await client.query(
    `insert into subscription (id, tenant, subscriber, origin, sink, protocol, types, filters)
     select id, $2, 'consumer', $3, 'https://webhook.example.com/' || id, 'HTTP', '{}'::text[], filters
     from jsonb_to_recordset($1::jsonb) as r (id uuid, filters jsonb)`,
    [JSON.stringify(rows), attacker.tenant, attacker.name],
  );
  await client.end();
}

/** Milliseconds of each of many requests, one after the other on one connection. */
async function watch(times, until, request) {
  while (performance.now() < until) {
    const startedAt = performance.now();
    const response = await request();
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`A request was answered ${response.status}.`);
    times.push(performance.now() - startedAt);
  }
}

await withDatabase(10_000, async ({ startRegistry, token, url }) => {
  await fillAttack(url);
  const { port, operationsPort } = await startRegistry();
  const api = `http://127.0.0.1:${port}/v1`;
  const theirs = { Authorization: `Bearer ${await token('assent:deliver')}` };
  const event = { specversion: '1.0', id: '1', source: 'urn:example:a', type: 'com.example.a' };
  const batch = requestBytes({
    method: 'POST',
    path: '/v1/match',
    headers: {
      Authorization: `Bearer ${await token('assent:deliver', attacker.tenant)}`,
      'Content-Type': 'application/cloudevents-batch+json',
    },
    body: JSON.stringify(Array.from({ length: 100 }, () => ({ ...event, subject: 'a'.repeat(8_000) }))),
  });
  const lookUp = `${api}/permissions?origin=${origin}&sink=${encodeURIComponent('https://webhook.example.com/x')}`;
  const mediaType = { 'Content-Type': 'application/cloudevents+json' };
  const body = JSON.stringify(event);
  const asked = {
    'look-ups': () => fetch(lookUp, { headers: theirs }),
    matches: () => fetch(`${api}/match`, { method: 'POST', headers: { ...theirs, ...mediaType }, body }),
    '/livez': () => fetch(`http://127.0.0.1:${operationsPort}/livez`),
  };

  async function measure(isAttacked) {
    const until = performance.now() + seconds * 1_000;
    const kinds = Object.entries(asked).map(([kind, request]) => ({ kind, request, times: [] }));
    const attack = isAttacked
      ? load({
          port,
          requests: [batch],
          connections: Number(values.connections),
          seconds,
          status: 422,
          text: 'match_too_expensive',
          sleeps: true,
        })
      : undefined;
    await Promise.all(kinds.map(({ times, request }) => watch(times, until, request)));
    await attack;
    return kinds.map(({ kind, times }) => ({
      kind,
      attacked: isAttacked,
      requests: times.length,
      p50ms: round(percentile(times, 0.5)),
      p99ms: round(percentile(times, 0.99)),
      maxms: round(percentile(times, 1)),
    }));
  }

  await measure(false);
  console.table([...(await measure(false)), ...(await measure(true))]);
});

function round(value) {
  return Math.round(value * 10) / 10;
}
