import { uuidv7 } from '../../base/files/ids.js';
import type { Pair } from '../../consent/grant.js';
import { Prisma, type grant as GrantRow, type handshake as HandshakeRow } from '../storage/generated/client.js';
import type { Sql, Transaction } from '../storage/database.js';
import { openStatesSql, recordset, recordsetOfPairs } from '../storage/rows.js';
import { enqueue } from './queue.js';
import { recordRefusals } from './sweep.js';
import { isOpen } from './wanted.js';

// Grants are renewed as fast as the budgets of their tenants and hosts allow, those that end first before the others. The
// queue has no more of them than it sends within minutes, so that they can still be put in order. Safe in several processes.

/** Handshakes of a host and of a tenant in a minute. */
export interface Budget {
  perHost: number;
  perTenant: number;
}

/** A recursive table `known` of the tenants that have grants to renew, and a null: each is found by one probe of an index. */
export const renewing = Prisma.sql`
    known as (
      (select tenant from "grant" where state = 'live' and renewat is not null order by tenant limit 1)
      union all
      select (
        select g.tenant from "grant" g where g.state = 'live' and g.renewat is not null and g.tenant > known.tenant
        order by g.tenant limit 1)
      from known where known.tenant is not null
    )`;

/** How much of the budget the queue may have as renewals. */
const minutesInQueue = 2;
/** Of those that are due, this many times as many are compared as are renewed. */
const compared = 4;

interface DueGrant extends Pair {
  sinkhost: string;
  expiresat: Date;
  isexpired: boolean;
  /** A renewal is open. */
  isasked: boolean;
  /** A subscription needs it. */
  isneeded: boolean;
  now: Date;
}

/**
 * The old grant stays valid until the new response arrives. If every subscription of the pair is suspended or has ended, it
 * is looked at again later. Returns how many grants it wrote, at most `maxRows` of those to renew.
 */
export async function renewDue(tx: Transaction, maxRows: number, budget: Budget): Promise<number> {
  const { sql } = tx;
  const queued = await readQueued(sql);
  const tenants = [...queued.tenants].flatMap(([tenant, count]) => {
    const room = budget.perTenant * minutesInQueue - count;
    return room > 0 ? [{ tenant, room: Math.min(room, Math.ceil(maxRows / queued.tenants.size)) }] : [];
  });
  if (tenants.length === 0) return 0;
  const rooms = new Map(tenants.map(({ tenant, room }) => [tenant, room]));
  const found = await readDue(sql, tenants);
  if (found.length === 0) return 0;
  await endOvertaken(tx, found);
  const renewed: Pair[] = [];
  const later: Array<Pair & { renewat: Date | null }> = [];
  for (const grant of found) {
    const { origin, sink, tenant, sinkhost, now } = grant;
    const room = rooms.get(tenant) ?? 0;
    const left = budget.perHost * minutesInQueue - (queued.hosts.get(sinkhost) ?? 0);
    // An expired grant is asked for again by its subscription.
    if (grant.isexpired) later.push({ origin, sink, tenant, renewat: null });
    else if (grant.isasked) continue;
    else if (!grant.isneeded) later.push({ origin, sink, tenant, renewat: laterThan(grant, now) });
    else if (left <= 0) {
      // Spread by the budget of the host, behind those that end earlier.
      queued.hosts.set(sinkhost, (queued.hosts.get(sinkhost) ?? 0) + 1);
      later.push({ origin, sink, tenant, renewat: laterThan(grant, now, (-left / budget.perHost) * 60_000) });
    } else if (room > 0) {
      rooms.set(tenant, room - 1);
      queued.hosts.set(sinkhost, (queued.hosts.get(sinkhost) ?? 0) + 1);
      renewed.push({ origin, sink, tenant });
    }
  }
  await postpone(sql, later);
  return (await renew(sql, renewed)) + later.length;
}

/** At least a minute later, and at most halfway to the end of the grant. */
function laterThan({ expiresat }: DueGrant, now: Date, ms = Infinity): Date {
  const halfMs = (expiresat.getTime() - now.getTime()) / 2;
  return new Date(now.getTime() + Math.max(60_000, Math.min(ms, halfMs)));
}

/** The renewals in the queue, of the tenants that have more to renew. */
async function readQueued(sql: Sql) {
  const rows = await sql.$queryRaw<Array<{ tenant: string; sinkhost: string | null; count: number }>>`
    with recursive ${renewing}, due as materialized (
      select tenant from known where tenant is not null and (
        select g.renewat from "grant" g where g.state = 'live' and g.renewat is not null and g.tenant = known.tenant
        order by g.renewat limit 1) <= now()
    )
    select due.tenant, h.sinkhost, count(h.id)::int as count from due left join handshake h
      on h.tenant = due.tenant and h.state = 'due' and h.trigger = 'renewal' and h.dueat <= now()
    group by due.tenant, h.sinkhost`;
  const [tenants, hosts] = [new Map<string, number>(), new Map<string, number>()];
  for (const { tenant, sinkhost, count } of rows) {
    tenants.set(tenant, (tenants.get(tenant) ?? 0) + count);
    if (sinkhost !== null) hosts.set(sinkhost, (hosts.get(sinkhost) ?? 0) + count);
  }
  return { tenants, hosts };
}

