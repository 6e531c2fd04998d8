import { limits } from '../../base/limits.js';
import { beginHash, finishHash, stepHash } from '../../matching/index/hash.js';
import type { AskedPairs } from '../../matching/replica/pair-table.js';
import { viewOf } from '../../matching/replica/write-bytes.js';

const [comma, opening, closing] = Buffer.from(',[]') as unknown as [number, number, number];
export const beforeOrigin = Buffer.from('{"origin":"');
const beforeSink = Buffer.from('","sink":"');
const behindSink = Buffer.from('"}');
export const maxPairs = limits.entries;
export const longest = { origin: limits.nameLength, sink: limits.urlLength };

/**
 * Fast path for pairs as programs write them: without white space, origin first, no character that JSON escapes. Such a
 * text always fits the contract, and reading it takes a tenth of the time. The result is the positions of the pairs, no
 * objects.
 */
export class PlainPairs implements AskedPairs {
  count = 0;
  bytes: Uint8Array = Buffer.alloc(0);
  readonly originFrom = new Int32Array(maxPairs);
  readonly originTo = new Int32Array(maxPairs);
  readonly sinkFrom = new Int32Array(maxPairs);
  readonly sinkTo = new Int32Array(maxPairs);
  readonly sinkHashes = new Int32Array(maxPairs);
  /** Whether a pair has the same origin as the one before it, in the same case. */
  readonly sharesOrigin: boolean[] = [];
  /** The numbers of the origins; the caller fills them in. */
  readonly origins = new Int32Array(maxPairs);

  /** False for any other text, which takes the slow path. */
  read(bytes: Uint8Array): boolean {
    const view = viewOf(bytes);
    let at = 0;
    let count = 0;
    let from = 0;
    do {
      if (bytes[at] !== (count === 0 ? opening : comma) || count === maxPairs) return false;
      const before = from;
      from = at + 1;
      // Most batches are for one origin, so their pairs start with the same bytes.
      const shares = count > 0 && areAlike(view, before, from, this.sinkFrom[count - 1]! - before);
      const originFrom = shares ? from + beforeOrigin.length : behind(beforeOrigin, bytes, from);
      if (originFrom < 0) return false;
      let originTo = shares ? from + this.originTo[count - 1]! - before : originFrom;
      while (!shares && isOfOrigin(bytes[originTo]!)) originTo += 1;
      const sinkFrom = shares ? originTo + beforeSink.length : behind(beforeSink, bytes, originTo);
      if (sinkFrom < 0) return false;
      at = sinkFrom;
      let hash = beginHash;
      for (; isPlain(bytes[at]!); at += 1) hash = stepHash(hash, bytes[at]!);
      const sinkTo = at;
      at = behind(behindSink, bytes, at);
      if (at < 0 || !fits(originTo - originFrom, longest.origin) || !fits(sinkTo - sinkFrom, longest.sink))
        return false;
      this.sharesOrigin[count] = shares;
      this.originFrom[count] = originFrom;
      this.originTo[count] = originTo;
      this.sinkFrom[count] = sinkFrom;
      this.sinkTo[count] = sinkTo;
      this.sinkHashes[count] = finishHash(hash);
      count += 1;
    } while (bytes[at] !== closing);
    this.count = count;
    this.bytes = bytes;
    return at === bytes.length - 1;
  }
}

/** The position after the expected bytes; -1 if they are not there. */
function behind(expected: Uint8Array, bytes: Uint8Array, at: number): number {
  for (let i = 0; i < expected.length; i += 1) if (bytes[at + i] !== expected[i]) return -1;
  return at + expected.length;
}

/** Whether the bytes at two positions are equal; false past the end. */
function areAlike(view: DataView, a: number, b: number, length: number): boolean {
  if (b + length > view.byteLength) return false;
  let i = 0;
  for (; i + 4 <= length; i += 4) if (view.getInt32(a + i) !== view.getInt32(b + i)) return false;
  for (; i < length; i += 1) if (view.getInt8(a + i) !== view.getInt8(b + i)) return false;
  return true;
}

function fits(length: number, longest: number): boolean {
  return length > 0 && length <= longest;
}

/** A letter, a digit, a dot or a hyphen. */
export function isOfOrigin(character: number): boolean {
  const lower = character | 0x20;
  return (
    (lower >= 0x61 && lower <= 0x7a) ||
    (character >= 0x30 && character <= 0x39) ||
    character === 0x2e ||
    character === 0x2d
  );
}

/** A single-byte character that JSON does not escape. A URI as it is sent has no others. */
export function isPlain(character: number): boolean {
  return character > 0x20 && character < 0x7f && character !== 0x22 && character !== 0x5c;
}

export function isPlainText(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (!isPlain(text.charCodeAt(i))) return false;
  return true;
}
