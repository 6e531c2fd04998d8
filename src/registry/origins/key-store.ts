// Admins make, bring and revoke the keys of their origins. keys.ts has the states of a key and what signs.

import { RegistryError } from '../../base/errors.js';
import { beforeAllIds, isUuid, uuidv7 } from '../../base/files/ids.js';
import { keyTexts } from '../../base/texts/origins.js';
import type { PublicKey } from '../../signatures/keys.js';
import { pageOf, type ListPage } from '../http/page.js';
import { databaseTime, type Actor, type Database, type Sql, type Transaction } from '../storage/database.js';
import { Prisma, type origin_key as KeyRow } from '../storage/generated/client.js';
import { claimKey, type IdempotentRequest } from '../storage/idempotency.js';
import type { Vault } from '../storage/vault.js';
import { insertKey, makeKey, signingKeyOf } from './keys.js';
import { findOrigin, lockOrigin } from './store.js';

export type KeyState = 'waiting' | 'signing' | 'published' | 'ended' | 'revoked';

export type StoredKey = Pick<
  KeyRow,
  | 'id'
  | 'kind'
  | 'publickey'
  | 'jwksuri'
  | 'jwks'
  | 'readat'
  | 'readcode'
  | 'startsat'
  | 'endsat'
  | 'revokedat'
  | 'createdat'
  | 'createdby'
  | 'createdbyperson'
> & { state: KeyState };

/** What becomes a key. A set was read before. */
export type NewKey =
  | { kind: 'made' }
  | { kind: 'brought'; publicKey: PublicKey }
  | { kind: 'jwks'; uri: string; keys: readonly PublicKey[] };

export interface KeyTimes {
  startsAt: Date | undefined;
  endsAt: Date | undefined;
  /** After the new one starts, those of its kind end. Undefined: they stay. */
  overlapSeconds: number | undefined;
}

export interface KeyStore {
  list(
    tenant: string,
    origin: string,
    query: { after: string | undefined; limit: number },
  ): Promise<ListPage<StoredKey>>;
  /** RegistryError `key_not_found`. */
  read(tenant: string, origin: string, id: string): Promise<StoredKey>;
  /** Errors: `invalid_request`, `key_exists`, `quota_exceeded`. */
  add(actor: Actor, origin: string, key: NewKey, times: KeyTimes, request: IdempotentRequest): Promise<AddedKey>;
  /** `isLast`: nothing signs for the origin any more. */
  revoke(actor: Actor, origin: string, id: string, request: IdempotentRequest): Promise<AddedKey & { isLast: boolean }>;
}

export interface AddedKey {
  key: StoredKey;
  replayed: boolean;
}

/** That have not ended, for an origin: its directory has all of them. */
const maxKeys = 20;
/** Verifiers have a new key in their caches by then: directories may be kept for half of it. */
const startDelayMs = 600_000;
/** How often a set is read again. */
export const readAgain = Prisma.sql`interval '1 day'`;

/** With the state of each, as they are when the statement starts. */
const keyColumns = Prisma.sql`
  k.id::text as id, k.kind, k.publickey, k.jwksuri, k.jwks, k.readat, k.readcode, k.startsat, k.endsat, k.revokedat,
  k.createdat, k.createdby, k.createdbyperson,
  case when k.revokedat is not null then 'revoked'
    when k.endsat <= statement_timestamp() then 'ended'
    when k.startsat > statement_timestamp() then 'waiting'
    when k.id::text = (select s.id from (${signingKeyOf(Prisma.sql`k.origin`)}) s) then 'signing'
    else 'published' end as state`;

export function createKeyStore({ sql, write }: Pick<Database, 'sql' | 'write'>, vault: Pick<Vault, 'seal'>): KeyStore {
  return {
    async list(tenant, origin, { after, limit }) {
      await findOrigin(sql, tenant, origin);
      const rows = await sql.$queryRaw<StoredKey[]>`
        select ${keyColumns} from origin_key k where k.origin = ${origin} and k.id > ${after ?? beforeAllIds}::uuid
        order by k.id limit ${limit + 1}`;
      return pageOf(rows, limit, ({ id }) => id);
    },

    async read(tenant, origin, id) {
      await findOrigin(sql, tenant, origin);
      return findKey(sql, origin, id);
    },

    async add(actor, origin, key, times, request) {
      const made = key.kind === 'made' ? await makeKey(vault, actor.tenant) : undefined;
      return write(async (tx) => {
        const id = made?.id ?? uuidv7();
        await lockOrigin(tx.sql, actor.tenant, origin);
        const earlier = await claimKey(tx.sql, request, id);
        if (earlier !== undefined) return { key: await findKey(tx.sql, origin, earlier), replayed: true };
        await refuseExcess(tx.sql, origin, key);
        const now = await databaseTime(tx.sql);
        const { startsAt, endsAt } = await timesOf(tx.sql, origin, key, times, now);
        const ended = await endPresent(tx.sql, origin, key.kind, startsAt, times.overlapSeconds);
        await insertKey(tx.sql, actor, origin, {
          id,
          kind: key.kind,
          startsat: startsAt,
          endsat: endsAt ?? null,
          changedueat: startsAt > now ? startsAt : (endsAt ?? null),
          ...(made && { publickey: made.publickey, privatekey: made.privatekey }),
          ...(key.kind === 'brought' && { publickey: key.publicKey }),
          ...(key.kind === 'jwks' && { jwksuri: key.uri, jwks: key.keys, readat: now, readdueat: oneDayAfter(now) }),
        });
        const stored = await findKey(tx.sql, origin, id);
        const action = key.kind === 'made' ? 'origin.key_made' : 'origin.key_brought';
        record(tx, actor, action, origin, { ...audited(stored), ...(ended.length > 0 && { ending: ended }) });
        return { key: stored, replayed: false };
      });
    },

    revoke: (actor, origin, id, request) =>
      write(async (tx) => {
        await lockOrigin(tx.sql, actor.tenant, origin);
        const { state } = await findKey(tx.sql, origin, id);
        const replayed = (await claimKey(tx.sql, request, id)) !== undefined;
        if (!replayed && state !== 'revoked') {
          // The private part has no use any more.
          await tx.sql.$executeRaw`
            update origin_key set revokedat = ${(await databaseTime(tx.sql)).toISOString()}::timestamptz, privatekey = null,
              changedueat = null, readdueat = null
            where id = ${id}::uuid`;
          record(tx, actor, 'origin.key_revoked', origin, audited(await findKey(tx.sql, origin, id)));
        }
        const key = await findKey(tx.sql, origin, id);
        const signing = await tx.sql.$queryRaw<object[]>`select s.id from (${signingKeyOf(Prisma.sql`${origin}`)}) s`;
        return { key, replayed, isLast: key.kind === 'made' && signing.length === 0 };
      }),
  };
}

