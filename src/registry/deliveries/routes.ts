import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import { denials } from '../../consent/decision.js';
import { leaseMs } from '../../consent/lease.js';
import type { components } from '../../base/contract/contract.gen.js';
import type { Handlers } from '../http/handler.js';
import type { LeaseAnswer } from './lease.js';
import { outcomeRoutes } from './outcome-routes.js';

/** Leases are not in the change log. */
const isFollowed = true;

type LeaseOutcome = 'granted' | 'empty' | 'held' | 'unlimited' | 'denied';

export function routes(context: Context): Handlers<'takeLease' | 'returnLease' | 'reportOutcomes' | 'getDeliveries'> {
  const { leases } = context;
  return {
    ...outcomeRoutes(context),

    takeLease: async ({ body, principal, address }) => {
      const { sink, instance, requests, returns = [] } = body;
      const origin = body.origin.toLowerCase();
      const answer = await leases.take({ tenant: principal.tenant, origin, sink, instance, requests, returns });
      countLease(context, principal.tenant, origin, answer);
      if (answer.kind === 'denied') {
        const detail = denials[answer.denial];
        throw new RegistryError('not_permitted', detail, {
          faults: [{ pointer: '/sink', rule: answer.denial, detail }],
        });
      }
      const presented = { origin, sink, ...present(answer, requests) };
      return answer.kind === 'counted' && answer.lease !== undefined
        ? { status: 201, headers: { Location: `${address}/${answer.lease.id}` }, isFollowed, body: presented }
        : { status: 200, isFollowed, body: presented };
    },

    returnLease: async ({ path, query, principal }) => {
      const returned = await leases.handBack(principal.tenant, path.id, query.unused);
      if (returned === undefined)
        throw new RegistryError('lease_not_found', 'This lease does not exist, or it has expired.');
      return { status: 200, isFollowed, body: { lease: path.id, returned } };
    },
  };
}

/** In the metrics and the statistics. */
export function countLease(
  { metrics, counter }: Pick<Context, 'metrics' | 'counter'>,
  tenant: string,
  origin: string,
  answer: LeaseAnswer,
): void {
  const requests = answer.kind === 'counted' ? answer.requests : 0;
  metrics.lease(outcomeOf(answer), requests);
  counter.count(tenant, origin, { kind: 'lease', code: 'leased' }, requests);
  // The rate of a pair counts once a minute, with its first lease.
  const allowed = answer.kind === 'counted' && answer.isFirst && answer.rate !== '*' ? answer.rate : 0;
  counter.count(tenant, origin, { kind: 'lease', code: 'allowed' }, allowed);
}

function outcomeOf(answer: LeaseAnswer): LeaseOutcome {
  if (answer.kind !== 'counted') return answer.kind;
  return answer.requests > 0 ? 'granted' : 'empty';
}

type Presented = Omit<components['schemas']['Lease'], 'origin' | 'sink'>;

function present(answer: Exclude<LeaseAnswer, { kind: 'denied' }>, wanted: number): Presented {
  switch (answer.kind) {
    case 'unlimited':
      return { requests: wanted, allowedrate: '*', unlimited: true };
    case 'held':
      return {
        requests: 0,
        allowedrate: answer.rate,
        helduntil: answer.until.toISOString(),
        retryafter: answer.retryAfterSeconds,
      };
    case 'counted': {
      const { lease, rate, requests, retryAfterSeconds } = answer;
      const share =
        lease === undefined ? {} : { lease: lease.id, seconds: leaseMs / 1_000, until: lease.until.toISOString() };
      return { requests, allowedrate: rate, ...share, retryafter: retryAfterSeconds };
    }
  }
}
