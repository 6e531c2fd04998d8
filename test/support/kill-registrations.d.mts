export interface KillSettings {
  /** Undefined: the embedded database. */
  databaseUrl: string | undefined;
  seed: number;
  registrations?: number;
  clients?: number;
}

export interface KillCounts {
  seed: number;
  registrations: number;
  acknowledged: number;
  /** Requests that were retried after no response or a 503. */
  retries: number;
  kills: number;
  killsDuringStart: number;
  /** Milliseconds from the last kill until every subscription had its status. */
  settledAfterMs: number;
  /** OPTIONS requests and granted callbacks of the webhooks. */
  asked: number;
  called: number;
  faults: string[];
}

export function killRegistrations(settings: KillSettings): Promise<KillCounts>;
