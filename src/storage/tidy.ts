import { hasRoom } from './disk-room.js';

interface Embedded {
  query: <Row>(statement: string) => Promise<{ rows: Row[] }>;
  exec: (statement: string) => Promise<unknown>;
}

/** Tables with as many dead rows as a server would not leave by default (autovacuum_vacuum_scale_factor). */
const due = `
  select s.relid::regclass::text as name, pg_total_relation_size(s.relid)::float8 as bytes
  from pg_stat_all_tables s join pg_class c on c.oid = s.relid
  where s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)`;

/**
 * What a server does beside its work, and an embedded Postgres not at all: without it rows that were deleted keep their
 * room for good, and the log of what was written grows until the process ends. While the disk is nearly full nothing is
 * done, because it takes room itself: of the log, as much as the table has at the most.
 */
export async function tidy(database: Embedded, folder: string): Promise<void> {
  const checkpoint = async () => {
    if (await hasRoom(folder)) await database.exec('checkpoint');
  };
  await checkpoint();
  // Otherwise what was counted just now is told seconds later.
  await database.exec('select pg_stat_force_next_flush()');
  const { rows } = await database.query<{ name: string; bytes: number }>(due);
  for (const { name, bytes } of rows) if (await hasRoom(folder, bytes)) await database.exec(`vacuum ${name}`);
  if (rows.length > 0) await checkpoint();
}
