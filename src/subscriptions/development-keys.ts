import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { openKeyFile } from '../storage/key-file.js';
import type { VaultKey } from './credential-vault.js';

const keyFile = z.object({ keys: z.array(z.object({ id: z.string().min(1), key: z.base64url().length(43) })).min(1) });

/**
 * On a developer's machine: the keys for sink credentials, created once as `credential-keys.json` in the data folder.
 * Rejects with an Error that names the file when that cannot be read.
 */
export async function openDevelopmentKeys(dataFolder: string): Promise<VaultKey[]> {
  return openKeyFile(
    join(dataFolder, 'credential-keys.json'),
    () => ({ keys: [{ id: 'development', key: randomBytes(32).toString('base64url') }] }),
    (content) => keyFile.parse(content).keys.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64url') })),
  );
}
