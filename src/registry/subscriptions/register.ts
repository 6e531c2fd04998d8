import { blockedError, findBlocks } from '../blocks/find-blocks.js';
import { RegistryError } from '../../base/errors.js';
import { keyOfPair } from '../../consent/grant.js';
import { revokedAmong } from '../grants/read.js';
import { lockPairs } from '../grants/write.js';
import type { Adopt, Attempt } from '../../consent/handshake.js';
import type { NewQuestion } from '../handshake/choose-new.js';
import type { DryRun } from '../handshake/dry-run.js';
import type { Queue } from '../handshake/queue.js';
import { hostOf } from '../../base/formats/uri.js';
import { placeOf, traced, type Tracing } from '../../base/tracing.js';
import type { Principal } from '../../base/contract/principal.js';
import type { Origin } from '../../consent/origin.js';
import { createBatcher } from '../storage/batch.js';
import { type Database, type Sql, databaseTime, rehearse, type Actor, type Transaction } from '../storage/database.js';
import { claimKeys, keyOfRequest, type IdempotentRequest } from '../storage/idempotency.js';
import { uuidv7 } from '../../base/files/ids.js';
import { insertRows } from '../storage/rows.js';
import { refuseUnallowed } from './allowed.js';
import { findAskedOrigins, lint, nothingToKeep, type Requested, refuseEnd, refuseUnverified } from './definition.js';
import { changedSubscription, changedSuspension, definitionMembers, type Subscription } from './columns.js';
import { newSecretColumns, sealSecrets, secretNames, type SealedSecrets } from './secrets.js';
import { ownerOf } from './read-secrets.js';
import type { Vault } from '../storage/vault.js';
import { lockSubscription } from './read.js';
import { refusePrices, type TenantLimits } from './prices.js';

/**
 * Registers a subscription: writes it with its handshake, audit record and change, in one batch with other registrations
 * of the same moment. If the worker has room, the first attempt is recorded too and starts right away.
 */
export type Register = (
  caller: Caller,
  requested: Requested,
  request: IdempotentRequest,
  /** The client waits for the response of the webhook. */
  isAwaited: boolean,
) => Promise<Registered>;

export interface Caller {
  principal: Principal;
  actor: Actor;
}

export interface Written {
  handshake: string | undefined;
}

export interface Registered extends Written {
  id: string;
  replayed: boolean;
}

/** What a registration would come to, and `asks` the webhook for it. Stores nothing of it (dry-run.ts says what stays). */
export type Preview = (caller: Caller, requested: Requested, asks: boolean) => Promise<Previewed>;

export interface Previewed {
  subscription: Subscription;
  /** If the webhook was asked: whom, and the exchange. */
  asked?: { question: NewQuestion; attempt: Attempt };
}

export interface RegisterSettings extends TenantLimits {
  database: Database;
  vault: Vault;
  queue: Pick<Queue, 'enter'>;
  adopt: Adopt;
  dryRun: Pick<DryRun, 'ask' | 'settleIn' | 'conclude'>;
  tracing?: Tracing | undefined;
}

interface Registration {
  id: string;
  caller: Caller;
  requested: Requested;
  sealed: SealedSecrets;
  request: IdempotentRequest;
  isAwaited: boolean;
}

type Accepted = Registration & { origin: Origin };

/** The size of a batch: registrations in one transaction. */
const maxBatch = 200;

