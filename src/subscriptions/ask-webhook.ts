import { findGrantOf } from '../grants/read-grant.js';
import { endGrants, renewLater } from '../grants/write-grant.js';
import { closeHandshakesOfOtherRate, closeHandshakesOfPair, closeUnwantedRenewal } from '../handshake/close.js';
import { cooldownOf } from '../handshake/cooldown.js';
import type { HandshakeReason } from '../handshake/handshake.js';
import { enqueue } from '../handshake/queue.js';
import type { Origin } from '../origins/origin.js';
import { uuidv7 } from '../storage/ids.js';
import type { Sql } from '../storage/sql.js';
import type { Actor, Transaction } from '../storage/transaction.js';
import type { Definition, Subscription } from './subscription.js';

/** What a subscription asks of its webhook, and what it leaves behind; in the transaction of what changes it. */

/** A subscription, as far as its webhook is asked for it. */
export interface AskedSubscription {
  id: string;
  generation: number;
  definition: Pick<Definition, 'sink' | 'requestedRate'>;
  origin: Origin;
}

/** Puts the question, unless an admin revoked the pair's grant: then nothing that the webhook says would count. */
async function ask(
  sql: Sql,
  actor: Actor,
  { id, generation, definition, origin }: AskedSubscription,
  reason: HandshakeReason,
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
      reason,
      startedBy: actor.name,
      requestedRate: definition.requestedRate ?? origin.requestedRate,
      traceparent: actor.traceparent,
    },
  ]);
  return handshake;
}

/**
 * Where the same question is open already, it is due now instead of later; nobody is asked twice at the same time. One
 * that was sent with another rate is given up. A webhook that said when to ask again is not asked before.
 */
export async function askOnce(
  sql: Sql,
  actor: Actor,
  asked: AskedSubscription,
  reason: HandshakeReason,
  handshake?: string,
): Promise<string | undefined> {
  const { id, origin, definition } = asked;
  const rate = definition.requestedRate ?? origin.requestedRate ?? null;
  await closeHandshakesOfOtherRate(sql, id, rate);
  const cooldown = cooldownOf({ tenant: origin.tenant, origin: origin.name, sink: definition.sink });
  const [open] = await sql.$queryRaw<Array<{ id: string }>>`
    update handshake set requestedrate = ${rate}::int,
      dueat = least(dueat, greatest(now(), ${cooldown}, case when verdict = 'held_by_budget' then dueat end))
    where subscription = ${id}::uuid and state in ('due', 'asking') and callbackopen returning id`;
  return open ? open.id : ask(sql, actor, asked, reason, handshake);
}

/**
 * As askOnce, for another rate: the renewal of the consent to the one before would bring that back. Until the webhook
 * agrees to the new one the grant stands, and is renewed later if it does not.
 */
export async function askForRate(
  sql: Sql,
  actor: Actor,
  asked: AskedSubscription,
  reason: HandshakeReason,
): Promise<string | undefined> {
  const { origin, definition } = asked;
  const pair = { tenant: origin.tenant, origin: origin.name, sink: definition.sink };
  await closeUnwantedRenewal(sql, pair, origin.requestedRate ?? null);
  const handshake = await askOnce(sql, actor, asked, reason);
  await renewLater(sql, pair);
  return handshake;
}

/** The last subscription of a pair takes its questions and its grant along; an agreement stands by itself. */
export async function releasePair(
  tx: Transaction,
  actor: Actor,
  { tenant, origin, sink }: Subscription,
): Promise<void> {
  const { sql } = tx;
  const left = await sql.$queryRaw<
    unknown[]
  >`select 1 from subscription where origin = ${origin} and sink = ${sink} limit 1`;
  if (left.length > 0) return;
  await closeHandshakesOfPair(sql, { tenant, origin, sink });
  await endGrants(tx, actor, [{ tenant, origin, sink, reason: 'no_subscription' }]);
}
