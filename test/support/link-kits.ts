import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const built = fileURLToPath(new URL('../../dist', import.meta.url));
const entries = {
  sender: 'kits/sender/index.js',
  door: 'outbound/door.js',
  webhook: 'kits/webhook/index.js',
  client: 'kits/client/index.js',
};

/**
 * Programs in this folder import the kits of this checkout by the names of their packages. Nothing is packed or installed:
 * test/packaging/packages.slow.test.ts does that.
 */
export async function linkKits(folder: string): Promise<void> {
  for (const [name, entry] of Object.entries(entries)) {
    const place = join(folder, 'node_modules', '@assent', name);
    await mkdir(place, { recursive: true });
    await symlink(join(built, entry), join(place, 'index.js'));
    await writeFile(join(place, 'package.json'), '{"type":"module","exports":"./index.js"}');
  }
}
