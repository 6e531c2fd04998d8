import { beginHash, finishHash, stepHash } from '../../matching/index/hash.js';
import { Piece, viewOf, writeText } from '../../matching/replica/write-bytes.js';
import type { AskedPair } from '../../consent/decision.js';
import { isOfOrigin, isPlain, isPlainText, longest } from './read-pairs.js';
import { maxBesidesPair } from './write-permission.js';

const [originIs, sinkIs] = ['origin=', '&sink='];
const [percent, ampersand, plus] = Buffer.from('%&+') as unknown as [number, number, number];
const beforeOrigin = new Piece('{"origin":"');
const beforeSink = new Piece('","sink":"');

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
    let to = beforeSink.write(view, writeText(origin, view, beforeOrigin.write(view, 0)));
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
