import { setMaxListeners } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { Express } from 'express';
import type { Logger } from 'pino';
import { Readers, readerKinds } from '../changes/readers.js';
import type { Config } from './config.js';
import type { Context } from '../context.js';
import { countLease } from '../deliveries/routes.js';
import { Leases } from '../deliveries/lease.js';
import { SetupError } from '../../base/errors.js';
import { Shares } from '../gateways/shares.js';
import { RegistryKeys } from '../grants/registry-keys.js';
import { removeGrantsOf } from '../grants/write.js';
import { closeHandshakesOfPair } from '../handshake/close.js';
import type { Worker } from '../handshake/worker.js';
import { loadContract } from '../../base/contract/contract.js';
import { publishAddress } from '../tokens/development-registry.js';
import { createTrustedRoute } from '../../outbound/trusted-route.js';
import { openIssuers } from '../tokens/issuers.js';
import { Signers } from '../origins/keys.js';
import { Metrics } from '../probes/metrics.js';
import { closeServer, createRefuseUnread, serve, urlOf } from '../http/server.js';
import { createApi } from './api.js';
import { createAsking, type Asking } from './asking.js';
import { createFollowing } from './following.js';
import { createOperations } from '../probes/probes.js';
import { createUpkeep } from './upkeep.js';
import { Counter } from '../statistics/counter.js';
import type { Database } from '../storage/database.js';
import { awaitMigrations, migrate } from '../storage/migrate.js';
import { openTracing } from '../../base/tracing.js';
import { version } from '../../base/version.js';
import { removeSubscriptionsOf } from '../subscriptions/remove-all.js';
import { uuidv7 } from '../../base/files/ids.js';
import { openDatabase } from '../storage/open-database.js';
import { requireRights } from '../storage/rights.js';
import { SecretWatch } from '../storage/sealed-secrets.js';
import { createVault, developmentKeysIn, openDevelopmentKeys } from '../storage/vault.js';
import { repeat } from './repeat.js';

export interface Service {
  /** Handles the requests of the API. */
  listener: RequestListener;
  /** Health and metrics. */
  operations: Express;
  database: Database;
  /** What the process has once; for benchmarks, which measure parts of it. */
  context: Context;
  worker: Pick<Worker, 'drain' | 'inFlight'>;
  /** Runs the transitions that time alone causes, now. */
  sweep(): Promise<void>;
  /** Deletes data whose retention time is over, now. */
  forget(): Promise<void>;
  /** Applies everything that was committed before this call, now. */
  follow(): Promise<void>;
  /** Starts listening and working. */
  start(): Promise<{ url: string; operationsUrl: string }>;
  /** Accepts no more requests, finishes or hands back work in flight within the time limit, and closes everything. */
  stop(): Promise<void>;
}

interface ServiceOptions {
  config: Config;
  log: Logger;
  /** Checks every response against the contract; for tests. */
  checkAnswers?: boolean;
}

const snapshotsAtOnce = { snapshots: 4, snapshotsPerTenant: 2 };

/** The composition root: creates all long-lived things once and passes them down. Its parts are in service/. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, log } = options;
  const onRoom = (isRoom: boolean) =>
    isRoom
      ? log.info('the disk has room again: the database accepts writes')
      : log.error({ folder: config.dataFolder }, 'the disk is full: the database is read-only');
  const database = await openDatabase({
    databaseUrl: config.database.url,
    replicaUrl: config.database.replicaUrl,
    dataFolder: config.dataFolder,
    onRoom,
  });
  try {
    await prepare(database, options);
    return await compose(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A process that follows a replica cannot migrate, and waits until another process has. */
async function prepare(database: Database, { config, log }: ServiceOptions): Promise<void> {
  const readsOnly = config.database.replicaUrl !== undefined;
  if (readsOnly) {
    const onPending = (pending: string[]) => log.warn({ migrations: pending }, 'waiting for migrations');
    await awaitMigrations(database, { pollMs: config.pollMs, onPending });
  } else {
    const onWaiting = (migration: string) => log.warn({ migration }, 'waiting for a transaction that locks the table');
    const applied = await migrate(database, onWaiting);
    if (applied.length > 0) log.info({ migrations: applied }, 'migrated');
  }
  await requireRights(database, readsOnly);
}

