import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { subjectOfLine, type ChangeLine, type SnapshotLine, type Checkpoint } from './lines.js';
import { readLines } from './read-lines.js';

/**
 * Writes a journal anew with one line for each subject that is left, in the order of the old one but origins first,
 * since everything else belongs to one. The file is read twice, so that keys have to be remembered and not lines.
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

/** The lines of origins, and the numbers of the other lines that count. */
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
        // What belongs to an origin ends with it.
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
