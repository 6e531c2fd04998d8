import { Prisma } from '../storage/generated/client.js';
import { allOf, createdWithin, given, sinkContains, spanOfIds, type Search, type Way } from '../storage/search.js';
import type { HandshakeReason, HandshakeState } from './handshake.js';
import type { Verdict } from './verdicts.js';

export interface HandshakeQuery {
  tenant: string;
  origin?: string;
  sink?: string;
  host?: string;
  /** A part of the sink. */
  sinkcontains?: string;
  /** Whose subscription it is for; for a renewal, who has a subscription of the pair. */
  subscriber?: string;
  state?: HandshakeState;
  verdict?: Verdict;
  reason?: HandshakeReason;
  createdsince?: Date;
  createduntil?: Date;
}

// Indexes leave out what most handshakes are.
const granting: readonly Verdict[] = ['granted', 'granted_any_origin', 'callback_granted', 'granted_by_policy'];
const failed: readonly HandshakeState[] = ['refused', 'unreachable', 'retired'];
const open: readonly HandshakeState[] = ['due', 'asking', 'waiting'];

/** All handshakes of a tenant, newest first. */
export function handshakeSearch(query: HandshakeQuery): Search {
  const { tenant, origin, sink, host, sinkcontains, subscriber, state, verdict, reason } = query;
  const { createdsince, createduntil } = query;
  const usual = Prisma.sql`t.tenant = ${tenant}`;
  const ways: Array<Way | undefined> = [
    given(sink, (uri) => ({
      few: Prisma.sql`
        select p.id from origin o, lateral (
          select h.id from handshake h where h.origin = o.name and h.sink = ${uri} offset 0) p
        where o.tenant = ${tenant}`,
    })),
    given(host, (name) => ({ within: Prisma.sql`${usual} and t.sinkhost = ${name}` })),
    given(subscriber, (name) => ({
      few: Prisma.sql`
        select s.id, s.origin, s.sink from subscription s where s.tenant = ${tenant} and s.subscriber = ${name}`,
      // Those of the pair include its renewals.
      ids: Prisma.sql`
        select h.id from few, lateral (
          select own.id from handshake own where own.subscription = few.id
          union all
          select pair.id from handshake pair where pair.origin = few.origin and pair.sink = few.sink
            and pair.subscription is null) h`,
    })),
    given(origin, (name) => ({
      few: Prisma.sql`select h.id from handshake h where h.origin = ${name}`,
      isUsuallyMany: true,
    })),
    verdict === undefined || granting.includes(verdict)
      ? undefined
      : {
          within: Prisma.sql`${usual} and t.verdict not in ('granted', 'granted_any_origin', 'callback_granted', 'granted_by_policy')
          and t.verdict = ${verdict}`,
        },
    state !== undefined && failed.includes(state)
      ? { within: Prisma.sql`${usual} and t.state in ('refused', 'unreachable', 'retired') and t.state = ${state}` }
      : undefined,
    state !== undefined && open.includes(state)
      ? {
          few: Prisma.sql`
            select h.id from handshake h where h.state in ('due', 'asking', 'waiting') and h.tenant = ${tenant}`,
        }
      : undefined,
    { within: usual },
  ];
  return {
    table: Prisma.sql`handshake t`,
    newestFirst: true,
    ways: ways.filter((way) => way !== undefined),
    span: spanOfIds(createdsince, createduntil),
    test: allOf([
      usual,
      given(origin, (name) => Prisma.sql`t.origin = ${name}`),
      given(sink, (uri) => Prisma.sql`t.sink = ${uri}`),
      given(sinkcontains, sinkContains),
      given(state, (value) => Prisma.sql`t.state = ${value}`),
      given(verdict, (value) => Prisma.sql`t.verdict = ${value}`),
      given(reason, (value) => Prisma.sql`t.reason = ${value}`),
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
