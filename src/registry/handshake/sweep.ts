import type { handshake as HandshakeRow } from '../storage/generated/client.js';
import { service, type Transaction } from '../storage/database.js';
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

/** With an audit record and a change for each. */
export function recordRefusals(tx: Transaction, rows: readonly HandshakeRow[]): void {
  for (const { id, tenant, origin, sink, subscription, verdict } of rows) {
    const target = subscription === null ? `handshake:${id}` : `subscription:${subscription}`;
    tx.audit(service(tenant), 'handshake.refused', target, { handshake: id, verdict });
    const reason = verdict === null ? undefined : publicVerdict(verdict as Verdict);
    tx.change({ kind: 'handshake.refused', tenant, origin, sink, subscription: subscription ?? undefined, reason });
  }
}
