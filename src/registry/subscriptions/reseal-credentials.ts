import type { Database } from '../storage/database.js';
import { beforeAllIds } from '../../base/files/ids.js';
import type { CredentialVault } from './credential-vault.js';

export interface Resealed {
  resealed: number;
  /** How many credentials no key opens; they stay unchanged. `example` is the subscription of one of them. */
  unopened: number;
  example: string | undefined;
}

type Column = 'sinkcredential' | 'previouscredential';

interface SealedRow {
  id: string;
  tenant: string;
  column: Column;
  sealed: string;
}

type Query = Pick<Database, 'query'>;

const pageSize = 1_000;

/**
 * Seals with the current key what an older key sealed, so that the older key can be removed. A credential that changes
 * at the same time stays as it was written. Safe in several processes at once.
 */
export async function resealCredentials({ query }: Query, vault: CredentialVault): Promise<Resealed> {
  const result: Resealed = { resealed: 0, unopened: 0, example: undefined };
  for (let after: string | undefined = beforeAllIds; after !== undefined;) {
    const pages: Array<{ last: string | null; older: SealedRow[] | null }> = await query(
      `with page as materialized (
         select id, tenant, sinkcredential, previouscredential from subscription where id > $1::uuid
         order by id limit ${pageSize}
       ), older as (
         select id, tenant, 'sinkcredential' as "column", sinkcredential as sealed from page
         where not starts_with(sinkcredential, $2)
         union all
         select id, tenant, 'previouscredential', previouscredential from page
         where not starts_with(previouscredential, $2)
       )
       select (select id from page order by id desc limit 1)::text as last,
         (select json_agg(row_to_json(older)) from older) as older`,
      [after, vault.beginning],
    );
    for (const row of pages[0]?.older ?? []) {
      const isOpened = await reseal({ query }, vault, row);
      if (isOpened) result.resealed += 1;
      else [result.unopened, result.example] = [result.unopened + 1, result.example ?? row.id];
    }
    after = pages[0]?.last ?? undefined;
  }
  return result;
}

async function reseal({ query }: Query, vault: CredentialVault, row: SealedRow): Promise<boolean> {
  const context = { tenant: row.tenant, subscription: row.id };
  const credential = await vault.open(row.sealed, context).catch(() => undefined);
  if (credential === undefined) return false;
  await query(`update subscription set ${row.column} = $1 where id = $2::uuid and ${row.column} = $3`, [
    await vault.seal(credential, context),
    row.id,
    row.sealed,
  ]);
  return true;
}
