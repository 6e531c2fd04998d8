import { closeHandshakesOfOrigin } from '../handshake/close.js';
import type { Actor, Transaction } from '../storage/database.js';

/**
 * Deletes the subscriptions of an origin that goes to another tenant, as if each had been deleted. The origin is locked, so none
 * joins; a change or a handshake that is in flight waits for the rows, and finds them gone.
 */
export async function removeSubscriptionsOf(
  tx: Transaction,
  actor: Actor,
  origin: string,
  maxRows: number,
): Promise<number> {
  const rows = await tx.sql.$queryRaw<Array<{ id: string; subscriber: string; sink: string }>>`
    with going as materialized (
      select id from subscription where origin = ${origin} order by id limit ${maxRows} for update)
    delete from subscription s using going where s.id = going.id returning s.id, s.subscriber, s.sink`;
  await closeHandshakesOfOrigin(tx.sql, { tenant: actor.tenant, origin });
  for (const { id, subscriber, sink } of rows) {
    tx.audit(actor, 'subscription.deleted', `subscription:${id}`, { origin, sink, subscriber, cause: 'origin_lost' });
    const kind = 'subscription.deleted';
    tx.change({ kind, tenant: actor.tenant, origin, sink, subscription: id, subscriber });
  }
  return rows.length;
}
