import type { Logger } from 'pino';
import type { Contract } from '../base/contract/contract.js';
import type { Fault } from '../base/errors.js';
import type { Tracing } from '../base/tracing.js';
import type { ReadDocument } from '../outbound/read-document.js';
import type { Config } from './app/config.js';
import type { Follower } from './changes/follower.js';
import type { Readers } from './changes/readers.js';
import type { Leases } from './deliveries/lease.js';
import type { Shares } from './gateways/shares.js';
import type { RegistryKeys } from './grants/registry-keys.js';
import type { removeGrantsOf } from './grants/write.js';
import type { closeHandshakesOfPair } from './handshake/close.js';
import type { DryRun } from './handshake/dry-run.js';
import type { Queue } from './handshake/queue.js';
import type { Worker } from './handshake/worker.js';
import type { ProofChecks } from './origins/check-proof.js';
import type { Metrics } from './probes/metrics.js';
import type { Counter } from './statistics/counter.js';
import type { Signers } from './origins/keys.js';
import type { Database } from './storage/database.js';
import type { removeSubscriptionsOf } from './subscriptions/remove-all.js';
import type { SecretWatch } from './storage/sealed-secrets.js';
import type { Vault } from './storage/vault.js';

/**
 * What a process has once and shares: app/ creates it, and each folder takes from it what it needs, in
 * `routes(context)`. This file imports only types, and only of files that do not know it, so that every folder may
 * import it without a circle.
 */
export interface Context {
  config: Config;
  log: Logger;
  /** Undefined if nothing is traced. */
  tracing: Tracing | undefined;
  contract: Contract;
  database: Database;
  metrics: Metrics;
  counter: Counter;
  /** Follows the change log. */
  follower: Follower;
  freshness: Freshness;
  /** Milliseconds since 1970, by the database's clock. */
  now: () => number;
  queue: Queue;
  worker: Worker;
  dryRun: DryRun;
  proofs: ProofChecks;
  /** Undefined if Assent may call the sink. */
  faultOfSink: (sink: string) => Omit<Fault, 'pointer'> | undefined;
  /** Of a tenant's own server, through the guarded client. */
  readDocument: ReadDocument;
  leases: Leases;
  /** What gateways have leased; undefined in a process that writes nothing. */
  shares: Shares | undefined;
  readers: Readers;
  /** Encrypts the secrets in the database. */
  vault: Vault;
  /** The keys of origins, opened. */
  signers: Signers;
  secretWatch: SecretWatch;
  /** What signs grants. */
  registryKeys: RegistryKeys;
  cascades: Cascades;
  /** Checks every response against the contract; for tests. */
  checkAnswers: boolean;
  /** Ends every loop, every open stream and every waiting request. */
  stopping: AbortSignal;
}

/** How old the data is that responses come from. */
export interface Freshness {
  /** Seconds since the memory of this process was last known to be current; Infinity while it is loading. */
  secondsBehind: () => number;
  /** The same for the header `Age`; undefined if the memory is as current as it can be. */
  age: () => number | undefined;
  /** The same for the database, for data that is read from there. */
  ageOfDatabase: () => number | undefined;
}

/** What a transaction of a folder changes in folders above it. */
export interface Cascades {
  /** Before a grant is revoked. */
  closeHandshakes: typeof closeHandshakesOfPair;
  /** Before an origin goes to another tenant. */
  removeSubscriptions: typeof removeSubscriptionsOf;
  /** Before an origin is removed. */
  removeGrants: typeof removeGrantsOf;
}
