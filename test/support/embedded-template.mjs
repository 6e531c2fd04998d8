import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules/.cache/assent');

/**
 * Prepares the folder of a migrated embedded database, which every test file then copies. Creating it takes 9 s of CPU
 * time, so it is kept until a migration or the embedded Postgres changes.
 */
export default async function prepare() {
  const template = join(cache, `template-${fingerprint()}`);
  process.env.ASSENT_TEST_FOLDER = template;
  if (existsSync(template)) return;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'making-'));
  const { openDatabase } = await import('../../dist/registry/storage/open-database.js');
  const { migrate } = await import('../../dist/registry/storage/migrate.js');
  const database = await openDatabase({ databaseUrl: undefined, dataFolder: folder });
  await migrate(database);
  await database.close();
  try {
    await rename(folder, template);
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY'].includes(error.code)) throw error;
    await rm(folder, { recursive: true }); // another run was first
  }
}

function fingerprint() {
  const hash = createHash('sha256');
  const migrations = join(root, 'prisma/migrations');
  const files = readdirSync(migrations, { recursive: true }).filter((name) => name.endsWith('.sql'));
  for (const name of files.sort()) hash.update(name).update(readFileSync(join(migrations, name)));
  hash.update(readFileSync(join(root, 'dist/registry/storage/migrate.js')));
  hash.update(readFileSync(createRequire(import.meta.url).resolve('@electric-sql/pglite')));
  return hash.digest('hex').slice(0, 16);
}
