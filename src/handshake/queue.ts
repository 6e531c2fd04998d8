import { randomUUID } from 'node:crypto';
import type { Pair } from '../grants/grant.js';
import type { Database, Sql } from '../storage/database.js';
import { Prisma, type handshake as HandshakeRow } from '../storage/generated/client.js';
import { uuidv7 } from '../storage/ids.js';
import type { BegunAttempt, Claim, HandshakeReason, Question } from './handshake.js';
import { prepareAttempt } from './request-headers.js';
import { restOf } from './rest.js';

/** The handshake rows as a queue: put in, claim, begin an attempt, hand back. What comes of an attempt: settle.ts. */
export interface Queue {
  /** Takes due handshakes, and those whose owner died, with a lease. `only` one of them if it is named. */
  claim(limit: number, only?: string): Promise<Claim[]>;
  /** Records an attempt before it is made. Undefined if the handshake is no longer ours. */
  begin(claim: Claim): Promise<BegunAttempt | undefined>;
  /** Hands it back, to be done after a while; one that was begun and for which nothing was sent was no attempt. */
  handBack(
    claim: Claim,
    afterMs: number,
    verdict: 'held_by_budget' | 'aborted',
    unmade?: Pick<BegunAttempt, 'number'>,
  ): Promise<void>;
  /** Seconds by which the oldest due handshake is late. */
  lagSeconds(): Promise<number>;
  /** True while it is being asked, or will be within that time. */
  isOpen(id: string, withinMs: number): Promise<boolean>;
}

export interface QueueSettings {
  database: Database;
  publicUrl: string | undefined;
  callbackSeconds: number;
  /** Milliseconds an attempt can take at the most; a lease is longer by a margin for the database. */
  deadlineMs: number;
  /** Places for one host and one tenant, over all processes. */
  inFlight: { perHost: number; perTenant: number };
}

const claimLock = 7_266_112_003;

/** Its time has come, or whoever had it died. */
const isReady = Prisma.sql`(
  (h.state = 'due' and h.dueat <= now()) or (h.state = 'asking' and h.leaseduntil <= now()))`;

/**
 * Nobody is asked for a subscription that is suspended, nor to renew what only such subscriptions rest on: that waits.
 * Nor is a webhook that rests, which a question put or claimed at the moment of its answer does not know of. Values and
 * no "exists", which may be planned as one reading of all subscriptions.
 */
const isWanted = Prisma.sql`(
  (select s.suspendedat from subscription s where s.id = h.subscription) is null
  and (h.reason <> 'renewal' or (
    select true from subscription s where s.origin = h.origin and s.sink = h.sink and s.suspendedat is null limit 1))
  and coalesce((
    select r.until from rest r where r.tenant = h.tenant and r.origin = h.origin and r.sink = h.sink) <= now(), true))`;
const leaseMarginMs = 20_000;

/** How long a claim holds, for an attempt that can take `deadlineMs` at the most. */
export function leaseSecondsFor(deadlineMs: number): number {
  return (deadlineMs + leaseMarginMs) / 1_000;
}

