import { Arena, chunkBits, offsetMask } from './arena.js';
import { Bundles, isOneOfSeveral, isProof, markWord, membersList, programWord } from './bundles.js';
import { blockFirst, blockNext, blockUsed, listBlock, listCount, listFirst } from './entry-list.js';
import { EventView } from './event-view.js';
import { keyList, Keys, pairOf } from './keys.js';
import type { ContextAttributes } from '../events/context-attributes.js';
import type { Dialects, MatchableSubscription } from './predicate.js';
import { compileProgram } from './program.js';
import { firstWord, secondWord, StringTable } from './string-table.js';
import { Symbols } from './symbols.js';

export interface MatchIndexStatistics {
  subscriptions: number;
  /** Filters that differ; equal ones are run once. */
  distinct: number;
  keys: number;
  /** Distinct filters that are run for every event, because nothing about the event can rule them out. */
  unanchored: number;
  /** Distinct filters that the last match looked at, of those that it had not excluded by their keys. */
  candidates: number;
  /** Bytes outside of the collected heap. */
  bytes: number;
}

/**
 * Which subscriptions does an event go to, in time that grows with the answer and not with the subscriptions. Each
 * subscription is a handle, a whole number that is its own until it is removed and then used again, the lowest numbers
 * first, so that callers keep what belongs to it in arrays.
 *
 * A subscription is in or out: `add` compiles before it changes anything, and nothing here waits, so that no match sees
 * half a change.
 */
export interface MatchIndex {
  readonly size: number;
  /** Takes the place of the subscription with the same id, which keeps its handle. Returns the handle. */
  add(subscription: MatchableSubscription): number;
  /** Returns the handle that is free now, undefined if there is no such subscription. */
  remove(id: string): number | undefined;
  /** The handles of the subscriptions that the event goes to, each once, in no order. */
  match(event: ContextAttributes): number[];
  handleOf(id: string): number | undefined;
  idOf(handle: number): string;
  statistics(): MatchIndexStatistics;
}

export function createMatchIndex(dialects: Dialects = {}): MatchIndex {
  const arena = new Arena();
  const symbols = new Symbols(arena);
  const keys = new Keys(arena, symbols);
  const bundles = new Bundles(arena, symbols, keys);
  /** A record has the subscription's bundle and its entry among the members. */
  const ids = new StringTable(arena);
  const view = new EventView(symbols);
  const search = new Search(arena, keys, view);

  function add(subscription: MatchableSubscription): number {
    let bundle: number;
    try {
      bundle = bundles.acquire(compileProgram(subscription, symbols, dialects));
    } finally {
      symbols.settle();
    }
    const known = ids.find(subscription.id);
    const handle = known === 0 ? ids.acquire(subscription.id) : known;
    if (known !== 0) {
      if (ids.word(known, firstWord) === bundle) return handle;
      leave(known);
    }
    ids.setWord(handle, firstWord, bundle);
    ids.setWord(handle, secondWord, bundles.members.push(bundle + membersList, handle));
    return handle;
  }

  function remove(id: string): number | undefined {
    const handle = ids.find(id);
    if (handle === 0) return undefined;
    leave(handle);
    ids.release(handle);
    return handle;
  }

  function leave(handle: number): void {
    const bundle = ids.word(handle, firstWord);
    const entry = ids.word(handle, secondWord);
    if (bundles.members.remove(bundle + membersList, entry)) {
      const moved = arena.chunks[entry >>> chunkBits]![entry & offsetMask]!;
      ids.setWord(moved, secondWord, entry);
    }
    if (bundles.isEmpty(bundle)) bundles.release(bundle);
  }

  return {
    get size() {
      return ids.size;
    },
    add,
    remove,
    match(event) {
      view.load(event);
      try {
        return search.run();
      } finally {
        view.unload();
      }
    },
    handleOf: (id) => ids.find(id) || undefined,
    idOf: (handle) => ids.text(handle),
    statistics: () => ({
      candidates: search.candidates,
      subscriptions: ids.size,
      distinct: bundles.size,
      keys: keys.size,
      unanchored: keys.count(keys.forEveryEvent),
      bytes: arena.bytes + ids.bytes + symbols.bytes,
    }),
  };
}

