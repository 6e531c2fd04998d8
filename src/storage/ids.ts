import { randomFillSync } from 'node:crypto';
import { NIL, v7 } from 'uuid';

const bytesEach = 16;
const random = new Uint8Array(256 * bytesEach);
let used = random.length;
let lastMs = -Infinity;
let count = 0;

/**
 * A UUID of version 7 (RFC 9562), in the order of their making within this process. As the library makes them by
 * itself, but that it is given random bytes of which many are fetched at once: to fetch those of one takes longer than
 * the rest, and a registration needs six.
 */
export function uuidv7(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const bytes = random.subarray(used, (used += bytesEach));
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    // Of the 32 bits that count, from the lower half.
    count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4) >>> 1;
  } else if ((count += 1) > 0xffffffff) {
    lastMs += 1;
    count = 0;
  }
  return v7({ random: bytes, msecs: lastMs, seq: count });
}

/** As Postgres writes one: in lower case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

/** Comes before every id, and is none. */
export const beforeAllIds: string = NIL;
