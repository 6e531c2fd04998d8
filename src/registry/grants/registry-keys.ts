import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose';
import { RegistryError } from '../../base/errors.js';
import { uuidv7 } from '../../base/files/ids.js';
import { requestTexts } from '../../base/texts/requests.js';
import { lockRegistry, type Database } from '../storage/database.js';
import { registryTenant, type Vault } from '../storage/vault.js';

/**
 * The keys that sign grants (grant-token.ts). They belong to the registry, and are made and replaced by themselves:
 *
 *   published   in the JWK Set. For a day it signs nothing, so that receivers which keep the set have it by then. The
 *               first key, made when a token is first asked for, signs at once
 *   signing     the newest key whose day is over, for 180 days
 *   retired     its private part is deleted. Its public part stays until every grant that it signed is over
 *
 * Each process reads the keys from the database, at most once a second. Times are those of the database.
 */
export class RegistryKeys {
  readonly #database: Pick<Database, 'query' | 'write'>;
  readonly #vault: Pick<Vault, 'seal' | 'open'>;
  readonly #readsOnly: boolean;
  #read: { keys: Promise<StoredKey[]>; at: number } | undefined;
  #known: StoredKey[] | undefined;
  #signing: { id: string; key: Promise<SigningKey> } | undefined;

  constructor({ database, vault, readsOnly }: RegistryKeySettings) {
    this.#database = database;
    this.#vault = vault;
    this.#readsOnly = readsOnly;
  }

  /** The public parts. While the database does not respond, those that this process knew last. */
  async publicKeys(): Promise<JWK[]> {
    const keys = await this.#keys().catch((error: unknown) => {
      if (this.#known === undefined) throw error;
      return this.#known;
    });
    return keys.map(({ publickey }) => publickey);
  }

  /** Makes one if there is none. RegistryError `read_only` if this process may not. */
  async signingKey(): Promise<SigningKey> {
    const signing = signingOf(await this.#keys()) ?? (await this.#makeFirst());
    if (this.#signing?.id !== signing.id) {
      const key = this.#open(signing);
      this.#signing = { id: signing.id, key };
      // It may be that this process has not got the new key for secrets yet.
      key.catch(() => (this.#signing = undefined));
    }
    return this.#signing.key;
  }

  /** Makes the next key when it is time, and deletes what is over. Safe in several processes at once. */
  async renew(): Promise<void> {
    this.#read = undefined;
    const newest = (await this.#keys()).at(-1);
    // Also for processes that only read.
    if (newest === undefined) return this.#make(Infinity);
    if (newest.age >= lifetimeSeconds) await this.#make(lifetimeSeconds);
    const { query } = this.#database;
    // Later than it was replaced, because a process may have read it just before.
    await query(
      `update registry_key k set privatekey = null where privatekey is not null and ${replacedFor(2 * leadSeconds)}`,
      [],
    );
    await query(`delete from registry_key k where ${replacedFor(2 * leadSeconds + longestGrantSeconds)}`, []);
    this.#read = undefined;
  }

  #keys(): Promise<StoredKey[]> {
    const now = performance.now();
    if (this.#read === undefined || now - this.#read.at > keepMs) {
      const keys = this.#database.query<StoredKey>(allKeys, []).then((rows) => (this.#known = rows));
      const read = { keys, at: now };
      this.#read = read;
      keys.catch(() => {
        if (this.#read === read) this.#read = undefined;
      });
    }
    return this.#read.keys;
  }

  async #makeFirst(): Promise<StoredKey> {
    if (this.#readsOnly) throw new RegistryError('read_only', requestTexts.readOnlyProcess, { retryAfterSeconds: 5 });
    await this.#make(Infinity);
    const first = signingOf(await this.#keys());
    if (first === undefined) throw new Error('The registry has no key that signs grants.');
    return first;
  }

  /** Unless there is one that is younger than that, which another process may have made just now. */
  async #make(seconds: number): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true, crv: 'Ed25519' });
    const [jwk, secret] = await Promise.all([exportJWK(publicKey), exportJWK(privateKey)]);
    const publicPart = { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: algorithm, use: 'sig' };
    const id = uuidv7();
    const sealed = await this.#vault.seal(secret, ownerOf(id));
    await this.#database.write(async ({ sql }) => {
      await lockRegistry(sql, 'registry keys');
      await sql.$executeRaw`
        insert into registry_key (id, publickey, privatekey)
        select ${id}::uuid, ${JSON.stringify(publicPart)}::jsonb, ${sealed}
        where not exists (
          select from registry_key
          where privatekey is not null and extract(epoch from now() - createdat) < ${seconds}::float8)`;
    });
    this.#read = undefined;
  }

  async #open({ id, publickey, privatekey }: StoredKey): Promise<SigningKey> {
    const secret = await this.#vault.open(privatekey ?? '', ownerOf(id));
    return { kid: publickey.kid ?? '', key: (await importJWK(secret as JWK, algorithm)) as CryptoKey };
  }
}

interface RegistryKeySettings {
  database: Pick<Database, 'query' | 'write'>;
  vault: Pick<Vault, 'seal' | 'open'>;
  readsOnly: boolean;
}

export interface SigningKey {
  /** Its thumbprint (RFC 7638). */
  kid: string;
  key: CryptoKey;
}

/** Oldest first. */
interface StoredKey {
  id: string;
  publickey: JWK;
  privatekey: string | null;
  /** Seconds. */
  age: number;
}

/** Ed25519, by the name that all libraries know (RFC 8037, section 3.1). */
export const algorithm = 'EdDSA';

const daySeconds = 86_400;
const lifetimeSeconds = 180 * daySeconds;
const leadSeconds = daySeconds;
/** An agreement lasts five years at most, and no other grant lasts longer. */
const longestGrantSeconds = 5 * 366 * daySeconds;
const keepMs = 1_000;

const allKeys = `
  select id::text as id, publickey, privatekey, extract(epoch from now() - createdat)::float8 as age
  from registry_key order by createdat, id`;

const replacedFor = (seconds: number) =>
  `exists (select from registry_key n where n.createdat > k.createdat and n.createdat < now() - interval '${seconds} s')`;

const ownerOf = (id: string) => ({ tenant: registryTenant, owner: `registry_key:${id}` });

function signingOf(keys: readonly StoredKey[]): StoredKey | undefined {
  const usable = keys.filter(({ privatekey }) => privatekey !== null);
  return usable.findLast(({ age }) => age >= leadSeconds) ?? usable[0];
}
