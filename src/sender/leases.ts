import { denials } from '../grants/permission.js';
import type { components } from '../http/contract.gen.js';
import { RegistryRefusal, type RegistryClient } from './registry-client.js';

type Lease = components['schemas']['Lease'];
export type Permission = components['schemas']['Permission'];

/** One request may be sent, now: not later, and not twice. */
export interface Permit extends Permission {
  allowed: true;
  /** It was not sent after all. */
  giveBack(): void;
}

/** Nothing may be sent: `reason` and `message` say why, `helduntil` until when if the webhook asked for a hold. */
export interface Denied extends Permission {
  allowed: false;
}

/** So many requests of a lease may still be sent until it ends, by the clock that only goes forward. */
export interface Share {
  lease: string;
  left: number;
  endsAt: number;
}

/** Nothing may be sent, with the reason and its sentence; or a share, if there is one, and when to ask for the next. */
export type LeaseResult =
  | { denied: Pick<Denied, 'reason' | 'message' | 'helduntil'> }
  | { share: Share | undefined; retryAfterMs: number | undefined };

export interface LeaseClient {
  /** `returns` hands back what was not used of earlier leases. */
  take(request: {
    origin: string;
    sink: string;
    requests: number;
    returns: ReadonlyArray<{ lease: string; unused: number }>;
  }): Promise<LeaseResult>;
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

function deniedBy(error: unknown): Extract<LeaseResult, { denied: unknown }> {
  const [fault] = error instanceof RegistryRefusal && error.code === 'not_permitted' ? error.faults : [];
  if (fault === undefined) throw error;
  return { denied: { reason: fault.rule, message: fault.detail } };
}
