import { createRequire } from 'node:module';
import type { RequestListener } from 'node:http';
import { resolve } from 'node:path';
import { createBlockHandlers } from '../blocks/routes.js';
import { createBlockStore } from '../blocks/store.js';
import { createAuditHandlers } from '../changes/audit-routes.js';
import { RegistryError } from '../../base/errors.js';
import { createFeedHandlers } from '../changes/feed-routes.js';
import { createFeed } from '../changes/feed.js';
import { createAuditReader } from '../changes/read-audit.js';
import type { Readers } from '../changes/readers.js';
import { createLeaseHandlers, type LeaseRoutes } from '../deliveries/lease-routes.js';
import type { Leases } from '../deliveries/lease.js';
import { createOutcomeHandlers } from '../deliveries/outcome-routes.js';
import { createDeliveryReader } from '../deliveries/read-deliveries.js';
import { createRecordOutcomes } from '../deliveries/record-outcomes.js';
import { createAuthorizeHandlers } from '../gateways/authorize-routes.js';
import { authzenMetadata } from '../gateways/authzen-metadata.js';
import { createAuthzenHandlers } from '../gateways/authzen-routes.js';
import type { Shares } from '../gateways/shares.js';
import { createPermissionHandlers, permissionHeaders } from '../grants/permission-routes.js';
import { createGrantReader } from '../grants/read-grant.js';
import { createGrantHandlers } from '../grants/routes.js';
import { removeGrantsOf } from '../grants/write-grant.js';
import { createCallbackHandlers } from '../handshake/callback-routes.js';
import { createCallbacks } from '../handshake/callback.js';
import { closeHandshakesOfPair } from '../handshake/close.js';
import { faultOfSinkText } from '../../outbound/sink.js';
import { createHandshakeReader } from '../handshake/read-handshake.js';
import { createApp } from '../http/app.js';
import type { Contract, Operation, OperationId } from '../../base/contract/contract.js';
import { serveDocuments } from '../http/documents.js';
import { createFastPath } from '../http/fast-path.js';
import type { Handlers } from '../http/handler.js';
import type { Issuers } from '../tokens/issuers.js';
import { createPipeline } from '../http/pipeline.js';
import { httpUrlOf } from '../http/server.js';
import { createExplain } from '../match/explain.js';
import { createMatchEvent } from '../match/match-event.js';
import { createMatchHandlers } from '../match/routes.js';
import { createTurns } from '../../matching/match/turns.js';
import { createOriginHandlers } from '../origins/routes.js';
import { createOriginStore } from '../origins/store.js';
import { createConsoleIssuers } from '../pages/console-issuers.js';
import { servePages, type PageSettings } from '../pages/serve.js';
import type { Counter } from '../statistics/counter.js';
import { createHealth } from '../probes/health.js';
import { createReadStatistics } from '../statistics/read-statistics.js';
import { createStatisticsHandlers } from '../statistics/routes.js';
import type { CredentialVault } from '../subscriptions/credential-vault.js';
import { createCredentialReader } from '../subscriptions/read-credentials.js';
import { createSubscriptionReader } from '../subscriptions/read-subscription.js';
import type { QuotaError } from '../subscriptions/prices.js';
import { createRuleHandlers } from '../subscriptions/check-rules.js';
import { createRegister } from '../subscriptions/register.js';
import { createHandshakeHandlers, createSubscriptionHandlers } from '../subscriptions/routes.js';
import { createSubscriptionWriter } from '../subscriptions/write-subscription.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import type { Asking } from './asking.js';
import type { Context } from './context.js';
import type { Following } from './following.js';

const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };

/** Long-lived things that handlers share with the rest of the service. */
export interface ApiParts {
  following: Following;
  asking: Asking;
  leases: Leases;
  shares: Shares;
  onLease: LeaseRoutes['onLease'];
  readers: Readers;
  vault: CredentialVault;
  issuers: Issuers;
  counter: Counter;
}

/** Bytes of a body, by default. */
const usualBodyLimit = 65_536;

