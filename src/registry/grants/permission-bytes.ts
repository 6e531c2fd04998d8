import { limits } from '../../base/limits.js';
import { beginHash, finishHash, stepHash } from '../../matching/index/hash.js';
import type { AskedPairs } from '../../matching/replica/pair-table.js';
import { viewOf, Piece, writeText, writeInstant } from '../../matching/replica/write-bytes.js';
import { type AskedPair, bases, presentPermission, type Basis } from '../../consent/decision.js';
import { contentTag } from '../http/entity-tag.js';
import type { Replica } from '../../matching/replica/replica.js';

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

const [originIs, sinkIs] = ['origin=', '&sink='];
const [percent, ampersand, plus] = Buffer.from('%&+') as unknown as [number, number, number];
const openingPiece = new Piece('{"origin":"');
const middlePiece = new Piece('","sink":"');

/**
 * A pair without characters that JSON escapes, as the beginning of the response to a look-up, up to its sink. One pass
 * over the request decodes, writes and hashes it. Each pair overwrites the one before.
 */
export class PlainPair {
  /** With space for the rest of the response. */
  readonly bytes = Buffer.alloc(longest.origin + longest.sink + maxBesidesPair);
  readonly view = viewOf(this.bytes);
  origin = '';
  sinkFrom = 0;
  sinkTo = 0;
  /** `hashBytes` of the sink. */
  sinkHash = 0;

  /** Reads the pair of a query as programs write it, which always fits the contract; false for any other query. */
  readQuery(query: string): boolean {
    if (!query.startsWith(originIs)) return false;
    let at = originIs.length;
    while (isOfOrigin(query.charCodeAt(at))) at += 1;
    if (at === originIs.length || !query.startsWith(sinkIs, at)) return false;
    return this.#take(query.slice(originIs.length, at).toLowerCase(), query, at + sinkIs.length);
  }

  /** False if something in it is escaped. */
  set({ origin, sink }: AskedPair): boolean {
    return isPlainText(origin) && this.#take(origin, sink);
  }

  get sink(): string {
    return this.bytes.toString('latin1', this.sinkFrom, this.sinkTo);
  }

  /** The sink is the whole text, or the part of a query from `queryFrom` on. */
  #take(origin: string, text: string, queryFrom?: number): boolean {
    if (origin.length > longest.origin) return false;
    const { view } = this;
    let to = middlePiece.write(view, writeText(origin, view, openingPiece.write(view, 0)));
    const maxTo = to + longest.sink;
    this.origin = origin;
    this.sinkFrom = to;
    let hash = beginHash;
    for (let at = queryFrom ?? 0; at < text.length; at += 1, to += 1) {
      let character = text.charCodeAt(at);
      if (queryFrom !== undefined) {
        if (character === ampersand || character === plus) return false;
        if (character === percent) {
          character = hexadecimal(text, at + 1);
          at += 2;
        }
      }
      if (!isPlain(character) || to === maxTo) return false;
      view.setUint8(to, character);
      hash = stepHash(hash, character);
    }
    this.sinkTo = to;
    this.sinkHash = finishHash(hash);
    return to > this.sinkFrom;
  }
}

/** The value of two digits; negative if they are not hexadecimal. */
function hexadecimal(text: string, at: number): number {
  return (digit(text.charCodeAt(at)) << 4) | digit(text.charCodeAt(at + 1));
}

function digit(character: number): number {
  if (character >= 0x30 && character <= 0x39) return character - 0x30;
  const lower = character | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/**
 * The response for a permitted pair, written as bytes. Most look-ups return this, and an object that only JSON.stringify
 * sees would cost more than the look-up. The text equals that of `presentPermission`.
 */
const beforeRate = new Piece('","allowed":true,"allowedrate":');
const noLimit = new Piece('"*"');
const beforeExpiry = new Piece(',"expiresat":"');
const basisAndBeforeId = Object.fromEntries(
  bases.map((basis) => [basis, new Piece(`","basis":"${basis}","grant":"`)]),
) as Record<Basis, Piece>;
const end = new Piece('"}');

/** The most bytes that the response for a pair has in addition to its origin and its sink. */
export const maxBesidesPair = 320;

/** Writes from the quotation mark after the sink on; returns the end. */
export function writeGranted(pairs: Replica['pairs'], pair: number, bytes: DataView, at: number): number {
  const rate = pairs.rate(pair);
  at = beforeRate.write(bytes, at);
  at = rate === '*' ? noLimit.write(bytes, at) : writeText(String(rate), bytes, at);
  at = writeInstant(pairs.expiresAt(pair), bytes, beforeExpiry.write(bytes, at));
  at = basisAndBeforeId[pairs.basis(pair)].write(bytes, at);
  return end.write(bytes, pairs.writeGrantId(pair, bytes, at));
}

const [lengthOfInstant, lengthOfId] = [24, 36];
/** Changes when the form of the response changes. */
const form = contentTag(
  JSON.stringify(
    presentPermission('o', 's', {
      denial: undefined,
      grant: { id: '', basis: 'response', allowedRate: 1, expiresAt: 0, heldUntil: undefined },
    }),
  ),
).slice(1, 7);

/** A strong validator of such a response, cheaper than a hash: everything in it except the pair that was asked for. */
export function tagOfGranted(pairs: Replica['pairs'], pair: number, answer: string): string {
  const basis = pairs.basis(pair);
  const id = answer.length - end.length - lengthOfId;
  const instant = id - basisAndBeforeId[basis].length - lengthOfInstant;
  const [expiry, grant] = [answer.slice(instant, instant + lengthOfInstant), answer.slice(id, id + lengthOfId)];
  return `"${form}.${pairs.rate(pair)}.${expiry}.${basis}.${grant}"`;
}
