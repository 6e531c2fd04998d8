import type { Place } from './cursor.js';
import { changeOverhead, type LoggedChange, type FeedScope } from './log.js';

/** The latest changes, in memory: everything after `from` up to `end`. Drops the oldest if there are too many. */
interface Ring {
  from: bigint;
  end: bigint;
  /** Appends changes that come right after `end`. */
  append(changes: readonly LoggedChange[]): void;
  /** Drops everything; the next changes come after this position. */
  reset(position: bigint): void;
  /** Changes after a position that is not before `from`, and the position up to which they were searched. */
  read(scope: FeedScope, after: bigint, limit: number): { changes: LoggedChange[]; position: Place['position'] };
}

export interface RingLimits {
  entries: number;
  bytes: number;
}

/** Approximate bytes of a page, which has at least one change. */
const pageBytes = 262_144;

export function createRing(limits: RingLimits): Ring {
  /** The first `gone` entries were dropped; moving all the others for each dropped entry would be slow. */
  let entries: Array<LoggedChange | undefined> = [];
  let gone = 0;
  let bytes = 0;

  function shrink(): void {
    while (entries.length - gone > limits.entries || bytes > limits.bytes) {
      const oldest = entries[gone];
      if (oldest === undefined) break;
      bytes -= sizeOf(oldest);
      ring.from = oldest.position;
      // The slot may stay for a long time, and some changes are large.
      entries[gone] = undefined;
      gone += 1;
    }
    if (gone > limits.entries) {
      entries = entries.slice(gone);
      gone = 0;
    }
  }

  /** The index of the first entry after this position. */
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
    read({ tenant, origin, subscriber }, after, limit) {
      const changes: LoggedChange[] = [];
      let size = 0;
      for (let place = placeOf(after); place < entries.length; place += 1) {
        const entry = entries[place] as LoggedChange;
        if (entry.tenant !== tenant || (origin !== undefined && entry.origin !== origin)) continue;
        if (subscriber !== undefined && entry.subscribers?.includes(subscriber) !== true) continue;
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

/** Includes the text for readers, which is created once for all of them. */
function sizeOf({ sink, state, subscribers }: LoggedChange): number {
  return 800 + 2 * (sink.length + (state?.length ?? 0)) + 100 * (subscribers?.length ?? 0);
}
