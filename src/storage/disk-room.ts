import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../errors.js';

/** Bytes: Postgres takes 16 MiB at once for its log, and others may write to the same disk. */
const roomNeeded = 67_108_864;
const everyMs = 250;

/** SetupError where there is no room to start in. */
export async function requireRoom(folder: string): Promise<void> {
  const left = await roomIn(folder);
  if (left >= roomNeeded) return;
  const [has, needs] = [left, roomNeeded].map((bytes) => Math.floor(bytes / 1_048_576));
  throw new SetupError(`ASSENT_DATA: the disk of ${folder} has ${has} MiB left, and the database needs ${needs}.`);
}

/** Whether that much can be written. */
export async function hasRoom(folder: string, bytes = 0): Promise<boolean> {
  return (await roomIn(folder)) >= roomNeeded + bytes;
}

export type OnRoom = (isRoom: boolean) => void;

/**
 * Lets an embedded Postgres write only while there is room, until the signal fires; `onRoom` hears of each change. One
 * that finds none for its log gives up, and PGlite does not notice: it tries for ever, and the process does nothing else
 * any more.
 */
export async function writeWithRoom(
  database: { exec: (statement: string) => Promise<unknown> },
  folder: string,
  onRoom: OnRoom,
  signal: AbortSignal,
): Promise<void> {
  for (let writes = true; !signal.aborted;) {
    const isRoom = await hasRoom(folder);
    if (isRoom !== writes) {
      const set = database.exec(`set default_transaction_read_only to ${isRoom ? 'off' : 'on'}`);
      // What could not be set is set the next time.
      const isSet = await set.then(
        () => true,
        () => false,
      );
      if (isSet) {
        writes = isRoom;
        onRoom(isRoom);
      }
    }
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Infinity where the file system does not tell. */
async function roomIn(folder: string): Promise<number> {
  try {
    const { blocks, bavail, bsize } = await statfs(folder);
    return blocks === 0 ? Infinity : bavail * bsize;
  } catch {
    return Infinity;
  }
}
