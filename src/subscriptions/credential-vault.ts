import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { compactDecrypt, CompactEncrypt } from 'jose';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Database } from '../storage/database.js';
import { beforeAllIds } from '../storage/ids.js';
import { openKeyFile } from '../storage/key-file.js';

export interface VaultKey {
  id: string;
  /** 32 bytes. */
  key: Uint8Array;
}

/** Whose credential it is. Sealed in with it, so that a credential copied to another row does not open there. */
export interface CredentialContext {
  tenant: string;
  subscription: string;
}

export interface CredentialVault {
  /** What every text begins with that the present key has sealed, and no other. */
  beginning: string;
  seal(credential: object, context: CredentialContext): Promise<string>;
  /** Rejects when the text was altered, sealed for another context, or sealed with a key that is not configured. */
  open(sealed: string, context: CredentialContext): Promise<object>;
}

/**
 * Keeps the `sinkcredential` of subscriptions (CloudEvents Subscriptions API) encrypted at rest, as JWE compact
 * serialization (RFC 7516 section 3.1) with `dir` and `A256GCM`. The first key seals, every key opens what it sealed:
 * to rotate, put a new key in front. A text names its key by its id and, in case the id is given to another one later,
 * by its fingerprint. Throws for keys that cannot serve.
 */
export function createCredentialVault(keys: readonly VaultKey[]): CredentialVault {
  const current = keys[0];
  const secrets = new Map(keys.map(({ id, key }) => [id, secretKey(id, key)]));
  if (!current) throw new Error('No key for sink credentials is configured.');
  if (secrets.size !== keys.length) throw new Error('Two keys for sink credentials have the same id.');

  function keyNamed(kid: string | undefined): KeyObject {
    const secret = secrets.get(kid ?? '');
    if (!secret)
      throw new Error(`A sink credential was sealed with the key ${JSON.stringify(kid)}, which is not configured.`);
    return secret;
  }

  const header = { alg: 'dir', enc: 'A256GCM', kid: current.id, fingerprint: fingerprintOf(current.key) };
  return {
    beginning: beginningOf(header),
    async seal(credential, { tenant, subscription }) {
      return new CompactEncrypt(Buffer.from(JSON.stringify(credential)))
        .setProtectedHeader({ ...header, tenant, subscription })
        .encrypt(keyNamed(current.id));
    },
    async open(sealed, { tenant, subscription }) {
      const { plaintext, protectedHeader } = await compactDecrypt(sealed, ({ kid }) => keyNamed(kid), {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      if (protectedHeader['tenant'] !== tenant || protectedHeader['subscription'] !== subscription)
        throw new Error('A sink credential was sealed for another subscription.');
      return JSON.parse(Buffer.from(plaintext).toString()) as object;
    },
  };
}

function fingerprintOf(key: Uint8Array): string {
  return createHmac('sha256', key).update('fingerprint').digest('base64url').slice(0, 16);
}

/** Of the text of everything that is sealed with this header, which goes on with the context. */
function beginningOf(header: object): string {
  const text = Buffer.from(`${JSON.stringify(header).slice(0, -1)},"tenant":"`);
  // Three bytes are four characters, and what is left over shares one with what follows.
  return text.subarray(0, text.length - (text.length % 3)).toString('base64url');
}

function secretKey(id: string, key: Uint8Array): KeyObject {
  if (id === '') throw new Error('A key for sink credentials has no id.');
  if (key.length !== 32) throw new Error(`The key ${JSON.stringify(id)} for sink credentials must have 32 bytes.`);
  return createSecretKey(key);
}

const keyFile = z.object({ keys: z.array(z.object({ id: z.string().min(1), key: z.base64url().length(43) })).min(1) });

/**
 * On a developer's machine: the keys for sink credentials, created once as `credential-keys.json` in the data folder.
 * Rejects with an Error that names the file when that cannot be read.
 */
export async function openDevelopmentKeys(dataFolder: string): Promise<VaultKey[]> {
  return openKeyFile(
    join(dataFolder, 'credential-keys.json'),
    () => ({ keys: [{ id: 'development', key: randomBytes(32).toString('base64url') }] }),
    (content) => keyFile.parse(content).keys.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64url') })),
  );
}

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

export interface Resealed {
  resealed: number;
  /** Of those that no key opens, which stay as they are: how many, and the subscription of one of them. */
  unopened: number;
  example: string | undefined;
}

interface SealedRow {
  id: string;
  tenant: string;
  sealed: string;
}

const pageSize = 1_000;

/**
 * Seals with the present key what an older one sealed, so that the older one can be given up. A
 * credential that changes meanwhile stays as it was written. Safe in several processes at once.
 */
export async function resealCredentials({ query }: Pick<Database, 'query'>, vault: CredentialVault): Promise<Resealed> {
  const result: Resealed = { resealed: 0, unopened: 0, example: undefined };
  for (let after: string | undefined = beforeAllIds; after !== undefined;) {
    const pages: Array<{ last: string | null; older: SealedRow[] | null }> = await query(
      `with page as materialized (
         select id, tenant, sinkcredential as sealed from subscription where id > $1::uuid order by id limit ${pageSize}
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

async function reseal({ query }: Pick<Database, 'query'>, vault: CredentialVault, row: SealedRow): Promise<boolean> {
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
