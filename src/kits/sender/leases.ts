import { denials } from '../../consent/decision.js';
import type { components } from '../../base/contract/contract.gen.js';
import { AssentError } from '../client/assent-error.js';
import type { Client } from '../client/create-client.js';

export type Permission = components['schemas']['Permission'];

/** One request may be sent, immediately and once. */
export interface Permit extends Permission {
  allowed: true;
  /** Call this if the request was not sent. */
  giveBack(): void;
}

/** Nothing may be sent. `denial` and `message` say why; `helduntil` is the end of a hold. */
export interface Denied extends Permission {
  allowed: false;
}

/** The origin may send, but not now: its senders have sent as much as the webhook allows. */
export interface RateUsedUp extends Omit<Denied, 'denial'> {
  denial: 'rate_used_up';
  /** With fractions: when this instance may get a share again. */
  retryAfterSeconds: number;
}

/** A denial with its code and message; or a lease, if any, and when to ask for the next one. */
export type LeaseResult =
  | { denied: Pick<Denied, 'denial' | 'message' | 'helduntil'> }
  | { lease: string | undefined; requests: number; seconds: number; retryAfterMs: number | undefined };

/** `POST /v1/leases` and `DELETE /v1/leases/{id}` for one instance. */
export class LeaseClient {
  readonly #client: Client;
  readonly #instance: string;
  readonly #signal: AbortSignal;

  constructor(client: Client, instance: string, signal: AbortSignal) {
    this.#client = client;
    this.#instance = instance;
    this.#signal = signal;
  }

  /** `returns` gives back the unused part of earlier leases. */
  async take(request: {
    origin: string;
    sink: string;
    requests: number;
    returns: Array<{ lease: string; unused: number }>;
  }): Promise<LeaseResult> {
    const { returns, ...rest } = request;
    const body = { ...rest, instance: this.#instance, ...(returns.length === 0 ? {} : { returns }) };
    const answer = await this.#client.POST('/leases', { body, signal: this.#signal }).catch(deniedBy);
    if ('denied' in answer) return answer;
    const { lease, requests, seconds = 0, waitseconds, helduntil } = answer.data;
    if (helduntil !== undefined) return { denied: { denial: 'held', message: denials.held, helduntil } };
    return { lease, requests, seconds, retryAfterMs: waitseconds === undefined ? undefined : waitseconds * 1_000 };
  }

  async handBack(lease: string, unused: number): Promise<void> {
    const params = { path: { id: lease }, query: { unused } };
    await this.#client.DELETE('/leases/{id}', { params, signal: this.#signal });
  }
}

/** The denial that an error of the registry carries. Throws every other error. */
export function deniedBy(error: unknown): Extract<LeaseResult, { denied: unknown }> {
  const [fault] = error instanceof AssentError && error.code === 'not_permitted' ? error.faults : [];
  if (fault === undefined) throw error;
  return { denied: { denial: fault.rule, message: fault.detail } };
}
