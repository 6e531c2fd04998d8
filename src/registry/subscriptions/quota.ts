import { RegistryError } from '../../base/errors.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import type { Follower } from '../changes/follower.js';
import { type Sql, lockRegistry } from '../storage/database.js';

/** What a transaction is about to write: an id that errors are returned by, and its tenant. */
export interface Asked {
  id: string;
  tenant: string;
}

/** Returns, by id, the errors of those that exceed a limit. The others can be written together in this transaction. */
export type RefuseExcess = (sql: Sql, asked: readonly Asked[]) => Promise<Map<string, RegistryError>>;

/**
 * More than other transactions write for a tenant between a count and their commit, in all processes together. With more
 * room than that, a transaction decides from a cheap count. With less, it waits for the others and counts again.
 */
export const unseen = 20_000;

/** The ids of each tenant, in the order in which locks are taken. */
export function byTenant(asked: readonly Asked[]): Array<[tenant: string, ids: string[]]> {
  const tenants = new Map<string, string[]>();
  for (const { id, tenant } of asked) tenants.set(tenant, [...(tenants.get(tenant) ?? []), id]);
  return [...tenants].sort(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * Refuses subscriptions of tenants that have as many as they may have. The replica has the count of a tenant as of a
 * position of the log, and the log has what happened since. So only a tenant between the two bounds that follow from that,
 * or a replica that is being loaded, costs a count of rows.
 */
export function createQuota(perTenant: number, follower: Pick<Follower, 'position' | 'replica'>): RefuseExcess {
  return async (sql, asked) => {
    const refused = new Map<string, RegistryError>();
    const tenants = byTenant(asked);
    const names = tenants.map(([tenant]) => tenant);
    let bounds = await boundsOf(sql, names);
    const near = tenants.filter(([tenant, ids]) => bounds(tenant).most + ids.length + unseen > perTenant);
    if (near.length > 0) {
      await lockRegistry(sql, ...near.map(([tenant]) => `subscriptions ${tenant}`));
      bounds = await boundsOf(sql, names);
    }
    for (const [tenant, ids] of tenants) {
      const { least, most } = bounds(tenant);
      if (most + ids.length <= perTenant) continue;
      const room = least >= perTenant ? 0 : perTenant - (await countOf(sql, tenant));
      const error = new RegistryError('quota_exceeded', subscriptionTexts.quota(perTenant));
      for (const id of ids.slice(Math.max(0, room))) refused.set(id, error);
    }
    return refused;
  };

  /** How many subscriptions the tenants have at least and at most: those that are suspended count, ended ones don't. */
  async function boundsOf(sql: Sql, tenants: readonly string[]) {
    const [replica, position] = [follower.replica(), follower.position()];
    if (replica === undefined || position === undefined) return () => ({ least: 0, most: Infinity });
    const counts = new Map(tenants.map((tenant) => [tenant, replica.subscriptionsOf(tenant)]));
    const rows = await sql.$queryRaw<Array<{ tenant: string; more: number; fewer: number }>>`
      select tenant, (count(*) filter (where kind in ('subscription.created', 'subscription.replaced')))::int as more,
        (count(*) filter (where kind in ('subscription.deleted', 'subscription.expired')))::int as fewer
      from change where tenant = any (${tenants}::text[]) and position > ${String(position)}::bigint group by tenant`;
    return (tenant: string) => {
      const count = counts.get(tenant) ?? 0;
      const { more, fewer } = rows.find((row) => row.tenant === tenant) ?? { more: 0, fewer: 0 };
      return { least: count - fewer, most: count + more };
    };
  }

  async function countOf(sql: Sql, tenant: string): Promise<number> {
    const [row] = await sql.$queryRaw<Array<{ count: number }>>`
      select count(*)::int as count
      from (select from subscription where tenant = ${tenant} and endedat is null limit ${perTenant}) known`;
    return row?.count ?? 0;
  }
}
