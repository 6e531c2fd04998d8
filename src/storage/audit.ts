import { v7 as uuidv7 } from 'uuid';
import type { Sql } from './database.js';

/** Who did it: a client by its token, a webhook by its callback, or the service by itself. */
export interface Actor {
  tenant: string;
  name: string;
  requestId?: string;
}

export const service = (tenant: string): Actor => ({ tenant, name: 'assent' });
export const callback = (tenant: string, requestId: string): Actor => ({ tenant, name: 'callback', requestId });

/**
 * Written in the transaction of what it records. `target` is a kind and an id, `subscription:...`. A sink loses its query:
 * webhooks have their keys there, and these records are kept for years after the subscription has gone.
 */
export async function recordAudit(
  sql: Sql,
  actor: Actor,
  action: string,
  target: string,
  detail: { sink?: string; [member: string]: unknown } = {},
) {
  const { sink } = detail;
  const kept: object = { ...detail, ...(sink === undefined ? {} : { sink: withoutQuery(sink) }) };
  await sql.audit.create({
    data: {
      id: uuidv7(),
      tenant: actor.tenant,
      actor: actor.name,
      action,
      target,
      detail: kept,
      requestid: actor.requestId ?? null,
    },
  });
}

/** A sink as it is recorded. */
export function withoutQuery(sink: string): string {
  return sink.replace(/\?.*/s, '?[secret]');
}
