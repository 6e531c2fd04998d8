import { isBlockedPair, isBlockedSubscriber } from '../blocks/find-blocks.js';
import { Prisma } from '../storage/generated/client.js';

/** The subscription `s` wants events now: it is not suspended, has not ended, and its subscriber is not blocked. */
export const isOpen = Prisma.sql`(
  s.endedat is null and s.suspendedat is null and (s.endsat is null or s.endsat > statement_timestamp())
  and not ${isBlockedSubscriber(Prisma.sql`s`)})`;

/**
 * No handshake `h` is sent for a subscription that is suspended or has ended, nor to renew a grant that only such ones need,
 * nor under a block, nor to a webhook that cools down: a handshake that was queued or claimed at the moment of its response
 * does not know that. Values instead of "exists", which the planner may turn into a scan of all subscriptions.
 */
export const isWanted = Prisma.sql`(
  coalesce((select ${isOpen} from subscription s where s.id = h.subscription), true)
  and not ${isBlockedPair(Prisma.sql`h`)}
  and (h.trigger <> 'renewal' or coalesce((
    select true from subscription s where s.origin = h.origin and s.sink = h.sink and ${isOpen} limit 1), false))
  and coalesce((
    select c.until from cooldown c where c.tenant = h.tenant and c.origin = h.origin and c.sink = h.sink
  ) <= statement_timestamp(), true))`;
