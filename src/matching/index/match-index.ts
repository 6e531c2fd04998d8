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
export interface MatchIndex {
  readonly size: number;
  /** Adds a subscription, or replaces the one with the same id under its handle. Returns the handle. */
  add(subscription: MatchableSubscription): number;
  /** Returns the freed handle; undefined if there is no such subscription. */
  remove(id: string): number | undefined;
  /** The handles of the matching subscriptions, each once, in no particular order. */
  match(event: ContextAttributes): number[];
  /** The same within a slice: undefined if the work was stopped. */
  match(event: ContextAttributes, work: Work): number[] | undefined;
  handleOf(id: string): number | undefined;
  idOf(handle: number): string;
  statistics(): MatchIndexStatistics;
}

export function createMatchIndex(dialects: Dialects = {}): MatchIndex {
  const arena = new Arena();
  const symbols = new Symbols(arena);
  const keys = new Keys(arena, symbols);
  const bundles = new Bundles(arena, symbols, keys);
  /** A record has the bundle of the subscription and its entry among the members. */
  const ids = new StringTable(arena);
  const view = new EventView(symbols);
  const search = new Search(arena, new KeySearch(arena, keys, symbols.values, view), view, (handle) =>
    ids.text(handle),
  );
  const unlimited = new Work();
  let changes = 0;

  function match(event: ContextAttributes): number[];
  function match(event: ContextAttributes, work: Work): number[] | undefined;
  function match(event: ContextAttributes, work: Work = unlimited): number[] | undefined {
    view.load(event, work);
    try {
      return search.run(changes);
    } finally {
      view.unload();
      if (!work.isStopped) work.endEvent();
    }
  }

  function add(subscription: MatchableSubscription): number {
    changes += 1;
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
    ids.setWord(handle, secondWord, bundles.join(bundle, handle));
    return handle;
  }

  function remove(id: string): number | undefined {
    const handle = ids.find(id);
    if (handle === 0) return undefined;
    changes += 1;
    leave(handle);
    ids.release(handle);
    return handle;
  }

  function leave(handle: number): void {
    const bundle = ids.word(handle, firstWord);
    const entry = ids.word(handle, secondWord);
    const moved = bundles.leave(bundle, entry);
    if (moved !== 0) ids.setWord(moved, secondWord, entry);
    if (bundles.isEmpty(bundle)) bundles.release(bundle);
  }

  return {
    get size() {
      return ids.size;
    },
    add,
    remove,
    match,
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
