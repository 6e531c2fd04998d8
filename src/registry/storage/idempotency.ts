import { createHash } from 'node:crypto';
import { RegistryError } from '../../base/errors.js';
import { storageTexts } from '../../base/texts/storage.js';
import { bytesAsText, insertRows, recordset } from './rows.js';
import type { Sql } from './database.js';

export interface IdempotentRequest {
  tenant: string;
  subscriber: string;
  key: string | undefined;
  operation: string;
  /** Everything that identifies the request. */
  content: unknown;
}

/**
 * Claims Idempotency-Keys, all different, for the resources that this transaction is about to create. Returns, by those
 * resources, the resource that an earlier request with the same key and content created, or the RegistryError
 * `idempotency_key_reused` if the content differs. Concurrent requests with the same key wait here until the first one
 * commits. A refused request claims no key.
 */
export async function claimKeys(
  sql: Sql,
  claims: ReadonlyArray<{ request: IdempotentRequest; resource: string; isRefused?: boolean }>,
): Promise<Map<string, string | RegistryError>> {
  const keyed = claims.flatMap(({ request, resource, isRefused = false }) => {
    const { tenant, subscriber, key, operation } = request;
    if (key === undefined) return [];
    const row = { tenant, subscriber, key, operation, fingerprint: fingerprintOf(request), resource };
    return [{ row, isRefused }];
  });
  if (keyed.length === 0) return new Map();
  const claiming = keyed.filter(({ isRefused }) => !isRefused).map(({ row }) => row);
  const rows =
    claiming.length === 0
      ? []
      : await sql.$queryRaw<Array<{ resource: string }>>`
    ${insertRows('idempotency', claiming)}
    order by tenant collate "C", subscriber collate "C", key collate "C"
    on conflict do nothing returning resource`;
  const claimed = new Set(rows.map(({ resource }) => resource));
  const others = keyed.map(({ row }) => row).filter(({ resource }) => !claimed.has(resource));
  if (others.length === 0) return new Map();
  const earlier = await sql.$queryRaw<Array<{ place: string; resource: string; issame: boolean }>>`
    select k.resource as place, i.resource,
      i.operation = k.operation and i.fingerprint = k.fingerprint as issame
    from ${recordset('idempotency', others)} k
    join idempotency i on i.tenant = k.tenant and i.subscriber = k.subscriber and i.key = k.key`;
  return new Map(earlier.map(({ place, resource, issame }) => [place, issame ? resource : keyReused()]));
}

/** Like claimKeys, for one request. Throws the error, and returns undefined if there was no earlier request. */
export async function claimKey(sql: Sql, request: IdempotentRequest, resource: string): Promise<string | undefined> {
  const earlier = (await claimKeys(sql, [{ request, resource }])).get(resource);
  if (earlier instanceof RegistryError) throw earlier;
  return earlier;
}

/** Equal for requests with the same key; undefined without one. */
export function keyOfRequest({ tenant, subscriber, key }: IdempotentRequest): string | undefined {
  return key === undefined ? undefined : JSON.stringify([tenant, subscriber, key]);
}

/** Records the final resource of a request, or whatever else a repeated response needs. */
export async function noteResource(sql: Sql, request: IdempotentRequest, resource: string): Promise<void> {
  if (request.key === undefined) return;
  const { tenant, subscriber, key } = request;
  await sql.$executeRaw`
    update idempotency set resource = ${resource}
    where tenant = ${tenant} and subscriber = ${subscriber} and key = ${key}`;
}

function fingerprintOf({ content }: IdempotentRequest): string {
  return bytesAsText(createHash('sha256').update(JSON.stringify(content, inOrder)).digest());
}

/** Sorts members, because an object has no order (RFC 8259 section 1). */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function keyReused(): RegistryError {
  return new RegistryError('idempotency_key_reused', storageTexts.keyReused, {
    faults: [{ pointer: 'header/idempotency-key', rule: 'key_reused', detail: storageTexts.useNewKey }],
  });
}
