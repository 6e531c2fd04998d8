import type { Database } from '../storage/database.js';
import type { CredentialVault } from './credential-vault.js';

/**
 * The sink credentials of a tenant's subscriptions, opened, by subscription; `sinks` are the sinks that they are known
 * to have. Left out are those without one, and those whose sink is another by now: a credential is for its sink only.
 */
export type ReadCredentials = (
  tenant: string,
  sinks: ReadonlyMap<string, string>,
) => Promise<Map<string, Record<string, unknown>>>;

export function createCredentialReader(settings: { database: Database; vault: CredentialVault }): ReadCredentials {
  const { database, vault } = settings;
  return async (tenant, sinks) => {
    const rows = await database.client.subscription.findMany({
      where: { tenant, id: { in: [...sinks.keys()] }, sinkcredential: { not: null } },
      select: { id: true, sink: true, sinkcredential: true },
    });
    const own = rows.filter(({ id, sink }) => sinks.get(id) === sink);
    const opened = own.map(async ({ id, sinkcredential }): Promise<[string, Record<string, unknown>]> => {
      const credential = await vault.open(sinkcredential ?? '', { tenant, subscription: id });
      return [id, credential as Record<string, unknown>];
    });
    return new Map(await Promise.all(opened));
  };
}
