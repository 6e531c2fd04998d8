import { changeOverhead, isVisible, type LoggedChange, type FeedScope } from './log.js';

export interface RingLimits {
  entries: number;
  bytes: number;
}

/** Approximate bytes of a page, which has at least one change. */
const pageBytes = 262_144;

/** The latest changes, in memory: everything after `from` up to `end`. Drops the oldest if there are too many. */
export class Ring {
  readonly #limits: RingLimits;
  /** The first `gone` entries were dropped; moving all the others for each dropped entry would be slow. */
  #entries: Array<LoggedChange | undefined> = [];
  #gone = 0;
  #bytes = 0;
  #from = 0n;
  #end = 0n;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  get from(): bigint {
    return this.#from;
  }

  get end(): bigint {
    return this.#end;
  }

  /** Appends changes that come right after `end`. */
  append(changes: readonly LoggedChange[]): void {
    for (const change of changes) {
      this.#entries.push(change);
      this.#bytes += sizeOf(change);
    }
    this.#end = changes.at(-1)?.position ?? this.#end;
    this.#shrink();
  }

  /** Drops everything; the next changes come after this position. */
  reset(position: bigint): void {
    [this.#entries, this.#gone, this.#bytes] = [[], 0, 0];
    this.#from = this.#end = position;
  }

  /** Changes after a position that is not before `from`, and the position up to which they were searched. */
  read(scope: FeedScope, after: bigint, limit: number) {
    const changes: LoggedChange[] = [];
    let size = 0;
    for (let place = this.#placeOf(after); place < this.#entries.length; place += 1) {
      const entry = this.#entries[place] as LoggedChange;
      if (!isVisible(entry, scope)) continue;
      size += changeOverhead + entry.sink.length + (entry.resource?.length ?? 0);
      if (changes.length === limit || (size > pageBytes && changes.length > 0)) {
        return { changes, position: changes.at(-1)?.position ?? after };
      }
      changes.push(entry);
    }
    return { changes, position: after > this.#end ? after : this.#end };
  }

  #shrink(): void {
    while (this.#entries.length - this.#gone > this.#limits.entries || this.#bytes > this.#limits.bytes) {
      const oldest = this.#entries[this.#gone];
      if (oldest === undefined) break;
      this.#bytes -= sizeOf(oldest);
      this.#from = oldest.position;
      // The slot may stay for a long time, and some changes are large.
      this.#entries[this.#gone] = undefined;
      this.#gone += 1;
    }
    if (this.#gone > this.#limits.entries) {
      this.#entries = this.#entries.slice(this.#gone);
      this.#gone = 0;
    }
  }

  /** The index of the first entry after this position. */
  #placeOf(after: bigint): number {
    let [low, high] = [this.#gone, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle] as LoggedChange).position <= after) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Includes the text for readers, which is created once for all of them. */
function sizeOf({ sink, resource, subscribers }: LoggedChange): number {
  return 800 + 2 * (sink.length + (resource?.length ?? 0)) + 100 * (subscribers?.length ?? 0);
}