async function compose(database: Database, { config, log, checkAnswers = false }: ServiceOptions): Promise<Service> {
  const aborter = new AbortController();
  const stopping = aborter.signal;
  const tracing = openTracing('assent', version);
  setMaxListeners(0, stopping);
  const following = createFollowing({ database, config, log });
  const { follower } = following;
  const readers = new Readers({
    perProcess: config.feed.readers,
    perTenant: config.feed.readersPerTenant,
    ...snapshotsAtOnce,
  });
  const metrics = new Metrics({
    lagSeconds: () => asking.queue.lagSeconds(),
    inFlight: () => asking.worker.inFlight(),
    indexSize: () => follower.replica()?.size(),
    indexSecondsBehind: following.freshness.secondsBehind,
    feedReaders: () => Object.fromEntries(readerKinds.map((kind) => [kind, readers.count(kind)])),
  });
  const counter = new Counter({ query: database.query, now: follower.now });
  const { vault, secretWatch } = await openSecrets(database, config, log, metrics);
  const signers = new Signers({ vault, publicUrl: config.publicUrl });
  const asking: Asking = createAsking({
    database,
    config,
    log,
    tracing,
    metrics,
    follower,
    counter,
    signers,
    vault,
  });
  const { worker } = asking;
  const leases = new Leases(database);
  const shares = new Shares({
    leases,
    instance: `gateways-${uuidv7()}`,
    onLease: (pair, answer) => countLease({ metrics, counter }, pair, answer),
    onFault: (error) => log.warn({ err: error }, 'an unused lease was not returned'),
  });
  const readsOnly = config.database.replicaUrl !== undefined;
  const context: Context = {
    config,
    log,
    tracing,
    contract: loadContract(),
    database,
    metrics,
    counter,
    follower,
    freshness: following.freshness,
    now: follower.now,
    ...asking,
    leases,
    shares: readsOnly ? undefined : shares,
    readers,
    vault,
    signers,
    secretWatch,
    registryKeys: new RegistryKeys({ database, vault, readsOnly }),
    cascades: {
      closeHandshakes: closeHandshakesOfPair,
      removeSubscriptions: removeSubscriptionsOf,
      removeGrants: removeGrantsOf,
    },
    checkAnswers,
    stopping,
  };
  const issuers = await openIssuers(
    { ...config.tokens, dataFolder: config.dataFolder, route: createTrustedRoute(config.outbound) },
    log,
  );
  const watchSecrets = () => {
    const onFault = (err: unknown) => log.warn({ err }, 'the secrets could not be counted');
    const look = () => Promise.all([secretWatch.look(), signers.forgetEnded(database.sql)]).then(() => undefined);
    return repeat(look, watchMs, stopping, onFault, watchMs);
  };
  const listener = createApi(context, issuers, following.onWritten);
  const operations = await createOperations(context);
  const upkeep = createUpkeep(context);
  const servers: Server[] = [];
  const loops: Promise<void>[] = [];
  let withdrawAddress = async () => {};
  return {
    listener,
    operations,
    database,
    context,
    worker: {
      inFlight: () => worker.inFlight(),
      async drain() {
        await worker.drain();
        await follower.catchUp();
      },
    },
    async sweep() {
      await upkeep.sweep();
      await follower.catchUp();
    },
    forget: () => upkeep.forget(),
    follow: () => follower.catchUp(),

    async start() {
      const listening = await Promise.allSettled([
        serve(
          listener,
          config.api.port,
          config.api.host,
          createRefuseUnread((...request) => metrics.request(...request), config.publicUrl ?? ''),
        ),
        serve(operations, config.operations.port, config.operations.host),
      ]);
      // If only one of them listens, stop closes it.
      servers.push(...listening.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
      const faults = listening.flatMap((one, place) =>
        one.status === 'fulfilled' ? [] : [faultOfListening(place === 0 ? 'ASSENT' : 'ASSENT_OPERATIONS', one.reason)],
      );
      if (faults.length > 0) throw new SetupError(faults.join('\n'));
      loops.push(...following.run(stopping), watchSecrets());
      if (!readsOnly) loops.push(worker.run(stopping), ...upkeep.run(stopping));
      const [api, watch] = servers as [Server, Server];
      const url = urlOf(api, config.api.host);
      if (config.tokens.developmentIssuer) withdrawAddress = await publishAddress(config.dataFolder, url);
      return { url, operationsUrl: urlOf(watch, config.operations.host) };
    },

    async stop() {
      aborter.abort();
      await withdrawAddress();
      const [api, watch] = servers;
      await Promise.all([...(api ? [closeServer(api, config.stopMs)] : []), ...loops]);
      if (watch) await closeServer(watch, 0);
      await shares.close();
      await counter.flush().catch((error: unknown) => log.warn({ err: error }, 'the last counts are lost'));
      await database.close();
    },
  };
}

const watchMs = 60_000;
const loggedAgainMs = 3_600_000;
const maxLogged = 1_000;

/** SetupError if secrets are stored and no key decrypts one of them. */
async function openSecrets(
  database: Database,
  { credentialKeys, lostCredentialKeys: lostKeys, dataFolder }: Config,
  log: Logger,
  metrics: Metrics,
) {
  const isConfigured = credentialKeys.length > 0;
  const keys = isConfigured ? credentialKeys : await openDevelopmentKeys(dataFolder);
  /** By owner, when it was last logged, by the monotonic clock. */
  const logged = new Map<string, number>();
  const vault = createVault(keys, (owner, err) => {
    secretWatch.doubt();
    const now = performance.now();
    if (now - (logged.get(owner) ?? -Infinity) < loggedAgainMs) return;
    if (logged.size >= maxLogged) logged.clear();
    logged.set(owner, now);
    log.error({ err, owner }, 'no key decrypts this secret');
  });
  const source = isConfigured ? 'ASSENT_CREDENTIAL_KEYS' : developmentKeysIn(dataFolder);
  const secretWatch: SecretWatch = new SecretWatch({
    database,
    vault,
    log,
    source,
    lostKeys,
    onCount: (counts) => metrics.secrets(counts),
  });
  await secretWatch.begin();
  return { vault, secretWatch };
}

/** Names the setting at fault: the port or the host. */
function faultOfListening(prefix: string, reason: unknown): string {
  const error = reason as NodeJS.ErrnoException;
  const isPort = error.code === 'EADDRINUSE' || error.code === 'EACCES';
  return `${prefix}_${isPort ? 'PORT' : 'HOST'}: ${error.message}`;
}
