import { createPrivateKey, generateKeyPair, sign, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { uuidv7 } from '../../base/files/ids.js';
import type { Origin } from '../../consent/origin.js';
import { publicKeyOf, type PublicKey } from '../../signatures/keys.js';
import type { SignatureAgent, SignatureForm } from '../../signatures/request-signature.js';
import type { Actor, Sql } from '../storage/database.js';
import { Prisma } from '../storage/generated/client.js';
import { insertRows, type TableRow } from '../storage/rows.js';
import { isSecretUnavailable, type SealContext, type Vault } from '../storage/vault.js';

/*
 * What signs the requests of an origin. Its keys, by the clock of the database:
 *
 *   waiting     it starts later; verifiers find it already
 *   signing     of the keys that the registry made and that have started, the newest: it signs
 *   published   verifiers find it, and it signs elsewhere, or no more
 *   ended       verifiers find it no more
 *   revoked     as ended, and at once; it can't be brought again while it is stored
 *
 * The private part of a key leaves the registry in one way only: `GET /origins/{name}/private-keys`.
 */

type KeyPlace = Pick<Origin, 'name' | 'directory' | 'signatures' | 'verifiedBy' | 'servesKeys'>;

/** The one decision about `Signature-Agent`. An origin whose name serves its keys is found by its name. */
export function agentOf(
  { name, directory, signatures, verifiedBy, servesKeys }: KeyPlace,
  publicUrl: string | undefined,
): SignatureAgent {
  const isServed = verifiedBy !== undefined && servesKeys;
  if (isServed || signatures === 'string' || publicUrl === undefined) {
    return { url: `https://${name}`, type: 'directory' };
  }
  return { url: `${publicUrl}/v1/directories/${directory}`, type: 'jwks_uri' };
}

const makePair = promisify(generateKeyPair);

interface PrivateKey {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  d: string;
}

/** A new key as columns, with its private part sealed. */
export interface MadeKey {
  id: string;
  kind: 'made';
  publickey: PublicKey;
  privatekey: string;
}

export async function makeKey(vault: Pick<Vault, 'seal'>, tenant: string): Promise<MadeKey> {
  const id = uuidv7();
  const { privateKey } = await makePair('ed25519');
  const { kty, crv, x, d } = privateKey.export({ format: 'jwk' }) as unknown as PrivateKey;
  const publickey = (await publicKeyOf({ kty, crv, x })) as PublicKey;
  return { id, kind: 'made', publickey, privatekey: await vault.seal({ kty, crv, x, d }, ownerOf(tenant, id)) };
}

export async function insertKey(
  sql: Sql,
  { tenant, name, person }: Actor,
  origin: string,
  key: TableRow<'origin_key'> & { startsat: Date },
): Promise<void> {
  const row = { ...key, origin, tenant, createdby: name, createdbyperson: person ?? null };
  await sql.$executeRaw`${insertRows('origin_key', [row])}`;
}

const ownerOf = (tenant: string, id: string): SealContext => ({ tenant, owner: `origin_key:${id}` });

/** A statement for the key that signs now. */
export const signingKeyOf = (origin: Prisma.Sql): Prisma.Sql => Prisma.sql`
  select made.id::text as id, made.tenant, made.publickey ->> 'kid' as keyid, made.privatekey from origin_key made
  where made.origin = ${origin} and made.kind = 'made' and made.revokedat is null
    and made.startsat <= statement_timestamp() and (made.endsat is null or made.endsat > statement_timestamp())
  order by made.startsat desc, made.id desc limit 1`;

/** What signs the requests of one origin now; `unavailable` if its key cannot be opened, so that nothing may be sent. */
export type OriginSigner = Signer | 'unavailable';

export interface Signer {
  keyid: string;
  form: SignatureForm;
  agent: SignatureAgent;
  /** Of the base of a request (src/signatures/request-signature.ts). */
  sign(base: Uint8Array): Uint8Array;
}

/** A key that the registry made, with what signs. */
export interface OpenedKey {
  id: string;
  keyid: string;
  startsAt: Date;
  endsAt: Date | null;
  privateKey: KeyObject;
}

interface MadeRow {
  id: string;
  tenant: string;
  keyid: string;
  privatekey: string;
}

interface SignersSettings {
  vault: Pick<Vault, 'open'>;
  publicUrl: string | undefined;
}

const maxOpened = 10_000;

/**
 * The private keys that this process has opened, by id. Which of them may sign is read from the database each time, so
 * that a revocation ends it at once in every process.
 *
 * Handshakes: call `of` in the transaction that begins the attempts, with the origins of all of them, and sign each
 * request with `prepareRequest`, whose `base` goes to `sign`. An origin that is not in the result signs nothing.
 */
export class Signers {
  readonly #settings: SignersSettings;
  readonly #opened = new Map<string, KeyObject>();

  constructor(settings: SignersSettings) {
    this.#settings = settings;
  }

  /** By origin, each with the tenant that sends; one statement. Those that sign nothing, or have no key for it, are left out. */
  async of(sql: Sql, asked: ReadonlyArray<{ tenant: string; origin: string }>): Promise<Map<string, OriginSigner>> {
    const rows = await sql.$queryRaw<Array<MadeRow & KeyPlace & { signatures: SignatureForm }>>`
      select o.name, o.directory::text as directory, o.signatures, o.verifiedby as "verifiedBy",
        o.serveskeys as "servesKeys", k.*
      from origin o cross join lateral (${signingKeyOf(Prisma.sql`o.name`)}) k
      where o.name = any (${[...new Set(asked.map(({ origin }) => origin))]}::text[]) and o.signatures <> 'off'`;
    // The name may have moved to another tenant since the question was read.
    const isOf = new Set(asked.map(({ tenant, origin }) => `${origin} ${tenant}`));
    const signers = new Map<string, OriginSigner>();
    for (const row of rows.filter(({ name, tenant }) => isOf.has(`${name} ${tenant}`))) {
      const { name, keyid, signatures: form } = row;
      const agent = agentOf(row, this.#settings.publicUrl);
      const key = await this.#open(row).catch(unavailable);
      signers.set(name, key === 'unavailable' ? key : { keyid, form, agent, sign: (base) => sign(null, base, key) });
    }
    return signers;
  }

  /**
   * The keys that the registry made for an origin and that have not ended or been revoked, oldest first. Rejects with
   * `secret_unavailable` if one of them cannot be opened: without it, the others would look like all.
   */
  async ofOrigin(sql: Sql, origin: string): Promise<OpenedKey[]> {
    const rows = await sql.$queryRaw<Array<MadeRow & { startsat: Date; endsat: Date | null }>>`
      select id::text as id, tenant, publickey ->> 'kid' as keyid, privatekey, startsat, endsat from origin_key
      where origin = ${origin} and kind = 'made' and revokedat is null and (endsat is null or endsat > now())
      order by startsat, id`;
    const opened: OpenedKey[] = [];
    for (const row of rows) {
      const privateKey = await this.#open(row);
      const { id, keyid, startsat: startsAt, endsat: endsAt } = row;
      opened.push({ id, keyid, startsAt, endsAt, privateKey });
    }
    return opened;
  }

  /** Takes the keys out of memory whose private part was deleted: those that were revoked, and those of deleted origins. */
  async forgetEnded(sql: Sql): Promise<void> {
    const ids = [...this.#opened.keys()];
    if (ids.length === 0) return;
    const rows = await sql.$queryRaw<Array<{ id: string }>>`
      select id::text as id from origin_key where id = any (${ids}::uuid[]) and privatekey is not null`;
    const kept = new Set(rows.map(({ id }) => id));
    for (const id of ids) if (!kept.has(id)) this.#opened.delete(id);
  }

  /** Rejects with `secret_unavailable`. */
  async #open({ id, tenant, privatekey }: MadeRow): Promise<KeyObject> {
    const known = this.#opened.get(id);
    if (known !== undefined) return known;
    const jwk = (await this.#settings.vault.open(privatekey, ownerOf(tenant, id))) as PrivateKey;
    const key = createPrivateKey({ key: { ...jwk }, format: 'jwk' });
    const [oldest] = this.#opened.keys();
    if (this.#opened.size >= maxOpened && oldest !== undefined) this.#opened.delete(oldest);
    this.#opened.set(id, key);
    return key;
  }
}

function unavailable(error: unknown): 'unavailable' {
  if (isSecretUnavailable(error)) return 'unavailable';
  throw error;
}

/** The private part as a JWK, for the one operation that returns it. */
export function privateJwkOf(key: KeyObject): PrivateKey {
  const { kty, crv, x, d } = key.export({ format: 'jwk' }) as unknown as PrivateKey;
  return { kty, crv, x, d };
}
