import type { Logger } from 'pino';
import type { Database } from '../storage/database.js';
import type { CredentialVault } from './credential-vault.js';

/**
 * The sink credentials of a tenant's subscriptions, opened, by subscription; `sinks` are the sinks that they are known
 * to have. Left out are those without one, and those whose sink is another by now: a credential is for its sink only.
 * One that no key opens is `unreadable`, and does not stand in the way of the others.
 */
export type ReadCredentials = (
  tenant: string,
  sinks: ReadonlyMap<string, string>,
) => Promise<Map<string, Record<string, unknown> | 'unreadable'>>;

const loggedAgainMs = 3_600_000;

export function createCredentialReader(settings: {
  database: Database;
  vault: CredentialVault;
  log: Logger;
}): ReadCredentials {
  const { database, vault, log } = settings;
  /** Subscriptions whose credential was logged as unreadable, since a time of the clock that only goes forward. */
  const logged = { subscriptions: new Set<string>(), since: -Infinity };

  function logOnce(subscription: string, err: unknown): void {
    if (performance.now() - logged.since > loggedAgainMs) {
      logged.subscriptions.clear();
      logged.since = performance.now();
    }
    if (logged.subscriptions.has(subscription)) return;
    logged.subscriptions.add(subscription);
    log.error({ err, subscription }, 'no key opens this credential');
  }

  return async (tenant, sinks) => {
    const rows = await database.client.subscription.findMany({
      where: { tenant, id: { in: [...sinks.keys()] }, sinkcredential: { not: null } },
      select: { id: true, sink: true, sinkcredential: true },
    });
    const own = rows.filter(({ id, sink }) => sinks.get(id) === sink);
    const opened = own.map(async ({ id, sinkcredential }) => {
      const credential = await vault
        .open(sinkcredential ?? '', { tenant, subscription: id })
        .catch((error: unknown) => {
          logOnce(id, error);
          return 'unreadable' as const;
        });
      return [id, credential as Record<string, unknown> | 'unreadable'] as const;
    });
    return new Map(await Promise.all(opened));
  };
}
