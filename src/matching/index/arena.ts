/**
 * Memory for records and blocks of 32-bit words, outside the JS heap: a million subscriptions as objects would make
 * every full garbage collection a pause that readers notice.
 *
 * An address is a chunk and an offset in it. A chunk holds blocks of one size, a power of two:
 *
 *   open    it has a free block, and is in the list of its size
 *   full    it has no free block, and is in no list until a block is released
 *   gone    its last block was released; the memory is freed, and the number is reused
 *
 * One empty chunk of each size is kept, and made small, so that repeated allocation and release of one block does not
 * allocate chunks. Chunks are large, so that the table of chunks stays in the CPU cache. Growing adds a chunk and
 * copies nothing, with one exception: a dense arena, which has blocks of one size and no gaps between their addresses,
 * begins with one small chunk that is copied until it is large. A caller must not keep a chunk of a dense arena across
 * an allocation. Address 0 is never allocated and means "none".
 */
export const chunkBits = 18;
const chunkWords = 1 << chunkBits;
/** The first chunks of a size are smaller, so that a small index needs little memory. */
const firstChunkWords = 1 << 8;
export const offsetMask = chunkWords - 1;
const smallestBits = 2;
const none = -1;
const gone = new Int32Array(0);

export class Arena {
  /** Word `i` of the block at `address` is `chunks[address >>> chunkBits][(address & offsetMask) + i]`. */
  readonly chunks: Int32Array[] = [];
  readonly #bytes: Buffer[] = [];
  readonly #bits: number[] = [];
  readonly #live: number[] = [];
  readonly #fresh: number[] = [];
  readonly #freed: number[] = [];
  readonly #next: number[] = [];
  readonly #previous: number[] = [];
  readonly #open: number[] = Array.from({ length: chunkBits + 1 }, () => none);
  readonly #goneChunks: number[] = [];
  readonly #ofSize: number[] = [];
  readonly #dense: boolean;

  /** `denseWords` is the size of the blocks of a dense arena. */
  constructor(denseWords?: number) {
    this.#dense = denseWords !== undefined;
    // The block at address 0 is never released, and does not count for whether its chunk is empty.
    this.allocate(denseWords ?? 1);
    this.#live[0] = 0;
  }

  /**
   * The word at an address. Addresses 0 to 3 have zeros, so that null addresses can be followed.
   */
  word(address: number): number {
    return this.chunks[address >>> chunkBits]![address & offsetMask]!;
  }

  /** The number of words of the block at `address`: at least as many as requested. */
  sizeOf(address: number): number {
    return 1 << this.#bits[address >>> chunkBits]!;
  }

  /** The chunk of an address as bytes, four for each word. */
  bytesOf(address: number): Buffer {
    const chunk = address >>> chunkBits;
    const { buffer } = this.chunks[chunk]!;
    const known = this.#bytes[chunk];
    // A reused chunk number has new memory.
    return known?.buffer === buffer ? known : (this.#bytes[chunk] = Buffer.from(buffer));
  }

  get bytes(): number {
    let words = 0;
    for (const chunk of this.chunks) words += chunk.length;
    return words * 4;
  }

  /** The words of a new block are not initialised. */
  allocate(words: number): number {
    const bits = Math.max(smallestBits, 32 - Math.clz32(words - 1));
    let chunk = bits > chunkBits ? none : this.#open[bits]!;
    if (chunk === none) chunk = this.#dense ? this.#growDense(bits) : this.#addChunk(bits);
    let offset = this.#freed[chunk]!;
    if (offset === none) {
      offset = this.#fresh[chunk]!;
      this.#fresh[chunk] = offset + (1 << bits);
    } else {
      this.#freed[chunk] = this.chunks[chunk]![offset]!;
    }
    this.#live[chunk]! += 1;
    if (this.#isFull(chunk)) this.#unlink(chunk);
    return (chunk << chunkBits) | offset;
  }

  release(address: number): void {
    const chunk = address >>> chunkBits;
    const offset = address & offsetMask;
    if (this.#isFull(chunk)) this.#link(chunk);
    this.chunks[chunk]![offset] = this.#freed[chunk]!;
    this.#freed[chunk] = offset;
    this.#live[chunk]! -= 1;
    if (this.#live[chunk] === 0) this.#emptied(chunk);
  }

  #isFull(chunk: number): boolean {
    return this.#freed[chunk] === none && this.#fresh[chunk]! >= this.chunks[chunk]!.length;
  }

  #addChunk(bits: number): number {
    const chunk = this.#goneChunks.pop() ?? this.chunks.length;
    if (chunk >= 1 << (31 - chunkBits)) throw new RangeError('The match index has no more addresses.');
    const before = this.#ofSize[bits] ?? 0;
    this.#ofSize[bits] = before + 1;
    this.chunks[chunk] = new Int32Array(
      Math.max(1 << bits, Math.min(chunkWords, firstChunkWords << Math.min(before * 2, 10))),
    );
    this.#bits[chunk] = bits;
    this.#live[chunk] = 0;
    this.#fresh[chunk] = 0;
    this.#freed[chunk] = none;
    this.#link(chunk);
    return chunk;
  }

  /**
   * Numbers of gone chunks are reused first, so only the last chunk can be small.
   */
  #growDense(bits: number): number {
    const last = this.chunks.length - 1;
    const small = this.chunks[last];
    if (!small || small.length === 0 || small.length >= chunkWords) return this.#addChunk(bits);
    const grown = new Int32Array(small.length * 4);
    grown.set(small);
    this.chunks[last] = grown;
    this.#link(last);
    return last;
  }

  /** A block larger than a chunk gets its own chunk, which is full while it is used. */
  #list(chunk: number): number {
    return Math.min(this.#bits[chunk]!, chunkBits);
  }

  #link(chunk: number): void {
    const list = this.#list(chunk);
    const first = this.#open[list]!;
    this.#next[chunk] = first;
    this.#previous[chunk] = none;
    if (first !== none) this.#previous[first] = chunk;
    this.#open[list] = chunk;
  }

  #unlink(chunk: number): void {
    const next = this.#next[chunk]!;
    const previous = this.#previous[chunk]!;
    if (next !== none) this.#previous[next] = previous;
    if (previous === none) this.#open[this.#list(chunk)] = next;
    else this.#next[previous] = next;
  }

  #emptied(chunk: number): void {
    const only = this.#next[chunk] === none && this.#previous[chunk] === none;
    if (chunk === 0 || (only && 1 << this.#bits[chunk]! <= firstChunkWords)) {
      if (this.chunks[chunk]!.length > firstChunkWords) this.chunks[chunk] = new Int32Array(firstChunkWords);
      this.#fresh[chunk] = chunk === 0 ? 1 << this.#bits[chunk]! : 0;
      this.#freed[chunk] = none;
      return;
    }
    this.#unlink(chunk);
    this.#ofSize[this.#bits[chunk]!]! -= 1;
    this.chunks[chunk] = gone;
    this.#goneChunks.push(chunk);
  }
}
