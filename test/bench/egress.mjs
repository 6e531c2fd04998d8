// `assent egress` beside a bare undici proxy, in the same run: both post the same requests to the same https webhook, over
// kept connections. Twice: to an origin without signatures, and to one that signs each delivery (Ed25519).
//
//   npm run bench:egress -- [--seconds S] [--rounds R] [--connections N] [--warm-up S] [--smallest] [--json FILE]
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withHarness } from './harness.mjs';
import { load, requestBytes } from './load.mjs';
import { median, round2 } from './measure.mjs';
import { finish, readOptions } from './options.mjs';

const {
  seconds,
  rounds,
  connections,
  'warm-up': warmUp,
  json,
} = readOptions(
  { seconds: 3, rounds: 5, connections: 32, 'warm-up': 10 },
  { seconds: 0.5, rounds: 1, connections: 4, 'warm-up': 0.5 },
);
const secret = 'the secret of the bench';
const origins = { plain: 'plain.example.com', signed: 'signed.example.com' };
const body = JSON.stringify({
  id: 'x'.repeat(36),
  zaak: 'https://zaken.example.com/api/v1/zaken/1',
  text: 'y'.repeat(400),
});

const egress = await withHarness({}, async ({ start, startRegistry, token, folder }) => {
  const { told: webhook } = await start('consenting-webhook.mjs');
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, webhook.ca);
  const settings = {
    ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
    ASSENT_SINK_PORTS: `443,${webhook.port}`,
    ASSENT_SINK_CA_FILE: caFile,
  };
  const registry = await startRegistry(settings);
  const admin = await token('assent:admin');
  const sinkOf = (name) => `https://localhost:${webhook.port}/${name}`;
  for (const [name, origin] of Object.entries(origins)) await grant(registry.url, admin, origin, sinkOf(name), name);

  const callers = Object.entries(origins).map(([name, origin]) => ({
    name,
    origins: [origin],
    secret: createHash('sha256').update(`${secret} ${name}`.replaceAll(' ', '-')).digest('hex'),
  }));
  const { child, port } = await startEgress(registry.url, {
    ...settings,
    ASSENT_DATA: folder,
    ASSENT_LOG_LEVEL: 'warn',
    EGRESS_CALLERS: JSON.stringify(callers),
  });
  try {
    const { told: bare, child: bareChild } = await start('bare-proxy.mjs', { ca: webhook.ca });
    const requestTo = (name) => [
      requestBytes({
        method: 'POST',
        path: `/https/localhost:${webhook.port}/${name}`,
        headers: {
          Authorization: `Bearer ${`${secret} ${name}`.replaceAll(' ', '-')}`,
          'Content-Type': 'application/json',
          'ce-specversion': '1.0',
          'ce-id': '1',
          'ce-source': 'urn:example:bench',
          'ce-type': 'com.example.bench',
        },
        body,
      }),
    ];
    /** With the processor time of each request, which other work on the machine changes less. */
    const run = async ([at, { pid }], name, length) => {
      const before = await cpuSeconds(pid);
      const of = { port: at, requests: requestTo(name), connections, seconds: length, status: 200, sleeps: true };
      const { persecond, p99us, answers } = await load(of);
      return { persecond, p99us, cpuus: ((await cpuSeconds(pid)) - before) * (1e6 / answers) };
    };
    const [ours, theirs] = [
      [port, child],
      [bare.port, bareChild],
    ];
    const rows = [];
    for (const name of Object.keys(origins)) {
      // Until both are compiled.
      await run(ours, name, warmUp);
      await run(theirs, name, warmUp);
      const runs = [];
      for (let round = 0; round < rounds; round += 1) {
        runs.push({ ours: await run(ours, name, seconds), theirs: await run(theirs, name, seconds) });
      }
      const of = (read) => median(runs.map(read));
      rows.push({
        deliveries: name,
        ratio: round2(of(({ ours: a, theirs: b }) => a.persecond / b.persecond)),
        cpuratio: round2(of(({ ours: a, theirs: b }) => b.cpuus / a.cpuus)),
        persecond: Math.round(of(({ ours: a }) => a.persecond)),
        barepersecond: Math.round(of(({ theirs: b }) => b.persecond)),
        cpuus: Math.round(of(({ ours: a }) => a.cpuus)),
        barecpuus: Math.round(of(({ theirs: b }) => b.cpuus)),
        p99us: of(({ ours: a }) => a.p99us),
        barep99us: of(({ theirs: b }) => b.p99us),
      });
    }
    console.table(rows);
    return rows;
  } finally {
    child.kill('SIGKILL');
  }
});
finish({ egress }, { json });

/** User and system time of a process so far (Linux: in hundredths of a second). */
async function cpuSeconds(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function startEgress(registry, env) {
  const program = fileURLToPath(new URL('../../dist/tools/cli/assent.js', import.meta.url));
  const args = [
    'egress',
    '--registry',
    registry,
    '--tenant',
    'bench',
    '--listen',
    '127.0.0.1:0',
    '--operations',
    '127.0.0.1:0',
  ];
  const child = fork(program, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  while (!said.includes('/metrics')) {
    if (child.exitCode !== null) throw new Error(said);
    await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
  }
  const [, port, operations] = /listens on http:\/\/127.0.0.1:(\d+)\n +Health +(\S+)\/readyz/.exec(said);
  while (!(await fetch(`${operations}/readyz`)).ok) await new Promise((resolve) => setTimeout(resolve, 100));
  return { child, port: Number(port) };
}

async function grant(url, token, origin, sink, name) {
  const post = async (path, content) => {
    const answer = await fetch(`${url}/v1/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(content),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
  };
  const expiresat = new Date(Date.now() + 86_400_000).toISOString();
  await post('origins', { name: origin, signatures: name === 'signed' ? 'dictionary' : 'off' });
  await post('grants', { origin, sink, allowedrate: '*', expiresat, agreement: 'bench' });
}
