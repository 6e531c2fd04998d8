// What delivery systems ask before every event, over HTTP with authentication, side by side with bare node:http servers
// that read and parse the same body and answer a constant of the same size; and registration, beside handshakes alone.
//
//   npm run bench:http -- [--size N] [--seconds S] [--rounds R] [--no-register] [--smallest] [--json FILE]
import pg from 'pg';
import { origin } from './fill.mjs';
import { withHarness } from './harness.mjs';
import { load, requestBytes } from './load.mjs';
import { measureHttp } from './match-http.mjs';
import { median, round2 } from './measure.mjs';
import { finish, readOptions } from './options.mjs';
import { measureRegistration } from './register.mjs';

const questions = 50_000;
const pairsAtOnce = 100;

/** Look-ups with keys drawn at random, one pair and a hundred at a time, on one process and on two. */
async function measureLookUps(size, { seconds, rounds, connections, 'warm-up': warmUp }) {
  return withHarness({ size }, async ({ startRegistry, startBare, token, url }) => {
    const headers = { Authorization: `Bearer ${await token('assent:deliver')}` };
    const sinks = await drawSinks(url);
    const singles = sinks.map((sink) =>
      requestBytes({
        method: 'GET',
        path: `/v1/permissions?origin=${origin}&sink=${encodeURIComponent(sink)}`,
        headers,
      }),
    );
    const batches = Array.from({ length: 200 }, (_, batch) => {
      const pairs = Array.from({ length: pairsAtOnce }, (_, place) => ({
        origin,
        sink: sinks[(batch * pairsAtOnce + place) % sinks.length],
      }));
      const json = { ...headers, 'Content-Type': 'application/json' };
      return requestBytes({ method: 'POST', path: '/v1/permissions', headers: json, body: JSON.stringify(pairs) });
    });

    const first = await startRegistry();
    const bare = await startBare(await answerBytes(first.port, singles[0]));
    const bareBatch = await startBare(await answerBytes(first.port, batches[0]));
    const rows = [];
    const measure = async (name, requests, ours, theirs, { status = 200, theirRequests = requests } = {}) => {
      const loadAll = (ports, more) =>
        Promise.all(ports.map((port) => load({ port, connections: connections / ports.length, ...more })));
      const run = (ports, length) =>
        ports === ours
          ? loadAll(ours, { requests, status, seconds: length })
          : loadAll(theirs, { requests: theirRequests, seconds: length });
      await run(ours, warmUp);
      await run(theirs, warmUp);
      await first.longestPauseMs();
      const runs = [];
      for (let round = 0; round < rounds; round += 1) {
        runs.push({ ours: sum(await run(ours, seconds)), theirs: sum(await run(theirs, seconds)) });
      }
      const of = (which) => Math.round(median(runs.map(which)));
      const row = {
        what: name,
        grants: size,
        processes: ours.length,
        ratio: round2(median(runs.map(({ ours: a, theirs: b }) => a.persecond / b.persecond))),
        p99ratio: round2(median(runs.map(({ ours: a, theirs: b }) => a.p99us / b.p99us))),
        persecond: of(({ ours: a }) => a.persecond),
        barepersecond: of(({ theirs: b }) => b.persecond),
        p99us: of(({ ours: a }) => a.p99us),
        fullcollectionms: round2(await first.longestPauseMs()),
      };
      rows.push(row);
      return row;
    };
    const single = await measure('lookup', singles, [first.port], [bare.port]);
    const batch = await measure('batch', batches, [first.port], [bareBatch.port]);
    // Beside the server that has to read and write as many bytes: pairs, to the requests of the one that is asked for
    // one.
    batch.ratioperpair = round2((batch.persecond * pairsAtOnce) / single.barepersecond);
    // What a gateway asks, beside the same bare server; and an AuthZEN request, beside a look-up in the same registry.
    const gateway = sinks.map((sink) =>
      requestBytes({
        method: 'GET',
        path: `/v1/authorize?hosts=${new URL(sink).host}`,
        headers: { ...headers, 'WebHook-Request-Origin': origin, 'X-Original-URL': sink },
      }),
    );
    await measure('authorize', gateway, [first.port], [bare.port], { status: 204 });
    const evaluations = sinks.map((sink) =>
      requestBytes({
        method: 'POST',
        path: '/access/v1/evaluation',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          subject: { type: 'origin', id: origin },
          action: { name: 'deliver' },
          resource: { type: 'sink', id: sink },
        }),
      }),
    );
    const [own, looked] = [[first.port], [first.port]];
    await measure('evaluation, of look-ups', evaluations, own, looked, { theirRequests: singles });
    const second = await startRegistry();
    const otherBare = await startBare(await answerBytes(first.port, singles[0]));
    await measure('lookup', singles, [first.port, second.port], [bare.port, otherBare.port]);
    return rows;
  });
}

async function drawSinks(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(`select sink from "grant" order by random() limit ${questions}`);
  await client.end();
  return rows.map(({ sink }) => sink);
}

/** Bytes of the body that a request is answered with. */
async function answerBytes(port, bytes) {
  const [head, ...rest] = bytes.toString().split('\r\n\r\n');
  const [[method, path], ...lines] = head.split('\r\n').map((line, place) => line.split(place === 0 ? ' ' : ': '));
  const headers = Object.fromEntries(lines.filter(([name]) => !['Host', 'Content-Length'].includes(name)));
  const body = method === 'GET' ? undefined : rest.join('\r\n\r\n');
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
  if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}.`);
  return (await response.text()).length;
}

/** Of processes that were asked at the same time. */
function sum(runs) {
  return {
    persecond: runs.reduce((total, { persecond }) => total + persecond, 0),
    p99us: Math.max(...runs.map(({ p99us }) => p99us)),
  };
}

const options = readOptions(
  { size: 0, seconds: 2, rounds: 5, connections: 64, 'warm-up': 1, 'no-register': false },
  { size: 1_000, seconds: 0.3, rounds: 1, connections: 4, 'warm-up': 0.2 },
);
const sizes = options.size > 0 ? [options.size] : [100_000, 1_000_000];
const rows = [];
for (const size of sizes) rows.push(...(await measureLookUps(size, options)));
console.table(rows);
const match = await measureHttp(Math.min(...sizes), options);
console.table([match]);
const register = options['no-register'] ? undefined : await measureRegistration(options);
if (register) console.table([register]);
const of = (what) => rows.find((row) => row.what === what && row.processes === 1);
finish({ lookup: of('lookup'), batch: of('batch'), match, register, rows }, options);
