import { chunkBits, offsetMask, type Arena } from './arena.js';
import {
  aboveShift,
  bundleWords,
  isOneOfSeveral,
  isOnly,
  isProof,
  markWord,
  membersList,
  programLengthWord,
  programWord,
} from './bundles.js';
import { blockFirst, blockNext, blockUsed, listBlock, listCount, listFirst } from './entry-list.js';
import type { EventView } from './event-view.js';
import type { KeySearch } from './key-search.js';
import { keyList } from './keys.js';

/** How many candidates are processed together. */
const groupSize = 64;
/** Steps for a candidate, without its program: mostly memory latency. */
const stepsOfCandidate = 16;
/** Steps for the key search, and for each matching subscription with its part of the response. */
const stepsOfEvent = 256;
const stepsOfHandle = 64;

/** A stopped search: its results, and the remaining candidates. */
interface Suspended {
  search: Search;
  /** The number of changes of the index at that time. */
  changes: number;
  handles: number[];
  /** Bundle, flags; those before `at` are done. */
  rest: number[];
  at: number;
}

/**
 * The search of one event through keys, candidates and members.
 *
 * The data is far apart in memory, and waiting for it takes most of the time. A dependent read waits alone. So each
 * step runs for all keys or candidates before the next one, and first reads everything that it needs, without dependent
 * branches: the CPU fetches that in parallel.
 */
export class Search {
  /** The number of candidates of the last event. */
  candidates = 0;
  readonly #arena: Arena;
  readonly #keys: KeySearch;
  readonly #view: EventView;
  /** Candidates to test: bundle, flags. */
  readonly #group = new Int32Array(groupSize * 2);
  #grouped = 0;
  /** Bundles with several keys that this event has already hit. */
  readonly #marked: number[] = [];
  /** The first `#count` belong to this event. */
  readonly #handles: number[] = [];
  #count = 0;
  /** Values of prefetching reads, so that the reads are not optimised away. */
  readonly #read: number[] = [];
  /** Candidates that remain for another slice. */
  #rest: number[] | undefined;
  /** The subscription of a member's handle. */
  readonly #idOf: (handle: number) => string;

  constructor(arena: Arena, keys: KeySearch, view: EventView, idOf: (handle: number) => string) {
    this.#arena = arena;
    this.#keys = keys;
    this.#view = view;
    this.#idOf = idOf;
  }

  /**
   * The handles; undefined if the work was stopped. The next call for the same event continues from there. `changes` is
   * the number of changes of the index.
   */
  run(changes: number): number[] | undefined {
    const { work } = this.#view;
    const suspended = work.suspended as Suspended | undefined;
    if (suspended?.search === this && suspended.changes === changes) return this.#goOn(suspended);
    if (suspended !== undefined) work.restart();
    this.#rest = undefined;
    this.#count = 0;
    this.candidates = 0;
    this.#keys.run();
    this.#readLists();
    for (let i = 0; i < this.#keys.count; i += 1) this.#visit(this.#keys.hits[i]!);
    this.#consider();
    while (this.#marked.length > 0) {
      const bundle = this.#marked.pop()!;
      this.#arena.chunks[bundle >>> chunkBits]![(bundle & offsetMask) + markWord] = 0;
    }
    const handles = this.#handles.slice(0, this.#count);
    work.slice.left -= stepsOfEvent + this.#count * stepsOfHandle;
    const rest = this.#rest as number[] | undefined;
    if (rest === undefined) return handles;
    if (rest.length === 0) {
      // The last candidates used up the slice.
      work.isStopped = false;
      return handles;
    }
    work.suspended = { search: this, changes, handles, rest, at: 0 } satisfies Suspended;
    return undefined;
  }

  /** The index has not changed since, so the results are still valid. */
  #goOn(suspended: Suspended): number[] | undefined {
    const { work } = this.#view;
    const { rest, handles } = suspended;
    this.#count = 0;
    for (; suspended.at < rest.length && !work.isStopped; suspended.at += 2) {
      const bundle = rest[suspended.at]!;
      const isHit = (rest[suspended.at + 1]! & isProof) !== 0 || this.#holds(bundle);
      if (work.isStopped) break;
      if (isHit) this.#takeMembers(bundle + membersList);
      if (work.isOut) work.isStopped = true;
    }
    for (let i = 0; i < this.#count; i += 1) handles.push(this.#handles[i]!);
    work.slice.left -= this.#count * stepsOfHandle;
    if (suspended.at < rest.length) return undefined;
    // As above.
    work.isStopped = false;
    return handles;
  }

  /** Prefetches the newest two blocks of each key; hardly any list has more. */
  #readLists(): void {
    for (let i = 0; i < this.#keys.count; i += 1) {
      const block = this.#arena.word(this.#keys.hits[i]! + keyList + listBlock);
      this.#read[i] = this.#arena.word(this.#arena.word(block + blockNext));
    }
  }

