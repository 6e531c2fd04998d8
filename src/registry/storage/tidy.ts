import { hasRoom } from '../../base/files/disk-room.js';

interface Embedded {
  query: <Row>(statement: string) => Promise<{ rows: Row[] }>;
  exec: (statement: string) => Promise<unknown>;
}

/** Tables with more dead rows than a server accepts by default (autovacuum_vacuum_scale_factor). */
const due = `
  select s.relid::regclass::text as name, pg_total_relation_size(s.relid)::float8 as bytes
  from pg_stat_all_tables s join pg_class c on c.oid = s.relid
  where s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)`;

/**
 * Does what a server does in the background and an embedded Postgres does not. Otherwise deleted rows keep their disk
 * space forever, and the write-ahead log grows until the process ends. Does nothing while the disk is nearly full,
 * because a vacuum needs space itself: at most the size of the table, in the log.
 */
export async function tidy(database: Embedded, folder: string): Promise<void> {
  const checkpoint = async () => {
    if (await hasRoom(folder)) await database.exec('checkpoint');
  };
  await checkpoint();
  // Otherwise the latest counts become visible only seconds later.
  await database.exec('select pg_stat_force_next_flush()');
  const { rows } = await database.query<{ name: string; bytes: number }>(due);
  for (const { name, bytes } of rows) if (await hasRoom(folder, bytes)) await database.exec(`vacuum ${name}`);
  if (rows.length > 0) await checkpoint();
}
