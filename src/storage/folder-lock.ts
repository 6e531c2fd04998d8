import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { kill, pid } from 'node:process';
import { SetupError } from '../errors.js';

/**
 * The embedded database belongs to one process at a time; a second one would destroy it. The lock is a file beside the
 * folder with the owner's process id. One that is left behind by a process that died is taken over, by one process at a
 * time as well: a lock on the lock is held meanwhile, or the second would remove what the first has just written.
 * Throws an Error that says who holds it.
 */
export async function lockFolder(folder: string, refuse: Refuse = databaseInUse): Promise<() => Promise<void>> {
  const path = `${resolve(folder)}.lock`;
  if (held.has(path)) throw refuse(folder, pid);
  held.add(path);
  try {
    const release = await lock(path, (owner) => refuse(folder, owner));
    return async () => {
      await release();
      held.delete(path);
    };
  } catch (error) {
    held.delete(path);
    throw error;
  }
}

/**
 * What this process holds or is about to. Any other lock with its id was left by a process that had the same one: in
 * containers most have 1.
 */
const held = new Set<string>();

/** The error for who comes second. */
export type Refuse = (folder: string, owner: number) => Error;
const databaseInUse: Refuse = (folder, owner) =>
  new SetupError(`The database in ${folder} is in use by process ${owner}. Stop that first, or set ASSENT_DATA.`);

async function lock(path: string, refuse: (owner: number) => Error): Promise<() => Promise<void>> {
  while (!(await create(path))) {
    await refuseIfHeld(path, refuse);
    const release = await lock(`${path}.lock`, refuse);
    try {
      // Nobody else removes it now, so what is found here stays until then; nothing may be somebody's new lock the next moment.
      if (await refuseIfHeld(path, refuse)) await rm(path);
    } finally {
      await release();
    }
  }
  return () => rm(path, { force: true });
}

/** The name appears together with the content: a lock without an owner would look as if its owner had died. */
async function create(path: string): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, String(pid), { flag: 'wx', mode: 0o600 });
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** True if there is a lock and its owner has died. */
async function refuseIfHeld(path: string, refuse: (owner: number) => Error): Promise<boolean> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const owner = Number(content);
  if (owner === pid || !isAlive(owner)) return content !== undefined;
  throw refuse(owner);
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
