import { addressOf, isBlockedHandshake } from '../blocks/find-blocks.js';
import { keyOfPair, type Grant } from '../../consent/grant.js';
import { grantMembers } from '../grants/columns.js';
import { endGrants, learnAddresses, lockPairs, putGrants, renewUnreached, type Consent } from '../grants/write.js';
import type { Origin } from '../../consent/origin.js';
import { originOf } from '../origins/columns.js';
import { createBatcher } from '../storage/batch.js';
import { type Database, type Sql, service, type Transaction } from '../storage/database.js';
import { recordset, recordsetOfPairs, updateRows } from '../storage/rows.js';
import {
  Prisma,
  type grant as GrantRow,
  type handshake as HandshakeRow,
  type origin as OriginRow,
} from '../storage/generated/client.js';
import { addressIn, answerColumns } from './attempt.js';
import { supersedeFailures } from './close.js';
import { recordCooldowns } from './cooldown.js';
import { openLanes } from './lane.js';
import { isOpenState, type Begun, type Settled } from '../../consent/handshake.js';
import {
  evidenceOf,
  cooldownAfter,
  isSilent,
  judge,
  silentVerdicts,
  type FinalReply,
} from '../../consent/judgement.js';
import { givenBy, isClearRefusal, nextMove, type JudgedAttempt, type Move, type RetrySettings } from './next-move.js';
import { publicVerdict, type Verdict } from '../../consent/verdicts.js';

interface SettleSettings extends RetrySettings {
  database: Database;
}

/**
 * Judges a response and writes the result: attempt, handshake, cool-down, grant, audit and change, in one transaction
 * with the other responses of this moment.
 */
export type Settle = (begun: Begun, reply: FinalReply) => Promise<Settled>;

/** The same in a transaction of the caller. */
export type SettleIn = (tx: Transaction, answered: readonly AttemptReply[]) => Promise<Settled[]>;

interface AttemptReply extends Begun {
  reply: FinalReply;
}

/** `origin` is undefined if it was removed. */
type JudgedReply = AttemptReply & Pick<JudgedAttempt, 'judgement'> & { origin: Origin | undefined };

type PlannedMove = JudgedAttempt & { reply: FinalReply; move: Move };

/** In one transaction. */
const maxBatch = 200;

