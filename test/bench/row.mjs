// One size and one mix, in a process of its own so that nothing before it shows: builds the index, asks it, changes it,
// and asks a linear scan and SQL the same.
import { performance } from 'node:perf_hooks';
import { compileFilter } from '../../dist/matching/filters/compile-filter.js';
import { dialects } from '../../dist/matching/filters/dialects.js';
import { attributesOf } from '../../dist/events/context-attributes.js';
import { MatchIndex } from '../../dist/matching/index/match-index.js';
import { callsPerSecond, eachMicroseconds, median, memory, percentile } from './measure.mjs';
import { eachSubscription, eventsOf } from './mixes.mjs';
import { loadSql } from './sql-question.mjs';

const matchedCounts = [0, 1, 10, 100];
const changes = 20_000;

/** `url` is of the Postgres to compare with; without one there is no comparison with SQL. */
export async function measureRow({ mix, size, url, linear = true, seconds }) {
  const before = memory();
  const index = new MatchIndex(dialects);
  let addMs = 0;
  eachSubscription(mix, size, (subscription) => {
    const start = performance.now();
    index.add(subscription);
    addMs += performance.now() - start;
  });
  const bytes = (memory().all - before.all) / size;
  const facts = {
    mix,
    subscriptions: size,
    heapbytespersubscription: Math.round(bytes),
    buildus: (addMs * 1000) / size,
  };
  const statistics = index.statistics();

  const kinds = matchedCounts.map((matched) => {
    const events = eventsOf(mix, size, matched, 5_000).map(attributesOf);
    return { matched, events: events.filter((event) => index.match(event).length === matched) };
  });
  const asked = kinds.filter(({ events }) => events.length > 0);
  const rows = asked.map(({ matched, events }) => ({ ...facts, matched, ...ask(index, events, seconds) }));
  const changed = change(index, mix, size);
  for (const row of rows) Object.assign(row, changed);
  if (linear) {
    const tests = [];
    eachSubscription(mix, size, (subscription) => void tests.push(compileFilter(subscription, dialects)));
    asked.forEach(({ events }, place) => Object.assign(rows[place], scan(index, tests, events, seconds)));
    if (url) await askSql(url, { mix, size, rows, asked, tests, index, seconds });
  }
  return { rows, statistics };
}

/** `seconds` are those of one measurement; it has five rounds. */
function ask(index, events, seconds) {
  const call = (number) => index.match(events[number % events.length]);
  const eventspersecond = callsPerSecond(call, { roundMs: seconds * 200 });
  const times = eachMicroseconds(call, Math.round(seconds * 60_000));
  return {
    eventspersecond,
    p50us: percentile(times, 0.5),
    p99us: percentile(times, 0.99),
    p999us: percentile(times, 0.999),
  };
}

/** Removes subscriptions that are spread over the whole index, one by one, and adds them again. */
function change(index, mix, size) {
  const step = Math.max(1, Math.floor(size / changes));
  const chosen = [];
  eachSubscription(mix, size, (subscription, number) => {
    if (number % step === 0 && chosen.length < changes) chosen.push(subscription);
  });
  const removed = eachMicroseconds((number) => index.remove(chosen[number].id), chosen.length);
  const added = eachMicroseconds((number) => index.add(chosen[number]), chosen.length);
  return {
    addp50us: percentile(added, 0.5),
    addp99us: percentile(added, 0.99),
    addmaxus: percentile(added, 1),
    removep99us: percentile(removed, 0.99),
  };
}

/** Index and scan by turns, so that both have the same share of a busy machine. Their answers must be the same. */
function scan(index, tests, events, seconds) {
  const roundMs = seconds * 300;
  const turns = { index: [], linear: [] };
  for (let turn = 0; turn < 5; turn += 1) {
    const call = (number) => index.match(events[number % events.length]);
    turns.index.push(callsPerSecond(call, { rounds: 1, roundMs }));
    let found = 0;
    const scanOne = (number) => {
      const event = events[(number * 7 + turn) % events.length];
      for (let i = 0; i < tests.length; i += 1) if (tests[i](event)) found += 1;
      found -= index.match(event).length;
    };
    turns.linear.push(callsPerSecond(scanOne, { rounds: 1, roundMs, max: 1 }));
    if (found !== 0) throw new Error('The index and the linear scan found different subscriptions.');
  }
  const linearpersecond = median(turns.linear);
  return { linearpersecond, linearscanratio: median(turns.index) / linearpersecond };
}

async function askSql(url, { mix, size, rows, asked, tests, index, seconds }) {
  const list = [];
  eachSubscription(mix, size, (subscription, number) => void list.push([number, subscription]));
  const sql = await loadSql(url, list);
  list.length = 0;
  for (const [place, { events, matched }] of asked.entries()) {
    let done = 0;
    const start = performance.now();
    const client = async () => {
      while (performance.now() - start < seconds * 3_000) {
        const event = events[done++ % events.length];
        const found = (await sql.ask(event)).filter(([number]) => tests[number](event));
        if (found.length !== matched) throw new Error('The index and SQL found different subscriptions.');
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    const sqlpersecond = (done * 1000) / (performance.now() - start);
    const again = callsPerSecond((number) => index.match(events[number % events.length]), {
      rounds: 3,
      roundMs: seconds * 200,
    });
    Object.assign(rows[place], { sqlpersecond, sqlratio: again / sqlpersecond });
  }
  await sql.end();
}
