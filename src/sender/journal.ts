import { createReadStream } from 'node:fs';
import { open, rename, rm, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFolder } from '../storage/folder-lock.js';
import { makeFolder } from '../storage/make-folder.js';
import { compact, readLines, type ChangeLine, type Checkpoint, type SnapshotLine } from './lines.js';

/**
 * The replica on disk: a file of the lines as they were received. First whose replica it is, then a snapshot with its
 * end, then changes; `current` notes when the replica was known to be current. Changes are states, so that a line which
 * is applied twice does no harm, and whatever stands before a line that is torn is a replica that can be followed on.
 *
 * Writing is done in the order of the calls, and nobody waits for it. A snapshot and the compacted file are written
 * beside the old one and take its place when they are whole. After a fault of the disk nothing is appended any more,
 * because a change would be missing in the middle; what is there stays good, and the next snapshot begins anew.
 */
export interface Journal {
  /** Calls back with each line of a replica that is there. Undefined if there is none that can be used. */
  replay(put: (line: SnapshotLine | ChangeLine) => void): Promise<(Checkpoint & { currentAt: number }) | undefined>;
  /** A new snapshot begins; its lines go to `write`, which waits for the disk, and count once it is completed. */
  begin(): SnapshotFile;
  append(lines: readonly string[]): void;
  /** Milliseconds since 1970: the replica was current then. */
  noteCurrent(checkpoint: Checkpoint, at: number): void;
  close(): Promise<void>;
}

export interface SnapshotFile {
  write(lines: readonly string[]): Promise<void>;
  complete(checkpoint: Checkpoint): Promise<void>;
  abandon(): Promise<void>;
}

export interface JournalSettings {
  folder: string;
  /** Of which registry, and which origin of it; a file of another one is not used. */
  registry: string;
  origin: string | undefined;
  onFault: (error: unknown) => void;
  /** Bytes. */
  compactAbove?: number | undefined;
}

interface CurrentLine extends Checkpoint {
  kind: 'current';
  /** Milliseconds since 1970. */
  at: number;
}

const version = 1;
const pendingLimit = 64 * 1_048_576;

