import type { Arena } from './arena.js';
import { beginHash, finish, hashOn, stepHash } from './hash.js';
import { HashIndex } from './hash-index.js';
import { operationMask, suffix } from './operations.js';

/**
 * Finds which of many texts a given text begins with, by hashes that are taken on one way along it; suffixes are read
 * backwards and are prefixes then. `what` tells attribute and direction (keys.ts); each is a set of its own, by a salt that
 * comes in at the end, so that one way along a text is for its beginnings and for the whole of it.
 *
 * Guards make the way short. They stand every 31 characters on the way of every text of the set, further apart from the
 * 256th on. Where there is no guard the way ends: nothing in the set begins like this. Where there is one, it knows at
 * which lengths up to the next guard a text of the set ends, and only those are looked up. So neither many texts nor many
 * lengths cost anything unless they begin as the given text does.
 *
 * A guard is one word: a bit for each of the 31 parts of the way to the next guard in which texts end, and one that is
 * always set. How many texts pass a guard, and end in a part, are numbers that only changes look at. Two guards with the same
 * hash are one, which then sends to some lengths in vain; the caller compares what it gets.
 */
const parts = 31;
const isGuard = 1 << parts;
/** A text that ends where a guard stands has another hash than the guard, and so have the counts. */
const guardSalt = 0x5bd1e995;
const countSalt = 0x3c6ef372;

export class Prefixes {
  readonly #guards: HashIndex;
  readonly #counts: HashIndex;
  readonly #ends: HashIndex;

  constructor(arena: Arena) {
    this.#counts = new HashIndex(arena);
    this.#guards = new HashIndex(arena);
    this.#ends = new HashIndex(arena);
  }

  /**
   * Adds the keys of the texts that `text` begins with to `found`; the hash alone decides, so the caller compares. Returns
   * the hash of the text itself if it was read forwards.
   */
  search(what: number, text: string, found: number[]): number {
    const backwards = (what & operationMask) === suffix;
    const salt = saltOf(what);
    const last = text.length - 1;
    let hash = beginHash;
    let at = 0;
    for (;;) {
      const guard = this.#guards.first(finish(hash ^ salt ^ guardSalt));
      if (guard === 0) return backwards ? 0 : finish(hashOn(hash, text, at));
      const from = at;
      const shift = widthBits(from);
      for (const next = from + (parts << shift); at < next; at += 1) {
        if (((guard >>> ((at - from) >>> shift)) & 1) !== 0) this.#collect(finish(hash ^ salt), found);
        if (at > last) return finish(hash);
        hash = stepHash(hash, text.charCodeAt(backwards ? last - at : at));
      }
    }
  }

  add(what: number, text: string, key: number): void {
    const end = this.#walk(what, text, 1);
    this.#ends.add(end, key);
  }

  remove(what: number, text: string, key: number): void {
    const end = this.#walk(what, text, -1);
    this.#ends.delete(end, key);
  }

  #collect(hash: number, found: number[]): void {
    for (let slot = this.#ends.find(hash); slot >= 0; slot = this.#ends.find(hash, slot)) {
      found.push(this.#ends.at(hash, slot));
    }
  }

  /** Counts a text in or out at all guards on its way. Returns the hash that it is found by. */
  #walk(what: number, text: string, change: 1 | -1): number {
    const backwards = (what & operationMask) === suffix;
    const salt = saltOf(what);
    let hash = beginHash;
    for (let at = 0; ;) {
      const shift = widthBits(at);
      const next = at + (parts << shift);
      const ending = text.length < next ? (text.length - at) >>> shift : -1;
      this.#count(hash ^ salt, ending, change);
      for (; at < next && at < text.length; at += 1) {
        hash = stepHash(hash, text.charCodeAt(backwards ? text.length - 1 - at : at));
      }
      if (ending >= 0) return finish(hash ^ salt);
    }
  }

  #count(hash: number, ending: number, change: 1 | -1): void {
    const guardHash = finish(hash ^ guardSalt);
    let guard = this.#guards.first(guardHash) | isGuard;
    if (ending >= 0) {
      const ends = this.#change(finish(hash ^ Math.imul(countSalt, ending + 2)), change);
      guard = ends === 0 ? guard & ~(1 << ending) : guard | (1 << ending);
    }
    const passing = this.#change(finish(hash ^ countSalt), change);
    this.#guards.set(guardHash, passing === 0 ? 0 : guard);
  }

  #change(hash: number, change: 1 | -1): number {
    const count = this.#counts.first(hash) + change;
    this.#counts.set(hash, count);
    return count;
  }
}

function saltOf(what: number): number {
  return Math.imul(what, 0x9e3779b1);
}

/** Guards stand `31 << widthBits` apart: a part is a character up to the 256th, then twice as many for each power of two. */
function widthBits(at: number): number {
  return at < 256 ? 0 : 24 - Math.clz32(at);
}