/** The requests before every event, and registrations, which may arrive by the thousand. */
const onFastPath: readonly OperationId[] = [
  'matchEvent',
  'getPermission',
  'getPermissions',
  'authorizeDelivery',
  'evaluateAccess',
  'evaluateAccesses',
  'createSubscription',
];

const takingEvents: ReadonlySet<string> = new Set<OperationId>(['matchEvent', 'validateEvent']);

/** The latest changes, in memory. */
const feedMemory = { entries: 16_384, bytes: 33_554_432 };

/** The API: a handler for each operation, one pipeline, and the two transports that feed it. */
export function createApi(context: Context, parts: ApiParts): RequestListener {
  const { contract, config, log, metrics, checkAnswers, stopping } = context;
  const { tokens, developmentKeys } = parts.issuers;
  const operationOf = findOperations(contract);
  const pipeline = createPipeline({
    log,
    checkAnswers,
    stopping,
    handlers: createHandlers(context, parts, operationOf),
    hot: {
      matchEvent: {},
      getPermission: permissionHeaders,
      getPermissions: permissionHeaders,
      authorizeDelivery: {},
      evaluateAccess: {},
      evaluateAccesses: {},
    },
    readsOnly: config.replicaUrl !== undefined,
    authenticate: tokens.authenticate,
    onWritten: parts.following.onWritten,
    onRequest: metrics.request,
    bodyLimitOf: ({ id, bodyLimit }) =>
      takingEvents.has(id) ? config.eventLimits.bytes : (bodyLimit ?? usualBodyLimit),
    stallMs: config.feedStallMs,
  });
  const app = createApp({
    operations: contract.operations.filter(({ takesAnyMethod }) => !takesAnyMethod),
    pipeline,
    stopping,
    serveDocuments(express, setHeaders) {
      serveDocuments(express, setHeaders, contract.document, {
        jwks: developmentKeys,
        authzen: config.publicUrl === undefined ? undefined : authzenMetadata(config.publicUrl, operationOf),
        contact: config.contact,
        security:
          config.securityContacts.length > 0
            ? { contacts: config.securityContacts, policy: config.securityPolicy, publicUrl: config.publicUrl }
            : undefined,
      });
      servePages(express, setHeaders, pageSettings(context));
    },
  });
  return createFastPath(pipeline, onFastPath.map(operationOf), app);
}

/** What the pages for people show of the configuration. Where operations are reached is shown in development only. */
function pageSettings({ config, contract, log }: Context): PageSettings {
  const { developmentIssuer, dataFolder, operationsHost, operationsPort } = config;
  const data = dataFolder === resolve('.assent') ? '' : `ASSENT_DATA=${dataFolder} `;
  const isShown = !config.production && operationsPort !== 0;
  return {
    version,
    apiVersion: contract.document.info.version,
    tokens: {
      development: developmentIssuer ? { command: `${data}npx assent token` } : undefined,
      issuers: config.issuers.map(({ issuer }) => issuer),
    },
    consoleIssuers: createConsoleIssuers(
      config.issuers.flatMap(({ issuer, consoleclient, consolescope }) =>
        consoleclient === undefined ? [] : [{ issuer, clientid: consoleclient, scope: consolescope }],
      ),
      (issuer, cause) => log.warn({ issuer, err: cause }, 'cannot read the metadata of the issuer for the console'),
    ),
    consoleCommand: developmentIssuer ? `${data}npx assent console` : undefined,
    operationsUrl: isShown ? httpUrlOf(operationsHost, operationsPort) : undefined,
    contact: config.contact,
    hasSecurityText: config.securityContacts.length > 0,
  };
}

function findOperations({ operations }: Contract): (id: OperationId) => Operation {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  return (id) => {
    const operation = byId.get(id);
    if (operation === undefined) throw new Error(`The contract has no operation ${id}.`);
    return operation;
  };
}

