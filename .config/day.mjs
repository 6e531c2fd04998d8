// A registry with a day of plausible traffic, and the days before it: for the pictures of the docs and for measurements.
// Everything in it went through the API, and every webhook was asked over TLS. Only the clock is not the right one: it is
// turned, for JavaScript and with it for the embedded database, so that weeks pass in a minute, and so that the registry
// is at the same instant whenever it is opened.
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import dnsPacket from 'dns-packet';
import { pino } from 'pino';
import { lockFolder } from '../dist/base/files/folder-lock.js';
import { readConfig } from '../dist/registry/app/config.js';
import { createService } from '../dist/registry/app/service.js';
import { createToken } from '../dist/tools/cli/login/create-token.js';
import { createAuthority } from '../dist/tools/conformance/authority.js';
import { createStory, now } from './day-story.mjs';

export { now };
const root = fileURLToPath(new URL('..', import.meta.url));

/** Statements that turn the clock of a page. `ahead` is an expression in milliseconds. */
export const turnClock = (ahead) => `{
  const Right = Date;
  globalThis.Date = class extends Right {
    constructor(...time) { super(...(time.length === 0 ? [Right.now() + (${ahead})] : time)); }
    static now() { return Right.now() + (${ahead}); }
  };
}`;

/** The clock of this process. It goes on from where it was set. */
const clock = {
  ahead: 0,
  set(time) {
    this.ahead += Math.round(time) - Date.now();
  },
};

