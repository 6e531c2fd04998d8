import { createHmac, timingSafeEqual } from 'node:crypto';

/** A place in the log: everything up to the position was seen. Positions say nothing in another history. */
export interface Place {
  /** A UUID. */
  epoch: string;
  position: bigint;
}

const placeBytes = 24;
const sealBytes = 16;

/**
 * A cursor as readers of the feed see it: 16 bytes of epoch, 8 of position, and a seal that binds both to the tenant, in
 * base64url. The seal keeps a reader from places that it was never given, and one tenant from the cursors of another.
 */
export function writeCursor(secret: Buffer, tenant: string, { epoch, position }: Place): string {
  const place = Buffer.alloc(placeBytes);
  place.write(epoch.replaceAll('-', ''), 'hex');
  place.writeBigInt64BE(position, placeBytes - 8);
  return Buffer.concat([place, seal(secret, tenant, place)]).toString('base64url');
}

/** Undefined where the cursor is not one that was written for this tenant. */
export function readCursor(secret: Buffer, tenant: string, cursor: string): Place | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  // Decoding forgives what encoding never writes.
  if (bytes.length !== placeBytes + sealBytes || bytes.toString('base64url') !== cursor) return undefined;
  const place = bytes.subarray(0, placeBytes);
  if (!timingSafeEqual(bytes.subarray(placeBytes), seal(secret, tenant, place))) return undefined;
  const epoch = place.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return { epoch, position: place.readBigInt64BE(placeBytes - 8) };
}

/** The place has a fixed length, so what follows it needs no mark. */
function seal(secret: Buffer, tenant: string, place: Buffer): Buffer {
  return createHmac('sha256', secret).update(place).update(tenant).digest().subarray(0, sealBytes);
}
