// What leases cost: a process that gives them, on one Postgres with fsync on, against bare statements in the same run.
// For many pairs (each asker has its own), and for one pair that all ask about, whose row every lease changes.
//
//   npm run bench:leases -- [--seconds N] [--clients N] [--smallest] [--json FILE]
import { cpus } from 'node:os';
import { withHarness } from './harness.mjs';
import { percentile } from './measure.mjs';
import { finish, readOptions } from './options.mjs';

const { seconds, clients, json } = readOptions({ seconds: 5, clients: 16 }, { seconds: 0.3, clients: 4 });
const pairs = 1_000;
const origin = 'a.example.com';

const result = await withHarness({ settings: [] }, async ({ createRegistry }) => {
  const {
    database,
    context: { leases },
  } = await createRegistry();
  await database.exclusively(({ execute }) =>
    execute(
      `insert into origin (name, tenant, defaultrate, judgement, callback, grantseconds, profile)
     values ('${origin}', 't', '60', 'strict', 'offer', 864000, 'cloudevents');
   insert into "grant" (origin, sink, id, tenant, state, basis, allowedrate, recordedby, grantedat, expiresat)
     select '${origin}', 'https://webhook.example.com/' || n, gen_random_uuid(), 't', 'live', 'agreement', '100000000', 'x', now(),
       now() + interval '1 day' from generate_series(0, ${pairs}) n;
   create table bare (id int primary key, n bigint not null);
   insert into bare select n, 0 from generate_series(0, ${pairs}) n;
   analyze`,
    ),
  );

  /** Calls in a second, and milliseconds at the median and at the 99th percentile. */
  async function run(call) {
    const times = [];
    const work = async (client, endAt, isCounted) => {
      for (let turn = 0; performance.now() < endAt; turn += 1) {
        const startedAt = performance.now();
        await call(client, turn);
        if (isCounted) times.push(performance.now() - startedAt);
      }
    };
    for (const [length, isCounted] of [
      [0.5, false],
      [seconds, true],
    ]) {
      const endAt = performance.now() + length * 1_000;
      await Promise.all(Array.from({ length: clients }, (_, client) => work(client, endAt, isCounted)));
    }
    return { rate: times.length / seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
  }

  const take = (client, number) => {
    const sink = `https://webhook.example.com/${number}`;
    return leases.take({ tenant: 't', origin, sink, instance: `i${client}`, requests: 10, returns: [] });
  };
  const update = (number) => database.query('update bare set n = n + 1 where id = $1', [number]);
  const many = (client, turn) => (client * 61 + turn * 7) % pairs;
  const rows = [
    ['select by key', (client, turn) => database.query('select n from bare where id = $1', [many(client, turn)])],
    ['update by key', (client, turn) => update(many(client, turn))],
    ['update of one row by all', () => update(0)],
    ['lease, many pairs', (client, turn) => take(client, many(client, turn))],
    ['lease, one pair for all', (client) => take(client, pairs)],
  ];
  console.log(`${clients} clients, ${pairs} pairs, ${cpus().length} cores, fsync on; each for ${seconds} s`);
  const measured = [];
  for (const [what, call] of rows) {
    const { rate, p50, p99 } = await run(call);
    measured.push({ what, persecond: rate, p50ms: p50, p99ms: p99 });
    console.log(
      `${what.padEnd(26)} ${rate.toFixed(0).padStart(7)}/s   p50 ${p50.toFixed(2)} ms   p99 ${p99.toFixed(2)} ms`,
    );
  }
  const [size] = await database.query(
    `select pg_size_pretty(pg_total_relation_size('lease_pool')) as books, (select count(*) from lease_pool)::int as pairs,
     pg_size_pretty(pg_total_relation_size('lease_holder')) as holders, (select count(*) from lease_holder)::int as instances`,
  );
  console.log(size);
  return { clients, rows: measured };
});
finish(result, { json });
