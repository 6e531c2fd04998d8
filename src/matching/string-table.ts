import { Arena, chunkBits, offsetMask } from './arena.js';
import { hashText } from './hash.js';
import { HashIndex } from './hash-index.js';

const recordBits = 2;
const textMask = (1 << (chunkBits - recordBits)) - 1;

/** Words of a record that belong to the owner of the table. `use` counts for `acquire` and `release`. */
const hashWord = 0;
export const useWord = 1;
export const firstWord = 2;
export const secondWord = 3;

/**
 * Strings by number and back: each text is kept once, with dense numbers from 1 that are used again when the last user
 * of a text is gone. Comparing two texts of the table is comparing their numbers.
 */
export class StringTable {
  readonly #records = new Arena({ dense: true });
  readonly #index: HashIndex;
  readonly #texts: (string | undefined)[][] = [];

  /** `arena` is for the hash index; records have one of their own, which is what keeps their numbers dense. */
  constructor(arena: Arena) {
    this.#index = new HashIndex(arena);
  }

  get size(): number {
    return this.#index.size;
  }

  /** Of the records; the index is counted with its arena. */
  get bytes(): number {
    return this.#records.bytes;
  }

  /** The number of a text, 0 if the table does not have it. */
  find(text: string, hash = hashText(text)): number {
    for (let slot = this.#index.find(hash); slot >= 0; slot = this.#index.find(hash, slot)) {
      const number = this.#index.at(hash, slot);
      if (this.text(number) === text) return number;
    }
    return 0;
  }

  /**
   * The number that a text has if the table has it at all: the only one with this hash. It saves a look at a string that
   * may decide nothing; the caller compares once it does. 0 if the table does not have the text for certain.
   */
  guess(text: string, hash: number): number {
    const slot = this.#index.find(hash);
    if (slot < 0) return 0;
    return this.#index.find(hash, slot) < 0 ? this.#index.at(hash, slot) : this.find(text, hash);
  }

  acquire(text: string): number {
    const hash = hashText(text);
    let number = this.find(text, hash);
    if (number === 0) {
      const address = this.#records.allocate(1 << recordBits);
      number = address >>> recordBits;
      (this.#texts[address >>> chunkBits] ??= [])[number & textMask] = text;
      this.#index.add(hash, number);
      this.setWord(number, hashWord, hash);
      this.setWord(number, useWord, 0);
      this.setWord(number, firstWord, 0);
      this.setWord(number, secondWord, 0);
    }
    this.retain(number);
    return number;
  }

  retain(number: number): void {
    this.setWord(number, useWord, this.word(number, useWord) + 1);
  }

  /** Whether that was the last user, with whom text and number went. */
  release(number: number): boolean {
    const left = this.word(number, useWord) - 1;
    this.setWord(number, useWord, left);
    if (left > 0) return false;
    const address = number << recordBits;
    this.#index.delete(this.word(number, hashWord), number);
    this.#texts[address >>> chunkBits]![number & textMask] = undefined;
    this.#records.release(address);
    if (this.#records.isGone(address)) this.#texts[address >>> chunkBits] = [];
    if (this.size === 0) this.#texts.length = 0;
    return true;
  }

  text(number: number): string {
    return this.#texts[number >>> (chunkBits - recordBits)]![number & textMask]!;
  }

  word(number: number, word: number): number {
    const address = number << recordBits;
    return this.#records.chunks[address >>> chunkBits]![(address & offsetMask) + word]!;
  }

  setWord(number: number, word: number, value: number): void {
    const address = number << recordBits;
    this.#records.chunks[address >>> chunkBits]![(address & offsetMask) + word] = value;
  }
}
