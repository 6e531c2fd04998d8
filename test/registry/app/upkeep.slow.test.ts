import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { startRegistry, type Registry } from '../../support/registry.js';

const env = { ASSENT_RETENTION_DAYS: '90' };
let registry: Registry;

beforeAll(async () => {
  registry = await startRegistry({ env });
});
afterAll(() => registry.stop());

test('however much there is, it goes part by part, and no statement takes its time', async () => {
  await registry.sql(
    `insert into idempotency (tenant, subscriber, key, operation, fingerprint, resource, createdat)
     select 'aa', 'a', n::text, 'x', '', repeat('r', 1500), now() - interval '2 days' from generate_series(1, 25000) n`,
  );
  const left = async () =>
    Number(
      (await registry.sql<{ left: bigint }>(`select count(*) as left from idempotency where resource <> ''`))[0]?.left,
    );
  expect(await left()).toBeGreaterThanOrEqual(25_000);
  const other = new pg.Client({ connectionString: registry.env['DATABASE_URL'] });
  await other.connect();
  await other.query(`begin; select 1 from idempotency where key = '25000' for update`);
  await registry.service.forget();
  expect(registry.logs.filter((line) => line.includes('upkeep fault')).map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      task: 'delete idempotency keys',
      err: expect.objectContaining({ message: expect.stringContaining('statement timeout') }),
    }),
  ]);
  expect(await left()).toBeLessThan(12_500);
  await other.query('commit');
  await other.end();
  await registry.service.forget();
  expect(await left()).toBe(0);
});

test('a stop waits only for the statement in progress', async () => {
  const other = await startRegistry({ env, start: false });
  await other.sql(
    `insert into change (at, tenant, origin, kind, sink) select now() - interval '30 days', 'aa', 'o', 'grant.ended', 's'
     from generate_series(1, 20000)`,
  );
  const forgetting = other.service.forget();
  const [outcome] = await Promise.all([Promise.allSettled([forgetting]), other.stop()]);
  expect(outcome).toMatchObject([{ status: 'rejected' }]);
});
