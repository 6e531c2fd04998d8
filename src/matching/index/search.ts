import { chunkBits, offsetMask, type Arena } from './arena.js';
import {
  aboveShift,
  bundleWords,
  isOneOfSeveral,
  isOnly,
  isProof,
  markWord,
  membersList,
  programWord,
} from './bundles.js';
import { blockFirst, blockNext, blockUsed, listBlock, listCount, listFirst } from './entry-list.js';
import type { EventView } from './event-view.js';
import type { KeySearch } from './key-search.js';
import { keyList } from './keys.js';

/** So many candidates are looked at together. */
const groupSize = 64;

/**
 * The way of one event through keys, candidates and members.
 *
 * What it comes by lies far apart in memory, and waiting for that is most of the time. A look that decides what happens
 * next waits alone. So the way is gone step by step, each for all that are at it, and before a step decides anything it
 * reads what it will look at, without a branch that has to wait: the processor fetches that side by side.
 */
export class Search {
  /** Candidates of the last event. */
  candidates = 0;
  readonly #arena: Arena;
  readonly #keys: KeySearch;
  readonly #view: EventView;
  /** Candidates that have to be looked at: bundle, flags. */
  readonly #group = new Int32Array(groupSize * 2);
  #grouped = 0;
  /** Bundles under several keys that this event hit already. */
  readonly #marked: number[] = [];
  /** The first `#count` are of this event. */
  readonly #handles: number[] = [];
  #count = 0;
  /** What was read beforehand. */
  readonly #read: number[] = [];

  constructor(arena: Arena, keys: KeySearch, view: EventView) {
    this.#arena = arena;
    this.#keys = keys;
    this.#view = view;
  }

  run(): number[] {
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
    return this.#handles.slice(0, this.#count);
  }

  /** Reads the newest two blocks of each key beforehand; nearly no list has more. */
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

  /** Looks at the candidates that were gathered. */
  #consider(): void {
    const group = this.#group;
    const end = this.#grouped;
    this.#grouped = 0;
    if (end > 2) this.#readCandidates(end);
    for (let i = 0; i < end; i += 2) {
      if (this.#isHit(group[i]!, group[i + 1]!)) this.#takeMembers(group[i]! + membersList);
    }
  }

  /** Reads records with all that is in them beforehand, then programs and members that are elsewhere. */
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

  #isHit(bundle: number, flags: number): boolean {
    const words = this.#arena.chunks[bundle >>> chunkBits]!;
    const at = bundle & offsetMask;
    if ((flags & isOneOfSeveral) !== 0) {
      if (words[at + markWord] !== 0) return false;
      words[at + markWord] = 1;
      this.#marked.push(bundle);
    }
    if ((flags & isProof) !== 0) return true;
    const program = words[at + programWord]!;
    return this.#view.holds(this.#arena.chunks[program >>> chunkBits]!, program & offsetMask);
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
