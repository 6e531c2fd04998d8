import type { Logger } from 'pino';
import type { Config } from '../config.js';
import type { Contract } from '../http/contract.js';
import type { Metrics } from '../http/metrics.js';
import type { Database } from '../storage/database.js';

/** What all parts of the service are made with. */
export interface Context {
  config: Config;
  log: Logger;
  contract: Contract;
  database: Database;
  metrics: Metrics;
  /** Every answer is checked against the contract; for tests. */
  checkAnswers: boolean;
  /** Every loop, every open stream and every request that waits listens to it. */
  stopping: AbortSignal;
}
