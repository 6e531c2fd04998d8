import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { killRegistrations } from '../../support/kill-registrations.mjs';
import { copyDatabase, isServer } from '../../support/registry.js';

test('60 registrations while the process is killed repeatedly: none is lost or duplicated, and each reaches the right status', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'assent-kill-database-'));
  const database = isServer() ? await copyDatabase(folder) : undefined;
  const seed = randomInt(2 ** 31);
  const result = await killRegistrations({ databaseUrl: database?.url, seed, registrations: 60 });
  process.stdout.write(`${JSON.stringify({ ...result, faults: result.faults.length })}\n`);
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
  expect(result).toMatchObject({ seed, acknowledged: 60, faults: [] });
  expect(result.kills).toBeGreaterThan(1);
}, 600_000);
