import { sqlState } from '../storage/database-errors.js';
import type { Query } from '../storage/database.js';

/**
 * Positions count within one history of one database. Another one begins when a backup is restored or when a standby is
 * promoted that lacked the last commits: the same positions then stand for other changes. Postgres names its history by
 * the system identifier of the cluster and the timeline; a copy within the same cluster has another database oid, and
 * a dump that is restored in place makes another table. Any user may ask for all of them. A standby has nothing to
 * record, and who only reads may not. Of a folder or a disk that was put back as it had been, Postgres knows nothing.
 */
const present = `case when pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' then null else
  (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
  || '/' || (select oid from pg_database where datname = current_database()) || '/' || 'feed'::regclass::oid end`;

/**
 * Begins a new epoch if the database has another history than the one that was recorded; of several processes one does.
 */
export async function recordHistory(query: Query): Promise<void> {
  if (!(await differs(query))) return;
  await query(
    `update feed set cluster = ${present}, epoch = case when cluster = '' then epoch else gen_random_uuid() end
     where cluster <> ${present}`,
  );
}

/** Not where Postgres does not tell: a service may have taken these functions away, or a promotion be under way. */
async function differs(query: Query): Promise<boolean> {
  try {
    const [row] = await query<{ differs: boolean | null }>(`select cluster <> ${present} as differs from feed`);
    return row?.differs === true;
  } catch (error) {
    if (/^(?:42|0A|55)/.test(sqlState(error) ?? '')) return false;
    throw error;
  }
}
