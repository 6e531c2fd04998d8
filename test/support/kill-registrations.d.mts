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
  /** Requests that were sent again because there was no answer, or a 503. */
  retries: number;
  kills: number;
  killsDuringStart: number;
  /** Milliseconds from the last kill until every subscription had its status. */
  settledAfterMs: number;
  /** OPTIONS requests and granted callbacks that the webhooks saw. */
  asked: number;
  called: number;
  faults: string[];
}

export function killRegistrations(settings: KillSettings): Promise<KillCounts>;
