import { expect, test } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openKeyFile } from '../../../src/base/files/key-file.js';

test('a process that finds a file created in the meantime uses the key in it instead of its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'key-file-'));
  const open = (create: () => unknown) => openKeyFile(join(folder, 'key.json'), create, String);
  const later = await open(async () => {
    expect(await open(() => 'first')).toBe('first');
    return 'later';
  });
  expect(later).toBe('first');
  expect(await readdir(folder)).toEqual(['key.json']);
  await rm(folder, { recursive: true });
});
