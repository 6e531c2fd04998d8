import { Arena, chunkBits, offsetMask } from '../index/arena.js';
import { HashIndex } from '../index/hash-index.js';
import { hashBytes, hashNumbers } from '../index/hash.js';
import { Piece, writeHex } from './write-bytes.js';

/**
 * Pairs of origin and sink, each with its grant and the number of its subscriptions, outside the JS heap: a million
 * objects would make every full garbage collection a pause that senders notice.
 *
 * A pair is a number, which stays the same until it is released. Sinks are stored as UTF-8 bytes, because requests and
 * responses have them as bytes; a word has four of them, and the last word is padded with 0.
 */
export const word = {
  origin: 0,
  length: 1,
  /** The owner defines its meaning; 0 is none. */
  grant: 2,
  subscriptions: 3,
  /** Of the subscriptions: those that are suspended or have an end. */
  conditional: 4,
  /** Two words each: rates have up to 15 digits, and times are milliseconds since 1970. */
  rate: 5,
  expiresAt: 7,
  heldUntil: 9,
  id: 11,
  /** The rest of the record, which is close enough to be fetched from memory together with the other words. */
  text: 15,
} as const;
const highPart = 2 ** 31;

/** Offsets as constants: a lookup by name would cost time with every read. */
type SmallNumber = (typeof word)['grant' | 'subscriptions' | 'conditional'];
type LargeNumber = (typeof word)['rate' | 'expiresAt' | 'heldUntil'];

/**
 * Words that look-ups seldom need, apart from the records: a record that they made longer than a power of two would take
 * twice its memory. The owner defines their meaning, too.
 */
export const aside = { address: 0, subscriber: 1, indexed: 2 } as const;
const asideWords = 3;
type Aside = (typeof aside)[keyof typeof aside];

/** Parallel arrays. */
export interface AskedPairs {
  count: number;
  bytes: Uint8Array;
  origins: Int32Array;
  /** The place of the sink in the bytes, and its `hashBytes`. */
  sinkFrom: Int32Array;
  sinkTo: Int32Array;
  sinkHashes: Int32Array;
}

export class PairTable {
  readonly #records = new Arena();
  readonly #index = new HashIndex(this.#records);
  /** For each chunk of records, these words for each of its blocks. */
  readonly #asides: Int32Array[] = [];

  get size(): number {
    return this.#index.size;
  }

  get bytes(): number {
    return this.#asides.reduce((sum, words) => sum + words.byteLength, this.#records.bytes);
  }