  #visit(key: number): void {
    const words = this.#arena.chunks[key >>> chunkBits]!;
    const list = (key & offsetMask) + keyList;
    this.#gather(words[list + listFirst]!, words[list + listFirst + 1]!);
    for (let block = words[list + listBlock]!; block !== 0;) {
      const entries = this.#arena.chunks[block >>> chunkBits]!;
      const at = block & offsetMask;
      const end = at + blockFirst + entries[at + blockUsed]! * 2;
      for (let entry = at + blockFirst; entry < end; entry += 2) this.#gather(entries[entry]!, entries[entry + 1]!);
      block = entries[at + blockNext]!;
    }
  }

  #gather(bundle: number, flags: number): void {
    this.candidates += 1;
    if ((flags & isOnly) !== 0) {
      this.#take(flags >>> aboveShift);
      return;
    }
    if (this.#grouped === this.#group.length) this.#consider();
    this.#group[this.#grouped] = bundle;
    this.#group[this.#grouped + 1] = flags;
    this.#grouped += 2;
  }

  /** Tests the collected candidates. */
  #consider(): void {
    const group = this.#group;
    const end = this.#grouped;
    this.#grouped = 0;
    if (this.#rest !== undefined) return this.#leave(0, end);
    if (end > 2) this.#readCandidates(end);
    const { work } = this.#view;
    for (let i = 0; i < end; i += 2) {
      if (!this.#isNew(group[i]!, group[i + 1]!)) continue;
      const isHit = (group[i + 1]! & isProof) !== 0 || this.#holds(group[i]!);
      if (work.isStopped) {
        this.#rest = [group[i]!, group[i + 1]!];
        return this.#leave(i + 2, end);
      }
      if (isHit) this.#takeMembers(group[i]! + membersList);
    }
    if (!work.isOut) return;
    work.isStopped = true;
    this.#rest = [];
  }

  /** Leaves candidates of the group for another slice. */
  #leave(from: number, end: number): void {
    for (let i = from; i < end; i += 2) {
      if (this.#isNew(this.#group[i]!, this.#group[i + 1]!)) this.#rest!.push(this.#group[i]!, this.#group[i + 1]!);
    }
  }

  /** Prefetches records, then the programs and members in other blocks. */
  #readCandidates(end: number): void {
    const group = this.#group;
    for (let i = 0; i < end; i += 2) {
      const words = this.#arena.chunks[group[i]! >>> chunkBits]!;
      const at = group[i]! & offsetMask;
      this.#read[i] = words[at + membersList + listBlock]!;
      this.#read[i + 1] = words[at + bundleWords - 1]!;
    }
    for (let i = 0; i < end; i += 2) {
      this.#read[i] = this.#arena.word(this.#read[i]!);
      this.#read[i + 1] = this.#arena.word(this.#arena.word(group[i]! + programWord));
    }
  }

  /** Whether the event has not hit it under another key. */
  #isNew(bundle: number, flags: number): boolean {
    if ((flags & isOneOfSeveral) === 0) return true;
    const words = this.#arena.chunks[bundle >>> chunkBits]!;
    const mark = (bundle & offsetMask) + markWord;
    if (words[mark] !== 0) return false;
    words[mark] = 1;
    this.#marked.push(bundle);
    return true;
  }

  #holds(bundle: number): boolean {
    const words = this.#arena.chunks[bundle >>> chunkBits]!;
    const at = bundle & offsetMask;
    const program = words[at + programWord]!;
    const { work } = this.#view;
    work.steps = 0;
    const holds = this.#view.holds(this.#arena.chunks[program >>> chunkBits]!, program & offsetMask);
    const steps = stepsOfCandidate + words[at + programLengthWord]! * 2;
    work.slice.left -= steps;
    if (work.pay(steps + work.steps)) work.note(this.#idOf(words[at + membersList + listFirst]!), steps + work.steps);
    return holds;
  }

  #takeMembers(members: number): void {
    const words = this.#arena.chunks[members >>> chunkBits]!;
    const list = members & offsetMask;
    if (words[list + listCount] === 0) return;
    this.#take(words[list + listFirst]!);
    for (let block = words[list + listBlock]!; block !== 0;) {
      const entries = this.#arena.chunks[block >>> chunkBits]!;
      const from = (block & offsetMask) + blockFirst;
      const end = from + entries[from - blockFirst + blockUsed]!;
      for (let entry = from; entry < end; entry += 1) this.#take(entries[entry]!);
      block = entries[from - blockFirst + blockNext]!;
    }
  }

  #take(handle: number): void {
    this.#handles[this.#count] = handle;
    this.#count += 1;
  }
}
