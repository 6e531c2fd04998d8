import { createHash } from 'node:crypto';
import { RegistryError } from '../errors.js';
import type { Sql } from './database.js';

export interface IdempotentRequest {
  tenant: string;
  subscriber: string;
  key: string | undefined;
  operation: string;
  /** Everything that makes the request this one. */
  content: unknown;
}

/**
 * Claims an Idempotency-Key for the resource that this transaction is about to create. Returns the resource of an
 * earlier request with the same key and content, and undefined if there was none. A concurrent request with the same
 * key waits here until the first one commits. RegistryError `idempotency_key_reused` if the content differs.
 */
export async function claimKey(sql: Sql, request: IdempotentRequest, resource: string): Promise<string | undefined> {
  if (request.key === undefined) return undefined;
  const { tenant, subscriber, key, operation } = request;
  const fingerprint = fingerprintOf(request);
  const claimed = await sql.$executeRaw`
    insert into idempotency (tenant, subscriber, key, operation, fingerprint, resource)
    values (${tenant}, ${subscriber}, ${key}, ${operation}, ${fingerprint}, ${resource})
    on conflict do nothing`;
  return claimed === 1 ? undefined : findEarlier(sql, request);
}

/** Says which resource it is in the end, or what else is to be known of the answer. */
export async function noteResource(sql: Sql, request: IdempotentRequest, resource: string): Promise<void> {
  if (request.key === undefined) return;
  const { tenant, subscriber, key } = request;
  await sql.$executeRaw`
    update idempotency set resource = ${resource}
    where tenant = ${tenant} and subscriber = ${subscriber} and key = ${key}`;
}

/** What an earlier request of this key and content created. RegistryError `idempotency_key_reused` if that differs. */
export async function findEarlier(sql: Sql, request: IdempotentRequest): Promise<string | undefined> {
  if (request.key === undefined) return undefined;
  const { tenant, subscriber, key, operation } = request;
  const earlier = await sql.idempotency.findUnique({ where: { tenant_subscriber_key: { tenant, subscriber, key } } });
  if (earlier === null) return undefined;
  if (earlier.operation === operation && fingerprintOf(request).equals(earlier.fingerprint)) return earlier.resource;
  throw keyReused();
}

export function fingerprintOf({ content }: IdempotentRequest): Buffer<ArrayBuffer> {
  return createHash('sha256').update(JSON.stringify(content, inOrder)).digest();
}

/** The members of an object have no order (RFC 8259 section 1). */
function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

export function keyReused(): RegistryError {
  return new RegistryError('idempotency_key_reused', 'This Idempotency-Key stood in a request that was not the same.', {
    faults: [{ pointer: 'header/idempotency-key', rule: 'key_reused', detail: 'Use a new key for a new request.' }],
  });
}
