import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import supertest from 'supertest';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { loadContract } from '../../../src/base/contract/contract.js';
import { createSender } from '../../../src/kits/sender/index.js';
import { startPostgres, type Postgres, type PostgresServer } from '../../support/postgres.mjs';
import { isServer, startRegistry, type Client, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

/** A primary with a streaming standby; one registry writes to the primary, another follows the standby. */
const onServer = isServer() ? test : test.skip;
let postgres: Postgres;
let standby: PostgresServer;
let writer: Registry;
let reader: Registry;
let tenant: Tenant;
let sender: Client;
let sink: string;
let readerWaited: boolean;

beforeAll(async () => {
  if (!isServer()) return;
  postgres = await startPostgres(['fsync = off', 'full_page_writes = off']);
  standby = await postgres.startStandby(['wal_retrieve_retry_interval = 200ms']);
  const empty = await startPostgres();
  // The surroundings of a registry are created with it. This registry itself is not needed.
  const first = await startRegistry({ env: { DATABASE_URL: empty.url }, start: false });
  const starting = startRegistry({
    beside: first,
    env: {
      DATABASE_URL: '',
      DATABASE_REPLICA_URL: standby.url,
      ASSENT_STOP_SECONDS: '3',
      ASSENT_FEED_HEARTBEAT_SECONDS: '1',
    },
  });
  readerWaited = await Promise.race([starting.then(() => false), sleep(500, true)]);
  writer = await startRegistry({ beside: first, env: { DATABASE_URL: postgres.url, ASSENT_STOP_SECONDS: '3' } });
  reader = await starting;
  leftOver = async () => {
    await first.stop();
    await empty.stop();
  };
  tenant = await createTenant(writer);
  sender = await reader.as('assent:deliver', { subscriber: 'mailroom' });
  writer.receiver.consent('/events');
  sink = writer.receiver.sink('/events');
  await tenant.register(sink, { types: ['com.example.kept'] });
});
let leftOver = async () => {};
afterAll(async () => {
  if (!isServer()) return;
  await Promise.all([reader.stop(), writer.stop()]);
  await leftOver();
  await postgres.stop();
});

const lookUp = (to = sink) => sender.get('/v1/permissions').query({ origin: tenant.origin, sink: to });
const match = (type = 'com.example.kept') =>
  sender
    .post('/v1/match')
    .set('Content-Type', 'application/cloudevents+json')
    .send(JSON.stringify({ specversion: '1.0', id: '1', source: 'urn:example:a', type }));
const operations = (path: string) => supertest(reader.operationsUrl).get(path);

onServer('a process that follows a replica waits for the migrations, and applies none', () => {
  expect(readerWaited).toBe(true);
  expect(reader.logs.some((line) => line.includes('"waiting for migrations"'))).toBe(true);
});

onServer('a process that follows the replica returns and matches what was registered on the primary', async () => {
  await until(async () => (await lookUp()).body.allowed === true && (await match()).body.sinks.length === 1);
  expect((await lookUp().expect(200)).body).toEqual(await tenant.permission(sink));
  expect((await match().expect(200)).headers['age']).toBeUndefined();
  const subscriber = await reader.as('assent:subscribe');
  expect((await subscriber.get('/v1/subscriptions').expect(200)).body).toHaveLength(1);
});

onServer('a process that follows the replica refuses what an admin revoked', async () => {
  writer.receiver.consent('/taken');
  const taken = writer.receiver.sink('/taken');
  await tenant.register(taken);
  await until(async () => (await lookUp(taken)).body.allowed === true);
  await tenant.revoke(taken);
  await until(async () => (await lookUp(taken)).body.allowed === false);
});

onServer(
  'a process that follows the replica serves snapshot and feed, with cursors that are valid everywhere',
  async () => {
    const lines = (await sender.get('/v1/snapshot').buffer().expect(200)).text.trim().split('\n');
    const { cursor } = JSON.parse(lines.at(-1) ?? '') as { cursor: string };
    await tenant.register(sink, { types: ['com.example.followed'] });
    const followed = await sender.get('/v1/changes').query({ after: cursor, wait: 5 }).expect(200);
    expect(followed.body.changes[0]).toMatchObject({ kind: 'subscription.created' });
    const there = await writer.as('assent:deliver');
    const same = await there.get('/v1/changes').query({ after: cursor, limit: 1 }).expect(200);
    expect(same.body.changes).toEqual(followed.body.changes.slice(0, 1));
  },
);

onServer(
  'a cursor that the replica has not reached waits, then gets 503; it is not mistaken for another history',
  async () => {
    const there = await writer.as('assent:deliver');
    await execute(standby.url, 'select pg_wal_replay_pause()');
    writer.receiver.consent('/ahead');
    await tenant.register(writer.receiver.sink('/ahead'), { types: ['com.example.ahead'] });
    const { cursor } = (await there.get('/v1/changes').expect(200)).body;
    const early = await sender.get('/v1/changes').query({ after: cursor });
    expect([early.status, early.body.code]).toEqual([503, 'revision_not_reached']);
    expect(Number(early.headers['retry-after'])).toBeGreaterThan(0);
    const waiting = sender.get('/v1/changes').query({ after: cursor }).then();
    await execute(standby.url, 'select pg_wal_replay_resume()');
    expect(await waiting).toMatchObject({ status: 200, body: { changes: [], more: false } });
  },
);

onServer(
  'a sender that follows a lagging replica reports that age, even while changes arrive all the time',
  async () => {
    const who = { tenant: 'gemeente', subscriber: 'mailroom', scopes: ['assent:deliver' as const], minutes: 60 };
    const follower = await createSender({ registry: reader.url, token: () => createToken(who, reader.env) });
    await follower.ready(0);
    const busy = new AbortController();
    const changes = (async () => {
      while (!busy.signal.aborted) await tenant.register(sink, { types: ['com.example.busy'] }, 'respond-async');
    })();
    await execute(standby.url, `alter system set recovery_min_apply_delay = '3s'`);
    await execute(standby.url, 'select pg_reload_conf()');
    await until(async () => Number((await lookUp().expect(200)).headers['age']) >= 2);
    await until(async () => follower.age() >= 2);
    const ages: number[] = [];
    for (const endsAt = performance.now() + 3_000; performance.now() < endsAt; await sleep(20))
      ages.push(follower.age());
    expect(Math.min(...ages)).toBeGreaterThanOrEqual(2);
    busy.abort();
    await changes;
    await execute(standby.url, 'alter system reset recovery_min_apply_delay');
    await execute(standby.url, 'select pg_reload_conf()');
    await follower.ready(0);
    await follower.close();
  },
);

async function execute(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(statement);
  await client.end();
  return rows;
}

test('of the operations besides GET only these change nothing, and a read-only process refuses all others', () => {
  const asking = loadContract().operations.filter(({ isSafe, method }) => isSafe && method !== 'get');
  expect(asking.map(({ id }) => id).sort()).toEqual([
    'checkEvent',
    'checkFilter',
    'checkPermissions',
    'checkSubscriptionRules',
    'evaluateAccess',
    'evaluateAccesses',
    'matchEvent',
    'searchResources',
  ]);
});

const unsafe = loadContract()
  .operations.filter(({ isSafe }) => !isSafe)
  .map((operation) => [operation.id, operation] as const);
onServer.each(unsafe)('a read-only process refuses %s, with its own code', async (_id, operation) => {
  const client = await reader.as(['assent:admin', 'assent:subscribe', 'assent:deliver', 'assent:sign']);
  const path = operation.path.replace(/[:{][A-Za-z]+}?/g, randomUUID());
  const { status, body, headers } = await client[operation.method](path);
  expect([status, body.code]).toEqual([503, 'read_only']);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
});

onServer('a read-only process answers gateways from memory, and leases nothing to them', async () => {
  const ask = (lease: string) =>
    sender
      .get('/v1/authorize')
      .query({ hosts: new URL(sink).host })
      .set({ 'WebHook-Request-Origin': tenant.origin, 'X-Original-URL': sink, 'Assent-Lease': lease });
  await ask('false').expect(204);
  expect((await ask('true').expect(503)).body.code).toBe('read_only');
});

onServer('a read-only process is ready for look-ups, and not ready for everything', async () => {
  const { body } = await operations('/readyz').expect(503);
  const others = { process: 'ok', database: 'ok', migrations: 'ok', index: 'ok' };
  expect(body).toEqual({ status: 'not ready', checks: { ...others, writes: 'read only' } });
  await operations('/readyz/reads').expect(200, { status: 'ready', checks: { process: 'ok', index: 'ok' } });
  await supertest(writer.operationsUrl).get('/readyz').expect(200);
});

const lag = async () =>
  Number(/^assent_index_lag_seconds (\S+)$/m.exec((await operations('/metrics').expect(200)).text)?.[1]);

onServer.each([
  ['primary', () => postgres],
  ['replica', () => standby],
])(
  'without the %s a process that follows the replica continues, reports its age, and recovers on its own',
  async (_name, server) => {
    await server().crash();
    await until(async () => Number((await lookUp().expect(200)).headers['age']) >= 2);
    const { headers, body } = await match().expect(200);
    expect(Number(headers['age'])).toBeGreaterThanOrEqual(2);
    expect(body.sinks).toHaveLength(1);
    expect(await lag()).toBeGreaterThanOrEqual(2);
    await operations('/readyz/reads').expect(200);
    const page = await sender.get('/v1/changes').expect(200);
    expect(Number(page.headers['age'])).toBeGreaterThanOrEqual(2);

    await server().restart();
    await until(async () => (await lookUp().expect(200)).headers['age'] === undefined);
    await until(async () => (await lag()) < 2);
    const type = `com.example.t${randomUUID().replaceAll('-', '')}`;
    await until(async () => (await tenant.subscriber.get('/v1/subscriptions')).status === 200);
    await tenant.register(sink, { types: [type] });
    await until(async () => (await match(type)).body.sinks.length === 1);
  },
);

onServer(
  'a replica that started without its primary does not know its age, and no sender takes it for current',
  async () => {
    // The last record of a primary that stops is a checkpoint. A standby that begins there replays no transaction, and only
    // a transaction would reveal a time.
    await postgres.shutDown();
    const hasAll = `select not exists (select from pg_stat_wal_receiver where status = 'streaming')
      and pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn() as is`;
    await until(async () => (await execute(standby.url, hasAll))[0].is);
    await execute(standby.url, 'checkpoint');
    await standby.crash();
    await standby.restart();
    const late = await startRegistry({ beside: reader, env: { DATABASE_REPLICA_URL: standby.url } });
    const asking = await late.as('assent:deliver', { subscriber: 'mailroom' });
    const ask = async () => asking.get('/v1/permissions').query({ origin: tenant.origin, sink });
    await until(async () => (await ask()).status === 200);
    const { body, headers } = await ask();
    expect(body.allowed).toBe(true);
    expect(headers['age']).toBe('2147483648');
    expect((await asking.get('/v1/changes').expect(200)).headers['age']).toBe('2147483648');

    const who = { tenant: 'gemeente', subscriber: 'mailroom', scopes: ['assent:deliver' as const], minutes: 60 };
    const follower = await createSender({ registry: late.url, token: () => createToken(who, late.env) });
    await follower.ready();
    expect(follower.age()).toBeGreaterThan(1_000_000);
    // Now its stream is open.
    await sleep(1_500);
    expect(follower.age()).toBeGreaterThan(1_000_000);

    await postgres.restart();
    await until(async () => (await ask()).headers['age'] === undefined);
    await follower.ready(0);
    await follower.close();
    await late.stopService();
  },
);
