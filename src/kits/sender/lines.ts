import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { readLines } from '../../base/formats/lines.js';
import { putOrRemove, type Replica } from '../../matching/replica/replica.js';
import {
  subjectOfChange,
  subjectOfState,
  type State,
  type StateLine,
  type Subject,
} from '../../matching/replica/state.js';
import type { Checkpoint } from '../client/follow-changes.js';

/** A line of a snapshot. The last one is `end`; without it the snapshot is incomplete. */
export type SnapshotLine = StateLine | ({ kind: 'end' } & Checkpoint);

/** A change from the feed: the new state of its subject, or null if it was deleted. */
export interface ChangeLine extends Checkpoint {
  /** `grant.revoked` is about a grant. */
  kind: string;
  /** RFC 3339. */
  at: string;
  origin: string;
  sink?: string;
  subscription?: string;
  /** A code. */
  reason?: string;
  state: State | null;
}

/** A replica of the kit has one tenant: that of its token. */
export const ownTenant = '';

/** Undefined for a kind that this version does not know. */
function subjectOfLine(line: SnapshotLine | ChangeLine): Subject | undefined {
  if ('cursor' in line && line.kind === 'end') return undefined;
  return 'cursor' in line ? subjectOfChange(line as ChangeLine, ownTenant) : subjectOfState(line, ownTenant);
}

/** Reports a line that a newer registry wrote and this version cannot apply, and continues. */
export function putLine(replica: Replica, line: SnapshotLine | ChangeLine, onFault: (error: unknown) => void): void {
  if ('state' in line) putOrRemove(replica, subjectOfLine(line), line.state, onFault);
}

/**
 * Rewrites a journal with one line for each remaining subject, in the old order but origins first, because everything
 * else belongs to one. Reads the file twice, so that only keys are kept in memory, not lines.
 */
export async function compact(path: string, target: FileHandle, head: string): Promise<void> {
  const { origins, living, checkpoint, current } = await survey(path);
  await target.appendFile([head, ...origins, ''].join('\n'));
  let number = 0;
  for await (const lines of readLines(createReadStream(path))) {
    const kept = lines.filter(() => living.has((number += 1)));
    if (kept.length > 0) await target.appendFile(`${kept.join('\n')}\n`);
  }
  const end = [{ kind: 'end', ...checkpoint }, ...(current === undefined ? [] : [{ ...current, ...checkpoint }])];
  await target.appendFile(end.map((line) => `${JSON.stringify(line)}\n`).join(''));
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
      if (subject === undefined || !('state' in line)) continue;
      const isGone = line.state === null;
      if (subject.kind === 'origin') {
        // Deleting an origin deletes everything that belongs to it.
        if (isGone) begunAt.set(subject.origin, number);
        if (isGone) origins.delete(subject.origin);
        else origins.set(subject.origin, text);
        continue;
      }
      const key = `${subject.kind} ${subject.origin} ${subject.kind === 'grant' ? subject.sink : subject.id}`;
      const before = last.get(key);
      if (before !== undefined) originOf.delete(before);
      if (isGone) last.delete(key);
      else {
        last.set(key, number);
        originOf.set(number, subject.origin);
      }
    }
  }
  const living = new Set<number>();
  for (const [line, origin] of originOf) if (line > (begunAt.get(origin) ?? 0)) living.add(line);
  return { origins: origins.values(), living, checkpoint, current };
}
