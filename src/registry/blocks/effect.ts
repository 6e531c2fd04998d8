import type { Sql } from '../storage/database.js';
import { Prisma } from '../storage/generated/client.js';
import { openStatesSql } from '../storage/rows.js';
import { indexOf, isUnder, tenantsOf, type BlockedThing } from './under.js';

/** What is under a block, whatever other blocks there are. */
export interface BlockEffect {
  origins: string[];
  /** Not ended. */
  subscriptioncount: number;
  subscribers: string[];
  /** Live. */
  grantcount: number;
  /** Not finished. */
  handshakecount: number;
  /** There may be more than these numbers say. */
  more: boolean;
}

/** Names in an effect. */
const maxNames = 20;
const maxCounted = 10_000;
/** Rows that are looked at, where no index knows what is under a block. */
const maxSearched = 20_000;

/** Counts no further than people need: what an admin sees of a million is that they are more than ten thousand. */
export async function effectOf(sql: Sql, block: BlockedThing): Promise<BlockEffect> {
  const { kind, value } = block;
  const ofSubscriber = kind === 'subscriber';
  const ofTenant = Prisma.sql`t.tenant = o.tenant and ${indexOf(block, Prisma.sql`o.tenant`)}`;
  // Of an origin and a sink there is an index, which has no ids in their order.
  const found =
    kind === 'origin'
      ? Prisma.sql`${ofTenant} and t.origin = ${value} limit ${maxSearched}`
      : kind === 'sink'
        ? Prisma.sql`${ofTenant} limit ${maxSearched}`
        : Prisma.sql`${ofTenant} order by t.id limit ${maxSearched}`;
  const ofTenants = Prisma.sql`${tenantsOf(block)} o (tenant)`;
  // Of a subscriber: the pairs that nobody else uses.
  const grants = ofSubscriber
    ? Prisma.sql`select g.* from (select distinct origin, sink from subscriptions) s
        join "grant" g on g.origin = s.origin and g.sink = s.sink
        where not exists (
          select from subscription o where o.origin = s.origin and o.sink = s.sink and o.subscriber <> ${value})`
    : Prisma.sql`select t.* from ${ofTenants} cross join lateral (
        select * from "grant" t where ${found}) t limit ${maxSearched}`;
  const isUnderGrant = ofSubscriber ? Prisma.sql`true` : isUnder(block);
  const [row] = await sql.$queryRaw<BlockEffect[]>`
    with searched as materialized (
      select t.* from ${ofTenants} cross join lateral (
        select t.id, t.origin, t.sink, t.subscriber, t.endedat from subscription t where ${found}
      ) t limit ${maxSearched}
    ), subscriptions as materialized (
      select t.id, t.origin, t.sink, t.subscriber from searched t where t.endedat is null and ${isUnder(block)}
      limit ${maxCounted}
    ), searchedgrants as materialized (${grants}
    ), grants as materialized (
      select t.origin, t.sink from searchedgrants t where t.state = 'live' and t.expiresat > now() and ${isUnderGrant}
      limit ${maxCounted}
    )
    select
      array(select origin from (select origin from subscriptions union select origin from grants) o order by origin limit ${maxNames}) as origins,
      (select count(*)::int from subscriptions) as subscriptioncount,
      array(select distinct subscriber from subscriptions order by subscriber limit ${maxNames}) as subscribers,
      (select count(*)::int from grants) as grantcount,
      (select count(*)::int from handshake h where h.state in ${openStatesSql}
        and (h.subscription in (select id from subscriptions)
          or (h.subscription is null and (h.origin, h.sink) in (select origin, sink from grants)))) as handshakecount,
      (select count(*) from searched) = ${maxSearched} or (select count(*) from searchedgrants) = ${maxSearched}
        or (select count(*) from subscriptions) = ${maxCounted} or (select count(*) from grants) = ${maxCounted} as more`;
  if (row === undefined) throw new Error('A count returned no row.');
  return row;
}
