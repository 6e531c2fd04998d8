import { KeyChooser, type Choice } from './anchors.js';
import { chunkBits, offsetMask, type Arena } from './arena.js';
import { EntryLists, listCount, listFirst } from './entry-list.js';
import { HashIndex } from './hash-index.js';
import { hashWords } from './hash.js';
import { keyList, pair, type IndexKey, type Keys } from './keys.js';
import { exact, instructionMask } from './instructions.js';
import type { Program } from './program.js';
import type { Symbols } from './symbols.js';

/**
 * A bundle is all subscriptions with the same program: the program is stored, indexed and run once for all of them.
 *
 *   filed   under its keys, from its first member on; an event that hits one of them makes the bundle a candidate
 *   moved   one of its keys became popular, and other keys cost less than half: indexed again under those
 *   gone    removed with its last member, together with keys, values and attributes that no other bundle uses
 *
 * Keys are chosen by the counts at the time of adding, and a rare key can become popular later. Therefore each new
 * bundle re-checks one other: a random one under the most popular of its own keys. So the adds that make a key popular
 * also clear it, step by step.
 */
const hashWord = 0;
/** Not 0 if the current match has already seen the bundle. */
export const markWord = 1;
export const programWord = 2;
export const programLengthWord = 3;
/** The number of filings; then the key and entry of the only one, or the block of all of them. */
const filingsWord = 4;
const filingWord = 5;
export const membersList = 7;
/** A short program is inside the record, which saves a memory access; a longer one has a block. */
const shortProgramWord = 10;
export const bundleWords = 16;

/**
 * Flags in the second word of an entry under a key. An event can hit several keys of a bundle, unless all of them
 * compare the same attributes for equality. The other bits are the place among the bundle's filings, or the handle of
 * the only member if a hit of the key proves the program.
 */
export const isProof = 1;
export const isOneOfSeveral = 2;
export const isOnly = 4;
export const aboveShift = 3;

/** Up to this number, the filing under a key is found by a linear search. */
const fewFilings = 8;
/** Up to this number of bundles, a key is not worth a re-check. */
const fewEnough = 2;

export class Bundles {
  readonly #members: EntryLists;
  readonly #arena: Arena;
  readonly #symbols: Symbols;
  readonly #keys: Keys;
  readonly #index: HashIndex;
  readonly #chooser: KeyChooser;
  #chance = 1;

  constructor(arena: Arena, symbols: Symbols, keys: Keys) {
    this.#arena = arena;
    this.#symbols = symbols;
    this.#keys = keys;
    this.#index = new HashIndex(arena);
    this.#chooser = new KeyChooser(keys, symbols.values);
    this.#members = new EntryLists(arena, 1);
  }

  get size(): number {
    return this.#index.size;
  }

