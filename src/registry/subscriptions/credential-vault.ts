import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { compactDecrypt, CompactEncrypt } from 'jose';
import { z } from 'zod';
import type { components } from '../../base/contract/contract.gen.js';
import { openKeyFile } from '../../base/files/key-file.js';
import type { Logger } from 'pino';
import type { Credential } from '../../matching/match/match-message.js';
import type { Database } from '../storage/database.js';
import { beforeAllIds } from '../../base/files/ids.js';

export type SinkCredential = components['schemas']['SinkCredential'];

export interface VaultKey {
  id: string;
  /** 32 bytes. */
  key: Uint8Array;
}

/** The owner of a credential. It is sealed too, so that a credential copied to another row does not open there. */
export interface CredentialContext {
  tenant: string;
  subscription: string;
}

export interface CredentialVault {
  /** The prefix of every text that the current key sealed, and of no other. */
  beginning: string;
  seal(credential: object, context: CredentialContext): Promise<string>;
  /** Rejects if the text was altered, sealed for another context, or sealed with a key that is not configured. */
  open(sealed: string, context: CredentialContext): Promise<SinkCredential>;
  /**
   * Distinguishes two credentials of one subscription without revealing anything about them. An attacker without the
   * key cannot try secrets, and cannot find the secret of another subscription by registering guesses. Base64url, 96
   * bits.
   */
  fingerprint(credential: object, context: CredentialContext): string;
}

/**
 * Keeps the `sinkcredential` of subscriptions (CloudEvents Subscriptions API) encrypted at rest, as JWE compact
 * serialization (RFC 7516 section 3.1) with `dir` and `A256GCM`. The first key seals, and every key opens what it
 * sealed: to rotate, put a new key first. A text names its key by id, and by fingerprint in case another key gets the
 * id later. Throws for invalid keys.
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
  const fingerprintKey = createHmac('sha256', current.key).update('fingerprints of credentials').digest();
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
      return JSON.parse(Buffer.from(plaintext).toString()) as SinkCredential;
    },
    fingerprint(credential, { tenant, subscription }) {
      const members = Object.entries(credential).sort(([a], [b]) => (a < b ? -1 : 1));
      return hashOf(fingerprintKey, JSON.stringify([tenant, subscription, members]));
    },
  };
}

function fingerprintOf(key: Uint8Array): string {
  return hashOf(key, 'fingerprint');
}

function hashOf(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, 16);
}

/** The prefix of every text that is sealed with this header, which continues with the context. */
function beginningOf(header: object): string {
  const text = Buffer.from(`${JSON.stringify(header).slice(0, -1)},"tenant":"`);
  // Three bytes become four characters; an incomplete group would share a character with the next bytes.
  return text.subarray(0, text.length - (text.length % 3)).toString('base64url');
}

function secretKey(id: string, key: Uint8Array): KeyObject {
  if (id === '') throw new Error('A key for sink credentials has no id.');
  if (key.length !== 32) throw new Error(`The key ${JSON.stringify(id)} for sink credentials must have 32 bytes.`);
  return createSecretKey(key);
}

const keyFile = z.object({ keys: z.array(z.object({ id: z.string().min(1), key: z.base64url().length(43) })).min(1) });

/**
 * The keys for sink credentials on a developer's machine, created once as `credential-keys.json` in the data folder.
 * Rejects with an Error that names the file if it cannot be read.
 */
export async function openDevelopmentKeys(dataFolder: string): Promise<VaultKey[]> {
  return openKeyFile(
    join(dataFolder, 'credential-keys.json'),
    () => ({ keys: [{ id: 'development', key: randomBytes(32).toString('base64url') }] }),
    (content) => keyFile.parse(content).keys.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64url') })),
  );
}

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
  vault: CredentialVault;
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
    return vault.open(sealed, { tenant, subscription }).catch((error: unknown) => {
      logOnce(subscription, error);
      return undefined;
    });
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
