import { setMaxListeners } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { createAuditHandlers } from './changes/audit-routes.js';
import { announceOrigin, changeChannel } from './changes/change.js';
import { createFeedHandlers } from './changes/feed-routes.js';
import { createFeed } from './changes/feed.js';
import { createFollower } from './changes/follower.js';
import { createReaders, readerKinds } from './changes/readers.js';
import type { Config } from './config.js';
import { createLeaseHandlers } from './deliveries/lease-routes.js';
import { createLeases } from './deliveries/lease.js';
import { createOutcomeHandlers } from './deliveries/outcome-routes.js';
import { createDeliveryReader } from './deliveries/read-deliveries.js';
import { createRecordOutcomes } from './deliveries/record-outcomes.js';
import { SetupError, type Fault } from './errors.js';
import {
  createPermissionLane,
  createPermissionsLane,
  permissionHeaders,
  readPermissionQuery,
} from './grants/permission-lane.js';
import { createGrantReader } from './grants/read-grant.js';
import { createGrantHandlers } from './grants/routes.js';
import { removeGrantsOf } from './grants/write-grant.js';
import { createAddressRules } from './handshake/address.js';
import { createBatchWrites } from './handshake/batch-writes.js';
import { createBudgets } from './handshake/budgets.js';
import { createCallbackHandlers } from './handshake/callback-routes.js';
import { createGrantByCallback } from './handshake/callback.js';
import { closeHandshakesOfPair, createQueue } from './handshake/queue.js';
import { createHandshakeReader } from './handshake/read-handshake.js';
import { createSafeRequest } from './handshake/safe-request.js';
import { createSettleConsent } from './handshake/settle-consent.js';
import { createSettle } from './handshake/settle.js';
import { faultOfSinkText, parseSink } from './handshake/sink.js';
import { createSweeper } from './handshake/sweep.js';
import { createWorker, type Worker } from './handshake/worker.js';
import { createApp } from './http/app.js';
import { loadContract, type Operation, type OperationId } from './http/contract.js';
import { serveDocuments } from './http/documents.js';
import { openIssuers } from './http/issuers.js';
import { createLaneHandler } from './http/lane-handler.js';
import { createLane, type LaneRoute } from './http/lane.js';
import { createMetrics } from './http/metrics.js';
import { createOperationsApp } from './http/operations.js';
import { close, sayLast, serve, urlOf } from './http/server.js';
import { dialects } from './matching/dialects.js';
import { createExplain } from './matching/explain-match.js';
import { createMatchLane } from './matching/match-lane.js';
import { createReplica } from './matching/replica.js';
import { createMatchHandlers } from './matching/routes.js';
import { createOriginMemory } from './origins/origin-memory.js';
import { createOriginHandlers } from './origins/routes.js';
import { createOriginStore } from './origins/store.js';
import { asUnavailable, openDatabase, type Database } from './storage/database.js';
import { listen } from './storage/listen.js';
import { awaitMigrations, migrate, pendingMigrations, readMigrations } from './storage/migrate.js';
import { createStandby } from './storage/standby.js';
import { createCredentialReader } from './subscriptions/credential-reader.js';
import { createCredentialVault } from './subscriptions/credential-vault.js';
import { openDevelopmentKeys } from './subscriptions/development-keys.js';
import { createHandshakeHandlers } from './subscriptions/handshake-routes.js';
import { createSubscriptionReader } from './subscriptions/read-subscription.js';
import { createRegister } from './subscriptions/register.js';
import { createSubscriptionHandlers } from './subscriptions/routes.js';
import { createSubscriptionWriter } from './subscriptions/write-subscription.js';

export interface Service {
  /** Everything that the API answers. */
  listener: RequestListener;
  operations: Express;
  database: Database;
  worker: Pick<Worker, 'drain' | 'inFlight'>;
  /** Brings about what time alone brings about, now. */
  sweep(): Promise<void>;
  /** Deletes what is older than it is kept, now. */
  forget(): Promise<void>;
  /** Takes in what was committed before this call, now. */
  follow(): Promise<void>;
  /** Listens and works. */
  start(): Promise<{ url: string; operationsUrl: string }>;
  /** Takes no more requests, ends or hands back what is in flight within the time limit, and closes everything. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  config: Config;
  log: Logger;
  /** Every answer is held against the contract; for tests. */
  checkAnswers?: boolean;
}

const maxBackoffMs = 3_600_000;
const bodyLimit = 65_536;
/** The latest changes, in memory. */
const feedMemory = { entries: 16_384, bytes: 33_554_432 };
const snapshotsAtOnce = { snapshots: 4, snapshotsPerTenant: 2 };
const eventLimits = { bytes: 1_048_576, events: 100 };

