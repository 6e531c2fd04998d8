import { randomUUID } from 'node:crypto';
import type { handshake as HandshakeRow } from '../storage/generated/client.js';
import { createBatcher } from '../storage/batch.js';
import { type Database, type Sql, lockRegistry } from '../storage/database.js';
import { hostOf } from '../../base/formats/uri.js';
import type { Tracing } from '../../base/tracing.js';
import { bytesAsText, insertRows, recordset, updateRows } from '../storage/rows.js';
import { prepareAttempt } from './attempt.js';
import { certificateOf, chooseAmong, chooseNext, lagSeconds, type ClaimCandidate } from './choose.js';
import { chooseNew, type NewQuestion } from './choose-new.js';
import { cooldownOf } from './cooldown.js';
import type { Places } from './in-flight.js';
import { moveLanes, openLanes, parkUnwanted, type Lane } from './lane.js';
import type { Begun, BegunAttempt, Claim, HandshakeTrigger, Question } from '../../consent/handshake.js';
import type { Signers } from '../origins/keys.js';
import type { RateWindows } from './rate-window.js';
import { isWanted } from './wanted.js';

/** `held` counts what was postponed, moved or parked, so that others may be next: another claim may find more. */
interface Claimed {
  begun: Begun[];
  held: number;
}

interface QueueSettings {
  database: Database;
  rateWindows: RateWindows;
  publicUrl: string | undefined;
  signers: Pick<Signers, 'of'>;
  callbackSeconds: number;
  /** The most milliseconds that an attempt can take. A claim lasts longer, with a margin for the database. */
  deadlineMs: number;
  inFlight: Places;
  tracing?: Tracing | undefined;
}

const claimMarginMs = 20_000;

/** How long a claim lasts, for an attempt that takes at most `deadlineMs`. */
export function claimSecondsFor(deadlineMs: number): number {
  return (deadlineMs + claimMarginMs) / 1_000;
}

/** The columns of a handshake that a claim writes. */
type ClaimMove = Pick<HandshakeRow, 'state' | 'verdict' | 'dueat' | 'claimid' | 'claimeduntil' | 'attempts'>;

const after = (now: number, ms: number) => new Date(now + ms);

/**
 * The handshake rows as a queue: enqueue, claim, hand back. settle.ts writes the outcome of an attempt, close.ts ends
 * handshakes that are no longer needed.
 */
