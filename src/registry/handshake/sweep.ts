import { askedAddressOf, isBlockedHandshake } from '../blocks/find-blocks.js';
import { Prisma, type handshake as HandshakeRow } from '../storage/generated/client.js';
import { service, type Transaction } from '../storage/database.js';
import { publicVerdict, type Verdict } from '../../consent/verdicts.js';

// What time alone does to handshakes. Safe in several processes at once.

/**
 * waiting -> refused: the callback expired. Under a block nobody could call it, so the webhook is asked again once the block
 * is lifted, unless something else was asked since: waiting -> due. Returns those that it wrote, at most `maxRows`.
 */
export async function refuseUncalled(tx: Transaction, maxRows: number): Promise<HandshakeRow[]> {
  const row = Prisma.sql`h`;
  const rows = await tx.sql.$queryRaw<HandshakeRow[]>`
    with over as materialized (
      select h.id, exists (select from block) and ${isBlockedHandshake(row, askedAddressOf(row))} and not exists (
        select from handshake later where later.origin = h.origin and later.sink = h.sink and later.id > h.id
          and later.subscription is not distinct from h.subscription) as isblocked
      from handshake h where h.state = 'waiting' and h.waitinguntil <= now()
      order by h.waitinguntil limit ${maxRows} for update of h skip locked
    )
    update handshake t set waitinguntil = null, state = case when isblocked then 'due' else 'refused' end,
      verdict = case when isblocked then 'blocked' else 'callback_expired' end,
      dueat = case when isblocked then null else t.dueat end, finishedat = case when isblocked then null else now() end
    from over where t.id = over.id
    returning t.*`;
  recordRefusals(
    tx,
    rows.filter(({ state }) => state === 'refused'),
  );
  return rows;
}

/** With an audit record and a change for each. */
export function recordRefusals(tx: Transaction, rows: readonly HandshakeRow[]): void {
  for (const { id, tenant, origin, sink, subscription, verdict } of rows) {
    const target = subscription === null ? `handshake:${id}` : `subscription:${subscription}`;
    tx.audit(service(tenant), 'handshake.refused', target, { origin, sink, handshake: id, verdict });
    const cause = verdict === null ? undefined : publicVerdict(verdict as Verdict);
    tx.change({ kind: 'handshake.refused', tenant, origin, sink, subscription: subscription ?? undefined, cause });
  }
}
