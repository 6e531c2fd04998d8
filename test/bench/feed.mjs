// The change feed on a real Postgres (fsync as it is by default): from commit to follower, to 100 streams, and catching
// up.
//
//   [chrt -f 10] npm run bench:feed -- [--seconds N] [--rate CHANGES_A_SECOND] [--delay] [--smallest] [--json FILE]
//
// On a machine that others use, `chrt` keeps them from what is measured.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { changeChannel } from '../../dist/registry/storage/database.js';
import { readLog } from '../../dist/registry/changes/log.js';
import { withHarness } from './harness.mjs';
import { median, noise, percentile } from './measure.mjs';
import { finish, readOptions } from './options.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const clock = () => performance.timeOrigin + performance.now();
const tenant = 'bench';
const options = readOptions(
  { seconds: 12, rate: 2_000, rounds: 6, stream: 5, delay: false },
  { seconds: 0.5, rounds: 1, stream: 0.5 },
);

/** Resolves with [batch, sent at, known to be committed at] of each. */
async function write(url, settings) {
  const child = fork(here('feed-writer.mjs'), [
    JSON.stringify({ url, tenant, perSecond: 2_000, seconds: 5, batch: 10, connections: 4, ...settings }),
  ]);
  const [commits] = await once(child, 'message');
  return commits;
}

/** Milliseconds from a commit, as the writer knows of it, to whoever `follow` leads it to. */
async function measureDelay(url, follow, { seconds, perSecond }) {
  const seenAt = new Map();
  const end = await follow((changes) => {
    const at = clock();
    for (const { sink } of changes) seenAt.set(sink.split('/')[3], at);
  });
  await write(url, { perSecond, seconds: 0.3 });
  const commits = await write(url, { perSecond, seconds });
  await end();
  return {
    delays: commits.map(([name, , committedAt]) => Math.max(0, seenAt.get(name) - committedAt)),
    whole: commits.map(([name, sentAt]) => seenAt.get(name) - sentAt),
    writing: commits.map(([, sentAt, committedAt]) => committedAt - sentAt),
  };
}

/** A process of the registry, which follows its log. */
const followAsRegistry = (createRegistry) => async (onChanges) => {
  const registry = await createRegistry();
  await registry.start();
  await registry.follow();
  registry.context.follower.subscribe(onChanges);
  return async () => {
    await registry.follow();
    await registry.stop();
  };
};

/** The least that can be done: one connection that listens, and reads three columns when it hears something. */
const followBare = (url) => async (onChanges) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let after = (await client.query('select coalesce(max(position), 0)::text as position from change')).rows[0].position;
  let reading;
  let isMore = false;
  const read = async () => {
    do {
      isMore = false;
      const { rows } = await client.query({
        name: 'read',
        text: 'select position::text as position, sink from change where change.position > $1::bigint order by change.position limit 1000',
        values: [after],
      });
      after = rows.at(-1)?.position ?? after;
      if (rows.length > 0) onChanges(rows);
    } while (isMore);
    reading = undefined;
  };
  client.on('notification', () => {
    isMore = true;
    reading ??= read();
  });
  await client.query(`listen ${changeChannel}`);
  return async () => {
    await reading;
    await read();
    await client.end();
  };
};

