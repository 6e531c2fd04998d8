import { isBlockedPair, isBlockedSubscriber } from '../blocks/find-blocks.js';
import { Prisma, type handshake as HandshakeRow } from '../storage/generated/client.js';
import type { Sql } from '../storage/database.js';
import { silentVerdicts } from '../../consent/judgement.js';

// Chooses which of the waiting handshakes are claimed next.

/** The most handshakes in flight for one host and for one tenant, across all processes. */
export interface Places {
  perHost: number;
  perTenant: number;
}

/** A row with the rate to request, and whether to leave out the callback. */
export type ClaimCandidate = HandshakeRow & {
  askedrate: number | null;
  offersnone: boolean;
  blockednetworks: string[];
};

/** It is due, or the process that claimed it died. */
const isReady = Prisma.sql`(
  (h.state = 'due' and h.dueat <= statement_timestamp())
  or (h.state = 'asking' and h.leaseduntil <= statement_timestamp()))`;

/** The subscription `s` wants events now: it is not suspended, has not ended, and its subscriber is not blocked. */
export const isOpen = Prisma.sql`(
  s.endedat is null and s.suspendedat is null and (s.endsat is null or s.endsat > statement_timestamp())
  and not ${isBlockedSubscriber(Prisma.sql`s`)})`;

/**
 * No handshake is sent for a subscription that is suspended or has ended, nor to renew a grant that only such ones need, nor
 * under a block, nor to a webhook that cools down: a handshake that was queued or claimed at the moment of its response does not know that.
 * Values instead of "exists", which the planner may turn into a scan of all subscriptions.
 */
export const isWanted = Prisma.sql`(
  coalesce((select ${isOpen} from subscription s where s.id = h.subscription), true)
  and not ${isBlockedPair(Prisma.sql`h`)}
  and (h.reason <> 'renewal' or (
    select true from subscription s where s.origin = h.origin and s.sink = h.sink and ${isOpen} limit 1))
  and coalesce((
    select c.until from cooldown c where c.tenant = h.tenant and c.origin = h.origin and c.sink = h.sink
  ) <= statement_timestamp(), true))`;

/**
 * The callback is left out if the origin or the subscription says so (for a renewal: every subscription of the pair),
 * and once if the last response to a request with a callback had no WebHook header.
 */
const offersNone = Prisma.sql`(
  (select o.callback from origin o where o.name = h.origin) = 'never'
  or case when h.reason <> 'renewal'
    then coalesce((select s.callback from subscription s where s.id = h.subscription) = 'never', false)
    else (select true from subscription s where s.origin = h.origin and s.sink = h.sink and s.endedat is null
      and s.callback is distinct from 'never' limit 1) is null end
  or coalesce((select a.callbackkeyhash is not null and a.verdict = any (${[...silentVerdicts]}::text[])
    from attempt a where a.handshake = h.id and a.number = h.attempts), false))`;

/** How many are asked of each host and tenant. */
export const inFlight = Prisma.sql`
  select sinkhost, tenant, count(*) as count from handshake
  where state = 'asking' and leaseduntil > statement_timestamp() group by sinkhost, tenant`;

/** Tables; `placed` has the handshakes that get a place at their host and their tenant, numbered. */
const seats = ({ perHost, perTenant }: Places, isAsked: Prisma.Sql) => Prisma.sql`
  busy as materialized (${inFlight}), ready as materialized (
    select h.id, h.dueat, coalesce(h.leaseduntil, h.dueat) as since, h.tenant, h.sinkhost,
      coalesce((select sum(busy.count) from busy where busy.sinkhost = h.sinkhost), 0) as hostbusy,
      row_number() over (partition by h.tenant, h.sinkhost order by h.dueat, h.id) as ownplace
    from handshake h where ${isReady} and ${isWanted} and ${isAsked}
  ), seated as (
    -- Those that wait for their host take no place of their tenant.
    select id, dueat, since, sinkhost, hostbusy, ownplace,
      coalesce((select sum(busy.count) from busy where busy.tenant = ready.tenant), 0)
        + row_number() over (partition by tenant order by dueat, id) as tenantplace
    from ready where hostbusy + ownplace <= ${perHost}
  ), placed as (
    -- Nor do those that wait for their tenant take a place of their host. Tenants take turns at a host, so that none
    -- waits for the whole queue of another one.
    select id, dueat, since,
      hostbusy + row_number() over (partition by sinkhost order by ownplace, dueat, id) as hostplace
    from seated where tenantplace <= ${perTenant}
  )`;

/** The next handshakes, locked. */
export function choose(
  sql: Sql,
  { perHost, perTenant }: Places,
  limit: number,
  only: readonly string[] | undefined,
): Promise<ClaimCandidate[]> {
  const isAsked = only === undefined ? Prisma.sql`true` : Prisma.sql`h.id = any (${only}::uuid[])`;
  return sql.$queryRaw`
    with ${seats({ perHost, perTenant }, isAsked)}, chosen as materialized (
      select id from placed where hostplace <= ${perHost} order by dueat, id limit ${limit}
    )
    -- A renewal requests the rate of the grant that it renews, which may be newer than the renewal.
    select h.*, case when h.reason <> 'renewal' then h.requestedrate else (
      select g.requestedrate from "grant" g where g.origin = h.origin and g.sink = h.sink) end as askedrate,
      ${offersNone} as offersnone,
      array(select b.value from block b where b.tenant in (h.tenant, '*') and b.kind = 'network') as blockednetworks
    from chosen join handshake h on h.id = chosen.id
    -- Checked again: it may have been cancelled, or granted by the callback, since it was chosen.
    where ${isReady} order by h.dueat, h.id for update of h skip locked`;
}

/** How late, in seconds, the oldest handshake is that could be sent now. */
export async function lagSeconds(sql: Sql, places: Places): Promise<number> {
  const [row] = await sql.$queryRaw<Array<{ seconds: number }>>`
    select (with ${seats(places, Prisma.sql`true`)}
      select coalesce(extract(epoch from now() - min(since)), 0) from placed where hostplace <= ${places.perHost}
    )::float8 as seconds`;
  return row?.seconds ?? 0;
}
