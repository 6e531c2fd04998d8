import { chunkBits, offsetMask, type Arena } from './arena.js';
import { EntryLists, listCount } from './entry-list.js';
import { HashIndex } from './hash-index.js';
import { hashNumbers } from './hash.js';
import { exact, operandShift, instructionMask, prefix, suffix } from './instructions.js';
import { Prefixes } from './prefixes.js';
import { firstWord, secondWord } from './string-table.js';
import type { Symbols } from './symbols.js';

/**
 * The keys of bundles. Each is one condition on an event, in three numbers: the kind, and one or two values:
 *
 *   exact, prefix, suffix + attribute << 4, value    as in a program
 *   pair + both attributes, value, value             two attributes equal
 *   0, 0, 0                                          every event
 *
 * A key exists while a bundle is filed under it. Counters say for each attribute how many keys compare it for equality,
 * prefixes and suffixes, and for each value how many pairs have it: a kind without keys is not looked up. The record of
 * a value has the address of its exact key, unless there were several since there was none.
 */
export interface IndexKey {
  what: number;
  a: number;
  b: number;
}

export const pair = 1;
export const everyEvent: IndexKey = { what: 0, a: 0, b: 0 };

/** The kind of a pair of attributes with numbers below 16. */
export function pairOf(first: number, second: number): number {
  return pair | (first << operandShift) | (second << (2 * operandShift));
}

export const whatWord = 0;
export const aWord = 1;
const bWord = 2;
/** The list of entries: the bundle, and flags with the handle that a hit proves (bundles.ts). */
export const keyList = 3;
const keyWords = 7;

export class Keys {
  readonly lists: EntryLists;
  readonly #arena: Arena;
  readonly #symbols: Symbols;
  readonly #index: HashIndex;
  readonly prefixes: Prefixes;
  /** Indexed by attribute number; the numbers are dense. */
  readonly #equals: number[] = [];
  readonly #begins: number[] = [];
  readonly #ends: number[] = [];
  /** The address of the key that every event hits; 0 if it has no bundles. */
  forEveryEvent = 0;

  constructor(arena: Arena, symbols: Symbols) {
    this.#arena = arena;
    this.#symbols = symbols;
    this.#index = new HashIndex(arena);
    this.prefixes = new Prefixes(arena);
    this.lists = new EntryLists(arena, 2);
  }

  get size(): number {
    return this.#index.size;
  }

  /** Whether there are prefix keys for an attribute. */
  hasBeginnings(attribute: number): boolean {
    return (this.#begins[attribute] ?? 0) > 0;
  }

  hasEnds(attribute: number): boolean {
    return (this.#ends[attribute] ?? 0) > 0;
  }

  /** Whether there are equality keys for an attribute, alone or in a pair. */
  isCompared(attribute: number): boolean {
    return (this.#equals[attribute] ?? 0) > 0;
  }

  /** The address of the exact key of a value; 0 if it has no bundles. */
  findExact(attribute: number, value: number): number {
    const what = exact | (attribute << operandShift);
    const only = this.#symbols.values.word(value, firstWord);
    if (only < 0) return this.find(what, value, 0);
    return only !== 0 && this.#what(only) === what ? only : 0;
  }

  /** Prefetches the slot for the hash of a key. */
  readSlot(what: number, a: number, b: number): number {
    return this.#index.guess(hashNumbers(what, a, b));
  }

  hasPair(value: number): boolean {
    return this.#symbols.values.word(value, secondWord) !== 0;
  }

  /** The address of a key; 0 if it has no bundles. */
  find(what: number, a: number, b: number): number {
    const hash = hashNumbers(what, a, b);
    for (let slot = this.#index.find(hash); slot >= 0; slot = this.#index.find(hash, slot)) {
      const key = this.#index.at(hash, slot);
      const words = this.#arena.chunks[key >>> chunkBits]!;
      const at = key & offsetMask;
      if (words[at + whatWord] === what && words[at + aWord] === a && words[at + bWord] === b) return key;
    }
    return 0;
  }

  at(key: number): IndexKey {
    const words = this.#arena.chunks[key >>> chunkBits]!;
    const at = key & offsetMask;
    return { what: words[at + whatWord]!, a: words[at + aWord]!, b: words[at + bWord]! };
  }

  /** How many bundles a key has, by its address. */
  count(key: number): number {
    return key === 0 ? 0 : this.#arena.chunks[key >>> chunkBits]![(key & offsetMask) + keyList + listCount]!;
  }

  acquire({ what, a, b }: IndexKey): number {
    const known = this.find(what, a, b);
    if (known !== 0) return known;
    const key = this.#arena.allocate(keyWords);
    const words = this.#arena.chunks[key >>> chunkBits]!;
    const at = key & offsetMask;
    words[at + whatWord] = what;
    words[at + aWord] = a;
    words[at + bWord] = b;
    this.lists.clear(key + keyList);
    this.#index.add(hashNumbers(what, a, b), key);
    if (isPart(what)) this.prefixes.add(what, this.#symbols.values.text(a), key);
    this.#count(key, { what, a, b }, 1);
    return key;
  }

  /** Releases a key without bundles. */
  release(key: number): void {
    const { what, a, b } = this.at(key);
    this.#index.delete(hashNumbers(what, a, b), key);
    if (isPart(what)) this.prefixes.remove(what, this.#symbols.values.text(a), key);
    this.#count(key, { what, a, b }, -1);
    this.#arena.release(key);
  }

  #what(key: number): number {
    return this.#arena.chunks[key >>> chunkBits]![(key & offsetMask) + whatWord]!;
  }

  #count(key: number, { what, a, b }: IndexKey, change: 1 | -1): void {
    const { values } = this.#symbols;
    const attribute = what >>> operandShift;
    switch (what & instructionMask) {
      case exact:
        values.setWord(a, firstWord, onlyKey(values.word(a, firstWord), change === 1 ? key : 0));
        return countIn(this.#equals, attribute, change);
      case prefix:
        return countIn(this.#begins, attribute, change);
      case suffix:
        return countIn(this.#ends, attribute, change);
      case pair:
        for (const value of [a, b]) values.setWord(value, secondWord, values.word(value, secondWord) + change);
        countIn(this.#equals, attribute & instructionMask, change);
        return countIn(this.#equals, attribute >>> operandShift, change);
      default:
        this.forEveryEvent = change === 1 ? key : 0;
    }
  }
}

/**
 * The word of a value after an exact key was added, or removed (0): the address of the only key, or a negative count
 * from the second key on.
 */
function onlyKey(word: number, coming: number): number {
  if (coming === 0) return word > 0 ? 0 : word + 1;
  if (word === 0) return coming;
  return word > 0 ? -2 : word - 1;
}

function countIn(counts: number[], attribute: number, change: 1 | -1): void {
  while (counts.length <= attribute) counts.push(0);
  counts[attribute]! += change;
}

function isPart(what: number): boolean {
  return (what & instructionMask) === prefix || (what & instructionMask) === suffix;
}
