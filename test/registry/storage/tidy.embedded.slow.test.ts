import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isServer, startRegistry, type Registry } from '../../support/registry.js';

const onEmbedded = isServer() ? test.skip : test;

let registry: Registry;

beforeAll(async () => {
  registry = await startRegistry({ start: false });
});
afterAll(() => registry.stop());

/** The size of the embedded database in bytes. */
function bytesOnDisk(): number {
  const folder = join(registry.env['ASSENT_DATA'] ?? '', 'database');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

onEmbedded('an embedded database does not grow when rows are created and deleted', async () => {
  const { database } = registry.service;
  const comeAndGo = async () => {
    await registry.sql(
      `insert into idempotency (tenant, subscriber, key, operation, fingerprint, resource)
       select 'gemeente', 'zaaksysteem', g::text, 'createSubscription', 'a', repeat('x', 800)
       from generate_series(1, 10000) g`,
    );
    await registry.sql('delete from idempotency');
    await database.tidy();
    return bytesOnDisk();
  };
  const sizes: number[] = [];
  for (let round = 0; round < 8; round += 1) sizes.push(await comeAndGo());
  expect(Math.max(...sizes.slice(4))).toBeLessThanOrEqual(Math.max(...sizes.slice(0, 4)));
});
