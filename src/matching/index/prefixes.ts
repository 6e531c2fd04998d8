import type { Arena } from './arena.js';
import { HashIndex } from './hash-index.js';
import { beginHash, finishHash, hashBack, hashOn, stepHash } from './hash.js';
import { operandShift, instructionMask, suffix } from './instructions.js';

/**
 * Finds which of many prefixes the given texts begin with, with hashes from one pass over each text. Suffixes are
 * prefixes that are read backwards. `what` is the attribute and the direction (keys.ts). Each `what` is a separate set,
 * with a salt that is added at the end, so that one pass over a text gives the hashes of its prefixes and of the whole
 * text.
 *
 * Guards make the pass short. Every text of the set has guards every 31 characters, further apart from the 256th on. If
 * there is no guard, the pass ends: no text of the set begins like this. If there is one, it knows at which lengths up
 * to the next guard texts of the set end, and only those are looked up. So the number of texts and lengths costs
 * nothing unless they begin like the given text.
 *
 * A guard is one word: a bit for each of the 31 parts up to the next guard, set if texts end there, and one bit that is
 * always set. How many texts pass a guard, and end in a part, are counters that only changes read. Two guards with the
 * same hash are one, which causes some useless look-ups; the caller compares the results.
 */
const parts = 31;
const isGuard = 1 << parts;
/** A text that ends at a guard has another hash than the guard, and so have the counters. */
const guardSalt = 0x5bd1e995;
const countSalt = 0x3c6ef372;

export class Prefixes {
  readonly #guards: HashIndex;
  readonly #counts: HashIndex;
  readonly #ends: HashIndex;
  /** The texts in progress: the `what` of each, its position, and its hash up to there. */
  readonly #whats: number[] = [];
  readonly #places: number[] = [];
  readonly #hashes: number[] = [];
  #ways = 0;
  /** Where texts of a set may end: the same for each, and the hash to look up. */
  readonly #endWhats: number[] = [];
  readonly #endPlaces: number[] = [];
  readonly #endHashes: number[] = [];
  #found = 0;
  /** Values of prefetching reads, so that the reads are not optimised away. */
  readonly #read: number[] = [];

  constructor(arena: Arena) {
    this.#counts = new HashIndex(arena);
    this.#guards = new HashIndex(arena);
    this.#ends = new HashIndex(arena);
  }

  /** Starts the pass over a text. */
  begin(what: number): void {
    this.#whats[this.#ways] = what;
    this.#places[this.#ways] = 0;
    this.#hashes[this.#ways] = beginHash;
    this.#ways += 1;
  }

  /**
   * Processes all texts in parallel, from guard to guard (search.ts). `texts` and `hashes` are indexed by attribute;
   * `hashes` gets the hash of each text that is read forwards.
   */
  walk(texts: readonly (string | undefined)[], hashes: number[]): void {
    while (this.#ways > 0) {
      const ways = this.#ways;
      this.#ways = 0;
      for (let way = 0; way < ways; way += 1) this.#step(way, texts, hashes);
    }
  }

  /**
   * Writes the keys of the prefixes into `found`, each with its `what` and its length. Only the hashes match, so the
   * caller must compare. Returns how many numbers it wrote.
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
   * Moves a text to the next guard, unless it ends before or there is no guard. It continues when the others have come
   * as far. The guard is prefetched.
   */
  #step(way: number, texts: readonly (string | undefined)[], hashes: number[]): void {
    const what = this.#whats[way]!;
    const text = texts[what >>> operandShift]!;
    const backwards = (what & instructionMask) === suffix;
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

  /** Adds or removes a text at all of its guards. Returns the hash for look-ups. */
  #walk(what: number, text: string, change: 1 | -1): number {
    const backwards = (what & instructionMask) === suffix;
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

/**
 * The distance of guards is `31 << widthBits`: a part is one character up to the 256th, and doubles at each power of
 * two.
 */
function widthBits(at: number): number {
  return at < 256 ? 0 : 24 - Math.clz32(at);
}
