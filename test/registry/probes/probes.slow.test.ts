import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import pg from 'pg';
import { Registry as Metrics } from 'prom-client';
import supertest from 'supertest';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { createOperationsApp } from '../../../src/registry/probes/operations-app.js';
import { passTurns } from '../../support/pass-time.js';
import { untilReady } from '../../support/process.js';
import { isServer, startRegistry, type Client, type Registry } from '../../support/registry.js';

let registry: Registry;
let subscriber: Client;

beforeAll(async () => {
  registry = await startRegistry();
  const admin = await registry.as('assent:admin');
  subscriber = await registry.as('assent:subscribe');
  await admin.post('/v1/origins').send({ name: 'eventemitter.example.com', isdefault: true }).expect(201);
});
afterAll(() => registry.stop());

/** Registries that a single test starts. */
const others: Registry[] = [];
afterEach(async () => {
  await Promise.all(others.splice(0).map((other) => other.stop()));
});
async function another(): Promise<Registry> {
  const other = await startRegistry();
  others.push(other);
  return other;
}

const watch = (path: string) => supertest(registry.operationsUrl).get(path);

/** The value of a metric with exactly these labels, in any order. */
async function metric(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  const { text } = await watch('/metrics').expect(200);
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = text.split('\n').find((candidate) => {
    const [, found, inside = ''] = /^(\w+)(?:\{(.*)\})? /.exec(candidate) ?? [];
    return found === name && inside.split(',').filter(Boolean).sort().join() === wanted.sort().join();
  });
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

test('a running process is live, and one with everything that it needs is ready', async () => {
  await untilReady(registry.operationsUrl);
  expect((await watch('/livez').expect(200)).body).toEqual({ status: 'live' });
  const checks = { process: 'ok', database: 'ok', migrations: 'ok', index: 'ok', worker: 'ok', writes: 'ok' };
  expect((await watch('/readyz').expect(200)).body).toEqual({ status: 'ready', checks });
});

(isServer() ? test : test.skip)('a database that is gone makes it not ready, and leaves it live', async () => {
  const other = await another();
  const url = new URL(other.env['DATABASE_URL'] ?? '');
  await registry.sql(`drop database ${url.pathname.slice(1)} with (force)`);
  const { body } = await supertest(other.operationsUrl).get('/readyz').expect(503);
  expect(body).toMatchObject({
    status: 'not ready',
    checks: { process: 'ok', database: 'failed', migrations: 'unknown', writes: 'unknown' },
  });
  await supertest(other.operationsUrl).get('/livez').expect(200);
  await registry.sql(`create database ${url.pathname.slice(1)}`);
});

test('a migration of this version that the database lacks makes it not ready, and is named', async () => {
  const [row] = await registry.sql<{ name: string }>(`update _prisma_migrations set finished_at = null
    where migration_name = (select max(migration_name) from _prisma_migrations) returning migration_name as name`);
  const { body } = await watch('/readyz').expect(503);
  expect(body.checks).toMatchObject({ database: 'ok', migrations: `pending: ${row?.name}` });
  await registry.sql(`update _prisma_migrations set finished_at = now()`);
  await watch('/readyz').expect(200);
});

test('a migration of a newer version is named in the log, in a warning and in the metrics, and leaves it ready', async () => {
  const name = '20991231000000_from_the_future';
  await registry.sql(
    `insert into _prisma_migrations (id, checksum, finished_at, migration_name) values ('future', '', now(), '${name}')`,
  );
  const { body } = await watch('/readyz').expect(200);
  expect(body).toMatchObject({ status: 'ready', warnings: [expect.stringContaining(name)] });
  await watch('/readyz').expect(200);
  const isTold = (line: string) => line.includes(name) && line.includes('"level":"error"');
  expect(registry.logs.filter(isTold)).toHaveLength(1);
  expect(await metric('assent_unknown_migrations')).toBe(1);
  if (isServer()) {
    const older = await startRegistry({ beside: registry });
    expect(older.logs.filter(isTold)).toHaveLength(1);
    await older.stop();
  }
  await registry.sql(`delete from _prisma_migrations where id = 'future'`);
  expect((await watch('/readyz').expect(200)).body).not.toHaveProperty('warnings');
});

(isServer() ? test : test.skip)('while changes fail because a disk is full, it says so, and is not ready', async () => {
  await registry.sql(`create function no_room() returns trigger language plpgsql as $$ begin
    raise 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
  await registry.sql('create trigger no_room before insert on origin for each row execute function no_room()');
  const admin = await registry.as('assent:admin');
  const create = () => admin.post('/v1/origins').send({ name: 'full.example.com' });
  const { body } = await create().expect(503).expect('Retry-After', '30');
  expect(body).toMatchObject({ code: 'database_read_only', detail: expect.stringContaining('disk is full') });
  expect(body.detail).not.toContain('does not answer');
  const unready = await watch('/readyz').expect(503);
  expect(unready.body.checks).toMatchObject({ database: 'ok', writes: 'disk full' });
  await watch('/readyz/reads').expect(200);
  await registry.sql('drop trigger no_room on origin');
  await create().expect(201);
  await watch('/readyz').expect(200);
});

test('a worker that does not poll, or an index that is not loaded, makes it not ready', async () => {
  const idle = await startRegistry({ start: false, unloaded: true });
  others.push(idle);
  const { body } = await supertest(idle.service.operations).get('/readyz').expect(503);
  expect(body.checks).toEqual({
    process: 'ok',
    database: 'ok',
    migrations: 'ok',
    index: 'loading',
    worker: 'does not poll',
    writes: 'ok',
  });
});

test('while it stops it is not ready, still live, and finishes the requests in flight', async () => {
  const other = await another();
  const admin = await other.as('assent:admin');
  await admin.post('/v1/origins').send({ name: 'eventemitter.example.com', isdefault: true }).expect(201);
  const asked = new Promise<void>((resolve) => other.receiver.on('/held', () => resolve()));
  const sink = other.receiver.sink('/held');
  const answer = admin.post('/v1/subscriptions').set('Prefer', 'wait=20').send({ sink, protocol: 'HTTP' });
  const answered = answer.then(({ status, body }) => [status, body.status as string]);
  await asked;
  others.pop();
  const stopped = other.stop();
  const { body } = await supertest(other.operationsUrl).get('/readyz').expect(503);
  expect(body).toMatchObject({ status: 'not ready', checks: { process: 'stopping' } });
  await supertest(other.operationsUrl).get('/livez').expect(200);
  expect(await answered).toEqual([201, 'pending']);
  await stopped;
});

test('a check that hangs is not waited for, and the response contains no causes', async () => {
  const checks = {
    silent: () => new Promise<undefined>(() => undefined),
    broken: () => Promise.reject(new Error('password=canary')),
  };
  const { signal: stopping } = new AbortController();
  const app = createOperationsApp({ metrics: new Metrics(), checks, readChecks: [], timeoutMs: 20, stopping });
  const { body, text } = await supertest(app).get('/readyz').expect(503);
  expect(body.checks).toEqual({ silent: 'no answer in time', broken: 'failed' });
  expect(text).not.toContain('canary');
});

test('requests are counted by operation and status, with their latency', async () => {
  const created = { operation: 'createSubscription', status: '201' };
  const unknown = { operation: 'getSubscription', status: '404' };
  const before = (await metric('assent_http_request_duration_seconds_count', created)) ?? 0;
  registry.receiver.consent('/counted');
  const sink = registry.receiver.sink('/counted');
  await subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' }).expect(201);
  await subscriber.get('/v1/subscriptions/019aa000-0000-7000-8000-000000000000').expect(404);
  await subscriber.get('/nothing/that/anybody/made/up').expect(404);
  expect(await metric('assent_http_request_duration_seconds_count', created)).toBe(before + 1);
  expect(await metric('assent_http_request_duration_seconds_count', unknown)).toBe(1);
  expect(await metric('assent_http_request_duration_seconds_bucket', { ...unknown, le: '+Inf' })).toBe(1);
  const { text } = await watch('/metrics');
  expect(text).not.toContain('/nothing');
});

test('handshakes are counted by verdict and trigger, with their latency', async () => {
  const refused = { verdict: 'no_consent_headers', trigger: 'registration' };
  const before = (await metric('assent_handshake_duration_seconds_count')) ?? 0;
  registry.receiver.on('/silent', (_request, response) => response.writeHead(200).end());
  const sink = registry.receiver.sink('/silent');
  await subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' }).expect(201);
  // With the callback, and without.
  expect(await metric('assent_handshakes_total', refused)).toBe(2);
  expect(await metric('assent_handshake_duration_seconds_count')).toBe(before + 2);
});

test('handshakes are counted while they are in flight', async () => {
  expect(await metric('assent_handshakes_in_flight')).toBe(0);
  let release = () => {};
  const asked = new Promise<void>((resolve) =>
    registry.receiver.on('/flight', (_request, response) => {
      release = () => response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '1' }).end();
      resolve();
    }),
  );
  const sink = registry.receiver.sink('/flight');
  const answer = subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' }).expect(201);
  const answered = answer.then(({ body }) => body.status as string);
  await asked;
  expect(await metric('assent_handshakes_in_flight')).toBe(1);
  release();
  expect(await answered).toBe('active');
  expect(await metric('assent_handshakes_in_flight')).toBe(0);
});

test('the lag says how late the oldest due handshake is', async () => {
  const idle = await startRegistry({ start: false, unloaded: true });
  others.push(idle);
  const lag = async () => {
    const { text } = await supertest(idle.service.operations).get('/metrics').expect(200);
    return Number(/^assent_handshake_lag_seconds (.*)$/m.exec(text)?.[1]);
  };
  expect(await lag()).toBe(0);
  const admin = await idle.as('assent:admin');
  await admin.post('/v1/origins').send({ name: 'eventemitter.example.com', isdefault: true }).expect(201);
  const subscription = { sink: idle.receiver.sink('/later'), protocol: 'HTTP' };
  await admin.post('/v1/subscriptions').set('Prefer', 'respond-async').send(subscription).expect(201);
  await idle.sql(`update handshake set dueat = now() - interval '90 seconds'`);
  await passTurns(idle);
  expect(await lag()).toBeGreaterThanOrEqual(90);
  expect(await lag()).toBeLessThan(120);
  await idle.service.worker.drain();
  expect(await lag()).toBe(0);
});

(isServer() ? test : test.skip)('metrics do not wait for a table that another session has locked', async () => {
  const somebody = new pg.Client({ connectionString: registry.env['DATABASE_URL'] });
  await somebody.connect();
  await somebody.query('begin');
  await somebody.query('lock table handshake');
  const lag = await metric('assent_handshake_lag_seconds');
  const { rows } = await somebody.query(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and query like '%claimeduntil%'`,
  );
  await somebody.end();
  expect(lag).toBeNaN();
  expect(rows).not.toEqual([]);
});

test.each(['/livez', '/readyz', '/metrics'])('%s does not exist on the public listener', async (path) => {
  await supertest(registry.url).get(path).expect(404);
  await subscriber.get(path).expect(404);
});

test('neither the API nor its documents exist on the listener for operations', async () => {
  for (const path of ['/v1/subscriptions', '/v1/permissions', '/openapi.json', '/docs', '/.well-known/jwks.json']) {
    await supertest(registry.url)
      .get(path)
      .expect((response) => expect(response.status).not.toBe(404));
    await watch(path)
      .expect(404)
      .expect('Content-Type', /^application\/problem\+json/);
  }
  const { body } = await supertest(registry.operationsUrl).post('/v1/subscriptions').send({}).expect(404);
  expect(body).toMatchObject({ status: 404, code: 'not_found', detail: expect.stringContaining('/readyz/reads') });
  const wrong = await supertest(registry.operationsUrl).post('/readyz').expect(405).expect('Allow', 'GET, HEAD');
  expect(wrong.body).toMatchObject({ code: 'method_not_allowed', requestid: wrong.headers['x-request-id'] });
  expect((await watch('/%E0%A4%A').expect(404)).body.code).toBe('not_found');
});

/** Sends text on a connection, piece by piece. Returns everything received when the other side closes it. */
function converse(pieces: Iterable<string>, everyMs: number): Promise<{ answer: string }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(registry.url).port), '127.0.0.1');
    let answer = '';
    const left = pieces[Symbol.iterator]();
    const timer = setInterval(() => {
      const { value, done } = left.next();
      if (!done && socket.writable) socket.write(value);
    }, everyMs);
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(timer);
      resolve({ answer });
    });
  });
}

