import type { components } from '../../base/contract/contract.gen.js';
import type { Logger } from 'pino';
import type { Credential } from '../../matching/match/match-message.js';
import type { Database } from '../storage/database.js';
import type { SealContext, Vault } from '../storage/vault.js';

export type SinkCredential = components['schemas']['SinkCredential'];

/** Whose the secrets of a subscription are. */
export const ownerOf = (tenant: string, subscription: string): SealContext => ({
  tenant,
  owner: `subscription:${subscription}`,
});

/**
 * Opens the sink credentials of a tenant's subscriptions, by subscription, with the previous one while it overlaps.
 * `sinks` are the sinks that the caller knows. A subscription without a credential is left out, and so is one whose
 * sink has changed: a credential is for its sink only. A credential that no key opens is `unreadable` and does not
 * affect the others. A previous credential that no key opens is left out.
 */
export type ReadCredentials = (tenant: string, sinks: ReadonlyMap<string, string>) => Promise<Map<string, Credential>>;

const loggedAgainMs = 3_600_000;

export function createCredentialReader(settings: {
  database: Database;
  vault: Pick<Vault, 'open'>;
  log: Logger;
}): ReadCredentials {
  const { database, vault, log } = settings;
  /** Subscriptions whose credential was logged as unreadable, since a time of the monotonic clock. */
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

  /** Undefined if no key opens it. */
  async function open(sealed: string, tenant: string, subscription: string): Promise<SinkCredential | undefined> {
    return vault.open(sealed, ownerOf(tenant, subscription)).then(
      (credential) => credential as SinkCredential,
      (error: unknown) => {
        logOnce(subscription, error);
        return undefined;
      },
    );
  }

  return async (tenant, sinks) => {
    const rows = await database.client.$queryRaw<Row[]>`
      select id::text as id, sink, sinkcredential, previousuntil,
        case when previousuntil > now() then previouscredential end as previouscredential
      from subscription where tenant = ${tenant} and id = any (${[...sinks.keys()]}::uuid[])
        and sinkcredential is not null`;
    const own = rows.filter(({ id, sink }) => sinks.get(id) === sink);
    const opened = own.map(
      async ({ id, sinkcredential, previouscredential, previousuntil }): Promise<[string, Credential]> => {
        const [present, earlier] = await Promise.all([
          open(sinkcredential, tenant, id),
          previouscredential === null ? undefined : open(previouscredential, tenant, id),
        ]);
        if (present === undefined) return [id, 'unreadable'];
        const overlap = earlier && previousuntil && { until: previousuntil.toISOString(), sinkcredential: earlier };
        return [id, { sinkcredential: present, ...(overlap && { previouscredential: overlap }) }];
      },
    );
    return new Map(await Promise.all(opened));
  };
}

interface Row {
  id: string;
  sink: string;
  sinkcredential: string;
  previouscredential: string | null;
  previousuntil: Date | null;
}
