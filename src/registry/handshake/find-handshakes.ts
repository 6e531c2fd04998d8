import { Prisma } from '../storage/generated/client.js';
import { openStatesSql } from '../storage/rows.js';
import {
  allOf,
  createdWithin,
  firstOf,
  given,
  idsWithin,
  sinkContains,
  type PairQuery,
  type SearchKey,
  type Part,
  type SearchPlan,
  type Way,
} from '../storage/search.js';
import type { HandshakeTrigger, HandshakeState } from '../../consent/handshake.js';
import type { Verdict } from '../../consent/verdicts.js';
import { heldUntil } from './lane.js';

export interface HandshakeQuery extends PairQuery {
  tenant: string;
  /** Whose subscription it is for; for a renewal, who has a subscription of the pair. */
  subscriber?: string | undefined;
  state?: HandshakeState | undefined;
  verdict?: Verdict | undefined;
  trigger?: HandshakeTrigger | undefined;
  createdsince?: Date | undefined;
  createduntil?: Date | undefined;
}

// Most handshakes are granted, and the indexes of states and verdicts leave those out.
const granting: readonly Verdict[] = ['granted', 'granted_any_origin', 'callback_granted', 'granted_by_policy'];

/** The index of handshakes that are open or failed. */
export function handshakesInState(table: Prisma.Sql, tenant: string, state: string): Part {
  return {
    key: [
      [Prisma.sql`${table}.tenant`, tenant],
      [Prisma.sql`${table}.state`, state],
    ],
    only: Prisma.sql`${table}.state not in ('granted', 'cancelled')`,
  };
}

/** The index of verdicts that grant nothing. */
export function handshakesWithVerdict(table: Prisma.Sql, tenant: string, verdict: string): Part {
  return {
    key: [
      [Prisma.sql`${table}.tenant`, tenant],
      [Prisma.sql`${table}.verdict`, verdict],
    ],
    only: Prisma.sql`${table}.verdict not in ('granted', 'granted_any_origin', 'callback_granted', 'granted_by_policy')`,
  };
}

/** The index of handshakes that failed and may still count: no later one of their subscription has ended. */
export function latestFailures(table: Prisma.Sql, tenant: string, state: 'refused' | 'unreachable' | 'retired'): Part {
  return {
    key: [
      [Prisma.sql`${table}.tenant`, tenant],
      [Prisma.sql`${table}.state`, state],
    ],
    only: Prisma.sql`${table}.state in ('refused', 'unreachable', 'retired') and not ${table}.superseded`,
  };
}

/** The index of open handshakes of which an attempt was not granted, by their trigger. Those that only wait for a place are not in it. */
export function answeredHandshakes(table: Prisma.Sql, tenant: string, trigger: HandshakeTrigger): Part {
  return {
    key: [
      [Prisma.sql`${table}.tenant`, tenant],
      [Prisma.sql`${table}.trigger`, trigger],
    ],
    only: Prisma.sql`${table}.state in ${openStatesSql} and ${table}.verdict <> 'held_by_budget'`,
  };
}

/** All handshakes of a tenant, newest first. */
export function handshakeSearch(query: HandshakeQuery): SearchPlan {
  const { tenant, origin, sink, host, sinkcontains, subscriber, state, verdict, trigger } = query;
  const { createdsince, createduntil } = query;
  const ofTenant: SearchKey[number] = [Prisma.sql`t.tenant`, tenant];
  const ways: Array<Way | undefined> = [
    given(sink, (uri) => ({
      few: Prisma.sql`
        select p.id from origin o, lateral (
          select h.id from handshake h where h.origin = o.name and h.sink = ${uri} offset 0) p
        where o.tenant = ${tenant}`,
    })),
    given(host, (name) => ({ key: [ofTenant, [Prisma.sql`t.sinkhost`, name]] })),
    given(subscriber, (name) => ({
      few: Prisma.sql`
        select s.id, s.origin, s.sink from subscription s where s.tenant = ${tenant} and s.subscriber = ${name}`,
      ids: Prisma.sql`
        select h.id from few, lateral (
          select own.id from handshake own where own.subscription = few.id
          union all
          select renewal.id from handshake renewal
            where renewal.origin = few.origin and renewal.sink = few.sink and renewal.subscription is null
          offset 0) h`,
    })),
    given(origin, (name) => ({
      few: firstOf(Prisma.sql`select h.id from handshake h`, { key: [[Prisma.sql`h.origin`, name]] }),
      isUsuallyMany: true,
    })),
    verdict === undefined || granting.includes(verdict)
      ? undefined
      : verdict === 'held_by_budget'
        ? handshakesInState(Prisma.sql`t`, tenant, 'due')
        : handshakesWithVerdict(Prisma.sql`t`, tenant, verdict),
    state === undefined || state === 'granted' || state === 'cancelled'
      ? undefined
      : handshakesInState(Prisma.sql`t`, tenant, state),
  ];
  return {
    table: Prisma.sql`handshake t`,
    order: { isDescending: true },
    ways: ways.filter((way) => way !== undefined),
    whole: { key: [ofTenant] },
    span: idsWithin(createdsince, createduntil),
    test: allOf([
      Prisma.sql`t.tenant = ${tenant}`,
      given(origin, (name) => Prisma.sql`t.origin = ${name}`),
      given(sink, (uri) => Prisma.sql`t.sink = ${uri}`),
      given(sinkcontains, sinkContains),
      given(state, (value) => Prisma.sql`t.state = ${value}`),
      given(
        verdict,
        (value) => Prisma.sql`
          case when ${heldUntil(Prisma.sql`t`)} is null then t.verdict else 'held_by_budget' end = ${value}`,
      ),
      given(trigger, (value) => Prisma.sql`t.trigger = ${value}`),
      createdWithin(createdsince, createduntil),
      given(subscriber, (name) => belongsTo(tenant, name)),
    ]),
    isCostly: subscriber !== undefined,
  };
}

/** `offset 0`: each is looked up by its key, however many subscriptions the subscriber has. */
function belongsTo(tenant: string, subscriber: string): Prisma.Sql {
  return Prisma.sql`exists (
    select 1 from (
      select s.tenant, s.subscriber from subscription s where s.id = t.subscription
      union all
      select s.tenant, s.subscriber from subscription s
        where t.subscription is null and s.origin = t.origin and s.sink = t.sink
      offset 0) s
    where s.tenant = ${tenant} and s.subscriber = ${subscriber})`;
}
