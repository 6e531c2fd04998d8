import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { domainOf } from '../handshake/budgets.js';
import type { Begun, Claim } from '../handshake/handshake.js';
import { leaseSecondsFor } from '../handshake/queue.js';
import { prepareAttempt } from '../handshake/request-headers.js';
import type { Worker } from '../handshake/worker.js';
import { identityOf, type OriginMemory } from '../origins/origin-memory.js';
import type { Origin } from '../origins/origin.js';
import { withoutQuery } from '../storage/audit.js';
import { createBatcher } from '../storage/batch.js';
import { callFunction, type Database } from '../storage/database.js';
import { fingerprintOf, findEarlier, keyReused, type IdempotentRequest } from '../storage/idempotency.js';
import { findAskedOrigin, lint } from './asked-origin.js';
import type { CredentialVault } from './credential-vault.js';
import { credentialTypeOf, nothingToKeep, type Requested } from './definition.js';
import type { Subscription } from './subscription.js';
import type { Caller, Written } from './write-subscription.js';

/**
 * Registration, the one write that comes in crowds. Here raw SQL begins: all registrations of a moment are one call of the
 * function register_subscriptions, which writes for each of them the subscription, its handshake, the audit entry and the
 * change, and lets the handshakes that have room in flight begin at once, with their first attempt recorded.
 */
export type Register = (
  caller: Caller,
  requested: Requested,
  request: IdempotentRequest,
  /** Whether to ask at once, for somebody waits. */
  atOnce: boolean,
) => Promise<Registered>;

export interface Registered extends Written {
  id: string;
  replayed: boolean;
  /** As it was written, by this request. */
  created?: Omit<Subscription, 'standing'>;
}

export interface RegisterSettings {
  database: Database;
  vault: CredentialVault;
  origins: OriginMemory;
  adopt: Worker['adopt'];
  publicUrl: string | undefined;
  callbackSeconds: number;
  deadlineMs: number;
  inFlight: { perHost: number; perTenant: number };
  perMinute: { perHost: number; perTenant: number };
}

interface Member {
  id: string;
  handshake: string;
  caller: Caller;
  requested: Requested;
  sealed: string | undefined;
  request: IdempotentRequest;
  fingerprint: string | undefined;
  origin: Origin;
  atOnce: boolean;
}

interface Row {
  place: number;
  outcome: 'created' | 'replayed' | 'reused' | 'origin_differs';
  resource: string | null;
  question: boolean;
  asked: boolean;
  at: Date;
}

export function createRegister(settings: RegisterSettings): Register {
  const { database, vault, origins, adopt, publicUrl, callbackSeconds, inFlight, perMinute } = settings;
  const limits = [
    ...[leaseSecondsFor(settings.deadlineMs), callbackSeconds],
    ...[inFlight.perHost, inFlight.perTenant, perMinute.perTenant, perMinute.perHost, perMinute.perHost * 2],
  ];

  const run = (members: Member[]): Promise<Row[]> =>
    adopt(async (places) => {
      const lease = randomUUID();
      const prepared = members.map((member) => {
        const { handshake, atOnce, origin } = member;
        const question = { origin: origin.name, requestedRate: askedRateOf(member) };
        return atOnce && places > 0 ? prepareAttempt(handshake, question, publicUrl) : undefined;
      });
      const columns = members.map((member, place) => ({
        ...columnsOf(member, place),
        requestheaders: prepared[place]?.recorded,
        callbackkeyhash: hex(prepared[place]?.callbackKeyHash),
      }));
      const result = await callFunction<Row>(
        database,
        `select place, outcome, resource, question, asked, at
         from register_subscriptions($1::jsonb, $2::uuid, $3, $4, $10::int, $5, $6, $7, $8, $9)`,
        [JSON.stringify(columns), lease, ...limits, places],
      );
      result.sort((one, other) => one.place - other.place);
      const begun = result.flatMap(({ place, asked, at }): Begun[] => {
        const [member, attempt] = [members[place], prepared[place]];
        if (!asked || member === undefined || attempt === undefined) return [];
        const { headers, callbackKeyHash } = attempt;
        const callbackOffered = callbackKeyHash !== undefined;
        return [{ claim: claimOf(member, lease, at), attempt: { number: 1, callbackOffered, headers } }];
      });
      return { begun, result };
    });
  const write = createBatcher({ run, most: 100, keyOf: keyOfRequest });

  async function originFor(tenant: string, { origin: name, definition }: Requested, isFresh: boolean): Promise<Origin> {
    const remembered = isFresh ? undefined : origins.recall(tenant, name);
    const origin = remembered ?? (await findAskedOrigin(database.client, tenant, name));
    if (remembered === undefined) {
      origins.remember(tenant, name, origin);
      origins.remember(tenant, origin.name, origin);
    }
    try {
      lint(origin, definition);
    } catch (error) {
      // Only what stands now may refuse.
      if (remembered === undefined) throw error;
      return originFor(tenant, { origin: name, definition } as Requested, true);
    }
    return origin;
  }

  return async (caller, requested, request, atOnce) => {
    const { tenant } = caller.principal;
    const id = uuidv7();
    const { credential } = requested;
    if (credential.kind === 'kept') throw nothingToKeep();
    const sealed =
      credential.kind === 'given' ? await vault.seal(credential.value, { tenant, subscription: id }) : undefined;
    const fingerprint = request.key === undefined ? undefined : fingerprintOf(request).toString('hex');
    for (let isFresh = false; ; isFresh = true) {
      let origin: Origin;
      try {
        origin = await originFor(tenant, requested, isFresh);
      } catch (error) {
        // Whoever repeats a request hears of what it created, whatever has become of the origin since.
        const earlier = await findEarlier(database.client, request);
        if (earlier === undefined) throw error;
        return { id: earlier, handshake: undefined, replayed: true };
      }
      const handshake = uuidv7();
      const member = { id, handshake, caller, requested, sealed, request, fingerprint, origin, atOnce };
      const { outcome, resource, question, at } = await write(member);
      if (outcome === 'reused') throw keyReused();
      if (outcome === 'replayed') return { id: resource ?? id, handshake: undefined, replayed: true };
      if (outcome === 'created') {
        const created = subscriptionOf(member, at);
        return { id, handshake: question ? handshake : undefined, replayed: false, created };
      }
    }
  };
}

