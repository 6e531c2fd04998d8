import { RegistryError } from '../errors.js';
import type { BatchWrites, Registration } from '../handshake/batch-writes.js';
import { domainOf } from '../handshake/budgets.js';
import type { Claim } from '../handshake/handshake.js';
import { prepareAttempt, type PreparedAttempt } from '../handshake/request-headers.js';
import type { Principal } from '../http/principal.js';
import { identityOf, type OriginMemory } from '../origins/origin-memory.js';
import type { Origin } from '../origins/origin.js';
import { withoutQuery, type Actor } from '../storage/audit.js';
import type { Database } from '../storage/database.js';
import { fingerprintOf, findEarlier, keyReused, type IdempotentRequest } from '../storage/idempotency.js';
import { uuidv7 } from '../storage/ids.js';
import { findAskedOrigin, lint } from './asked-origin.js';
import type { CredentialVault } from './credential-vault.js';
import { credentialTypeOf, nothingToKeep, type Requested } from './definition.js';
import type { Subscription } from './subscription.js';

/**
 * Registration: subscription, handshake, audit entry and change, together with whatever else is written at this moment.
 * A handshake that has room in flight begins at once, with its first attempt recorded.
 */
export type Register = (
  caller: Caller,
  requested: Requested,
  request: IdempotentRequest,
  /** Whether to ask at once, for somebody waits. */
  atOnce: boolean,
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
  /** As it was written, by this request. */
  created?: Omit<Subscription, 'standing'>;
}

export interface RegisterSettings {
  database: Database;
  vault: CredentialVault;
  origins: OriginMemory;
  writes: BatchWrites;
  publicUrl: string | undefined;
  /** How many subscriptions a tenant may have, and has by what this process knows. */
  perTenant: number;
  subscriptionsOf: (tenant: string) => number;
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

/** An origin that changes between being read and being written for is read anew. */
const mostTries = 10;

export function createRegister(settings: RegisterSettings): Register {
  const { database, vault, origins, writes, publicUrl, perTenant, subscriptionsOf } = settings;

  /** The attempt is prepared for all of them, and recorded for those that may be asked at once. */
  function registrationOf(member: Member): Registration {
    const question = { origin: member.origin.name, requestedRate: askedRateOf(member) };
    const prepared = prepareAttempt(member.handshake, question, publicUrl);
    const callbackOffered = prepared.callbackKeyHash !== undefined;
    const attempt = { number: 1, callbackOffered, headers: prepared.headers };
    return {
      columns: columnsOf(member, prepared),
      key: keyOfRequest(member),
      begin: (lease, at) => ({ claim: claimOf(member, lease, at), attempt }),
    };
  }

  function requireRoom(tenant: string): void {
    if (subscriptionsOf(tenant) < perTenant) return;
    throw new RegistryError('quota_exceeded', `The tenant has ${perTenant} subscriptions, which is all it may have.`);
  }

  async function originFor(tenant: string, requested: Requested, isFresh: boolean): Promise<Origin> {
    const { origin: name, definition } = requested;
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
      return originFor(tenant, requested, true);
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
    for (let tries = 0; tries < mostTries; tries += 1) {
      let origin: Origin;
      try {
        requireRoom(tenant);
        origin = await originFor(tenant, requested, tries > 0);
      } catch (error) {
        // Whoever repeats a request hears of what it created, whatever has become of origin and room since.
        const earlier = await findEarlier(database.client, request);
        if (earlier === undefined) throw error;
        return { id: earlier, handshake: undefined, replayed: true };
      }
      const handshake = uuidv7();
      const member = { id, handshake, caller, requested, sealed, request, fingerprint, origin, atOnce };
      const { outcome, resource, question, at } = await writes.register(registrationOf(member));
      if (outcome === 'reused') throw keyReused();
      if (outcome === 'replayed') return { id: resource ?? id, handshake: undefined, replayed: true };
      if (outcome === 'created') {
        const created = subscriptionOf(member, new Date(at));
        return { id, handshake: question ? handshake : undefined, replayed: false, created };
      }
    }
    throw new Error('The origin was another one each time that it was written for.');
  };
}

function keyOfRequest({ request: { tenant, subscriber, key } }: Member): string | undefined {
  return key === undefined ? undefined : JSON.stringify([tenant, subscriber, key]);
}

const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');

function askedRateOf({ requested, origin }: Member): number | undefined {
  return requested.definition.requestedRate ?? origin.requestedRate;
}

/**
 * As the function takes a member; what is undefined is null there. One literal: spreads would cost more than the rest.
 */
function columnsOf(member: Member, { recorded, callbackKeyHash }: PreparedAttempt) {
  const { id, handshake, caller, requested, sealed, request, fingerprint, origin, atOnce } = member;
  const { definition } = requested;
  const { sink } = definition;
  const sinkhost = new URL(sink).hostname;
  const { originversion, origincreatedat } = identityOf(origin);
  return {
    id,
    handshake,
    atonce: atOnce,
    audit: uuidv7(),
    tenant: caller.principal.tenant,
    subscriber: caller.principal.subscriber,
    actor: caller.actor.name,
    requestid: caller.actor.requestId,
    origin: origin.name,
    originversion,
    origincreatedat,
    sink,
    sinkhost,
    domain: domainOf(sinkhost),
    protocol: definition.protocol,
    protocolsettings: definition.protocolSettings,
    source: definition.source,
    types: definition.types,
    subject: definition.subject,
    filters: definition.filters,
    config: definition.config,
    sinkcredential: sealed,
    credentialtype: credentialTypeOf(requested),
    requestedrate: definition.requestedRate,
    askedrate: askedRateOf(member),
    auditdetail: { origin: origin.name, sink: withoutQuery(sink) },
    // Absent and not null, so that a batch without keys is seen to have none.
    key: fingerprint === undefined ? undefined : request.key,
    operation: request.operation,
    fingerprint,
    requestheaders: recorded,
    callbackkeyhash: hex(callbackKeyHash),
  };
}

function claimOf(member: Member, lease: string, createdAt: Date): Claim {
  const { id, handshake, caller, requested, origin } = member;
  const { sink } = requested.definition;
  return {
    id: handshake,
    lease,
    tenant: caller.principal.tenant,
    origin: origin.name,
    sink,
    sinkHost: new URL(sink).hostname,
    subscription: id,
    generation: 1,
    reason: 'registration',
    startedBy: caller.actor.name,
    requestedRate: askedRateOf(member),
    createdAt,
  };
}

function subscriptionOf(member: Member, at: Date): Omit<Subscription, 'standing'> {
  const { id, caller, requested, origin } = member;
  const { definition } = requested;
  return {
    sink: definition.sink,
    protocol: definition.protocol,
    protocolSettings: definition.protocolSettings,
    source: definition.source,
    types: definition.types,
    subject: definition.subject,
    filters: definition.filters,
    config: definition.config,
    requestedRate: definition.requestedRate,
    id,
    tenant: caller.principal.tenant,
    subscriber: caller.principal.subscriber,
    origin: origin.name,
    profile: origin.profile,
    credentialType: credentialTypeOf(requested),
    generation: 1,
    version: 1,
    suspended: undefined,
    createdAt: at,
    updatedAt: at,
  };
}
