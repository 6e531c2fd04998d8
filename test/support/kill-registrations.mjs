// Kills the registry at random moments while clients register webhooks. Checks that every acknowledged registration
// exists once and reaches its correct status. Run it after a build:
//
//   node test/support/kill-registrations.mjs [seed]     on the embedded database, or on DATABASE_URL if that is set
import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { generate } from 'selfsigned';
import { createToken } from '../../dist/tools/cli/login/create-token.js';
import { compileLess } from './compile-less.mjs';
import { freePort } from './postgres.mjs';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const origin = 'eventemitter.example.com';
const deadlineMs = 10_000;
/** How long the claim of a dead process lasts: the deadline of an attempt and the margin of handshake/queue.ts. */
const leaseMs = deadlineMs + 20_000;

/** How each webhook behaves, and the final status of its subscription. */
const behaviours = {
  consenting: 'active',
  refusing: 'refused',
  slow: 'active',
  dead: 'unreachable',
  calling: 'active',
};
const kinds = Object.keys(behaviours);
const maxKills = 5;

/** Returns counts; `faults` is empty if all checks passed. */
export async function killRegistrations({ databaseUrl, seed, registrations = 200, clients = 6 }) {
  const random = createRandom(seed);
  const folder = await mkdtemp(join(tmpdir(), 'assent-kill-'));
  const registry = createRegistry(await freePort());
  const receiver = await startReceiver();
  const deadPort = await freePort();
  const counts = { seed, registrations, acknowledged: 0, retries: 0, kills: 0, killsDuringStart: 0 };
  try {
    await writeFile(join(folder, 'ca.pem'), receiver.ca);
    registry.env = {
      PATH: process.env.PATH,
      ASSENT_DATA: folder,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      ASSENT_PORT: String(registry.port),
      ASSENT_OPERATIONS_PORT: '0',
      ASSENT_PUBLIC_URL: registry.url,
      ASSENT_LOG_LEVEL: 'error',
      ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
      ASSENT_SINK_PORTS: `${receiver.port},${deadPort}`,
      ASSENT_SINK_CA_FILE: join(folder, 'ca.pem'),
      ASSENT_HANDSHAKE_DEADLINE_MS: String(deadlineMs),
      ASSENT_HANDSHAKE_ATTEMPTS: '3',
      ASSENT_HANDSHAKE_RETRY_MS: '200',
      ASSENT_HANDSHAKES_PER_HOST: '100000',
      ASSENT_HANDSHAKES_PER_TENANT: '100000',
      ASSENT_POLL_MS: '200',
    };
    await registry.start();
    const token = await createToken(
      { tenant: 'gemeente', subscriber: 'beheer', scopes: ['assent:admin', 'assent:subscribe'], minutes: 60 },
      registry.env,
    );
    const client = createClient(registry, token, counts);
    await client.post('/v1/origins', { name: origin, isdefault: true, requestedrate: 120 }, randomUUID());

    const acknowledged = new Map();
    const registering = registerAll(client, acknowledged, { registrations, clients, receiver, deadPort });
    await killUntil(registering, registry, random, counts);
    counts.acknowledged = acknowledged.size;
    counts.kills += 1;
    await registry.kill();
    const killedAt = performance.now();
    await registry.start();

    const faults = await verify(client, acknowledged, killedAt + leaseMs + 30_000);
    counts.settledAfterMs = Math.round(performance.now() - killedAt);
    return { ...counts, asked: receiver.asked, called: receiver.called, faults: [...faults, ...receiver.faults] };
  } finally {
    await registry.kill();
    await receiver.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The process under test: always at one address, dead or alive. */
function createRegistry(port) {
  let child;
  return {
    /** Responses since it was started. */
    answers: new EventEmitter(),
    port,
    url: `http://127.0.0.1:${port}`,
    env: {},
    /** Resolves when it is listening, or has ended. */
    async start() {
      child = spawn(process.execPath, [compileLess, main], { env: this.env, stdio: ['ignore', 'ignore', 'pipe'] });
      const started = child;
      let said = '';
      await new Promise((resolve, reject) => {
        started.stderr.setEncoding('utf8').on('data', (text) => {
          said += text;
          if (said.includes('listens on')) resolve();
        });
        started.once('exit', (code) =>
          code === null ? resolve() : reject(new Error(`It ended with ${code}: ${said}`)),
        );
      });
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * 0.4 to 1.2 s after its first response, and sometimes while it starts, until the clients are done. Limited in number:
 * on a busy machine it would never end.
 */
async function killUntil(registering, registry, random, counts) {
  let isDone = false;
  const done = registering.finally(() => (isDone = true));
  while (counts.kills < maxKills) {
    await Promise.race([once(registry.answers, 'answer'), done]);
    await Promise.race([sleep(400 + random() * 800), done]);
    if (isDone) break;
    counts.kills += 1;
    await registry.kill();
    if (random() < 0.2) {
      counts.killsDuringStart += 1;
      const starting = registry.start();
      await sleep(random() * 1_000);
      await registry.kill();
      await starting;
    }
    await registry.start();
  }
  await done;
}

/** Retries with the same Idempotency-Key until there is a response, as a client must. */
function createClient(registry, token, counts) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  async function send(path, init) {
    for (;;) {
      const answer = await fetch(`${registry.url}${path}`, init).catch(() => undefined);
      const body = await answer?.json().catch(() => undefined);
      if (body !== undefined) registry.answers.emit('answer');
      if (body !== undefined && answer.status < 500)
        return { status: answer.status, body, link: answer.headers.get('link') };
      if (answer !== undefined && ![200, 201, 503].includes(answer.status))
        throw new Error(`${path}: ${answer.status}`);
      counts.retries += 1;
      await sleep(100);
    }
  }
  return {
    get: (path) => send(path, { headers }),
    async post(path, body, key) {
      const answer = await send(path, {
        method: 'POST',
        headers: { ...headers, 'Idempotency-Key': key, Prefer: 'wait=2' },
        body: JSON.stringify(body),
      });
      if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
  };
}

/** Notes the id of every acknowledged registration by its sink. */
async function registerAll(client, acknowledged, { registrations, clients, receiver, deadPort }) {
  let next = 0;
  const work = async () => {
    while (next < registrations) {
      const place = next;
      next += 1;
      const kind = kinds[place % kinds.length];
      const port = kind === 'dead' ? deadPort : receiver.port;
      const sink = `https://127.0.1.${1 + (place % 100)}:${port}/${kind}/${place}`;
      const { id } = await client.post('/v1/subscriptions', { sink, protocol: 'HTTP' }, randomUUID());
      acknowledged.set(sink, id);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
}

/** Faults as sentences: lost, duplicate, or without the correct status at the end. */
async function verify(client, acknowledged, until) {
  for (;;) {
    const stored = await listAll(client);
    const lost = [...acknowledged].filter(([sink, id]) => !stored.some((one) => one.id === id && one.sink === sink));
    const doubled = stored.length - new Set(stored.map(({ sink }) => sink)).size;
    const strays = stored.filter(({ sink, status }) => status !== behaviours[kindOf(sink)]);
    if (lost.length + doubled > 0 || strays.length === 0 || performance.now() > until) {
      return [
        ...lost.map(([sink]) => `lost: ${sink}`),
        ...(doubled > 0 ? [`${doubled} subscriptions are there twice`] : []),
        ...strays.map(({ sink, status, statusdetails }) => `${sink} is ${status} (${statusdetails.code})`),
      ];
    }
    await sleep(500);
  }
}

async function listAll(client) {
  const all = [];
  for (let path = '/v1/subscriptions?limit=200'; path !== undefined;) {
    const { body, link } = await client.get(path);
    all.push(...body);
    path = /<([^>]+)>; rel="next"/.exec(link ?? '')?.[1];
  }
  return all;
}

const kindOf = (sink) => new URL(sink).pathname.split('/')[1];

/** A webhook for every path; its first word says how it behaves. */
async function startReceiver() {
  const addresses = Array.from({ length: 100 }, (_, place) => `127.0.1.${1 + place}`);
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'webhooks' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: addresses.map((ip) => ({ type: 7, ip })) },
    ],
  });
  const stopping = new AbortController();
  const receiver = { ca: cert, port: 0, asked: 0, called: 0, faults: [] };
  const consent = { 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': '100' };

  /** The registry may be dead at this moment; a live one must know its own key. */
  async function call(callback) {
    while (!stopping.signal.aborted) {
      const answer = await fetch(callback, { method: 'POST' }).catch(() => undefined);
      if (answer?.status === 200) {
        receiver.called += 1;
        return;
      }
      if (answer !== undefined && answer.status !== 503) {
        receiver.faults.push(`a callback was answered ${answer.status}`);
        return;
      }
      await sleep(100);
    }
  }
  const server = createServer({ cert, key }, async (request, response) => {
    receiver.asked += 1;
    switch (kindOf(`https://${request.headers.host}${request.url}`)) {
      case 'slow':
        await sleep(300 + randomInt(300));
        return void response.writeHead(200, consent).end();
      case 'refusing':
        return void response.writeHead(200, { 'WebHook-Allowed-Origin': 'eventgrid.azure.net' }).end();
      case 'calling':
        if (request.headers['webhook-request-callback']) void call(request.headers['webhook-request-callback']);
        return void response.writeHead(200).end();
      default:
        return void response.writeHead(200, consent).end();
    }
  });
  server.listen(0);
  await once(server, 'listening');
  receiver.port = server.address().port;
  receiver.stop = async () => {
    stopping.abort();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return receiver;
}

/** mulberry32: the same seed gives the same moments. */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const seed = Number(process.argv[2] ?? randomInt(2 ** 31));
  console.log(`seed ${seed}`);
  const result = await killRegistrations({ databaseUrl: process.env.DATABASE_URL, seed });
  console.log(JSON.stringify(result, undefined, 2));
  process.exitCode = result.faults.length === 0 ? 0 : 1;
}
