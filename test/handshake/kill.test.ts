import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { killRegistrations } from '../support/kill-registrations.mjs';
import { copyDatabase, isServer } from '../support/registry.js';

// Most of it is starting again, which takes the embedded database much longer.
const registrations = isServer ? 200 : 100;

test(`${registrations} registrations while the process is killed again and again: nothing acknowledged is lost or doubled, and each reaches its right status`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'assent-kill-database-'));
  const database = isServer ? await copyDatabase(folder) : undefined;
  const seed = randomInt(2 ** 31);
  const result = await killRegistrations({ databaseUrl: database?.url, seed, registrations });
  process.stdout.write(`${JSON.stringify({ ...result, faults: result.faults.length })}\n`);
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
  expect(result).toMatchObject({ seed, acknowledged: registrations, faults: [] });
  expect(result.kills).toBeGreaterThan(isServer ? 3 : 1);
}, 240_000);
