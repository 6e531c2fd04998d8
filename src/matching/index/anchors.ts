import { everyEvent, pair, pairOf, type IndexKey, type Keys } from './keys.js';
import { all, any, exact, lengthOf, operandShift, instructionMask, predicate, prefix, suffix } from './instructions.js';
import { useWord, type StringTable } from './string-table.js';

/**
 * An event must hit at least one of these keys for a program to be true. `proof` says that one hit is also enough.
 * `cost` estimates how often events hit them. Many events have the values that many subscriptions ask for, so the cost
 * is the number of subscriptions: for a value the programs that name it, for a pair of values its bundles.
 */
export interface Choice {
  cost: number;
  keys: IndexKey[];
  proof: boolean;
}

/** From this cost on, try pairs of attributes: a popular type and a popular source may still be a rare pair. */
const pairsFromCost = 4;
const maxPairs = 64;
/** Only the attributes with the lowest numbers form pairs: type, source and subject. */
const lastPaired = 3;

export class KeyChooser {
  /** The most popular of the single keys that could index the last program; or every event. */
  busiest = everyEvent;
  #busiestCost = 0;
  readonly #keys: Keys;
  readonly #values: StringTable;

  constructor(keys: Keys, values: StringTable) {
    this.#keys = keys;
    this.#values = values;
  }

  /**
   * The rarest keys that can index a program, by the current counts. An `all` needs only its best child, or a pair of
   * two; an `any` needs all of its children; a predicate has the keys that it implies. A program without keys is
   * indexed under every event.
   */
  choose(words: Int32Array, at: number): Choice {
    this.busiest = everyEvent;
    this.#busiestCost = 0;
    const choice = this.#choose(words, at);
    if (!choice) return { cost: Infinity, keys: [everyEvent], proof: false };
    return choice.keys.length > 1 ? { ...choice, keys: distinct(choice.keys) } : choice;
  }

  /** The cost of the bundles under a key. */
  cost({ what, a, b }: IndexKey): number {
    const instruction = what & instructionMask;
    if (instruction === pair) return this.#keys.count(this.#keys.find(what, a, b));
    const asked = this.#values.word(a, useWord);
    // Many texts begin with a short prefix.
    return instruction === exact ? asked : asked * (2 + Math.floor(16 / (this.#values.length(a) + 1)));
  }

  #choose(words: Int32Array, at: number): Choice | undefined {
    const word = words[at]!;
    const end = at + lengthOf(word);
    switch (word & instructionMask) {
      case exact:
      case prefix:
      case suffix: {
        const key = { what: word, a: words[at + 1]!, b: 0 };
        const cost = this.cost(key);
        if (cost > this.#busiestCost) {
          this.busiest = key;
          this.#busiestCost = cost;
        }
        return { cost, keys: [key], proof: true };
      }
      case all:
        return this.#best(words, at + 1, end);
      case predicate: {
        const implied = this.#best(words, at + 2, end);
        return implied && { ...implied, proof: false };
      }
      case any: {
        const union: Choice = { cost: 0, keys: [], proof: true };
        for (let child = at + 1; child < end; child += lengthOf(words[child]!)) {
          const choice = this.#choose(words, child);
          if (!choice) return undefined;
          union.cost += choice.cost;
          union.keys.push(...choice.keys);
          union.proof &&= choice.proof;
        }
        return union;
      }
      default:
        return undefined;
    }
  }

  #best(words: Int32Array, from: number, end: number): Choice | undefined {
    let found: Choice | undefined;
    for (let child = from; child < end; child += lengthOf(words[child]!)) {
      const choice = this.#choose(words, child);
      if (choice && (!found || choice.cost < found.cost)) found = { ...choice, proof: false };
    }
    if (!found || found.cost < pairsFromCost) return found;
    return this.#bestPair(words, from, end, found.cost) ?? found;
  }

  #bestPair(words: Int32Array, from: number, end: number, below: number): Choice | undefined {
    const equal: (number[] | undefined)[] = [];
    let children = 0;
    for (let child = from; child < end; child += lengthOf(words[child]!)) {
      children += 1;
      const attribute = equalAttribute(words, child);
      if (attribute === 0 || attribute > lastPaired) continue;
      const choices = equalValues(words, child);
      if (choices.length < (equal[attribute]?.length ?? Infinity)) equal[attribute] = choices;
    }
    let found: Choice | undefined;
    for (let first = 1; first < lastPaired; first += 1) {
      for (let second = first + 1; second <= lastPaired; second += 1) {
        const [left, right] = [equal[first], equal[second]];
        if (!left || !right || left.length * right.length > maxPairs) continue;
        const keys = left.flatMap((a) => right.map((b) => ({ what: pairOf(first, second), a, b })));
        const cost = keys.reduce((sum, key) => sum + this.cost(key) + 1, 0);
        // A hit of the pair proves a program that has only these two conditions.
        if (cost < (found?.cost ?? below)) found = { cost, keys, proof: children === 2 };
      }
    }
    return found;
  }
}

/** The attribute, if an instruction only compares one attribute with one or several values for equality; or 0. */
function equalAttribute(words: Int32Array, at: number): number {
  const word = words[at]!;
  if ((word & instructionMask) === exact) return word >>> operandShift;
  if ((word & instructionMask) !== any) return 0;
  const first = lengthOf(word) === 1 ? undefined : words[at + 1];
  for (let child = at + 1; child < at + lengthOf(word); child += lengthOf(words[child]!)) {
    if (words[child] !== first || (words[child]! & instructionMask) !== exact) return 0;
  }
  return first === undefined ? 0 : first >>> operandShift;
}

function equalValues(words: Int32Array, at: number): number[] {
  if ((words[at]! & instructionMask) === exact) return [words[at + 1]!];
  const values: number[] = [];
  for (let child = at + 1; child < at + lengthOf(words[at]!); child += 2) values.push(words[child + 1]!);
  return values;
}

function distinct(keys: IndexKey[]): IndexKey[] {
  const sorted = keys.toSorted((one, other) => one.what - other.what || one.a - other.a || one.b - other.b);
  return sorted.filter((key, i) => {
    const before = sorted[i - 1];
    return !before || key.what !== before.what || key.a !== before.a || key.b !== before.b;
  });
}
