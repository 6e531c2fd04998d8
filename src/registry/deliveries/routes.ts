import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import type { Pair } from '../../consent/grant.js';
import { denials } from '../../consent/decision.js';
import { leaseMs } from '../../consent/lease.js';
import type { components } from '../../base/contract/contract.gen.js';
import { idempotent, replayHeader, type Handlers } from '../http/handler.js';
import { databaseTime, type Database, type Sql } from '../storage/database.js';
import { Prisma } from '../storage/generated/client.js';
import { claimKey, noteResource, type IdempotentRequest } from '../storage/idempotency.js';
import { Leases, type LeaseAnswer } from './lease.js';
import { outcomeRoutes } from './outcome-routes.js';

/** Leases are not in the change log. */
const isFollowed = true;

type LeaseOutcome = 'granted' | 'empty' | 'held' | 'unlimited' | 'denied';

export function routes(context: Context): Handlers<'takeLease' | 'returnLease' | 'reportOutcomes' | 'getDeliveries'> {
  const { leases } = context;
  return {
    ...outcomeRoutes(context),

    takeLease: async (call) => {
      const { body, principal, address } = call;
      const { sink, instance, requests, returns = [] } = body;
      const origin = body.origin.toLowerCase();
      const wanted = { tenant: principal.tenant, origin, sink, instance, requests, returns };
      const takeFrom = async (pools: Pick<Leases, 'take'>): Promise<Taken> => {
        const answer = await pools.take(wanted);
        if (answer.kind !== 'denied') return { answer, lease: { origin, sink, ...present(answer, requests) } };
        countLease(context, wanted, answer);
        const detail = denials[answer.denial];
        throw new RegistryError('not_permitted', detail, {
          faults: [{ pointer: '/sink', rule: answer.denial, detail }],
        });
      };
      // Without a key, many requests share a statement, and none is written down.
      const { answer, lease } =
        call.header['idempotency-key'] === undefined
          ? await takeFrom(leases)
          : await takeOnce(context.database, idempotent(call, 'takeLease', body), takeFrom);
      if (answer !== undefined) countLease(context, wanted, answer);
      const headers = replayHeader(answer === undefined);
      return lease.lease === undefined
        ? { status: 200, headers, isFollowed, body: lease }
        : { status: 201, headers: { Location: `${address}/${lease.lease}`, ...headers }, isFollowed, body: lease };
    },

    returnLease: async ({ path, query, principal }) => {
      const returned = await leases.handBack(principal.tenant, path.id, query.unused);
      if (returned === undefined)
        throw new RegistryError('lease_not_found', 'This lease does not exist, or it has expired.');
      return { status: 200, isFollowed, body: { lease: path.id, returned } };
    },
  };
}

type Lease = components['schemas']['Lease'];

interface Taken {
  /** Undefined if an earlier request with the same key took the lease. */
  answer: LeaseAnswer | undefined;
  lease: Lease;
}

/** A repeated request gets the same lease, with the seconds that are left of it. A refused one keeps no key. */
function takeOnce(
  { write }: Pick<Database, 'write'>,
  request: IdempotentRequest,
  takeFrom: (pools: Leases) => Promise<Taken>,
): Promise<Taken> {
  return write(async ({ sql }) => {
    const earlier = await claimKey(sql, request, '');
    if (earlier !== undefined) return { answer: undefined, lease: await restOf(JSON.parse(earlier) as Lease, sql) };
    const taken = await takeFrom(new Leases({ sql, query: queryWith(sql) }));
    await noteResource(sql, request, JSON.stringify(taken.lease));
    return taken;
  });
}

async function restOf(lease: Lease, sql: Sql): Promise<Lease> {
  if (lease.until === undefined) return lease;
  const leftMs = Date.parse(lease.until) - (await databaseTime(sql)).getTime();
  return { ...lease, seconds: Math.max(0, leftMs / 1_000) };
}

/** In a transaction. A statement has each of its parameters once, in their order. */
const queryWith =
  (sql: Sql): Database['query'] =>
  (text, values = []) =>
    sql.$queryRaw`${Prisma.sql(text.split(/\$\d+/), ...values)}`;

/** In the metrics and the statistics. */
export function countLease(
  { metrics, counter }: Pick<Context, 'metrics' | 'counter'>,
  pair: Pair,
  answer: LeaseAnswer,
): void {
  const requests = answer.kind === 'counted' ? answer.requests : 0;
  metrics.lease(outcomeOf(answer), requests);
  counter.count(pair, { kind: 'lease', code: 'leased' }, requests);
  // The rate of a pair counts once a minute, with its first lease.
  const allowed = answer.kind === 'counted' && answer.isFirst && answer.rate !== '*' ? answer.rate : 0;
  counter.count(pair, { kind: 'lease', code: 'allowed' }, allowed);
}

function outcomeOf(answer: LeaseAnswer): LeaseOutcome {
  if (answer.kind !== 'counted') return answer.kind;
  return answer.requests > 0 ? 'granted' : 'empty';
}

type Presented = Omit<Lease, 'origin' | 'sink'>;

function present(answer: Exclude<LeaseAnswer, { kind: 'denied' }>, wanted: number): Presented {
  switch (answer.kind) {
    case 'unlimited':
      return { requests: wanted, allowedrate: '*', unlimited: true };
    case 'held':
      return {
        requests: 0,
        allowedrate: answer.rate,
        helduntil: answer.until.toISOString(),
        waitseconds: answer.retryAfterSeconds,
      };
    case 'counted': {
      const { lease, rate, requests, retryAfterSeconds } = answer;
      const share =
        lease === undefined ? {} : { lease: lease.id, seconds: leaseMs / 1_000, until: lease.until.toISOString() };
      return { requests, allowedrate: rate, ...share, waitseconds: retryAfterSeconds };
    }
  }
}