export function createSettle({ database, ...retries }: SettleSettings): { settle: Settle; settleIn: SettleIn } {
  const { random } = retries;
  const settle = createBatcher<AttemptReply, Settled>({
    run: (take) => database.write((tx) => settleAll(tx, take())),
    maxBatch,
    // Two responses of one pair are written one after the other: the later one counts.
    keyOf: ({ claim }) => keyOfPair(claim),
  });
  return { settle: (begun, reply) => settle({ ...begun, reply }), settleIn: settleAll };

  async function settleAll(tx: Transaction, answered: readonly AttemptReply[]): Promise<Settled[]> {
    const { sql } = tx;
    const facts = await readFacts(sql, answered);
    const judged = judgeAll(facts, answered);
    const cooldowns = judged.flatMap(({ claim, judgement }) => {
      const ms = cooldownAfter(judgement);
      // Nearly no webhook had one before, and then there is none to end.
      if (ms === undefined || (ms === 0 && !facts.cooling.has(claim.id))) return [];
      return [{ tenant: claim.tenant, origin: claim.origin, sink: claim.sink, ms }];
    });
    await lockPairs(
      sql,
      cooldowns.filter(({ ms }) => ms > 0),
    );
    const { now } = facts;
    const [, known] = await Promise.all([recordAnswers(sql, judged), judgedWith(sql, judged, facts)]);
    const planned = known.map((each) => ({ ...each, move: nextMove(each, now, retries) }));
    const movedRows = await moveHandshakes(sql, planned, now);
    const isOurs = new Set(movedRows.map(({ id }) => id));
    // Even if another process owns the handshake by now: the webhook returned it.
    await recordCooldowns(sql, cooldowns, now);
    const moved = planned.filter(({ claim }) => isOurs.has(claim.id));
    const ends = await settleGrants(tx, moved);
    // A callback that granted before this response did not know where the webhook is.
    await learnAddresses(
      tx,
      planned.flatMap(({ claim: { id, origin, sink }, reply }) => {
        const address = addressIn(reply);
        return isOurs.has(id) || address === undefined ? [] : [{ origin, sink, handshake: id, address }];
      }),
    );
    for (const { claim } of moved) {
      const { state, verdict } = ends.get(claim.id) as Move;
      if (isOpenState(state)) continue;
      const target = claim.subscription === undefined ? `handshake:${claim.id}` : `subscription:${claim.subscription}`;
      const { tenant, origin, sink, subscription } = claim;
      tx.audit(service(tenant), `handshake.${state}`, target, { origin, sink, handshake: claim.id, verdict });
      if (state === 'granted') continue;
      const cause = publicVerdict(verdict);
      tx.change({ kind: `handshake.${state}`, tenant, origin, sink, subscription, cause });
    }
    await settleRenewals(tx, moved, ends);
    const again = moved.filter(({ claim }) => claim.subscription !== undefined && claim.trigger !== 'registration');
    const ended = again.map(({ claim }) => claim.id).filter((id) => !isOpenState((ends.get(id) as Move).state));
    await supersedeFailures(sql, ended);
    await openLanes(
      sql,
      movedRows.filter(({ state }) => state === 'due'),
    );
    return judged.map(({ claim, judgement }) => {
      const end = ends.get(claim.id);
      const isDueNow = end?.state === 'due' && end.afterMs === 0 && judgement.verdict !== 'aborted';
      return {
        judged: judgement.verdict,
        verdict: end?.verdict ?? judgement.verdict,
        state: end?.state,
        isDueNow,
        evidence: evidenceOf(judgement),
      };
    });
  }

  /**
   * Writes the consents to the grants, and returns the final moves of the handshakes, by id. A consent for a revoked
   * grant is refused. So is a trickle by policy beside a live consent: the webhook itself granted nothing.
   */
  async function settleGrants(tx: Transaction, moved: readonly PlannedMove[]): Promise<Map<string, Move>> {
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
    const refused = turnedDown.map(({ claim: { id } }) => ({ id, state: 'refused', verdict: ends.get(id)?.verdict }));
    await tx.sql.$executeRaw`${updateRows('handshake', ['id'], refused)}`;
    return ends;
  }
}

interface Facts {
  /** By the database's clock. */
  now: Date;
  origins: Origin[];
  /** Handshakes whose webhook cools down, by id. */
  cooling: ReadonlySet<string>;
  /** Whether any block could stop one of them. */
  hasBlocks: boolean;
}

/** What judging a batch depends on. */
async function readFacts(sql: Sql, answered: readonly AttemptReply[]): Promise<Facts> {
  const names = [...new Set(answered.map(({ claim }) => claim.origin))];
  const ids = answered.map(({ claim }) => claim.id);
  const rows = await sql.$queryRaw<Array<OriginRow & { now: number; cooling: string[]; hasblocks: boolean }>>`
    select o.*, t.now, exists (select from block b where b.tenant in (o.tenant, '*')) as hasblocks,
      array(
        select h.id::text from handshake h
        join cooldown c on c.tenant = h.tenant and c.origin = h.origin and c.sink = h.sink
        where h.id = any (${ids}::uuid[]) and h.origin = o.name) as cooling
    from (select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now) t
    left join origin o on o.name = any (${names}::text[])`;
  const known = rows.filter(({ name }) => name !== null);
  return {
    now: new Date(rows[0]?.now ?? NaN),
    origins: known.map(originOf),
    cooling: new Set(known.flatMap(({ cooling }) => cooling)),
    hasBlocks: known.some(({ hasblocks }) => hasblocks),
  };
}

