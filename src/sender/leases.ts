import { denials } from '../grants/permission.js';
import type { components } from '../http/contract.gen.js';
import type { Denied } from './permit.js';
import { RegistryRefusal, type RegistryClient } from './registry-client.js';

type Lease = components['schemas']['Lease'];

/** So many requests of a lease may still be sent until it ends, by the clock that only goes forward. */
export interface Share {
  lease: string;
  left: number;
  endsAt: number;
}

export interface LeaseRequest {
  origin: string;
  sink: string;
  requests: number;
  returns: ReadonlyArray<{ lease: string; unused: number }>;
}

/** Nothing may be sent, with the reason and its sentence; or a share, if there is one, and when to ask for the next. */
export type Taken =
  | { denied: Pick<Denied, 'reason' | 'message' | 'helduntil'> }
  | { share: Share | undefined; retryAfterMs: number | undefined };

export interface LeaseClient {
  take(request: LeaseRequest): Promise<Taken>;
  handBack(lease: string, unused: number): Promise<void>;
}

/** A request needs some time from here to the webhook, and must not come there after the end of its lease. */
const wayMs = 250;

/** `POST /v1/leases` and `DELETE /v1/leases/{id}` for one instance. */
export function createLeaseClient(client: RegistryClient, instance: string, signal: AbortSignal): LeaseClient {
  return {
    async take(request) {
      const askedAt = performance.now();
      const { returns, ...rest } = request;
      const body = { ...rest, instance, ...(returns.length === 0 ? {} : { returns }) };
      const answer = await client.call({ method: 'POST', path: 'v1/leases', body, signal }).catch(deniedBy);
      if ('denied' in answer) return answer;
      const { lease, requests, seconds, retryafter, helduntil } = (await answer.json()) as Lease;
      if (helduntil !== undefined) return { denied: { reason: 'held', message: denials.held, helduntil } };
      const endsAt = askedAt + (seconds ?? 0) * 1_000 - wayMs;
      return {
        share: lease === undefined || requests < 1 ? undefined : { lease, left: requests, endsAt },
        retryAfterMs: retryafter === undefined ? undefined : retryafter * 1_000,
      };
    },
    async handBack(lease, unused) {
      const path = `v1/leases/${encodeURIComponent(lease)}?unused=${unused}`;
      const answer = await client.call({ method: 'DELETE', path, signal });
      await answer.dump();
    },
  };
}

function deniedBy(error: unknown): Extract<Taken, { denied: unknown }> {
  const [fault] = error instanceof RegistryRefusal && error.code === 'not_permitted' ? error.faults : [];
  if (fault === undefined) throw error;
  return { denied: { reason: fault.rule, message: fault.detail } };
}
