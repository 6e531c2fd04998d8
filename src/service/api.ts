import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { createAuditHandlers } from '../changes/audit-routes.js';
import { announceOrigin } from '../changes/change.js';
import { createFeedHandlers } from '../changes/feed-routes.js';
import { createFeed } from '../changes/feed.js';
import type { Readers } from '../changes/readers.js';
import type { Config } from '../config.js';
import { createLeaseHandlers } from '../deliveries/lease-routes.js';
import type { Leases } from '../deliveries/lease.js';
import { createOutcomeHandlers } from '../deliveries/outcome-routes.js';
import { createDeliveryReader } from '../deliveries/read-deliveries.js';
import { createRecordOutcomes } from '../deliveries/record-outcomes.js';
import { createGrantReader } from '../grants/read-grant.js';
import { createGrantHandlers } from '../grants/routes.js';
import { removeGrantsOf } from '../grants/write-grant.js';
import { createCallbackHandlers } from '../handshake/callback-routes.js';
import { createGrantByCallback } from '../handshake/callback.js';
import { closeHandshakesOfPair } from '../handshake/close.js';
import { createHandshakeReader } from '../handshake/read-handshake.js';
import { createApp } from '../http/app.js';
import type { Contract, Operation, OperationId } from '../http/contract.js';
import { serveDocuments } from '../http/documents.js';
import type { Handlers } from '../http/handler.js';
import type { Issuers } from '../http/issuers.js';
import { createLaneHandler } from '../http/lane-handler.js';
import { createLane, type LaneRoute } from '../http/lane.js';
import type { Metrics } from '../http/metrics.js';
import { sayLast } from '../http/server.js';
import { createMatchHandlers } from '../matching/routes.js';
import type { OriginMemory } from '../origins/origin-memory.js';
import { createOriginHandlers } from '../origins/routes.js';
import { createOriginStore } from '../origins/store.js';
import { asUnavailable } from '../storage/database-errors.js';
import type { Database } from '../storage/database.js';
import type { CredentialVault } from '../subscriptions/credential-vault.js';
import { createHandshakeHandlers } from '../subscriptions/handshake-routes.js';
import { createSubscriptionReader } from '../subscriptions/read-subscription.js';
import { createRegister } from '../subscriptions/register.js';
import { createSubscriptionHandlers } from '../subscriptions/routes.js';
import { createSubscriptionWriter } from '../subscriptions/write-subscription.js';
import type { Asking } from './asking.js';
import type { Following } from './following.js';
import { createHotRoutes } from './hot-routes.js';

export interface ApiSettings {
  contract: Contract;
  database: Database;
  config: Config;
  log: Logger;
  following: Following;
  asking: Asking;
  origins: OriginMemory;
  leases: Leases;
  readers: Readers;
  vault: CredentialVault;
  issuers: Issuers;
  metrics: Metrics;
  checkAnswers: boolean;
  /** Every open stream and every request that waits listens to it. */
  stopping: AbortSignal;
}

/** Bytes of a body, where nothing else is said. */
const usualBodyLimit = 65_536;

const takingEvents: ReadonlySet<string> = new Set<OperationId>(['matchEvent', 'validateEvent']);

/** The latest changes, in memory. */
const feedMemory = { entries: 16_384, bytes: 33_554_432 };

