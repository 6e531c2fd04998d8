import { createReadStream } from 'node:fs';
import { open, rename, rm, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { readLines } from '../../kits/sender/lines.js';

/**
 * The notices that are not delivered yet, on disk: a file of lines. `through` says up to where the log was read, and is
 * written together with the notices of these changes, and synced. So a process that is killed at any moment neither loses
 * a notice nor reads a change twice. Only what is done may be lost: then a notice is sent again, with the same id.
 */
export interface Outbox {
  /** The revision up to which the log was read. Undefined at the first start. */
  through(): string | undefined;
  /** What was not done, in order. */
  pending(): Entry[];
  /** Resolves when the disk has all of it. */
  append(entries: ReadonlyArray<Omit<Entry, 'number'>>, through: string): Promise<Entry[]>;
  done(entry: Entry): void;
  close(): Promise<void>;
}

/** An event for one webhook. */
export interface Entry {
  /** Increases in the order of the log. */
  number: number;
  sink: string;
  /** The subscriptions of the subscriber to its notices that lead to this webhook. */
  subscriptions: string[];
  /** Milliseconds since 1970. */
  queuedAt: number;
  event: object;
}

type Line = { entry: Entry } | { through: string } | { done: number };

const smallBytes = 1_048_576;

/** The caller locks the folder. Rejects with an Error for a file that cannot be read or written. */
export async function openOutbox(folder: string, onFault: (error: unknown) => void): Promise<Outbox> {
  const path = join(folder, 'outbox.jsonl');
  const entries = new Map<number, Entry>();
  let through: string | undefined;
  let number = 0;
  let size = 0;
  let keptSize = 0;
  let file: FileHandle;
  let work: Promise<unknown> = Promise.resolve();
  const enqueue = <T>(task: () => Promise<T>): Promise<T> => {
    const next = work.then(task, task);
    work = next.catch(() => undefined);
    return next;
  };
  const take = (entry: Entry) => {
    entries.set(entry.number, entry);
    number = Math.max(number, entry.number);
  };

  async function load(): Promise<void> {
    let read = 0;
    let complete = 0;
    let uncertain: Entry[] = [];
    reading: for await (const lines of readLines(createReadStream(path))) {
      for (const text of lines) {
        let line: Line;
        try {
          line = JSON.parse(text) as Line;
        } catch {
          break reading;
        }
        read += Buffer.byteLength(text) + 1;
        // Without the line after them, their changes are read again.
        if ('entry' in line) uncertain.push(line.entry);
        else {
          uncertain.forEach(take);
          uncertain = [];
          complete = read;
          if ('through' in line) ({ through } = line);
          else entries.delete(line.done);
        }
      }
    }
    await truncate(path, complete);
  }

  async function shrink(): Promise<void> {
    const fresh = `${path}.new`;
    await rm(fresh, { force: true });
    const target = await open(fresh, 'wx', 0o600);
    try {
      const lines = [...entries.values()].map((entry) => textOf({ entry }));
      // Without a place in the log there is nothing to keep.
      await target.appendFile(through === undefined ? '' : [...lines, textOf({ through })].join(''));
      await target.datasync();
    } finally {
      await target.close();
    }
    await rename(fresh, path);
    const old = file as FileHandle | undefined;
    file = await open(path, 'a', 0o600);
    await old?.close();
    size = keptSize = (await file.stat()).size;
  }

  async function write(text: string, isSynced: boolean): Promise<void> {
    try {
      await file.appendFile(text);
      if (isSynced) await file.datasync();
    } catch (error) {
      // A part may be there: what follows it would not be read.
      await file.truncate(size).catch(() => undefined);
      throw error;
    }
    size += Buffer.byteLength(text);
    if (size > 2 * Math.max(keptSize, smallBytes)) await shrink().catch(onFault);
  }

  await load().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await shrink();

  return {
    through: () => through,
    pending: () => [...entries.values()],
    append: (added, to) =>
      enqueue(async () => {
        const numbered = added.map((entry, place) => ({ ...entry, number: number + 1 + place }));
        await write([...numbered.map((entry) => textOf({ entry })), textOf({ through: to })].join(''), true);
        through = to;
        numbered.forEach(take);
        return numbered;
      }),
    done(entry) {
      entries.delete(entry.number);
      void enqueue(() => write(textOf({ done: entry.number }), false)).catch(onFault);
    },
    async close() {
      await enqueue(async () => file.close());
    },
  };
}

function textOf(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}
