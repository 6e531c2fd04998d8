import { storedRate, type Rate } from '../../consent/rate.js';
import {
  bases,
  denialOf,
  reportedStates,
  standingOf,
  type Basis,
  type Decision,
  type Denial,
  type Standing,
  type Subscribed,
} from '../../consent/decision.js';
import type { GrantState } from './state.js';
import { PairTable, word, type AskedPairs } from './pair-table.js';
import { instantText } from './write-bytes.js';

export interface MatchedPair {
  sink: string;
  allowedRate: Rate;
  /** RFC 3339. */
  expiresAt: string;
  /** RFC 3339: the webhook asked senders to pause until this time. */
  heldUntil: string | undefined;
  subscriptions: string[];
  protocolSettings: Record<string, unknown> | undefined;
  /** The subscription of these settings. */
  settingsOf: string | undefined;
  /** At least one of these subscriptions has a sink credential. */
  hasCredential: boolean;
}

/** State and basis in one number, which is never 0. Throws for a state of a later version. */
function wordOfGrant({ state, basis }: GrantState): number {
  if (!reportedStates.includes(state)) throw new RangeError(`No grant is ${String(state)}.`);
  return 1 + reportedStates.indexOf(state) + 8 * bases.indexOf(basis);
}
/** Undefined without a grant. */
const stateOf = (ofGrant: number) => reportedStates[(ofGrant & 7) - 1];
const basisOf = (ofGrant: number) => bases[ofGrant >>> 3] ?? 'response';

/**
 * The state of pairs of origin and sink: the grant, and how many subscriptions use the pair. Origins and pairs are
 * numbers here. A pair exists as long as it has a grant or a subscription.
 */
export class KnownPairs {
  readonly #table = new PairTable();
  /**
   * The ends of the subscriptions of a pair that have one, in milliseconds since 1970, and negative if the subscription
   * is suspended. Most pairs have none, and nearly all others have one, which needs no array.
   */
  readonly #ends = new Map<number, number | number[]>();

  /** The numbers of the origins under a block. */
  readonly #blocked = new Set<number>();

