import { readdirSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Programs in this folder import the kits of this checkout by the names of their packages. Nothing is packed or installed:
 * test/packaging/packages.slow.test.ts does that.
 */
export async function linkKits(folder: string): Promise<void> {
  for (const name of readdirSync(join(root, 'src', 'kits'))) {
    const place = join(folder, 'node_modules', '@assent', name);
    await mkdir(place, { recursive: true });
    await symlink(join(root, 'dist', 'kits', name, 'index.js'), join(place, 'index.js'));
    await writeFile(join(place, 'package.json'), '{"type":"module","exports":"./index.js"}');
  }
}
