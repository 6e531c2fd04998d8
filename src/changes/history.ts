import { randomUUID } from 'node:crypto';
import { sqlState } from '../storage/database-errors.js';
import type { Query } from '../storage/sql.js';

/**
 * Positions count within one history of one database. Another one begins when a backup is restored or when a standby is
 * promoted that lacked the last commits: the same positions then stand for other changes. Postgres names its history by
 * the system identifier of the cluster and the timeline; a copy within the same cluster has another database oid, and
 * a dump that is restored in place makes another table. Any user may ask for all of them. A standby has nothing to
 * record, and who only reads may not. Of a folder or a disk that was put back as it had been, Postgres knows nothing.
 */
const present = `case when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then null else
  (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
  || '/' || (select oid from pg_database where datname = current_database()) || '/' || 'feed_state'::regclass::oid end`;

/**
 * Begins a new epoch if the database has another history than the one that was recorded; of several processes one does.
 * A database that has recorded none keeps its epoch.
 */
export async function recordHistory(query: Query): Promise<void> {
  const cluster = await readPresent(query);
  if (cluster === undefined) return;
  await query(
    `update feed_state set cluster = $1, epoch = case when cluster = '' then epoch else $2::uuid end where cluster <> $1`,
    [cluster, randomUUID()],
  );
}

/** Undefined where it is as recorded, and where Postgres does not tell: a service may have taken these functions away. */
async function readPresent(query: Query): Promise<string | undefined> {
  try {
    const [row] = await query<{ cluster: string; present: string | null }>(
      `select cluster, ${present} as present from feed_state`,
    );
    return row === undefined || row.present === null || row.present === row.cluster ? undefined : row.present;
  } catch (error) {
    // A promotion may be under way.
    if (/^(?:42|0A|55)/.test(sqlState(error) ?? '')) return undefined;
    throw error;
  }
}