  get size(): number {
    return this.#table.size;
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  /** Adds a subscription to a pair and returns the pair. `end` is absent if it has none. */
  join(origin: number, sink: string, isSuspended: boolean, end?: number): number {
    const pair = this.#table.acquire(origin, Buffer.from(sink));
    this.#count(pair, 1, isSuspended || end !== undefined);
    if (end !== undefined) this.#addEnd(pair, isSuspended ? -end : end);
    return pair;
  }

  leave(pair: number, wasSuspended: boolean, end?: number): void {
    this.#count(pair, -1, wasSuspended || end !== undefined);
    if (end !== undefined) this.#removeEnd(pair, wasSuspended ? -end : end);
    this.#releaseEmpty(pair);
  }

  putGrant(origin: number, sink: string, state: GrantState | null): void {
    const table = this.#table;
    const ofGrant = state === null ? 0 : wordOfGrant(state);
    const pair = table.acquire(origin, Buffer.from(sink));
    table.setSmall(pair, word.grant, ofGrant);
    if (state !== null) {
      const rate = storedRate(state.allowedrate);
      table.setLarge(pair, word.rate, rate === '*' ? 0 : rate);
      table.setLarge(pair, word.expiresAt, Date.parse(state.expiresat));
      table.setLarge(pair, word.heldUntil, state.helduntil ? Date.parse(state.helduntil) : 0);
      table.setId(pair, state.id);
    }
    this.#releaseEmpty(pair);
  }

  blockOrigin(origin: number, isBlocked: boolean): void {
    if (isBlocked) this.#blocked.add(origin);
    else this.#blocked.delete(origin);
  }

  /** Removes an origin. */
  releaseOrigin(origin: number): void {
    this.#blocked.delete(origin);
    for (const pair of this.#ends.keys()) if (this.#table.origin(pair) === origin) this.#ends.delete(pair);
    this.#table.releaseOrigin(origin);
  }

  /** Undefined without a grant. For a subscription that is active and has not ended, nothing else counts. */
  standing(pair: number, time: number): Standing | undefined {
    const table = this.#table;
    const isBlocked = this.#blocked.size > 0 && this.#blocked.has(table.origin(pair));
    const state = stateOf(table.small(pair, word.grant));
    return standingOf(state, isBlocked, table.large(pair, word.expiresAt), time);
  }

  matched(pair: number, time: number): MatchedPair {
    const heldUntil = this.#table.large(pair, word.heldUntil);
    return {
      sink: this.#table.sink(pair),
      allowedRate: this.rate(pair),
      expiresAt: instantText(this.#table.large(pair, word.expiresAt)),
      heldUntil: heldUntil > time ? instantText(heldUntil) : undefined,
      subscriptions: [],
      protocolSettings: undefined,
      settingsOf: undefined,
      hasCredential: false,
    };
  }

  /**
   * The sink is the bytes from `from` to `to`, and the caller may know its `hashBytes`. 0 if there is no such pair.
   */
  find(origin: number, bytes: Uint8Array, from: number, to: number, sinkHash?: number): number {
    return this.#table.find(origin, bytes, from, to, sinkHash);
  }

  findAll(asked: AskedPairs, found: Int32Array): void {
    this.#table.findAll(asked, found);
  }

  permission(pair: number, time: number): Decision {
    const denial = this.denial(pair, time);
    return { denial, grant: denial === 'no_grant' ? undefined : this.#grant(pair) };
  }

  /** Undefined if the origin may send; then the pair has a grant. */
  denial(pair: number, time: number): Denial | undefined {
    if (pair === 0) return 'no_grant';
    const heldUntil = this.#table.large(pair, word.heldUntil);
    return denialOf(this.standing(pair, time), this.#subscribed(pair, time), this.basis(pair), heldUntil, time);
  }

  basis(pair: number): Basis {
    return basisOf(this.#table.small(pair, word.grant));
  }

  rate(pair: number): Rate {
    return this.#table.large(pair, word.rate) || '*';
  }

  expiresAt(pair: number): number {
    return this.#table.large(pair, word.expiresAt);
  }

  /** Writes the id of the grant at `at`; returns the end. */
  writeGrantId(pair: number, bytes: DataView, at: number): number {
    return this.#table.writeId(pair, bytes, at);
  }

  #grant(pair: number): Decision['grant'] {
    return {
      id: this.#table.id(pair),
      basis: this.basis(pair),
      allowedRate: this.rate(pair),
      expiresAt: this.expiresAt(pair),
      heldUntil: this.#table.large(pair, word.heldUntil) || undefined,
    };
  }

  #subscribed(pair: number, time: number): Subscribed {
    const all = this.#table.small(pair, word.subscriptions);
    // Nearly every pair has a subscription that is neither suspended nor has an end.
    if (all !== this.#table.small(pair, word.conditional)) return 'open';
    if (all === 0) return 'none';
    const known = this.#ends.get(pair) ?? [];
    const ends = typeof known === 'number' ? [known] : known;
    if (ends.some((end) => end > time)) return 'open';
    return ends.length === all && ends.every((end) => Math.abs(end) <= time) ? 'ended' : 'suspended';
  }

  #addEnd(pair: number, end: number): void {
    const known = this.#ends.get(pair);
    if (known === undefined) this.#ends.set(pair, end);
    else if (typeof known === 'number') this.#ends.set(pair, [known, end]);
    else known.push(end);
  }

  #removeEnd(pair: number, end: number): void {
    const known = this.#ends.get(pair);
    if (!Array.isArray(known)) {
      this.#ends.delete(pair);
      return;
    }
    known[known.indexOf(end)] = known.at(-1)!;
    known.pop();
    if (known.length === 1) this.#ends.set(pair, known[0]!);
  }

  #count(pair: number, change: 1 | -1, isConditional: boolean): void {
    const table = this.#table;
    table.setSmall(pair, word.subscriptions, table.small(pair, word.subscriptions) + change);
    if (isConditional) table.setSmall(pair, word.conditional, table.small(pair, word.conditional) + change);
  }

  #releaseEmpty(pair: number): void {
    const table = this.#table;
    if (table.small(pair, word.subscriptions) === 0 && table.small(pair, word.grant) === 0) table.release(pair);
  }
}
