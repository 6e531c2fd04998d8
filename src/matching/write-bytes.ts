/**
 * Text is written as bytes here, several characters at a time. A `Piece` is written up to three bytes past its end, so
 * whatever follows is written after it, and whoever makes the memory leaves room for that.
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

  /** From `at` on; returns where it ends. */
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
export function writeTwoDigits(number: number, bytes: DataView, at: number): void {
  bytes.setUint16(at, twoDigits[number]!, true);
}

/** The lower half of a word, as four hexadecimal digits. Returns where they end. */
export function writeHex(half: number, bytes: DataView, at: number): number {
  bytes.setUint16(at, twoHexDigits[(half >>> 8) & 0xff]!, true);
  bytes.setUint16(at + 2, twoHexDigits[half & 0xff]!, true);
  return at + 4;
}

/** ASCII. Returns where it ends. */
export function writeText(text: string, bytes: DataView, at: number): number {
  for (let i = 0; i < text.length; i += 1) bytes.setUint8(at + i, text.charCodeAt(i));
  return at + text.length;
}

/** Sets these bits in all bytes that are copied. Returns where it ends. */
export function copyBytes(source: DataView, from: number, to: number, bytes: DataView, at: number, bits = 0): number {
  const end = at + to - from;
  const ofFour = bits * 0x01010101;
  for (; at + 4 <= end; at += 4, from += 4) bytes.setInt32(at, source.getInt32(from, true) | ofFour, true);
  for (; at < end; at += 1, from += 1) bytes.setUint8(at, source.getUint8(from) | bits);
  return end;
}
