import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

// No loop runs in this registry: only the processes of the test announce.

let registry: Registry;
let tenant: Tenant;
const number = 600;

beforeAll(async () => {
  registry = await startRegistry({ start: false });
  tenant = await createTenant(registry);
  await registry.sql(
    `insert into subscription (id, tenant, subscriber, origin, sink, protocol)
     select gen_random_uuid(), 'gemeente', 'zaaksysteem', $1, 'https://many.example.com/' || n, 'HTTP'
     from generate_series(1, ${number}) n`,
    tenant.origin,
  );
});
afterAll(() => registry.stop());

/** A process that announces in pages of ten, and says so before it commits each. */
const announcer = `
  const { openDatabase } = await import(process.env.DIST + 'registry/storage/open-database.js');
  const { announceBlocks } = await import(process.env.DIST + 'registry/blocks/announcements.js');
  const database = await openDatabase({ databaseUrl: process.env.DATABASE_URL, onRoom() {} });
  const write = (work) =>
    database.write(async (tx) => {
      await work(tx);
      console.log('a page');
    });
  await announceBlocks({ write }, new AbortController().signal, 10);
  process.exit(0);`;

/** Resolves when it has ended, or was killed at a page. */
async function announce(pages: number): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', announcer], {
    env: { ...process.env, ...registry.env, DIST: new URL('../../../dist/', import.meta.url).href },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let left = pages;
  createInterface({ input: child.stdout }).on('line', () => (left -= 1) === 0 && child.kill('SIGKILL'));
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal;
}

test('processes that are killed while they announce a block, and its end, lose no subscription and repeat none', async () => {
  const { body } = await tenant.admin
    .post('/v1/blocks')
    .send({ kind: 'domain', value: 'example.com', reason: 'Incident.' })
    .expect(201);
  const told = async (kind: string) => {
    const rows = await registry.sql<{ subscription: string }>(
      'select subscription::text from change where kind = $1',
      kind,
    );
    return rows.map(({ subscription }) => subscription).sort();
  };
  const all = (await registry.sql<{ id: string }>('select id::text from subscription')).map(({ id }) => id).sort();
  for (const kind of ['subscription.blocked', 'subscription.unblocked']) {
    for (const pages of [3, 1, 7]) {
      // Two at once.
      expect(await Promise.all([announce(pages), announce(pages)])).toContain('SIGKILL');
      const { length } = await told(kind);
      expect(length).toBeGreaterThan(0);
      expect(length).toBeLessThan(number);
    }
    while ((await registry.sql('select 1 from block_announcement where finishedat is null')).length > 0)
      await announce(0);
    expect(await told(kind)).toEqual(all);
    if (kind === 'subscription.blocked') await tenant.admin.delete(`/v1/blocks/${body.id}`).expect(200);
  }
});
