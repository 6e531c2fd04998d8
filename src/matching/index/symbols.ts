import { coreNames } from '../../events/context-attributes.js';
import { compileOther, type Anchors, type Dialects, type Predicate } from '../filters/predicate.js';
import type { Arena } from './arena.js';
import { all, notPredicate, operandShift, instructionMask, predicate } from './instructions.js';
import { StringTable } from './string-table.js';

/**
 * The symbols of programs, by number: attribute names, values and compiled predicates. Each is stored once, for as long
 * as a stored program refers to it. While a program is compiled, its symbols are pending; `keep` adds references for
 * the finished program, and `settle` releases the pending ones.
 */
export class Symbols {
  readonly attributes: StringTable;
  readonly values: StringTable;
  readonly #predicates: StringTable;
  readonly #compiled: (Predicate | undefined)[] = [];
  readonly #pending = { attributes: [] as number[], values: [] as number[], predicates: [] as number[] };

  constructor(arena: Arena) {
    this.attributes = new StringTable(arena);
    this.values = new StringTable(arena);
    this.#predicates = new StringTable(arena);
    // The attributes of the specification have fixed numbers, from 1.
    for (const name of coreNames) this.attributes.acquire(name);
  }

  get bytes(): number {
    return this.attributes.bytes + this.values.bytes + this.#predicates.bytes;
  }

  predicate(number: number): Predicate {
    return this.#compiled[number]!;
  }

  acquireAttribute(name: string): number {
    const number = this.attributes.acquire(name);
    this.#pending.attributes.push(number);
    return number;
  }

  acquireValue(value: string): number {
    const number = this.values.acquire(value);
    this.#pending.values.push(number);
    return number;
  }

  acquirePredicate(dialects: Dialects, dialect: string, text: string): { number: number; anchors: Anchors } {
    const name = `${dialect} ${text}`;
    const known = this.#predicates.find(name);
    const compiled = known === 0 ? compileOther(dialects, dialect, text) : this.predicate(known);
    const number = this.#predicates.acquire(name);
    this.#compiled[number] = compiled;
    this.#pending.predicates.push(number);
    return { number, anchors: compiled.anchors };
  }

  keep(words: Int32Array, at: number, length: number): void {
    this.#each(words, at, length, retain);
  }

  drop(words: Int32Array, at: number, length: number): void {
    this.#each(words, at, length, this.#release);
  }

  settle(): void {
    const { attributes, values, predicates } = this.#pending;
    for (const number of attributes) this.#release(this.attributes, number);
    for (const number of values) this.#release(this.values, number);
    for (const number of predicates) this.#release(this.#predicates, number);
    attributes.length = values.length = predicates.length = 0;
  }

  #each(words: Int32Array, from: number, length: number, use: (table: StringTable, number: number) => void): void {
    for (let at = from; at < from + length;) {
      const instruction = words[at]! & instructionMask;
      if (instruction < all) {
        use(this.attributes, words[at]! >>> operandShift);
        use(this.values, words[at + 1]!);
        at += 2;
      } else if (instruction === predicate || instruction === notPredicate) {
        use(this.#predicates, words[at + 1]!);
        at += 2;
      } else {
        at += 1;
      }
    }
  }

  readonly #release = (table: StringTable, number: number): void => {
    if (table.release(number) && table === this.#predicates) this.#compiled[number] = undefined;
  };
}

function retain(table: StringTable, number: number): void {
  table.retain(number);
}
