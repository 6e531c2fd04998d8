import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { kill, pid } from 'node:process';
import { SetupError } from '../errors.js';

/**
 * The embedded database belongs to one process at a time; a second one would destroy it. The lock is a file beside the
 * folder with the owner's process id and the name of a socket that the owner listens on: who can connect to it knows
 * that the owner lives, also from another container on the same machine, where process ids say nothing. Where there can
 * be no socket the process id has to do. A lock that is left behind by a process that died is taken over, by one
 * process at a time as well: a lock on the lock is held meanwhile, or the second would remove what the first has just
 * written. Throws an Error that says who holds it.
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

/** Bytes of a path that a socket can have, on any system. */
const longestSocket = 100;

/** The error for who comes second. */
export type Refuse = (folder: string, owner: number) => Error;
const databaseInUse: Refuse = (folder, owner) =>
  new SetupError(`The database in ${folder} is in use by process ${owner}. Stop that first, or set ASSENT_DATA.`);

async function lock(path: string, refuse: (owner: number) => Error): Promise<() => Promise<void>> {
  const life = await openLife(path);
  try {
    while (!(await create(path, life))) {
      await refuseIfHeld(path, refuse);
      const release = await lock(`${path}.lock`, refuse);
      try {
        // Nobody else removes it now, so what is found stays; where nothing is, a new lock may be the next moment.
        const left = await refuseIfHeld(path, refuse);
        if (left?.life !== undefined) await rm(join(dirname(path), left.life), { force: true });
        if (left !== undefined) await rm(path);
      } finally {
        await release();
      }
    }
  } catch (error) {
    await life?.close();
    throw error;
  }
  return async () => {
    await rm(path, { force: true });
    await life?.close();
  };
}

/** The name appears together with the content: a lock without an owner would look as if its owner had died. */
async function create(path: string, life: Life | undefined): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, [pid, life?.name].join(' ').trim(), { flag: 'wx', mode: 0o600 });
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

/** What is left of an owner that has died: its lock, with the name of its socket. Undefined if there is no lock. */
async function refuseIfHeld(path: string, refuse: (owner: number) => Error): Promise<{ life?: string } | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const [owner, life] = text.split(' ');
  // A socket may have been swept away by somebody who tidies up; one that is there and deaf has lost its owner.
  const isHeld =
    (life === undefined ? undefined : await isAnswered(join(dirname(path), life))) ?? isAlive(Number(owner));
  if (isHeld) throw refuse(Number(owner));
  return life === undefined ? {} : { life };
}

function isAlive(owner: number): boolean {
  if (owner === pid || !Number.isInteger(owner) || owner <= 0) return false;
  try {
    kill(owner, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A socket beside the lock, which the kernel closes when the process ends, however it ends. */
interface Life {
  name: string;
  close(): Promise<void>;
}

/** Undefined where the path is too long for a socket, or the file system has none. */
async function openLife(path: string): Promise<Life | undefined> {
  const name = `${basename(path)}.${randomUUID().slice(0, 8)}`;
  const place = join(dirname(path), name);
  if (Buffer.byteLength(place) > longestSocket) return undefined;
  const server = createServer((socket) => socket.destroy());
  const isOpen = await new Promise<boolean>((resolve) => {
    server.on('error', () => resolve(false)).listen(place, () => resolve(true));
  });
  if (!isOpen) return undefined;
  server.unref();
  return { name, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** Whoever is busy answers too, because the kernel takes the connection. Undefined where there is no such socket. */
function isAnswered(place: string): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const socket = connect(place);
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      // Any other fault may be the doing of somebody who lives: another user, or a full queue.
      resolve(code === 'ENOENT' ? undefined : code !== 'ECONNREFUSED'),
    );
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
