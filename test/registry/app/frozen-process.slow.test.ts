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

test('a process that freezes in the middle of a change does not block the changes of other processes', async () => {
  const gate = new pg.Client({ connectionString: registry.env['DATABASE_URL'] });
  await gate.connect();
  await gate.query(`begin; select lock_registry('changes')`);
  const gatePid = (await gate.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const token = await createToken(
    { tenant: 'gemeente', subscriber: 'beheer', scopes: ['assent:admin'], minutes: 5 },
    registry.env,
  );
  const change = fetch(`${other.url}/v1/origins/${tenant.origin}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/merge-patch+json' },
    body: '{"requestedrate":60}',
  });
  // Waits for the change log, and not for the locks of workers.
  const waiting = () =>
    registry.sql(
      `select 1 from pg_locks a join pg_locks g using (locktype, database, classid, objid, objsubid)
         where a.locktype = 'advisory' and not a.granted and g.granted
           and g.pid = ${gatePid}`,
    );
  while ((await waiting()).length === 0) await sleep(10);

  // It has the lock that all others need, and does nothing more.
  other.child.kill('SIGSTOP');
  await gate.query('commit');
  await gate.end();
  await tenant.admin.post('/v1/origins').send({ name: 'second.example.com' }).expect(201);

  other.child.kill('SIGCONT');
  expect((await change).status).toBe(503);
  const { body } = await tenant.admin.get(`/v1/origins/${tenant.origin}`).expect(200);
  expect(body.requestedrate).toBe(120);
});
