import type { Query } from './sql.js';

/** How far a standby is behind its primary, as far as the standby knows. */
export interface Standby {
  /** Queries the standby. */
  look(): Promise<void>;
  /** An upper bound; Infinity before the first look. */
  secondsBehind(): number;
}

/**
 * A standby is current while it is connected to its primary and has replayed everything that it received. Otherwise its
 * age is at most the age of the last transaction that it replayed, and the time since it was last seen current. A
 * frozen or disconnected primary is noticed only when the standby notices it (`wal_receiver_timeout`). Any user may run
 * these queries.
 */
export function createStandby(query: Query): Standby {
  let lookedAt = -Infinity;
  let currentAt = -Infinity;
  /** The age of the last replayed transaction, at the last look. */
  let replayed = Infinity;

  return {
    async look() {
      const startedAt = performance.now();
      const [row] = await query<{ behind: number | null }>(
        `select case
           when not pg_is_in_recovery() then 0
           when exists (select from pg_stat_wal_receiver) and pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn() then 0
           else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8
         end as behind`,
      );
      lookedAt = startedAt;
      replayed = row?.behind ?? Infinity;
      if (replayed === 0) currentAt = startedAt;
    },
    secondsBehind() {
      const now = performance.now();
      return Math.min((now - currentAt) / 1_000, replayed + (now - lookedAt) / 1_000);
    },
  };
}
