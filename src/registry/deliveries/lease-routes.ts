import { RegistryError } from '../../base/errors.js';
import { denials } from '../../consent/permission.js';
import type { components } from '../../base/contract/contract.gen.js';
import type { Handlers } from '../http/handler.js';
import { leaseSeconds, type LeaseAnswer, type Leases } from './lease.js';

export interface LeaseRoutes {
  leases: Leases;
  /** For the metrics and the statistics. */
  onLease: (lease: LeaseReport) => void;
}

/** Leases are not in the change log. */
const isFollowed = true;

export interface LeaseReport {
  tenant: string;
  origin: string;
  outcome: LeaseOutcome;
  /** Requests that the instance may send. */
  requests: number;
  /** Requests per minute, if this is the first lease of the pair in this minute; otherwise 0. */
  allowed: number;
}

export type LeaseOutcome = 'granted' | 'empty' | 'held' | 'unlimited' | 'denied';

export function createLeaseHandlers({ leases, onLease }: LeaseRoutes): Handlers<'takeLease' | 'returnLease'> {
  return {
    takeLease: async ({ body, principal, address }) => {
      const { sink, instance, requests, returns = [] } = body;
      const origin = body.origin.toLowerCase();
      const answer = await leases.take({ tenant: principal.tenant, origin, sink, instance, requests, returns });
      onLease(reportOf(principal.tenant, origin, answer));
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

export function reportOf(tenant: string, origin: string, answer: LeaseAnswer): LeaseReport {
  return { tenant, origin, outcome: outcomeOf(answer), ...sharesOf(answer) };
}

function outcomeOf(answer: LeaseAnswer): LeaseOutcome {
  if (answer.kind !== 'counted') return answer.kind;
  return answer.requests > 0 ? 'granted' : 'empty';
}

function sharesOf(answer: LeaseAnswer): Pick<LeaseReport, 'requests' | 'allowed'> {
  if (answer.kind !== 'counted') return { requests: 0, allowed: 0 };
  return { requests: answer.requests, allowed: answer.isFirst && answer.rate !== '*' ? answer.rate : 0 };
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
        lease === undefined ? {} : { lease: lease.id, seconds: leaseSeconds, until: lease.until.toISOString() };
      return { requests, allowedrate: rate, ...share, retryafter: retryAfterSeconds };
    }
  }
}
