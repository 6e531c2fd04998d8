import { randomUUID } from 'node:crypto';
import type { Database, Sql } from '../storage/database.js';
import { Prisma, type handshake as HandshakeRow } from '../storage/generated/client.js';
import { uuidv7 } from '../storage/ids.js';
import type { BegunAttempt, Claim, HandshakeReason, Question } from './handshake.js';
import { prepareAttempt } from './request-headers.js';
import { restOf } from './rest.js';

/**
 * The handshake rows as a queue: put in, claim, begin an attempt, hand back. What comes of an attempt: settle.ts. What
 * nobody wants any more: close.ts.
 */
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
