// Subscriptions are compiled into programs (`program.ts`). Equal programs share one bundle, which is indexed by keys:
// the rarest thing that an event must have (`anchors.ts`, `keys.ts`). An event is looked up by its attributes
// (`key-search.ts`), and the programs of the candidates run (`search.ts`). All data is outside the JS heap
// (`arena.ts`).

import { Arena } from './arena.js';
import { Bundles } from './bundles.js';
import { EventView } from './event-view.js';
import { KeySearch } from './key-search.js';
import { Keys } from './keys.js';
import type { ContextAttributes } from '../../events/context-attributes.js';
import type { Dialects, MatchableSubscription } from '../filters/predicate.js';
import { compileProgram } from './program.js';
import { Search } from './search.js';
import { firstWord, secondWord, StringTable } from './string-table.js';
import { Symbols } from './symbols.js';
import { Work } from '../match/work.js';

interface MatchIndexStatistics {
  subscriptions: number;
  /** Distinct filters; equal ones run once. */
  distinct: number;
  keys: number;
  /** Distinct filters that run for every event, because the index cannot exclude them. */
  unanchored: number;
  /** Distinct filters that the last match tested, because their keys did not exclude them. */
  candidates: number;
  /** Bytes outside the JS heap. */
  bytes: number;
}

/**
 * Finds the subscriptions that match an event. The time depends on the number of results, not on the number of
 * subscriptions. Each subscription has a handle, a whole number that it keeps until it is removed. Freed handles are
 * used before new ones, so callers can use arrays indexed by handle.
 *
 * Changes are atomic: `add` compiles first, and everything here is synchronous, so no match sees half a change.
 */
export class MatchIndex {
  readonly #dialects: Dialects;
  readonly #arena = new Arena();
  readonly #symbols = new Symbols(this.#arena);
  readonly #keys = new Keys(this.#arena, this.#symbols);
  readonly #bundles = new Bundles(this.#arena, this.#symbols, this.#keys);
  /** A record has the bundle of the subscription and its entry among the members. */
  readonly #ids = new StringTable(this.#arena);
  readonly #view = new EventView(this.#symbols);
  readonly #search = new Search(
    this.#arena,
    new KeySearch(this.#arena, this.#keys, this.#symbols.values, this.#view),
    this.#view,
    (handle) => this.#ids.text(handle),
  );
  readonly #unlimited = new Work();
  #changes = 0;

  constructor(dialects: Dialects = {}) {
    this.#dialects = dialects;
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Adds a subscription, or replaces the one with the same id under its handle. Returns the handle. */
  add(subscription: MatchableSubscription): number {
    this.#changes += 1;
    let bundle: number;
    try {
      bundle = this.#bundles.acquire(compileProgram(subscription, this.#symbols, this.#dialects));
    } finally {
      this.#symbols.settle();
    }
    const ids = this.#ids;
    const known = ids.find(subscription.id);
    const handle = known === 0 ? ids.acquire(subscription.id) : known;
    if (known !== 0) {
      if (ids.word(known, firstWord) === bundle) return handle;
      this.#leave(known);
    }
    ids.setWord(handle, firstWord, bundle);
    ids.setWord(handle, secondWord, this.#bundles.join(bundle, handle));
    return handle;
  }

  /** Returns the freed handle; undefined if there is no such subscription. */
  remove(id: string): number | undefined {
    const handle = this.#ids.find(id);
    if (handle === 0) return undefined;
    this.#changes += 1;
    this.#leave(handle);
    this.#ids.release(handle);
    return handle;
  }

  /** The handles of the matching subscriptions, each once, in no particular order. */
  match(event: ContextAttributes): number[];
  /** The same within a slice: undefined if the work was stopped. */
  match(event: ContextAttributes, work: Work): number[] | undefined;
  match(event: ContextAttributes, work: Work = this.#unlimited): number[] | undefined {
    this.#view.load(event, work);
    try {
      return this.#search.run(this.#changes);
    } finally {
      this.#view.unload();
      if (!work.isStopped) work.endEvent();
    }
  }

  handleOf(id: string): number | undefined {
    return this.#ids.find(id) || undefined;
  }

  idOf(handle: number): string {
    return this.#ids.text(handle);
  }

  statistics(): MatchIndexStatistics {
    return {
      candidates: this.#search.candidates,
      subscriptions: this.#ids.size,
      distinct: this.#bundles.size,
      keys: this.#keys.size,
      unanchored: this.#keys.count(this.#keys.forEveryEvent),
      bytes: this.#arena.bytes + this.#ids.bytes + this.#symbols.bytes,
    };
  }

  #leave(handle: number): void {
    const bundle = this.#ids.word(handle, firstWord);
    const entry = this.#ids.word(handle, secondWord);
    const moved = this.#bundles.leave(bundle, entry);
    if (moved !== 0) this.#ids.setWord(moved, secondWord, entry);
    if (this.#bundles.isEmpty(bundle)) this.#bundles.release(bundle);
  }
}
