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
 * Claims an Idempotency-Key for the resource that this transaction is about to create. Returns the resource of an earlier
 * request with the same key and content, and undefined if there was none. A concurrent request with the same key waits
 * here until the first one commits. RegistryError `idempotency_key_reused` if the content differs.
 */
export async function claimKey(sql: Sql, request: IdempotentRequest, resource: string): Promise<string | undefined> {
  if (request.key === undefined) return undefined;
  const { tenant, subscriber, key, operation } = request;
  const fingerprint = createHash('sha256').update(JSON.stringify(request.content)).digest();
  const claimed = await sql.$executeRaw`
    insert into idempotency (tenant, subscriber, key, operation, fingerprint, resource)
    values (${tenant}, ${subscriber}, ${key}, ${operation}, ${fingerprint}, ${resource})
    on conflict do nothing`;
  if (claimed === 1) return undefined;
  const earlier = await sql.idempotency.findUniqueOrThrow({
    where: { tenant_subscriber_key: { tenant, subscriber, key } },
  });
  if (earlier.operation === operation && fingerprint.equals(earlier.fingerprint)) return earlier.resource;
  throw new RegistryError('idempotency_key_reused', 'This Idempotency-Key stood in a request that was not the same.', {
    faults: [{ pointer: 'header/idempotency-key', rule: 'key_reused', detail: 'Use a new key for a new request.' }],
  });
}
