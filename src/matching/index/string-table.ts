import { Arena, chunkBits, offsetMask } from './arena.js';
import { HashIndex } from './hash-index.js';
import { hashText } from './hash.js';

const recordBits = 3;
/** Words of a record for the owner of the table. `use` is the reference count of `acquire` and `release`. */
const hashWord = 0;
export const useWord = 1;
export const firstWord = 2;
export const secondWord = 3;
/** The block of the text, four characters per word; if a character needs 16 bits, two, and the length is negative. */
const textWord = 4;
const lengthWord = 5;
const wideCharacter = /[^\0-\xff]/;

/**
 * Maps strings to numbers and back, outside the JS heap. Each text is stored once, with dense numbers from 1 that are
 * reused after the last release. Texts are equal if their numbers are equal.
 */
export class StringTable {
  readonly #records = new Arena(1 << recordBits);
  readonly #arena: Arena;
  readonly #index: HashIndex;

  /** `arena` is for the hash index and the texts; records have their own arena, which keeps their numbers dense. */
  constructor(arena: Arena) {
    this.#arena = arena;
    this.#index = new HashIndex(arena);
  }

  get size(): number {
    return this.#index.size;
  }

  /** Bytes of the records; index and texts count in their arena. */
  get bytes(): number {
    return this.#records.bytes;
  }

  /** The number of a text, 0 if the table does not have it. */
  find(text: string, hash = hashText(text)): number {
    for (let slot = this.#index.find(hash); slot >= 0; slot = this.#index.find(hash, slot)) {
      const number = this.#index.at(hash, slot);
      if (this.is(number, text)) return number;
    }
    return 0;
  }

  /**
   * The number of a text, if the table has the text: the only number with this hash. It saves a comparison that may not
   * be needed; the caller compares when it is. 0 if the table certainly does not have the text.
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
      number = this.#records.allocate(1 << recordBits) >>> recordBits;
      this.#index.add(hash, number);
      this.setWord(number, hashWord, hash);
      this.setWord(number, useWord, 0);
      this.setWord(number, firstWord, 0);
      this.setWord(number, secondWord, 0);
      this.#keep(number, text);
    }
    this.retain(number);
    return number;
  }

  retain(number: number): void {
    this.setWord(number, useWord, this.word(number, useWord) + 1);
  }

  /** Returns whether that was the last reference, so that text and number are free. */
  release(number: number): boolean {
    const left = this.word(number, useWord) - 1;
    this.setWord(number, useWord, left);
    if (left > 0) return false;
    this.#index.delete(this.word(number, hashWord), number);
    this.#arena.release(this.word(number, textWord));
    this.#records.release(number << recordBits);
    return true;
  }

  /** Prefetches a record and the beginning of its text. */
  readText(number: number): number {
    return this.#arena.word(this.word(number, textWord));
  }

  /** Prefetches the slot of a hash. */
  readSlot(hash: number): number {
    return this.#index.guess(hash);
  }

  length(number: number): number {
    return Math.abs(this.word(number, lengthWord));
  }

  is(number: number, text: string): boolean {
    return this.length(number) === text.length && this.#isAt(0, number, text);
  }

  /** Whether another text begins with the text of a number. */
  begins(number: number, text: string): boolean {
    return this.length(number) <= text.length && this.#isAt(0, number, text);
  }

  ends(number: number, text: string): boolean {
    return this.length(number) <= text.length && this.#isAt(text.length - this.length(number), number, text);
  }

  text(number: number): string {
    const address = this.word(number, textWord);
    const length = this.word(number, lengthWord);
    const bytes = this.#arena.bytesOf(address);
    const from = (address & offsetMask) * 4;
    return length < 0
      ? bytes.toString('utf16le', from, from - length * 2)
      : bytes.toString('latin1', from, from + length);
  }

  word(number: number, word: number): number {
    const address = number << recordBits;
    return this.#records.chunks[address >>> chunkBits]![(address & offsetMask) + word]!;
  }

  setWord(number: number, word: number, value: number): void {
    const address = number << recordBits;
    this.#records.chunks[address >>> chunkBits]![(address & offsetMask) + word] = value;
  }

  #keep(number: number, text: string): void {
    const isWide = wideCharacter.test(text);
    const [inWord, bits] = isWide ? [2, 16] : [4, 8];
    const address = this.#arena.allocate(Math.max(Math.ceil(text.length / inWord), 1));
    const words = this.#arena.chunks[address >>> chunkBits]!;
    for (let at = address & offsetMask, i = 0; i < text.length; at += 1) {
      let word = 0;
      for (let shift = 0; shift < 32 && i < text.length; shift += bits, i += 1) word |= text.charCodeAt(i) << shift;
      words[at] = word;
    }
    this.setWord(number, textWord, address);
    this.setWord(number, lengthWord, isWide ? -text.length : text.length);
  }

  /** Whether another text, which is long enough, has the text of a number at a place. */
  #isAt(place: number, number: number, text: string): boolean {
    const address = this.word(number, textWord);
    const length = this.word(number, lengthWord);
    const words = this.#arena.chunks[address >>> chunkBits]!;
    const from = address & offsetMask;
    if (length < 0) {
      for (let i = 0; i < -length; i += 1) {
        if (((words[from + (i >>> 1)]! >>> ((i & 1) << 4)) & 0xffff) !== text.charCodeAt(place + i)) return false;
      }
      return true;
    }
    let i = 0;
    for (; i + 4 <= length; i += 4) {
      const a = text.charCodeAt(place + i);
      const b = text.charCodeAt(place + i + 1);
      const c = text.charCodeAt(place + i + 2);
      const d = text.charCodeAt(place + i + 3);
      if ((a | b | c | d) > 0xff || words[from + (i >>> 2)] !== (a | (b << 8) | (c << 16) | (d << 24))) return false;
    }
    for (; i < length; i += 1) {
      if (((words[from + (i >>> 2)]! >>> ((i & 3) << 3)) & 0xff) !== text.charCodeAt(place + i)) return false;
    }
    return true;
  }
}
