import { endGrant, lockPairs, putGrant, type Consent } from '../grants/write-grant.js';
import type { OriginMemory } from '../origins/origin-memory.js';
import type { Origin } from '../origins/origin.js';
import { originOf } from '../origins/store.js';
import { recordAudit, service } from '../storage/audit.js';
import type { Database, Sql } from '../storage/database.js';
import { notBefore, retryDelayMs } from './backoff.js';
import { consentOf, givenBy } from './consent.js';
import { judge, type Judgement, type Outcome } from './exchange.js';
import type { BegunAttempt, Claim, HandshakeState, Settled } from './handshake.js';
import { recordOutcome } from './record-outcome.js';
import { recordRest, restOf } from './rest.js';
import type { SettleConsent } from './settle-consent.js';
import type { Verdict } from './verdicts.js';

export interface SettleSettings {
  database: Database;
  origins: OriginMemory;
  settleConsent: SettleConsent;
  /** How often a webhook is asked that gives no answer. */
  maxAttempts: number;
  retry: { firstMs: number; maxMs: number };
  random: () => number;
}

/**
 * Judges an answer and writes what follows from it (attempt, handshake, grant, audit, change) in one transaction: a
 * consent in a batch with others, everything else by itself.
 */
export type Settle = (claim: Claim, attempt: BegunAttempt, reply: Outcome) => Promise<Settled>;

/** What is to be written on the handshake row. */
type Move =
  | { state: 'waiting' | 'granted' | 'refused' | 'retired' | 'unreachable'; verdict: Verdict }
  /** Asked again after so long and, where the webhook gave no answer that ends its rest, not before that is over. */
  | { state: 'due'; verdict: Verdict; afterMs: number; afterRest: boolean };

export function createSettle(settings: SettleSettings): Settle {
  const { database, origins, settleConsent, maxAttempts, retry, random } = settings;

  return async (claim, attempt, reply) => {
    const origin = origins.recall(claim.tenant, claim.origin);
    const judgement = judgeReply(claim, origin, reply);
    if (origin !== undefined && judgement.kind === 'granted') {
      const settled = await settleConsent({ claim, attempt, reply, judgement, origin });
      if (settled !== undefined) return settled;
    }
    return settleAlone(claim, attempt, reply);
  };

  function settleAlone(claim: Claim, attempt: BegunAttempt, reply: Outcome): Promise<Settled> {
    return database.transaction(async (sql) => {
      const row = await sql.origin.findUnique({ where: { name: claim.origin, tenant: claim.tenant } });
      const origin = row === null ? undefined : originOf(row);
      if (origin !== undefined) origins.remember(claim.tenant, claim.origin, origin);
      const judgement = judgeReply(claim, origin, reply);
      const restMs = restAfter(judgement);
      if (restMs !== undefined && restMs > 0) await lockPairs(sql, claim);
      await recordOutcome(sql, claim, attempt, reply, judgement);
      const isFailure = judgement.kind === 'postponed' || judgement.kind === 'unreachable';
      const failures = isFailure ? await countFailures(sql, claim) : 0;
      const move = nextMove(judgement, attempt, origin, failures);
      const isMoved = origin !== undefined && (await apply(sql, claim, move, attempt));
      // Whoever the handshake belongs to by now: it was said.
      if (restMs !== undefined) await recordRest(sql, claim, restMs);
      if (origin === undefined || !isMoved) return { verdict: judgement.verdict, state: undefined };
      const state = await settleGrant(sql, claim, origin, judgement, move);
      return { verdict: judgement.verdict, state };
    });
  }

  function judgeReply(claim: Claim, origin: Origin | undefined, reply: Outcome): Judgement {
    return judge(
      {
        origin: claim.origin,
        requestedRate: claim.requestedRate,
        defaultRate: origin?.defaultRate ?? 1,
        judgement: origin?.judgement ?? 'strict',
      },
      reply,
    );
  }

  function nextMove(judgement: Judgement, attempt: BegunAttempt, origin: Origin | undefined, failures: number): Move {
    const { kind, verdict } = judgement;
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
        return origin !== undefined && givenBy(judgement, origin) !== undefined
          ? { state: 'granted', verdict: 'granted_by_policy' }
          : { state: 'refused', verdict };
      case 'postponed':
      case 'unreachable': {
        const afterRest = kind === 'unreachable';
        if (verdict === 'aborted') return { state: 'due', verdict, afterMs: 0, afterRest };
        if (failures >= maxAttempts) return { state: 'unreachable', verdict };
        const delayMs = retryDelayMs(failures, retry, random);
        const afterMs = kind === 'postponed' ? notBefore(judgement.retryAfterMs, delayMs) : delayMs;
        return { state: 'due', verdict, afterMs, afterRest };
      }
    }
  }

  /** The state in the end. */
  async function settleGrant(
    sql: Sql,
    claim: Claim,
    origin: Origin,
    judgement: Judgement,
    move: Move,
  ): Promise<HandshakeState> {
    const given = givenBy(judgement, origin);
    const { state, verdict } =
      given === undefined
        ? move
        : await putConsent(sql, claim, consentOf(claim, origin, given, random()), judgement, move);
    if (state !== 'due' && state !== 'waiting') {
      const target = claim.subscription === undefined ? `handshake:${claim.id}` : `subscription:${claim.subscription}`;
      await recordAudit(sql, service(claim.tenant), `handshake.${state}`, target, { handshake: claim.id, verdict });
    }
    if (claim.reason === 'renewal') await settleRenewal(sql, claim, state);
    return state;
  }
}

