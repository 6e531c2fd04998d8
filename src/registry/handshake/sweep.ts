import type { grant as GrantRow, handshake as HandshakeRow } from '../storage/generated/client.js';
import { openStatesSql } from '../storage/rows.js';
import { uuidv7 } from '../../base/files/ids.js';
import { service, type Transaction } from '../storage/database.js';
import { isOpen } from './wanted.js';
import { enqueue } from './queue.js';
import { publicVerdict, type Verdict } from '../../consent/verdicts.js';

// What time alone does to handshakes. Each step is safe in several processes at once, and returns how many it wrote, at
// most `maxRows`.

/** waiting -> refused. */
export async function refuseUncalled(tx: Transaction, maxRows: number): Promise<number> {
  const rows = await tx.sql.$queryRaw<HandshakeRow[]>`
    update handshake set state = 'refused', verdict = 'callback_expired', waitinguntil = null, finishedat = now()
    where id in (
      select id from handshake where state = 'waiting' and waitinguntil <= now()
      order by waitinguntil limit ${maxRows} for update skip locked)
    returning *`;
  recordRefusals(tx, rows);
  return rows.length;
}

/**
 * waiting -> refused, due -> cancelled: renewals that are still open when a newer consent needs renewal itself; the new
 * renewal replaces them. The callback of a waiting one stays valid.
 */
export async function endOvertaken(tx: Transaction, maxRows: number): Promise<number> {
  const rows = await tx.sql.$queryRaw<HandshakeRow[]>`
    update handshake set state = case when state = 'waiting' then 'refused' else 'cancelled' end,
      callbackopen = state = 'waiting', waitinguntil = null, finishedat = now()
    where id in (
      select h.id from "grant" g join handshake h on h.origin = g.origin and h.sink = g.sink
      where g.state = 'live' and g.renewat <= now() and g.expiresat > now() and g.grantedat > h.createdat
        and h.reason = 'renewal' and h.state in ('due', 'waiting')
      order by h.id limit ${maxRows} for update of h skip locked)
    returning *`;
  recordRefusals(
    tx,
    rows.filter(({ state }) => state === 'refused'),
  );
  return rows.length;
}

function recordRefusals(tx: Transaction, rows: readonly HandshakeRow[]): void {
  for (const { id, tenant, origin, sink, subscription, verdict } of rows) {
    const target = subscription === null ? `handshake:${id}` : `subscription:${subscription}`;
    tx.audit(service(tenant), 'handshake.refused', target, { handshake: id, verdict });
    const reason = verdict === null ? undefined : publicVerdict(verdict as Verdict);
    tx.change({ kind: 'handshake.refused', tenant, origin, sink, subscription: subscription ?? undefined, reason });
  }
}

/**
 * The old grant stays valid until the new response arrives. If every subscription of the pair is suspended or has ended,
 * nothing is sent. The subscription that needs the renewal is locked, so that it is not being removed as the last one.
 */
export async function renewDue(tx: Transaction, maxRows: number): Promise<number> {
  const rows = await tx.sql.$queryRaw<GrantRow[]>`
    update "grant" set renewat = null, version = version + 1
    where (origin, sink) in (
      select g.origin, g.sink from "grant" g
      cross join lateral (
        select 1 from subscription s where s.origin = g.origin and s.sink = g.sink and ${isOpen}
        limit 1 for share skip locked) holder
      where state = 'live' and renewat <= now() and expiresat > now() and basis <> 'agreement'
        and not exists (
          select 1 from handshake h where h.origin = g.origin and h.sink = g.sink and h.reason = 'renewal'
            and h.state in ${openStatesSql})
      limit ${maxRows} for update of g skip locked)
    returning *`;
  await enqueue(
    tx.sql,
    rows.map(({ tenant, origin, sink, requestedrate }) => ({
      id: uuidv7(),
      tenant,
      origin,
      sink,
      subscription: undefined,
      generation: undefined,
      reason: 'renewal',
      startedBy: 'assent',
      requestedRate: requestedrate ?? undefined,
      traceparent: undefined,
    })),
  );
  return rows.length;
}