const oneDayAfter = (time: Date) => new Date(time.getTime() + 86_400_000);

async function findKey(sql: Sql, origin: string, id: string): Promise<StoredKey> {
  const [row] = isUuid(id)
    ? await sql.$queryRaw<StoredKey[]>`
        select ${keyColumns} from origin_key k where k.id = ${id}::uuid and k.origin = ${origin}`
    : [];
  if (row === undefined) throw new RegistryError('key_not_found', keyTexts.unknown);
  return row;
}

/** A key that was known once is not brought again: it may have been revoked. */
async function refuseExcess(sql: Sql, origin: string, key: NewKey): Promise<void> {
  const keyid = key.kind === 'brought' ? key.publicKey.kid : null;
  const [row] = await sql.$queryRaw<Array<{ open: number; same: number }>>`
    select (count(*) filter (where revokedat is null and (endsat is null or endsat > statement_timestamp())))::int as open,
      (count(*) filter (where publickey ->> 'kid' = ${keyid}))::int as same
    from origin_key where origin = ${origin}`;
  if ((row?.same ?? 0) > 0) {
    const faults = [{ pointer: '/publickey', rule: 'key_exists' as const, detail: keyTexts.known }];
    throw new RegistryError('key_exists', keyTexts.known, { faults });
  }
  if ((row?.open ?? 0) >= maxKeys) throw new RegistryError('quota_exceeded', keyTexts.tooMany(maxKeys));
}

async function timesOf(sql: Sql, origin: string, { kind }: NewKey, { startsAt, endsAt }: KeyTimes, now: Date) {
  const signing = await sql.$queryRaw<object[]>`select s.id from (${signingKeyOf(Prisma.sql`${origin}`)}) s`;
  const delayMs = kind === 'made' && signing.length > 0 ? startDelayMs : 0;
  const start = startsAt === undefined ? new Date(now.getTime() + delayMs) : startsAt > now ? startsAt : now;
  if (endsAt !== undefined && endsAt <= start) {
    const faults = [{ pointer: '/endsat', rule: 'time_out_of_range' as const, detail: keyTexts.endsBeforeStart }];
    throw new RegistryError('invalid_request', keyTexts.endsBeforeStart, { faults });
  }
  return { startsAt: start, endsAt };
}

/** Ends the keys of the same kind that started before, and that do not end sooner. Returns their ids. */
async function endPresent(
  sql: Sql,
  origin: string,
  kind: NewKey['kind'],
  startsAt: Date,
  overlapSeconds: number | undefined,
): Promise<string[]> {
  if (overlapSeconds === undefined) return [];
  const [start, end] = [startsAt, new Date(startsAt.getTime() + overlapSeconds * 1_000)].map((at) => at.toISOString());
  const rows = await sql.$queryRaw<Array<{ id: string }>>`
    update origin_key set endsat = ${end}::timestamptz,
      changedueat = case when changedueat > ${end}::timestamptz then ${end}::timestamptz
        else coalesce(changedueat, ${end}::timestamptz) end
    where origin = ${origin} and kind = ${kind} and revokedat is null and startsat < ${start}::timestamptz
      and (endsat is null or endsat > ${end}::timestamptz)
    returning id::text as id`;
  return rows.map(({ id }) => id);
}

type KeyAction =
  'origin.key_made' | 'origin.key_brought' | 'origin.key_revoked' | 'origin.key_ended' | 'origin.key_read';

export function record(tx: Transaction, actor: Actor, action: KeyAction, origin: string, detail: object): void {
  tx.audit(actor, action, `origin:${origin}`, { ...detail });
  tx.change({ kind: 'origin.changed', tenant: actor.tenant, origin, sink: '' });
}

/** What identifies a key. Nothing of it is secret. */
export function audited({
  id,
  kind,
  publickey,
  jwksuri,
  startsat,
  endsat,
}: Pick<StoredKey, 'id' | 'kind' | 'publickey' | 'jwksuri' | 'startsat' | 'endsat'>) {
  return {
    key: id,
    kind,
    ...(publickey !== null && { keyid: (publickey as unknown as PublicKey).kid }),
    ...(jwksuri !== null && { jwksuri }),
    startsat,
    endsat,
  };
}
