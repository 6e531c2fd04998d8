// What time alone does to keys. Each task costs what is due.

import type { ReadDocument } from '../../outbound/read-document.js';
import type { PublicKey } from '../../signatures/keys.js';
import { service, type Database, type Query, type Transaction } from '../storage/database.js';
import type { origin_key as KeyRow } from '../storage/generated/client.js';
import { inBatches } from '../storage/retention.js';
import { readKeySet } from './key-set.js';
import { audited, readAgain, record } from './key-store.js';

type Due = Pick<KeyRow, 'id' | 'tenant' | 'origin' | 'kind' | 'publickey' | 'jwksuri' | 'startsat' | 'endsat'>;

/** Tells senders that a key started or ended. The private part of one that ended has no use any more. */
export async function noteKeyTimes(tx: Transaction, maxRows: number): Promise<number> {
  const rows = await tx.sql.$queryRaw<Array<Due & { isended: boolean }>>`
    update origin_key set
      changedueat = case when endsat <= now() then null else endsat end,
      readdueat = case when endsat <= now() then null else readdueat end,
      privatekey = case when endsat <= now() then null else privatekey end
    where id in (
      select id from origin_key where changedueat <= now() order by changedueat limit ${maxRows} for update skip locked)
    returning id::text as id, tenant, origin, kind, publickey, jwksuri, startsat, endsat, coalesce(endsat <= now(), false) as isended`;
  for (const { isended, ...key } of rows) {
    const { tenant, origin } = key;
    if (isended) record(tx, service(tenant), 'origin.key_ended', origin, audited(key));
    else tx.change({ kind: 'origin.changed', tenant, origin, sink: '' });
  }
  return rows.length;
}

/** Longer than a reading takes: until then, no other process reads the set. */
const claimedFor = '5 minutes';
const setsAtOnce = 10;

interface DueSet {
  id: string;
  tenant: string;
  origin: string;
  jwksuri: string;
}

/** Reads the sets that are due, each once a day. A set that cannot be read keeps its keys, and is tried ever less often. */
export async function readDueSets(
  { query, write }: Pick<Database, 'query' | 'write'>,
  readDocument: ReadDocument,
  signal: AbortSignal,
): Promise<void> {
  for (let found = setsAtOnce; found === setsAtOnce && !signal.aborted;) {
    const due: DueSet[] = await query(
      `update origin_key set readdueat = now() + interval '${claimedFor}' where id in (
         select id from origin_key where readdueat <= now() order by readdueat limit ${setsAtOnce} for update skip locked)
       returning id::text as id, tenant, origin, jwksuri`,
    );
    found = due.length;
    await Promise.all(
      due.map(async (set) => {
        const result = await readKeySet(readDocument, set.jwksuri, signal);
        if (result.ok) await write((tx) => keep(tx, set, result.keys));
        else if (!signal.aborted) await postpone(query, set.id, result.code);
      }),
    );
  }
}

async function keep(
  tx: Transaction,
  { id, tenant, origin, jwksuri }: DueSet,
  keys: readonly PublicKey[],
): Promise<void> {
  const text = JSON.stringify(keys);
  const [row] = await tx.sql.$queryRaw<Array<{ ischanged: boolean }>>`
    with present as (select id, jwks from origin_key where id = ${id}::uuid and readdueat is not null for update)
    update origin_key k set jwks = ${text}::jsonb, readat = now(), readcode = null, readdueat = now() + ${readAgain}
    from present where k.id = present.id returning present.jwks is distinct from ${text}::jsonb as ischanged`;
  if (row?.ischanged !== true) return;
  const keyids = keys.map(({ kid }) => kid);
  record(tx, service(tenant), 'origin.key_read', origin, { key: id, jwksuri, keyids });
}

/** After as long as it has been overdue: a quarter of an hour at first, a day at last. */
async function postpone(query: Query, id: string, code: string): Promise<void> {
  await query(
    `update origin_key set readcode = $2,
       readdueat = now() + least(interval '1 day', greatest(interval '15 minutes', now() - readat - interval '1 day'))
     where id = $1::uuid and readdueat is not null`,
    [id, code],
  );
}

/** Deletes keys that ended or were revoked so many days ago. */
export function forgetKeysOfOrigins(query: Query, days: number): Promise<void> {
  return inBatches(
    query,
    1_000,
    `with gone as (
       delete from origin_key where id in (
         select id from origin_key where revokedat is null and endsat < now() - make_interval(days => $1::int) limit 1000)
       returning id)
     select count(*)::int as gone from gone`,
    [days],
  );
}
