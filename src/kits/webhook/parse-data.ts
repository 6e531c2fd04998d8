import { asciiText, utf8Bytes } from '../../base/formats/bytes.js';
import {
  brace,
  braceEnd,
  bracket,
  bracketEnd,
  comma,
  decodeString,
  quote,
  skipSpace,
  skipString,
  skipValue,
  startOf,
} from '../../base/formats/json-text.js';
import type { Fault } from '../../base/errors.js';
import { escapePointer } from '../../base/formats/json.js';
import { limits } from '../../base/limits.js';

/**
 * What an integer becomes that a number cannot hold, which is one above 9,007,199,254,740,991: a BigInt, its digits, or
 * a fault.
 */
export type LargeIntegers = 'bigint' | 'string' | 'refuse';

/** Sixteen digits, or an exponent of three: without them, a number holds every integer, and none is infinite. */
const mayBeInexact = /\d{16}|[eE]\+?\d{3}/;
const inexact = 'A number cannot hold this exactly (RFC 7493, section 2.2). Send it as a string.';
/** The time that a BigInt takes grows with the square of its length. */
const maxDigits = 1_000;

/**
 * Parses JSON as `JSON.parse` does, and changes no integer. Throws a SyntaxError. Pointers of faults begin with `pointer`.
 * (`JSON.parse` shows a reviver the text of a number from Node 22 on, not in Node 20.)
 */
export function parseData(
  text: string,
  large: LargeIntegers,
  pointer = '',
): { value: unknown } | { faults: Array<Fault<string>> } {
  const value = JSON.parse(text) as unknown;
  if (!mayBeInexact.test(text)) return { value };
  const reading = new ExactReading(utf8Bytes(text), large);
  const exact = reading.read(pointer);
  return reading.faults.length > 0 ? { faults: reading.faults } : { value: exact };
}

/** Reads bytes that are known to be JSON. */
class ExactReading {
  readonly faults: Array<Fault<string>> = [];
  readonly #bytes: Uint8Array;
  readonly #large: LargeIntegers;
  #at: number;

  constructor(bytes: Uint8Array, large: LargeIntegers) {
    this.#bytes = bytes;
    this.#large = large;
    this.#at = startOf(bytes);
  }

  /** The value at the present position, which moves to the end of it. */
  read(pointer: string): unknown {
    const first = this.#bytes[this.#at];
    if (first === brace) return this.#readObject(pointer);
    if (first === bracket) return this.#readArray(pointer);
    if (first === quote) return this.#readString();
    const text = this.#take(skipValue(this.#bytes, this.#at));
    return /^[tfn]/.test(text) ? (JSON.parse(text) as unknown) : this.#number(text, pointer);
  }

  #readObject(pointer: string): object {
    const members: Array<[string, unknown]> = [];
    this.#skip();
    while (this.#bytes[this.#at] !== braceEnd) {
      const name = this.#readString();
      // To the colon, and behind it.
      this.#at = skipSpace(this.#bytes, this.#at);
      this.#skip();
      members.push([name, this.read(`${pointer}/${escapePointer(name)}`)]);
      this.#skipComma();
    }
    this.#at += 1;
    // As JSON.parse: the last of two equal names, and `__proto__` is a name like others.
    return Object.fromEntries(members);
  }

  #readArray(pointer: string): unknown[] {
    const values: unknown[] = [];
    this.#skip();
    while (this.#bytes[this.#at] !== bracketEnd) {
      values.push(this.read(`${pointer}/${values.length}`));
      this.#skipComma();
    }
    this.#at += 1;
    return values;
  }

  #readString(): string {
    const from = this.#at + 1;
    this.#at = skipString(this.#bytes, from);
    return decodeString(this.#bytes, from, this.#at - 1);
  }

  #number(text: string, pointer: string): unknown {
    const value = Number(text);
    const [integer] = /^-?\d+(?=(?:\.0+)?$)/.exec(text) ?? [];
    const isHeld = integer === undefined ? Math.abs(value) !== Infinity : Number.isSafeInteger(value);
    if (isHeld) return value;
    if (integer !== undefined && integer.length <= maxDigits && this.#large !== 'refuse') {
      return this.#large === 'bigint' ? BigInt(integer) : integer;
    }
    if (this.faults.length < limits.faults) {
      this.faults.push({ pointer, rule: 'value_out_of_range', detail: inexact });
    }
    return value;
  }

  #take(end: number): string {
    const text = asciiText(this.#bytes, this.#at, end);
    this.#at = end;
    return text;
  }

  /** One character, and the space behind it. */
  #skip(): void {
    this.#at = skipSpace(this.#bytes, this.#at + 1);
  }

  #skipComma(): void {
    this.#at = skipSpace(this.#bytes, this.#at);
    if (this.#bytes[this.#at] === comma) this.#skip();
  }
}
