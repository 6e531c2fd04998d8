import { keyOfPair } from '../grants/grant.js';
import { endGrants, lockPairs, putGrants, renewUnreached, type Consent } from '../grants/write-grant.js';
import type { Origin } from '../origins/origin.js';
import { originOf } from '../origins/store.js';
import { createBatcher } from '../storage/batch.js';
import type { Database } from '../storage/database.js';
import type { origin as OriginRow } from '../storage/generated/client.js';
import type { Sql } from '../storage/sql.js';
import { databaseTime, service, type Transaction } from '../storage/transaction.js';
import { answerColumns } from './attempt.js';
import { notBefore, retryDelayMs } from './backoff.js';
import { recordCooldowns } from './cooldown.js';
import type { Begun, HandshakeState, Settled } from './handshake.js';
import { judge, type Judgement, type FinalReply } from './judgement.js';
import type { Verdict } from './verdicts.js';

export interface SettleSettings {
  database: Database;
  /** How often a webhook is asked that gives no answer. */
  maxAttempts: number;
  retry: { firstMs: number; maxMs: number };
  random: () => number;
}

/**
 * Judges an answer and writes what follows from it: attempt, handshake, cool-down, grant, audit and change, in one
 * transaction with the other answers of this moment.
 */
export type Settle = (begun: Begun, reply: FinalReply) => Promise<Settled>;

interface Answered extends Begun {
  reply: FinalReply;
}

interface Judged extends Answered {
  /** Undefined where it has gone. */
  origin: Origin | undefined;
  judgement: Judgement;
}

/** What is to be written on the handshake row. */
type Move =
  | { state: Exclude<HandshakeState, 'due' | 'asking' | 'cancelled'>; verdict: Verdict }
  /** Asked again after so long and, where the webhook gave no answer that ends its cool-down, not before that is over. */
  | { state: 'due'; verdict: Verdict; afterMs: number; afterCooldown: boolean };

type Moved = Judged & { origin: Origin; move: Move };

/** In one transaction. */
const most = 200;

