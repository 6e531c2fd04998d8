import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import supertest, { type Response } from 'supertest';
import { asUnavailable } from '../../../src/registry/storage/database-errors.js';
import { freePort, startPostgres, type Postgres } from '../../support/postgres.mjs';
import { untilReady } from '../../support/process.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';
import { until } from '../../support/until.js';

// Commits are written before they are acknowledged, as in production, but not flushed to the disk.
const serverSettings = ['fsync = off', 'full_page_writes = off'];

let postgres: Postgres;
let registry: Registry;
let admin: Client;
let subscriber: Client;
let sink: string;

beforeAll(async () => {
  postgres = await startPostgres(serverSettings);
  registry = await startRegistry({ env: { DATABASE_URL: postgres.url, ASSENT_STOP_SECONDS: '3' } });
  [admin, subscriber] = await Promise.all([registry.as('assent:admin'), registry.as('assent:subscribe')]);
  await admin.post('/v1/origins').send({ name: 'eventemitter.example.com', isdefault: true }).expect(201);
  registry.receiver.consent('/events');
  sink = registry.receiver.sink('/events');
});
afterAll(async () => {
  await postgres.stop();
  await registry.stop();
});

/** One request of each kind that needs the database: read, write, handshake, grant, record. */
const everyKind = (): Array<PromiseLike<Response>> => [
  subscriber.get('/v1/subscriptions'),
  subscriber.get(`/v1/subscriptions/${randomUUID()}`),
  subscriber.post('/v1/subscriptions').send({ sink, protocol: 'HTTP' }),
  subscriber.delete(`/v1/subscriptions/${randomUUID()}`).set('If-Match', '"1"'),
  admin.get('/v1/origins'),
  admin.get('/v1/audit'),
  supertest(registry.url)
    .get(`/v1/callbacks/${randomUUID()}`)
    .query({ key: 'a'.repeat(43) }),
];

function expectUnavailable(responses: readonly Response[]): void {
  for (const { status, headers, body } of responses) {
    expect([status, body.code, headers['content-type']]).toEqual([
      503,
      'database_unavailable',
      expect.stringContaining('application/problem+json'),
    ]);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
}

test('while Postgres is stopped, every request that needs it gets 503 with Retry-After', async () => {
  await postgres.crash();
  expectUnavailable(await Promise.all(everyKind()));
  const { body } = await supertest(registry.operationsUrl).get('/readyz').expect(503);
  expect(body.checks).toMatchObject({
    process: 'ok',
    database: 'failed',
    migrations: 'unknown',
    writes: 'unknown',
  });
  await supertest(registry.operationsUrl).get('/livez').expect(200);
  await supertest(registry.operationsUrl).get('/metrics').expect(200);

  await postgres.restart();
  await untilReady(registry.operationsUrl);
  await subscriber.get('/v1/subscriptions').expect(200);
});

test('a crash of Postgres under load loses no acknowledged change, and a repeated key creates nothing twice', async () => {
  const acknowledged = new Map<string, string>();
  const statuses = new Set<number>();
  const register = async (key: string) => {
    const response = await subscriber
      .post('/v1/subscriptions')
      .set({ 'Idempotency-Key': key, Prefer: 'respond-async' })
      .send({ sink, protocol: 'HTTP', source: `urn:load:${key}` });
    statuses.add(response.status);
    if (response.status === 201) {
      expect(acknowledged.get(key) ?? response.body.id).toBe(response.body.id);
      acknowledged.set(key, response.body.id);
    } else expectUnavailable([response]);
  };
  const keys: string[] = [];
  let isOver = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const key = randomUUID();
      keys.push(key);
      await register(key);
    }
  });
  await until(() => acknowledged.size >= 30);
  await postgres.crash();
  isOver = true;
  await Promise.all(clients);
  await postgres.restart();
  await untilReady(registry.operationsUrl);
  for (const key of keys) await register(key);

  expect(statuses).toEqual(new Set([201, 503]));
  expect(acknowledged.size).toBe(keys.length);
  const rows = await registry.sql<{ id: string; source: string }>(`
      select id::text, source from subscription where source like 'urn:load:%'`);
  const stored = new Map(rows.map(({ id, source }) => [source.slice('urn:load:'.length), id]));
  expect(rows).toHaveLength(keys.length);
  expect(stored).toEqual(acknowledged);
});

test('while Postgres is frozen, more requests than there are connections all get 503', async () => {
  await Promise.all(everyKind());
  postgres.freeze();
  const responses = await Promise.all(Array.from({ length: 5 }, everyKind).flat());
  const ready = await supertest(registry.operationsUrl).get('/readyz');
  postgres.thaw();
  expectUnavailable(responses);
  expect(ready.status).toBe(503);
  await untilReady(registry.operationsUrl);
  await subscriber.get('/v1/subscriptions').expect(200);
});

describe('while Postgres refuses logins to the database', () => {
  let elsewhere: pg.Client;
  beforeAll(async () => {
    elsewhere = new pg.Client({
      connectionString: Object.assign(new URL(postgres.url), { pathname: '/template1' }).href,
    });
    await elsewhere.connect();
  });
  afterAll(() => elsewhere?.end());

  test.each([
    [
      'as it is closed',
      'alter database postgres allow_connections false',
      'alter database postgres allow_connections true',
    ],
    ['because it was renamed', 'alter database postgres rename to away', 'alter database away rename to postgres'],
    ['because its user may not log in', 'alter role postgres nologin', 'alter role postgres login'],
  ])('%s, what needs it is answered 503 with Retry-After', async (_why, close, open) => {
    const hangUp = `select pg_terminate_backend(pid) from pg_stat_activity where datname in ('postgres', 'away')`;
    await Promise.all(everyKind());
    // A connection between the two succeeds.
    while (
      !(await elsewhere
        .query(hangUp)
        .then(() => elsewhere.query(close))
        .then(
          () => true,
          () => false,
        ))
    );
    await elsewhere.query(hangUp);
    // The first requests may get a broken connection.
    await Promise.all(everyKind());
    const responses = await Promise.all(everyKind());
    await elsewhere.query(open);
    expectUnavailable(responses);
    await untilReady(registry.operationsUrl);
    await subscriber.get('/v1/subscriptions').expect(200);
  });
});

test('a frozen Postgres does not keep the service from stopping', async () => {
  const other = await startRegistry({ beside: registry });
  postgres.freeze();
  await other.service.stop();
  postgres.thaw();
});

test('a server whose name has several addresses is detected as unavailable, although its error has no message', async () => {
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  const socket = connect({
    host: 'database.example',
    port: await freePort(),
    autoSelectFamily: true,
    lookup: (_host, _options, found) => found(null, addresses),
  });
  const [error] = (await once(socket, 'error')) as [Error];
  expect(error.message).toBe('');
  expect(asUnavailable(error)).toMatchObject({ code: 'database_unavailable' });
});
