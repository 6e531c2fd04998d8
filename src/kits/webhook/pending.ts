import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { sleep } from '../../base/until.js';
import { notBefore, retryDelayMs } from '../../consent/backoff.js';
import type { Rate } from '../../consent/rate.js';
import { callCallback, type CallSettings } from './call-callback.js';
import { createCallbackGuard, type CallbackRules } from './callback-url.js';
import { checkRate } from './origin-policy.js';

/**
 * A request for consent that the application decides later. Its states:
 *
 *   waiting    until `expiresat`, without `allowedrate`
 *   allowed    has `allowedrate`; the callback URL is called until it returns 2xx, refuses, or expires
 *   gone       called with success, refused, or expired; no longer in the store
 */
export interface PendingRequest {
  /** Derived from the callback URL, which itself is a secret. */
  id: string;
  origin: string;
  callback: string;
  /** What the sender wants, in requests per minute. */
  requestedrate?: number;
  /** RFC 3339, UTC. */
  requestedat: string;
  expiresat: string;
  allowedrate?: Rate;
}

/** `confirmed`: the callback URL returned 2xx. `rejected`: it returned another final status, or may not be called. */
export type CallbackStatus = 'confirmed' | 'rejected' | 'expired';

/** The callback URL is left out: who has it can give consent. */
export interface Pending extends Omit<PendingRequest, 'callback'> {
  /**
   * Resolves when the decision is stored. Then the callback URL is called, again and again with backoff until it returns
   * a final status or expires. The first decision counts; later ones change nothing. Rejects if the store does, and for
   * a rate that is none.
   */
  allow(rate: Rate): Promise<void>;
  /** Forgets the request. The sender gets no answer, which is no consent. Rejects if the store does. */
  refuse(): Promise<void>;
}

/** Where pending requests survive a restart. A record belongs to its `id`; `save` replaces it. */
export interface PendingStore {
  save(request: PendingRequest): void | Promise<void>;
  remove(id: string): void | Promise<void>;
  list(): readonly PendingRequest[] | Promise<readonly PendingRequest[]>;
}

export interface CallbackSettings extends CallbackRules {
  /** Called with each new request that waits for a decision. */
  onRequest?: ((request: Pending) => void | Promise<void>) | undefined;
  /** Called when the callback URL will not be called again. */
  onOutcome?: ((request: Pending, outcome: CallbackStatus) => void | Promise<void>) | undefined;
  /** In memory if absent. */
  store?: PendingStore | undefined;
  /** Seconds until a callback URL is given up: 3,600 if absent. */
  lifetimeSeconds?: number | undefined;
  /** PEM of an authority that is trusted instead of the public ones. */
  ca?: string | undefined;
  /** Milliseconds for one call: 10,000 if absent. */
  deadlineMs?: number | undefined;
}

export interface PendingRequests {
  /** Keeps what a sender asked, if its callback URL may be called. */
  keep(asked: { origin: string; callback: string; requestedRate: number | undefined }): Promise<void>;
  list(): Promise<Pending[]>;
  close(): void;
}

/** Anyone can send an OPTIONS request that names an origin. */
const max = { all: 1_000, ofHost: 100 };
const backoff = { firstMs: 500, maxMs: 300_000 };

