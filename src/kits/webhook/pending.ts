import { sleep } from '../../base/until.js';
import { notBefore, retryDelayMs } from '../../consent/backoff.js';
import type { Rate } from '../../consent/rate.js';
import { sha256 } from './authentication.js';
import type { Caller, CallResult, CallSettings } from './callback-call.js';
import { createCallbackGuard, type CallbackRules } from './callback-url.js';
import type { WaitUntil } from './exchange.js';
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
  /** Without a background: how often the callback URL was called, and when it may be called again. */
  attempts?: number;
  retryat?: string;
}

/**
 * `confirmed`: the callback URL returned 2xx. `rejected`: it returned another final status, or may not be called.
 * `expired`: its time is over, or it gave way to other requests.
 */
export type CallbackStatus = 'confirmed' | 'rejected' | 'expired';

/** The callback URL is left out: who has it can give consent. */
export interface Pending extends Omit<PendingRequest, 'callback'> {
  /**
   * Resolves when the decision is stored. Then the callback URL is called, again and again with backoff until it returns
   * a final status or expires. Without a background, it resolves when the URL was called once; `resume` of the webhook
   * calls it again. The first decision counts; later ones change nothing. Rejects if the store does, and for a rate that
   * is none.
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
  /**
   * Whether the process goes on after a response, so that it can call again later. True in Node, Deno and Bun, false on
   * edge runtimes. Set it to false in functions whose process is frozen after the response.
   */
  background?: boolean | undefined;
}

/** Anyone can send an OPTIONS request that names an origin, and write a callback URL. */
const maxRequests = 1_000;
/** So many with one host and path are no crowd. */
const maxUncrowded = 50;
/** Without a background: of one `resume`, and at the same time. Platforms limit both. */
const perResume = { all: 40, together: 5 };
const backoff = { firstMs: 500, maxMs: 300_000 };

interface Facts {
  requestedMs: number;
  expiresMs: number;
  /** Host and path of the callback URL. */
  place: string;
}

/** The requests for consent that wait for the application, or for their callback URL. */
export class PendingRequests {
  readonly #store: PendingStore;
  readonly #settings: CallbackSettings;
  readonly #caller: Caller;
  readonly #calling: CallSettings;
  readonly #lifetimeMs: number;
  readonly #background: boolean;
  /** Why no request can be kept; undefined if it can. */
  readonly #unable: string | undefined;
  readonly #onFault: (error: unknown) => void;
  /** What this process decided, so that no later decision calls it again: the ids, the oldest first. */
  readonly #decided = new Set<string>();
  /** The calls that go on in the background, by id. */
  readonly #running = new Map<string, AbortController>();
  /** What is read from the texts of a record, for a store that returns the same objects each time. */
  readonly #facts = new WeakMap<PendingRequest, Facts>();
  /** Set when a request gave way, until there is room again: one line in the log, not one for each. */
  #isFull = false;
  #isClosed = false;