  /** The bundle of a program. A new one is indexed at once, and has no members until the caller adds one. */
  acquire(program: Program): number {
    const hash = hashWords(program);
    for (let slot = this.#index.find(hash); slot >= 0; slot = this.#index.find(hash, slot)) {
      const bundle = this.#index.at(hash, slot);
      if (this.#has(bundle, program)) return bundle;
    }
    const bundle = this.#arena.allocate(bundleWords);
    const isShort = program.length <= bundleWords - shortProgramWord;
    const address = isShort ? bundle + shortProgramWord : this.#arena.allocate(program.length);
    const words = this.#arena.chunks[address >>> chunkBits]!;
    words.set(program, address & offsetMask);
    this.#symbols.keep(words, address & offsetMask, program.length);
    this.#set(bundle, hashWord, hash);
    this.#set(bundle, markWord, 0);
    this.#set(bundle, programWord, address);
    this.#set(bundle, programLengthWord, program.length);
    this.#members.clear(bundle + membersList);
    this.#index.add(hash, bundle);
    const choice = this.#choose(bundle);
    const { what, a, b } = this.#chooser.busiest;
    this.#file(bundle, choice);
    if (what !== 0) this.#relieve(this.#keys.find(what, a, b));
    return bundle;
  }

  /** Returns the address of the member's entry. */
  join(bundle: number, handle: number): number {
    const entry = this.#members.push(bundle + membersList, handle);
    if (this.#get(bundle, membersList + listCount) <= 2) this.#showOnly(bundle);
    return entry;
  }

  /** Returns the handle of the member that is now at the entry; 0 if there is none. */
  leave(bundle: number, entry: number): number {
    const isMoved = this.#members.remove(bundle + membersList, entry);
    if (this.#get(bundle, membersList + listCount) === 1) this.#showOnly(bundle);
    return isMoved ? this.#get(entry, 0) : 0;
  }

  isEmpty(bundle: number): boolean {
    return this.#get(bundle, membersList) === 0;
  }

  /** Removes a bundle without members from the index. */
  release(bundle: number): void {
    this.#unfile(bundle);
    const address = this.#get(bundle, programWord);
    const length = this.#get(bundle, programLengthWord);
    this.#symbols.drop(this.#arena.chunks[address >>> chunkBits]!, address & offsetMask, length);
    if (address !== bundle + shortProgramWord) this.#arena.release(address);
    this.#index.delete(this.#get(bundle, hashWord), bundle);
    this.#arena.release(bundle);
  }

  #has(bundle: number, program: Program): boolean {
    if (this.#get(bundle, programLengthWord) !== program.length) return false;
    const address = this.#get(bundle, programWord);
    const words = this.#arena.chunks[address >>> chunkBits]!;
    return program.every((word, i) => words[(address & offsetMask) + i] === word);
  }

  #choose(bundle: number): Choice {
    const address = this.#get(bundle, programWord);
    return this.#chooser.choose(this.#arena.chunks[address >>> chunkBits]!, address & offsetMask);
  }

  #file(bundle: number, { keys, proof }: Choice): void {
    const several = keys.length > 1;
    this.#set(bundle, filingsWord, keys.length);
    if (several) this.#set(bundle, filingWord, this.#arena.allocate(keys.length * 2));
    const flags = (proof ? isProof : 0) | (several && !excludeEachOther(keys) ? isOneOfSeveral : 0);
    keys.forEach((each, place) => {
      const key = this.#keys.acquire(each);
      const entry = this.#keys.lists.push(key + keyList, bundle, (place << aboveShift) | flags);
      const filing = this.#filing(bundle, place);
      this.#set(filing, 0, key);
      this.#set(filing, 1, entry);
    });
    if (this.#get(bundle, membersList + listCount) === 1) this.#showOnly(bundle);
  }

  /** Puts the only member into the entries if a hit of a key is enough, and removes it when there are more. */
  #showOnly(bundle: number): void {
    const filings = this.#get(bundle, filingsWord);
    if (filings > fewFilings) return;
    const hasOne = this.#get(bundle, membersList + listCount) === 1;
    const only = (this.#get(bundle, membersList + listFirst) << aboveShift) | isOnly;
    for (let place = 0; place < filings; place += 1) {
      const entry = this.#get(this.#filing(bundle, place), 1);
      const flags = this.#get(entry, 1) & (isProof | isOneOfSeveral);
      if (flags !== isProof) return;
      this.#set(entry, 1, (hasOne ? only : place << aboveShift) | flags);
    }
  }

  #unfile(bundle: number): void {
    const filings = this.#get(bundle, filingsWord);
    for (let place = 0; place < filings; place += 1) {
      const filing = this.#filing(bundle, place);
      const key = this.#get(filing, 0);
      const entry = this.#get(filing, 1);
      if (this.#keys.lists.remove(key + keyList, entry)) {
        this.#set(this.#filingOf(key, entry), 1, entry);
      }
      if (this.#keys.count(key) === 0) this.#keys.release(key);
    }
    if (filings > 1) this.#arena.release(this.#get(bundle, filingWord));
  }

  /** The address of the key and the entry of a filing. */
  #filing(bundle: number, place: number): number {
    if (this.#get(bundle, filingsWord) < 2) return bundle + filingWord;
    return this.#get(bundle, filingWord) + place * 2;
  }

  /** The same for the filing of an entry under a key. */
  #filingOf(key: number, entry: number): number {
    const bundle = this.#get(entry, 0);
    const word = this.#get(entry, 1);
    let place = (word & isOnly) === 0 ? word >>> aboveShift : 0;
    while (this.#get(this.#filing(bundle, place), 0) !== key) place += 1;
    return this.#filing(bundle, place);
  }

  #relieve(key: number): void {
    if (this.#keys.count(key) < fewEnough) return;
    this.#chance = (Math.imul(this.#chance, 1664525) + 1013904223) >>> 0;
    const place = Math.floor((this.#chance / 0x100000000) * this.#keys.count(key));
    const bundle = this.#get(this.#keys.lists.at(key + keyList, place), 0);
    const choice = this.#choose(bundle);
    if (choice.cost * 2 >= this.#presentCost(bundle)) return;
    this.#unfile(bundle);
    this.#file(bundle, choice);
  }

  #presentCost(bundle: number): number {
    let cost = 0;
    for (let place = 0; place < this.#get(bundle, filingsWord); place += 1) {
      const key = this.#get(this.#filing(bundle, place), 0);
      cost += this.#chooser.cost(this.#keys.at(key));
    }
    return cost;
  }

  #get(address: number, word: number): number {
    return this.#arena.chunks[address >>> chunkBits]![(address & offsetMask) + word]!;
  }

  #set(address: number, word: number, value: number): void {
    this.#arena.chunks[address >>> chunkBits]![(address & offsetMask) + word] = value;
  }
}

function excludeEachOther(keys: IndexKey[]): boolean {
  const [first] = keys;
  const instruction = first ? first.what & instructionMask : exact;
  return (instruction === exact || instruction === pair) && keys.every((key) => key.what === first?.what);
}
