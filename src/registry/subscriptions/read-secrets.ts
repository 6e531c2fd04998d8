import type { components } from '../../base/contract/contract.gen.js';
import type { Secrets } from '../../matching/match/match-message.js';
import type { Database } from '../storage/database.js';
import { isSecretUnavailable, type SealContext, type Vault } from '../storage/vault.js';

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
 * that no key opens does not affect the others.
 */
export type ReadSecrets = (
  tenant: string,
  sinks: ReadonlyMap<string, string>,
) => Promise<Map<string, SecretsOfSubscription>>;

export function createSecretReader({
  database,
  vault,
}: {
  database: Database;
  vault: Pick<Vault, 'open'>;
}): ReadSecrets {
  /** The present secret and the previous one; `unreadable` if one of them is. Without the previous one, it would look over. */
  async function open<Secret>(row: Row, tenant: string, present: string, previous: string | null) {
    try {
      const owner = ownerOf(tenant, row.id);
      const texts = [present, ...(previous === null ? [] : [previous])];
      return (await Promise.all(texts.map((text) => vault.open(text, owner)))) as [Secret, Secret?];
    } catch (error) {
      if (isSecretUnavailable(error)) return 'unreadable';
      throw error;
    }
  }

  async function credentialOf(row: Row, tenant: string): Promise<Secrets | undefined> {
    if (row.sinkcredential === null) return undefined;
    const opened = await open<SinkCredential>(row, tenant, row.sinkcredential, row.previouscredential);
    if (opened === 'unreadable') return opened;
    const [sinkcredential, previous] = opened;
    const until = row.previousuntil?.toISOString();
    const overlap = previous && until !== undefined && { until, sinkcredential: previous };
    return { sinkcredential, ...(overlap && { previouscredential: overlap }) };
  }

  async function signingOf(row: Row, tenant: string): Promise<Secrets | undefined> {
    if (row.signingsecret === null) return undefined;
    const opened = await open<SigningSecret>(row, tenant, row.signingsecret, row.previoussigningsecret);
    if (opened === 'unreadable') return opened;
    const [present, previous] = opened;
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
