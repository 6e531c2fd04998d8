import type { RegistryError } from '../../base/errors.js';
import { keyOfPair } from '../../consent/grant.js';
import { lockPairs } from '../grants/write-grant.js';
import { closeHandshakesOf } from '../handshake/close.js';
import { service, type Transaction } from '../storage/database.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import { releasePairs } from './ask-webhook.js';
import { invalid } from './definition.js';

// The end that a consumer names. A subscription matches nothing from that moment on, and is not asked: whatever needs
// it compares `endsat` with the clock. Soon after, the sweep records the end in `endedat`, once. From then on the
// subscription counts for its pair and for the feed as if it had been deleted, until the consumer extends it.

const longestMs = 5 * 366 * 86_400_000;

/**
 * The error for an end that is not in the future, or too far. An end that stays the same may have passed: a client that
 * changes something else sends back what it read.
 */
export function refuseEnd(end: Date | undefined, now: Date, present?: Date): RegistryError | undefined {
  if (end === undefined || end.getTime() === present?.getTime()) return undefined;
  const fromNowMs = end.getTime() - now.getTime();
  // The contract accepts a leap second; JavaScript does not.
  if (fromNowMs > 0 && fromNowMs <= longestMs) return undefined;
  return invalid([{ pointer: '/expiresat', rule: 'time_out_of_range', detail: subscriptionTexts.expiryOutOfRange }]);
}

interface Ended {
  id: string;
  tenant: string;
  subscriber: string;
  origin: string;
  sink: string;
  endsat: Date;
}

/**
 * Records the subscriptions whose end has passed. An extension at the same moment holds the lock of the row: then its
 * end is not due, or it extends a recorded end. Safe in several processes at once. Returns how many, at most `maxRows`.
 */
export async function recordEnds(tx: Transaction, maxRows: number): Promise<number> {
  const { sql } = tx;
  const rows = await sql.$queryRaw<Ended[]>`
    select id, tenant, subscriber, origin, sink, endsat from subscription where endsat <= now() and endedat is null
    order by endsat limit ${maxRows} for update skip locked`;
  if (rows.length === 0) return 0;
  const pairs = [...new Map(rows.map((row) => [keyOfPair(row), row])).values()];
  await lockPairs(sql, pairs);
  await sql.$executeRaw`
    update subscription set endedat = now() where id = any (${rows.map(({ id }) => id)}::uuid[])`;
  await closeHandshakesOf(sql, ...rows.map(({ id }) => id));
  await releasePairs(tx, { name: 'assent' }, pairs);
  for (const { id, tenant, subscriber, origin, sink, endsat } of rows) {
    tx.audit(service(tenant), 'subscription.expired', `subscription:${id}`, { origin, sink, expiresat: endsat });
    tx.change({ kind: 'subscription.expired', tenant, origin, sink, subscription: id, subscriber, reason: 'ended' });
  }
  return rows.length;
}