  /** Throws an Error for wrong settings. */
  constructor(settings: CallbackSettings | undefined, caller: Caller, onFault: (error: unknown) => void) {
    const { store, lifetimeSeconds = 3_600, ca, deadlineMs = 10_000, hosts, development = false } = settings ?? {};
    for (const [name, value] of Object.entries({ lifetimeSeconds, deadlineMs })) {
      if (!(Number.isFinite(value) && value > 0)) throw new Error(`\`callbacks.${name}\` is a positive number.`);
    }
    this.#background = settings?.background ?? caller.background;
    this.#unable =
      store === undefined && !this.#background
        ? '`callbacks.store` is not set, and nothing else here outlives a response'
        : hosts === undefined && !caller.checksAddresses && !development
          ? '`callbacks.hosts` is not set, and no one here checks the address of a host'
          : ca !== undefined && !caller.checksAddresses
            ? '`callbacks.ca` is set, and fetch takes no authorities'
            : undefined;
    if (settings !== undefined && this.#unable !== undefined) throw new Error(`${this.#unable}.`);
    this.#store = store ?? memoryStore();
    this.#settings = settings ?? {};
    this.#caller = caller;
    this.#calling = { guard: createCallbackGuard(this.#settings), ca, deadlineMs };
    this.#lifetimeMs = lifetimeSeconds * 1_000;
    this.#onFault = onFault;
    // A runtime without a background may allow nothing outside of requests.
    if (this.#background) this.resume().catch(onFault);
  }

  /**
   * Keeps what a sender asked, if its callback URL may be called. `waitUntil` gets the work that the response does not
   * wait for.
   */
  async keep(
    { origin, callback, requestedRate }: { origin: string; callback: string; requestedRate: number | undefined },
    waitUntil: WaitUntil | undefined,
  ): Promise<void> {
    const url = this.#calling.guard.parse(callback);
    const why = this.#unable ?? (typeof url === 'string' ? url : undefined);
    if (why !== undefined) return this.#onFault(new Error(`The callback URL of ${origin} is not kept: ${why}.`));
    const id = await idOf(callback);
    const known = await this.#current();
    if (this.#decided.has(id) || known.some((request) => request.id === id)) return;
    await this.#makeRoom(known);
    const now = Date.now();
    const request: PendingRequest = {
      id,
      origin,
      callback,
      ...(requestedRate !== undefined && { requestedrate: requestedRate }),
      requestedat: new Date(now).toISOString(),
      expiresat: new Date(now + this.#lifetimeMs).toISOString(),
    };
    await this.#store.save(request);
    const reported = (async () => this.#settings.onRequest?.(this.#present(request)))().catch(this.#onFault);
    // The sender waits for the response to OPTIONS.
    if (waitUntil) waitUntil(reported);
    else if (!this.#background) await reported;
  }

  async list(): Promise<Pending[]> {
    return (await this.#current()).map((request) => this.#present(request));
  }

  /**
   * Calls what is decided and not confirmed: with a background what this process does not call yet, without one what is
   * due, once each. Resolves when the calls are over, or in the background.
   */
  async resume(): Promise<void> {
    const decided = (await this.#current()).filter(({ allowedrate }) => allowedrate !== undefined);
    if (this.#background) {
      for (const request of decided) this.#callInBackground(request);
      return;
    }
    const now = Date.now();
    const dueAt = ({ retryat, requestedat }: PendingRequest) => Date.parse(retryat ?? requestedat);
    const due = decided.filter((request) => dueAt(request) <= now).sort((one, other) => dueAt(one) - dueAt(other));
    for (let at = 0; at < Math.min(due.length, perResume.all); at += perResume.together) {
      await Promise.all(due.slice(at, at + perResume.together).map((request) => this.#callOnce(request)));
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#running.values()) stop.abort();
  }

  #present(request: PendingRequest): Pending {
    const { callback: _, attempts: _attempts, retryat: _retryat, ...shown } = request;
    const decide = async (record: () => void | Promise<void>) => {
      if (request.allowedrate !== undefined || this.#decided.has(request.id)) return false;
      this.#decided.add(request.id);
      // Old ones are no longer in the store, or expired.
      if (this.#decided.size > maxRequests) this.#decided.delete(this.#decided.values().next().value!);
      try {
        await record();
        return true;
      } catch (error) {
        this.#decided.delete(request.id);
        throw error;
      }
    };
    return {
      ...shown,
      allow: async (rate) => {
        checkRate(rate, '`allow`');
        const allowed = { ...request, allowedrate: rate };
        if (!(await decide(() => this.#store.save(allowed)))) return;
        if (this.#background) this.#callInBackground(allowed);
        else await this.#callOnce(allowed);
      },
      refuse: async () => {
        await decide(() => this.#store.remove(request.id));
      },
    };
  }

  #callInBackground(request: PendingRequest): void {
    if (this.#running.has(request.id)) return;
    const stop = new AbortController();
    this.#running.set(request.id, stop);
    this.#decided.add(request.id);
    const finish = async () => {
      const outcome = await this.#repeat(request, stop.signal);
      if (outcome !== 'stopped') await this.#end(request, outcome);
    };
    finish()
      .catch(this.#onFault)
      .finally(() => this.#running.delete(request.id));
  }

  async #repeat(request: PendingRequest, signal: AbortSignal): Promise<CallbackStatus | 'stopped'> {
    for (let attempt = 1; !this.#isClosed; attempt += 1) {
      const result = await this.#call(request, signal);
      if (result.kind !== 'confirmed' && signal.aborted) break;
      const next = this.#after(request, result, attempt);
      if (typeof next === 'string') return next;
      await sleep(next, signal, { ref: false });
    }
    return 'stopped';
  }

  async #callOnce(request: PendingRequest): Promise<void> {
    const attempts = (request.attempts ?? 0) + 1;
    const next = this.#after(request, await this.#call(request, new AbortController().signal), attempts);
    if (typeof next === 'string') return this.#end(request, next);
    await this.#store.save({ ...request, attempts, retryat: new Date(Date.now() + next).toISOString() });
  }

  async #call({ origin, callback, allowedrate: rate }: PendingRequest, signal: AbortSignal): Promise<CallResult> {
    const url = this.#calling.guard.parse(callback);
    if (typeof url === 'string') return { kind: 'rejected', detail: url };
    return this.#caller.call(url, { origin, rate: rate! }, this.#calling, signal);
  }

  /** What a call means: the outcome, or the milliseconds until the next one. */
  #after({ origin, expiresat }: PendingRequest, result: CallResult, attempt: number): CallbackStatus | number {
    if (result.kind === 'confirmed') return 'confirmed';
    const complain = (why: string) => this.#onFault(new Error(`The callback URL of ${origin} got no consent: ${why}.`));
    if (result.kind === 'rejected') {
      complain(result.detail);
      return 'rejected';
    }
    const waitMs = notBefore(result.retryAfterMs, retryDelayMs(attempt, backoff));
    if (Date.now() + waitMs < Date.parse(expiresat)) return waitMs;
    complain(`it expired, and at last ${result.detail}`);
    return 'expired';
  }

  async #end(request: PendingRequest, outcome: CallbackStatus): Promise<void> {
    await this.#store.remove(request.id);
    await this.#settings.onOutcome?.(this.#present(request), outcome);
  }

  /** What is in the store and not expired. */
  async #current(): Promise<PendingRequest[]> {
    const now = Date.now();
    const all = await this.#store.list();
    const kept: PendingRequest[] = [];
    for (const request of all) {
      if (this.#factsOf(request).expiresMs > now) kept.push(request);
      else if (request.allowedrate === undefined) await this.#store.remove(request.id);
      // The background reports the others itself.
      else if (!this.#running.has(request.id)) await this.#end(request, 'expired');
    }
    return kept;
  }

  #factsOf(request: PendingRequest): Facts {
    let facts = this.#facts.get(request);
    if (facts === undefined) {
      const { requestedat, expiresat, callback } = request;
      const place = /^[^?]*/.exec(callback)![0].toLowerCase();
      facts = { requestedMs: Date.parse(requestedat), expiresMs: Date.parse(expiresat), place };
      this.#facts.set(request, facts);
    }
    return facts;
  }

  /** Keeps the number of requests below the limit: `giveWay` says which ones go. */
  async #makeRoom(known: PendingRequest[]): Promise<void> {
    if (known.length < maxRequests / 2) this.#isFull = false;
    if (known.length < maxRequests) return;
    if (!this.#isFull) {
      this.#isFull = true;
      this.#onFault(new Error(`More than ${maxRequests} requests for consent wait, so some of them gave way.`));
    }
    for (const request of giveWay(known, (each) => this.#factsOf(each))) {
      this.#running.get(request.id)?.abort();
      if (request.allowedrate !== undefined) await this.#end(request, 'expired');
      else await this.#store.remove(request.id);
    }
  }
}

/** Derived from the URL, so that a repeated question is the same request. */
async function idOf(callback: string): Promise<string> {
  const hash = await sha256(callback);
  return btoa(String.fromCharCode(...hash.subarray(0, 17)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 22);
}

/**
 * Which requests give way when all places are taken. Nobody knows who asked: origin and callback URL are claims, and one
 * sender can invent many. So a request is only told from others by the host and the path of its callback URL. If one host
 * and path has many, some of those give way; otherwise some of all. They are the ones in the middle by age. So the older
 * half keeps its places, whatever comes after it, and the newer half takes whatever comes, the oldest of it first: a
 * flood neither ends what was asked before it nor keeps out what is asked after it. What is decided gives way last.
 */
function giveWay(
  requests: readonly PendingRequest[],
  factsOf: (request: PendingRequest) => Facts,
): readonly PendingRequest[] {
  const waiting = requests.filter(({ allowedrate }) => allowedrate === undefined);
  const candidates = waiting.length > 0 ? waiting : requests;
  const groups = new Map<string, PendingRequest[]>();
  let largest: PendingRequest[] = [];
  for (const request of candidates) {
    const { place } = factsOf(request);
    const group = groups.get(place) ?? [];
    if (group.push(request) === 1) groups.set(place, group);
    if (group.length > largest.length) largest = group;
  }
  const among = largest.length > maxUncrowded ? largest : candidates;
  // Of one millisecond, in the order of the store.
  const byAge = among.toSorted((one, other) => factsOf(one).requestedMs - factsOf(other).requestedMs);
  const middle = byAge.length >> 1;
  // Several at once, so that a flood pays for this seldom.
  return byAge.slice(middle, middle + Math.max(1, byAge.length >> 5, requests.length - maxRequests));
}

function memoryStore(): PendingStore {
  const requests = new Map<string, PendingRequest>();
  return {
    save: (request) => void requests.set(request.id, request),
    remove: (id) => void requests.delete(id),
    list: () => [...requests.values()],
  };
}
