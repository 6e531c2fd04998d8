import { readFile, rm, writeFile } from 'node:fs/promises';
import { kill, pid } from 'node:process';

/**
 * The embedded database belongs to one process at a time; a second one would destroy it. The lock is a file beside the
 * folder with the owner's process id. One that is left behind by a process that died is taken over.
 * Throws an Error that says who holds it.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = `${folder}.lock`;
  try {
    await writeFile(path, String(pid), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const owner = Number(await readFile(path, 'utf8').catch(() => ''));
    if (owner !== pid && isAlive(owner)) {
      throw new Error(`The database in ${folder} is in use by process ${owner}. Stop that first, or set ASSENT_DATA.`, {
        cause: error,
      });
    }
    await rm(path, { force: true });
    return lockFolder(folder);
  }
  return () => rm(path, { force: true });
}

function isAlive(owner: number): boolean {
  if (!Number.isInteger(owner) || owner <= 0) return false;
  try {
    kill(owner, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
