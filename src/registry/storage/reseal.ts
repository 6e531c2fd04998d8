import { beforeAllIds } from '../../base/files/ids.js';
import type { Database } from './database.js';
import { registryTenant, type Vault } from './vault.js';

/** Where secrets are. The owner of a secret is its table and the id of its row; `tenant` is SQL. */
const sealed = [
  {
    table: 'subscription',
    tenant: 'tenant',
    columns: ['sinkcredential', 'previouscredential', 'signingsecret', 'previoussigningsecret'],
  },
  { table: 'origin_key', tenant: 'tenant', columns: ['privatekey'] },
  { table: 'client_certificate', tenant: 'tenant', columns: ['privatekey'] },
  { table: 'registry_key', tenant: `'${registryTenant}'`, columns: ['privatekey'] },
] as const;

export interface Resealed {
  resealed: number;
  /** How many secrets no key opens; they stay unchanged. `example` is the owner of one of them. */
  unopened: number;
  example: string | undefined;
}

interface SealedRow {
  id: string;
  tenant: string;
  column: string;
  sealed: string;
}

type Query = Pick<Database, 'query'>;

const pageSize = 1_000;

/**
 * Seals with the current key what an older key sealed, so that the older key can be removed. A secret that changes at the
 * same time stays as it was written. Safe in several processes at once.
 */
export async function resealSecrets({ query }: Query, vault: Vault): Promise<Resealed> {
  const result: Resealed = { resealed: 0, unopened: 0, example: undefined };
  for (const { table, tenant, columns } of sealed) {
    const older = columns.map(
      (column) =>
        `select id, tenant, '${column}' as "column", ${column} as sealed from page where not starts_with(${column}, $2)`,
    );
    for (let after: string | undefined = beforeAllIds; after !== undefined;) {
      const pages: Array<{ last: string | null; older: SealedRow[] | null }> = await query(
        `with page as materialized (
           select id, ${tenant} as tenant, ${columns.join(', ')} from ${table} where id > $1::uuid order by id limit ${pageSize}
         ), older as (
           ${older.join(' union all ')}
         )
         select (select id from page order by id desc limit 1)::text as last,
           (select json_agg(row_to_json(older)) from older) as older`,
        [after, vault.beginning],
      );
      for (const row of pages[0]?.older ?? []) {
        const isOpened = await reseal({ query }, vault, table, row);
        if (isOpened) result.resealed += 1;
        else [result.unopened, result.example] = [result.unopened + 1, result.example ?? `${table}:${row.id}`];
      }
      after = pages[0]?.last ?? undefined;
    }
  }
  return result;
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
