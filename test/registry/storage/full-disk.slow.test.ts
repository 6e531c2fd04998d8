import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import type { Scope } from '../../../src/base/contract/principal.js';
import { startProgram, startRegistryProcess } from '../../support/process.js';

// A separate disk needs a system that lets a process mount one.
const onSmallDisk = spawnSync('unshare', ['-rm', 'true']).status === 0 ? test : test.skip;
const mebibyte = 1_048_576;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assent-disk-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A command for a process whose data folder is a disk of this many MiB, which disappears with the process. */
const withDisk = (size: number) => ({
  env: { ASSENT_DATA: folder, ASSENT_PORT: '0', ASSENT_OPERATIONS_PORT: '0' },
  through: ['unshare', '-rm', 'sh', '-c', `mount -t tmpfs -o size=${size}m none "$0" && exec "$@"`, folder],
});

onSmallDisk(
  'while the disk of the embedded database is full, the database is read-only, and no acknowledged change is lost',
  async () => {
    const registry = await startRegistryProcess(withDisk(200));
    const disk = `/proc/${registry.pid}/root${folder}`;
    const tokenOf = (scopes: Scope) =>
      createToken({ tenant: 'gemeente', subscriber: 'a', scopes: [scopes], minutes: 5 }, { ASSENT_DATA: disk });
    const authorization = { Authorization: `Bearer ${await tokenOf('assent:admin')}` };
    const create = async (name: string): Promise<{ status: number; code?: string }> => {
      const response = await fetch(`${registry.url}/v1/origins`, {
        method: 'POST',
        headers: { ...authorization, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name }),
        signal: AbortSignal.timeout(60_000),
      });
      return { status: response.status, ...((await response.json()) as { code?: string }) };
    };
    const get = (path: string) =>
      fetch(`${registry.url}${path}`, { headers: authorization, signal: AbortSignal.timeout(60_000) });
    const acknowledged: string[] = [];
    const fill = join(disk, 'other');
    try {
      const { bavail, bsize } = await statfs(disk);
      await writeFile(fill, Buffer.alloc(bavail * bsize - 15 * mebibyte));
      let refused: { status: number; code?: string } | undefined;
      for (let count = 0; refused === undefined && count < 2_000; count += 1) {
        const name = `o${count}.example.com`;
        const answer = await create(name);
        if (answer.status === 201) acknowledged.push(name);
        else refused = answer;
      }
      expect(refused).toMatchObject({ status: 503, code: 'database_read_only' });
      expect((await get('/v1/origins?limit=1')).status).toBe(200);
      const unready = await fetch(`${registry.operationsUrl}/readyz`);
      expect([unready.status, await unready.json()]).toMatchObject([503, { checks: { writes: 'disk full' } }]);
      expect((await fetch(`${registry.operationsUrl}/readyz/reads`)).status).toBe(200);

      await rm(fill);
      while ((await create('back.example.com')).status === 503);
      for (const name of acknowledged) expect((await get(`/v1/origins/${name}`)).status).toBe(200);
      registry.child.kill('SIGTERM');
      expect(await registry.ended).toBe(0);
      expect(registry.stdout).toMatch(/the disk is full: .*\n(.*\n)*.*the disk has room again/);
    } finally {
      registry.child.kill('SIGKILL');
      await registry.ended;
    }
  },
);

onSmallDisk('without room for the embedded database the process does not start, and reports the reason', async () => {
  const program = startProgram('main.js', withDisk(40));
  try {
    expect(await program.ended).toBe(1);
    expect(program.stderr).toMatch(/^ASSENT_DATA: the disk of .* has \d+ MiB left, but the database needs 64\.\n$/);
  } finally {
    program.child.kill('SIGKILL');
  }
});