function judgeAll({ origins, now }: Facts, answered: readonly AttemptReply[]): JudgedReply[] {
  return answered.map((each) => {
    const { claim, reply } = each;
    const origin = origins.find(({ name, tenant }) => name === claim.origin && tenant === claim.tenant);
    const criteria = {
      origin: claim.origin,
      requestedRate: claim.requestedRate,
      defaultRate: origin?.defaultRate ?? 1,
      judgement: origin?.judgement ?? 'strict',
      certificate: claim.clientCertificate,
      now,
    };
    return { ...each, origin, judgement: judge(criteria, reply) };
  });
}

/** Recorded even if another process owns the handshake by now. */
async function recordAnswers(sql: Sql, judged: readonly JudgedReply[]): Promise<void> {
  const rows = judged.map(({ claim, attempt, reply, judgement }) => ({
    handshake: claim.id,
    ...answerColumns(attempt, reply, judgement),
  }));
  await sql.$executeRaw`
    ${updateRows('attempt', ['handshake', 'number'], rows, Prisma.sql`, finishedat = now()`)} and t.finishedat is null`;
}

/** Adds what decides the move after a response without consent; drops those whose origin was removed. */
async function judgedWith(
  sql: Sql,
  judged: readonly JudgedReply[],
  { hasBlocks }: Facts,
): Promise<Array<JudgedAttempt & { reply: FinalReply }>> {
  const without = judged.filter(({ judgement: { kind } }) => kind !== 'granted' && kind !== 'retired');
  const attempts = await readAttempts(sql, without);
  const grants = await readRenewed(sql, without);
  const blocked = hasBlocks ? await readBlocked(sql, judged) : new Set<string>();
  return judged.flatMap(({ origin, ...each }) => {
    if (origin === undefined) return [];
    const { failures = 0, callbackUntil, silentVerdict } = attempts.get(each.claim.id) ?? {};
    const renewed = grants.get(keyOfPair(each.claim));
    const isBlocked = blocked.has(each.claim.id);
    return [{ ...each, origin, failures, callbackUntil, silentVerdict, renewed, isBlocked }];
  });
}

