import { Arena, chunkBits, offsetMask } from './arena.js';
import { hashNumbers, hashText } from './hash.js';
import { HashIndex } from './hash-index.js';

/**
 * Pairs of origin and sink, each with what is known of its grant and how many subscriptions hold on to it, outside of the
 * heap that the collector walks: a million of them as objects make every full collection a pause that senders feel.
 *
 * A pair is a number that is its own until it is released. Sinks are URIs, so a character is a byte; four stand in a word.
 */
const recordWords = 16;
const word = {
  origin: 0,
  text: 1,
  length: 2,
  /** Its meaning is the owner's; 0 is none. */
  standing: 3,
  subscriptions: 4,
  suspended: 5,
  /** Two words each: rates have up to 15 digits, and times are milliseconds since 1970. */
  rate: 6,
  expiresAt: 8,
  heldUntil: 10,
  id: 12,
} as const;
const highPart = 2 ** 31;

export type SmallNumber = 'standing' | 'subscriptions' | 'suspended';
export type LargeNumber = 'rate' | 'expiresAt' | 'heldUntil';

export class PairTable {
  readonly #records = new Arena();
  readonly #index = new HashIndex(this.#records);
  /** Bytes of a chunk beside its words. */
  readonly #bytes: Buffer[] = [];

  get size(): number {
    return this.#index.size;
  }

  get bytes(): number {
    return this.#records.bytes;
  }

  /** 0 if there is no such pair. */
  find(origin: number, sink: string, hash = hashOf(origin, sink)): number {
    for (let slot = this.#index.find(hash); slot >= 0; slot = this.#index.find(hash, slot)) {
      const pair = this.#index.at(hash, slot);
      if (this.#is(pair, origin, sink)) return pair;
    }
    return 0;
  }

  acquire(origin: number, sink: string): number {
    const hash = hashOf(origin, sink);
    const known = this.find(origin, sink, hash);
    if (known !== 0) return known;
    const pair = this.#records.allocate(recordWords);
    const text = this.#records.allocate(Math.max((sink.length + 3) >>> 2, 1));
    const words = this.#records.chunks[pair >>> chunkBits]!;
    const at = pair & offsetMask;
    words.fill(0, at, at + recordWords);
    words[at + word.origin] = origin;
    words[at + word.text] = text;
    words[at + word.length] = sink.length;
    this.#bytesOf(text).write(sink, (text & offsetMask) * 4, 'latin1');
    this.#index.add(hash, pair);
    return pair;
  }

  release(pair: number): void {
    this.#index.delete(hashOf(this.origin(pair), this.sink(pair)), pair);
    this.#records.release(this.#word(pair, word.text));
    this.#records.release(pair);
  }

  origin(pair: number): number {
    return this.#word(pair, word.origin);
  }

  sink(pair: number): string {
    const text = this.#word(pair, word.text);
    const from = (text & offsetMask) * 4;
    return this.#bytesOf(text).toString('latin1', from, from + this.#word(pair, word.length));
  }

  small(pair: number, member: SmallNumber): number {
    return this.#word(pair, word[member]);
  }

  setSmall(pair: number, member: SmallNumber, value: number): void {
    this.#setWord(pair, word[member], value);
  }

  large(pair: number, member: LargeNumber): number {
    return this.#word(pair, word[member]) * highPart + this.#word(pair, word[member] + 1);
  }

  setLarge(pair: number, member: LargeNumber, value: number): void {
    this.#setWord(pair, word[member], Math.floor(value / highPart));
    this.#setWord(pair, word[member] + 1, value % highPart);
  }

  /** A UUID, as its 128 bits. */
  id(pair: number): string {
    const words = this.#records.chunks[pair >>> chunkBits]!;
    const at = (pair & offsetMask) + word.id;
    const [a, b, c, d] = [words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!];
    return `${high(a)}${low(a)}-${high(b)}-${low(b)}-${high(c)}-${low(c)}${high(d)}${low(d)}`;
  }

  setId(pair: number, id: string): void {
    for (let i = 0, place = 0; i < 4; i += 1) {
      let bits = 0;
      for (let digits = 0; digits < 8; place += 1) {
        const character = id.charCodeAt(place);
        if (character === 0x2d) continue;
        bits = (bits << 4) | ((character & 15) + (character > 0x39 ? 9 : 0));
        digits += 1;
      }
      this.#setWord(pair, word.id + i, bits);
    }
  }

  /** Forgets an origin. It looks at every pair there is, which is for what happens rarely. */
  releaseOrigin(origin: number): void {
    for (const pair of [...this.#index.values()]) if (this.origin(pair) === origin) this.release(pair);
  }

  #is(pair: number, origin: number, sink: string): boolean {
    const words = this.#records.chunks[pair >>> chunkBits]!;
    const at = pair & offsetMask;
    if (words[at + word.origin] !== origin || words[at + word.length] !== sink.length) return false;
    const text = words[at + word.text]!;
    const characters = this.#records.chunks[text >>> chunkBits]!;
    const from = text & offsetMask;
    for (let i = 0; i < sink.length; i += 1) {
      if (((characters[from + (i >>> 2)]! >>> ((i & 3) << 3)) & 0xff) !== sink.charCodeAt(i)) return false;
    }
    return true;
  }

  #word(pair: number, which: number): number {
    return this.#records.chunks[pair >>> chunkBits]![(pair & offsetMask) + which]!;
  }

  #setWord(pair: number, which: number, value: number): void {
    this.#records.chunks[pair >>> chunkBits]![(pair & offsetMask) + which] = value;
  }

  #bytesOf(address: number): Buffer {
    const chunk = address >>> chunkBits;
    const { buffer } = this.#records.chunks[chunk]!;
    const known = this.#bytes[chunk];
    // A chunk that was handed back has other memory when its number is used again.
    if (known?.buffer === buffer) return known;
    return (this.#bytes[chunk] = Buffer.from(buffer));
  }
}

/** The upper and the lower half of a word, as hexadecimal digits. */
const high = (value: number) => twoDigits[value >>> 24]! + twoDigits[(value >>> 16) & 0xff]!;
const low = (value: number) => twoDigits[(value >>> 8) & 0xff]! + twoDigits[value & 0xff]!;
const twoDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hashOf(origin: number, sink: string): number {
  return hashNumbers(hashText(sink), origin, 0);
}
