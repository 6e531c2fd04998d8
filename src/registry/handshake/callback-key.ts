import { Prisma, type handshake as HandshakeRow } from '../storage/generated/client.js';
import { beforeAllIds, isUuid } from '../../base/files/ids.js';
import type { Sql } from '../storage/database.js';
import { hashCallbackKey, isSameHash } from './attempt.js';
import { callbackUnknown } from './callback-consent.js';
import type { HeaderLine } from '../../consent/handshake.js';

/** What a callback URL contains: the id of the handshake, and the secret that authenticates the caller. */
export interface CallbackKey {
  handshake: string;
  key: string;
}

/** A handshake with the attempt that offered the key. */
export type OfferedHandshake = HandshakeRow & {
  callbackexpiresat: Date;
  requestheaders: HeaderLine[];
  /** By the database's clock. */
  isexpired: boolean;
};

/**
 * The handshake that offered the key, open or not; `isLocked` locks its row until the transaction ends. RegistryError
 * `callback_unknown` if no handshake did. Every key of the handshake is compared, so that the timing reveals nothing.
 */
export async function findByKey(
  sql: Sql,
  { handshake, key }: CallbackKey,
  isLocked = false,
): Promise<OfferedHandshake> {
  const rows = await sql.$queryRaw<Array<OfferedHandshake & { callbackkeyhash: Uint8Array }>>`
    select h.*, a.callbackkeyhash, a.callbackexpiresat, a.requestheaders, a.callbackexpiresat <= now() as isexpired
    from handshake h join attempt a on a.handshake = h.id
    where h.id = ${isUuid(handshake) ? handshake : beforeAllIds}::uuid and a.callbackkeyhash is not null
    ${isLocked ? Prisma.sql`for update of h` : Prisma.empty}`;
  const hash = hashCallbackKey(key);
  const found = rows.filter((row) => isSameHash(row.callbackkeyhash, hash))[0];
  if (found === undefined) throw callbackUnknown();
  return found;
}

/** Why the key is no longer valid. */
export function whyClosed({
  callbackopen,
  isexpired,
}: OfferedHandshake): 'callback_closed' | 'callback_expired' | undefined {
  if (!callbackopen) return 'callback_closed';
  return isexpired ? 'callback_expired' : undefined;
}

/** The requests per minute that were requested with this key. A retried renewal may request another rate. */
export function offeredRate({ requestheaders }: OfferedHandshake): number | undefined {
  const header = requestheaders.find(([name]) => name === 'WebHook-Request-Rate');
  return header && Number(header[1]);
}

/** The target in the audit record of a decision on this handshake. */
export function targetOf({ id, subscription }: OfferedHandshake): string {
  return subscription === null ? `handshake:${id}` : `subscription:${subscription}`;
}
