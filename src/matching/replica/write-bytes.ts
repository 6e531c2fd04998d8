/**
 * Writes text as bytes, several characters at a time. A `Piece` is written up to three bytes past its end, so write the
 * next part after it, and leave room for these bytes.
 */
export class Piece {
  readonly length: number;
  readonly #words: Int32Array;

  /** ASCII. */
  constructor(text: string) {
    this.length = text.length;
    this.#words = Int32Array.from({ length: (text.length + 3) >>> 2 }, (_, at) =>
      Buffer.from(text.slice(at * 4, at * 4 + 4).padEnd(4)).readInt32LE(),
    );
  }

  /** Writes at `at`; returns the end. */
  write(bytes: DataView, at: number): number {
    const words = this.#words;
    for (let i = 0; i < words.length; i += 1) bytes.setInt32(at + i * 4, words[i]!, true);
    return at + this.length;
  }
}

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

const twoDigits = Uint16Array.from({ length: 100 }, (_, number) => wordOf(String(number).padStart(2, '0')));
const twoHexDigits = Uint16Array.from({ length: 256 }, (_, byte) => wordOf(byte.toString(16).padStart(2, '0')));

function wordOf(text: string): number {
  return Buffer.from(text).readUInt16LE();
}

/** An integer from 0 to 99. */
function writeTwoDigits(number: number, bytes: DataView, at: number): void {
  bytes.setUint16(at, twoDigits[number]!, true);
}

/** Writes the lower half of a word as four hexadecimal digits; returns the end. */
export function writeHex(half: number, bytes: DataView, at: number): number {
  bytes.setUint16(at, twoHexDigits[(half >>> 8) & 0xff]!, true);
  bytes.setUint16(at + 2, twoHexDigits[half & 0xff]!, true);
  return at + 4;
}

/** Writes ASCII; returns the end. */
export function writeText(text: string, bytes: DataView, at: number): number {
  for (let i = 0; i < text.length; i += 1) bytes.setUint8(at + i, text.charCodeAt(i));
  return at + text.length;
}

/** Copies bytes and sets these bits in each of them; returns the end. */
export function copyBytes(source: DataView, from: number, to: number, bytes: DataView, at: number, bits = 0): number {
  const end = at + to - from;
  const ofFour = bits * 0x01010101;
  for (; at + 4 <= end; at += 4, from += 4) bytes.setInt32(at, source.getInt32(from, true) | ofFour, true);
  for (; at < end; at += 1, from += 1) bytes.setUint8(at, source.getUint8(from) | bits);
  return end;
}

const dayMs = 86_400_000;
const form = new Piece('0000-00-00T00:00:00.000Z');
const scratch = Buffer.alloc(form.length);
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, scratch.length);

/** Milliseconds since 1970 in the format of `Date.toISOString`, for the years 1970 to 9999, but much faster. */
export function instantText(time: number): string {
  writeInstant(time, scratchView, 0);
  return scratch.toString('latin1');
}

/** Writes the same at `at`; returns the end. */
export function writeInstant(time: number, bytes: DataView, at: number): number {
  const end = form.write(bytes, at);
  const day = Math.floor(time / dayMs);
  writeDate(day, bytes, at);
  // `| 0` marks these as integers: other divisions take several times as long.
  const ms = (time - day * dayMs) | 0;
  const seconds = (ms / 1_000) | 0;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  writeTwoDigits(hours, bytes, at + 11);
  writeTwoDigits(minutes - hours * 60, bytes, at + 14);
  writeTwoDigits(seconds - minutes * 60, bytes, at + 17);
  const thousandths = ms - seconds * 1_000;
  const hundredths = (thousandths / 10) | 0;
  writeTwoDigits(hundredths, bytes, at + 20);
  bytes.setUint8(at + 22, 0x30 + thousandths - hundredths * 10);
  return end;
}

/** Years begin in March here, so that a leap day is the last day of its year; a cycle is four hundred years. */
function writeDate(day: number, bytes: DataView, at: number): void {
  const sinceMarch = (day + 719_468) | 0;
  const cycle = (sinceMarch / 146_097) | 0;
  const ofCycle = sinceMarch - cycle * 146_097;
  const leapDays = ((ofCycle / 1_460) | 0) - ((ofCycle / 36_524) | 0) + ((ofCycle / 146_096) | 0);
  const yearOfCycle = ((ofCycle - leapDays) / 365) | 0;
  const ofYear = ofCycle - (365 * yearOfCycle + (yearOfCycle >> 2) - ((yearOfCycle / 100) | 0));
  const month = ((5 * ofYear + 2) / 153) | 0;
  const year = yearOfCycle + cycle * 400 + (month < 10 ? 0 : 1);
  const century = (year / 100) | 0;
  writeTwoDigits(century, bytes, at);
  writeTwoDigits(year - century * 100, bytes, at + 2);
  writeTwoDigits(month < 10 ? month + 3 : month - 9, bytes, at + 5);
  writeTwoDigits(ofYear - (((153 * month + 2) / 5) | 0) + 1, bytes, at + 8);
}