/** Throws an Error for wrong settings. Continues with the calls that the store has. */
export function createPendingRequests(settings: CallbackSettings, onFault: (error: unknown) => void): PendingRequests {
  const { store = memoryStore(), onRequest, onOutcome, lifetimeSeconds = 3_600, ca, deadlineMs = 10_000 } = settings;
  for (const [name, value] of Object.entries({ lifetimeSeconds, deadlineMs })) {
    if (!(Number.isFinite(value) && value > 0)) throw new Error(`\`callbacks.${name}\` is a positive number.`);
  }
  const guard = createCallbackGuard(settings);
  const calling: CallSettings = { guard, ca, deadlineMs };
  const closing = new AbortController();
  // Every call listens to it.
  setMaxListeners(0, closing.signal);
  /** By id, with the end of the URL: what this process decided, so that no later decision calls it again. */
  const decided = new Map<string, number>();

  async function decide({ id, expiresat }: PendingRequest, record: () => void | Promise<void>): Promise<boolean> {
    if (decided.has(id)) return false;
    decided.set(id, Date.parse(expiresat));
    try {
      await record();
      return true;
    } catch (error) {
      decided.delete(id);
      throw error;
    }
  }

  function call(request: PendingRequest, rate: Rate): void {
    const finish = async () => {
      const outcome = await repeat(request, rate);
      if (outcome === 'closed') return;
      await store.remove(request.id);
      await onOutcome?.(present(request), outcome);
    };
    finish().catch(onFault);
  }

  async function repeat(
    { origin, callback, expiresat }: PendingRequest,
    rate: Rate,
  ): Promise<CallbackStatus | 'closed'> {
    const { signal } = closing;
    const url = guard.parse(callback);
    const complain = (why: string) => onFault(new Error(`The callback URL of ${origin} got no consent: ${why}.`));
    for (let attempt = 1; ; attempt += 1) {
      const result =
        typeof url === 'string'
          ? ({ kind: 'rejected', detail: url } as const)
          : await callCallback(url, { origin, rate }, calling, signal);
      if (result.kind === 'confirmed') return 'confirmed';
      if (signal.aborted) return 'closed';
      if (result.kind === 'rejected') {
        complain(result.detail);
        return 'rejected';
      }
      const waitMs = notBefore(result.retryAfterMs, retryDelayMs(attempt, backoff));
      if (Date.now() + waitMs >= Date.parse(expiresat)) {
        complain(`it expired, and at last ${result.detail}`);
        return 'expired';
      }
      await sleep(waitMs, signal, { ref: false });
    }
  }

  function present(request: PendingRequest): Pending {
    const { callback: _, ...shown } = request;
    return {
      ...shown,
      async allow(rate) {
        checkRate(rate, '`allow`');
        const allowed = { ...request, allowedrate: rate };
        if (await decide(request, () => store.save(allowed))) call(allowed, rate);
      },
      async refuse() {
        await decide(request, () => store.remove(request.id));
      },
    };
  }

  /** What is in the store and not expired. */
  async function current(): Promise<PendingRequest[]> {
    const now = Date.now();
    for (const [id, expiresAt] of decided) if (expiresAt <= now) decided.delete(id);
    const all = await store.list();
    const old = all.filter(({ expiresat }) => Date.parse(expiresat) <= now);
    await Promise.all(old.map(async ({ id }) => store.remove(id)));
    return all.filter((request) => !old.includes(request));
  }

  async function resume(): Promise<void> {
    for (const request of await current()) {
      const { allowedrate } = request;
      if (allowedrate !== undefined && (await decide(request, () => undefined))) call(request, allowedrate);
    }
  }
  resume().catch(onFault);

  return {
    async keep({ origin, callback, requestedRate }) {
      const url = guard.parse(callback);
      if (typeof url === 'string') return onFault(new Error(`The callback URL of ${origin} is not kept: ${url}.`));
      const id = createHash('sha256').update(callback).digest('base64url').slice(0, 22);
      const known = await current();
      if (decided.has(id) || known.some((request) => request.id === id)) return;
      const ofHost = known.filter((request) => new URL(request.callback).host === url.authority);
      if (known.length >= max.all || ofHost.length >= max.ofHost) {
        return onFault(new Error(`The callback URL of ${origin} is not kept: too many requests wait for a decision.`));
      }
      const now = Date.now();
      const request: PendingRequest = {
        id,
        origin,
        callback,
        ...(requestedRate !== undefined && { requestedrate: requestedRate }),
        requestedat: new Date(now).toISOString(),
        expiresat: new Date(now + lifetimeSeconds * 1_000).toISOString(),
      };
      await store.save(request);
      // Not awaited: the sender waits for the response to OPTIONS.
      void (async () => onRequest?.(present(request)))().catch(onFault);
    },
    list: async () => (await current()).map(present),
    close: () => closing.abort(),
  };
}

function memoryStore(): PendingStore {
  const requests = new Map<string, PendingRequest>();
  return {
    save: (request) => void requests.set(request.id, request),
    remove: (id) => void requests.delete(id),
    list: () => [...requests.values()],
  };
}
