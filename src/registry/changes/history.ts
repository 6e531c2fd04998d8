import { randomUUID } from 'node:crypto';
import { sqlState } from '../storage/database-errors.js';
import type { Query } from '../storage/sql.js';

/**
 * Positions are valid within one history of one database. A new history begins when a backup is restored, or when a
 * standby is promoted that lacks the last commits: then the same positions mean other changes. The system identifier of
 * the cluster and the timeline identify the history of a Postgres. A copy within the same cluster has another database
 * oid, and a dump that is restored in place creates another table. Any user may read all of them. A standby has nothing
 * to record, and a read-only session must not write. Postgres cannot detect that a folder or a disk was rolled back.
 */
const present = `case when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then null else
  (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
  || '/' || (select oid from pg_database where datname = current_database()) || '/' || 'feed_state'::regclass::oid end`;

/**
 * Begins a new epoch if the database's history differs from the recorded one; only one of several processes does. A
 * database without a recorded history keeps its epoch.
 */
export async function recordHistory(query: Query): Promise<void> {
  const cluster = await readPresent(query);
  if (cluster === undefined) return;
  await query(
    `update feed_state set cluster = $1, epoch = case when cluster = '' then epoch else $2::uuid end where cluster <> $1`,
    [cluster, randomUUID()],
  );
}

/** Undefined if it is as recorded, or unknown: a managed Postgres may not have these functions. */
async function readPresent(query: Query): Promise<string | undefined> {
  try {
    const [row] = await query<{ cluster: string; present: string | null }>(
      `select cluster, ${present} as present from feed_state`,
    );
    return row === undefined || row.present === null || row.present === row.cluster ? undefined : row.present;
  } catch (error) {
    // A promotion may be in progress.
    if (/^(?:42|0A|55)/.test(sqlState(error) ?? '')) return undefined;
    throw error;
  }
}
