import { beforeAllIds } from '../../base/files/ids.js';
import type { Database } from './database.js';
import { hasSecret, sealedTables } from './sealed-secrets.js';
import type { Vault } from './vault.js';

interface SealedRow {
  id: string;
  tenant: string;
  column: string;
  sealed: string;
}

type Query = Pick<Database, 'query'>;

const pageSize = 1_000;

/**
 * Seals with the current key what an older key sealed, so that the older key can be removed, and returns how many secrets. A
 * secret that changes at the same time stays as it was written, and so does one of a key that is not configured. Safe in
 * several processes at once.
 */
export async function resealSecrets({ query }: Query, vault: Vault): Promise<number> {
  const [, ...olderKeys] = vault.beginnings;
  let resealed = 0;
  if (olderKeys.length === 0) return resealed;
  for (const of of sealedTables) {
    const { table, tenant } = of;
    const columns = Object.keys(of.columns);
    const older = columns.map(
      (column) =>
        `select id, tenant, '${column}' as "column", ${column} as sealed from page where ${column} ^@ any($2::text[])`,
    );
    for (let after: string | undefined = beforeAllIds; after !== undefined;) {
      const pages: Array<{ last: string | null; older: SealedRow[] | null }> = await query(
        `with page as materialized (
           select id, ${tenant} as tenant, ${columns.join(', ')} from ${table}
           where id > $1::uuid and (${hasSecret(of)}) order by id limit ${pageSize}
         ), older as (
           ${older.join(' union all ')}
         )
         select (select id from page order by id desc limit 1)::text as last,
           (select json_agg(row_to_json(older)) from older) as older`,
        [after, olderKeys],
      );
      for (const row of pages[0]?.older ?? []) resealed += (await reseal({ query }, vault, table, row)) ? 1 : 0;
      after = pages[0]?.last ?? undefined;
    }
  }
  return resealed;
}

async function reseal({ query }: Query, vault: Vault, table: string, row: SealedRow): Promise<boolean> {
  const context = { tenant: row.tenant, owner: `${table}:${row.id}` };
  const secret = await vault.open(row.sealed, context).catch(() => undefined);
  if (secret === undefined) return false;
  await query(`update ${table} set ${row.column} = $1 where id = $2::uuid and ${row.column} = $3`, [
    await vault.seal(secret as object, context),
    row.id,
    row.sealed,
  ]);
  return true;
}