/**
 * A consent that meets a revoked grant is refused, and so is a trickle that a live consent stands above: there the
 * webhook has said nothing that grants.
 */
async function putConsent(sql: Sql, claim: Claim, consent: Consent, judgement: Judgement, move: Move): Promise<Move> {
  const grant = await putGrant(sql, service(claim.tenant), consent);
  if (grant !== undefined || move.state !== 'granted') return move;
  const { id, origin, sink } = claim;
  const isRevoked = (await sql.grant.count({ where: { origin, sink, state: 'revoked' } })) > 0;
  const refused = { state: 'refused', verdict: isRevoked ? 'revoked' : judgement.verdict } as const;
  await sql.$executeRaw`
    update handshake set state = ${refused.state}, verdict = ${refused.verdict} where id = ${id}::uuid`;
  return refused;
}

/** A refused renewal ends the grant; one that reached nobody is tried again while the lease lasts. */
async function settleRenewal(sql: Sql, claim: Claim, state: HandshakeState): Promise<void> {
  const ending = { ...claim, grantedBefore: claim.createdAt };
  if (state === 'refused') await endGrant(sql, service(claim.tenant), ending, 'renewal_refused');
  if (state === 'retired') await endGrant(sql, service(claim.tenant), ending, 'target_gone');
  if (state === 'unreachable') {
    await sql.$executeRaw`
      update "grant" set renewat = now() + (expiresat - now()) / 2, version = version + 1
      where origin = ${claim.origin} and sink = ${claim.sink} and state = 'live' and expiresat > now() + interval '10 minutes'
        -- Unless a consent or an agreement, which is not renewed, came meanwhile.
        and renewat is null and basis <> 'agreement'`;
  }
}

/** For how long the webhook wants to be left alone; undefined where it said nothing. */
function restAfter(judgement: Judgement): number | undefined {
  if (judgement.kind === 'unreachable' || judgement.kind === 'blocked') return undefined;
  return judgement.kind === 'postponed' ? notBefore(judgement.retryAfterMs, 0) : 0;
}

/** How often the webhook gave no answer that could be used; what our own end cut off is not its fault. */
function countFailures(sql: Sql, { id }: Claim): Promise<number> {
  return sql.attempt.count({ where: { handshake: id, verdict: { notIn: ['interrupted', 'aborted'] } } });
}

/** asking -> the next state, if the handshake is still ours. */
async function apply(sql: Sql, claim: Claim, move: Move, attempt: BegunAttempt): Promise<boolean> {
  const { state, verdict } = move;
  const { afterMs, afterRest } = move.state === 'due' ? move : { afterMs: 0, afterRest: false };
  const moved = await sql.$executeRaw`
    update handshake set state = ${state}, verdict = ${verdict}, lease = null, leaseduntil = null,
      dueat = case when ${state} <> 'due' then dueat
        else greatest(now() + make_interval(secs => ${afterMs / 1_000}::float8), case when ${afterRest} then ${restOf(claim)} end)
        end,
      waitinguntil = case when ${state} = 'waiting' then
        (select callbackexpiresat from attempt where handshake = ${claim.id}::uuid and number = ${attempt.number}) end,
      finishedat = case when ${state} in ('due', 'waiting') then null else now() end
    where id = ${claim.id}::uuid and lease = ${claim.lease}::uuid and state = 'asking'`;
  return moved === 1;
}
