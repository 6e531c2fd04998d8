import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Journal, type JournalDraft, type JournalEnding, type AppendLines } from '../../base/files/journal.js';
import { readLines } from '../../base/formats/lines.js';
import type { Checkpoint } from '../client/follow-changes.js';
import { subjectOfLine, type ChangeLine, type SnapshotLine } from './lines.js';

/**
 * The replica on disk: a journal of the lines as received. A header that names the registry, a snapshot with its end, then
 * changes; `current` lines record when the replica was known to be current. A change carries its whole subject, so
 * applying a line twice is harmless, and every beginning of the file with a whole snapshot is a valid replica.
 *
 * Appends are never awaited. After one that failed nothing more is appended, because a change would be missing in the
 * middle. The file stays valid, and the next snapshot replaces it.
 */
export interface ReplicaFile {
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

export interface ReplicaFileSettings {
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

const version = 2;
const maxPending = 64 * 1_048_576;

/** Throws an Error for a folder that is not writable or that another process uses. */
export async function openReplicaFile(settings: ReplicaFileSettings): Promise<ReplicaFile> {
  const { folder, registry, origin, onFault, compactAbove } = settings;
  const path = join(folder, 'replica.jsonl');
  const head = JSON.stringify({ kind: 'assent-replica', version, registry, origin });
  const journal = await Journal.open({
    path,
    inUse: (owner) => new Error(`Process ${owner} keeps its replica in ${folder}.`),
    compact: (write) => compact(path, head, write),
    compactAbove,
    onFault,
  });
  /** Until a snapshot replaces the file. */
  let isBroken = true;
  let pending = 0;

  function fail(error: unknown): void {
    if (isBroken) return;
    isBroken = true;
    onFault(error);
  }

  function append(lines: readonly string[]): void {
    if (isBroken) return;
    const length = lines.reduce((sum, line) => sum + line.length, 0);
    if (pending + length > maxPending) return fail(new Error(`The disk under ${folder} is too slow for the feed.`));
    pending += length;
    void journal
      .append(lines)
      .catch(fail)
      .finally(() => (pending -= length));
  }

  return {
    async replay(put) {
      let place: (Checkpoint & { currentAt: number }) | undefined;
      let [isOwn, isWhole] = [false, false];
      const take = (line: unknown, text: string): JournalEnding => {
        isOwn ||= text === head;
        if (!isOwn) throw new Error('This is the replica of another registry.');
        if (text === head) return 'open';
        const each = line as SnapshotLine | ChangeLine | CurrentLine;
        // A compacted file has changes before its end line.
        isWhole ||= each.kind === 'end';
        if ('cursor' in each && isWhole) {
          const currentAt = each.kind === 'current' ? timeOf(each) : (place?.currentAt ?? 0);
          place = { cursor: each.cursor, revision: each.revision, currentAt };
        }
        if (each.kind !== 'current') put(each as SnapshotLine | ChangeLine);
        return each.kind === 'end' ? 'compacted' : isWhole ? 'whole' : 'open';
      };
      try {
        await journal.read(take);
      } catch {
        return undefined;
      }
      isBroken = place === undefined;
      return place;
    },

    begin() {
      let draft: JournalDraft | undefined;
      let isFailed = false;
      const attempt = async (task: (into: JournalDraft) => Promise<void>) => {
        if (isFailed) return;
        try {
          if (draft === undefined) {
            // What follows belongs to the new replica.
            isBroken = true;
            draft = await journal.begin();
            await draft.write([head]);
          }
          await task(draft);
        } catch (error) {
          isFailed = true;
          onFault(error);
          await draft?.discard().catch(onFault);
        }
      };
      return {
        write: (lines) => attempt((into) => into.write(lines)),
        complete: (checkpoint) =>
          attempt(async (into) => {
            await into.write([JSON.stringify({ kind: 'end', ...checkpoint })]);
            await journal.replace(into);
            isBroken = false;
          }),
        abandon: async () => {
          isFailed = true;
          await draft?.discard().catch(onFault);
        },
      };
    },

    append,
    noteCurrent: (checkpoint, at) =>
      append([JSON.stringify({ kind: 'current', ...checkpoint, at } satisfies CurrentLine)]),
    close: () => journal.close(),
  };
}

/**
 * One line for each remaining subject, in the old order but origins first, because everything else belongs to one. Reads
 * the file twice, so that only keys are kept in memory, not lines.
 */
async function compact(path: string, head: string, write: AppendLines): Promise<void> {
  const { origins, living, checkpoint, current } = await survey(path);
  await write([head, ...origins]);
  let number = 0;
  for await (const lines of readLines(createReadStream(path))) {
    await write(lines.filter(() => living.has((number += 1))));
  }
  const end = [{ kind: 'end', ...checkpoint }, ...(current === undefined ? [] : [{ ...current, ...checkpoint }])];
  await write(end.map((line) => JSON.stringify(line)));
}

/** The lines of origins, and the numbers of the other lines to keep. */
async function survey(path: string) {
  const origins = new Map<string, string>();
  const last = new Map<string, number>();
  const begunAt = new Map<string, number>();
  const originOf = new Map<number, string>();
  let checkpoint: Checkpoint = { cursor: '', revision: '' };
  let current: object | undefined;
  let number = 0;
  for await (const lines of readLines(createReadStream(path))) {
    for (const text of lines) {
      number += 1;
      const line = JSON.parse(text) as SnapshotLine | ChangeLine;
      if ('cursor' in line) checkpoint = { cursor: line.cursor, revision: line.revision };
      if (line.kind === 'current') current = line;
      const subject = number === 1 ? undefined : subjectOfLine(line);
      if (subject === undefined) continue;
      const isGone = !('resource' in line);
      if (subject.kind === 'origin') {
        // Deleting an origin deletes everything that belongs to it.
        if (isGone) begunAt.set(subject.origin, number);
        if (isGone) origins.delete(subject.origin);
        else origins.set(subject.origin, text);
        continue;
      }
      // A block belongs to no origin.
      const of = subject.kind === 'block' ? '' : subject.origin;
      const key = `${subject.kind} ${of} ${subject.kind === 'grant' ? subject.sink : subject.id}`;
      const before = last.get(key);
      if (before !== undefined) originOf.delete(before);
      if (isGone) last.delete(key);
      else {
        last.set(key, number);
        originOf.set(number, of);
      }
    }
  }
  const living = new Set<number>();
  for (const [line, origin] of originOf) if (line > (begunAt.get(origin) ?? 0)) living.add(line);
  return { origins: origins.values(), living, checkpoint, current };
}

/** The file may have been edited by hand. An invalid time counts as infinitely old. */
function timeOf({ at }: { at: unknown }): number {
  return typeof at === 'number' && Number.isFinite(at) ? at : 0;
}
