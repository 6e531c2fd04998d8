import { KeyChooser, type Choice } from './anchors.js';
import { chunkBits, offsetMask, type Arena } from './arena.js';
import { EntryLists, listCount, listFirst } from './entry-list.js';
import { HashIndex } from './hash-index.js';
import { hashWords } from './hash.js';
import { keyList, pair, type Key, type Keys } from './keys.js';
import { exact, operationMask } from './operations.js';
import type { Program } from './program.js';
import type { Symbols } from './symbols.js';

/**
 * A bundle is all subscriptions with the same program: the program is kept, filed and run once for all of them.
 *
 *   filed   under its keys from its first member on; an event that hits one of them makes the bundle a candidate
 *   moved   one of its keys is asked for more and more, and another choice costs less than half: filed again under that
 *   gone    with its last member, and with it its keys, values and attributes that no other bundle has
 *
 * Keys are chosen by what is known when the bundle comes, and a key that was rare then can grow popular. Therefore each
 * new bundle makes one other look again: one by chance of those under the key that most ask for among its own. So a key
 * that grows popular is cleared in the course of the adds that make it so, a step at a time.
 */
const hashWord = 0;
/** Not 0 while a match has seen the bundle already. */
export const markWord = 1;
export const programWord = 2;
export const programLengthWord = 3;
/** How many filings there are; then key and entry of the only one, or the block that has them all. */
const filingsWord = 4;
const filingWord = 5;
export const membersList = 7;
/** A short program stands in the record, where it costs no second look at memory; a longer one has a block. */
const shortProgramWord = 10;
export const bundleWords = 16;

/**
 * In the second word of an entry under a key. An event can hit several keys of a bundle, unless all of them are about
 * the same attributes being equal to something. What stands above is the place among the bundle's filings, or the
 * handle of the only member where an event that hits the key goes to it without any further look.
 */
export const isProof = 1;
export const isOneOfSeveral = 2;
export const isOnly = 4;
export const aboveShift = 3;

/** Of so few filings the one under a key is looked for. */
const fewFilings = 8;
/** So few bundles under a key are not worth looking at again. */
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

  /** The bundle of a program. A new one is filed at once, and has no member until the caller adds one. */
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
    const { what, a, b } = this.#chooser.mostAsked;
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

  /** Returns the handle of the member that stands at the entry now, 0 if none does. */
  leave(bundle: number, entry: number): number {
    const isMoved = this.#members.remove(bundle + membersList, entry);
    if (this.#get(bundle, membersList + listCount) === 1) this.#showOnly(bundle);
    return isMoved ? this.#get(entry, 0) : 0;
  }

  isEmpty(bundle: number): boolean {
    return this.#get(bundle, membersList) === 0;
  }

  /** Unfiles and forgets a bundle without members. */
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

  /** Puts the only member into the entries, if there is but one and hitting a key is enough; and takes it out again. */
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

  /** The address of key and entry of a filing. */
  #filing(bundle: number, place: number): number {
    if (this.#get(bundle, filingsWord) < 2) return bundle + filingWord;
    return this.#get(bundle, filingWord) + place * 2;
  }

  /** The same for the filing that an entry under a key belongs to. */
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

function excludeEachOther(keys: Key[]): boolean {
  const [first] = keys;
  const operation = first ? first.what & operationMask : exact;
  return (operation === exact || operation === pair) && keys.every((key) => key.what === first?.what);
}
