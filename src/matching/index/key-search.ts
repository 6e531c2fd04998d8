import { chunkBits, offsetMask, type Arena } from './arena.js';
import type { EventView } from './event-view.js';
import { hashText } from './hash.js';
import { aWord, pairOf, whatWord, type Keys } from './keys.js';
import { operandShift, instructionMask, prefix, suffix } from './instructions.js';
import { firstWord, type StringTable } from './string-table.js';

/** Finds the keys that one event hits, in steps that run for all attributes in parallel (search.ts). */
export class KeySearch {
  readonly #arena: Arena;
  readonly #keys: Keys;
  readonly #values: StringTable;
  readonly #view: EventView;
  /** Addresses of the keys that the event hits, each once. Only the first entries of each list here are valid. */
  readonly hits: number[] = [];
  count = 0;
  /** Attributes of the event that keys compare. */
  readonly #compared: number[] = [];
  #comparedCount = 0;
  /** Keys that the hash of a part leads to: address, what, length of the part. */
  readonly #found: number[] = [];
  #foundCount = 0;
  /** Values of prefetching reads, so that the reads are not optimised away. */
  readonly #read: number[] = [];

  constructor(arena: Arena, keys: Keys, values: StringTable, view: EventView) {
    this.#arena = arena;
    this.#keys = keys;
    this.#values = values;
    this.#view = view;
  }

  run(): void {
    this.count = 0;
    this.#hash();
    this.#guess();
    this.#readValues();
    for (let i = 0; i < this.#foundCount; i += 3) {
      if (this.#isPart(this.#found[i]!, this.#found[i + 1]!, this.#found[i + 2]!)) this.#hit(this.#found[i]!);
    }
    for (let i = 0; i < this.#comparedCount; i += 1) this.#hitExact(this.#compared[i]!);
    this.#hitPair(1, 2);
    this.#hitPair(1, 3);
    this.#hitPair(2, 3);
    if (this.#keys.forEveryEvent !== 0) this.#hit(this.#keys.forEveryEvent);
  }

  /** Computes the hashes of all texts to look up, and of their parts. */
  #hash(): void {
    const { count, present, texts, hashes } = this.#view;
    const { prefixes } = this.#keys;
    this.#comparedCount = 0;
    for (let i = 0; i < count; i += 1) {
      const attribute = present[i]!;
      const isCompared = this.#keys.isCompared(attribute);
      if (isCompared) {
        this.#compared[this.#comparedCount] = attribute;
        this.#comparedCount += 1;
      }
      if (this.#keys.hasEnds(attribute)) prefixes.begin(suffix | (attribute << operandShift));
      if (this.#keys.hasBeginnings(attribute)) prefixes.begin(prefix | (attribute << operandShift));
      else if (isCompared) hashes[attribute] = hashText(texts[attribute]!);
    }
    prefixes.walk(texts, hashes);
  }

  /** Looks up the hashes: values, and keys of parts. */
  #guess(): void {
    const count = this.#comparedCount;
    for (let i = 0; i < count; i += 1) {
      this.#read[i] = this.#values.readSlot(this.#view.hashes[this.#compared[i]!]!);
    }
    this.#foundCount = this.#keys.prefixes.collect(this.#found);
    for (let i = 0; i < count; i += 1) this.#view.guess(this.#compared[i]!);
  }

  /** Prefetches values with their texts and keys. */
  #readValues(): void {
    const { values } = this.#view;
    let at = 0;
    for (let i = 0; i < this.#comparedCount; i += 1) {
      const value = values[this.#compared[i]!]!;
      if (value === 0) continue;
      this.#read[at] = this.#values.readText(value);
      this.#read[at + 1] = this.#arena.word(Math.max(0, this.#values.word(value, firstWord)));
      at += 2;
    }
    for (let i = 0; i < this.#foundCount; i += 3, at += 1) {
      this.#read[at] = this.#values.readText(this.#arena.word(this.#found[i]! + aWord));
    }
    if (this.#comparedCount < 2) return;
    this.#readPair(1, 2);
    this.#readPair(1, 3);
    this.#readPair(2, 3);
  }

  #readPair(first: number, second: number): void {
    const a = this.#view.values[first]!;
    const b = this.#view.values[second]!;
    if (a > 0 && b > 0) this.#read[0] = this.#arena.word(this.#keys.readSlot(pairOf(first, second), a, b));
  }

  /** Whether a key belongs to a part of the event's attribute, and not to another text with the same hash. */
  #isPart(key: number, what: number, length: number): boolean {
    const words = this.#arena.chunks[key >>> chunkBits]!;
    const at = key & offsetMask;
    const part = words[at + aWord]!;
    if (words[at + whatWord] !== what || this.#values.length(part) !== length) return false;
    const text = this.#view.texts[what >>> operandShift]!;
    return (what & instructionMask) === prefix ? this.#values.begins(part, text) : this.#values.ends(part, text);
  }

  #hitExact(attribute: number): void {
    const value = this.#view.values[attribute]!;
    const key = value === 0 ? 0 : this.#keys.findExact(attribute, value);
    if (key !== 0 && this.#view.has(attribute, value)) this.#hit(key);
  }

  #hitPair(first: number, second: number): void {
    const a = this.#view.values[first]!;
    const b = this.#view.values[second]!;
    if (a <= 0 || b <= 0 || !this.#keys.hasPair(a) || !this.#keys.hasPair(b)) return;
    const key = this.#keys.find(pairOf(first, second), a, b);
    if (key !== 0 && this.#view.has(first, a) && this.#view.has(second, b)) this.#hit(key);
  }

  #hit(key: number): void {
    this.hits[this.count] = key;
    this.count += 1;
  }
}