/** The way of one event through keys, candidates and members. */
class Search {
  readonly #arena: Arena;
  readonly #keys: Keys;
  readonly #view: EventView;
  /** Bundles under several keys that this event hit already. */
  readonly #marked: number[] = [];
  readonly #found: number[] = [];
  candidates = 0;

  constructor(arena: Arena, keys: Keys, view: EventView) {
    this.#arena = arena;
    this.#keys = keys;
    this.#view = view;
  }

  run(): number[] {
    const { present, texts } = this.#view;
    const handles: number[] = [];
    this.candidates = 0;
    for (let i = 0; i < this.#view.count; i += 1) {
      const attribute = present[i]!;
      const hash = this.#keys.search(attribute, texts[attribute]!, this.#found);
      if (this.#keys.isCompared(attribute)) this.#visitExact(attribute, this.#view.guess(attribute, hash), handles);
    }
    while (this.#found.length > 0) this.#visit(this.#found.pop()!, handles);
    this.#visitPair(1, 2, handles);
    this.#visitPair(1, 3, handles);
    this.#visitPair(2, 3, handles);
    if (this.#keys.forEveryEvent !== 0) this.#visit(this.#keys.forEveryEvent, handles);
    while (this.#marked.length > 0) {
      const bundle = this.#marked.pop()!;
      this.#arena.chunks[bundle >>> chunkBits]![(bundle & offsetMask) + markWord] = 0;
    }
    return handles;
  }

  #visitExact(attribute: number, value: number, handles: number[]): void {
    const key = value === 0 ? 0 : this.#keys.findExact(attribute, value);
    if (key !== 0 && this.#view.has(attribute, value)) this.#visit(key, handles);
  }

  #visitPair(first: number, second: number, handles: number[]): void {
    const a = this.#view.values[first]!;
    const b = this.#view.values[second]!;
    if (a <= 0 || b <= 0 || !this.#keys.hasPair(a) || !this.#keys.hasPair(b)) return;
    const key = this.#keys.find(pairOf(first, second), a, b);
    if (key !== 0 && this.#view.has(first, a) && this.#view.has(second, b)) this.#visit(key, handles);
  }

  #visit(key: number, handles: number[]): void {
    const words = this.#arena.chunks[key >>> chunkBits]!;
    const list = (key & offsetMask) + keyList;
    this.#consider(words[list + listFirst]!, words[list + listFirst + 1]!, handles);
    for (let block = words[list + listBlock]!; block !== 0;) {
      const entries = this.#arena.chunks[block >>> chunkBits]!;
      const at = block & offsetMask;
      const end = at + blockFirst + entries[at + blockUsed]! * 2;
      for (let entry = at + blockFirst; entry < end; entry += 2) {
        this.#consider(entries[entry]!, entries[entry + 1]!, handles);
      }
      block = entries[at + blockNext]!;
    }
  }

  #consider(bundle: number, flags: number, handles: number[]): void {
    const words = this.#arena.chunks[bundle >>> chunkBits]!;
    const at = bundle & offsetMask;
    if ((flags & isOneOfSeveral) !== 0) {
      if (words[at + markWord] !== 0) return;
      words[at + markWord] = 1;
      this.#marked.push(bundle);
    }
    this.candidates += 1;
    if ((flags & isProof) === 0) {
      const program = words[at + programWord]!;
      if (!this.#view.holds(this.#arena.chunks[program >>> chunkBits]!, program & offsetMask)) return;
    }
    const list = at + membersList;
    if (words[list + listCount] === 0) return;
    handles.push(words[list + listFirst]!);
    for (let block = words[list + listBlock]!; block !== 0;) {
      const entries = this.#arena.chunks[block >>> chunkBits]!;
      const from = (block & offsetMask) + blockFirst;
      const end = from + entries[from - blockFirst + blockUsed]!;
      for (let entry = from; entry < end; entry += 1) handles.push(entries[entry]!);
      block = entries[from - blockFirst + blockNext]!;
    }
  }
}
