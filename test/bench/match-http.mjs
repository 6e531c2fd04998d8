// POST /v1/match over HTTP, with authentication, on one process with a real Postgres behind it, side by side with a
// bare node:http server that reads and parses the same body.
import { withHarness } from './harness.mjs';
import { load, requestBytes } from './load.mjs';
import { median, round2 } from './measure.mjs';
import { eventsOf } from './mixes.mjs';

/** One row of results: ratios to the bare server, and batches of 100 to single posts, events for events. */
export async function measureHttp(size, { seconds = 3, rounds = 5, connections = 64, 'warm-up': warmUp = 2 } = {}) {
  return withHarness({ size }, async ({ startRegistry, startBare, token }) => {
    const { port } = await startRegistry();
    const headers = {
      Authorization: `Bearer ${await token('assent:deliver')}`,
      'Content-Type': 'application/cloudevents+json',
    };
    const events = [...eventsOf('mixed', size, 0, 500), ...eventsOf('mixed', size, 1, 500)];
    const single = (event) => requestBytes({ method: 'POST', path: '/v1/match', headers, body: JSON.stringify(event) });
    const batch = (from) =>
      requestBytes({
        method: 'POST',
        path: '/v1/match',
        headers: { ...headers, 'Content-Type': 'application/cloudevents-batch+json' },
        body: JSON.stringify(Array.from({ length: 100 }, (_, i) => events[(from * 100 + i) % events.length])),
      });
    const singles = events.map(single);
    const batches = Array.from({ length: 20 }, (_, from) => batch(from));
    const answer = await fetch(`http://127.0.0.1:${port}/v1/match`, {
      method: 'POST',
      headers,
      body: JSON.stringify(events.at(-1)),
    });
    const { port: barePort } = await startBare((await answer.text()).length);

    await load({ port, requests: singles, connections, seconds: warmUp });
    await load({ port: barePort, requests: singles, connections, seconds: warmUp });
    const runs = [];
    for (let round = 0; round < rounds; round += 1) {
      const ours = await load({ port, requests: singles, connections, seconds });
      const theirs = await load({ port: barePort, requests: singles, connections, seconds });
      const batched = await load({ port, requests: batches, connections: Math.max(1, connections / 8), seconds });
      runs.push({ ours, theirs, batched });
    }
    return {
      subscriptions: size,
      ratio: round2(median(runs.map(({ ours, theirs }) => ours.persecond / theirs.persecond))),
      persecond: Math.round(median(runs.map(({ ours }) => ours.persecond))),
      barepersecond: Math.round(median(runs.map(({ theirs }) => theirs.persecond))),
      p99us: median(runs.map(({ ours }) => ours.p99us)),
      barep99us: median(runs.map(({ theirs }) => theirs.p99us)),
      batchratio: round2(median(runs.map(({ ours, batched }) => (batched.persecond * 100) / ours.persecond))),
    };
  });
}
