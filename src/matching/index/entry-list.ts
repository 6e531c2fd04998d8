import { chunkBits, offsetMask, type Arena } from './arena.js';

/**
 * Unordered lists of entries of one or two words. The header is inside the record of its owner and has the first entry,
 * because most lists have only one:
 *
 *   count, block, entry
 *
 * The others are in blocks that double in size, newest first. Each block has two words before the entries: the next
 * block and the number of entries. Growing copies nothing. An entry keeps its address until it or another one is
 * removed: then the last entry moves to the free place.
 */
export const listCount = 0;
export const listBlock = 1;
export const listFirst = 2;
export const blockNext = 0;
export const blockUsed = 1;
export const blockFirst = 2;

const smallestBlock = 8;
const largestBlock = 1 << (chunkBits - 1);

export class EntryLists {
  readonly #arena: Arena;
  readonly #stride: 1 | 2;

  constructor(arena: Arena, stride: 1 | 2) {
    this.#arena = arena;
    this.#stride = stride;
  }

  /** Creates an empty list at an address inside a record. */
  clear(list: number): void {
    const words = this.#arena.chunks[list >>> chunkBits]!;
    words[(list & offsetMask) + listCount] = 0;
    words[(list & offsetMask) + listBlock] = 0;
  }

  /** Returns the address of the entry. */
  push(list: number, a: number, b = 0): number {
    const words = this.#arena.chunks[list >>> chunkBits]!;
    const header = list & offsetMask;
    const count = words[header + listCount]!;
    words[header + listCount] = count + 1;
    const entry = count === 0 ? list + listFirst : this.#place(words, header);
    const target = this.#arena.chunks[entry >>> chunkBits]!;
    target[entry & offsetMask] = a;
    if (this.#stride === 2) target[(entry & offsetMask) + 1] = b;
    return entry;
  }

  /** Whether another entry moved to the address; a caller that stores addresses of entries must update them. */
  remove(list: number, entry: number): boolean {
    const words = this.#arena.chunks[list >>> chunkBits]!;
    const header = list & offsetMask;
    words[header + listCount]! -= 1;
    const block = words[header + listBlock]!;
    if (block === 0) return false;
    const source = this.#arena.chunks[block >>> chunkBits]!;
    const used = source[(block & offsetMask) + blockUsed]! - 1;
    const last = block + blockFirst + used * this.#stride;
    if (last !== entry) {
      const target = this.#arena.chunks[entry >>> chunkBits]!;
      target[entry & offsetMask] = source[last & offsetMask]!;
      if (this.#stride === 2) target[(entry & offsetMask) + 1] = source[(last & offsetMask) + 1]!;
    }
    source[(block & offsetMask) + blockUsed] = used;
    if (used === 0) {
      words[header + listBlock] = source[(block & offsetMask) + blockNext]!;
      this.#arena.release(block);
    }
    return last !== entry;
  }

  /** The address of the entry at an index below the count; takes one step for each block of the list. */
  at(list: number, place: number): number {
    let left = place;
    let block = this.#arena.chunks[list >>> chunkBits]![(list & offsetMask) + listBlock]!;
    while (block !== 0) {
      const words = this.#arena.chunks[block >>> chunkBits]!;
      const used = words[(block & offsetMask) + blockUsed]!;
      if (left < used) return block + blockFirst + left * this.#stride;
      left -= used;
      block = words[(block & offsetMask) + blockNext]!;
    }
    return list + listFirst;
  }

  #place(header: Int32Array, at: number): number {
    let block = header[at + listBlock]!;
    const size = block === 0 ? 0 : this.#arena.sizeOf(block);
    const used = block === 0 ? 0 : this.#arena.chunks[block >>> chunkBits]![(block & offsetMask) + blockUsed]!;
    if (block === 0 || blockFirst + (used + 1) * this.#stride > size) {
      const older = block;
      block = this.#arena.allocate(Math.min(Math.max(smallestBlock, size * 2), largestBlock));
      const words = this.#arena.chunks[block >>> chunkBits]!;
      words[(block & offsetMask) + blockNext] = older;
      words[(block & offsetMask) + blockUsed] = 0;
      header[at + listBlock] = block;
    }
    const words = this.#arena.chunks[block >>> chunkBits]!;
    const place = words[(block & offsetMask) + blockUsed]!;
    words[(block & offsetMask) + blockUsed] = place + 1;
    return block + blockFirst + place * this.#stride;
  }
}
