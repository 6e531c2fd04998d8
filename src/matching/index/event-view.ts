import { canonicalString, coreNames, type ContextAttributes } from '../../events/context-attributes.js';
import { hashText } from './hash.js';
import {
  all,
  any,
  exact,
  lengthOf,
  notExact,
  notPredicate,
  notPrefix,
  operandShift,
  instructionMask,
  predicate,
  prefix,
  suffix,
} from './instructions.js';
import { useWord } from './string-table.js';
import type { Symbols } from './symbols.js';
import { Work } from '../match/work.js';

const absent = -1;
const unknown = -2;

/**
 * The current event in the numbers of the index: by attribute number, its text and the number of its value (0 for a
 * value that no filter compares with). The number is guessed from the hash, and the texts are compared when it matters.
 * Only attributes that some filter names are read: other attributes cost nothing, and filters on a million names cost
 * nothing for events without them.
 */
export class EventView {
  /** Numbers of the event's attributes that filters name; the first `count` are valid. */
  readonly present: number[] = [];
  count = 0;
  readonly texts: (string | undefined)[] = [];
  /** A guess; compare with `has`. */
  readonly values: number[] = [];
  /** Hashes of texts, as far as they were computed. */
  readonly hashes: number[] = [];
  readonly #isGuess: boolean[] = [];
  work = new Work();
  #event: ContextAttributes | undefined;
  readonly #symbols: Symbols;

  constructor(symbols: Symbols) {
    this.#symbols = symbols;
    this.#growTo(coreNames.length);
  }

  load(event: ContextAttributes, work: Work): void {
    this.#event = event;
    this.work = work;
    this.#see(1, event.type);
    this.#see(2, event.source);
    this.#see(3, event.subject);
    this.#see(4, event.id);
    this.#see(5, event.specversion);
    this.#see(6, event.time);
    this.#see(7, event.datacontenttype);
    this.#see(8, event.dataschema);
    const { attributes } = this.#symbols;
    if (event.extensions === undefined || attributes.size === coreNames.length) return;
    for (const [name, value] of event.extensions) {
      const attribute = attributes.find(name);
      if (attribute > coreNames.length) this.#see(attribute, canonicalString(value));
    }
  }

  unload(): void {
    this.#event = undefined;
    for (; this.count > 0; this.count -= 1) {
      const attribute = this.present[this.count - 1]!;
      this.texts[attribute] = undefined;
      this.values[attribute] = absent;
    }
  }

  /** Guesses the number of an attribute's value by the hash of its text. */
  guess(attribute: number): void {
    this.values[attribute] = this.#symbols.values.guess(this.texts[attribute]!, this.hashes[attribute]!);
    this.#isGuess[attribute] = true;
  }

  /** Whether an attribute of the event has the value. */
  has(attribute: number, value: number): boolean {
    if (this.values[attribute] === unknown) {
      this.hashes[attribute] = hashText(this.texts[attribute]!);
      this.guess(attribute);
    }
    if (this.values[attribute] !== value) return false;
    if (this.#isGuess[attribute]) {
      this.#isGuess[attribute] = false;
      if (!this.#symbols.values.is(value, this.texts[attribute]!)) this.values[attribute] = 0;
    }
    return this.values[attribute] === value;
  }

  /** Whether the instruction at a place is true for the event. The result is invalid if it stopped the work. */
  holds(words: Int32Array, at: number): boolean {
    const word = words[at]!;
    const instruction = word & instructionMask;
    if (instruction < all) return this.#leafHolds(instruction, word >>> operandShift, words[at + 1]!);
    const end = at + (word >>> operandShift);
    switch (instruction) {
      case all:
        for (let child = at + 1; child < end; child += lengthOf(words[child]!)) {
          if (!this.holds(words, child)) return false;
        }
        return true;
      case any:
        for (let child = at + 1; child < end; child += lengthOf(words[child]!)) {
          if (this.holds(words, child)) return true;
        }
        return false;
      case predicate:
      case notPredicate:
        return this.work.test(this.#symbols.predicate(words[at + 1]!), this.#event!) === (instruction === predicate);
      default:
        throw new Error(`There is no instruction ${instruction}.`);
    }
  }

  #leafHolds(instruction: number, attribute: number, value: number): boolean {
    if (instruction === exact) return this.has(attribute, value);
    if (instruction === notExact) return !this.has(attribute, value);
    const text = this.texts[attribute];
    if (text === undefined) return instruction === notPrefix || instruction > suffix;
    const { values } = this.#symbols;
    if (instruction === prefix) return values.begins(value, text);
    if (instruction === notPrefix) return !values.begins(value, text);
    return values.ends(value, text) === (instruction === suffix);
  }

  #see(attribute: number, text: string | undefined): void {
    if (text === undefined) return;
    if (attribute <= coreNames.length && this.#symbols.attributes.word(attribute, useWord) === 1) return;
    if (this.texts.length <= attribute) this.#growTo(attribute);
    this.present[this.count] = attribute;
    this.count += 1;
    this.texts[attribute] = text;
    this.values[attribute] = unknown;
  }

  #growTo(attribute: number): void {
    while (this.texts.length <= attribute) {
      this.texts.push(undefined);
      this.values.push(absent);
      this.hashes.push(0);
      this.#isGuess.push(false);
    }
  }
}
