import { chunkBits, offsetMask, type Arena } from './arena.js';
import { EntryLists, listCount } from './entry-list.js';
import { hashNumbers } from './hash.js';
import { HashIndex } from './hash-index.js';
import { exact, operandShift, operationMask, prefix, suffix } from './operations.js';
import { Prefixes } from './prefixes.js';
import { firstWord, secondWord, type StringTable } from './string-table.js';
import type { Symbols } from './symbols.js';

/**
 * The keys that bundles are filed under. A key says one thing about an event, in three numbers: what, and one or two values:
 *
 *   exact, prefix, suffix + attribute << 4, value    as in a program
 *   pair + both attributes, value, value             two attributes equal
 *   0, 0, 0                                          every event
 *
 * A key exists while something is filed under it. The record of an attribute counts its keys by prefix and by suffix, that
 * of a value the keys by exact value and the pairs that it is in: what has none of a kind is not looked up.
 */
export interface Key {
  what: number;
  a: number;
  b: number;
}

export const pair = 1;
export const everyEvent: Key = { what: 0, a: 0, b: 0 };

/** What a pair of attributes with numbers below 16 is. */
export function pairOf(first: number, second: number): number {
  return pair | (first << operandShift) | (second << (2 * operandShift));
}

const whatWord = 0;
const aWord = 1;
const bWord = 2;
/** The list of entries: bundle, and which of the bundle's filings it is (bundles.ts). */
export const keyList = 3;
const keyWords = 7;

export class Keys {
  readonly lists: EntryLists;
  readonly #arena: Arena;
  readonly #symbols: Symbols;
  readonly #index: HashIndex;
  readonly #prefixes: Prefixes;
  constructor(arena: Arena, symbols: Symbols) {
    this.#arena = arena;
    this.#symbols = symbols;
    this.#index = new HashIndex(arena);
    this.#prefixes = new Prefixes(arena);
    this.lists = new EntryLists(arena, 2);
  }

  get size(): number {
    return this.#index.size;
  }

  /** Whether a value is in any key by exact value. */
  hasExact(value: number): boolean {
    return this.#symbols.values.word(value, firstWord) !== 0;
  }

  hasPair(value: number): boolean {
    return this.#symbols.values.word(value, secondWord) !== 0;
  }

  /** The address of a key, 0 if nothing is filed there. */
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

  at(key: number): Key {
    const words = this.#arena.chunks[key >>> chunkBits]!;
    const at = key & offsetMask;
    return { what: words[at + whatWord]!, a: words[at + aWord]!, b: words[at + bWord]! };
  }

  /** How many bundles are filed under a key, by its address. */
  count(key: number): number {
    return key === 0 ? 0 : this.#arena.chunks[key >>> chunkBits]![(key & offsetMask) + keyList + listCount]!;
  }

  acquire({ what, a, b }: Key): number {
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
    if (isPart(what)) this.#prefixes.add(what, this.#symbols.values.text(a), key);
    this.#count({ what, a, b }, 1);
    return key;
  }

  /** Lets go of a key that nothing is filed under any more. */
  release(key: number): void {
    const { what, a, b } = this.at(key);
    this.#index.delete(hashNumbers(what, a, b), key);
    if (isPart(what)) this.#prefixes.remove(what, this.#symbols.values.text(a), key);
    this.#count({ what, a, b }, -1);
    this.#arena.release(key);
  }

  /** Adds the keys that an attribute's text begins and ends with to `found`. */
  search(attribute: number, text: string, found: number[]): void {
    const { attributes } = this.#symbols;
    if (attributes.word(attribute, firstWord) !== 0)
      this.#searchParts(prefix | (attribute << operandShift), text, found);
    if (attributes.word(attribute, secondWord) !== 0)
      this.#searchParts(suffix | (attribute << operandShift), text, found);
  }

  #searchParts(what: number, text: string, found: number[]): void {
    const { values } = this.#symbols;
    const before = found.length;
    this.#prefixes.search(what, text, found);
    for (let i = found.length - 1; i >= before; i -= 1) {
      const words = this.#arena.chunks[found[i]! >>> chunkBits]!;
      const at = found[i]! & offsetMask;
      const part = words[at + aWord]!;
      const isHit = (what & operationMask) === prefix ? values.begins(part, text) : values.ends(part, text);
      if (!isHit || words[at + whatWord] !== what) found.splice(i, 1);
    }
  }

  #count({ what, a, b }: Key, change: 1 | -1): void {
    const { attributes, values } = this.#symbols;
    const count = (table: StringTable, number: number, word: number) =>
      table.setWord(number, word, table.word(number, word) + change);
    switch (what & operationMask) {
      case exact:
        return count(values, a, firstWord);
      case pair:
        count(values, a, secondWord);
        return count(values, b, secondWord);
      case prefix:
        return count(attributes, what >>> operandShift, firstWord);
      case suffix:
        return count(attributes, what >>> operandShift, secondWord);
    }
  }
}

function isPart(what: number): boolean {
  return (what & operationMask) === prefix || (what & operationMask) === suffix;
}