  /** The sink is the bytes from `from` to `to`. 0 if there is no such pair. */
  find(origin: number, bytes: Uint8Array, from: number, to: number, sinkHash = hashBytes(bytes, from, to)): number {
    const hash = hashOf(origin, sinkHash);
    for (let slot = this.#index.find(hash); slot >= 0; slot = this.#index.find(hash, slot)) {
      const pair = this.#index.at(hash, slot);
      if (this.#is(pair, origin, bytes, from, to)) return pair;
    }
    return 0;
  }

  /**
   * Many look-ups at once. A single look-up spends most of its time waiting for memory. So this first reads what all of
   * them will need, without dependent branches, and the CPU fetches it in parallel.
   */
  findAll({ count, bytes, origins, sinkFrom, sinkTo, sinkHashes }: AskedPairs, found: Int32Array): void {
    const { chunks } = this.#records;
    for (let i = 0; i < count; i += 1) found[i] = this.#index.guess(hashOf(origins[i]!, sinkHashes[i]!));
    for (let i = 0; i < count; i += 1) {
      const words = chunks[found[i]! >>> chunkBits]!;
      const at = found[i]! & offsetMask;
      // A record begins in one cache line and its text in the next.
      found[i] = words[at + word.origin]! ^ words[at + word.text]!;
    }
    for (let i = 0; i < count; i += 1)
      found[i] = this.find(origins[i]!, bytes, sinkFrom[i]!, sinkTo[i]!, sinkHashes[i]);
  }

  acquire(origin: number, sink: Uint8Array): number {
    const sinkHash = hashBytes(sink, 0, sink.length);
    const known = this.find(origin, sink, 0, sink.length, sinkHash);
    if (known !== 0) return known;
    const recordWords = word.text + ((sink.length + 3) >>> 2);
    const pair = this.#records.allocate(recordWords);
    const words = this.#records.chunks[pair >>> chunkBits]!;
    const at = pair & offsetMask;
    words.fill(0, at, at + recordWords);
    words[at + word.origin] = origin;
    words[at + word.length] = sink.length;
    this.#clearAside(pair);
    this.#records.bytesOf(pair).set(sink, (at + word.text) * 4);
    this.#index.add(hashOf(origin, sinkHash), pair);
    return pair;
  }

  release(pair: number): void {
    const from = ((pair & offsetMask) + word.text) * 4;
    const sinkHash = hashBytes(this.#records.bytesOf(pair), from, from + this.#word(pair, word.length));
    this.#index.delete(hashOf(this.origin(pair), sinkHash), pair);
    this.#records.release(pair);
    // The chunk was empty, and gave its memory back.
    const chunk = pair >>> chunkBits;
    if (this.#asides[chunk]!.length > this.#records.chunks[chunk]!.length) this.#asides[chunk] = noWords;
  }

  origin(pair: number): number {
    return this.#word(pair, word.origin);
  }

  sink(pair: number): string {
    const from = ((pair & offsetMask) + word.text) * 4;
    return this.#records.bytesOf(pair).toString('utf8', from, from + this.#word(pair, word.length));
  }

  small(pair: number, member: SmallNumber): number {
    return this.#word(pair, member);
  }

  setSmall(pair: number, member: SmallNumber, value: number): void {
    this.#setWord(pair, member, value);
  }

  aside(pair: number, member: Aside): number {
    return this.#asides[pair >>> chunkBits]![this.#asideOf(pair) + member]!;
  }

  setAside(pair: number, member: Aside, value: number): void {
    this.#asides[pair >>> chunkBits]![this.#asideOf(pair) + member] = value;
  }

  large(pair: number, member: LargeNumber): number {
    return this.#word(pair, member) * highPart + this.#word(pair, member + 1);
  }

  setLarge(pair: number, member: LargeNumber, value: number): void {
    this.#setWord(pair, member, Math.floor(value / highPart));
    this.#setWord(pair, member + 1, value % highPart);
  }

  /** A UUID, stored as its 128 bits. */
  id(pair: number): string {
    this.writeId(pair, new DataView(idText.buffer, idText.byteOffset), 0);
    return idText.toString('latin1');
  }

  /** Writes it as text at `at`; returns the end. */
  writeId(pair: number, bytes: DataView, at: number): number {
    const words = this.#records.chunks[pair >>> chunkBits]!;
    const from = (pair & offsetMask) + word.id;
    const [a, b, c, d] = [words[from]!, words[from + 1]!, words[from + 2]!, words[from + 3]!];
    const end = idForm.write(bytes, at);
    writeHex(a, bytes, writeHex(a >>> 16, bytes, at));
    writeHex(b >>> 16, bytes, at + 9);
    writeHex(b, bytes, at + 14);
    writeHex(c >>> 16, bytes, at + 19);
    writeHex(d, bytes, writeHex(d >>> 16, bytes, writeHex(c, bytes, at + 24)));
    return end;
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

  /** The pairs of an origin. It scans all pairs, so use it only for rare changes. */
  pairsOf(origin: number): number[] {
    return [...this.#index.values()].filter((pair) => this.origin(pair) === origin);
  }

  #is(pair: number, origin: number, bytes: Uint8Array, from: number, to: number): boolean {
    const words = this.#records.chunks[pair >>> chunkBits]!;
    const at = pair & offsetMask;
    if (words[at + word.origin] !== origin || words[at + word.length] !== to - from) return false;
    let place = at + word.text;
    for (; from + 4 <= to; from += 4, place += 1) {
      const four = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24);
      if (words[place] !== four) return false;
    }
    if (from === to) return true;
    let rest = 0;
    for (let shift = 0; from < to; from += 1, shift += 8) rest |= bytes[from]! << shift;
    return words[place] === rest;
  }

  #asideOf(pair: number): number {
    return ((pair & offsetMask) >>> (31 - Math.clz32(this.#records.sizeOf(pair)))) * asideWords;
  }

  #clearAside(pair: number): void {
    const chunk = pair >>> chunkBits;
    const at = this.#asideOf(pair);
    let words = this.#asides[chunk] ?? noWords;
    if (at + asideWords > words.length) {
      const more = new Int32Array(Math.max(16, 2 ** Math.ceil(Math.log2(at + asideWords))));
      more.set(words);
      this.#asides[chunk] = words = more;
    }
    words.fill(0, at, at + asideWords);
  }

  #word(pair: number, which: number): number {
    return this.#records.chunks[pair >>> chunkBits]![(pair & offsetMask) + which]!;
  }

  #setWord(pair: number, which: number, value: number): void {
    this.#records.chunks[pair >>> chunkBits]![(pair & offsetMask) + which] = value;
  }
}

const noWords = new Int32Array(0);
const idForm = new Piece('00000000-0000-0000-0000-000000000000');
const idText = Buffer.alloc(idForm.length);

function hashOf(origin: number, sinkHash: number): number {
  return hashNumbers(sinkHash, origin, 0);
}
