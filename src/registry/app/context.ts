import type { Logger } from 'pino';
import type { Config } from './config.js';
import type { Contract } from '../../base/contract/contract.js';
import type { Metrics } from '../probes/metrics.js';
import type { Database } from '../storage/database.js';

/** What all parts of the service need. */
export interface Context {
  config: Config;
  log: Logger;
  contract: Contract;
  database: Database;
  metrics: Metrics;
  /** Checks every response against the contract; for tests. */
  checkAnswers: boolean;
  /** Ends every loop, every open stream and every waiting request. */
  stopping: AbortSignal;
}
