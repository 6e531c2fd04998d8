import { createReadStream } from 'node:fs';
import { open, rename, rm, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFolder } from '../../base/files/folder-lock.js';
import { makeFolder } from '../../base/files/make-folder.js';
import { readLines } from '../../base/formats/lines.js';
import type { Checkpoint } from '../client/follow-changes.js';
import { compact, type ChangeLine, type SnapshotLine } from './lines.js';

/**
 * The replica on disk: a file of the lines as received. A header that names the registry, a snapshot with its end, then
 * changes; `current` lines record when the replica was known to be current. A change carries the whole new state, so
 * applying a line twice is harmless, and everything before a torn line is a valid replica.
 *
 * Writes are queued in call order and never awaited. A snapshot and a compacted file are written to a new file that
 * replaces the old one when complete. After a disk error nothing more is appended, because a change would be missing in
 * the middle. The file stays valid, and the next snapshot starts a new one.
 */
export interface Journal {
  /** Calls `put` with each line of a stored replica. Undefined if there is no usable one. */
  replay(put: (line: SnapshotLine | ChangeLine) => void): Promise<(Checkpoint & { currentAt: number }) | undefined>;
  /** Starts a new snapshot. `write` waits for the disk; the lines count once `complete` resolves. */
  begin(): SnapshotFile;
  append(lines: readonly string[]): void;
  /** `at`: when the replica was current, in milliseconds since 1970. */
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
  /** The registry and origin of the replica. A file of another one is ignored. */
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

/** Throws an Error for a folder that is not writable or that another process uses. */
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
  /** Until a snapshot replaces the file. */
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
      // Frees the space on a full disk.
      await rm(compacted, { force: true });
      throw error;
    } finally {
      await target.close();
    }
    await take(compacted);
  }

  /** Replaces the file by the new one. */
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
          // Frees the space on a full disk.
          await rm(fresh, { force: true }).catch(onFault);
        });
      // Drops pending lines of the replica that this one replaces.
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
  // The mode applies to new files only; a leftover file might have another.
  await rm(path, { force: true });
  return open(path, 'wx', 0o600);
}

/** Reads up to the first torn line. Undefined if that is before the end of a snapshot. */
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
        // A compacted file has changes before its end line.
        if (compactedBytes > 0) checkpoint = { cursor, revision, currentAt };
      }
      if (line.kind !== 'current') put(line as SnapshotLine | ChangeLine);
    }
  }
  return checkpoint && { checkpoint, bytes, compactedBytes };
}

/** The file may have been edited by hand. An invalid time counts as infinitely old. */
function timeOf({ at }: { at: unknown }): number {
  return typeof at === 'number' && Number.isFinite(at) ? at : 0;
}
