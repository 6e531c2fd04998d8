import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { startRegistryProcess, type RunningRegistry } from '../../support/process.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** Two processes on one database, one of them frozen. */

let registry: Registry;
let other: RunningRegistry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry();
  tenant = await createTenant(registry);
  other = await startRegistryProcess({ env: registry.env });
});
afterAll(async () => {
  other.child.kill('SIGKILL');
  await other.ended;
  await registry.stop();
});

/** A change by the other process, which is frozen while it waits for what `lock` locks. Then it gets that. */
async function freezeBehind(lock: string, requestedrate: number): Promise<{ change: Promise<Response> }> {
  const gate = new pg.Client({ connectionString: registry.env['DATABASE_URL'] });
  await gate.connect();
  const [row] = (await gate.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;
  await gate.query(`begin; ${lock}`);
  const who = { tenant: 'gemeente', subscriber: 'beheer', scopes: ['assent:admin' as const], minutes: 5 };
  const token = await createToken(who, registry.env);
  const change = fetch(`${other.url}/v1/origins/${tenant.origin}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/merge-patch+json' },
    body: JSON.stringify({ requestedrate }),
  });
  const waiting = () =>
    registry.sql(
      `select 1 from pg_stat_activity where ${row?.pid} = any (pg_blocking_pids(pid)) and query not like '%claims%'`,
    );
  while ((await waiting()).length === 0) await sleep(10);
  other.child.kill('SIGSTOP');
  await gate.query('commit');
  await gate.end();
  return { change };
}

const rateNow = async () =>
  (await tenant.admin.get(`/v1/origins/${tenant.origin}`).expect(200)).body.requestedrate as number;

test('a process that freezes while it waits for the change log blocks nobody: its change was sent with the commit', async () => {
  const { change } = await freezeBehind(`select lock_registry('changes')`, 60);
  await tenant.admin.post('/v1/origins').send({ name: 'second.example.com' }).expect(201);
  expect(await rateNow()).toBe(60);
  other.child.kill('SIGCONT');
  expect((await change).status).toBe(200);
});

test('a process that freezes in the middle of a change does not block the changes of others for long, and loses its own', async () => {
  const { change } = await freezeBehind(`select 1 from origin where name = '${tenant.origin}' for update`, 30);
  await tenant.admin
    .patch(`/v1/origins/${tenant.origin}`)
    .set('Content-Type', 'application/merge-patch+json')
    .send({ requestedrate: 90 })
    .expect(200);
  other.child.kill('SIGCONT');
  expect((await change).status).toBe(503);
  expect(await rateNow()).toBe(90);
});
