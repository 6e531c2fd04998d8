import { createHash, randomUUID } from 'node:crypto';
import type { Denial } from '../../consent/decision.js';
import { handBack, lease, leaseMs, newHolder, newPool, type Holder, type Pool } from '../../consent/lease.js';
import { storedRate, type Rate } from '../../consent/rate.js';
import { createBatcher } from '../storage/batch.js';
import type { Database } from '../storage/database.js';

export interface LeaseRequest {
  tenant: string;
  /** In lower case. */
  origin: string;
  sink: string;
  /** Identifies the sender's process among those of the origin. */
  instance: string;
  /** The number of requests that it wants to send. */
  requests: number;
  /** Earlier leases of this instance and pair, with the requests not sent of each. Unknown ones are ignored. */
  returns: ReadonlyArray<{ lease: string; unused: number }>;
}

export type LeaseAnswer =
  | { kind: 'denied'; denial: Denial }
  | { kind: 'unlimited' }
  | { kind: 'held'; rate: Rate; until: Date; retryAfterSeconds: number }
  | {
      kind: 'counted';
      rate: Rate;
      /** 0 if nothing is available now. */
      requests: number;
      /** No instance has asked for this pair in this minute before. */
      isFirst: boolean;
      lease: { id: string; until: Date } | undefined;
      /** Seconds until something is available, with fractions. */
      retryAfterSeconds: number;
    };

const maxBatch = 100;
/** Instances of a pair that asked within five minutes: anyone can invent their names. */
const maxHolders = 1_000;
const fullSeconds = 60;

/**
 * Reads pools with the facts that decide about them, computes leases (src/consent/lease.ts), and stores the pools. No lock
 * is held meanwhile: a pool is stored only if it still has the version that was read. Otherwise another process was
 * faster, and this one reads again. Concurrent requests of a process share its two statements; those for one pair share
 * its pool.
 */
export class Leases {
  readonly take: (request: LeaseRequest) => Promise<LeaseAnswer>;
  readonly #query: Database['query'];
  readonly #sql: Database['sql'];

