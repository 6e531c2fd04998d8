import { statfs } from 'node:fs/promises';
import { sleep } from '../until.js';
import { SetupError } from '../errors.js';

/** Bytes: Postgres allocates 16 MiB at a time for its log, and other programs may write to the same disk. */
const roomNeeded = 67_108_864;
const everyMs = 250;

/** SetupError if the disk has too little space to start. */
export async function requireRoom(folder: string): Promise<void> {
  const left = await roomIn(folder);
  if (left >= roomNeeded) return;
  const [has, needs] = [left, roomNeeded].map((bytes) => Math.floor(bytes / 1_048_576));
  throw new SetupError(`ASSENT_DATA: the disk of ${folder} has ${has} MiB left, but the database needs ${needs}.`);
}

/** Whether this many bytes can be written. */
export async function hasRoom(folder: string, bytes = 0): Promise<boolean> {
  return (await roomIn(folder)) >= roomNeeded + bytes;
}

export type OnRoom = (isRoom: boolean) => void;

/**
 * Lets an embedded Postgres write only while the disk has space, until the signal fires. `onRoom` is called for each
 * change. A Postgres without space for its log gives up, and PGlite does not notice: it retries forever and blocks the
 * process.
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
      // If this fails, the next round tries again.
      const isSet = await set.then(
        () => true,
        () => false,
      );
      if (isSet) {
        writes = isRoom;
        onRoom(isRoom);
      }
    }
    await sleep(everyMs, signal);
  }
}

/** Infinity if the file system does not report it. */
async function roomIn(folder: string): Promise<number> {
  try {
    const { blocks, bavail, bsize } = await statfs(folder);
    return blocks === 0 ? Infinity : bavail * bsize;
  } catch {
    return Infinity;
  }
}