export function createSettle({ database, maxAttempts, retry, random }: SettleSettings): Settle {
  const settle = createBatcher<Answered, Settled>({
    run: (answered) => database.write((tx) => settleAll(tx, answered)),
    most,
    // Two answers of one pair are written one after the other: the later one counts.
    keyOf: ({ claim }) => keyOfPair(claim),
  });
  return (begun, reply) => settle({ ...begun, reply });

  async function settleAll(tx: Transaction, answered: readonly Answered[]): Promise<Settled[]> {
    const { sql } = tx;
    const judged = await judgeAll(sql, answered);
    const cooldowns = judged.flatMap(({ claim, judgement }) => {
      const ms = cooldownAfter(judgement);
      return ms === undefined ? [] : [{ tenant: claim.tenant, origin: claim.origin, sink: claim.sink, ms }];
    });
    await lockPairs(
      sql,
      cooldowns.filter(({ ms }) => ms > 0),
    );
    await recordAnswers(sql, judged);
    const failures = await countFailures(sql, judged);
    const planned = judged.flatMap((each) =>
      each.origin === undefined
        ? []
        : [{ ...each, origin: each.origin, move: nextMove(each, each.origin, failures.get(each.claim.id) ?? 0) }],
    );
    const now = await databaseTime(sql);
    const isOurs = await moveHandshakes(sql, planned, now);
    // Whoever the handshake belongs to by now: it was said.
    await recordCooldowns(sql, cooldowns, now);
    const moved = planned.filter(({ claim }) => isOurs.has(claim.id));
    const ends = await settleGrants(tx, moved);
    for (const { claim } of moved) {
      const { state, verdict } = ends.get(claim.id) as Move;
      if (state === 'due' || state === 'waiting') continue;
      const target = claim.subscription === undefined ? `handshake:${claim.id}` : `subscription:${claim.subscription}`;
      tx.audit(service(claim.tenant), `handshake.${state}`, target, { handshake: claim.id, verdict });
    }
    await settleRenewals(tx, moved, ends);
    return judged.map(({ claim, judgement }) => {
      const end = ends.get(claim.id);
      return { verdict: end?.verdict ?? judgement.verdict, state: end?.state };
    });
  }

  function nextMove({ claim, attempt, judgement }: Judged, origin: Origin, failures: number): Move {
    const { kind, verdict } = judgement;
    // As a name that leads inside: to subscribers the two are the same.
    if (verdict === 'name_not_found' && claim.reason !== 'renewal') return { state: 'refused', verdict };
    switch (kind) {
      case 'granted':
        return { state: 'granted', verdict };
      case 'retired':
        return { state: 'retired', verdict };
      case 'refused':
      case 'blocked':
        return { state: 'refused', verdict };
      case 'withheld':
        if (attempt.callbackOffered) return { state: 'waiting', verdict };
        return givenBy(judgement, origin) !== undefined
          ? { state: 'granted', verdict: 'granted_by_policy' }
          : { state: 'refused', verdict };
      case 'postponed':
      case 'unreachable': {
        const afterCooldown = kind === 'unreachable';
        if (verdict === 'aborted') return { state: 'due', verdict, afterMs: 0, afterCooldown };
        if (failures >= maxAttempts) return { state: 'unreachable', verdict };
        const delayMs = retryDelayMs(failures, retry, random);
        const afterMs = kind === 'postponed' ? notBefore(judgement.retryAfterMs, delayMs) : delayMs;
        return { state: 'due', verdict, afterMs, afterCooldown };
      }
    }
  }

  /**
   * Puts what was given on the grants, and returns how the handshakes end, by their ids. A consent that meets a revoked
   * grant is refused, and so is a trickle that a live consent stands above: there the webhook has said nothing that
   * grants.
   */
  async function settleGrants(tx: Transaction, moved: readonly Moved[]): Promise<Map<string, Move>> {
    const given = moved.flatMap((each) => {
      const consent = consentOf(each, random());
      return consent === undefined ? [] : [{ ...each, actor: service(each.claim.tenant), consent }];
    });
    const live = await putGrants(tx, given);
    const turnedDown = given.filter(({ consent, move }) => move.state === 'granted' && !live.has(keyOfPair(consent)));
    const ends = new Map(moved.map(({ claim, move }) => [claim.id, move]));
    if (turnedDown.length === 0) return ends;
    const rows = await tx.sql.$queryRaw<Array<{ id: string; isrevoked: boolean }>>`
      select h.id, exists (
        select 1 from "grant" g where g.origin = h.origin and g.sink = h.sink and g.state = 'revoked') as isrevoked
      from handshake h where h.id = any (${turnedDown.map(({ claim }) => claim.id)}::uuid[])`;
    const revoked = new Set(rows.filter(({ isrevoked }) => isrevoked).map(({ id }) => id));
    for (const { claim, judgement } of turnedDown) {
      ends.set(claim.id, { state: 'refused', verdict: revoked.has(claim.id) ? 'revoked' : judgement.verdict });
    }
    const columns = turnedDown.map(({ claim: { id } }) => ({ id, verdict: ends.get(id)?.verdict }));
    await tx.sql.$executeRaw`
      update handshake h set state = 'refused', verdict = r.verdict
      from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as r (id uuid, verdict text) where h.id = r.id`;
    return ends;
  }
}

async function judgeAll(sql: Sql, answered: readonly Answered[]): Promise<Judged[]> {
  const names = [...new Set(answered.map(({ claim }) => claim.origin))];
  const rows = await sql.$queryRaw<OriginRow[]>`select * from origin where name = any (${names}::text[])`;
  const origins = rows.map(originOf);
  return answered.map((each) => {
    const { claim, reply } = each;
    const origin = origins.find(({ name, tenant }) => name === claim.origin && tenant === claim.tenant);
    const criteria = {
      origin: claim.origin,
      requestedRate: claim.requestedRate,
      defaultRate: origin?.defaultRate ?? 1,
      judgement: origin?.judgement ?? 'strict',
    };
    return { ...each, origin, judgement: judge(criteria, reply) };
  });
}

/** For how long the webhook wants to cool down; undefined where it said nothing. */
function cooldownAfter(judgement: Judgement): number | undefined {
  if (judgement.kind === 'unreachable' || judgement.kind === 'blocked') return undefined;
  return judgement.kind === 'postponed' ? notBefore(judgement.retryAfterMs, 0) : 0;
}

/** Kept whoever the handshake belongs to by now: it happened. */
async function recordAnswers(sql: Sql, judged: readonly Judged[]): Promise<void> {
  const columns = judged.map(({ claim, attempt, reply, judgement }) => ({
    handshake: claim.id,
    ...answerColumns(attempt, reply, judgement),
  }));
  await sql.$executeRaw`
    update attempt a set finishedat = now(), verdict = r.verdict, warnings = r.warnings, status = r.status,
      answerheaders = r.answerheaders, remoteaddress = r.remoteaddress, timing = r.timing
    from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as r (handshake uuid, number int, verdict text,
      warnings text[], status int, answerheaders jsonb, remoteaddress text, timing jsonb)
    where a.handshake = r.handshake and a.number = r.number and a.finishedat is null`;
}

