import { inBatches } from '../storage/retention.js';
import { type Query, service, type Transaction } from '../storage/database.js';
import { keyOfPair } from '../../consent/grant.js';
import { lockPairs } from '../grants/write.js';
import { closeHandshakesOf } from '../handshake/close.js';
import { releasePairs } from './ask-webhook.js';

const maxRows = 1_000;

/** Deletes subscriptions that ended so many days ago. */
export function forgetEnded(query: Query, days: number): Promise<void> {
  return inBatches(
    query,
    maxRows,
    `with gone as (
       delete from subscription where id in (
         select id from subscription where endedat < now() - make_interval(days => $1::int)
         order by endedat limit ${maxRows} for update skip locked)
       returning 1)
     select count(*)::int as gone from gone`,
    [days],
  );
}

// The end that a consumer names. A subscription matches nothing from that moment on, and is not asked: whatever needs
// it compares `endsat` with the clock. Soon after, the sweep records the end in `endedat`, once. From then on the
// subscription counts for its pair and for the feed as if it had been deleted, until the consumer extends it.

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
    tx.change({ kind: 'subscription.expired', tenant, origin, sink, subscription: id, subscriber, cause: 'ended' });
  }
  return rows.length;
}