export class Queue {
  readonly #settings: QueueSettings;
  readonly #askOpen = createBatcher({
    run: (take: () => Array<{ id: string; withinMs: number }>) => this.#readOpen(take()),
    maxBatch: 200,
  });

  constructor(settings: QueueSettings) {
    this.#settings = settings;
  }

  /** As claimIn, in its own transaction. */
  claim(limit: number, only?: readonly string[]): Promise<Claimed> {
    return this.#settings.database.write(({ sql }) => this.claimIn(sql, limit, only));
  }

  /**
   * due -> asking: claims the next due handshakes, and those whose owner died, and begins an attempt for each. `only` restricts
   * the claim to these ids; of them, those over the limit of a rate window are postponed.
   */
  async claimIn(sql: Sql, limit: number, only?: readonly string[]): Promise<Claimed> {
    if (limit <= 0 || only?.length === 0) return { begun: [], held: 0 };
    // One claim at a time, so that the count in flight for a host and a tenant is right across all processes.
    await lockRegistry(sql, 'claims');
    return only === undefined ? this.#claimNext(sql, limit) : this.#claimAmong(sql, limit, only);
  }

  async #claimNext(sql: Sql, limit: number): Promise<Claimed> {
    const choice = await chooseNext(sql, this.#settings.rateWindows, this.#settings.inFlight, limit);
    if (choice === undefined) return { begun: [], held: 0 };
    const { now, rows, budgets, moved, unwanted } = choice;
    await budgets.write(sql);
    const begun = await this.#begin(sql, rows, new Map(), now);
    const parked = unwanted.length === 0 ? 0 : await parkUnwanted(sql, unwanted);
    return { begun, held: parked + (await moveLanes(sql, moved)) };
  }

  async #claimAmong(sql: Sql, limit: number, only: readonly string[]): Promise<Claimed> {
    const { rows, now } = await chooseAmong(sql, this.#settings.inFlight, limit, only);
    if (rows.length === 0) return { begun: [], held: 0 };
    const questions = rows.map(({ id, tenant, sinkhost }) => ({ id, tenant, sinkHost: sinkhost }));
    const held = await this.#settings.rateWindows.admit(sql, questions, now);
    return { begun: await this.#begin(sql, rows, held, now), held: held.size };
  }

  /** due -> asking, with a new attempt for each; those that are held are postponed by milliseconds. */
  async #begin(
    sql: Sql,
    rows: readonly ClaimCandidate[],
    held: ReadonlyMap<string, number>,
    now: number,
  ): Promise<Begun[]> {
    if (rows.length === 0) return [];
    const claimid = randomUUID();
    const members = rows.map((row) => {
      return { id: row.id, requestedrate: row.askedrate, ...this.#claimed(row, held.get(row.id), claimid, now) };
    });
    await sql.$executeRaw`${updateRows('handshake', ['id'], members)}`;
    await openLanes(
      sql,
      rows.filter(({ id }) => held.has(id)),
    );
    const admitted = rows.filter(({ id }) => !held.has(id));
    const claims = admitted.map((row) => ({
      claim: claimOf(row, claimid),
      number: row.attempts + 1,
      callbackUrl: row.offersnone ? undefined : this.#settings.publicUrl,
    }));
    return this.#beginAttempts(sql, claims, now);
  }

  /**
   * -> asking | due: enqueues questions, and claims up to so many of those that are awaited in the same moment. Each is
   * written once: a row that was due for no time would be a version to write and to clean up.
   */
  async enter(sql: Sql, questions: readonly NewQuestion[], limit: number): Promise<Begun[]> {
    if (limit <= 0 || !questions.some(({ isAwaited }) => isAwaited)) {
      await enqueue(sql, questions);
      return [];
    }
    await lockRegistry(sql, 'claims');
    const { chosen, startedAt, blockedNetworks, certificates, ...at } = await chooseNew(
      sql,
      this.#settings.inFlight,
      limit,
      questions,
    );
    const now = at.now.getTime();
    const held = await this.#settings.rateWindows.admit(sql, chosen, now);
    const claimid = randomUUID();
    const fresh = { attempts: 0, dueat: startedAt, verdict: null };
    const moves = new Map(chosen.map(({ id }) => [id, this.#claimed(fresh, held.get(id), claimid, now)]));
    const claims = chosen
      .filter(({ id }) => !held.has(id))
      .map((question) => ({
        claim: {
          ...question,
          claimId: claimid,
          createdAt: startedAt,
          blockedNetworks: blockedNetworks(question.tenant),
          clientCertificate: certificates.get(question.origin),
        },
        number: 1,
        callbackUrl: question.offersCallback ? this.#settings.publicUrl : undefined,
      }));
    const [, begun] = await Promise.all([enqueue(sql, questions, moves), this.#beginAttempts(sql, claims, now)]);
    return begun;
  }

  /** asking -> due: hands it back, to be sent later. Nothing was sent, so its attempt does not count. */
  async handBack(
    { claim, attempt }: Begun,
    afterMs: number,
    verdict: 'held_by_budget' | 'aborted' | 'blocked' | 'secret_unavailable',
  ): Promise<void> {
    await this.#settings.database.write(async ({ sql }) => {
      // One statement: if the claim is no longer ours, the attempts are not either.
      const due = await sql.$queryRaw<Array<Lane & { dueat: Date }>>`
        with back as (
          update handshake set state = 'due', claimid = null, claimeduntil = null, verdict = ${verdict},
            dueat = greatest(now() + make_interval(secs => ${afterMs / 1_000}::float8), ${cooldownOf(claim)}),
            attempts = attempts - 1
          where id = ${claim.id}::uuid and claimid = ${claim.claimId}::uuid and state = 'asking'
          returning id, tenant, sinkhost, dueat
        ), gone as (
          delete from attempt where handshake in (select id from back) and number = ${attempt.number}
        )
        select tenant, sinkhost, dueat from back`;
      await openLanes(sql, due);
    });
  }

  /**
   * How late, in seconds, the queue is for a tenant and a host that have a free place and a budget. Handshakes that wait for
   * their own tenant or host say nothing about the registry.
   */
  lagSeconds(): Promise<number> {
    const { database, rateWindows, inFlight } = this.#settings;
    return lagSeconds(database.sql, rateWindows, inFlight);
  }

  /** True while it is in flight, or is due within that time. Batched: many clients wait, and to plan it takes long. */
  isOpen(id: string, withinMs: number): Promise<boolean> {
    return this.#askOpen({ id, withinMs });
  }

  async #readOpen(asked: ReadonlyArray<{ id: string; withinMs: number }>): Promise<boolean[]> {
    const rows = await this.#settings.database.sql.$queryRaw<Array<{ id: string }>>`
      select h.id from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as a (id uuid, "withinMs" float8)
      join handshake h on h.id = a.id
      where ${isWanted} and (h.state = 'asking'
        or (h.state = 'due' and h.dueat <= now() + make_interval(secs => a."withinMs" / 1000)))`;
    const open = new Set(rows.map(({ id }) => id));
    return asked.map(({ id }) => open.has(id));
  }

  /** What a claim writes to the row; one over the limit of a rate window is postponed. */
  #claimed(
    { attempts, dueat, verdict }: Pick<HandshakeRow, 'attempts' | 'dueat' | 'verdict'>,
    heldMs: number | undefined,
    claimid: string,
    now: number,
  ): ClaimMove {
    if (heldMs !== undefined) {
      const dueLater = { state: 'due', verdict: 'held_by_budget', dueat: after(now, heldMs) };
      return { ...dueLater, claimid: null, claimeduntil: null, attempts };
    }
    const claimeduntil = after(now, claimSecondsFor(this.#settings.deadlineMs) * 1_000);
    return { state: 'asking', verdict, dueat, claimid, claimeduntil, attempts: attempts + 1 };
  }

  /** Records attempts before they are sent. An earlier attempt without an end died with its process. */
  async #beginAttempts(
    sql: Sql,
    claims: Array<{ claim: Claim; number: number; callbackUrl: string | undefined }>,
    now: number,
  ): Promise<Begun[]> {
    const again = claims.filter(({ number }) => number > 1).map(({ claim }) => claim.id);
    if (again.length > 0) {
      await sql.$executeRaw`
        update attempt set finishedat = now(), verdict = 'interrupted'
        where handshake = any (${again}::uuid[]) and finishedat is null`;
    }
    if (claims.length === 0) return [];
    const signers = await this.#settings.signers.of(
      sql,
      claims.map(({ claim }) => claim),
    );
    const { tracing } = this.#settings;
    const prepared = claims.map(({ claim, number, callbackUrl }) => {
      const signing = { signer: signers.get(claim.origin), now };
      return { claim, number, ...prepareAttempt(claim, callbackUrl, { number, tracing, signing }) };
    });
    const expiresAt = after(now, this.#settings.callbackSeconds * 1_000);
    const rows = prepared.map(({ claim, number, recorded, callbackKeyHash }) => ({
      handshake: claim.id,
      number,
      requestheaders: recorded,
      callbackkeyhash: callbackKeyHash && bytesAsText(callbackKeyHash),
      callbackexpiresat: callbackKeyHash && expiresAt,
    }));
    await sql.$executeRaw`${insertRows('attempt', rows)}`;
    return prepared.map(({ claim, number, headers, callbackKeyHash, isWithheld, span }) => {
      const callbackOffered = callbackKeyHash !== undefined;
      const attempt: BegunAttempt = { number, callbackOffered, headers, isWithheld, span };
      return { claim, attempt };
    });
  }
}

/**
 * -> due: enqueues questions, due now or at the end of a cool-down; or with what `moves` has for them, by id: the state that a
 * claim gives them, or an earlier place in the queue.
 */
export async function enqueue(
  sql: Sql,
  questions: readonly Question[],
  moves?: ReadonlyMap<string, ClaimMove>,
): Promise<void> {
  if (questions.length === 0) return;
  const each = (member: (question: Question) => string) => [...new Set(questions.map(member))];
  const rows = questions.map((question) => ({
    id: question.id,
    tenant: question.tenant,
    origin: question.origin,
    sink: question.sink,
    sinkhost: hostOf(question.sink),
    subscription: question.subscription,
    generation: question.generation,
    trigger: question.trigger,
    startedby: question.startedBy,
    requestedrate: question.requestedRate,
    traceparent: question.traceparent,
    ...(moves?.get(question.id) ?? { state: 'due', attempts: 0 }),
  }));
  // A query of its own looks up the cool-downs: Citus cannot insert a join of rows and values.
  await sql.$executeRaw`
    with cooling as materialized (
      select tenant, origin, sink, until from cooldown where tenant = any (${each(({ tenant }) => tenant)}::text[])
        and origin = any (${each(({ origin }) => origin)}::text[]) and sink = any (${each(({ sink }) => sink)}::text[])
    )
    insert into handshake (id, tenant, origin, sink, sinkhost, subscription, generation, trigger, startedby, requestedrate,
      traceparent, state, verdict, attempts, claimid, claimeduntil, dueat)
    select q.id, q.tenant, q.origin, q.sink, q.sinkhost, q.subscription, q.generation, q.trigger, q.startedby, q.requestedrate,
      q.traceparent, q.state, q.verdict, q.attempts, q.claimid, q.claimeduntil,
      -- Without a time, now; a column of milliseconds would round up. Citus allows no clock function in coalesce.
      greatest(least(q.dueat, date_trunc('milliseconds', now())), q.dueat, cooling.until)
    from ${recordset('handshake', rows)} q
    left join cooling on cooling.tenant = q.tenant and cooling.origin = q.origin and cooling.sink = q.sink`;
  await openLanes(
    sql,
    rows.filter(({ state }) => state === 'due'),
  );
}

function claimOf(row: ClaimCandidate, claimid: string): Claim {
  return {
    id: row.id,
    claimId: claimid,
    tenant: row.tenant,
    origin: row.origin,
    sink: row.sink,
    sinkHost: row.sinkhost,
    subscription: row.subscription ?? undefined,
    generation: row.generation ?? undefined,
    trigger: row.trigger as HandshakeTrigger,
    startedBy: row.startedby,
    requestedRate: row.askedrate ?? undefined,
    traceparent: row.traceparent ?? undefined,
    createdAt: row.createdat,
    blockedNetworks: row.blockednetworks,
    clientCertificate: row.clientcertificate === null ? undefined : certificateOf(row.clientcertificate),
  };
}
