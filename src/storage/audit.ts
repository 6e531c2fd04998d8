import { uuidv7 } from './ids.js';
import type { Sql } from './database.js';

/** Who did it: a client by its token, a webhook by its callback, or the service by itself. */
export interface Actor {
  tenant: string;
  name: string;
  requestId?: string;
  /** Of the request (W3C Trace Context), to be sent along with what is asked on its behalf. */
  traceparent?: string;
}

export const service = (tenant: string): Actor => ({ tenant, name: 'assent' });
export const callback = (tenant: string, requestId: string): Actor => ({ tenant, name: 'callback', requestId });

/**
 * Written in the transaction of what it records. `target` is a kind and an id, `subscription:...`. A sink loses its
 * query: webhooks have their keys there, and these records are kept for years after the subscription has gone.
 */
export async function recordAudit(sql: Sql, actor: Actor, action: string, target: string, detail: AuditDetail = {}) {
  await sql.audit.create({ data: entryOf({ actor, action, target, detail }) });
}

/** As recordAudit, for any number at once. */
export async function recordAudits(sql: Sql, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await sql.$executeRaw`
    insert into audit (id, tenant, actor, action, target, detail, requestid)
    select id, tenant, actor, action, target, detail, requestid
    from jsonb_to_recordset(${JSON.stringify(entries.map(entryOf))}::jsonb)
      as a (id uuid, tenant text, actor text, action text, target text, detail jsonb, requestid text)`;
}

type AuditDetail = { sink?: string; [member: string]: unknown };

export interface AuditEntry {
  actor: Actor;
  action: string;
  target: string;
  detail: AuditDetail;
}

function entryOf({ actor, action, target, detail }: AuditEntry) {
  const { sink } = detail;
  const kept: object = { ...detail, ...(sink === undefined ? {} : { sink: withoutQuery(sink) }) };
  return {
    id: uuidv7(),
    tenant: actor.tenant,
    actor: actor.name,
    action,
    target,
    detail: kept,
    requestid: actor.requestId ?? null,
  };
}

/** A sink as it is recorded. */
export function withoutQuery(sink: string): string {
  return sink.replace(/\?.*/s, '?[secret]');
}
