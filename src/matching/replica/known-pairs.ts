import type { Rate } from '../../consent/rate.js';
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
import { Arena } from '../index/arena.js';
import { StringTable } from '../index/string-table.js';
import { Blocks } from './blocks.js';
import type { GrantState } from './state.js';
import { aside, PairTable, word, type AskedPairs } from './pair-table.js';
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
  /** At least one of them has a signing secret. */
  hasSigningSecret: boolean;
}

/** State and basis in one number, which is never 0. Throws for a state of a later version. */
function wordOfGrant({ state, basis }: GrantState): number {
  if (!reportedStates.includes(state)) throw new RangeError(`No grant is ${String(state)}.`);
  // A basis of a later version counts like a response.
  return 1 + reportedStates.indexOf(state) + 8 * Math.max(0, bases.indexOf(basis));
}
/**
 * The word of a grant has that number, and above it what `Blocks.stops` returned with the version of the blocks then, so
 * that a block costs each pair one comparison, when it is next looked up.
 */
const grantBits = 31;
const stoppedBit = 32;
const versionShift = 6;
const maxVersion = 2 ** 26;
/** Undefined without a grant. */
const stateOf = (ofGrant: number) => reportedStates[(ofGrant & 7) - 1];
const basisOf = (ofGrant: number) => bases[(ofGrant & grantBits) >>> 3] ?? 'response';

/** What a pair knows of a subscription. */
export interface Use {
  /** A number of `acquireSubscriber`. */
  subscriber: number;
  isSuspended: boolean;
  /** Milliseconds since 1970; undefined if it has no end. */
  end: number | undefined;
}

/** Subscriptions of one subscriber to a pair. */
interface Uses {
  all: number;
  /** Of these: those that are suspended or have an end. */
  conditional: number;
  /** As in `#ends`. */
  ends: number[];
}

const noBarred: ReadonlySet<number> = new Set();

/**
 * The state of pairs of origin and sink: the grant, and how many subscriptions use the pair. Origins and pairs are
 * numbers here. A pair exists as long as it has a grant or a subscription.
 */
export class KnownPairs {
  readonly blocks = new Blocks();
  readonly #table = new PairTable();
  readonly #addresses = new StringTable(new Arena());
  readonly #origins = new Map<number, { tenant: string; name: string }>();
  /**
   * The ends of the subscriptions of a pair that have one, in milliseconds since 1970, and negative if the subscription
   * is suspended. Most pairs have none, and nearly all others have one, which needs no array.
   */
  readonly #ends = new Map<number, number | number[]>();
  /** Of pairs that several subscribers use: what each has. The others have their one subscriber in the table. */
  readonly #shared = new Map<number, Map<number, Uses>>();

  get size(): number {
    return this.#table.size;
  }

  get bytes(): number {
    return this.#table.bytes + this.#addresses.bytes + this.blocks.subscribers.bytes;
  }

  /** The number of a subscriber, for one subscription, until `leave`. */
  acquireSubscriber(name: string): number {
    return this.blocks.subscribers.acquire(name);
  }

  /** Adds a subscription to a pair and returns the pair. */
  join(origin: number, sink: string, use: Use): number {
    const { subscriber, isSuspended, end } = use;
    const pair = this.#table.acquire(origin, Buffer.from(sink));
    this.#share(pair, subscriber);
    this.#count(pair, 1, isSuspended || end !== undefined);
    if (end !== undefined) this.#addEnd(pair, isSuspended ? -end : end);
    const uses = this.#shared.get(pair);
    if (uses !== undefined) addUse(uses, use);
    return pair;
  }

  leave(pair: number, use: Use): void {
    const { subscriber, isSuspended, end } = use;
    this.#count(pair, -1, isSuspended || end !== undefined);
    if (end !== undefined) this.#removeEnd(pair, isSuspended ? -end : end);
    const uses = this.#shared.get(pair);
    if (uses !== undefined) {
      removeUse(uses, use);
      const [last] = uses.keys();
      if (uses.size === 1 && last !== undefined) {
        this.#table.setAside(pair, aside.subscriber, last);
        this.#shared.delete(pair);
      }
    }
    this.blocks.subscribers.release(subscriber);
    this.#releaseEmpty(pair);
  }

  putGrant(origin: number, sink: string, state: GrantState | null): void {
    const table = this.#table;
    const ofGrant = state === null ? 0 : wordOfGrant(state);
    const pair = table.acquire(origin, Buffer.from(sink));
    table.setSmall(pair, word.grant, ofGrant);
    this.#setAddress(pair, state?.address ?? '');
    if (state !== null) {
      table.setLarge(pair, word.rate, state.allowedrate === '*' ? 0 : state.allowedrate);
      table.setLarge(pair, word.expiresAt, Date.parse(state.expiresat));
      table.setLarge(pair, word.heldUntil, state.helduntil ? Date.parse(state.helduntil) : 0);
      table.setId(pair, state.id);
    }
    this.#releaseEmpty(pair);
  }

  /** `tenant` is whose blocks stop it. */
  putOrigin(origin: number, tenant: string, name: string): void {
    this.#origins.set(origin, { tenant, name });
    this.blocks.noteChange();
  }

  /** Removes an origin, whose subscriptions have left. */
  releaseOrigin(origin: number): void {
    this.#origins.delete(origin);
    for (const pair of this.#table.pairsOf(origin)) {
      this.#table.setSmall(pair, word.grant, 0);
      this.#setAddress(pair, '');
      this.#releaseEmpty(pair);
    }
  }