export function createRegister(settings: RegisterSettings): { register: Register; preview: Preview } {
  const { database, vault, queue, adopt, dryRun, refuseOverQuota, refuseOverBacklog, prices, tracing } = settings;

  /** In the order in which their locks are taken. A draft asks nothing. */
  const limits: ReadonlyArray<(sql: Sql, fit: readonly Accepted[]) => Promise<Map<string, RegistryError>>> = [
    (sql, fit) => refuseOverBacklog(sql, fit.filter(({ requested }) => !requested.isSuspended).map(askedOf)),
    (sql, fit) => refuseOverQuota(sql, fit.map(askedOf)),
    (sql, fit) => refusePrices(sql, fit.map(pricedOf), prices),
  ];

  const batched = createBatcher<Registration, Registered | RegistryError>({
    run: (take) => adopt((places) => database.write((tx) => registerAll(tx, take(), places))),
    maxBatch,
    // One statement cannot write the same row twice.
    keyOf: ({ request }) => keyOfRequest(request),
  });

  const register: Register = async (caller, requested, request, isAwaited) => {
    const attributes = tracing && { origin: requested.origin, ...placeOf(requested.definition.sink) };
    return traced(tracing, 'register', { attributes }, async (span) => {
      const result = await batched({ ...(await sealedRegistration(caller, requested)), request, isAwaited });
      if (result instanceof RegistryError) throw result;
      span?.set({ subscription: result.id, handshake: result.handshake });
      return result;
    });
  };

  const preview: Preview = async (caller, requested, asks) => {
    const { tenant, subscriber } = caller.principal;
    const request = { tenant, subscriber, key: undefined, operation: 'createSubscription', content: undefined };
    const registration = { ...(await sealedRegistration(caller, requested)), request, isAwaited: false };
    const registered = <Settled = undefined>(settle?: (tx: Transaction, question: NewQuestion) => Promise<Settled>) =>
      rehearse(database, async (tx) => {
        const { result, questions } = await registerAll(tx, [registration], 0);
        if (result[0] instanceof RegistryError) throw result[0];
        const [question] = questions;
        const settled = question && settle ? await settle(tx, question) : undefined;
        return {
          question,
          settled,
          subscription: await lockSubscription(tx.sql, caller.principal, registration.id),
        };
      });
    const unasked = await registered();
    const { question } = unasked;
    if (!asks || question === undefined) return unasked;
    const asked = await dryRun.ask(caller.actor, subscriber, question);
    if (asked === undefined) return unasked;
    const { subscription, settled } = await registered((tx, again) => dryRun.settleIn(tx, again, asked));
    if (settled !== undefined) await dryRun.conclude(question, asked, settled);
    return { subscription, ...(settled?.attempt && { asked: { question, attempt: settled.attempt } }) };
  };

  return { register, preview };

  async function sealedRegistration(caller: Caller, requested: Requested) {
    const { secrets } = requested;
    for (const name of secretNames) if (secrets[name].kind === 'kept') throw nothingToKeep(name);
    const id = uuidv7();
    const { tenant } = caller.principal;
    const sealed = await sealSecrets(vault, secrets, ownerOf(tenant, id));
    return { id, caller, requested, sealed };
  }

  /** A refused registration must not fail the others of its batch, so its error is its result. */
  async function registerAll(tx: Transaction, registrations: readonly Registration[], places: number) {
    const results = new Map<string, Registered | RegistryError>();
    const findOrigin = await findAskedOrigins(tx.sql, registrations.map(askedOriginOf));
    const hasEnd = registrations.some(({ requested }) => requested.definition.expiresAt !== undefined);
    const now = hasEnd ? await databaseTime(tx.sql) : undefined;
    let fit: Accepted[] = [];
    for (const registration of registrations) {
      const origin = acceptedBy(findOrigin(askedOriginOf(registration)), registration, now);
      if (origin instanceof RegistryError) {
        results.set(registration.id, origin);
        continue;
      }
      const error = await refuseUnverified(tx.sql, origin);
      if (error !== undefined) results.set(registration.id, error);
      else fit.push({ ...registration, origin });
    }
    const blocks = await findBlocks(tx.sql, fit.map(blockTargetOf));
    blocks.forEach((block, place) => block && results.set(fit[place]!.id, blockedError(block)));
    for (const refuse of limits) {
      fit = fit.filter(({ id }) => !results.has(id));
      for (const [id, error] of await refuse(tx.sql, fit)) results.set(id, error);
    }
    // A repeated request returns what the first one created, even if the origin or the quota has changed since.
    const claims = registrations.map(({ id, request }) => ({ request, resource: id, isRefused: results.has(id) }));
    for (const [id, earlier] of await claimKeys(tx.sql, claims)) {
      const isError = earlier instanceof RegistryError;
      results.set(id, isError ? earlier : { id: earlier, handshake: undefined, replayed: true });
    }
    const created = fit.filter(({ id }) => !results.has(id));
    const { questions, begun } = await create(tx, created, places);
    const handshakes = new Map(questions.map(({ id, subscription }) => [subscription, id]));
    for (const { id } of created) results.set(id, { id, handshake: handshakes.get(id), replayed: false });
    return { begun, questions, result: registrations.map(({ id }) => results.get(id) as Registered | RegistryError) };
  }

  function acceptedBy(
    origin: Origin | RegistryError,
    { caller, requested }: Registration,
    now: Date | undefined,
  ): Origin | RegistryError {
    if (origin instanceof RegistryError) return origin;
    const refused = now && refuseEnd(requested.definition.expiresAt, now);
    if (refused !== undefined) return refused;
    return (
      lint(origin, requested.definition) ?? refuseUnallowed(origin, caller.principal, requested.definition) ?? origin
    );
  }

  /** Writes subscriptions and their handshakes. None starts for a draft, or if an admin revoked the grant. */
  async function create(tx: Transaction, accepted: readonly Accepted[], places: number) {
    if (accepted.length === 0) return { questions: [], begun: [] };
    const { sql } = tx;
    const pairs = accepted.map(({ origin, requested }) => ({ origin: origin.name, sink: requested.definition.sink }));
    await lockPairs(sql, pairs);
    const revoked = await revokedAmong(sql, pairs);
    const rows = await subscriptionRows(sql, accepted);
    const questions = accepted.map(questionOf).filter((each) => !revoked.has(keyOfPair(each)) && !each.isDraft);
    // Sent together: neither needs the result of the other.
    const [, begun] = await Promise.all([
      sql.$executeRaw`${insertRows('subscription', rows)}`,
      queue.enter(sql, questions, places),
    ]);
    for (const { id, caller, origin, requested, sealed } of accepted) {
      const { sink } = requested.definition;
      const infos = Object.entries(sealed).map(([name, { info }]) => [name, info] as const);
      const after = { ...requested.definition, origin: origin.name, secrets: Object.fromEntries(infos) };
      const suspension = requested.isSuspended ? { by: 'subscriber' as const, reason: undefined } : undefined;
      const changed = {
        ...changedSubscription(vault, { id, tenant: origin.tenant }, undefined, after),
        ...changedSuspension(undefined, suspension),
      };
      tx.audit(caller.actor, 'subscription.created', `subscription:${id}`, { origin: origin.name, sink, changed });
      const whose = { subscription: id, subscriber: caller.principal.subscriber };
      tx.change({ kind: 'subscription.created', tenant: origin.tenant, origin: origin.name, sink, ...whose });
    }
    return { questions, begun };
  }
}

