import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FeedScope } from './log.js';

/** A place in the log: everything up to the position was read. Positions mean nothing in another history. */
export interface FeedPosition {
  /** A UUID. */
  epoch: string;
  position: bigint;
}

const placeBytes = 24;
const markBytes = 8;
const sealBytes = 16;

/**
 * The cursor that readers of the feed see, in base64url: 16 bytes of epoch, 8 of position, 8 of the origin's hash if
 * only that origin was read, and a seal that binds them to the tenant, and to the subscriber if only its changes were
 * read. With the seal, readers cannot forge cursors, and tenants and subscribers cannot use each other's.
 */
export function writeCursor(secret: Buffer, scope: FeedScope, { epoch, position }: FeedPosition): string {
  const { origin } = scope;
  const place = Buffer.alloc(placeBytes);
  place.write(epoch.replaceAll('-', ''), 'hex');
  place.writeBigInt64BE(position, placeBytes - 8);
  const body = origin === undefined ? place : Buffer.concat([place, markOf(origin)]);
  return Buffer.concat([body, seal(secret, scope, body)]).toString('base64url');
}

/**
 * Undefined if the cursor was not issued to this tenant, or to this subscriber. The cursor of one origin continues only with that origin,
 * because its reader has not seen other changes. The cursor of the whole tenant also continues with a single origin.
 */
export function readCursor(
  secret: Buffer,
  scope: FeedScope,
  cursor: string,
): FeedPosition | 'of_other_origin' | undefined {
  const { origin } = scope;
  const bytes = Buffer.from(cursor, 'base64url');
  const body = bytes.subarray(0, -sealBytes);
  if (body.length !== placeBytes && body.length !== placeBytes + markBytes) return undefined;
  // Decoding accepts text that encoding never produces.
  if (bytes.toString('base64url') !== cursor) return undefined;
  if (!timingSafeEqual(bytes.subarray(-sealBytes), seal(secret, scope, body))) return undefined;
  const mark = body.subarray(placeBytes);
  if (mark.length > 0 && (origin === undefined || !mark.equals(markOf(origin)))) return 'of_other_origin';
  const epoch = body.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return { epoch, position: body.readBigInt64BE(placeBytes - 8) };
}

function markOf(origin: string): Buffer {
  return createHash('sha256').update(origin).digest().subarray(0, markBytes);
}

/** A tenant's name contains no NUL, so a mark cannot be mistaken for the start of a name. */
function seal(secret: Buffer, { tenant, subscriber }: FeedScope, body: Buffer): Buffer {
  const key =
    subscriber === undefined ? secret : createHmac('sha256', secret).update(`subscriber ${subscriber}`).digest();
  const hmac = createHmac('sha256', key).update(body);
  if (body.length > placeBytes) hmac.update('\0');
  return hmac.update(tenant).digest().subarray(0, sealBytes);
}
