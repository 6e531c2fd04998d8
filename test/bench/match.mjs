// Benchmark of the match index. Run after a build:
//
//   npm run bench:match -- [--size N] [--mix NAME] [--no-sql] [--no-http] [--sides] [--pairs N] [--seed N] [--smallest] [--json FILE]
//
// Without --size it runs 10 k, 100 k and a million subscriptions, each with all mixes. --sides measures what single
// properties cost, against the mixed registry without them. --pairs compares answers and measures nothing.
import { fork } from 'node:child_process';
import { loadavg } from 'node:os';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../support/postgres.mjs';
import { compileFilter } from '../../dist/matching/filters/compile-filter.js';
import { attributesOf } from '../../dist/events/context-attributes.js';
import { MatchIndex } from '../../dist/matching/index/match-index.js';
import { measureHttp } from './match-http.mjs';
import { noise } from './measure.mjs';
import { finish, readOptions } from './options.mjs';
import { mixNames, sideMixNames } from './mixes.mjs';
import { comparePairs } from './pairs.mjs';
import { measureRow } from './row.mjs';

const options = readOptions(
  {
    size: 0,
    mix: '',
    'no-sql': false,
    'no-http': false,
    sides: false,
    pairs: 0,
    seed: Date.now() % 1_000_000,
    row: '',
    // Seconds of one measurement.
    seconds: 1,
  },
  { size: 1_000, seconds: 0.05, 'no-http': true },
);

async function main() {
  const sizes = options.size > 0 ? [options.size] : [10_000, 100_000, 1_000_000];
  const mixes = options.mix ? [options.mix] : options.sides ? ['mixed', ...sideMixNames] : mixNames;
  const postgres = options['no-sql'] || options.sides ? undefined : await startPostgres();
  const results = [];
  const http = [];
  try {
    console.log(
      `Node ${process.version}; load ${loadavg()[0].toFixed(1)}; the slowest tenth of equal work takes ${noise().toFixed(2)} times the fastest.`,
    );
    console.log(line(columns.map(([title]) => title)));
    for (const size of sizes) {
      for (const mix of mixes) {
        const row = { mix, size, url: postgres?.url, linear: !options.sides, seconds: options.seconds };
        results.push(...(await inOwnProcess(row)));
      }
    }
    if (!options['no-http'] && !options.sides) for (const size of sizes) http.push(await measureHttp(size));
    if (http.length > 0) console.table(http);
    console.log(`Load at the end ${loadavg()[0].toFixed(1)}.`);
  } finally {
    await postgres?.stop();
  }
  finish({ rows: results, http: http.at(-1), httprows: http }, options);
}

async function inOwnProcess(row) {
  const child = fork(fileURLToPath(import.meta.url), ['--row', JSON.stringify(row)], {
    execArgv: ['--expose-gc', '--max-old-space-size=8192'],
  });
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof message !== 'object' || message === null) throw new Error('The measuring process ended without a result.');
  for (const each of message.rows) console.log(line(columns.map(([, text]) => text(each))));
  const { distinct, keys, unanchored } = message.statistics;
  console.log(`  ${distinct} distinct filters, ${keys} keys, ${unanchored} filters that are run for every event`);
  return message.rows;
}

const whole = (value) => (value === undefined ? '-' : Math.round(value).toLocaleString('en'));
const tenth = (value) => (value === undefined ? '-' : value.toFixed(1));

const columns = [
  ['mix', (row) => row.mix],
  ['subscr.', (row) => whole(row.subscriptions)],
  ['matched', (row) => String(row.matched)],
  ['events/s', (row) => whole(row.eventspersecond)],
  ['p50 us', (row) => tenth(row.p50us)],
  ['p99 us', (row) => tenth(row.p99us)],
  ['p99.9 us', (row) => tenth(row.p999us)],
  ['bytes', (row) => whole(row.heapbytespersubscription)],
  ['build us', (row) => tenth(row.buildus)],
  ['add p99', (row) => tenth(row.addp99us)],
  ['rem. p99', (row) => tenth(row.removep99us)],
  ['scan/s', (row) => tenth(row.linearpersecond)],
  ['x scan', (row) => whole(row.linearscanratio)],
  ['SQL/s', (row) => whole(row.sqlpersecond)],
  ['x SQL', (row) => tenth(row.sqlratio)],
];

function line(cells) {
  return cells.map((cell, place) => (place === 0 ? cell.padEnd(12) : cell.padStart(9))).join(' ');
}

if (options.row) {
  process.send(await measureRow(JSON.parse(options.row)));
  process.disconnect();
} else if (options.pairs > 0) {
  const matching = { createMatchIndex: () => new MatchIndex(), compileFilter, attributesOf };
  const { compared, matched, differences } = comparePairs(matching, options.pairs, options.seed);
  console.log(`seed ${options.seed}: ${compared} pairs, ${matched} matched, ${differences.length} differences`);
  for (const difference of differences) console.log(JSON.stringify(difference));
  process.exitCode = differences.length > 0 ? 1 : 0;
} else {
  await main();
}
