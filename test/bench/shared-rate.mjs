// Many senders, one webhook, one rate: processes of `assent/sender` on two processes of the registry and a real
// Postgres, with more to send than they may all the time. On the way a quarter of the senders and one process of the
// registry are killed. Told by the clock of the webhook: the most and the fewest requests of any 60 seconds.
//
//   npm run bench:rate -- [--seconds N] [--senders N] [--rate N] [--smallest] [--json FILE]
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority } from '../../dist/tools/conformance/authority.js';
import { origin } from './fill.mjs';
import { withHarness } from './harness.mjs';
import { finish, readOptions } from './options.mjs';

const {
  seconds,
  senders: count,
  rate,
  smallest,
  json,
} = readOptions({ seconds: 180, senders: 16, rate: 600 }, { seconds: 126, senders: 4, rate: 120 });
const windowMs = 60_000;
/** What is steady comes after the first window. */
const warmUpMs = windowMs;
if (seconds * 1_000 < warmUpMs + windowMs + 5_000) throw new Error('It takes at least 125 seconds.');

/** When each request came, in milliseconds by the clock that only goes forward, and from whom. */
const arrivals = [];

await withHarness({ settings: [] }, async ({ start, startRegistry, token, folder }) => {
  const authority = await createAuthority('Assent bench', 1);
  const authorityFile = join(folder, 'ca.pem');
  await writeFile(authorityFile, authority.cert);
  const webhook = createServer(await authority.issue(['localhost']), (request, response) => {
    arrivals.push({ at: performance.now(), from: Number(request.headers['x-sender']) });
    request.resume();
    response.writeHead(204).end();
  });
  await once(webhook.listen(0, '127.0.0.1'), 'listening');
  const { port } = webhook.address();
  const sink = `https://localhost:${port}/events`;
  const settings = { ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8', ASSENT_SINK_PORTS: `443,${port}` };
  try {
    const first = await startRegistry(settings);
    const second = await startRegistry(settings);
    await grant(first.url, await token('assent:admin'), sink);

    const given = { token: await token('assent:deliver'), origin, sink };
    const senders = await Promise.all(
      Array.from({ length: count }, async (_, number) => {
        const registry = number % 2 === 0 ? [first.url, second.url] : [second.url, first.url];
        const env = { NODE_EXTRA_CA_CERTS: authorityFile };
        return (await start('shared-rate-sender.mjs', { ...given, registry, number }, { env })).child;
      }),
    );
    for (const sender of senders) sender.send('begin');
    while (arrivals.length === 0) await sleep(10);
    const startedAt = arrivals[0].at;
    const until = (part) => sleep(startedAt + seconds * 1_000 * part - performance.now());

    await until(0.45);
    for (const sender of senders.slice(0, count / 4)) sender.kill('SIGKILL');
    await until(0.6);
    first.child.kill('SIGKILL');
    await until(1);
    const endsAt = performance.now();
    report(
      arrivals.filter(({ at }) => at <= endsAt),
      startedAt,
      endsAt,
    );
  } finally {
    webhook.closeAllConnections();
    webhook.close();
  }
});

function report(all, startedAt, endsAt) {
  const times = all.map(({ at }) => at);
  const inWindow = (from) => times.filter((at) => at >= from && at <= from + windowMs).length;
  const max = Math.max(...times.map(inWindow));
  // Every 60 seconds that begin with, or right after, a request.
  const steady = times.filter((at) => at >= startedAt + warmUpMs && at + windowMs <= endsAt);
  const fewest = Math.min(...steady.map((at) => inWindow(at + 0.001)));
  const dead = count / 4;
  const perSender = Array.from({ length: count }, (_, number) => all.filter(({ from }) => from === number).length);
  const survivors = perSender.slice(dead);
  const row = {
    senders: count,
    rate,
    seconds,
    requests: times.length,
    mostin60s: max,
    fewestin60s: fewest,
    leastofsurvivors: Math.min(...survivors),
    mostofsurvivors: Math.max(...survivors),
  };
  const fives = [];
  for (const at of times)
    fives[Math.floor((at - startedAt) / 5_000)] = (fives[Math.floor((at - startedAt) / 5_000)] ?? 0) + 1;
  console.log(`In each five seconds: ${fives.join(' ')}`);
  console.table([row]);
  // How much of it is used depends on the machine.
  const isKept = max <= rate && (smallest || fewest >= 0.9 * rate);
  console.log(isKept ? 'The rate was kept and used.' : `BROKEN: no 60 s above ${rate}, none below ${0.9 * rate}.`);
  if (!isKept) process.exitCode = 1;
  finish({ sharedrate: row }, { json });
}

async function grant(url, token, sink) {
  const post = async (path, body) => {
    const answer = await fetch(`${url}/v1/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
  };
  const expiresat = new Date(Date.now() + 86_400_000).toISOString();
  await post('origins', { name: origin });
  await post('grants', { origin, sink, allowedrate: rate, expiresat, agreement: 'bench' });
}