  /** The numbers of the blocked subscribers of an origin's tenant. */
  barred(origin: number): ReadonlySet<number> {
    if (this.blocks.size === 0) return noBarred;
    return this.blocks.barred(this.#origins.get(origin)?.tenant ?? '');
  }

  /** Undefined without a grant. For a subscription that is active and has not ended, nothing else counts. */
  standing(pair: number, time: number): Standing | undefined {
    const table = this.#table;
    const state = stateOf(table.small(pair, word.grant));
    const isBlocked = this.blocks.size > 0 && this.#isStopped(pair);
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
      hasSigningSecret: false,
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

  /** A number of the owner's, for one of the indexed subscriptions of the pair; 0 for none. */
  indexed(pair: number): number {
    return this.#table.aside(pair, aside.indexed);
  }

  setIndexed(pair: number, handle: number): void {
    this.#table.setAside(pair, aside.indexed, handle);
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

  #isStopped(pair: number): boolean {
    const { blocks } = this;
    const table = this.#table;
    const known = table.small(pair, word.grant);
    const { version } = blocks;
    if (known >>> versionShift === version) return (known & stoppedBit) !== 0;
    const origin = this.#origins.get(table.origin(pair));
    if (origin === undefined) return false;
    const address = table.aside(pair, aside.address);
    const addressText = address === 0 ? '' : this.#addresses.text(address);
    const isStopped = blocks.stops(origin.tenant, origin.name, table.sink(pair), addressText);
    if (version < maxVersion) {
      table.setSmall(pair, word.grant, (known & grantBits) | (isStopped ? stoppedBit : 0) | (version << versionShift));
    }
    return isStopped;
  }

  #subscribed(pair: number, time: number): Subscribed {
    const table = this.#table;
    const all = table.small(pair, word.subscriptions);
    const conditional = table.small(pair, word.conditional);
    const barred = this.blocks.size === 0 ? noBarred : this.barred(table.origin(pair));
    if (barred.size === 0) {
      // Nearly every pair has a subscription that is neither suspended nor has an end.
      return all !== conditional ? 'open' : subscribedBy({ all, conditional, ends: this.#endsOf(pair) }, false, time);
    }
    const shared = this.#shared.get(pair);
    if (shared === undefined) {
      const isBarred = barred.has(table.aside(pair, aside.subscriber));
      return subscribedBy({ all, conditional, ends: this.#endsOf(pair) }, isBarred, time);
    }
    let result: Subscribed = 'ended';
    for (const [subscriber, uses] of shared) {
      const own = subscribedBy(uses, barred.has(subscriber), time);
      if (own === 'open') return own;
      if (own === 'suspended') result = own;
    }
    return result;
  }

  /** Of several subscribers, each is counted on its own from now on. */
  #share(pair: number, subscriber: number): void {
    const table = this.#table;
    const all = table.small(pair, word.subscriptions);
    const known = table.aside(pair, aside.subscriber);
    if (all === 0) table.setAside(pair, aside.subscriber, subscriber);
    else if (known !== subscriber && !this.#shared.has(pair)) {
      const conditional = table.small(pair, word.conditional);
      this.#shared.set(pair, new Map([[known, { all, conditional, ends: [...this.#endsOf(pair)] }]]));
      table.setAside(pair, aside.subscriber, 0);
    }
  }

  #setAddress(pair: number, address: string): void {
    const table = this.#table;
    const before = table.aside(pair, aside.address);
    table.setAside(pair, aside.address, address === '' ? 0 : this.#addresses.acquire(address));
    if (before !== 0) this.#addresses.release(before);
  }

  #endsOf(pair: number): readonly number[] {
    const known = this.#ends.get(pair) ?? noEnds;
    return typeof known === 'number' ? [known] : known;
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
    if (table.small(pair, word.subscriptions) === 0 && (table.small(pair, word.grant) & grantBits) === 0) {
      table.release(pair);
    }
  }
}

const noEnds: readonly number[] = [];

/** What subscriptions do for a pair. Those of a blocked subscriber are as good as suspended. */
function subscribedBy(
  { all, conditional, ends }: Omit<Uses, 'ends'> & { ends: readonly number[] },
  isBarred: boolean,
  time: number,
): Subscribed {
  if (all === 0) return 'none';
  if (!isBarred && (all !== conditional || ends.some((end) => end > time))) return 'open';
  return ends.length === all && ends.every((end) => Math.abs(end) <= time) ? 'ended' : 'suspended';
}

function addUse(shared: Map<number, Uses>, { subscriber, isSuspended, end }: Use): void {
  const uses = shared.get(subscriber) ?? { all: 0, conditional: 0, ends: [] };
  shared.set(subscriber, uses);
  uses.all += 1;
  if (isSuspended || end !== undefined) uses.conditional += 1;
  if (end !== undefined) uses.ends.push(isSuspended ? -end : end);
}

function removeUse(shared: Map<number, Uses>, { subscriber, isSuspended, end }: Use): void {
  const uses = shared.get(subscriber);
  if (uses === undefined) return;
  uses.all -= 1;
  if (isSuspended || end !== undefined) uses.conditional -= 1;
  if (end !== undefined) uses.ends.splice(uses.ends.indexOf(isSuspended ? -end : end), 1);
  if (uses.all === 0) shared.delete(subscriber);
}