  constructor({ query, sql }: Pick<Database, 'query' | 'sql'>) {
    this.#query = query;
    this.#sql = sql;
    this.take = createBatcher({ run: (take: () => LeaseRequest[]) => this.#takeAll(take()), maxBatch });
  }

  /**
   * Ends the lease. Returns the number of returned requests; 0 if the lease had ended or it is too late, undefined if the
   * tenant has no such lease.
   */
  async handBack(tenant: string, lease: string, unused: number): Promise<number | undefined> {
    const { id, number } = parseLease(lease);
    if (id === undefined) return undefined;
    for (;;) {
      const [row] = await this.#sql.$queryRaw<Array<{ pool: PoolRow; holder: HolderRow; now: number }>>`
        select row_to_json(b) as pool, row_to_json(h) as holder,
          floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now
        from lease_holder h join lease_pool b on b.pair = h.pair where h.id = ${id}::uuid and b.tenant = ${tenant}`;
      if (row === undefined) return undefined;
      const { pair, version } = row.pool;
      const { pool, holder, returned } = handBack(poolOf(row.pool), holderOf(row.holder), number, unused, row.now);
      if (returned === undefined) return undefined;
      const holders = [{ ...row.holder, ...columnsOfHolder(holder) }];
      const stored = await this.#store([{ pair, tenant, version, pool, holders }]);
      if (stored.has(pair)) return returned;
    }
  }

  async #takeAll(requests: LeaseRequest[]): Promise<LeaseAnswer[]> {
    const answers = new Map<LeaseRequest, LeaseAnswer>();
    for (let left = requests; left.length > 0; left = left.filter((request) => !answers.has(request))) {
      const rows = await this.#read(left);
      const opened = new Map<string, OpenPool>();
      for (const [place, request] of left.entries()) {
        const row = rows.get(place);
        const answer = answerWithoutPool(row);
        if (answer !== undefined) answers.set(request, answer);
        if (answer !== undefined || row === undefined) continue;
        const open = opened.get(row.pair) ?? openPool(row, request.tenant);
        opened.set(row.pair, open);
        open.answers.set(request, take(open, row, request));
      }
      const stored = await this.#store(
        [...opened.values()].map((open) => ({ ...open, holders: [...open.holders.values()] })),
      );
      for (const pair of stored) opened.get(pair)?.answers.forEach((answer, request) => answers.set(request, answer));
    }
    return requests.map((request) => answers.get(request) as LeaseAnswer);
  }

  /** By place in the list; nothing of a pair without a grant. */
  async #read(requests: readonly LeaseRequest[]): Promise<Map<number, PairRow>> {
    const asked = requests.map(({ tenant, origin, sink, instance }, place) => {
      return { place, tenant, origin, sink, pair: pairOf(origin, sink), instance };
    });
    const text = 'select * from read_leases($1::jsonb)';
    const rows = await this.#query<PairRow & { place: number }>(text, [JSON.stringify(asked)]);
    return new Map(rows.map((row) => [row.place, row]));
  }

  /** Returns the pairs whose pools were stored. */
  async #store(pools: readonly ChangedPool[]): Promise<Set<string>> {
    if (pools.length === 0) return new Set();
    const columns = pools.map(({ pair, tenant, version, pool }) => {
      // Starts at the time, so that no version of a pool that was deleted occurs again.
      return { pair, tenant, version: version === undefined ? Date.now() : version + 1, ...columnsOfPool(pool) };
    });
    const holders = pools.flatMap(({ pair, holders: some }) => some.map((holder) => ({ ...holder, pair })));
    const created = pools.filter(({ version }) => version === undefined).map(({ pair }) => pair);
    const rows = await this.#query<{ pair: string }>(
      'select unnest(store_leases($1::jsonb, $2::jsonb, $3::uuid[])) as pair',
      [JSON.stringify(columns), JSON.stringify(holders), created],
    );
    return new Set(rows.map(({ pair }) => pair));
  }
}

/** Times are milliseconds since 1970, by the database's clock. */
interface PairRow {
  pair: string;
  denial: Denial | null;
  allowedrate: string;
  burst: number | null;
  helduntil: number | null;
  pool: PoolRow | null;
  holder: HolderRow | null;
  /** How many others asked lately; null if this one is known. */
  holders: number | null;
  history: string;
  now: number;
  startedat: number;
}

interface PoolRow {
  pair: string;
  tenant: string;
  /** Another one after each write. */
  version: number;
  rate: number;
  slot: number;
  slots: readonly number[];
  tokens: number;
  tokensat: string;
  lastturn: string;
  epoch: number;
  active: number;
  activebefore: number;
  history: string;
}

interface HolderRow {
  id: string;
  instance: string;
  number: number;
  leaseslots: readonly number[];
  leasecounts: readonly number[];
  turn: string | null;
  epoch: number;
  askedat: string;
}

interface ChangedPool {
  pair: string;
  tenant: string;
  /** As it was read; undefined for a new pool. */
  version: number | undefined;
  pool: Pool;
  holders: readonly HolderRow[];
}

/** A pool as the requests of a batch leave it, and what they get if it is stored. */
interface OpenPool extends Omit<ChangedPool, 'holders'> {
  /** By instance. */
  holders: Map<string, HolderRow>;
  answers: Map<LeaseRequest, LeaseAnswer>;
}

/** Undefined if the pool decides. */
function answerWithoutPool(row: PairRow | undefined): LeaseAnswer | undefined {
  if (row === undefined) return { kind: 'denied', denial: 'no_grant' };
  const { denial, allowedrate, helduntil, holders } = row;
  const rate = storedRate(allowedrate);
  if (denial === 'held' && helduntil !== null) {
    const retryAfterSeconds = Math.max(0, helduntil - row.now) / 1_000;
    return { kind: 'held', rate, until: new Date(helduntil), retryAfterSeconds };
  }
  if (denial !== null) return { kind: 'denied', denial };
  if (rate === '*') return { kind: 'unlimited' };
  if (holders === null || holders < maxHolders) return undefined;
  return { kind: 'counted', rate, requests: 0, isFirst: false, lease: undefined, retryAfterSeconds: fullSeconds };
}

function openPool({ pair, pool, allowedrate, burst, history, now: at }: PairRow, tenant: string): OpenPool {
  const rate = storedRate(allowedrate) as number;
  const present = pool === null ? newPool(rate, burst ?? undefined, history, at) : poolOf(pool);
  return { pair, tenant, version: pool?.version, pool: present, holders: new Map(), answers: new Map() };
}

function take(open: OpenPool, row: PairRow, { instance, requests, returns }: LeaseRequest): LeaseAnswer {
  const { history, now: at, startedat: serverStartedAt } = row;
  const rate = storedRate(row.allowedrate) as Exclude<Rate, '*'>;
  const known = open.holders.get(instance) ?? row.holder;
  const holderId = known?.id ?? randomUUID();
  const own = returns.flatMap(({ lease, unused }) => {
    const { id, number } = parseLease(lease);
    return id === holderId ? [{ number, unused }] : [];
  });
  const asked = { rate, burst: row.burst ?? undefined, requests, returns: own, history, serverStartedAt };
  const { pool, holder, leased } = lease(open.pool, known === null ? newHolder : holderOf(known), asked, at);
  open.pool = pool;
  open.holders.set(instance, { id: holderId, instance, askedat: isoOf(at), ...columnsOfHolder(holder) });
  const isLeased = leased.requests > 0;
  return {
    kind: 'counted',
    rate,
    requests: leased.requests,
    isFirst: leased.isFirst,
    lease: isLeased ? { id: `${holderId}.${holder.number}`, until: new Date(at + leaseMs) } : undefined,
    retryAfterSeconds: leased.retryAfterMs / 1_000,
  };
}

/** The id of a lease is that of its holder and its number. */
function parseLease(lease: string): { id: string; number: number } | { id: undefined; number: undefined } {
  const [, id, number] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,15})$/.exec(lease) ?? [];
  return id === undefined ? { id, number: undefined } : { id, number: Number(number) };
}

function pairOf(origin: string, sink: string): string {
  const hash = createHash('sha256').update(`${origin} ${sink}`).digest('hex');
  return hash.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const isoOf = (at: number) => new Date(at).toISOString();

function poolOf({ tokensat, lastturn, activebefore, ...same }: PoolRow): Pool {
  const { rate, slot, slots, tokens, epoch, active, history } = same;
  const times = { tokensAt: Date.parse(tokensat), lastTurn: Date.parse(lastturn) };
  return { rate, slot, slots, tokens, ...times, epoch, active, activeBefore: activebefore, history };
}

function columnsOfPool({ tokensAt, lastTurn, activeBefore, ...same }: Pool) {
  return { ...same, tokensat: isoOf(tokensAt), lastturn: isoOf(lastTurn), activebefore: activeBefore };
}

function holderOf({ number, leaseslots, leasecounts, turn, epoch }: HolderRow): Holder {
  const waits = turn === null ? undefined : Date.parse(turn);
  return { number, leaseSlots: leaseslots, leaseCounts: leasecounts, turn: waits, epoch };
}

function columnsOfHolder({ number, leaseSlots, leaseCounts, turn, epoch }: Holder) {
  const waits = turn === undefined ? null : isoOf(turn);
  return { number, leaseslots: leaseSlots, leasecounts: leaseCounts, turn: waits, epoch };
}
