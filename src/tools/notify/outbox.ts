import { createReadStream } from 'node:fs';
import { open, rename, rm, truncate, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { readLines } from '../../base/formats/lines.js';
import type { Checkpoint } from '../../kits/client/follow-changes.js';
import type { LastStatus, Updates } from './last-status.js';

/**
 * The notices that are not delivered yet and the last status of each subscription, on disk: a file of lines. `through`
 * says up to where the log was read. It is written and synced together with the notices of these changes, so that a
 * process that is killed at any moment neither loses a notice nor reads a change twice. Only the record of a delivery
 * may be lost: then the notice is sent again, with the same id.
 */
export interface Outbox {
  /** Where the log was read up to. Undefined at the first start. */
  through(): Checkpoint | undefined;
  /** By subscription. */
  statuses(): ReadonlyMap<string, LastStatus>;
  /** What was not done, in order. */
  pending(): Entry[];
  /** Resolves when the disk has all of it. */
  append(entries: ReadonlyArray<Omit<Entry, 'number'>>, through: Checkpoint, updates: Updates): Promise<Entry[]>;
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

type StatusLine = { last: Array<[subscription: string, LastStatus | null]> };
type Line = { entry: Entry } | StatusLine | { through: Checkpoint } | { done: number };

const smallBytes = 1_048_576;

/** The caller locks the folder. Rejects with an Error for a file that cannot be read or written. */
export async function openOutbox(folder: string, onFault: (error: unknown) => void): Promise<Outbox> {
  const path = join(folder, 'outbox.jsonl');
  const entries = new Map<number, Entry>();
  const statuses = new Map<string, LastStatus>();
  let through: Checkpoint | undefined;
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

  const note = (subscription: string, last: LastStatus | null | undefined) => {
    if (last) statuses.set(subscription, last);
    else statuses.delete(subscription);
  };

  async function load(): Promise<void> {
    let read = 0;
    let complete = 0;
    let uncertain: Array<{ entry: Entry } | StatusLine> = [];
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
        if ('entry' in line || 'last' in line) uncertain.push(line);
        else {
          for (const each of uncertain) {
            if ('entry' in each) take(each.entry);
            else each.last.forEach(([subscription, last]) => note(subscription, last));
          }
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
      if (through !== undefined) {
        await target.appendFile(lines.join(''));
        for (const line of statusLines([...statuses])) await target.appendFile(line);
        await target.appendFile(textOf({ through }));
      }
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

  async function write(text: string, isSynced: boolean, onWritten?: () => void): Promise<void> {
    try {
      await file.appendFile(text);
      if (isSynced) await file.datasync();
    } catch (error) {
      // A part may be there: what follows it would not be read.
      await file.truncate(size).catch(() => undefined);
      throw error;
    }
    size += Buffer.byteLength(text);
    onWritten?.();
    if (size > 2 * Math.max(keptSize, smallBytes)) await shrink().catch(onFault);
  }

  await load().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await shrink();

  return {
    through: () => through,
    pending: () => [...entries.values()],
    statuses: () => statuses,
    append: (added, to, updates) =>
      enqueue(async () => {
        const numbered = added.map((entry, place) => ({ ...entry, number: number + 1 + place }));
        const lines = [...numbered.map((entry) => textOf({ entry })), ...statusLines([...updates])];
        await write([...lines, textOf({ through: to })].join(''), true, () => {
          through = to;
          numbered.forEach(take);
          updates.forEach((last, subscription) => note(subscription, last));
        });
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

/** A reader refuses an endless line. */
const statusesPerLine = 1_000;

function statusLines(updates: ReadonlyArray<[string, LastStatus | undefined]>): string[] {
  const lines: string[] = [];
  for (let at = 0; at < updates.length; at += statusesPerLine) {
    const last = updates
      .slice(at, at + statusesPerLine)
      .map(([id, each]): [string, LastStatus | null] => [id, each ?? null]);
    lines.push(textOf({ last }));
  }
  return lines;
}