/** The first grants that are due of these tenants; those that end first are first. */
function readDue(sql: Sql, tenants: ReadonlyArray<{ tenant: string; room: number }>): Promise<DueGrant[]> {
  return sql.$queryRaw<DueGrant[]>`
    select g.origin, g.sink, g.tenant, sink_host(g.sink) as sinkhost, g.expiresat, g.expiresat <= now() as isexpired, now() as now,
      exists (
        select from handshake h where h.origin = g.origin and h.sink = g.sink and h.trigger = 'renewal'
          and h.state in ${openStatesSql} and not (g.grantedat > h.createdat and h.state in ('due', 'waiting'))) as isasked,
      coalesce((
        select true from subscription s where s.origin = g.origin and s.sink = g.sink and ${isOpen} limit 1), false) as isneeded
    from unnest(${tenants.map(({ tenant }) => tenant)}::text[], ${tenants.map(({ room }) => room * compared)}::int[]) as t (tenant, size)
    cross join lateral (
      select d.* from "grant" d where d.tenant = t.tenant and d.state = 'live' and d.renewat <= now()
      order by d.renewat limit t.size) g
    order by g.expiresat, g.origin, g.sink`;
}

/**
 * waiting -> refused, due -> cancelled: renewals that are still open when a newer consent needs renewal itself; the new
 * renewal replaces them. The callback of a waiting one stays valid.
 */
async function endOvertaken(tx: Transaction, pairs: readonly Pair[]): Promise<void> {
  const rows = await tx.sql.$queryRaw<HandshakeRow[]>`
    update handshake set state = case when state = 'waiting' then 'refused' else 'cancelled' end,
      callbackopen = state = 'waiting', waitinguntil = null, finishedat = now()
    where id in (
      select h.id from ${recordsetOfPairs(pairs)} p join "grant" g on g.origin = p.origin and g.sink = p.sink
      join handshake h on h.origin = g.origin and h.sink = g.sink
      where g.state = 'live' and g.renewat <= now() and g.expiresat > now() and g.grantedat > h.createdat
        and h.trigger = 'renewal' and h.state in ('due', 'waiting')
      order by h.id for update of h skip locked)
    returning *`;
  recordRefusals(
    tx,
    rows.filter(({ state }) => state === 'refused'),
  );
}

async function postpone(sql: Sql, later: ReadonlyArray<Pair & { renewat: Date | null }>): Promise<void> {
  if (later.length === 0) return;
  await sql.$executeRaw`
    with present as materialized (
      select g.origin, g.sink, p.renewat from ${recordset('grant', later)} p
      join "grant" g on g.origin = p.origin and g.sink = p.sink
      where g.state = 'live' and g.renewat <= now()
      order by g.origin collate "C", g.sink collate "C" for update of g skip locked
    )
    update "grant" g set renewat = p.renewat, version = g.version + 1 from present p
    where g.origin = p.origin and g.sink = p.sink`;
}

/**
 * A subscription that needs the renewal is locked, so that it is not being removed as the last one. The renewal takes the
 * place of its grant in the queue: before what was asked since.
 */
async function renew(sql: Sql, pairs: readonly Pair[]): Promise<number> {
  if (pairs.length === 0) return 0;
  const rows = await sql.$queryRaw<GrantRow[]>`
    update "grant" set renewat = null, version = version + 1
    where (origin, sink) in (
      select g.origin, g.sink from ${recordsetOfPairs(pairs)} p
      join "grant" g on g.origin = p.origin and g.sink = p.sink
      cross join lateral (
        select 1 from subscription s where s.origin = g.origin and s.sink = g.sink and ${isOpen}
        limit 1 for share skip locked) holder
      where g.state = 'live' and g.renewat <= now() and g.expiresat > now() and g.basis <> 'agreement'
        and not exists (
          select 1 from handshake h where h.origin = g.origin and h.sink = g.sink and h.trigger = 'renewal'
            and h.state in ${openStatesSql})
      order by g.origin collate "C", g.sink collate "C" for update of g skip locked)
    returning *`;
  const renewals = rows.map(({ tenant, origin, sink, requestedrate, grantedat }) => ({
    question: {
      id: uuidv7(),
      tenant,
      origin,
      sink,
      subscription: undefined,
      generation: undefined,
      trigger: 'renewal' as const,
      startedBy: 'assent',
      requestedRate: requestedrate ?? undefined,
      traceparent: undefined,
    },
    place: { state: 'due', verdict: null, attempts: 0, dueat: grantedat, claimid: null, claimeduntil: null },
  }));
  await enqueue(
    sql,
    renewals.map(({ question }) => question),
    new Map(renewals.map(({ question, place }) => [question.id, place])),
  );
  return rows.length;
}
