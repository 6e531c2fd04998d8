import { blockedError, findBlocks, type BlockTarget } from '../blocks/find-blocks.js';
import { RegistryError } from '../../base/errors.js';
import { findGrantOf } from '../grants/read.js';
import { lockPairs, reopenGrant } from '../grants/write.js';
import { closeHandshakesOf, closeHandshakesOfPair, closeWaitingRenewal } from '../handshake/close.js';
import { unparkPair } from '../handshake/lane.js';
import { findOrigin } from '../origins/store.js';
import {
  type Database,
  type Sql,
  databaseTime,
  storedPerson,
  type Actor,
  type ChangeKind,
  type Transaction,
} from '../storage/database.js';
import { claimKey, noteResource, type IdempotentRequest } from '../storage/idempotency.js';
import { uuidv7 } from '../../base/files/ids.js';
import { Prisma } from '../storage/generated/client.js';
import { updateRows, written } from '../storage/rows.js';
import { secretTexts } from '../../base/texts/credentials.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import { receivesSame, refuseChange } from './allowed.js';
import { askForRate, askOnce, isCovered, releasePairs, type AskedSubscription } from './ask-webhook.js';
import {
  findAskedOrigin,
  lint,
  invalid,
  nothingToKeep,
  type Requested,
  refuseEnd,
  refuseUnverified,
} from './definition.js';
import { copiedSecrets, sealSecrets, secretNames, type RequestedSecrets, type SecretInfo } from './secrets.js';
import { ownerOf } from './read-secrets.js';
import type { Vault } from '../storage/vault.js';
import { refusePrices, type TenantLimits } from './prices.js';
import type { Asked, RefuseExcess } from './quota.js';
import { planOf, type Plan, type Replacement } from './plan.js';
import { lockSubscription } from './read.js';
import type { Caller, Register, Written } from './register.js';
import { changedSubscription, changedSuspension, type Subscription } from './columns.js';

/**
 * Changes to subscriptions. Each method is one transaction that writes the subscription, its handshake, the audit record
 * and the change together. It returns the handshake that started, if any.
 */
export interface SubscriptionWriter {
  create: Register;
  /**
   * `requestFor` gets the current subscription, under lock. Another sink or origin starts a new generation. Another end
   * extends a subscription that has ended.
   */
  replace(caller: Caller, id: string, requestFor: (present: Subscription) => Requested): Promise<Written>;
  /** Returns the subscription as it was. */
  remove(caller: Caller, id: string, check: Check): Promise<Subscription>;
  suspend(caller: Caller, id: string, reason: string, request: IdempotentRequest, check: Check): Promise<Repeatable>;
  /**
   * Throws RegistryError `suspended_by_admin` if only an admin may resume, `subscription_not_allowed` if the subscriber
   * may not have it any more. Starts a handshake unless a live grant covers the rate, or the subscription has ended;
   * `too_many_handshakes` if the tenant may ask for no more.
   */
  resume(
    caller: Caller,
    id: string,
    reason: string | undefined,
    request: IdempotentRequest,
    check: Check,
  ): Promise<Repeatable>;
  /** Throws RegistryError `grant_revoked` if only an admin may. For an admin it lifts the revocation. */
  askAgain(caller: Caller, id: string, request: IdempotentRequest): Promise<RegisteredSubscription>;
}

type Check = (present: Subscription) => void;

/** `replayed`: an earlier request with the same `Idempotency-Key` did it. */
export interface Repeatable extends Written {
  replayed: boolean;
}

/** A handshake that a client requested. */
export interface RegisteredSubscription extends Repeatable {
  id: string;
}

export interface WriterSettings extends TenantLimits {
  database: Database;
  vault: Vault;
  register: Register;
}