function askedOf({ id, origin }: Accepted) {
  return { id, tenant: origin.tenant };
}

function pricedOf({ id, origin, caller, requested: { definition } }: Accepted) {
  return { id, tenant: origin.tenant, subscriber: caller.principal.subscriber, definition, before: 0 };
}

function blockTargetOf({ origin, caller, requested: { definition } }: Accepted) {
  return { tenant: origin.tenant, origin: origin.name, sink: definition.sink, subscriber: caller.principal.subscriber };
}

function askedOriginOf({ caller, requested }: Registration) {
  return { tenant: caller.principal.tenant, name: requested.origin };
}

function questionOf({ id, caller, requested, origin, isAwaited }: Accepted) {
  const { sink, requestedRate, callback } = requested.definition;
  return {
    id: uuidv7(),
    tenant: origin.tenant,
    origin: origin.name,
    sink,
    sinkHost: hostOf(sink),
    subscription: id,
    generation: 1,
    trigger: 'registration' as const,
    startedBy: caller.actor.name,
    requestedRate: requestedRate ?? origin.requestedRate,
    traceparent: caller.actor.traceparent,
    isDraft: requested.isSuspended,
    isAwaited,
    offersCallback: origin.callback !== 'never' && callback !== 'never',
  };
}

async function subscriptionRows(sql: Sql, accepted: readonly Accepted[]) {
  const needsTime = accepted.some(({ sealed, requested }) => Object.keys(sealed).length > 0 || requested.isSuspended);
  const setAt = needsTime ? (await databaseTime(sql)).toISOString() : '';
  return accepted.map(({ id, caller, requested, origin, sealed }) => {
    return {
      id,
      tenant: origin.tenant,
      subscriber: caller.principal.subscriber,
      origin: origin.name,
      ...newSecretColumns(sealed, setAt),
      suspendedby: requested.isSuspended ? 'subscriber' : undefined,
      suspendedbyperson: requested.isSuspended ? caller.actor.person : undefined,
      suspendedat: requested.isSuspended ? setAt : undefined,
      ...definitionMembers.write(requested.definition),
    };
  });
}