/** Throws an Error for a folder that cannot be written, or that another process holds. */
export async function openJournal(settings: JournalSettings): Promise<Journal> {
  const { folder, registry, origin, onFault, compactAbove = 1_048_576 } = settings;
  const path = join(folder, 'replica.jsonl');
  const [fresh, compacted] = [`${path}.new`, `${path}.compact`];
  const head = JSON.stringify({
    kind: 'assent-replica',
    version,
    registry,
    ...(origin === undefined ? {} : { origin }),
  });
  await makeFolder(folder);
  const release = await lockFolder(path, (_, owner) => new Error(`Process ${owner} keeps its replica in ${folder}.`));

  let file: FileHandle | undefined;
  /** Bytes of the file. */
  let size = 0;
  let compactedSize = 0;
  let isBroken = true;
  let pending: string[] = [];
  let pendingBytes = 0;
  let work = Promise.resolve();

  const enqueue = (task: () => Promise<void>): Promise<void> => (work = work.then(task, task));
  /** Until a snapshot takes the place of what is there. */
  const keepNothing = () => {
    isBroken = true;
    [pending, pendingBytes] = [[], 0];
  };
  const fail = (error: unknown) => {
    keepNothing();
    onFault(error);
  };

  async function flush(): Promise<void> {
    if (pending.length === 0 || isBroken || file === undefined) return;
    const text = pending.join('');
    [pending, pendingBytes] = [[], 0];
    try {
      await file.appendFile(text);
      size += Buffer.byteLength(text);
      if (size > 2 * Math.max(compactedSize, compactAbove / 2)) await shrink();
    } catch (error) {
      fail(error);
    }
  }

  async function shrink(): Promise<void> {
    const target = await create(compacted);
    try {
      await compact(path, target, head);
      await target.datasync();
    } catch (error) {
      // A disk that is full has the room again.
      await rm(compacted, { force: true });
      throw error;
    } finally {
      await target.close();
    }
    await take(compacted);
  }

  /** A file beside takes the place of the file. */
  async function take(beside: string): Promise<void> {
    await rename(beside, path);
    await file?.close();
    file = await open(path, 'a', 0o600);
    size = compactedSize = (await file.stat()).size;
    isBroken = false;
  }

  function write(line: object | string): void {
    if (isBroken) return;
    const text = `${typeof line === 'string' ? line : JSON.stringify(line)}\n`;
    pending.push(text);
    pendingBytes += text.length;
    if (pendingBytes > pendingLimit) fail(new Error(`The disk under ${folder} is too slow for the feed.`));
  }

  return {
    async replay(put) {
      const found = await readFrom(path, head, put).catch(() => undefined);
      if (found === undefined) return undefined;
      await truncate(path, found.bytes);
      file = await open(path, 'a', 0o600);
      ({ bytes: size, compactedBytes: compactedSize } = found);
      isBroken = false;
      return found.checkpoint;
    },

    begin() {
      let target: FileHandle | undefined;
      let isFailed = false;
      const attempt = (task: (file: FileHandle) => Promise<void>) =>
        (async () => {
          if (isFailed) return;
          if (target === undefined) {
            target = await create(fresh);
            await target.appendFile(`${head}\n`);
          }
          await task(target);
        })().catch(async (error: unknown) => {
          isFailed = true;
          onFault(error);
          await target?.close().catch(onFault);
          // A disk that is full has the room again.
          await rm(fresh, { force: true }).catch(onFault);
        });
      // Of the replica that this one takes the place of, nothing more is kept.
      keepNothing();
      return {
        write: (lines) => attempt((into) => into.appendFile(lines.map((line) => `${line}\n`).join(''))),
        complete: (checkpoint) =>
          attempt(async (into) => {
            await into.appendFile(`${JSON.stringify({ kind: 'end', ...checkpoint })}\n`);
            await into.datasync();
            await into.close();
            await enqueue(() => take(fresh));
          }),
        abandon: async () => {
          isFailed = true;
          await target?.close().catch(onFault);
        },
      };
    },

    append(lines) {
      for (const line of lines) write(line);
      void enqueue(flush);
    },

    noteCurrent(checkpoint, at) {
      write({ kind: 'current', ...checkpoint, at } satisfies CurrentLine);
      void enqueue(flush);
    },

    async close() {
      await enqueue(flush);
      await file?.close();
      await Promise.all([rm(fresh, { force: true }), rm(compacted, { force: true })]);
      await release();
    },
  };
}

async function create(path: string): Promise<FileHandle> {
  // A mode is given to what is new; what is left of a former run might have another.
  await rm(path, { force: true });
  return open(path, 'wx', 0o600);
}

/** Reads up to the first line that is torn. Undefined if that comes before the end of a snapshot. */
async function readFrom(path: string, head: string, put: (line: SnapshotLine | ChangeLine) => void) {
  let bytes = 0;
  let compactedBytes = 0;
  let checkpoint: (Checkpoint & { currentAt: number }) | undefined;
  for await (const lines of readLines(createReadStream(path, { highWaterMark: 262_144 }))) {
    for (const text of lines) {
      if (bytes === 0 && text !== head) return undefined;
      let line: SnapshotLine | ChangeLine | CurrentLine;
      try {
        line = JSON.parse(text) as typeof line;
      } catch {
        return checkpoint && { checkpoint, bytes, compactedBytes };
      }
      bytes += Buffer.byteLength(text) + 1;
      if ('cursor' in line) {
        const { cursor, revision } = line;
        if (line.kind === 'end') compactedBytes = bytes;
        const currentAt = line.kind === 'current' ? timeOf(line) : (checkpoint?.currentAt ?? 0);
        // A compacted file has changes before its end.
        if (compactedBytes > 0) checkpoint = { cursor, revision, currentAt };
      }
      if (line.kind !== 'current') put(line as SnapshotLine | ChangeLine);
    }
  }
  return checkpoint && { checkpoint, bytes, compactedBytes };
}

/** A file may have been edited by hand; what is no time is as old as can be. */
function timeOf({ at }: { at: unknown }): number {
  return typeof at === 'number' && Number.isFinite(at) ? at : 0;
}