function createHandlers(
  { database, config, log, metrics, stopping }: Context,
  { following, asking, leases, shares, onLease, readers, vault, counter }: ApiParts,
  operationOf: (id: OperationId) => Operation,
): Handlers {
  const { faultOfSink, worker, queue } = asking;
  const { follower, age, ageOfDatabase } = following;
  const reader = createSubscriptionReader(database);
  const prices = { perSubscriber: config.pricePerSubscriber, perTenant: config.pricePerTenant };
  const quotaError: QuotaError = (tenant) => {
    const maxSubscriptions = config.subscriptionsPerTenant;
    const isUsedUp = (follower.replica()?.subscriptionsOf(tenant) ?? 0) >= maxSubscriptions;
    return isUsedUp ? new RegistryError('quota_exceeded', subscriptionTexts.quota(maxSubscriptions)) : undefined;
  };
  const register = createRegister({
    database,
    vault,
    queue,
    adopt: worker.adopt,
    quotaError,
    prices,
  });
  const writer = createSubscriptionWriter({ database, vault, register, prices, quotaError });
  const attend = (handshake: string, waitMs: number, signal: AbortSignal) =>
    worker.attend(handshake, waitMs, [signal, stopping]);
  const turns = createTurns();
  const budget = config.matchSteps;
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
    ...createRuleHandlers({ database }),
    ...createBlockHandlers({ blocks: createBlockStore(database), now: follower.now }),
    ...createHandshakeHandlers({
      reader,
      writer,
      attend,
      handshakes: createHandshakeReader(database, config.handshakeDeadlineMs, follower.now),
    }),
    ...createCallbackHandlers(
      createCallbacks({
        database,
        random: Math.random,
        onDecided: ({ tenant, origin, verdict }) =>
          counter.count(tenant, origin, { kind: 'handshake', code: verdict }, 1),
      }),
    ),
    ...createGrantHandlers({
      database,
      faultOfSink,
      grants: createGrantReader(database),
      closeHandshakes: closeHandshakesOfPair,
      now: follower.now,
    }),
    ...createOriginHandlers({
      origins: createOriginStore({ database, removeDependents: removeGrantsOf }),
      checkBody,
    }),
    ...createLeaseHandlers({ leases, onLease }),
    ...createOutcomeHandlers({
      readSubscription: reader.read,
      checkBody,
      record: createRecordOutcomes(database),
      deliveries: createDeliveryReader(database),
      onDelivery(tenant, { origin, kind, count }) {
        metrics.delivery(kind, count);
        counter.count(tenant, origin, { kind: 'delivery', code: kind }, count);
      },
      onHeld: metrics.held,
      now: follower.now,
    }),
    ...createPermissionHandlers({ replica: follower.replica, age, faultOfSink: faultOfSinkText }),
    ...createAuthorizeHandlers({
      replica: follower.replica,
      age,
      path: operationOf('authorizeDelivery').path,
      shares: config.replicaUrl === undefined ? shares : undefined,
    }),
    ...createAuthzenHandlers({ replica: follower.replica, age }),
    ...createMatchHandlers({ readSubscription: reader.read, checkBody, limits: config.eventLimits, turns, budget }),
    matchEvent: createMatchEvent({
      replica: follower.replica,
      age,
      explain: createExplain({ database, turns, budget }),
      position: follower.position,
      waitFor: follower.waitFor,
      credentials: createCredentialReader({ database, vault, log }),
      limits: config.eventLimits,
      turns,
      budget,
    }),
    ...createFeedHandlers({
      feed,
      database,
      readers,
      age,
      ageOfDatabase,
      stopping,
      heartbeatMs: config.feedHeartbeatMs,
    }),
    ...createAuditHandlers({ audit: createAuditReader(database), readers, stopping }),
    ...createStatisticsHandlers({
      read: createReadStatistics(database),
      counter,
      now: follower.now,
      health: createHealth({
        version,
        position: follower.position,
        secondsBehind: following.secondsBehind,
        lagSeconds: queue.lagSeconds,
        isWritable: () => config.replicaUrl === undefined && database.refusesWrites() === undefined,
      }),
    }),
  };
}