/** The problem in a complete response, whose length must be as announced. */
function problemIn(answer: string): Record<string, unknown> {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toContain('Content-Type: application/problem+json');
  expect(head).toContain(`Content-Length: ${body.length}\r\n`);
  return JSON.parse(body) as Record<string, unknown>;
}

test.each([
  ['headers that are too long', 431, 'headers_too_large', `Host: a\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['bytes that are not HTTP', 400, 'invalid_request', 'Host a\r\n\r\n'],
])('%s get a problem too', async (_, status, code, lines) => {
  const { answer } = await converse([`GET /v1/permissions HTTP/1.1\r\n${lines}`], 1);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(problemIn(answer)).toMatchObject({ status, code, requestid: /X-Request-Id: (\S+)/.exec(answer)?.[1] });
});

test.each([
  ['/v1/permissions', 'without a host', 400, 'invalid_request', ''],
  ['/v1/origins', 'without a host', 400, 'invalid_request', ''],
  ['/v1/permissions', 'with an unknown expectation', 401, 'unauthenticated', 'Host: a\r\nExpect: kindness\r\n'],
])('%s gets a problem %s too', async (path, _, status, code, lines) => {
  const { answer } = await converse([`GET ${path} HTTP/1.1\r\nConnection: close\r\n${lines}\r\n`], 1);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(problemIn(answer)).toMatchObject({ status, code, requestid: /X-Request-Id: (\S+)/.exec(answer)?.[1] });
});

test('a request in progress is not refused because of invalid bytes after it', async () => {
  const deliver = await createToken(
    { tenant: 'gemeente', subscriber: 's', scopes: ['assent:deliver'], minutes: 5 },
    registry.env,
  );
  const poll = `GET /v1/changes?wait=20 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${deliver}\r\n\r\n`;
  const { answer } = await converse([`${poll}what is this?\r\n\r\n`], 1);
  expect(answer).toBe('');
});

test('invalid bytes after a request do not corrupt its response', async () => {
  const deliver = await createToken(
    { tenant: 'gemeente', subscriber: 's', scopes: ['assent:deliver'], minutes: 5 },
    registry.env,
  );
  const stream = `GET /v1/changes HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${deliver}\r\n\r\n`;
  const { answer } = await converse([stream, '', '', '', '', 'what is this?\r\n\r\n'], 100);
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).not.toContain('400');
});

test('a client that sends its headers one byte at a time is disconnected, and so is one that sends nothing', async () => {
  const endless = `GET /v1/subscriptions HTTP/1.1\r\nHost: a\r\nX-Slow: ${'a'.repeat(10_000)}`;
  const [slow, silent] = await Promise.all([converse(endless, 100), converse('', 100)]);
  expect(slow.answer).toMatch(/^HTTP\/1.1 408 /);
  expect(problemIn(slow.answer)).toMatchObject({ status: 408, code: 'request_timeout' });
  expect(silent.answer).toMatch(/^HTTP\/1.1 408 /);
});

test('an idle connection is kept longer than proxies keep theirs', async () => {
  for (const url of [
    `${registry.url}/v1/subscriptions`,
    `${registry.url}/v1/match`,
    `${registry.operationsUrl}/livez`,
  ]) {
    expect((await fetch(url)).headers.get('keep-alive')).toBe('timeout=75');
  }
});

test.each([
  ['Host', 'Host: a.example\r\nHost: b.example'],
  ['Authorization', 'Host: a.example\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b'],
  ['If-Match', `Host: a.example\r\nIf-Match: "1"\r\n${'a:\r\n'.repeat(1_500)}If-Match: "2"`],
])('a request with two %s headers is refused, and the fault names the header', async (name, headers) => {
  const request = `GET /v1/subscriptions HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`;
  const { answer } = await converse([request], 1);
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(answer).toContain('application/problem+json');
  expect(answer).toContain(`"pointer":"header/${name.toLowerCase()}","rule":"header_repeated"`);
});
