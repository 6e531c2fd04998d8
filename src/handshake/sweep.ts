import { endGrants } from '../grants/write-grant.js';
import { recordAudits, service } from '../storage/audit.js';
import type { Database, Sql } from '../storage/database.js';
import type { grant as GrantRow, handshake as HandshakeRow } from '../storage/generated/client.js';
import { enqueue } from './queue.js';

const atOnce = 100;

/** What time alone brings about: callbacks run out, leases want renewal. Safe in several processes at once. */
export async function sweep({ transaction }: Pick<Database, 'transaction'>): Promise<void> {
  while ((await transaction(refuseUncalled)) === atOnce);
  while ((await transaction(endOvertaken)) === atOnce);
  while ((await transaction(renewDue)) === atOnce);
}

/** waiting -> refused. A renewal that nobody called back for ends its grant, unless a newer consent came meanwhile. */
async function refuseUncalled(sql: Sql): Promise<number> {
  const rows = await sql.$queryRaw<HandshakeRow[]>`
    update handshake set state = 'refused', verdict = 'callback_expired', waitinguntil = null, finishedat = now()
    where id in (
      select id from handshake where state = 'waiting' and waitinguntil <= now()
      order by id limit ${atOnce} for update skip locked)
    returning *`;
  await recordRefusals(sql, rows);
  const renewals = rows.filter(({ reason }) => reason === 'renewal');
  const endings = renewals.map(({ createdat, ...pair }) => ({ ...pair, grantedBefore: createdat }));
  await endGrants(sql, { name: 'assent' }, endings, 'renewal_refused');
  return rows.length;
}

/**
 * waiting -> refused, due -> cancelled: renewals that are open still when the consent that came after them is to be
 * renewed, which is asked for in their place. The callback of one that waited goes on.
 */
async function endOvertaken(sql: Sql): Promise<number> {
  const rows = await sql.$queryRaw<HandshakeRow[]>`
    update handshake set state = case state when 'waiting' then 'refused' else 'cancelled' end,
      callbackopen = state = 'waiting', waitinguntil = null, finishedat = now()
    where id in (
      select h.id from "grant" g join handshake h on h.origin = g.origin and h.sink = g.sink
      where g.state = 'live' and g.renewat <= now() and g.expiresat > now() and g.grantedat > h.createdat
        and h.reason = 'renewal' and h.state in ('due', 'waiting')
      order by h.id limit ${atOnce} for update of h skip locked)
    returning *`;
  await recordRefusals(
    sql,
    rows.filter(({ state }) => state === 'refused'),
  );
  return rows.length;
}

function recordRefusals(sql: Sql, rows: readonly HandshakeRow[]): Promise<void> {
  return recordAudits(
    sql,
    rows.map(({ id, tenant, subscription, verdict }) => ({
      actor: service(tenant),
      action: 'handshake.refused',
      target: subscription === null ? `handshake:${id}` : `subscription:${subscription}`,
      detail: { handshake: id, verdict },
    })),
  );
}

/**
 * Until the new answer is in, the old grant stands. Where everybody suspended, nobody is asked. The subscription for
 * which it is renewed is held fast meanwhile, so that it is not the last one that is just leaving.
 */
async function renewDue(sql: Sql): Promise<number> {
  const rows = await sql.$queryRaw<GrantRow[]>`
    update "grant" set renewat = null, version = version + 1
    where (origin, sink) in (
      select g.origin, g.sink from "grant" g
      cross join lateral (
        select 1 from subscription s where s.origin = g.origin and s.sink = g.sink and s.suspendedat is null
        limit 1 for share skip locked) holder
      where state = 'live' and renewat <= now() and expiresat > now() and basis <> 'agreement'
        and not exists (
          select 1 from handshake h where h.origin = g.origin and h.sink = g.sink and h.reason = 'renewal'
            and h.state in ('due', 'asking', 'waiting'))
      limit ${atOnce} for update of g skip locked)
    returning *`;
  for (const { tenant, origin, sink, requestedrate } of rows) {
    await enqueue(sql, {
      tenant,
      origin,
      sink,
      subscription: undefined,
      generation: undefined,
      reason: 'renewal',
      startedBy: 'assent',
      requestedRate: requestedrate ?? undefined,
    });
  }
  return rows.length;
}
