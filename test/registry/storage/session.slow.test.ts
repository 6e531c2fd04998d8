import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { startPostgres, type Postgres } from '../../support/postgres.mjs';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** A Postgres as a package installs it on a machine outside UTC, with unusual settings. */
const habits = [
  'fsync = off',
  'full_page_writes = off',
  'timezone = Asia/Kolkata',
  'datestyle = German',
  "default_transaction_isolation = 'repeatable read'",
  'lock_timeout = 1ms',
  'array_nulls = off',
  'transform_null_equals = on',
  'standard_conforming_strings = off',
  'bytea_output = escape',
  'intervalstyle = sql_standard',
  'extra_float_digits = -15',
];

let postgres: Postgres;
let registry: Registry;
let tenant: Tenant;
let before: number;

beforeAll(async () => {
  postgres = await startPostgres(habits);
  registry = await startRegistry({ env: { DATABASE_URL: postgres.url } });
  before = Date.now();
  tenant = await createTenant(registry);
});
afterAll(async () => {
  await registry.stop();
  await postgres.stop();
});

test('times are correct, whatever the time zone and date style of the server', async () => {
  registry.receiver.consent('/events');
  const sink = registry.receiver.sink('/events');
  const registered = await tenant.register(sink);
  const { body: origin } = await tenant.admin.get(`/v1/origins/${tenant.origin}`).expect(200);
  const { body: audit } = await tenant.admin.get('/v1/audit').expect(200);
  const read = await tenant.read(registered.id);
  const permission = await tenant.permission(sink);
  const after = Date.now();

  expect([registered.status, permission.allowed]).toEqual(['active', true]);
  const grantedAt = Date.parse(permission.expiresat) - origin.grantseconds * 1_000;
  const told = [registered, read, origin].map(({ createdat }) => createdat as string);
  const recorded = (audit as Array<{ at: string }>).map(({ at }) => at);
  for (const time of [grantedAt, ...[...told, ...recorded].map(Date.parse)]) {
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(after);
  }
  expect([registered, read].map(({ statusdetails }) => statusdetails.grantexpiresat)).toEqual(
    Array(2).fill(permission.expiresat),
  );
});

test('many concurrent changes of one webhook all succeed, and the last change in the log has the final state', async () => {
  registry.receiver.consent('/many', { rate: '600' });
  const sink = registry.receiver.sink('/many');
  await tenant.register(sink);
  const many = <T>(ask: (n: number) => PromiseLike<T>) => Promise.all(Array.from({ length: 16 }, (_, n) => ask(n)));
  const pair = { origin: tenant.origin, sink };
  const lease = (n: number) => tenant.sender.post('/v1/leases').send({ ...pair, instance: `${n}`, requests: 1 });
  const agree = (n: number) => {
    const expiresat = new Date(Date.now() + 86_400_000 + n).toISOString();
    return tenant.admin.post('/v1/grants').send({ ...pair, allowedrate: 100 + n, agreement: 'agreed', expiresat });
  };
  for (const ask of [lease, agree]) {
    const statuses = (await many(ask)).map(({ status }) => status);
    expect(statuses.filter((status) => status >= 400)).toEqual([]);
  }
  const { allowedrate, expiresat } = await tenant.grant(sink);
  expect(await tenant.permission(sink)).toMatchObject({ allowedrate, expiresat });
});

test('options in the URL work next to those that the program needs, and do not make a replica writable', async () => {
  const url = new URL(postgres.url);
  const habits = [
    'timezone=Asia/Tokyo',
    'default_transaction_read_only=off',
    'work_mem=7MB',
    'statement_timeout=5ms',
    'transaction_timeout=1s',
  ];
  url.searchParams.set('options', habits.map((habit) => `-c ${habit}`).join(' '));
  const database = await openDatabase({ databaseUrl: undefined, replicaUrl: url.href, dataFolder: '' });
  const [row] = await database.query(
    `select current_setting('timezone') as zone, current_setting('default_transaction_read_only') as "readOnly",
      current_setting('work_mem') as memory, current_setting('transaction_isolation') as isolation,
      current_setting('statement_timeout') as patience`,
  );
  // Like a migration and a snapshot.
  await database.exclusively(({ execute }) => execute('select pg_sleep(1.1)'));
  await database.snapshot(({ query }) => query('select pg_sleep(1.1)::text'));
  const [after] = await database.query(`select current_setting('transaction_timeout') as limit`);
  await database.close();
  expect(row).toEqual({ zone: 'UTC', readOnly: 'on', memory: '7MB', isolation: 'read committed', patience: '8s' });
  expect(after).toEqual({ limit: '1s' });
});

test('the transaction timeout of the server (Postgres 17 and later) is reported as an unavailable database', async () => {
  const url = new URL(postgres.url);
  url.searchParams.set('options', '-c transaction_timeout=3s');
  const other = await startRegistry({ env: { DATABASE_URL: url.href }, beside: registry });
  const subscriber = await other.as('assent:subscribe');
  const sink = registry.receiver.sink('/slow');
  const register = () => subscriber.post('/v1/subscriptions').send({ sink, origin: tenant.origin, protocol: 'HTTP' });
  const [refused, listed] = await registry.service.database.write(async ({ sql }) => {
    await sql.$executeRaw`lock table subscription in access exclusive mode`;
    return Promise.all([register(), subscriber.get('/v1/subscriptions')]);
  });
  for (const { status, body } of [refused, listed]) expect([status, body.code]).toEqual([503, 'database_unavailable']);
  // Only a change may have been made.
  expect(refused.body.detail).toContain('may or may not have been made');
  expect(listed.body.detail).toContain('Nothing was changed.');
  expect((await register()).status).toBe(201);
  await other.stopService();
});