/** How often each webhook gave no answer that could be used; what our own end cut off is not its fault. */
async function countFailures(sql: Sql, judged: readonly Judged[]): Promise<Map<string, number>> {
  const ids = judged
    .filter(({ judgement: { kind } }) => kind === 'postponed' || kind === 'unreachable')
    .map(({ claim }) => claim.id);
  if (ids.length === 0) return new Map();
  const rows = await sql.$queryRaw<Array<{ handshake: string; failures: number }>>`
    select handshake, count(*)::int as failures from attempt
    where handshake = any (${ids}::uuid[]) and verdict not in ('interrupted', 'aborted') group by handshake`;
  return new Map(rows.map(({ handshake, failures }) => [handshake, failures]));
}

/** asking -> the next state, of those handshakes that are still ours; returns their ids. */
async function moveHandshakes(sql: Sql, planned: readonly Moved[], now: Date): Promise<Set<string>> {
  if (planned.length === 0) return new Set();
  const columns = planned.map(({ claim, attempt, move }) => ({
    id: claim.id,
    lease: claim.lease,
    state: move.state,
    verdict: move.verdict,
    ...(move.state === 'due'
      ? { dueat: new Date(now.getTime() + move.afterMs), aftercooldown: move.afterCooldown }
      : {}),
    ...(move.state === 'waiting' ? { number: attempt.number } : {}),
    ...(move.state === 'due' || move.state === 'waiting' ? {} : { finishedat: now }),
  }));
  const rows = await sql.$queryRaw<Array<{ id: string }>>`
    update handshake h set state = m.state, verdict = m.verdict, lease = null, leaseduntil = null,
      finishedat = m.finishedat,
      dueat = greatest(coalesce(m.dueat, h.dueat), (
        select c.until from cooldown c
        where m.aftercooldown and c.tenant = h.tenant and c.origin = h.origin and c.sink = h.sink)),
      waitinguntil = (
        select a.callbackexpiresat from attempt a where a.handshake = h.id and a.number = m.number)
    from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as m (id uuid, lease uuid, state text, verdict text,
      dueat timestamptz, aftercooldown boolean, number int, finishedat timestamptz)
    -- Said so that it is looked up by its id, and not among all that are being asked.
    where h.id = m.id and h.lease = m.lease and h.state is not distinct from 'asking'
    returning h.id`;
  return new Set(rows.map(({ id }) => id));
}

/** What a target gives by its answer, or the origin's policy in place of one that does not know the handshake. */
function givenBy(
  judgement: Judgement,
  { unsupportedRate }: Origin,
): Pick<Consent, 'basis' | 'allowedOrigin' | 'allowedRate' | 'warnings'> | undefined {
  if (judgement.kind === 'granted') {
    const { allowedOrigin, allowedRate, warnings } = judgement;
    return { basis: 'response', allowedOrigin, allowedRate, warnings };
  }
  if (judgement.verdict !== 'unsupported' || unsupportedRate === undefined) return undefined;
  return { basis: 'policy', allowedOrigin: undefined, allowedRate: unsupportedRate, warnings: [] };
}

/** As it is put on the grant of the pair that was asked for; undefined where nothing is given. */
function consentOf({ claim, origin, judgement }: Moved, jitter: number): Consent | undefined {
  const given = givenBy(judgement, origin);
  if (given === undefined) return undefined;
  return {
    tenant: claim.tenant,
    origin: claim.origin,
    sink: claim.sink,
    handshake: claim.id,
    reference: undefined,
    ...given,
    requestedRate: claim.requestedRate,
    lease: { seconds: origin.leaseSeconds },
    jitter,
  };
}

/** A refused renewal ends the grant; one that reached nobody is tried again while the lease lasts. */
async function settleRenewals(
  tx: Transaction,
  moved: readonly Moved[],
  ends: ReadonlyMap<string, Move>,
): Promise<void> {
  const renewals = moved.map(({ claim }) => claim).filter(({ reason }) => reason === 'renewal');
  const endedBy = { refused: 'renewal_refused', retired: 'target_gone' } as const;
  const endings = renewals.flatMap((claim) => {
    const state = ends.get(claim.id)?.state;
    if (state !== 'refused' && state !== 'retired') return [];
    const { tenant, origin, sink, createdAt } = claim;
    return [{ tenant, origin, sink, reason: endedBy[state], grantedBefore: createdAt }];
  });
  await endGrants(tx, { name: 'assent' }, endings);
  await renewUnreached(
    tx.sql,
    renewals.filter(({ id }) => ends.get(id)?.state === 'unreachable'),
  );
}
