import type { Place } from './cursor.js';
import { changeOverhead, type LoggedChange, type FeedScope } from './log.js';

/** The latest changes, in memory: everything behind `from` up to `end`. The oldest go when there are too many. */
export interface Ring {
  from: bigint;
  end: bigint;
  /** Takes changes that come right after `end`. */
  append(changes: readonly LoggedChange[]): void;
  /** Forgets everything; what comes next comes after this position. */
  reset(position: bigint): void;
  /** Changes behind a position that is not before `from`, with the position up to which was looked. */
  read(scope: FeedScope, after: bigint, limit: number): { changes: LoggedChange[]; position: Place['position'] };
}

export interface RingLimits {
  entries: number;
  bytes: number;
}

/** Bytes of a page, roughly; one change is always on it. */
const pageBytes = 262_144;

export function createRing(limits: RingLimits): Ring {
  /** The first `gone` of them are no longer there; moving all the others for each one that goes would take its time. */
  let entries: Array<LoggedChange | undefined> = [];
  let gone = 0;
  let bytes = 0;

  function shrink(): void {
    while (entries.length - gone > limits.entries || bytes > limits.bytes) {
      const oldest = entries[gone];
      if (oldest === undefined) break;
      bytes -= sizeOf(oldest);
      ring.from = oldest.position;
      // Its place may stay for long, and some changes are large.
      entries[gone] = undefined;
      gone += 1;
    }
    if (gone > limits.entries) {
      entries = entries.slice(gone);
      gone = 0;
    }
  }

  /** The first entry behind this position. */
  function placeOf(after: bigint): number {
    let [low, high] = [gone, entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((entries[middle] as LoggedChange).position <= after) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const ring: Ring = {
    from: 0n,
    end: 0n,
    append(changes) {
      for (const change of changes) {
        entries.push(change);
        bytes += sizeOf(change);
      }
      ring.end = changes.at(-1)?.position ?? ring.end;
      shrink();
    },
    reset(position) {
      [entries, gone, bytes] = [[], 0, 0];
      ring.from = ring.end = position;
    },
    read({ tenant, origin }, after, limit) {
      const changes: LoggedChange[] = [];
      let size = 0;
      for (let place = placeOf(after); place < entries.length; place += 1) {
        const entry = entries[place] as LoggedChange;
        if (entry.tenant !== tenant || (origin !== undefined && entry.origin !== origin)) continue;
        size += changeOverhead + entry.sink.length + (entry.state?.length ?? 0);
        if (changes.length === limit || (size > pageBytes && changes.length > 0)) {
          return { changes, position: changes.at(-1)?.position ?? after };
        }
        changes.push(entry);
      }
      return { changes, position: after > ring.end ? after : ring.end };
    },
  };
  return ring;
}

/** With the text that readers are sent, which is made once for all of them. */
function sizeOf({ sink, state }: LoggedChange): number {
  return 800 + 2 * (sink.length + (state?.length ?? 0));
}
