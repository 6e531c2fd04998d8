// What grows with the number of subscriptions and of due handshakes, and must not: a claim, a block, the page Today and
// lists. It fills one database with N subscriptions and another with a hundredth, on a Postgres of its own.
//
//   npm run bench:scale -- [--size N] [--smallest] [--json FILE]
import pg from 'pg';
import { fillUsed, origin, used } from './fill.mjs';
import { createDatabase, withHarness } from './harness.mjs';
import { measureBlocks } from './scale-block.mjs';
import { measureClaims } from './scale-claim.mjs';
import { measureLists } from './scale-lists.mjs';
import { round2 } from './measure.mjs';
import { finish, readOptions } from './options.mjs';

const { size, json } = readOptions({ size: 1_000_000 }, { size: 10_000 });
const startedAt = performance.now();
const say = (text) => console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${text}`);

const settings = [
  'fsync = off',
  'synchronous_commit = off',
  'full_page_writes = off',
  'shared_buffers = 512MB',
  'max_wal_size = 8GB',
];

const result = await withHarness({ settings }, async (harness) => {
  const { startRegistry, token, url } = harness;
  const smallUrl = await createDatabase(url, 'small');
  const fillNamed = async (at, count) => {
    say(`fills ${count} subscriptions`);
    await fillUsed(at, count, (step, seconds) => say(`  ${step}: ${seconds.toFixed(1)} s`));
  };
  await fillNamed(smallUrl, Math.max(1_000, size / 100));
  const small = await startRegistry({ DATABASE_URL: smallUrl });
  const before = await measureLists({ url: small.url, token });
  small.child.kill('SIGKILL');
  await fillNamed(url, size);

  const claims = await measureClaims(harness, size, say);
  const processes = [];
  for (const name of ['a process', 'a second process']) {
    const since = performance.now();
    processes.push(await startRegistry());
    say(`${name} is ready after ${((performance.now() - since) / 1_000).toFixed(1)} s`);
  }
  const lists = (await measureLists({ url: processes[0].url, token })).map((row, place) => ({
    ...row,
    msofahundredth: before[place].ms,
    growth: round2(row.ms / before[place].ms),
  }));
  say('lists are measured');
  const blocks = await measureBlocks({ processes, sink: await sinkOf(url), token, onStep: say });
  return summary(claims, lists, blocks);
});

console.table(result.claim.rows);
console.table(result.block.rows);
console.table([result.today, ...result.list.rows]);
finish(result, { json });

/** Each figure is the worst of its kind. */
function summary(claims, lists, blocks) {
  const few = claims[0].due;
  const ratioAt = (times) => {
    const rows = claims.filter(({ due }) => due === few * times);
    return rows.length === 0 ? undefined : Math.max(...rows.map(({ ratio }) => ratio));
  };
  const [today, ...pages] = lists;
  return {
    size,
    claim: { ratio: ratioAt(100), ratioatthousand: ratioAt(1_000), rows: claims },
    block: {
      seconds: Math.max(...blocks.map(({ seconds }) => seconds)),
      rows: blocks,
    },
    today,
    list: {
      ms: Math.max(...pages.map(({ ms }) => ms)),
      growth: Math.max(...pages.map(({ growth }) => growth)),
      rows: pages,
    },
  };
}

/** One that every block of the benchmark stops. */
async function sinkOf(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select g.sink from "grant" g join subscription s using (origin, sink)
     where g.origin = $1 and g.state = 'live' and g.helduntil is null and sink_host(g.sink) = $2 and s.subscriber = $3
       and s.suspendedat is null limit 1`,
    [origin, used.host, used.subscriber],
  );
  await client.end();
  return rows[0].sink;
}