export function createSubscriptionWriter(settings: WriterSettings): SubscriptionWriter {
  const { database, vault, register, prices, refuseOverQuota, refuseOverBacklog } = settings;
  const excessOf = async (refuse: RefuseExcess, sql: Sql, asked: Asked) => (await refuse(sql, [asked])).get(asked.id);
  return {
    create: register,

    replace: ({ principal, actor }, id, requestFor) =>
      database.write(async (tx) => {
        const { sql } = tx;
        const present = await lockSubscription(sql, principal, id);
        const { tenant, subscriber } = present;
        const { definition, secrets, origin: name } = requestFor(present);
        checkSecrets(present, secrets, definition.sink);
        const origin = await findAskedOrigin(sql, { tenant, name });
        const now = await databaseTime(sql);
        const sealed = await sealSecrets(vault, secrets, ownerOf(tenant, id));
        const requested = { definition, origin, secrets, sealed };
        const plan = planOf(present, requested, now);
        const refused =
          refuseEnd(definition.expiresAt, now, present.expiresAt) ??
          lint(origin, definition) ??
          refuseChange(origin, principal, present, definition) ??
          (receivesSame(origin, present, definition) ? undefined : await refuseUnverified(sql, origin)) ??
          (plan.question === 'none' ? undefined : await excessOf(refuseOverBacklog, sql, present)) ??
          (plan.isExtended ? await excessOf(refuseOverQuota, sql, present) : undefined);
        if (refused !== undefined) throw refused;
        const counted = { ...definition, price: plan.price.after };
        const priced = { id, tenant, subscriber, definition: counted, before: plan.price.before };
        const tooExpensive = (await refusePrices(sql, [priced], prices)).get(id);
        if (tooExpensive !== undefined) throw tooExpensive;
        if (plan.isOtherPair) await refuseBlocked(sql, { ...present, origin: origin.name, sink: definition.sink });
        return { handshake: await apply(vault, tx, actor, present, requested, plan) };
      }),

    remove: ({ principal, actor }, id, check) =>
      database.write(async (tx) => {
        const { sql } = tx;
        const present = await lockSubscription(sql, principal, id);
        check(present);
        await lockPairs(sql, [present]);
        await closeHandshakesOf(sql, id);
        await sql.$executeRaw`delete from subscription where id = ${id}::uuid`;
        await releasePairs(tx, actor, [present]);
        const changed = changedSubscription(vault, present, present, undefined);
        record(tx, actor, 'subscription.deleted', present, { changed, subscriber: present.subscriber });
        return present;
      }),

    suspend: ({ principal, actor }, id, reason, request, check) =>
      database.write(async (tx) => {
        const { sql } = tx;
        const present = await lockSubscription(sql, principal, id);
        if ((await claimKey(sql, request, id)) !== undefined) return { handshake: undefined, replayed: true };
        check(present);
        const by = principal.scopes.has('assent:admin') ? 'admin' : 'subscriber';
        // A subscription that an admin suspended stays suspended by the admin, even if a subscriber suspends it again.
        await sql.$executeRaw`
          update subscription set version = version + 1, updatedat = now(), suspendedat = least(suspendedat, now()),
            suspendreason = case when suspendedby = 'admin' and ${by} <> 'admin' then suspendreason else ${reason} end,
            suspendedbyperson = case when suspendedby = 'admin' and ${by} <> 'admin' then suspendedbyperson
              else ${storedPerson(actor)}::jsonb end,
            suspendedby = case when suspendedby = 'admin' then suspendedby else ${by} end
          where id = ${id}::uuid`;
        const { suspension } = present;
        const stays = suspension?.by === 'admin' && by !== 'admin';
        const changed = changedSuspension(suspension, stays ? suspension : { by, reason });
        record(tx, actor, 'subscription.suspended', present, { reason, changed });
        return { handshake: undefined, replayed: false };
      }),

    resume: ({ principal, actor }, id, reason, request, check) =>
      database.write(async (tx) => {
        const { sql } = tx;
        const present = await lockSubscription(sql, principal, id);
        if ((await claimKey(sql, request, id)) !== undefined) return { handshake: undefined, replayed: true };
        check(present);
        if (present.suspension === undefined) return { handshake: undefined, replayed: false };
        if (present.suspension.by === 'admin' && !principal.scopes.has('assent:admin')) {
          throw new RegistryError('suspended_by_admin', subscriptionTexts.suspendedByAdmin);
        }
        const origin = await findOrigin(sql, present.tenant, present.origin);
        const notAllowed = refuseChange(origin, principal, present, present);
        if (notAllowed !== undefined) throw notAllowed;
        const question = { id, generation: present.generation, definition: present, origin };
        const isAsked = async () => !present.isEnded && !(await isCovered(sql, question));
        const tooMany = (await isAsked()) ? await excessOf(refuseOverBacklog, sql, present) : undefined;
        if (tooMany !== undefined) throw tooMany;
        await lockPairs(sql, [present]);
        // The handshake for this subscription replaces the renewal.
        await closeWaitingRenewal(sql, present);
        await sql.$executeRaw`
          update subscription set version = version + 1, updatedat = now(),
            suspendedat = null, suspendedby = null, suspendedbyperson = null, suspendreason = null
          where id = ${id}::uuid`;
        await unparkPair(sql, present);
        const handshake = (await isAsked()) ? await askForRate(sql, actor, question, 'request') : undefined;
        const changed = changedSuspension(present.suspension, undefined);
        record(tx, actor, 'subscription.resumed', present, { reason, changed });
        return { handshake, replayed: false };
      }),

    askAgain: ({ principal, actor }, id, request) =>
      database.write(async (tx) => {
        const { sql } = tx;
        const present = await lockSubscription(sql, principal, id);
        const created = uuidv7();
        const earlier = await claimKey(sql, request, created);
        if (earlier !== undefined) return { id: earlier, handshake: undefined, replayed: true };
        if (present.isEnded) throw new RegistryError('subscription_ended', subscriptionTexts.hasEnded);
        await refuseBlocked(sql, present);
        const tooMany = await excessOf(refuseOverBacklog, sql, present);
        if (tooMany !== undefined) throw tooMany;
        await lockPairs(sql, [present]);
        if (principal.scopes.has('assent:admin')) await reopen(tx, actor, present);
        const origin = await findOrigin(sql, present.tenant, present.origin);
        const question = { id, generation: present.generation, definition: present, origin };
        const handshake = await askOnce(sql, actor, question, 'request', created);
        if (handshake === undefined) {
          throw new RegistryError('grant_revoked', subscriptionTexts.grantRevoked);
        }
        if (handshake !== created) await noteResource(sql, request, handshake);
        const { origin: name, sink } = present;
        tx.audit(actor, 'handshake.requested', `subscription:${id}`, { origin: name, sink, handshake });
        return { id: handshake, handshake, replayed: false };
      }),
  };
}

