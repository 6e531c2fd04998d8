import type { Database } from '../storage/database.js';
import { beforeAllIds } from '../storage/ids.js';
import type { CredentialVault } from './credential-vault.js';

export interface Resealed {
  resealed: number;
  /** Of those that no key opens, which stay as they are: how many, and the subscription of one of them. */
  unopened: number;
  example: string | undefined;
}

interface Row {
  id: string;
  tenant: string;
  sealed: string;
}

const atOnce = 1_000;

/**
 * Seals with the present key what an older one sealed, so that the older one can be given up. Whoever changes a
 * credential meanwhile has the last word. Safe in several processes at once.
 */
export async function resealCredentials({ query }: Pick<Database, 'query'>, vault: CredentialVault): Promise<Resealed> {
  const result: Resealed = { resealed: 0, unopened: 0, example: undefined };
  for (let after: string | undefined = beforeAllIds; after !== undefined;) {
    const pages: Array<{ last: string | null; older: Row[] | null }> = await query(
      `with page as materialized (
         select id, tenant, sinkcredential as sealed from subscription where id > $1::uuid order by id limit ${atOnce}
       )
       select (select id from page order by id desc limit 1)::text as last,
         (select json_agg(row_to_json(page)) from page where not starts_with(sealed, $2)) as older`,
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

async function reseal({ query }: Pick<Database, 'query'>, vault: CredentialVault, row: Row): Promise<boolean> {
  const context = { tenant: row.tenant, subscription: row.id };
  const credential = await vault.open(row.sealed, context).catch(() => undefined);
  if (credential === undefined) return false;
  await query('update subscription set sinkcredential = $1 where id = $2::uuid and sinkcredential = $3', [
    await vault.seal(credential, context),
    row.id,
    row.sealed,
  ]);
  return true;
}
