import type { Database } from '../storage/database.js';
import type { CredentialVault } from './credential-vault.js';

/** The sink credentials of a tenant's subscriptions, opened, by subscription; those that have none are left out. */
export type ReadCredentials = (
  tenant: string,
  subscriptions: readonly string[],
) => Promise<Map<string, Record<string, unknown>>>;

export function createCredentialReader(settings: { database: Database; vault: CredentialVault }): ReadCredentials {
  const { database, vault } = settings;
  return async (tenant, subscriptions) => {
    const rows = await database.client.subscription.findMany({
      where: { tenant, id: { in: [...subscriptions] }, sinkcredential: { not: null } },
      select: { id: true, sinkcredential: true },
    });
    const opened = rows.map(async ({ id, sinkcredential }): Promise<[string, Record<string, unknown>]> => {
      const credential = await vault.open(sinkcredential ?? '', { tenant, subscription: id });
      return [id, credential as Record<string, unknown>];
    });
    return new Map(await Promise.all(opened));
  };
}
