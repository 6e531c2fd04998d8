import type { Pair } from '../../consent/grant.js';
import { findGrantOf } from '../grants/read.js';
import { endGrants, renewLater } from '../grants/write.js';
import { closeHandshakesOfOtherRate, closeHandshakesOfPairs, closeUnwantedRenewal } from '../handshake/close.js';
import { cooldownOf } from '../handshake/cooldown.js';
import type { HandshakeTrigger } from '../../consent/handshake.js';
import { openLanes, type Lane } from '../handshake/lane.js';
import { enqueue } from '../handshake/queue.js';
import type { Origin } from '../../consent/origin.js';
import { uuidv7 } from '../../base/files/ids.js';
import { recordsetOfPairs } from '../storage/rows.js';
import type { Sql, Actor, Transaction } from '../storage/database.js';
import type { Definition } from './columns.js';

/** Starts and closes the handshakes of a subscription, in the transaction that changes it. */

/** The part of a subscription that a handshake needs. */
export interface AskedSubscription {
  id: string;
  generation: number;
  definition: Pick<Definition, 'sink' | 'requestedRate'>;
  origin: Origin;
}

/** Starts a handshake, unless an admin revoked the grant of the pair: then no response could count. */
async function ask(
  sql: Sql,
  actor: Actor,
  { id, generation, definition, origin }: AskedSubscription,
  trigger: HandshakeTrigger,
  handshake: string = uuidv7(),
): Promise<string | undefined> {
  const { sink } = definition;
  if ((await findGrantOf(sql, { origin: origin.name, sink }))?.state === 'revoked') return undefined;
  await enqueue(sql, [
    {
      id: handshake,
      tenant: origin.tenant,
      origin: origin.name,
      sink,
      subscription: id,
      generation,
      trigger,
      startedBy: actor.name,
      requestedRate: definition.requestedRate ?? origin.requestedRate,
      traceparent: actor.traceparent,
    },
  ]);
  return handshake;
}

/**
 * If the same handshake is already open, it becomes due now, so that no webhook is asked twice at the same time. An
 * open handshake with another rate is closed. If the webhook said when to ask again, Assent does not ask earlier.
 */
export async function askOnce(
  sql: Sql,
  actor: Actor,
  asked: AskedSubscription,
  trigger: HandshakeTrigger,
  handshake?: string,
): Promise<string | undefined> {
  const { id, origin, definition } = asked;
  const rate = definition.requestedRate ?? origin.requestedRate ?? null;
  await closeHandshakesOfOtherRate(sql, id, rate);
  const cooldown = cooldownOf({ tenant: origin.tenant, origin: origin.name, sink: definition.sink });
  const [open] = await sql.$queryRaw<Array<Lane & { id: string; state: string; dueat: Date }>>`
    update handshake set requestedrate = ${rate}::int,
      dueat = least(dueat, greatest(now(), ${cooldown}, case when verdict = 'held_by_budget' then dueat end))
    where subscription = ${id}::uuid and state in ('due', 'asking') and callbackopen
    returning id, state, tenant, sinkhost, dueat`;
  if (open?.state === 'due') await openLanes(sql, [open]);
  return open ? open.id : ask(sql, actor, asked, trigger, handshake);
}

/**
 * Like askOnce, for another rate. Closes the open renewal, which would bring the old rate back. The grant stays live
 * until the webhook agrees to the new rate, and is renewed later if the webhook does not.
 */
export async function askForRate(
  sql: Sql,
  actor: Actor,
  asked: AskedSubscription,
  trigger: HandshakeTrigger,
): Promise<string | undefined> {
  const { origin, definition } = asked;
  const pair = { tenant: origin.tenant, origin: origin.name, sink: definition.sink };
  await closeUnwantedRenewal(sql, pair, origin.requestedRate ?? null);
  const handshake = await askOnce(sql, actor, asked, trigger);
  await renewLater(sql, pair);
  return handshake;
}

/**
 * Whether the live grant of the pair is for the rate that the subscription requests. Its rate, sink or origin may have
 * changed without a handshake, and a draft never had one.
 */
export async function isCovered(sql: Sql, { id, generation, definition, origin }: AskedSubscription): Promise<boolean> {
  const rate = definition.requestedRate ?? origin.requestedRate ?? null;
  const rows = await sql.$queryRaw<unknown[]>`
    select 1 from "grant" where origin = ${origin.name} and sink = ${definition.sink}
      and state = 'live' and expiresat > now() and (
        select h.requestedrate is not distinct from ${rate}::int from handshake h
        where h.subscription = ${id}::uuid and h.generation = ${generation} and h.state <> 'cancelled'
        order by h.createdat desc, h.id desc limit 1)`;
  return rows.length > 0;
}

/** Closes the handshakes and ends the grants of those pairs that have no subscription. Agreements stay. */
export async function releasePairs(
  tx: Transaction,
  actor: Omit<Actor, 'tenant'>,
  pairs: readonly Pair[],
): Promise<void> {
  const { sql } = tx;
  // A subscription whose end is not recorded yet releases its pair when that is.
  const free = await sql.$queryRaw<Pair[]>`
    select p.tenant, p.origin, p.sink
    from ${recordsetOfPairs(pairs)} p
    where (
      select true from subscription s where s.origin = p.origin and s.sink = p.sink and s.endedat is null limit 1) is null`;
  if (free.length === 0) return;
  await closeHandshakesOfPairs(sql, free);
  await endGrants(
    tx,
    actor,
    free.map((pair) => ({ ...pair, code: 'no_subscription' })),
  );
}