export function createQueue(settings: QueueSettings): Queue {
  const { database, publicUrl, callbackSeconds, deadlineMs, inFlight } = settings;
  const { perHost, perTenant } = inFlight;
  const { client } = database;
  const leaseSeconds = leaseSecondsFor(deadlineMs);

  return {
    claim: (limit, only) =>
      database.transaction(async (sql) => {
        // One claim at a time, so that what is in flight for a host and a tenant is counted right over all processes.
        await sql.$queryRaw`select pg_advisory_xact_lock(${claimLock})::text`;
        const lease = randomUUID();
        const rows = await sql.$queryRaw<HandshakeRow[]>`
          with busy as (
            select sinkhost, tenant from handshake where state = 'asking' and leaseduntil > now()
          ), ready as (
            select id, dueat, tenant, sinkhost,
              (select count(*) from busy where busy.sinkhost = h.sinkhost) as hostbusy,
              row_number() over (partition by tenant, sinkhost order by dueat, id) as ownplace
            from handshake h
            where ${isReady} and ${isWanted} and (${only ?? null}::uuid is null or id = ${only ?? null}::uuid)
          ), seated as (
            -- Those that wait for their host take no place of their tenant from the others.
            select id, dueat, sinkhost, hostbusy, ownplace,
              (select count(*) from busy where busy.tenant = ready.tenant)
                + row_number() over (partition by tenant order by dueat, id) as tenantplace
            from ready where hostbusy + ownplace <= ${perHost}
          ), placed as (
            -- Nor do those that wait for their tenant take a place of their host from another tenant. Tenants take
            -- turns at a host, so that nobody waits for all that another one has waiting.
            select id, dueat,
              hostbusy + row_number() over (partition by sinkhost order by ownplace, dueat, id) as hostplace
            from seated where tenantplace <= ${perTenant}
          )
          update handshake h set state = 'asking', lease = ${lease}::uuid,
            leaseduntil = now() + make_interval(secs => ${leaseSeconds}::float8),
            -- A renewal asks for the rate of the consent that it is to renew, which may be newer than the renewal.
            requestedrate = case when h.reason <> 'renewal' then h.requestedrate else (
              select g.requestedrate from "grant" g where g.origin = h.origin and g.sink = h.sink) end
          from (
            select id from placed where hostplace <= ${perHost}
            order by dueat, id limit ${limit}
          ) chosen
          -- Once more: it may have been cancelled, or granted by the callback, since it was chosen.
          where h.id = chosen.id and ${isReady}
          returning h.*`;
        return rows.map((row) => claimOf(row, lease));
      }),

    begin: (claim) =>
      database.transaction(async (sql) => {
        const [row] = await sql.$queryRaw<Array<{ attempts: number }>>`
          update handshake set attempts = attempts + 1
          where id = ${claim.id}::uuid and lease = ${claim.lease}::uuid and state = 'asking' returning attempts`;
        if (row === undefined) return undefined;
        await sql.$executeRaw`
          update attempt set finishedat = now(), verdict = 'interrupted'
          where handshake = ${claim.id}::uuid and finishedat is null`;

        const { headers, recorded, callbackKeyHash } = prepareAttempt(claim.id, claim, publicUrl);
        await sql.$executeRaw`
          insert into attempt (handshake, number, requestheaders, callbackkeyhash, callbackexpiresat)
          values (${claim.id}::uuid, ${row.attempts}, ${JSON.stringify(recorded)}::jsonb, ${callbackKeyHash ?? null},
            case when ${callbackKeyHash === undefined} then null
              else now() + make_interval(secs => ${callbackSeconds}::int) end)`;
        return { number: row.attempts, callbackOffered: callbackKeyHash !== undefined, headers };
      }),

    async handBack(claim, afterMs, verdict, unmade) {
      // One statement: where the handshake is no longer ours, its attempts are not either.
      await client.$executeRaw`
        with back as (
          update handshake set state = 'due', lease = null, leaseduntil = null, verdict = ${verdict},
            dueat = greatest(now() + make_interval(secs => ${afterMs / 1_000}::float8), ${restOf(claim)}),
            attempts = attempts - ${unmade === undefined ? 0 : 1}::int
          where id = ${claim.id}::uuid and lease = ${claim.lease}::uuid and state = 'asking'
          returning id
        )
        delete from attempt where handshake in (select id from back) and number = ${unmade?.number ?? null}::int`;
    },

    async lagSeconds() {
      const [row] = await client.$queryRaw<Array<{ seconds: number }>>`
        select coalesce(extract(epoch from now() - min(coalesce(leaseduntil, dueat))), 0)::float8 as seconds from handshake h
        where ${isReady} and ${isWanted}`;
      return row?.seconds ?? 0;
    },

    async isOpen(id, withinMs) {
      const rows = await client.$queryRaw<unknown[]>`
        select 1 from handshake h where id = ${id}::uuid and ${isWanted}
          and (state = 'asking' or (state = 'due' and dueat <= now() + make_interval(secs => ${withinMs / 1_000}::float8)))`;
      return rows.length > 0;
    },
  };
}

/** Queues a question, at once (a column of milliseconds would round up) or for the end of a rest; returns its id. */
export async function enqueue(sql: Sql, question: Question, id: string = uuidv7()): Promise<string> {
  await sql.$executeRaw`
    insert into handshake (id, tenant, origin, sink, sinkhost, subscription, generation, reason, startedby, requestedrate,
      state, dueat)
    values (${id}::uuid, ${question.tenant}, ${question.origin}, ${question.sink}, ${new URL(question.sink).hostname},
      ${question.subscription ?? null}::uuid, ${question.generation ?? null}, ${question.reason}, ${question.startedBy},
      ${question.requestedRate ?? null}, 'due',
      greatest(date_trunc('milliseconds', now()), ${restOf(question)}))`;
  return id;
}