/** Returns the handshake that starts. */
async function apply(
  vault: Vault,
  tx: Transaction,
  actor: Actor,
  present: Subscription,
  { definition, origin }: Replacement,
  plan: Plan,
): Promise<string | undefined> {
  const { sql } = tx;
  const { id, tenant, subscriber } = present;
  const moved = { id, subscriber, origin: origin.name, sink: definition.sink };
  if (plan.locksPairs) await lockPairs(sql, [present, moved]);
  const also = Prisma.sql`${written} ${copiedSecrets(plan.overlapping)}`;
  await sql.$executeRaw`${updateRows('subscription', ['id'], [plan.row], also)}`;
  if (plan.isOtherPair) {
    await closeHandshakesOf(sql, id);
    await releasePairs(tx, actor, [present]);
  }
  const question = { id, generation: plan.generation, definition, origin };
  const handshake = await ask(sql, actor, question, plan.question);
  if (plan.isOtherOrigin) {
    // A reader that follows only the old origin must see that the subscription moved.
    const { origin: left, sink } = present;
    tx.change({ kind: 'subscription.moved', tenant, origin: left, sink, subscription: id, subscriber });
  }
  const after = { ...definition, origin: origin.name, secrets: plan.secrets };
  record(tx, actor, 'subscription.replaced', moved, { changed: changedSubscription(vault, present, present, after) });
  return handshake;
}

/** After the pairs are locked and handshakes for an old pair are closed: only then is it sure what covers the rate. */
async function ask(sql: Sql, actor: Actor, asked: AskedSubscription, question: Plan['question']) {
  if (question === 'none' || (question === 'unless covered' && (await isCovered(sql, asked)))) return undefined;
  return (question === 'other pair' ? askOnce : askForRate)(sql, actor, asked, 'change');
}

/** What exists stays as it is under a block. Nothing new begins. */
async function refuseBlocked(sql: Sql, target: BlockTarget): Promise<void> {
  const [block] = await findBlocks(sql, [target]);
  if (block !== undefined) throw blockedError(block);
}

/**
 * Handshakes that started while the grant was being revoked may still be open. Their outcome must not count.
 */
async function reopen(tx: Transaction, actor: Actor, pair: Subscription): Promise<void> {
  const { sql } = tx;
  if ((await findGrantOf(sql, pair))?.state !== 'revoked') return;
  await closeHandshakesOfPair(sql, pair);
  await reopenGrant(tx, actor, pair);
}

function record(
  tx: Transaction,
  actor: Actor,
  kind: ChangeKind,
  { id, subscriber, origin, sink }: Pick<Subscription, 'id' | 'subscriber' | 'origin' | 'sink'>,
  detail: object = {},
): void {
  tx.audit(actor, kind, `subscription:${id}`, { origin, sink, ...detail });
  tx.change({ kind, tenant: actor.tenant, origin, sink, subscription: id, subscriber });
}

/**
 * A client that moves a subscription to another host must know its secrets. Otherwise an admin could have them used for a
 * host of their own.
 */
function checkSecrets(present: Subscription, requested: RequestedSecrets, sink: string): void {
  const isOtherHost = new URL(sink).host !== new URL(present.sink).host;
  for (const name of secretNames) {
    const one = requested[name];
    const stored: SecretInfo | undefined = present.secrets[name];
    if (one.kind === 'kept' && (stored === undefined || stored.credentialtype !== one.type)) throw nothingToKeep(name);
    if (!isOtherHost) continue;
    const { otherHost, noOverlap } = secretTexts[name];
    if (one.kind === 'kept') {
      throw invalid([{ pointer: `/${name}`, rule: 'secret_for_other_host', detail: otherHost }]);
    }
    if (one.kind === 'given' && one.overlapSeconds) {
      throw invalid([{ pointer: `/${name}/overlapseconds`, rule: 'secret_for_other_host', detail: noOverlap }]);
    }
  }
}