/** The handshakes that a block stops, although they were sent. A network is compared with the address that responded. */
async function readBlocked(sql: Sql, judged: readonly JudgedReply[]): Promise<Set<string>> {
  const asked = judged.map(({ claim, reply }) => ({ handshake: claim.id, address: addressIn(reply) }));
  const row = Prisma.sql`h`;
  const rows = await sql.$queryRaw<Array<{ id: string }>>`
    select h.id from ${recordset('attempt', asked)} r join handshake h on h.id = r.handshake
    where ${isBlockedHandshake(row, Prisma.sql`coalesce(r.address, ${addressOf(row)})`)}`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * How often each webhook returned no usable response, and when its callback expires. Attempts that Assent itself ended
 * do not count, and a request that was retried without the callback counts once, by its second response.
 */
async function readAttempts(sql: Sql, judged: readonly JudgedReply[]) {
  const known = new Map<string, Pick<JudgedAttempt, 'failures' | 'callbackUntil' | 'silentVerdict'>>();
  if (judged.length === 0) return known;
  type Row = { handshake: string; failures: number; callbackuntil: Date | null; offeredverdict: Verdict | null };
  const rows = await sql.$queryRaw<Row[]>`
    select handshake, max(callbackexpiresat) as callbackuntil,
      (array_agg(verdict order by number desc) filter (where callbackkeyhash is not null))[1] as offeredverdict,
      count(*) filter (
        where verdict not in ('interrupted', 'aborted')
          and (callbackkeyhash is null or verdict <> all (${[...silentVerdicts]}::text[])))::int as failures
    from attempt where handshake = any (${judged.map(({ claim }) => claim.id)}::uuid[]) group by handshake`;
  for (const { handshake, failures, callbackuntil, offeredverdict } of rows) {
    const silentVerdict = offeredverdict !== null && isSilent(offeredverdict) ? offeredverdict : undefined;
    known.set(handshake, { failures, callbackUntil: callbackuntil ?? undefined, silentVerdict });
  }
  return known;
}

/** The live grants that renewals are for, by `keyOfPair`. */
async function readRenewed(sql: Sql, judged: readonly JudgedReply[]): Promise<Map<string, Grant>> {
  const renewals = judged.map(({ claim }) => claim).filter(({ trigger }) => trigger === 'renewal');
  if (renewals.length === 0) return new Map();
  const rows = await sql.$queryRaw<GrantRow[]>`
    select g.* from ${recordsetOfPairs(renewals)} p
    join "grant" g on g.origin = p.origin and g.sink = p.sink and g.tenant = p.tenant
    where g.state = 'live' and g.expiresat > now()`;
  return new Map(rows.map((row) => [keyOfPair(row), grantMembers.read(row)]));
}

type MovedRow = Pick<HandshakeRow, 'id' | 'state' | 'tenant' | 'sinkhost' | 'dueat'>;

/** asking -> the next state, for the handshakes whose claim is still ours. */
async function moveHandshakes(sql: Sql, planned: readonly PlannedMove[], now: Date): Promise<MovedRow[]> {
  if (planned.length === 0) return [];
  const columns = planned.map(({ claim, move }) => ({
    id: claim.id,
    claimid: claim.claimId,
    state: move.state,
    verdict: move.verdict,
    ...(move.state === 'due'
      ? { dueat: new Date(now.getTime() + move.afterMs), aftercooldown: move.afterCooldown }
      : {}),
    ...(move.state === 'waiting' ? { waitinguntil: move.until } : {}),
    ...(isOpenState(move.state) ? {} : { finishedat: now }),
  }));
  return sql.$queryRaw<MovedRow[]>`
    update handshake h set state = m.state, verdict = m.verdict, claimid = null, claimeduntil = null,
      finishedat = m.finishedat, waitinguntil = m.waitinguntil,
      dueat = greatest(coalesce(m.dueat, h.dueat), (
        select c.until from cooldown c
        where m.aftercooldown and c.tenant = h.tenant and c.origin = h.origin and c.sink = h.sink))
    from jsonb_to_recordset(${JSON.stringify(columns)}::jsonb) as m (id uuid, claimid uuid, state text, verdict text,
      dueat timestamptz, aftercooldown boolean, waitinguntil timestamptz, finishedat timestamptz)
    -- Written like this so that the planner looks it up by id, and not among all that are in flight.
    where h.id = m.id and h.claimid = m.claimid and h.state is not distinct from 'asking'
    returning h.id, h.state, h.tenant, h.sinkhost, h.dueat`;
}

/** The consent as it is written to the grant of the pair; undefined if there is none. */
function consentOf(moved: PlannedMove, jitter: number): Consent | undefined {
  const { claim, origin, move } = moved;
  const given = move.state === 'granted' || move.state === 'waiting' ? givenBy(moved) : undefined;
  if (given === undefined) return undefined;
  return {
    tenant: claim.tenant,
    origin: claim.origin,
    sink: claim.sink,
    handshake: claim.id,
    agreement: undefined,
    ...given,
    requestedRate: claim.requestedRate,
    lifetime: { seconds: origin.grantSeconds },
    jitter,
  };
}

/** A clearly refused renewal ends the grant. One without a response is retried until the grant expires. */
async function settleRenewals(
  tx: Transaction,
  moved: readonly PlannedMove[],
  ends: ReadonlyMap<string, Move>,
): Promise<void> {
  const renewals = moved.filter(({ claim }) => claim.trigger === 'renewal');
  const endings = renewals.flatMap(({ claim, judgement }) => {
    const code =
      judgement.kind === 'retired' ? 'target_gone' : isClearRefusal(judgement) ? 'renewal_refused' : undefined;
    const { tenant, origin, sink, createdAt } = claim;
    return code === undefined ? [] : [{ tenant, origin, sink, code, grantedBefore: createdAt } as const];
  });
  await endGrants(tx, { name: 'assent' }, endings);
  const unanswered = renewals.map(({ claim }) => claim).filter(({ id }) => ends.get(id)?.state === 'unreachable');
  await renewUnreached(tx.sql, unanswered);
}
