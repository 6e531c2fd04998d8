import { contentTag } from '../http/entity-tag.js';
import { writeInstant, Piece, writeText } from '../../matching/replica/write-bytes.js';
import type { Replica } from '../../matching/replica/replica.js';
import { bases, presentPermission, type Basis } from '../../consent/decision.js';

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
