import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { kill, pid } from 'node:process';
import { SetupError } from '../errors.js';

/**
 * Only one process may use the embedded database; a second one would destroy it. The lock is a file next to the folder.
 * It names the owner's process id and a socket that the owner listens on. If another process can connect to the socket,
 * the owner is alive. This also works from another container on the same machine, where process ids mean nothing.
 * Without sockets, the process id must do. A process takes over a lock whose owner has died. Only one may do that at a
 * time, so it holds a lock on the lock: otherwise a second one would remove the lock that the first has just written.
 * Throws an Error that names the owner.
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
 * The locks that this process holds or is acquiring. Any other lock with its process id was left behind by an earlier
 * process with the same id: in containers that is usually 1.
 */
const held = new Set<string>();

/** Bytes that the path of a socket can have on any system. */
const longestSocket = 100;

/** The error for the second process. */
type Refuse = (folder: string, owner: number) => Error;
const databaseInUse: Refuse = (folder, owner) =>
  new SetupError(`The database in ${folder} is in use by process ${owner}. Stop that first, or set ASSENT_DATA.`);

async function lock(path: string, refuse: (owner: number) => Error): Promise<() => Promise<void>> {
  const life = await openLife(path);
  try {
    while (!(await create(path, life))) {
      await refuseIfHeld(path, refuse);
      const release = await lock(`${path}.lock`, refuse);
      try {
        // No other process removes the lock now. If there is none, another process may create one at any moment.
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

/** The file appears with its content: a lock without an owner would look as if its owner had died. */
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

/** The lock of an owner that has died, with the name of its socket. Undefined if there is no lock. */
async function refuseIfHeld(path: string, refuse: (owner: number) => Error): Promise<{ life?: string } | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const [owner, life] = text.split(' ');
  // The socket may have been deleted by a cleanup. A socket that exists but refuses connections has lost its owner.
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

/** A socket next to the lock. The kernel closes it when the process ends, however it ends. */
interface Life {
  name: string;
  close(): Promise<void>;
}

/** Undefined if the path is too long for a socket, or the file system has no sockets. */
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

/** A busy owner answers too, because the kernel accepts the connection. Undefined if there is no such socket. */
function isAnswered(place: string): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const socket = connect(place);
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      // With any other error the owner may be alive: it may belong to another user, or its queue is full.
      resolve(code === 'ENOENT' ? undefined : code !== 'ECONNREFUSED'),
    );
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
