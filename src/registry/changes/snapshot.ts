import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RegistryError } from '../../base/errors.js';
import type { Database } from '../storage/database.js';
import { writeCursor } from './cursor.js';
import { readEnd, readStates, type FeedScope } from './log.js';

/** Sends text. Resolves when there is room for more, rejects when the reader has disconnected. */
export type Write = (text: string) => Promise<void>;

/** Bytes of one snapshot in memory, and on the disk, where millions of subscriptions fit. */
const limits = { memory: 4_194_304, disk: 4_294_967_296 };
const pieceBytes = 262_144;
/** How long the database may be read: during this time Postgres keeps all deleted rows. */
export const readingMs = 120_000;

/**
 * Everything of a scope as of one moment: a line of JSON for each state, and a last line with the cursor to continue
 * from.
 *
 * It is read as fast as the database sends it, into a temporary file if it is large, and sent from there. A transaction
 * that lasts as long as the client reads would keep Postgres from removing dead rows of any table, and would block the
 * embedded Postgres. RegistryError `feed_full`, before anything is sent, if there is no room.
 */
export async function writeSnapshot(
  database: Database,
  scope: FeedScope,
  write: Write,
  signal: AbortSignal,
  withStatuses: boolean,
): Promise<void> {
  const until = performance.now() + readingMs;
  const spool = createSpool(limits.memory);
  try {
    const append = async (text: string) => {
      if (signal.aborted) throw over();
      await spool.append(text);
      if (spool.bytes() > limits.disk || performance.now() > until) throw noRoom();
    };
    await database.snapshot(async (snapshot) => {
      const { epoch, secret, position } = await readEnd(snapshot.query);
      for await (const { kind, states } of readStates(snapshot, scope, withStatuses)) {
        await append(states.map((state) => `{"kind":"${kind}","resource":${state}}\n`).join(''));
      }
      const cursor = writeCursor(secret, scope, { epoch, position });
      await append(`${JSON.stringify({ kind: 'end', cursor, revision: String(position) })}\n`);
    });
    for await (const text of spool.read()) {
      if (signal.aborted) throw over();
      await write(text);
    }
  } finally {
    await spool.close();
  }
}

/** Text that is written once and then read once. Beyond this many bytes it is in a file. */
function createSpool(memoryBytes: number) {
  const kept: string[] = [];
  let file: FileHandle | undefined;
  let bytes = 0;
  const spill = async () => {
    try {
      file ??= await openNameless();
      await file.appendFile(kept.splice(0).join(''));
    } catch (error) {
      throw noRoom(error);
    }
  };
  return {
    bytes: () => bytes,
    async append(text: string): Promise<void> {
      bytes += Buffer.byteLength(text);
      kept.push(text);
      if (bytes > memoryBytes) await spill();
    },
    async *read(): AsyncGenerator<string> {
      const piece = Buffer.alloc(file === undefined ? 0 : pieceBytes);
      // A character may start in one piece and end in the next.
      const decoder = new TextDecoder();
      for (let at = 0; file !== undefined && at < bytes;) {
        const { bytesRead } = await file.read(piece, 0, pieceBytes, at);
        if (bytesRead === 0) throw new Error('The file of a snapshot is shorter than what was written to it.');
        at += bytesRead;
        yield decoder.decode(piece.subarray(0, bytesRead), { stream: true });
      }
      yield* kept;
    },
    close: async () => file?.close(),
  };
}

/** A file that only this process can open. It disappears when it is closed, however the process ends. */
async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'assent-snapshot-'));
  try {
    return await open(join(folder, 'snapshot'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function over(): RegistryError {
  return new RegistryError('stopping', 'The service is stopping, or the snapshot took too long.', {
    retryAfterSeconds: 5,
  });
}

function noRoom(cause?: unknown): RegistryError {
  return new RegistryError(
    'feed_full',
    'This process has no room for a snapshot of this size. Request a single origin.',
    {
      cause,
      retryAfterSeconds: 30,
    },
  );
}
