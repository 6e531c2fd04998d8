/**
 * 32-bit hashes. Seed and multiplier are random for each process, so that no client can choose subscriptions or events
 * that collide.
 */
const [seed = 1, random = 1] = crypto.getRandomValues(new Int32Array(2));
const multiplier = (random & ~7) | 5;
/** A constant instead of a global for each character: in a `node:vm` context, as in tests, a global costs a call. */
const { imul } = Math;

export function hashText(text: string): number {
  return finishHash(hashOn(beginHash, text, 0, text.length));
}

export function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = beginHash;
  for (let at = from; at < to; at += 1) hash = stepHash(hash, bytes[at]!);
  return finishHash(hash);
}

export function hashNumbers(a: number, b: number, c: number): number {
  let hash = imul(seed ^ a, multiplier);
  hash = imul((hash ^ (hash >>> 15)) + b, multiplier);
  hash = imul((hash ^ (hash >>> 15)) + c, multiplier);
  return finishHash(hash);
}

export function hashWords(words: readonly number[]): number {
  let hash = seed;
  for (const word of words) hash = imul(hash ^ (hash >>> 15) ^ word, multiplier);
  return finishHash(hash);
}

/** For rolling hashes along a text: begin, step for each character, finish wherever a hash is needed. */
export const beginHash = seed;

export function stepHash(hash: number, character: number): number {
  return imul(hash ^ character, multiplier);
}

/** The steps from one place of a text to another. */
export function hashOn(hash: number, text: string, from: number, to: number): number {
  for (let at = from; at < to; at += 1) hash = stepHash(hash, text.charCodeAt(at));
  return hash;
}

/** The same for a text that is read backwards; places are counted from its end. */
export function hashBack(hash: number, text: string, from: number, to: number): number {
  for (let at = text.length - from; at > text.length - to; at -= 1) hash = stepHash(hash, text.charCodeAt(at - 1));
  return hash;
}

/** Mixes all bits, so that the bits that choose the slot are evenly distributed. */
export function finishHash(hash: number): number {
  hash = imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