/** Opens streams that count what they get. */
async function openStreams(port, token, count, after) {
  const counts = new Array(count).fill(0);
  let changed = () => {};
  const sockets = await Promise.all(
    counts.map(async (_, place) => {
      const socket = connect(port, '127.0.0.1');
      const query = after === undefined ? '' : `?after=${after}`;
      socket.write(
        `GET /v1/changes${query} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      );
      await once(socket, 'readable');
      socket.on('data', (chunk) => {
        for (let at = chunk.indexOf('\nevent: grant'); at !== -1; at = chunk.indexOf('\nevent: grant', at + 1)) {
          counts[place] += 1;
        }
        changed();
      });
      return socket;
    }),
  );
  return {
    /** Some event may be torn by the end of a chunk; a handful of thousands does not matter to a rate. */
    untilAll: (wanted) =>
      new Promise((resolve) => {
        changed = () => counts.every((seen) => seen >= wanted * 0.995) && resolve();
        changed();
      }),
    close: () => sockets.forEach((socket) => socket.destroy()),
  };
}

async function measureServer({ startRegistry, token: createToken, url }, database) {
  const [{ position: first }] = await database.query(`select max(position)::text as position from change`);
  await write(url, { perSecond: 1e6, seconds: 0.04, batch: 1_000, connections: 1 });
  const { port } = await startRegistry();
  const token = await createToken('assent:deliver');
  const get = async (query) =>
    (
      await fetch(`http://127.0.0.1:${port}/v1/changes?${query}`, { headers: { Authorization: `Bearer ${token}` } })
    ).json();

  const readers = 100;
  const streams = await openStreams(port, token, readers);
  const { cursor } = await get('');
  let startedAt = performance.now();
  const written = (await write(url, { perSecond: 2_000, seconds: options.stream })).length * 10;
  await streams.untilAll(written);
  const steadySeconds = (performance.now() - startedAt) / 1_000;
  startedAt = performance.now();
  const burst = (await write(url, { perSecond: 1e6, seconds: 0.02, batch: 500, connections: 1 })).length * 500;
  await streams.untilAll(written + burst);
  const fanOut = (burst * readers) / ((performance.now() - startedAt) / 1_000);
  streams.close();

  startedAt = performance.now();
  let rows = 0;
  for (let after = cursor, isMore = true; isMore;) {
    const page = await get(`after=${after}&limit=1000`);
    rows += page.changes.length;
    [after, isMore] = [page.cursor, page.more];
  }
  const pages = rows / ((performance.now() - startedAt) / 1_000);
  startedAt = performance.now();
  const one = await openStreams(port, token, 1, cursor);
  await one.untilAll(rows);
  const stream = rows / ((performance.now() - startedAt) / 1_000);
  one.close();
  return { steadySeconds, fanOut, pages, stream, rows, first };
}

async function measureCatchUp(database) {
  const startedAt = performance.now();
  let rows = 0;
  for (let after = 0n, isMore = true; isMore;) {
    const page = await readLog(database.query, after, { rows: 1_000, bytes: 1_048_576 });
    rows += page.changes.length;
    after = page.changes.at(-1)?.position ?? after;
    ({ isMore } = page);
  }
  return { rows, perSecond: rows / ((performance.now() - startedAt) / 1_000) };
}

const result = await withHarness({ settings: [] }, async (harness) => {
  const { database } = await harness.createRegistry();
  const { rate: perSecond, rounds } = options;
  const seconds = options.seconds / rounds;
  const follows = {
    follower: followAsRegistry(harness.createRegistry),
    bare: followBare(harness.url),
  };
  const found = Object.fromEntries(Object.keys(follows).map((who) => [who, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [who, follow] of Object.entries(follows)) {
      found[who].push(await measureDelay(harness.url, follow, { seconds, perSecond }));
    }
  }
  const of = (results, member) => {
    const part = (part) => median(results.map((result) => percentile(result[member], part)));
    return { p50: part(0.5), p90: part(0.9), p99: part(0.99) };
  };
  const delay = Object.fromEntries(
    Object.entries(found).map(([who, results]) => [
      who,
      { commit: of(results, 'delays'), statement: of(results, 'whole'), writing: of(results, 'writing') },
    ]),
  );
  const ms = ({ p50, p90, p99 }) => `p50 ${p50.toFixed(2)}  p90 ${p90.toFixed(2)}  p99 ${p99.toFixed(2)} ms`;
  console.log(`${perSecond} changes/s in batches of 10; noise of the machine ${noise().toFixed(2)}`);
  for (const [who, { commit, statement, writing }] of Object.entries(delay)) {
    console.log(`${who.padEnd(9)} commit, as the writer knows it, to follower  ${ms(commit)}`);
    console.log(`${' '.repeat(9)} statement sent to follower                   ${ms(statement)}`);
    console.log(`${' '.repeat(9)} statement sent to commit                     ${ms(writing)}`);
  }
  const others = options.delay ? {} : await measureOthers(harness, database);
  return { delay, ...others };
});
finish(result, options);

async function measureOthers(harness, database) {
  const server = await measureServer(harness, database);
  console.log(
    `100 streams, 2,000 changes/s for ${options.stream} s: all there after ${server.steadySeconds.toFixed(1)} s`,
  );
  console.log(`100 streams, a burst: ${Math.round(server.fanOut)} changes/s sent`);
  console.log(
    `catching up over HTTP: ${Math.round(server.pages)} changes/s by pages, ${Math.round(server.stream)} by stream`,
  );
  const catchUp = await measureCatchUp(database);
  console.log(`catching up a process: ${Math.round(catchUp.perSecond)} changes/s (${catchUp.rows})`);
  return { server, catchUp };
}