/** The composition root: everything that lives long is created here, once, and handed down. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const database = await openDatabase(options.config);
  try {
    return await compose(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function compose(database: Database, { config, log, checkAnswers = false }: ServiceOptions): Promise<Service> {
  const contract = loadContract();
  const readsOnly = config.replicaUrl !== undefined;
  if (readsOnly) {
    const onPending = (pending: string[]) => log.warn({ migrations: pending }, 'waiting for migrations');
    await awaitMigrations(database, { pollMs: config.pollMs, onPending });
  } else {
    const applied = await migrate(database);
    if (applied.length > 0) log.info({ migrations: applied }, 'migrated');
  }
  const migrations = await readMigrations();

  const ownHosts = config.publicUrl === undefined ? [] : [new URL(config.publicUrl).hostname];
  const sinkRules = { addresses: createAddressRules(config), ports: config.sinkPorts, ownHosts };
  const faultOfSink = (sink: string) => {
    const parsed = parseSink(sink, sinkRules);
    return parsed.ok ? undefined : { rule: parsed.rule, detail: parsed.detail };
  };

  const origins = createOriginMemory();
  const asking = {
    database,
    publicUrl: config.publicUrl,
    callbackSeconds: config.callbackSeconds,
    deadlineMs: config.handshakeDeadlineMs,
    inFlight: { perHost: config.handshakesInFlightPerHost, perTenant: config.handshakesInFlightPerTenant },
    perMinute: { perHost: config.handshakesPerHost, perTenant: config.handshakesPerTenant },
  };
  const queue = createQueue(asking);
  // A standby tells nobody of changes, so it is asked more often.
  const followMs = readsOnly ? Math.min(config.pollMs, 100) : config.pollMs;
  const follower = createFollower({
    database,
    createReplica: (now) => createReplica({ dialects, now }),
    pollMs: followMs,
    onFault: (error) => log.error({ err: error }, 'follower fault'),
  });
  const writes = createBatchWrites({
    ...asking,
    adopt: (work) => worker.adopt(work),
    follow: (changes, after) => follower.take(changes, after),
  });
  const standby = readsOnly ? createStandby(database.query) : undefined;
  const secondsBehind = () => Math.max(follower.secondsBehind(), standby?.secondsBehind() ?? 0);
  // Between two polls nobody knows of anything newer; what is older than that was not to be had.
  const age = () => {
    const seconds = secondsBehind();
    return seconds > 1 + followMs / 1_000 ? Math.floor(seconds) : undefined;
  };
  const readers = createReaders({
    perProcess: config.feedReaders,
    perTenant: config.feedReadersPerTenant,
    ...snapshotsAtOnce,
  });
  const metrics = createMetrics({
    lagSeconds: queue.lagSeconds,
    inFlight: () => worker.inFlight(),
    indexSize: () => follower.replica()?.size(),
    indexSecondsBehind: secondsBehind,
    feedReaders: () => Object.fromEntries(readerKinds.map((kind) => [kind, readers.count(kind)])),
  });
  const feed = createFeed({
    ...{ follower, query: database.query, memory: feedMemory },
    isStandby: readsOnly,
    onPage: metrics.feedPage,
  });
  const worker = createWorker({
    queue,
    budgets: createBudgets(asking),
    request: createSafeRequest({
      allowedNetworks: config.allowedNetworks,
      deniedNetworks: config.deniedNetworks,
      ports: config.sinkPorts,
      ownHosts,
      dnsServers: config.dnsServers,
      ca: config.sinkCa,
      deadlineMs: config.handshakeDeadlineMs,
      maxHeaderBytes: 8_192,
      maxInformational: 8,
      userAgent: `Assent/${contract.document.info.version}${config.contact === undefined ? '' : ` (${config.contact})`}`,
    }),
    settle: createSettle({
      database,
      origins,
      settleConsent: createSettleConsent({ writes, random: Math.random }),
      maxAttempts: config.handshakeAttempts,
      retry: { firstMs: config.handshakeRetryMs, maxMs: maxBackoffMs },
      random: Math.random,
    }),
    maxInFlight: config.handshakesInFlight,
    pollMs: config.pollMs,
    stopMs: Math.max(config.stopMs - 2_000, 0),
    onOutcome: ({ id, tenant, origin, sinkHost, reason, subscription }, { verdict, state, standing }, seconds) => {
      metrics.handshake({ verdict, reason, seconds });
      // What was written in a batch is followed with it.
      if (standing === undefined) follower.wake();
      const ms = Math.round(seconds * 1_000);
      log.info(
        { handshake: id, tenant, subscription, origin, sinkhost: sinkHost, reason, verdict, state, ms },
        'handshake',
      );
    },
    onFault: (error, claim) => log.error({ handshake: claim?.id, err: error }, 'handshake fault'),
  });
  const sweeper = createSweeper({
    database,
    retentionDays: config.retentionDays,
    feedRetentionHours: config.feedRetentionHours,
    auditDays: config.auditDays,
  });

  const leases = createLeases(database);

  const { tokens, developmentKeys } = await openIssuers(config, log);
  const keys = config.credentialKeys.length > 0 ? config.credentialKeys : await openDevelopmentKeys(config.dataFolder);
  const stopping = new AbortController();
  // Every open stream and every request that waits listens to it.
  setMaxListeners(0, stopping.signal);
  const reader = createSubscriptionReader(database);
  const vault = createCredentialVault(keys);
  const register = createRegister({ ...asking, vault, origins, writes });
  const writer = createSubscriptionWriter({ database, vault, register });
  const attend = (handshake: string, waitMs: number, signal: AbortSignal) =>
    worker.attend(handshake, waitMs, [signal, stopping.signal]);
  const operationsById = new Map(contract.operations.map((operation) => [operation.id, operation]));
  const operationOf = (id: OperationId): Operation => {
    const operation = operationsById.get(id);
    if (operation === undefined) throw new Error(`The contract has no operation ${id}.`);
    return operation;
  };
  const checkBody = (id: OperationId, body: unknown): Fault[] => operationOf(id).checkBody(body);
  const memory = { replica: () => follower.replica(), age };
  const lane: LaneRoute[] = [
    {
      operation: operationOf('matchEvent'),
      bodyLimit: eventLimits.bytes,
      handle: createMatchLane({
        ...memory,
        explain: createExplain(database),
        position: () => follower.position(),
        waitFor: (position, timeoutMs) => follower.waitFor(position, timeoutMs),
        credentials: createCredentialReader({ database, vault }),
        limits: eventLimits,
      }),
    },
    {
      operation: operationOf('getPermission'),
      bodyLimit: 0,
      headers: permissionHeaders,
      readQuery: readPermissionQuery,
      handle: createPermissionLane({ ...memory, faultOfSink: faultOfSinkText }),
    },
    {
      operation: operationOf('getPermissions'),
      bodyLimit: operationOf('getPermissions').bodyLimit ?? bodyLimit,
      headers: permissionHeaders,
      handle: createPermissionsLane(memory, operationOf('getPermissions')),
    },
  ];

  // What a request has written is in this process's own index before the answer is sent.
  const onWritten = async () => {
    if (follower.position() === undefined) return;
    await follower.catchUp().catch((error: unknown) => log.warn({ err: error }, 'the index is behind'));
  };
  const subscriptionHandlers = createSubscriptionHandlers({ reader, writer, attend, faultOfSink, checkBody });
  const createSubscription = operationOf('createSubscription');
  const app = createApp({
    contract,
    handlers: {
      ...subscriptionHandlers,
      ...createHandshakeHandlers({ reader, writer, attend, handshakes: createHandshakeReader(database) }),
      ...createCallbackHandlers({ grantByCallback: createGrantByCallback({ database, random: Math.random }) }),
      ...createGrantHandlers({
        database,
        grants: createGrantReader(database),
        faultOfSink,
        closeHandshakes: closeHandshakesOfPair,
      }),
      ...createOriginHandlers({
        origins: createOriginStore({ database, removeDependents: removeGrantsOf, announce: announceOrigin }),
        checkBody,
      }),
      ...createLeaseHandlers({ leases, onLease: metrics.lease }),
      ...createOutcomeHandlers({
        record: createRecordOutcomes(database),
        deliveries: createDeliveryReader(database),
        readSubscription: (principal, id) => reader.read(principal, id),
        checkBody,
        onDelivery: metrics.delivery,
        onHeld: metrics.held,
      }),
      ...createMatchHandlers({ readSubscription: (principal, id) => reader.read(principal, id), limits: eventLimits }),
      ...createFeedHandlers({
        ...{ feed, database, readers, age },
        heartbeatMs: config.feedHeartbeatMs,
        stopping: stopping.signal,
      }),
      ...createAuditHandlers({ database }),
    },
    lane,
    readsOnly,
    authenticate: async (authorization, lines) => tokens.authenticate(authorization, lines),
    onWritten,
    extras: (express) => serveDocuments(express, contract.document, developmentKeys),
    log,
    onRequest: metrics.request,
    translate: asUnavailable,
    bodyLimit,
    streams: { stallMs: config.feedStallMs, stopping: stopping.signal },
    checkAnswers,
  });

  const registering: LaneRoute = {
    operation: createSubscription,
    bodyLimit: createSubscription.bodyLimit ?? bodyLimit,
    writes: true,
    handle: createLaneHandler(createSubscription, subscriptionHandlers.createSubscription, { log, onWritten }),
  };
  const listener = createLane({
    // Where nothing may be written Express says so.
    routes: readsOnly ? lane : [...lane, registering],
    tokens,
    translate: asUnavailable,
    log,
    onRequest: metrics.request,
    checkAnswers,
    stopping: stopping.signal,
    next: sayLast(app, stopping.signal),
  });

  const operations = createOperationsApp({
    metrics: metrics.registry,
    timeoutMs: 2_000,
    checks: {
      process: async () => (stopping.signal.aborted ? 'stopping' : undefined),
      database: async () => void (await database.client.$queryRaw`select 1`),
      migrations: async () => {
        const pending = await pendingMigrations(database, migrations);
        return pending.length > 0 ? `pending: ${pending.join(', ')}` : undefined;
      },
      index: async () => {
        if (follower.position() === undefined) return 'loading';
        // While the database is away it is kept, with its age; this is something else.
        return follower.secondsFailing() > 30 ? 'does not follow' : undefined;
      },
      ...(readsOnly
        ? { writes: async () => 'read only' }
        : {
            worker: async () => (worker.secondsSincePoll() > config.pollMs / 1_000 + 30 ? 'does not poll' : undefined),
          }),
    },
    readChecks: ['process', 'index'],
  });

  const forget = async () => {
    await sweeper.forget();
    await leases.forget();
  };
  const servers: Server[] = [];
  const loops: Promise<void>[] = [];
  return {
    listener,
    operations,
    database,
    worker: {
      inFlight: worker.inFlight,
      async drain() {
        await worker.drain();
        await follower.catchUp();
      },
    },
    async sweep() {
      await sweeper.sweep();
      await follower.catchUp();
    },
    forget,
    follow: () => follower.catchUp(),

    async start() {
      const listening = await Promise.allSettled([
        serve(listener, config.port, config.host),
        serve(sayLast(operations, stopping.signal), config.operationsPort, config.operationsHost),
      ]);
      // One that listens while the other could not is closed by stop.
      servers.push(...listening.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
      const faults = listening.flatMap((one, place) =>
        one.status === 'fulfilled' ? [] : [faultOfListening(place === 0 ? 'ASSENT' : 'ASSENT_OPERATIONS', one.reason)],
      );
      if (faults.length > 0) throw new SetupError(faults.join('\n'));
      const [api, watch] = servers as [Server, Server];
      const urls = { url: urlOf(api, config.host), operationsUrl: urlOf(watch, config.operationsHost) };
      const onFault = (error: unknown) => log.error({ err: error }, 'sweep fault');
      loops.push(follower.run(stopping.signal));
      if (standby !== undefined) {
        // Where it cannot be asked, the follower cannot read it either, and says so.
        const quiet = () => undefined;
        loops.push(repeat(() => standby.look(), followMs, stopping.signal, quiet));
        return urls;
      }
      loops.push(
        worker.run(stopping.signal),
        ...(config.databaseUrl === undefined
          ? []
          : [
              listen(
                {
                  databaseUrl: config.databaseUrl,
                  channel: changeChannel,
                  onWake: (position) => follower.wake(position === '' ? undefined : BigInt(position)),
                  onConnect: () => follower.distrust(),
                  onFault: (error) => log.warn({ err: error }, 'notifications of changes are interrupted'),
                },
                stopping.signal,
              ),
            ]),
        repeat(() => sweeper.sweep(), config.pollMs * 2, stopping.signal, onFault),
        repeat(forget, 3_600_000, stopping.signal, onFault),
      );
      return urls;
    },

    async stop() {
      stopping.abort();
      const [api, watch] = servers;
      await Promise.all([...(api ? [close(api, config.stopMs)] : []), ...loops]);
      if (watch) await close(watch, 0);
      await database.close();
    },
  };
}

/** Which of the two settings it is: the port, or the host. */
function faultOfListening(prefix: string, reason: unknown): string {
  const error = reason as NodeJS.ErrnoException;
  const isPort = error.code === 'EADDRINUSE' || error.code === 'EACCES';
  return `${prefix}_${isPort ? 'PORT' : 'HOST'}: ${error.message}`;
}

/** Once at once, then again and again until the signal fires. */
async function repeat(
  work: () => Promise<void>,
  everyMs: number,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
) {
  while (!signal.aborted) {
    await work().catch(onFault);
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
