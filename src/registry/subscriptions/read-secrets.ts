import type { components } from '../../base/contract/contract.gen.js';
import type { Logger } from 'pino';
import type { Secrets } from '../../matching/match/match-message.js';
import type { Database } from '../storage/database.js';
import type { SealContext, Vault } from '../storage/vault.js';

export type SinkCredential = components['schemas']['SinkCredential'];
/** As it is sealed. */
export interface SigningSecret {
  secret: string;
}

/** Whose the secrets of a subscription are. */
export const ownerOf = (tenant: string, subscription: string): SealContext => ({
  tenant,
  owner: `subscription:${subscription}`,
});

/** The secrets of a subscription, each with the previous one while it overlaps. `unreadable` if no key opens it. */
export interface SecretsOfSubscription {
  credential?: Secrets;
  signing?: Secrets;
}

/**
 * Opens the secrets of a tenant's subscriptions, by subscription. `sinks` are the sinks that the caller knows. A
 * subscription without secrets is left out, and so is one whose sink has changed: secrets are for its sink only. A secret
 * that no key opens does not affect the others. A previous one that no key opens is left out.
 */
export type ReadSecrets = (
  tenant: string,
  sinks: ReadonlyMap<string, string>,
) => Promise<Map<string, SecretsOfSubscription>>;

const loggedAgainMs = 3_600_000;

export function createSecretReader(settings: {
  database: Database;
  vault: Pick<Vault, 'open'>;
  log: Logger;
}): ReadSecrets {
  const { database, vault, log } = settings;
  /** Subscriptions with a secret that was logged as unreadable, since a time of the monotonic clock. */
  const logged = { subscriptions: new Set<string>(), since: -Infinity };

  function logOnce(subscription: string, err: unknown): void {
    if (performance.now() - logged.since > loggedAgainMs) {
      logged.subscriptions.clear();
      logged.since = performance.now();
    }
    if (logged.subscriptions.has(subscription)) return;
    logged.subscriptions.add(subscription);
    log.error({ err, subscription }, 'no key opens a secret of this subscription');
  }

  /** The present secret and the previous one; undefined for what is not there, or no key opens. */
  async function open<Secret>(
    row: Row,
    tenant: string,
    ...sealed: Array<string | null>
  ): Promise<Array<Secret | undefined>> {
    const opened = sealed.map(async (text) => {
      if (text === null) return undefined;
      return vault.open(text, ownerOf(tenant, row.id)).then(
        (secret) => secret as Secret,
        (error: unknown) => {
          logOnce(row.id, error);
          return undefined;
        },
      );
    });
    return Promise.all(opened);
  }

  async function credentialOf(row: Row, tenant: string): Promise<Secrets | undefined> {
    if (row.sinkcredential === null) return undefined;
    const sealed = [row.sinkcredential, row.previouscredential];
    const [sinkcredential, previous] = await open<SinkCredential>(row, tenant, ...sealed);
    if (sinkcredential === undefined) return 'unreadable';
    const until = row.previousuntil?.toISOString();
    const overlap = previous && until !== undefined && { until, sinkcredential: previous };
    return { sinkcredential, ...(overlap && { previouscredential: overlap }) };
  }

  async function signingOf(row: Row, tenant: string): Promise<Secrets | undefined> {
    if (row.signingsecret === null) return undefined;
    const [present, previous] = await open<SigningSecret>(row, tenant, row.signingsecret, row.previoussigningsecret);
    if (present === undefined) return 'unreadable';
    const signingoverlapuntil = row.previoussigninguntil?.toISOString();
    if (!previous || signingoverlapuntil === undefined) return { signingsecrets: [present.secret] };
    return { signingsecrets: [present.secret, previous.secret], signingoverlapuntil };
  }

  return async (tenant, sinks) => {
    const rows = await database.client.$queryRaw<Row[]>`
      select id::text as id, sink, sinkcredential, previousuntil, signingsecret, previoussigninguntil,
        case when previousuntil > now() then previouscredential end as previouscredential,
        case when previoussigninguntil > now() then previoussigningsecret end as previoussigningsecret
      from subscription where tenant = ${tenant} and id = any (${[...sinks.keys()]}::uuid[])
        and (sinkcredential is not null or signingsecret is not null)`;
    const own = rows.filter(({ id, sink }) => sinks.get(id) === sink);
    const opened = own.map(async (row): Promise<[string, SecretsOfSubscription]> => {
      const [credential, signing] = await Promise.all([credentialOf(row, tenant), signingOf(row, tenant)]);
      return [row.id, { ...(credential && { credential }), ...(signing && { signing }) }];
    });
    return new Map(await Promise.all(opened));
  };
}

interface Row {
  id: string;
  sink: string;
  sinkcredential: string | null;
  previouscredential: string | null;
  previousuntil: Date | null;
  signingsecret: string | null;
  previoussigningsecret: string | null;
  previoussigninguntil: Date | null;
}
