import { Prisma, type handshake as HandshakeRow } from '../storage/generated/client.js';
import type { Sql } from '../storage/sql.js';
import { silentVerdicts } from './judgement.js';

/** Which handshakes are claimed next, of those that wait. */

/** Places in flight for one host and one tenant, over all processes. */
export interface Places {
  perHost: number;
  perTenant: number;
}

/** A row with the rate to ask for, and whether the callback is left out. */
export type Candidate = HandshakeRow & { askedrate: number | null; offersnone: boolean };

/** It is due, or the process that had it died. */
const isReady = Prisma.sql`(
  (h.state = 'due' and h.dueat <= statement_timestamp())
  or (h.state = 'asking' and h.leaseduntil <= statement_timestamp()))`;

/**
 * No webhook is asked for a suspended subscription, nor to renew a grant that only such subscriptions need.
 * Nor is a webhook that cools down, which a question put or claimed at the moment of its answer does not know of. Values
 * and no "exists", which may be planned as one reading of all subscriptions.
 */
export const isWanted = Prisma.sql`(
  (select s.suspendedat from subscription s where s.id = h.subscription) is null
  and (h.reason <> 'renewal' or (
    select true from subscription s where s.origin = h.origin and s.sink = h.sink and s.suspendedat is null limit 1))
  and coalesce((
    select c.until from cooldown c where c.tenant = h.tenant and c.origin = h.origin and c.sink = h.sink
  ) <= statement_timestamp(), true))`;

/**
 * The callback is left out where the origin or the subscription says so, for a renewal every subscription of the pair;
 * and once where the last answer to a question with a callback had no WebHook header.
 */
const offersNone = Prisma.sql`(
  (select o.callback from origin o where o.name = h.origin) = 'never'
  or case when h.reason <> 'renewal'
    then coalesce((select s.callback from subscription s where s.id = h.subscription) = 'never', false)
    else (select true from subscription s where s.origin = h.origin and s.sink = h.sink
      and s.callback is distinct from 'never' limit 1) is null end
  or coalesce((select a.callbackkeyhash is not null and a.verdict = any (${[...silentVerdicts]}::text[])
    from attempt a where a.handshake = h.id and a.number = h.attempts), false))`;

/** Tables of which `placed` has those that have a place at their host and their tenant, by the number of their place. */
const seats = ({ perHost, perTenant }: Places, isAsked: Prisma.Sql) => Prisma.sql`
  busy as materialized (
    select sinkhost, tenant, count(*) as count from handshake
    where state = 'asking' and leaseduntil > statement_timestamp() group by sinkhost, tenant
  ), ready as materialized (
    select h.id, h.dueat, coalesce(h.leaseduntil, h.dueat) as since, h.tenant, h.sinkhost,
      coalesce((select sum(busy.count) from busy where busy.sinkhost = h.sinkhost), 0) as hostbusy,
      row_number() over (partition by h.tenant, h.sinkhost order by h.dueat, h.id) as ownplace
    from handshake h where ${isReady} and ${isWanted} and ${isAsked}
  ), seated as (
    -- Those that wait for their host take no place of their tenant from the others.
    select id, dueat, since, sinkhost, hostbusy, ownplace,
      coalesce((select sum(busy.count) from busy where busy.tenant = ready.tenant), 0)
        + row_number() over (partition by tenant order by dueat, id) as tenantplace
    from ready where hostbusy + ownplace <= ${perHost}
  ), placed as (
    -- Nor do those that wait for their tenant take a place of their host from another tenant. Tenants take turns at
    -- a host, so that nobody waits for all that another one has waiting.
    select id, dueat, since,
      hostbusy + row_number() over (partition by sinkhost order by ownplace, dueat, id) as hostplace
    from seated where tenantplace <= ${perTenant}
  )`;

/** Those whose turn it is, locked. */
export function choose(
  sql: Sql,
  { perHost, perTenant }: Places,
  limit: number,
  only: readonly string[] | undefined,
): Promise<Candidate[]> {
  const isAsked = only === undefined ? Prisma.sql`true` : Prisma.sql`h.id = any (${only}::uuid[])`;
  return sql.$queryRaw`
    with ${seats({ perHost, perTenant }, isAsked)}, chosen as materialized (
      select id from placed where hostplace <= ${perHost} order by dueat, id limit ${limit}
    )
    -- A renewal asks for the rate of the consent that it is to renew, which may be newer than the renewal.
    select h.*, case when h.reason <> 'renewal' then h.requestedrate else (
      select g.requestedrate from "grant" g where g.origin = h.origin and g.sink = h.sink) end as askedrate,
      ${offersNone} as offersnone
    from chosen join handshake h on h.id = chosen.id
    -- Once more: it may have been cancelled, or granted by the callback, since it was chosen.
    where ${isReady} order by h.dueat, h.id for update of h skip locked`;
}

/** Seconds by which the oldest is late that could be asked now. */
export async function lagSeconds(sql: Sql, places: Places): Promise<number> {
  const [row] = await sql.$queryRaw<Array<{ seconds: number }>>`
    select (with ${seats(places, Prisma.sql`true`)}
      select coalesce(extract(epoch from now() - min(since)), 0) from placed where hostplace <= ${places.perHost}
    )::float8 as seconds`;
  return row?.seconds ?? 0;
}
