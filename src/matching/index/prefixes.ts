import type { Arena } from './arena.js';
import { HashIndex } from './hash-index.js';
import { beginHash, finishHash, hashBack, hashOn, stepHash } from './hash.js';
import { operandShift, operationMask, suffix } from './operations.js';

/**
 * Finds which of many texts some given texts begin with, by hashes that are taken on one way along them; suffixes are
 * read backwards and are prefixes then. `what` is the attribute and the direction (keys.ts); each is a set of its own, by a
 * salt that comes in at the end, so that one way along a text is for its beginnings and for the whole of it.
 *
 * Guards make the way short. They stand every 31 characters on the way of every text of the set, further apart from the
 * 256th on. Where there is no guard the way ends: nothing in the set begins like this. Where there is one, it knows at
 * which lengths up to the next guard a text of the set ends, and only those are looked up. So neither many texts nor
 * many lengths cost anything unless they begin as the given text does.
 *
 * A guard is one word: a bit for each of the 31 parts of the way to the next guard in which texts end, and one that is
 * always set. How many texts pass a guard, and end in a part, are numbers that only changes look at. Two guards with
 * the same hash are one, which then sends to some lengths in vain; the caller compares what it gets.
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
  /** The texts that are on their way: what each is looked up as, how far it is, and its hash up to there. */
  readonly #whats: number[] = [];
  readonly #places: number[] = [];
  readonly #hashes: number[] = [];
  #ways = 0;
  /** Where texts of a set may end: the same of each, and the hash that they are found by. */
  readonly #endWhats: number[] = [];
  readonly #endPlaces: number[] = [];
  readonly #endHashes: number[] = [];
  #found = 0;
  /** What was read beforehand. */
  readonly #read: number[] = [];

  constructor(arena: Arena) {
    this.#counts = new HashIndex(arena);
    this.#guards = new HashIndex(arena);
    this.#ends = new HashIndex(arena);
  }

  /** Sends a text on its way. */
  begin(what: number): void {
    this.#whats[this.#ways] = what;
    this.#places[this.#ways] = 0;
    this.#hashes[this.#ways] = beginHash;
    this.#ways += 1;
  }

  /**
   * Goes along all texts, from guard to guard side by side (search.ts). `texts` are by attribute, and so are `hashes`,
   * which get the hash of each text that is read forwards.
   */
  walk(texts: readonly (string | undefined)[], hashes: number[]): void {
    while (this.#ways > 0) {
      const ways = this.#ways;
      this.#ways = 0;
      for (let way = 0; way < ways; way += 1) this.#step(way, texts, hashes);
    }
  }

  /**
   * Puts the keys of what the texts begin with into `found`, each with what it is looked up as and its length; the hash
   * alone decides, so the caller compares. Returns how many numbers that are.
   */
  collect(found: number[]): number {
    const ends = this.#found;
    let count = 0;
    this.#found = 0;
    for (let end = 0; end < ends; end += 1) this.#read[end] = this.#ends.guess(this.#endHashes[end]!);
    for (let end = 0; end < ends; end += 1) {
      const hash = this.#endHashes[end]!;
      for (let slot = this.#ends.find(hash); slot >= 0; slot = this.#ends.find(hash, slot)) {
        found[count] = this.#ends.at(hash, slot);
        found[count + 1] = this.#endWhats[end]!;
        found[count + 2] = this.#endPlaces[end]!;
        count += 3;
      }
    }
    return count;
  }

  /**
   * Takes a text to the next guard, where it goes on when the others have come as far, unless it ends before or there
   * is none. That guard is read beforehand.
   */
  #step(way: number, texts: readonly (string | undefined)[], hashes: number[]): void {
    const what = this.#whats[way]!;
    const text = texts[what >>> operandShift]!;
    const backwards = (what & operationMask) === suffix;
    const from = this.#places[way]!;
    let hash = this.#hashes[way]!;
    const guard = this.#guards.first(guardHash(what, hash));
    if (guard === 0) {
      if (!backwards) hashes[what >>> operandShift] = finishHash(hashOn(hash, text, from, text.length));
      return;
    }
    const shift = widthBits(from);
    const next = from + (parts << shift);
    let at = from;
    for (let ends = guard & ~isGuard; ends !== 0; ends &= ends - 1) {
      const part = from + ((31 - Math.clz32(ends & -ends)) << shift);
      for (let end = part; end < part + (1 << shift) && end <= text.length; end += 1) {
        hash = backwards ? hashBack(hash, text, at, end) : hashOn(hash, text, at, end);
        at = end;
        this.#endWhats[this.#found] = what;
        this.#endPlaces[this.#found] = at;
        this.#endHashes[this.#found] = finishHash(hash ^ saltOf(what));
        this.#found += 1;
      }
    }
    if (text.length < next) {
      if (!backwards) hashes[what >>> operandShift] = finishHash(hashOn(hash, text, at, text.length));
      return;
    }
    hash = backwards ? hashBack(hash, text, at, next) : hashOn(hash, text, at, next);
    this.#whats[this.#ways] = what;
    this.#places[this.#ways] = next;
    this.#hashes[this.#ways] = hash;
    this.#read[this.#ways] = this.#guards.guess(guardHash(what, hash));
    this.#ways += 1;
  }

  add(what: number, text: string, key: number): void {
    const end = this.#walk(what, text, 1);
    this.#ends.add(end, key);
  }

  remove(what: number, text: string, key: number): void {
    const end = this.#walk(what, text, -1);
    this.#ends.delete(end, key);
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
      if (ending >= 0) return finishHash(hash ^ salt);
    }
  }

  #count(hash: number, ending: number, change: 1 | -1): void {
    const at = finishHash(hash ^ guardSalt);
    let guard = this.#guards.first(at) | isGuard;
    if (ending >= 0) {
      const ends = this.#change(finishHash(hash ^ Math.imul(countSalt, ending + 2)), change);
      guard = ends === 0 ? guard & ~(1 << ending) : guard | (1 << ending);
    }
    const passing = this.#change(finishHash(hash ^ countSalt), change);
    this.#guards.set(at, passing === 0 ? 0 : guard);
  }

  #change(hash: number, change: 1 | -1): number {
    const count = this.#counts.first(hash) + change;
    this.#counts.set(hash, count);
    return count;
  }
}

function guardHash(what: number, hash: number): number {
  return finishHash(hash ^ saltOf(what) ^ guardSalt);
}

function saltOf(what: number): number {
  return Math.imul(what, 0x9e3779b1);
}

/** Guards stand `31 << widthBits` apart: a part is a character up to the 256th, and doubles at each power of two. */
function widthBits(at: number): number {
  return at < 256 ? 0 : 24 - Math.clz32(at);
}
