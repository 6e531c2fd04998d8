import { randomFillSync } from 'node:crypto';

/**
 * UUIDs of version 7 (RFC 9562, section 5.7): in the order of their making within this process, and random otherwise.
 * Randomness is fetched for many at a time, for a registration needs six of them.
 */
export function createIds(clock: () => number = Date.now): () => string {
  const random = Buffer.allocUnsafe(4_096);
  let used = random.length;
  let lastMs = -1;
  let count = 0;
  return () => {
    if (used + 10 > random.length) {
      randomFillSync(random);
      used = 0;
    }
    const ms = clock();
    if (ms > lastMs) {
      lastMs = ms;
      // Twelve bits that count within the millisecond, from the lower half of what they can hold.
      count = random.readUInt16BE(used) & 0x7ff;
    } else if ((count += 1) > 0xfff) {
      lastMs += 1;
      count = 0;
    }
    const head = lastMs.toString(16).padStart(12, '0');
    const tail = random.toString('hex', used + 2, used + 10);
    used += 10;
    const variant = ((Number.parseInt(tail[0] as string, 16) & 0x3) | 0x8).toString(16);
    const counted = count.toString(16).padStart(3, '0');
    return `${head.slice(0, 8)}-${head.slice(8)}-7${counted}-${variant}${tail.slice(1, 4)}-${tail.slice(4)}`;
  };
}

export const newId = createIds();
