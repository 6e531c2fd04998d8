import { chunkBits, offsetMask, type Arena } from './arena.js';

/**
 * Maps hashes to addresses, or to other numbers except 0; the owner compares entries with the same hash. It is split
 * into shards by the first bits of the hash, and growing copies only one shard: a V8 Map of a million entries stops the
 * process for a tenth of a second when it grows, a shard for microseconds.
 *
 * A shard is a block of slots of two words, hash and address (0 is free), with linear probing. It doubles when it is
 * three quarters full, halves when it is an eighth full, and is released with its last entry.
 */
const shardBits = 8;
const firstSlots = 4;

export class HashIndex {
  size = 0;
  readonly #arena: Arena;
  /** For each shard its block and its slot count minus one, next to each other because they are read together. */
  readonly #shards = new Int32Array(2 << shardBits);
  readonly #counts = new Int32Array(1 << shardBits);

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  /** The slot of the first entry with this hash, or of the next one after `after`; -1 if there is none. */
  find(hash: number, after = -1): number {
    const shard = hash >>> (32 - shardBits);
    const block = this.#shards[shard * 2]!;
    if (block === 0) return -1;
    const words = this.#arena.chunks[block >>> chunkBits]!;
    const base = block & offsetMask;
    const mask = this.#shards[shard * 2 + 1]!;
    for (let slot = (after < 0 ? hash : after + 1) & mask; ; slot = (slot + 1) & mask) {
      const at = base + slot * 2;
      if (words[at + 1] === 0) return -1;
      if (words[at] === hash) return slot;
    }
  }

  /** The address in a slot that `find` gave for the same hash. */
  at(hash: number, slot: number): number {
    const block = this.#shards[(hash >>> (32 - shardBits)) * 2]!;
    return this.#arena.chunks[block >>> chunkBits]![(block & offsetMask) + slot * 2 + 1]!;
  }

  /** The value in the probable slot of the first entry with this hash: 0 or any other. */
  guess(hash: number): number {
    const shard = hash >>> (32 - shardBits);
    const block = this.#shards[shard * 2]!;
    // Without a block the address is 0, an unused block, and this is its first slot.
    const slot = block === 0 ? 0 : hash & this.#shards[shard * 2 + 1]!;
    return this.#arena.chunks[block >>> chunkBits]![(block & offsetMask) + slot * 2 + 1]!;
  }

  /** The only value with this hash, 0 if there is none. */
  first(hash: number): number {
    const slot = this.find(hash);
    return slot < 0 ? 0 : this.at(hash, slot);
  }

  /** Sets the only value with this hash; 0 removes it. */
  set(hash: number, value: number): void {
    const slot = this.find(hash);
    if (slot < 0) {
      if (value !== 0) this.add(hash, value);
    } else if (value === 0) {
      this.delete(hash, this.at(hash, slot));
    } else {
      const block = this.#shards[(hash >>> (32 - shardBits)) * 2]!;
      this.#arena.chunks[block >>> chunkBits]![(block & offsetMask) + slot * 2 + 1] = value;
    }
  }

  add(hash: number, address: number): void {
    const shard = hash >>> (32 - shardBits);
    const slots = this.#shards[shard * 2] === 0 ? 0 : this.#shards[shard * 2 + 1]! + 1;
    if ((this.#counts[shard]! + 1) * 4 > slots * 3) this.#resize(shard, Math.max(firstSlots, slots * 2));
    this.#put(shard, hash, address);
    this.#counts[shard]! += 1;
    this.size += 1;
  }

  delete(hash: number, address: number): void {
    const shard = hash >>> (32 - shardBits);
    let slot = this.find(hash);
    while (slot >= 0 && this.at(hash, slot) !== address) slot = this.find(hash, slot);
    if (slot < 0) return;
    this.#close(shard, slot);
    this.#counts[shard]! -= 1;
    this.size -= 1;
    const slots = this.#shards[shard * 2 + 1]! + 1;
    if (this.#counts[shard] === 0) this.#resize(shard, 0);
    else if (slots > firstSlots && this.#counts[shard]! * 8 < slots) this.#resize(shard, slots / 2);
  }

  *values(): Generator<number> {
    for (let shard = 0; shard < 1 << shardBits; shard += 1) {
      const block = this.#shards[shard * 2]!;
      const slots = block === 0 ? 0 : this.#shards[shard * 2 + 1]! + 1;
      for (let slot = 0; slot < slots; slot += 1) {
        const value = this.#arena.chunks[block >>> chunkBits]![(block & offsetMask) + slot * 2 + 1]!;
        if (value !== 0) yield value;
      }
    }
  }

  #put(shard: number, hash: number, address: number): void {
    const block = this.#shards[shard * 2]!;
    const words = this.#arena.chunks[block >>> chunkBits]!;
    const base = block & offsetMask;
    const mask = this.#shards[shard * 2 + 1]!;
    let slot = hash & mask;
    while (words[base + slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
    words[base + slot * 2] = hash;
    words[base + slot * 2 + 1] = address;
  }

  /** Frees a slot and moves later entries of the run up, so that no probe ends too early and no marker is left. */
  #close(shard: number, slot: number): void {
    const block = this.#shards[shard * 2]!;
    const words = this.#arena.chunks[block >>> chunkBits]!;
    const base = block & offsetMask;
    const mask = this.#shards[shard * 2 + 1]!;
    let hole = slot;
    for (let next = (slot + 1) & mask; words[base + next * 2 + 1] !== 0; next = (next + 1) & mask) {
      const home = words[base + next * 2]! & mask;
      if (((next - home) & mask) < ((next - hole) & mask)) continue;
      words[base + hole * 2] = words[base + next * 2]!;
      words[base + hole * 2 + 1] = words[base + next * 2 + 1]!;
      hole = next;
    }
    words[base + hole * 2 + 1] = 0;
  }

  #resize(shard: number, slots: number): void {
    const old = this.#shards[shard * 2]!;
    const oldSlots = old === 0 ? 0 : this.#shards[shard * 2 + 1]! + 1;
    this.#shards[shard * 2] = slots === 0 ? 0 : this.#arena.allocate(slots * 2);
    this.#shards[shard * 2 + 1] = slots - 1;
    if (slots > 0) {
      const block = this.#shards[shard * 2]!;
      const base = block & offsetMask;
      this.#arena.chunks[block >>> chunkBits]!.fill(0, base, base + slots * 2);
    }
    if (old === 0) return;
    const words = this.#arena.chunks[old >>> chunkBits]!;
    for (let at = old & offsetMask, left = oldSlots; slots > 0 && left > 0; left -= 1, at += 2) {
      if (words[at + 1] !== 0) this.#put(shard, words[at]!, words[at + 1]!);
    }
    this.#arena.release(old);
  }
}