/** Everything that the API answers: a handler for each operation, and the two ways that lead to it. */
export function createApi(settings: ApiSettings): RequestListener {
  const { contract, config, log, following, issuers, metrics, checkAnswers, stopping } = settings;
  const readsOnly = config.replicaUrl !== undefined;
  const operationOf = findOperations(contract);
  const handlers = createHandlers(settings, operationOf);
  const bodyLimitOf = ({ id, bodyLimit }: Operation) =>
    takingEvents.has(id) ? config.eventLimits.bytes : (bodyLimit ?? usualBodyLimit);
  const hot = createHotRoutes({ ...settings, operationOf, bodyLimitOf, eventLimits: config.eventLimits });
  const { onWritten } = following;
  const both = { log, onRequest: metrics.request, translate: asUnavailable, checkAnswers };
  const app = createApp({
    ...both,
    contract,
    handlers,
    lane: hot,
    readsOnly,
    onWritten,
    bodyLimitOf,
    authenticate: async (authorization, lines) => issuers.tokens.authenticate(authorization, lines),
    extras: (express) => serveDocuments(express, contract.document, issuers.developmentKeys),
    streams: { stallMs: config.feedStallMs, stopping },
  });
  const createSubscription = operationOf('createSubscription');
  const registering: LaneRoute = {
    operation: createSubscription,
    bodyLimit: bodyLimitOf(createSubscription),
    writes: true,
    handle: createLaneHandler(createSubscription, handlers.createSubscription, onWritten),
  };
  return createLane({
    ...both,
    // Where nothing may be written Express says so.
    routes: readsOnly ? hot : [...hot, registering],
    tokens: issuers.tokens,
    stopping,
    next: sayLast(app, stopping),
  });
}

function findOperations({ operations }: Contract): (id: OperationId) => Operation {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  return (id) => {
    const operation = byId.get(id);
    if (operation === undefined) throw new Error(`The contract has no operation ${id}.`);
    return operation;
  };
}

function createHandlers(settings: ApiSettings, operationOf: (id: OperationId) => Operation): Handlers {
  const { database, config, following, asking, origins, leases, readers, vault, metrics, stopping } = settings;
  const { faultOfSink, worker, writes } = asking;
  const { follower, age, ageOfDatabase } = following;
  const reader = createSubscriptionReader(database);
  const register = createRegister({
    database,
    vault,
    origins,
    writes,
    publicUrl: config.publicUrl,
    perTenant: config.subscriptionsPerTenant,
    subscriptionsOf: (tenant) => follower.replica()?.subscriptionsOf(tenant) ?? 0,
  });
  const writer = createSubscriptionWriter({ database, vault, register });
  const attend = (handshake: string, waitMs: number, signal: AbortSignal) =>
    worker.attend(handshake, waitMs, [signal, stopping]);
  const checkBody = (id: OperationId, body: unknown) => operationOf(id).checkBody(body);
  const feed = createFeed({
    follower,
    query: database.query,
    memory: feedMemory,
    isStandby: config.replicaUrl !== undefined,
    onPage: metrics.feedPage,
  });
  return {
    ...createSubscriptionHandlers({ reader, writer, attend, faultOfSink, checkBody }),
    ...createHandshakeHandlers({
      reader,
      writer,
      attend,
      handshakes: createHandshakeReader(database, config.handshakeDeadlineMs, follower.now),
    }),
    ...createCallbackHandlers({ grantByCallback: createGrantByCallback({ database, random: Math.random }) }),
    ...createGrantHandlers({
      database,
      faultOfSink,
      grants: createGrantReader(database),
      closeHandshakes: closeHandshakesOfPair,
      now: follower.now,
    }),
    ...createOriginHandlers({
      origins: createOriginStore({ database, removeDependents: removeGrantsOf, announce: announceOrigin }),
      checkBody,
    }),
    ...createLeaseHandlers({ leases, onLease: metrics.lease }),
    ...createOutcomeHandlers({
      readSubscription: reader.read,
      checkBody,
      record: createRecordOutcomes(database),
      deliveries: createDeliveryReader(database),
      onDelivery: metrics.delivery,
      onHeld: metrics.held,
      now: follower.now,
    }),
    ...createMatchHandlers({ readSubscription: reader.read, checkBody, limits: config.eventLimits }),
    ...createFeedHandlers({
      feed,
      database,
      readers,
      age,
      ageOfDatabase,
      stopping,
      heartbeatMs: config.feedHeartbeatMs,
    }),
    ...createAuditHandlers({ database }),
  };
}