/** Ends what was asked for a subscription, and makes its callbacks unknown, however the handshakes ended. */
export function closeHandshakesOf(sql: Sql, subscription: string): Promise<void> {
  return close(sql, Prisma.sql`subscription = ${subscription}::uuid`);
}

/**
 * The same for what was sent with another rate: its answer would set a rate that nobody wants any more, and so would
 * its callback, even after the answer. Where there is a consent already it stands.
 */
export async function closeHandshakesOfOtherRate(sql: Sql, subscription: string, rate: number | null): Promise<void> {
  const own = Prisma.sql`subscription = ${subscription}::uuid`;
  await holdOpen(sql, own);
  await close(
    sql,
    Prisma.sql`${own} and requestedrate is distinct from ${rate}::int
      and state <> 'granted' and (state <> 'due' or attempts > 0)`,
  );
}

/**
 * The same for a renewal that is under way with a rate that no subscription of the pair asks for any more; `rate` is what
 * those ask for that name none. One that is due waits until the middle of what is left of its consent: asked at the same
 * time as another rate it could be answered last, and would bring the old one back.
 */
export async function closeUnwantedRenewal(
  sql: Sql,
  { tenant, origin, sink }: Pair,
  rate: number | null,
): Promise<void> {
  const renewal = Prisma.sql`
    h.origin = ${origin} and h.sink = ${sink} and h.tenant = ${tenant} and h.reason = 'renewal'`;
  const isUnwanted = (asked: Prisma.Sql) => Prisma.sql`not exists (
    select 1 from subscription s where s.origin = ${origin} and s.sink = ${sink}
      and coalesce(s.requestedrate, ${rate}::int) is not distinct from ${asked})`;
  await holdOpen(sql, renewal);
  await close(
    sql,
    Prisma.sql`${renewal} and h.state in ('asking', 'waiting') and ${isUnwanted(Prisma.sql`h.requestedrate`)}`,
  );
  await sql.$executeRaw`
    update handshake h set dueat = greatest(h.dueat, now() + (g.expiresat - now()) / 2) from "grant" g
    where ${renewal} and h.state = 'due' and g.origin = h.origin and g.sink = h.sink and g.state = 'live'
      and g.expiresat > now() and ${isUnwanted(Prisma.sql`g.requestedrate`)}`;
}

/** The same for all handshakes of a pair, renewals among them. */
export function closeHandshakesOfPair(sql: Sql, { tenant, origin, sink }: Pair): Promise<void> {
  return close(sql, Prisma.sql`origin = ${origin} and sink = ${sink} and tenant = ${tenant}`);
}

/** The same for a renewal that waits because all subscriptions of the pair are suspended, once its consent is over. */
export function closeWaitingRenewal(sql: Sql, { tenant, origin, sink }: Pair): Promise<void> {
  return close(
    sql,
    Prisma.sql`origin = ${origin} and sink = ${sink} and tenant = ${tenant} and reason = 'renewal' and state = 'due'
      and not exists (
        select 1 from subscription s where s.origin = ${origin} and s.sink = ${sink} and s.suspendedat is null)
      and not exists (
        select 1 from "grant" g where g.origin = ${origin} and g.sink = ${sink} and g.state = 'live' and g.expiresat > now())`,
  );
}

/**
 * Until the transaction ends nobody claims, hands back or settles them. A statement that depends on whether they are due
 * or being asked would miss one that is claimed at this moment, with what it is to be asked by then.
 */
async function holdOpen(sql: Sql, which: Prisma.Sql): Promise<void> {
  await sql.$queryRaw`
    select 1 from handshake h where ${which} and state in ('due', 'asking', 'waiting') order by id for update`;
}

/** due | asking | waiting -> cancelled. */
async function close(sql: Sql, which: Prisma.Sql): Promise<void> {
  await sql.$executeRaw`
    update handshake h set callbackopen = false, lease = null, leaseduntil = null,
      finishedat = coalesce(finishedat, now()),
      state = case when state in ('due', 'asking', 'waiting') then 'cancelled' else state end
    where ${which} and callbackopen`;
}

function claimOf(row: HandshakeRow, lease: string): Claim {
  return {
    id: row.id,
    lease,
    tenant: row.tenant,
    origin: row.origin,
    sink: row.sink,
    sinkHost: row.sinkhost,
    subscription: row.subscription ?? undefined,
    generation: row.generation ?? undefined,
    reason: row.reason as HandshakeReason,
    startedBy: row.startedby,
    requestedRate: row.requestedrate ?? undefined,
    createdAt: row.createdat,
  };
}
