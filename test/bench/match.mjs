// Benchmark of the match index. Run after a build:
//
//   npm run bench:match -- [--size N] [--mix NAME] [--json FILE] [--no-sql] [--no-http] [--sides] [--pairs N] [--seed N]
//
// Without --size it runs 10 k, 100 k and a million subscriptions, each with all mixes. --sides measures what single
// properties cost, against the mixed registry without them. --pairs compares answers and measures nothing.
import { fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres.mjs';
import { compileFilter } from '../../dist/matching/filters/compile-filter.js';
import { attributesOf } from '../../dist/events/context-attributes.js';
import { MatchIndex } from '../../dist/matching/index/match-index.js';
import { measureHttp } from './match-http.mjs';
import { noise } from './measure.mjs';
import { mixNames, sideMixNames } from './mixes.mjs';
import { comparePairs } from './pairs.mjs';
import { measureRow } from './row.mjs';

const { values } = parseArgs({
  options: {
    size: { type: 'string' },
    mix: { type: 'string' },
    json: { type: 'string' },
    'no-sql': { type: 'boolean', default: false },
    'no-http': { type: 'boolean', default: false },
    sides: { type: 'boolean', default: false },
    pairs: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    row: { type: 'string' },
  },
});

async function main() {
  const sizes = values.size ? [Number(values.size)] : [10_000, 100_000, 1_000_000];
  const mixes = values.mix ? [values.mix] : values.sides ? ['mixed', ...sideMixNames] : mixNames;
  const postgres = values['no-sql'] || values.sides ? undefined : await startPostgres();
  const results = [];
  const http = [];
  try {
    console.log(
      `Node ${process.version}; load ${loadavg()[0].toFixed(1)}; the slowest tenth of equal work takes ${noise().toFixed(2)} times the fastest.`,
    );
    console.log(line(columns.map(([title]) => title)));
    for (const size of sizes) {
      for (const mix of mixes)
        results.push(...(await inOwnProcess({ mix, size, url: postgres?.url, linear: !values.sides })));
    }
    if (!values['no-http'] && !values.sides) for (const size of sizes) http.push(await measureHttp(size));
    if (http.length > 0) console.table(http);
    console.log(`Load at the end ${loadavg()[0].toFixed(1)}.`);
  } finally {
    await postgres?.stop();
  }
  if (values.json)
    await writeFile(
      values.json,
      `${JSON.stringify({ rows: results, http: http.at(-1), httprows: http }, undefined, 2)}\n`,
    );
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

if (values.row) {
  process.send(await measureRow(JSON.parse(values.row)));
  process.disconnect();
} else if (values.pairs) {
  const matching = { createMatchIndex: () => new MatchIndex(), compileFilter, attributesOf };
  const { compared, matched, differences } = comparePairs(matching, Number(values.pairs), Number(values.seed));
  console.log(`seed ${values.seed}: ${compared} pairs, ${matched} matched, ${differences.length} differences`);
  for (const difference of differences) console.log(JSON.stringify(difference));
  process.exitCode = differences.length > 0 ? 1 : 0;
} else {
  await main();
}
