import type { components } from '../http/contract.gen.js';
import type { Handlers } from '../http/handler.js';
import { pageHeaders, pageOf, readListCursor } from '../http/page.js';
import type { Database } from '../storage/database.js';
import { isUuid } from '../storage/ids.js';

type AuditEntry = components['schemas']['AuditEntry'];

export function createAuditHandlers({ database }: { database: Database }): Handlers<'getAudit'> {
  return {
    /** Entries of the token's tenant, newest first. */
    getAudit: async ({ query, principal, address }) => {
      const { target, actor, cursor } = query;
      const limit = query.limit ?? 50;
      const after = readListCursor(cursor, address, isUuid);
      const rows = await database.client.audit.findMany({
        where: {
          tenant: principal.tenant,
          ...(target === undefined ? {} : { target }),
          ...(actor === undefined ? {} : { actor }),
          ...(after === undefined ? {} : { id: { lt: after } }),
        },
        orderBy: { id: 'desc' },
        take: limit + 1,
      });
      const page = pageOf(rows, limit, (row) => row.id);
      return {
        status: 200,
        headers: pageHeaders(address, query, page.next),
        body: page.entries.map((row) => ({
          id: row.id,
          at: row.at.toISOString(),
          actor: row.actor,
          action: row.action,
          target: row.target,
          ...(row.detail === null ? {} : { detail: row.detail as NonNullable<AuditEntry['detail']> }),
          ...(row.requestid === null ? {} : { requestid: row.requestid }),
        })),
      };
    },
  };
}