/** Opens a copy of the day; the first time, it makes it. `stop` removes the copy. */
export async function openDay({ subscriptions = 300, fresh = false, log = () => {} } = {}) {
  const made = join(tmpdir(), `assent-day-${process.getuid?.() ?? ''}-${subscriptions}-${await hashOfDay()}`);
  const outside = await startOutside(createStory(subscriptions));
  globalThis.dayClock = clock;
  (0, eval)(turnClock('dayClock.ahead'));
  if (fresh) await rm(made, { recursive: true, force: true });
  while (!existsSync(made)) {
    const unlock = await lockFolder(`${made}-lock`).catch(() => undefined);
    // Another process makes it.
    if (unlock === undefined) await new Promise((resolve) => setTimeout(resolve, 1_000));
    else if (existsSync(made)) await unlock();
    else await makeDay(made, subscriptions, outside, log).finally(unlock);
  }
  const folder = await mkdtemp(join(tmpdir(), 'assent-day-copy-'));
  await cp(made, folder, { recursive: true });
  clock.set(now);
  const registry = await openRegistry(folder, outside);
  const { url } = await registry.service.start();
  const callbacks = new Map(JSON.parse(await readFile(join(folder, callbacksFile), 'utf8')));
  return {
    url,
    ...registry,
    /** Sets the clock back, so that what is shown depends on nothing that was done before. */
    rewind: () => clock.set(now),
    ahead: () => clock.ahead,
    /** The latest callback URL that a webhook was offered. */
    callbackAt: (sink) => callbacks.get(sink),
    async stop() {
      await registry.service.stop();
      await outside.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The callback URLs: the registry stores none. */
const callbacksFile = 'callbacks.json';

/** What the stored data depends on. */
async function hashOfDay() {
  const hash = createHash('sha256');
  const migrations = (await readdir(join(root, 'prisma/migrations'), { recursive: true })).sort();
  for (const path of [
    ...migrations.filter((name) => name.endsWith('.sql')).map((name) => join(root, 'prisma/migrations', name)),
    ...['day.mjs', 'day-story.mjs'].map((name) => join(root, '.config', name)),
  ]) {
    hash.update(await readFile(path));
  }
  return hash.digest('hex').slice(0, 12);
}

/** Plays the story in a new folder. */
async function makeDay(made, subscriptions, outside, log) {
  const folder = await mkdtemp(join(tmpdir(), 'assent-day-new-'));
  const story = createStory(subscriptions);
  clock.set(story.beginning);
  const registry = await openRegistry(folder, outside);
  const server = createHttpServer(registry.service.listener).listen(0, '127.0.0.1');
  try {
    await registry.service.follow();
    await once(server, 'listening');
    await play(story, { ...registry, outside, url: `http://127.0.0.1:${server.address().port}` }, log);
    await writeFile(join(folder, callbacksFile), JSON.stringify([...outside.callbacks]));
    server.close();
    server.closeAllConnections();
    await registry.service.stop();
    await rename(folder, made);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Turns the clock to whatever comes next: an action, a retry, or a look at what time alone has done. */
async function play(story, players, log) {
  const { service, sql } = players;
  const { actions } = story;
  const startedAt = performance.now();
  let [tickAt, dueAt, told] = [story.beginning, Infinity, 0];
  for (;;) {
    const next = Math.min(actions[0]?.at ?? Infinity, tickAt, dueAt);
    if (next >= now) return;
    if (next > Date.now()) clock.set(next);
    const begun = (actions[0]?.at ?? Infinity) <= next ? actions.splice(0, countTogether(actions)) : [];
    await Promise.all(begun.map(({ act }) => act(players)));
    await service.worker.drain();
    if (next >= tickAt) {
      await service.sweep();
      await service.worker.drain();
      tickAt = story.nextTick(Date.now());
    }
    const [{ due }] = await sql(`select min(dueat) as due from handshake where state = 'due'`);
    dueAt = due === null ? Infinity : Math.max(due.getTime(), Date.now()) + 500;
    const days = Math.round((Date.now() - story.beginning) / 86_400_000);
    if (days > told) log(`day ${(told = days)}: ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
}

/** Registrations of the same minute are one batch. */
function countTogether(actions) {
  const others = actions.findIndex(
    ({ at, isRegistration }, place) => !isRegistration || at > actions[0].at + 60_000 || place === 40,
  );
  return others === -1 ? actions.length : Math.max(others, 1);
}

async function openRegistry(folder, { env: reachable, ca }) {
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, ca);
  const env = {
    ASSENT_DATA: folder,
    ASSENT_PORT: '0',
    ASSENT_OPERATIONS_PORT: '0',
    ASSENT_PUBLIC_URL: 'https://assent.example.com',
    ASSENT_CONTACT: 'mailto:events@example.com',
    ASSENT_SINK_CA_FILE: caFile,
    ASSENT_HANDSHAKES_PER_HOST: '100000',
    ASSENT_HANDSHAKES_PER_TENANT: '100000',
    ...reachable,
  };
  const service = await createService({ config: readConfig(env), log: pino({ level: 'error' }, pino.destination(2)) });
  const tokens = new Map();
  return {
    service,
    sql: (text, ...values) => service.database.client.$queryRawUnsafe(text, ...values),
    /** `who`: tenant, subscriber, scopes and, if a person signed in, `person` and `name`. */
    async token(who) {
      const key = `${JSON.stringify(who)} ${Math.floor(Date.now() / 36_000_000)}`;
      const { name, ...request } = who;
      if (!tokens.has(key)) {
        tokens.set(key, createToken({ ...request, minutes: 1_200, claims: { ...(name && { name }) } }, env));
      }
      return tokens.get(key);
    },
  };
}

/** DNS, an egress proxy and the webhooks of the story, all on loopback: nothing leaves this machine. */
async function startOutside(story) {
  const authority = await createAuthority('Webhooks of a plausible day', 3_650);
  const certificate = await authority.issue([...story.hosts, 'localhost']);
  const stranger = await (await createAuthority('Nobody', 3_650)).issue(['localhost']);
  const strange = createSecureContext(stranger);
  const callbacks = new Map();
  const webhooks = createHttpsServer(
    {
      ...certificate,
      SNICallback: (host, done) => done(null, story.distrusted.has(host) ? strange : createSecureContext(certificate)),
    },
    (request, response) => {
      const sink = `https://${request.headers.host}${request.url}`;
      const callback = request.headers['webhook-request-callback'];
      if (callback !== undefined) callbacks.set(sink, callback);
      const answer = story.answer(sink, request.headers, Date.now());
      if (answer === 'closed') return void request.socket.destroy();
      const { status, headers, afterMs } = answer;
      setTimeout(() => response.writeHead(status, headers).end(), afterMs);
    },
  );
  webhooks.listen(0, '127.0.0.1');
  await once(webhooks, 'listening');

  const proxy = createTcpServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      const target = connect(webhooks.address().port, '127.0.0.1');
      target.on('error', () => socket.destroy()).once('close', () => socket.destroy());
      socket.once('close', () => target.destroy());
      target.once('connect', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(target).pipe(socket);
      });
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');

  const dns = createSocket('udp4');
  dns.on('message', (message, from) => {
    const { id, questions } = dnsPacket.decode(message);
    const [{ name, type }] = questions;
    const data = type === 'A' && story.hosts.has(name) ? [story.addressOf(name)] : [];
    const answers = data.map((ip) => ({ type: 'A', name, ttl: 60, data: ip }));
    const flags = dnsPacket.RECURSION_DESIRED | dnsPacket.RECURSION_AVAILABLE | (story.hosts.has(name) ? 0 : 3);
    dns.send(dnsPacket.encode({ type: 'response', id, flags, questions, answers }), from.port, from.address);
  });
  dns.bind(0, '127.0.0.1');
  await once(dns, 'listening');

  return {
    ca: authority.cert,
    env: {
      ASSENT_DNS_SERVERS: `127.0.0.1:${dns.address().port}`,
      ASSENT_EGRESS_PROXY: `http://127.0.0.1:${proxy.address().port}`,
    },
    callbacks,
    async stop() {
      webhooks.close();
      webhooks.closeAllConnections();
      proxy.close();
      dns.close();
    },
  };
}
