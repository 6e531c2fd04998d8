import { join } from 'node:path';
import { SetupError } from '../../base/errors.js';
import { Journal } from '../../base/files/journal.js';
import type { Checkpoint } from '../../kits/client/follow-changes.js';
import type { LastStatus, Updates } from './last-status.js';

/**
 * The notices that are not delivered yet and the last status of each subscription, in a journal. `through` says
 * up to where the log was read. It is written and synced together with the notices of these changes, so that a process
 * that is killed at any moment neither loses a notice nor reads a change twice. Only the record of a delivery
 * may be lost: then the notice is sent again, with the same id.
 */
export interface Outbox {
  /** Where the log was read up to. Undefined at the first start. */
  through(): Checkpoint | undefined;
  /** By subscription. */
  statuses(): ReadonlyMap<string, LastStatus>;
  /** What was not done, in order. */
  pending(): OutboxEntry[];
  /** Resolves when the disk has all of it. */
  append(
    entries: ReadonlyArray<Omit<OutboxEntry, 'number'>>,
    through: Checkpoint,
    updates: Updates,
  ): Promise<OutboxEntry[]>;
  done(entry: OutboxEntry): void;
  close(): Promise<void>;
}

/** An event for one webhook. */
export interface OutboxEntry {
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
type Line = { entry: OutboxEntry } | StatusLine | { through: Checkpoint } | { done: number };

/** SetupError for a folder in use. Rejects with an Error for a file that cannot be read or written. */
export async function openOutbox(folder: string, onFault: (error: unknown) => void): Promise<Outbox> {
  const entries = new Map<number, OutboxEntry>();
  const statuses = new Map<string, LastStatus>();
  let through: Checkpoint | undefined;
  let number = 0;
  const take = (entry: OutboxEntry) => {
    entries.set(entry.number, entry);
    number = Math.max(number, entry.number);
  };
  const note = (subscription: string, last: LastStatus | null | undefined) => {
    if (last) statuses.set(subscription, last);
    else statuses.delete(subscription);
  };

  const journal = await Journal.open({
    path: join(folder, 'outbox.jsonl'),
    inUse: (owner) => new SetupError(`Process ${owner} sends notices from ${folder}.`),
    async compact(write) {
      // Without a place in the log there is nothing to keep.
      if (through === undefined) return;
      await write([...entries.values()].map((entry) => textOf({ entry })));
      await write([...statusLines([...statuses]), textOf({ through })]);
    },
    onFault,
  });
  let uncertain: Array<{ entry: OutboxEntry } | StatusLine> = [];
  const read = journal.read((each) => {
    const line = each as Line;
    // Without the line after them, their changes are read again.
    if ('entry' in line || 'last' in line) {
      uncertain.push(line);
      return 'open';
    }
    for (const before of uncertain) {
      if ('entry' in before) take(before.entry);
      else before.last.forEach(([subscription, last]) => note(subscription, last));
    }
    uncertain = [];
    if ('through' in line) ({ through } = line);
    else entries.delete(line.done);
    return 'whole';
  });
  await read.catch(async (error: unknown) => {
    await journal.close();
    throw error;
  });

  return {
    through: () => through,
    pending: () => [...entries.values()],
    statuses: () => statuses,
    async append(added, to, updates) {
      const numbered = added.map((entry) => ({ ...entry, number: (number += 1) }));
      const lines = [...numbered.map((entry) => textOf({ entry })), ...statusLines([...updates])];
      await journal.append([...lines, textOf({ through: to })], {
        synced: true,
        onWritten() {
          through = to;
          numbered.forEach(take);
          updates.forEach((last, subscription) => note(subscription, last));
        },
      });
      return numbered;
    },
    done(entry) {
      entries.delete(entry.number);
      void journal.append([textOf({ done: entry.number })]).catch(onFault);
    },
    close: () => journal.close(),
  };
}

function textOf(line: Line): string {
  return JSON.stringify(line);
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
