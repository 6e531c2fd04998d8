import { isDeepStrictEqual } from 'node:util';
import { uuidv7 } from '../../base/files/ids.js';
import type { Sql } from './sql.js';
import type { Actor } from './transaction.js';

/** Members that changed, by their names in the API; null is a member without a value. */
export type Changed = Record<string, { before: unknown; after: unknown }>;

/**
 * What an entry says besides who, what and when. Three members have columns of their own. Without `subscriber`, an entry
 * about a subscription gets the one of its row.
 */
export interface AuditDetail {
  sink?: string;
  changed?: Changed | undefined;
  subscriber?: string;
  [member: string]: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** Undefined if nothing changed. The order of the members of an object is no change. */
export function changedMembers(before: Members, after: Members): Changed | undefined {
  const changed: Changed = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[name] === after[name]) continue;
    const [was, is] = [asJson(before[name]), asJson(after[name])];
    if (!isDeepStrictEqual(was, is)) changed[name] = { before: recorded(name, was), after: recorded(name, is) };
  }
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/** As the database returns it: no undefined members, and times as text. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null)) as unknown;
}

function recorded(name: string, value: unknown): unknown {
  return name === 'sink' && typeof value === 'string' ? withoutQuery(value) : value;
}

/** A sink as the audit log records it: webhooks keep secrets in the query, and entries outlive the subscription by years. */
export function withoutQuery(sink: string): string {
  return sink.replace(/\?.*/s, '?[secret]');
}

/** An entry as it is written. `subscription` is whose subscriber it gets if it names none. */
export interface AuditRecord {
  [column: string]: unknown;
  subscriber: string | undefined;
  subscription: string | undefined;
}

export function auditEntry(actor: Actor, action: string, target: string, all: AuditDetail): AuditRecord {
  const { changed, subscriber, ...detail } = all;
  return {
    id: uuidv7(),
    tenant: actor.tenant,
    actor: actor.name,
    action,
    target,
    subscriber,
    subscription: /^subscription:(.+)/.exec(target)?.[1],
    reference: actor.reference,
    changed,
    detail: detail.sink === undefined ? detail : { ...detail, sink: withoutQuery(detail.sink) },
    requestid: actor.requestId,
  };
}

/** A query of its own looks up the subscribers: Citus cannot insert a join of rows and values. */
export async function writeAudit(sql: Sql, entries: readonly AuditRecord[]): Promise<void> {
  const about = entries.flatMap(({ subscriber, subscription }) => (subscriber ? [] : (subscription ?? [])));
  await sql.$executeRaw`
    with known as materialized (select id, subscriber from subscription where id = any (${about}::uuid[]))
    insert into audit (id, tenant, actor, action, target, subscriber, reference, changed, detail, requestid)
    select a.id, a.tenant, a.actor, a.action, a.target, coalesce(a.subscriber, known.subscriber), a.reference, a.changed,
      a.detail, a.requestid
    from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb)
      as a (id uuid, tenant text, actor text, action text, target text, subscriber text, subscription uuid,
        reference text, changed jsonb, detail jsonb, requestid text)
    left join known on known.id = a.subscription`;
}
