import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** Several registries in one database, each in its own schema. */
let first: Registry;
const others: Registry[] = [];
const tenants: Tenant[] = [];

beforeAll(async () => {
  first = await startRegistry();
  tenants.push(await createTenant(first));
  const url = new URL(first.env['DATABASE_URL'] ?? '');
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query('create schema "found"');
  await client.end();
  const named = new URL(url);
  named.searchParams.set('schema', 'Noord \\ 1 é');
  const found = new URL(url);
  found.searchParams.set('options', '-c search_path=missing,found,public');
  for (const { href } of [named, found]) {
    const registry = await startRegistry({ env: { DATABASE_URL: href }, beside: first });
    others.push(registry);
    tenants.push(await createTenant(registry));
  }
});
afterAll(async () => {
  for (const registry of others) await registry.stopService();
  await first.stop();
});

test('a registry uses the schema in its URL, which it creates, or the first existing one of the search path', async () => {
  const rows = await first.sql<{ schema: string }>(
    `select schemaname as schema from pg_tables where tablename = 'subscription' order by 1`,
  );
  expect(rows.map(({ schema }) => schema)).toEqual(['Noord \\ 1 é', 'found', 'public'].sort());
  expect(others.map(({ service }) => service.database.schema)).toEqual(['Noord \\ 1 é', 'found']);
});

test('registries in one database see nothing of each other', async () => {
  first.receiver.consent('/schema');
  for (const [place, tenant] of tenants.entries()) {
    const sink = first.receiver.sink(`/schema?${place}`);
    expect(await tenant.register(sink)).toMatchObject({ status: 'active' });
    const allowed = await Promise.all(tenants.map(async (each) => (await each.permission(sink)).allowed));
    expect(allowed).toEqual(tenants.map((each) => each === tenant));
  }
});