function keyOfRequest({ request: { tenant, subscriber, key } }: Member): string | undefined {
  return key === undefined ? undefined : JSON.stringify([tenant, subscriber, key]);
}

const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');

function askedRateOf({ requested, origin }: Member): number | undefined {
  return requested.definition.requestedRate ?? origin.requestedRate;
}

/** As the function takes a member; what is undefined is null there. */
function columnsOf(member: Member, place: number) {
  const { id, handshake, caller, requested, sealed, request, fingerprint, origin, atOnce } = member;
  const { definition } = requested;
  const sinkhost = new URL(definition.sink).hostname;
  return {
    ...{ place, id, handshake, atonce: atOnce, audit: uuidv7() },
    ...{ tenant: caller.principal.tenant, subscriber: caller.principal.subscriber },
    ...{ actor: caller.actor.name, requestid: caller.actor.requestId },
    ...{ origin: origin.name, ...identityOf(origin) },
    ...{ sink: definition.sink, sinkhost, domain: domainOf(sinkhost) },
    ...{ protocol: definition.protocol, protocolsettings: definition.protocolSettings },
    ...{ source: definition.source, types: definition.types, subject: definition.subject },
    ...{ filters: definition.filters, config: definition.config },
    ...{ sinkcredential: sealed, credentialtype: credentialTypeOf(requested) },
    ...{ requestedrate: definition.requestedRate, askedrate: askedRateOf(member) },
    auditdetail: { origin: origin.name, sink: withoutQuery(definition.sink) },
    ...(fingerprint === undefined ? {} : { key: request.key, operation: request.operation, fingerprint }),
  };
}

function claimOf(member: Member, lease: string, createdAt: Date): Claim {
  const { id, handshake, caller, requested, origin } = member;
  const { sink } = requested.definition;
  return {
    ...{ id: handshake, lease, tenant: caller.principal.tenant, origin: origin.name, sink },
    sinkHost: new URL(sink).hostname,
    ...{ subscription: id, generation: 1, reason: 'registration', startedBy: caller.actor.name },
    requestedRate: askedRateOf(member),
    createdAt,
  };
}

function subscriptionOf({ id, caller, requested, origin }: Member, at: Date): Omit<Subscription, 'standing'> {
  const { definition } = requested;
  return {
    ...definition,
    types: definition.types?.length ? definition.types : undefined,
    ...{ id, tenant: caller.principal.tenant, subscriber: caller.principal.subscriber },
    ...{ origin: origin.name, profile: origin.profile, credentialType: credentialTypeOf(requested) },
    ...{ generation: 1, version: 1, suspended: undefined, createdAt: at, updatedAt: at },
  };
}
